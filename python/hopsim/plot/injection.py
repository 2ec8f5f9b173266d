"""Injected load of the routers: the fairness of the network."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from hopsim.errors import ConfigError
from hopsim.metrics.series import Series
from hopsim.metrics.stats import Estimate
from hopsim.plot import options, style
from hopsim.plot.canvas import Canvas
from hopsim.plot.records import column_of, mean_of_rows
from hopsim.plot.view import Shown, View, at_one_load, caption, not_shown

if TYPE_CHECKING:
    from hopsim.results.result import Results

TITLE = "injected load per router: bars for one group, and all routers in order"
NEEDS = 'measure.streams = ["routers"]'
STREAM = "routers"
TAKES = options.AT_ONE_LOAD | {"group", "ylim", "yscale"}
INJECTED = "Injected load [phits/(node·cycle)]"
MOST_TICKS = 24
"""Routers of a panel that can all have their number below."""


def draw(results: Results, view: View, canvas: Canvas) -> dict[str, Figure]:
    """Bars per router of one group, and a line over all routers from the least to the most served."""
    drawn: dict[str, Figure] = {}
    everything = list(at_one_load(results, view, _loads, "table of routers"))
    groups = {int(group) for shown in everything for series in shown.curves for group in _groups(series)}
    if everything and view.group is not None and view.group not in groups:
        raise ConfigError(f"--group {view.group}: no network has this group; valid: 0 … {max(groups)}")
    for shown in everything:
        for part in _with_group(shown, view.group or 0):
            drawn[f"injection_group{part.suffix}"] = _bars(part, view.group or 0, canvas)
        drawn[f"injection_sorted{shown.suffix}"] = _sorted(shown, canvas)
    return drawn


def _with_group(shown: Shown, group: int) -> Iterator[Shown]:
    """The figure without the networks that have no such group, if any has."""
    chosen = [series for series in shown.curves if group in _groups(series)]
    lacking = [series.label for series in shown.curves if series not in chosen]
    if chosen:
        omitted = caption(shown.omitted, not_shown(lacking, f"no group {group}"))
        yield replace(shown, curves=chosen, omitted=omitted)


def _bars(shown: Shown, group: int, canvas: Canvas) -> Figure:
    """A panel for the curves of each network, several where they are many."""
    networks: dict[tuple[int, ...], list[Series]] = {}
    for series in shown.curves:
        networks.setdefault(tuple(_members(series, group)), []).append(series)
    panels = [(members, part) for members, curves in networks.items() for part in canvas.portions(curves)]
    figure, grid = canvas.grid(len(panels), 1, (7.0, 3.6 * len(panels)), sharey=True)
    for axes, (members, curves) in zip(grid, panels, strict=True):
        width, offsets = style.side_by_side(len(curves))
        for index, (series, offset) in enumerate(zip(curves, offsets, strict=True)):
            loads = _loads(series)
            values = [loads[router] for router in members]
            axes.bar(
                np.arange(len(members)) + offset,
                [value.mean or 0.0 for value in values],
                width,
                yerr=style.half_widths(values),
                error_kw=style.ERROR,
                color=style.look(index)["color"],
                label=series.label,
            )
        shown_members = range(0, len(members), -(-len(members) // MOST_TICKS))
        axes.set_xticks(shown_members, [str(members[place]) for place in shown_members])
        is_only_group = len(set(_groups(curves[0]))) == 1
        axes.set(xlabel="Router" if is_only_group else f"Router of group {group}", ylabel=INJECTED)
        axes.grid(visible=False, axis="x")
    grid[0].set_ylim(bottom=0)
    canvas.finish(figure, grid, shown)
    return figure


def _sorted(shown: Shown, canvas: Canvas) -> Figure:
    figure, panels, portions = canvas.portioned(shown.curves)
    for axes, portion in zip(panels, portions, strict=True):
        for index, series in enumerate(portion):
            values = np.sort([value.mean for value in _loads(series) if value.mean is not None])
            share = np.arange(1, len(values) + 1) / len(values) * 100
            axes.plot(share, values, label=series.label, color=style.look(index)["color"])
        axes.set(xlabel="Routers, from the least served [%]")
        axes.tick_params(labelbottom=True)
        axes.set_ylim(bottom=0)
    panels[0].set_ylabel(INJECTED)
    canvas.finish(figure, panels, shown)
    return figure


def _loads(series: Series) -> list[Estimate]:
    """Injected load of every router, over seeds."""
    return mean_of_rows(column_of(series, STREAM, "injection_load"))


def _groups(series: Series) -> np.ndarray:
    """The group of every router."""
    return column_of(series, STREAM, "group")[0]


def _members(series: Series, group: int) -> list[int]:
    return [int(router) for router in np.flatnonzero(_groups(series) == group)]
