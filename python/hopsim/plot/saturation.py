"""Where configurations saturate, and what they accept beyond: what `hopsim saturate` has found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hopsim.metrics.series import Group
from hopsim.metrics.stats import Estimate
from hopsim.plot import style
from hopsim.plot.canvas import Canvas
from hopsim.plot.view import View, figures

if TYPE_CHECKING:
    from hopsim.results.result import Results

KEYS = {
    "saturation_load": "sources keep up to this offered load",
    "accepted_load_max": "greatest accepted load",
    "accepted_load_full": "accepted at an offer of {:g}",
}
"""Metric -> what the legend says, with the greatest load tried."""
SEARCHED = "sustained below, not sustained above"
"""What the loads between which saturation was searched are."""
DECIMALS = 3


def draw(results: Results) -> dict[str, Figure]:
    """For each configuration points with the interval over its seeds, and between which loads it saturates.

    The axis shows the loads that were found, and not those down to zero, beside which they look equal.
    """
    view = View()
    canvas = Canvas(view)
    drawn: dict[str, Figure] = {}
    highest = results[0].summary["load_full"]
    _, offsets = style.side_by_side(len(KEYS))
    for shown in figures(results, view):
        rows = [(series.label, group) for series in shown.curves for group in series.groups]
        figure, axes = canvas.rows([label or "all runs" for label, _ in rows])
        groups = [group for _, group in rows]
        _searched(axes, groups, offsets[0])
        for index, (key, name) in enumerate(KEYS.items()):
            places = [place + offsets[index] for place in range(len(groups))]
            _points(axes, index, places, [group.estimate(key) for group in groups], name.format(highest))
        axes.set_xlabel("Load [phits/(node·cycle)]")
        canvas.finish(figure, [axes], shown)
        drawn[f"saturation{shown.suffix}"] = figure
    return drawn


def _points(axes: Axes, index: int, places: Sequence[float], values: Sequence[Estimate], label: str) -> None:
    """A metric of all configurations, each with its number."""
    halves = style.half_widths(values)
    means = [value.mean or 0.0 for value in values]
    looks: dict[str, Any] = {**style.look(index), "linestyle": "none", "label": label}
    if halves is None:
        axes.plot(means, places, **looks)
    else:
        axes.errorbar(means, places, xerr=halves, **looks, **style.ERROR)
    for place, value in zip(places, values, strict=True):
        # At the right edge, whatever the axis shows.
        where: dict[str, Any] = {
            "transform": axes.get_yaxis_transform(),
            "va": "center",
            "fontsize": "x-small",
        }
        axes.text(1.01, place, value.text(DECIMALS), **where, gid=style.NUMBER)


def _searched(axes: Axes, groups: Sequence[Group], offset: float) -> None:
    """Behind the points the loads between which each configuration saturates, with any seed."""
    for place, group in enumerate(groups):
        found = [result.summary for result in group.results]
        low = min(each["saturation_load_low"] for each in found)
        highs = [each["saturation_load_high"] for each in found]
        # Where everything that was tried is sustained, nothing is known beyond.
        high = max(each["load_full"] if end is None else end for each, end in zip(found, highs, strict=True))
        looks: dict[str, Any] = {
            "color": style.PALETTE[0],
            "alpha": 0.25,
            "linewidth": 6,
            "solid_capstyle": "butt",
        }
        label = SEARCHED if place == 0 else None
        axes.plot([low, high], [place + offset] * 2, label=label, **looks)
