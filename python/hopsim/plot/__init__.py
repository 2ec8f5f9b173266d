"""Figures of an experiment, one module per kind.

Each module has `TITLE`, one line for the help text, `NEEDS`, what results must have for it, and
`draw(results, view)`: its figures by file stem, or an empty dictionary when the results lack that.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from hopsim.errors import ConfigError
from hopsim.plot import (
    accepted_load,
    breakdown,
    bursts,
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
    "bursts": bursts,
    "breakdown": breakdown,
    "injection": injection,
    "node_map": node_map,
    "timeseries": timeseries,
    "generation": generation,
    "histogram": histogram,
}

AT_ONE_LOAD = ("injection", "node_map", "timeseries", "generation", "histogram")
"""Kinds in which each curve shows one load."""

__all__ = ["KINDS", "View", "draw_all", "save"]


def draw_all(
    results: Results,
    folder: Path,
    view: View,
    *,
    kinds: Iterable[str] | None = None,
    formats: Sequence[str] = ("png",),
) -> list[Path]:
    """Draw figures into `folder`: of `kinds`, or all that the results allow; returns the files written.

    Raises `ConfigError` for one of `kinds` that the results do not allow, and for a load or group of
    `view` that they do not have or that no figure shows.
    """
    figures = {kind: KINDS[kind].draw(results, view) for kind in kinds or KINDS}
    folder.mkdir(parents=True, exist_ok=True)
    written = [
        save(figure, folder / f"{stem}.{suffix}")
        for drawn in figures.values()
        for stem, figure in drawn.items()
        for suffix in formats
    ]
    _check_all_used(view, [kind for kind, drawn in figures.items() if drawn])
    lacking = [f"{kind} needs {KINDS[kind].NEEDS}" for kind, drawn in figures.items() if kinds and not drawn]
    if lacking:
        raise ConfigError(f"--kind: the results do not allow {', '.join(lacking)}")
    return written


def _check_all_used(view: View, drawn: Sequence[str]) -> None:
    if view.group is not None and "injection" not in drawn:
        raise ConfigError(
            f"--group {view.group}: no figure shows a group; injection does, with {injection.NEEDS}"
        )
    if view.load is not None and not set(drawn) & set(AT_ONE_LOAD):
        kinds = ", ".join(AT_ONE_LOAD)
        raise ConfigError(f"--load {view.load:g}: no figure shows one load; those that do: {kinds}")
