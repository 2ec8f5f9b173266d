"""Mean packet latency against offered load."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hopsim.plot import style
from hopsim.plot.view import View, over_load
from hopsim.results import Results
from hopsim.series import Series

TITLE = "mean packet latency against offered load"
KEY = "packet_latency_mean"


def draw(results: Results, view: View) -> dict[str, Figure]:
    """One figure; its axis ends at six times the lowest latency: saturation must not hide the rest."""
    drawn = {}
    for suffix, title, group in over_load(results, view):
        figure, (axes,) = style.panels(1)
        for index, series in enumerate(group):
            style.curve(axes, index, series, KEY)
        _cut(axes, group)
        axes.set(xlabel=style.OFFERED, ylabel=style.LATENCY)
        style.finish(figure, axes, title)
        drawn[f"latency_load{suffix}"] = figure
    return drawn


def _cut(axes: Axes, group: list[Series]) -> None:
    means = [value.mean for series in group for value in series.values(KEY) if value.mean is not None]
    if means:
        style.cut_latencies(axes, means)
    axes.set_xlim(left=0)
