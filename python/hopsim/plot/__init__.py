"""Figures of an experiment, one module per kind.

Each module has `TITLE`, one line for the help text, `NEEDS`, what results must have for it, and
`draw(results, view)`: its figures by file stem, or an empty dictionary when the results lack that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from hopsim.errors import ConfigError
from hopsim.plot import (
    accepted_load,
    breakdown,
    bursts,
    execution_time,
    flows,
    gantt,
    generation,
    histogram,
    injection,
    latency_load,
    links,
    message_latency,
    messages_in_flight,
    node_map,
    placement,
    queues,
    ranks,
    timeseries,
)
from hopsim.plot.style import save
from hopsim.plot.view import View
from hopsim.results import Results
from hopsim.series import has_programs

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
    "execution_time": execution_time,
    "placement": placement,
    "ranks": ranks,
    "gantt": gantt,
    "messages_in_flight": messages_in_flight,
    "message_latency": message_latency,
    "flows": flows,
    "queues": queues,
    "links": links,
}

AT_ONE_LOAD = (
    "injection",
    "node_map",
    "timeseries",
    "generation",
    "histogram",
    "ranks",
    "gantt",
    "messages_in_flight",
    "message_latency",
)
"""Kinds in which each curve shows one load."""

__all__ = ["KINDS", "View", "draw_all", "save"]


def draw_all(
    results: Results,
    folder: Path,
    view: View,
    *,
    kinds: Iterable[str] | None = None,
    formats: Sequence[str] = ("png",),
    tell: Callable[[str], object] | None = None,
) -> list[Path]:
    """Draw figures into `folder`: of `kinds`, or all that the results allow; returns the files written.

    If no kinds are asked for, `tell` hears which kinds the results of programs do not allow, and what
    those need.
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
    lacking = [kind for kind, drawn in figures.items() if not drawn]
    if lacking and kinds:
        needs = (f"{kind} needs {KINDS[kind].NEEDS}" for kind in lacking)
        raise ConfigError(f"--kind: the results do not allow {', '.join(needs)}")
    if lacking and tell and has_programs(results):
        tell(f"Not drawn: {_by_need(lacking)}.")
    return written


def _by_need(kinds: Sequence[str]) -> str:
    """Kinds with what they need, those that need the same together."""
    needs: dict[str, list[str]] = {}
    for kind in kinds:
        needs.setdefault(KINDS[kind].NEEDS, []).append(kind)
    return "; ".join(f"{', '.join(alike)} (needs {need})" for need, alike in needs.items())


def _check_all_used(view: View, drawn: Sequence[str]) -> None:
    if view.group is not None and "injection" not in drawn:
        raise ConfigError(
            f"--group {view.group}: no figure shows a group; injection does, with {injection.NEEDS}"
        )
    if view.load is not None and not set(drawn) & set(AT_ONE_LOAD):
        kinds = ", ".join(AT_ONE_LOAD)
        raise ConfigError(f"--load {view.load:g}: no figure shows one load; those that do: {kinds}")
