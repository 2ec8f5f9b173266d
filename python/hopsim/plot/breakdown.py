"""Where packets spend their time: the components of mean latency, stacked, against offered load."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hopsim.plot import style
from hopsim.plot.view import View, not_shown, over_abscissa
from hopsim.results import Results
from hopsim.series import Series, by_job

TITLE = "components of mean packet latency, as areas over offered load or burst size, or as bars"
NEEDS = "points that delivered packets"

COMPONENTS = {
    "base_latency_mean": "minimal path",
    "misrouting_latency_mean": "misrouting",
    "local_queue_latency_mean": "local queues",
    "global_queue_latency_mean": "global queues",
    "network_queue_latency_mean": "network queues",
    "injection_latency_mean": "injection",
}
"""Key of the summary -> its name; of the queues there are those of the topology's classes of links."""
TITLE_WIDTH = 40
"""Characters of a line above a panel."""


def draw(results: Results, view: View) -> dict[str, Figure]:
    """A panel per curve with areas over load; a bar per curve where each has one point. Jobs apart."""
    drawn: dict[str, Figure] = {}
    for shown in over_abscissa(by_job(results), view):
        usable = [series for series in shown.curves if _stack(series)]
        if not usable:
            continue
        lacking = [series.label for series in shown.curves if series not in usable]
        omitted = not_shown(lacking, style.NOTHING)
        figure = _bars(usable) if shown.has_one_place else _areas(usable)
        style.finish(figure, [], shown.title, omitted)
        drawn[f"breakdown{shown.suffix}"] = figure
    return drawn


def _areas(curves: list[Series]) -> Figure:
    figure, axes = style.panels(len(curves), width=4.4)
    for panel, series in zip(axes, curves, strict=True):
        places = [place or 0.0 for place in series.places()]
        stack = _stack(series)
        if len(places) > 1:
            colours = [_colour(name) for name in stack]
            panel.stackplot(places, list(stack.values()), labels=list(stack), colors=colours, alpha=0.85)
            panel.margins(x=0)
        else:
            _column(panel, places[0], stack)
        panel.set_title(textwrap.fill(series.label, TITLE_WIDTH), fontsize="medium")
        panel.set_xlabel(series.abscissa.label)
        panel.tick_params(labelbottom=True)
    style.cut_curves(axes[0], [_totals(series) for series in curves])
    axes[0].set_ylabel(style.LATENCY)
    _legend(figure, axes)
    return figure


def _column(panel: Axes, place: float, stack: dict[str, list[float]]) -> None:
    """The components of the only point of a curve, beside curves that have several."""
    bottom = 0.0
    for name, (value,) in stack.items():
        panel.bar(place, value, bottom=bottom, color=_colour(name), label=name, width=0.03)
        bottom += value


def _bars(curves: list[Series]) -> Figure:
    """A bar per curve, the components side by side in it."""
    figure, axes = style.rows([series.label for series in curves])
    for place, series in enumerate(curves):
        left = 0.0
        for name, (value,) in _stack(series).items():
            axes.barh(place, value, left=left, color=_colour(name), label=name, height=0.6)
            left += value
    axes.set_xlabel(style.LATENCY)
    _legend(figure, [axes])
    return figure


def _legend(figure: Figure, axes: Sequence[Axes]) -> None:
    """One legend with every component that a panel has."""
    pairs = [zip(*panel.get_legend_handles_labels(), strict=True) for panel in axes]
    found = {label: handle for panel in pairs for handle, label in panel}
    names = [name for name in COMPONENTS.values() if name in found][::-1]
    handles = [found[name] for name in names]
    figure.legend(handles, names, loc="outside right upper", fontsize="small", frameon=False)


def _colour(name: str) -> str:
    return style.PALETTE[list(COMPONENTS.values()).index(name)]


def _totals(series: Series) -> list[float]:
    return [sum(column) for column in zip(*_stack(series).values(), strict=True)]


def _stack(series: Series) -> dict[str, list[float]]:
    """Component -> value at each load; empty when no packet was delivered at any."""
    known = series.groups[0].results[0].summary
    values = {
        name: [value.mean for value in series.values(key)] for key, name in COMPONENTS.items() if key in known
    }
    if all(value is None for column in values.values() for value in column):
        return {}
    return {name: [value or 0.0 for value in column] for name, column in values.items()}
