"""Figure 11: execution time of applications by SAT's threshold l."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from hopsim_reproduce.claims import Value, between
from hopsim_reproduce.figure import Claim, Figure
from hopsim_reproduce.izu.system import IZU, sat
from hopsim_reproduce.izu.traces import CYCLE_NS, SEEDS, TRACES, line, notes, over, relative
from hopsim_reproduce.model import Entry, Measured, Scale
from hopsim_reproduce.panels import Panel, Points

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

THRESHOLDS: Mapping[Scale, Sequence[int]] = {
    "quick": (4, 6, 8, 12, 24, 32, 64),
    "full": (2, 4, 6, 8, 10, 12, 16, 20, 24, 32, 40, 48, 64, 96),
}
USED = 12
"""The threshold of figure 10."""
PANEL = "base speed"
BENCHMARKS = tuple(TRACES["full"])
SAME = 0.02
"""Largest relative difference of execution times that is none."""


def _line(least: int) -> str:
    return sat(least, least).title


def _panels(scale: Scale) -> list[Panel]:
    lines = {_line(least): line(sat(least, least), 1, scale) for least in THRESHOLDS[scale]}
    return [Panel(PANEL, lines, "benchmark")]


def _against_used(least: int, benchmarks: Sequence[str] = BENCHMARKS) -> Value:
    return over(PANEL, (_line(least), _line(USED)), benchmarks)


def _claims() -> Iterator[Claim]:
    for least in (4, 6):
        yield between(f"l = {least}, below 8, takes longer than 12", _against_used(least), 1 + SAME)
    yield between("MG takes longer even with l = 8", _against_used(8, ["MG"]), 1.0)
    yield between("from l = 12 to 24 the time is relatively flat", _against_used(24), 1 - SAME, 1 + SAME)
    for least in (32, 64):
        yield between(f"from about 32 on the time grows with l: {least}", _against_used(least), 1.0)
    growth = over(PANEL, (_line(64), _line(32)), BENCHMARKS)
    yield between("it clearly grows from 32 to 64", growth, 1 + SAME)


def _notes(scale: Scale) -> list[str]:
    return [
        *notes(scale),
        f"l = k, processors of base speed; times relative to those with l = {USED}.",
    ]


def _draw(points: Points, title: str) -> Drawing:
    from hopsim_reproduce import drawing

    thresholds = [int(name.removeprefix("SAT l=").partition(" ")[0]) for name in points.panels[PANEL].lines]
    of_lines = {**{name: [name] for name in BENCHMARKS}, "mean": BENCHMARKS}
    lines: dict[str, dict[float | str, Measured]] = {
        name: {
            float(least): relative(points, PANEL, (_line(least), _line(USED)), benchmarks)
            for least in thresholds
        }
        for name, benchmarks in of_lines.items()
    }
    return drawing.relative(
        title, ("l = k [packets]", f"time relative to l = {USED}"), lines, from_zero=False
    )


FIGURE = Figure(
    name="izu-figure-11",
    title=f"Execution time of the NAS Parallel Benchmarks by SAT's threshold l = k, cycles of {CYCLE_NS} ns",
    source=f"{IZU}, figure 11",
    panels=_panels,
    notes=_notes,
    seeds=SEEDS,
    claims=tuple(_claims()),
    drawing=_draw,
)


def entries() -> list[Entry]:
    """The figure."""
    return [FIGURE.entry()]
