"""What the placement of programs costs them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from matplotlib.figure import Figure

from hopsim.plot import style
from hopsim.plot.view import View, caption, over_abscissa
from hopsim.results import Results
from hopsim.series import Group, Series, by_job, of_programs
from hopsim.stats import Estimate, over_runs

TITLE = "execution time of programs by placement, relative to the first placement of the sweep"
NEEDS = "jobs that run programs, and a sweep over their placement"
KEY = "execution_time"


def draw(results: Results, view: View) -> dict[str, Figure]:
    """A bar per placement and combination of the other axes."""
    drawn: dict[str, Figure] = {}
    programs = of_programs(by_job(results))
    axes = [path for path in programs.axes if ".placement" in path]
    for shown in over_abscissa(programs, view) if axes else ():
        rows = [row for series in shown.curves for row in _rows(series, shown.curves, axes)]
        if len({colour for _, colour, _ in rows}) > 1:
            figure = _bars(rows)
            style.finish(figure, [], shown.title, shown.omitted)
            drawn[f"placement{shown.suffix}"] = figure
    return drawn


def _rows(
    series: Series, curves: Sequence[Series], axes: Sequence[str]
) -> Iterator[tuple[str, int, Estimate]]:
    """For each point of a curve its label, the number of its placement, and its relative time."""
    everything = [group for other in curves for group in other.groups]
    placements = list(dict.fromkeys(_placement(group, axes) for group in everything))
    for group in series.groups:
        alike = [other for other in everything if _rest(other, axes) == _rest(group, axes)]
        first = min(alike, key=lambda other: placements.index(_placement(other, axes)))
        several = series.abscissa.text(group) if len(series.groups) > 1 else ""
        label = caption(series.label, several)
        yield label, placements.index(_placement(group, axes)), _relative(group, first)


def _placement(group: Group, axes: Sequence[str]) -> str:
    return json.dumps([group.axes.get(path) for path in axes], sort_keys=True)


def _rest(group: Group, axes: Sequence[str]) -> str:
    return json.dumps({path: group.axes[path] for path in group.axes if path not in axes}, sort_keys=True)


def _relative(group: Group, first: Group) -> Estimate:
    """Execution time over that of the first placement, seed by seed where both have the same seeds."""
    times = {result.summary["seed"]: result.summary[KEY] for result in first.results}
    seeds = [result.summary["seed"] for result in group.results]
    if sorted(times) == sorted(seeds):
        return over_runs(
            [result.summary[KEY] / times[seed] for seed, result in zip(seeds, group.results, strict=True)]
        )
    mean, base = group.estimate(KEY), first.estimate(KEY).mean
    return Estimate(mean.mean / base if mean.mean and base else None)


def _bars(rows: Sequence[tuple[str, int, Estimate]]) -> Figure:
    figure, axes = style.rows([label for label, _, _ in rows])
    axes.barh(
        range(len(rows)),
        [value.mean or 0.0 for _, _, value in rows],
        xerr=[value.half_width or 0.0 for _, _, value in rows],
        color=[style.look(number)["color"] for _, number, _ in rows],
        error_kw={"elinewidth": 0.8},
    )
    axes.axvline(1, color="0.4", linewidth=1, linestyle=":")
    axes.set_xlabel("Execution time over that of the first placement")
    return figure
