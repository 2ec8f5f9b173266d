"""Where packets spend their time: the components of mean latency, stacked, against offered load."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hopsim.metrics.series import Series, by_job
from hopsim.plot import style
from hopsim.plot.canvas import Canvas
from hopsim.plot.metric import wrapped
from hopsim.plot.view import View, caption, not_shown, over_abscissa

if TYPE_CHECKING:
    from hopsim.results.result import Results

TITLE = "components of mean packet latency, as areas over what latency_load shows them against, or as bars"
NEEDS = "points that delivered packets"
TAKES = frozenset({"by", "x", "xlim", "ylim"})

RAILS = "rail queues"
"""Planes alone have these: their colour comes behind those of what all networks share."""
COMPONENTS = {
    "base_latency_mean": "minimal path",
    "misrouting_latency_mean": "misrouting",
    "local_queue_latency_mean": "local queues",
    "global_queue_latency_mean": "global queues",
    "network_queue_latency_mean": "network queues",
    "rail_queue_latency_mean": RAILS,
    "injection_latency_mean": "injection",
}
"""Key of the summary -> its name; of the queues there are those of the topology's classes of links."""
TITLE_WIDTH = 40
"""Characters of a line above a panel."""


def draw(results: Results, view: View, canvas: Canvas) -> dict[str, Figure]:
    """A panel per curve with areas over load; a bar per curve where each has one point. Jobs apart."""
    drawn: dict[str, Figure] = {}
    for shown in over_abscissa(by_job(results), view):
        usable = [series for series in shown.curves if _stack(series)]
        if not usable:
            continue
        lacking = [series.label for series in shown.curves if series not in usable]
        draw_part = _bars if shown.has_one_place else _areas
        figure, above = draw_part(usable, view, canvas)
        omitted = caption(not_shown(lacking, style.NOTHING), above)
        canvas.finish(figure, [], replace(shown, curves=usable, omitted=omitted, has_marks=False))
        drawn[f"breakdown{shown.suffix}"] = figure
    return drawn


def _areas(curves: list[Series], view: View, canvas: Canvas) -> tuple[Figure, str]:
    """The figure, and which points are above its axes."""
    names, room = wrapped(list(curves[0].abscissa.names.values()))
    figure, axes = canvas.grid_of(len(curves), width=max(4.4, room))
    for panel, series in zip(axes, curves, strict=True):
        places = [place or 0.0 for place in series.places()]
        stack = _stack(series)
        if names:
            _columns(panel, places, stack, 0.8)
            panel.set_xticks(range(len(names)), names)
            canvas.names[panel] = "x"
        elif len(places) > 1:
            colours = [_colour(name) for name in stack]
            panel.stackplot(places, list(stack.values()), labels=list(stack), colors=colours, alpha=0.85)
            panel.margins(x=0)
        else:
            _columns(panel, places, stack, 0.03)
        panel.set_title(textwrap.fill(series.label, TITLE_WIDTH), fontsize="medium")
        panel.set_xlabel(series.abscissa.label)
        panel.tick_params(labelbottom=True)
    above = "" if view.ylim or names else style.cut_curves(axes[0], [_totals(series) for series in curves])
    axes[0].set_ylabel(style.LATENCY)
    _legend(figure, axes, canvas)
    return figure, above


def _columns(panel: Axes, places: Sequence[float], stack: dict[str, list[float]], width: float) -> None:
    """The components of each point on top of each other."""
    bottom = np.zeros(len(places))
    for name, values in stack.items():
        panel.bar(places, values, bottom=bottom, color=_colour(name), label=name, width=width)
        bottom += values


def _bars(curves: list[Series], _: View, canvas: Canvas) -> tuple[Figure, str]:
    """A bar per curve, the components side by side in it."""
    figure, axes = canvas.rows([series.label for series in curves])
    for place, series in enumerate(curves):
        left = 0.0
        for name, (value,) in _stack(series).items():
            axes.barh(place, value, left=left, color=_colour(name), label=name, height=0.6)
            left += value
    axes.set_xlabel(style.LATENCY)
    _legend(figure, [axes], canvas)
    return figure, ""


def _legend(figure: Figure, axes: Sequence[Axes], canvas: Canvas) -> None:
    """One legend with every component that a panel has."""
    pairs = [zip(*panel.get_legend_handles_labels(), strict=True) for panel in axes]
    found = {label: handle for panel in pairs for handle, label in panel}
    names = [name for name in COMPONENTS.values() if name in found][::-1]
    canvas.legend(figure, [found[name] for name in names], names, "right upper")


def _colour(name: str) -> str:
    names = [each for each in COMPONENTS.values() if each != RAILS]
    return style.PALETTE[[*names, RAILS].index(name)]


def _totals(series: Series) -> list[float | None]:
    """Mean latency point by point; None where no packet was delivered."""
    return [sum(column) or None for column in zip(*_stack(series).values(), strict=True)]


def _stack(series: Series) -> dict[str, list[float]]:
    """Component -> value at each load; empty when no packet was delivered at any."""
    known = series.groups[0].results[0].summary
    values = {
        name: [value.mean for value in series.values(key)] for key, name in COMPONENTS.items() if key in known
    }
    if all(value is None for column in values.values() for value in column):
        return {}
    return {name: [value or 0.0 for value in column] for name, column in values.items()}
