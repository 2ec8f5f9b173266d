"""What the placement of programs costs them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hopsim.metrics.series import Group, Series, by_job, of_programs
from hopsim.metrics.stats import Estimate, mean_and_variance, over_runs
from hopsim.plot import style
from hopsim.plot.canvas import Canvas
from hopsim.plot.view import MAX_CURVES, View, caption, figures

if TYPE_CHECKING:
    from hopsim.results.result import Results

TITLE = "execution time of programs by placement, relative to the first placement of the sweep"
NEEDS = "jobs that run programs, and a sweep over their placement"
TAKES = frozenset({"by", "ylim", "yscale"})
KEY = "execution_time"


@dataclass(frozen=True)
class _Bar:
    """What stands for a point: its name, the number of its placement, its time over that of the first one."""

    label: str
    placement: int
    time: Estimate


def draw(results: Results, view: View, canvas: Canvas) -> dict[str, Figure]:
    """A bar per placement and combination of the other axes."""
    drawn: dict[str, Figure] = {}
    programs = of_programs(by_job(results))
    axes = [path for path in programs.axes if ".placement" in path]
    for shown in figures(programs, view):
        bars = _bars(shown.curves, axes)
        if len({bar.placement for bar in bars}) < 2:
            continue
        most = MAX_CURVES if view.in_parts else len(bars)
        for part, first in enumerate(range(0, len(bars), most), 1):
            figure, panel = _draw(bars[first : first + most], canvas)
            canvas.finish(figure, [panel], shown)
            name = f"-part{part}" if len(bars) > most else ""
            drawn[f"placement{shown.suffix}{name}"] = figure
    return drawn


def _bars(curves: Sequence[Series], axes: Sequence[str]) -> list[_Bar]:
    """Those of all points of the curves, in their order."""
    points = [(series, group) for series in curves for group in series.groups]
    placements = list(dict.fromkeys(_values(group, axes, inside=True) for _, group in points))
    firsts: dict[str, Group] = {}
    for placement in placements:
        for _, group in points:
            if _values(group, axes, inside=True) == placement:
                firsts.setdefault(_values(group, axes, inside=False), group)
    return [
        _Bar(
            caption(series.label, series.abscissa.text(group)),
            placements.index(_values(group, axes, inside=True)),
            _relative(group, firsts[_values(group, axes, inside=False)]),
        )
        for series, group in points
    ]


def _values(group: Group, axes: Sequence[str], *, inside: bool) -> str:
    """The values of those sweep axes that are among `axes`, or of the others."""
    chosen = {path: value for path, value in group.axes.items() if (path in axes) == inside}
    return json.dumps(chosen, sort_keys=True)


def _relative(group: Group, first: Group) -> Estimate:
    """Execution time over that of the first placement, seed by seed where both have the same seeds.

    None where the first placement takes no time.
    """
    times = {result.summary["seed"]: result.summary[KEY] for result in first.results}
    if not all(times.values()):
        return Estimate(None)
    seeds = [result.summary["seed"] for result in group.results]
    if sorted(times) == sorted(seeds):
        return over_runs([result.summary[KEY] / times[result.summary["seed"]] for result in group.results])
    mean, _ = mean_and_variance([result.summary[KEY] for result in group.results])
    base, _ = mean_and_variance(list(times.values()))
    return Estimate(mean / base)


def _draw(bars: Sequence[_Bar], canvas: Canvas) -> tuple[Figure, Axes]:
    figure, axes = canvas.rows([bar.label for bar in bars])
    axes.barh(
        range(len(bars)),
        [bar.time.mean or 0.0 for bar in bars],
        xerr=style.half_widths([bar.time for bar in bars]),
        color=[style.look(bar.placement)["color"] for bar in bars],
        error_kw=style.ERROR,
    )
    style.number_bars(axes, range(len(bars)), [bar.time for bar in bars])
    axes.axvline(1, color="0.4", linewidth=1, linestyle=":")
    axes.set_xlim(left=0)
    axes.set_xlabel("Execution time over that of the first placement")
    return figure, axes
