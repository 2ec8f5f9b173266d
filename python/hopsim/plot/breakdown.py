"""Where packets spend their time: the components of mean latency, stacked, against offered load."""

from __future__ import annotations

import textwrap

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hopsim.plot import style
from hopsim.plot.view import View, figures
from hopsim.results import Results
from hopsim.series import Series

TITLE = "components of mean packet latency against offered load"

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
    """A panel per curve: areas over load, or a bar when there is one load only."""
    drawn = {}
    for suffix, title, group in figures(results, view):
        usable = [series for series in group if _stack(series)]
        if not usable:
            continue
        figure, axes = style.panels(len(usable), width=4.4)
        for panel, series in zip(axes, usable, strict=True):
            _panel(panel, series)
        _label(figure, axes, usable)
        figure.suptitle(title, fontsize="medium")
        drawn[f"breakdown{suffix}"] = figure
    return drawn


def _panel(axes: Axes, series: Series) -> None:
    loads = [value.mean or 0.0 for value in series.values("offered_load")]
    stack = _stack(series)
    colours = style.PALETTE[: len(stack)]
    names = list(stack)
    if len(loads) > 1:
        axes.stackplot(loads, list(stack.values()), labels=names, colors=colours, alpha=0.85)
    else:
        bottom = 0.0
        for name, colour in zip(names, colours, strict=True):
            axes.bar([f"{loads[0]:g}"], stack[name], bottom=bottom, color=colour, label=name, width=0.5)
            bottom += stack[name][0]
    axes.set_title(textwrap.fill(series.label, TITLE_WIDTH), fontsize="medium")


def _label(figure: Figure, axes: list[Axes], group: list[Series]) -> None:
    totals = [sum(column) for series in group for column in zip(*_stack(series).values(), strict=True)]
    style.cut_latencies(axes[0], totals, room=1.05)
    for panel in axes:
        panel.set_xlabel(style.OFFERED)
        panel.margins(x=0)
        panel.tick_params(labelbottom=True)
    axes[0].set_ylabel(style.LATENCY)
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles[::-1], labels[::-1], loc="outside right upper", fontsize="small", frameon=False)


def _stack(series: Series) -> dict[str, list[float]]:
    """Component -> value at each load; empty when no packet was delivered at any."""
    known = series.groups[0].results[0].summary
    values = {
        name: [value.mean for value in series.values(key)] for key, name in COMPONENTS.items() if key in known
    }
    if all(value is None for column in values.values() for value in column):
        return {}
    return {name: [value or 0.0 for value in column] for name, column in values.items()}
