"""Injected load of the routers: the fairness of the network."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from hopsim.plot import style
from hopsim.results import Results
from hopsim.series import Series
from hopsim.stats import Estimate

TITLE = "injected load per router: bars for one group, and all routers in order"
INJECTED = "Injected load [phits/(node·cycle)]"


def draw(results: Results, view: style.View) -> dict[str, Figure]:
    """Bars per router of one group, and a line over all routers from the least to the most served."""
    drawn = {}
    for suffix, title, group in style.figures(results, view):
        points, load = style.one_load_each(group, view.load)
        chosen = [series for series in points if _loads(series)]
        if not chosen:
            continue
        drawn[f"injection_group{suffix}"] = _bars(chosen, style.caption(title, load), view.group)
        drawn[f"injection_sorted{suffix}"] = _sorted(chosen, style.caption(title, load))
    return drawn


def _bars(chosen: list[Series], title: str, group: int) -> Figure:
    figure, (axes,) = style.panels(1, width=7.0)
    width = 0.8 / len(chosen)
    for index, series in enumerate(chosen):
        members, values = _of_group(series, group)
        positions = np.arange(len(members)) + (index - (len(chosen) - 1) / 2) * width
        axes.bar(
            positions,
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
    return style.over_seeds(style.stream_of(series.groups[0].results, "routers", "injection_load"))


def _of_group(series: Series, group: int) -> tuple[list[int], list[Estimate]]:
    result = next(result for result in series.groups[0].results if "routers" in result.tables)
    groups = result.tables["routers"].column("group").to_numpy()
    members = [int(router) for router in np.flatnonzero(groups == group)]
    values = _loads(series)
    return members, [values[router] for router in members]
