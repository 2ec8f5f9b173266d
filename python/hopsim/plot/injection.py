"""Injected load of the routers: the fairness of the network."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from hopsim.plot import style
from hopsim.plot.records import column_of, mean_of_rows
from hopsim.plot.view import View, at_one_load
from hopsim.results import Results
from hopsim.series import Series
from hopsim.stats import Estimate

TITLE = "injected load per router: bars for one group, and all routers in order"
INJECTED = "Injected load [phits/(node·cycle)]"


def draw(results: Results, view: View) -> dict[str, Figure]:
    """Bars per router of one group, and a line over all routers from the least to the most served."""
    drawn = {}
    for suffix, title, chosen in at_one_load(results, view, _loads):
        drawn[f"injection_group{suffix}"] = _bars(chosen, title, view.group)
        drawn[f"injection_sorted{suffix}"] = _sorted(chosen, title)
    return drawn


def _bars(chosen: list[Series], title: str, group: int) -> Figure:
    figure, (axes,) = style.panels(1, width=7.0)
    width, offsets = style.side_by_side(len(chosen))
    for index, (series, offset) in enumerate(zip(chosen, offsets, strict=True)):
        members, values = _of_group(series, group)
        axes.bar(
            np.arange(len(members)) + offset,
            [value.mean or 0.0 for value in values],
            width,
            yerr=[value.half_width or 0.0 for value in values],
            error_kw={"elinewidth": 0.8},
            color=style.look(index)["color"],
            label=series.label,
        )
        axes.set_xticks(np.arange(len(members)), [str(member) for member in members])
    axes.set(xlabel=f"Router of group {group}", ylabel=INJECTED)
    axes.grid(visible=False, axis="x")
    style.finish(figure, axes, title)
    return figure


def _sorted(chosen: list[Series], title: str) -> Figure:
    figure, (axes,) = style.panels(1)
    for index, series in enumerate(chosen):
        values = np.sort([value.mean or 0.0 for value in _loads(series)])
        share = np.arange(1, len(values) + 1) / len(values) * 100
        axes.plot(share, values, label=series.label, color=style.look(index)["color"])
    axes.set(xlabel="Routers, from the least served [%]", ylabel=INJECTED)
    axes.set_ylim(bottom=0)
    style.finish(figure, axes, title)
    return figure


def _loads(series: Series) -> list[Estimate]:
    """Injected load of every router, over seeds."""
    return mean_of_rows(column_of(series, "routers", "injection_load"))


def _of_group(series: Series, group: int) -> tuple[list[int], list[Estimate]]:
    result = next(result for result in series.groups[0].results if "routers" in result.tables)
    groups = result.tables["routers"].column("group").to_numpy()
    members = [int(router) for router in np.flatnonzero(groups == group)]
    values = _loads(series)
    return members, [values[router] for router in members]
