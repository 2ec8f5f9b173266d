"""Figures of an experiment, one module per kind.

Each module has `TITLE`, one line for the help text, and `draw(results, view)`: its figures by file
stem, or an empty dictionary when the results lack what it needs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from hopsim.plot import (
    accepted_load,
    breakdown,
    generation,
    histogram,
    injection,
    latency_load,
    node_map,
    timeseries,
)
from hopsim.plot.style import save
from hopsim.plot.view import View
from hopsim.results import Results

KINDS = {
    "latency_load": latency_load,
    "accepted_load": accepted_load,
    "breakdown": breakdown,
    "injection": injection,
    "node_map": node_map,
    "timeseries": timeseries,
    "generation": generation,
    "histogram": histogram,
}

__all__ = ["KINDS", "View", "draw_all", "save"]


def draw_all(
    results: Results,
    folder: Path,
    view: View,
    *,
    kinds: Iterable[str] = KINDS,
    formats: Sequence[str] = ("png",),
) -> list[Path]:
    """Draw the figures of `kinds` that the results allow, into `folder`; returns the files written."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for kind in kinds:
        for stem, figure in KINDS[kind].draw(results, view).items():
            written += [save(figure, folder / f"{stem}.{suffix}") for suffix in formats]
    return written
