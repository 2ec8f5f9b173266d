"""Accepted load against offered load."""

from __future__ import annotations

from matplotlib.figure import Figure

from hopsim.plot import style
from hopsim.plot.view import View, over_load
from hopsim.results import Results

TITLE = "accepted load against offered load"


def draw(results: Results, view: View) -> dict[str, Figure]:
    """One figure, with the line on which everything offered is accepted."""
    drawn = {}
    for suffix, title, group in over_load(results, view):
        figure, (axes,) = style.panels(1)
        end = max(value.mean or 0.0 for series in group for value in series.values("offered_load"))
        axes.plot([0, end], [0, end], color="0.6", linewidth=1, linestyle=":", label="accepted = offered")
        for index, series in enumerate(group):
            style.curve(axes, index, series, "accepted_load")
        axes.set(xlabel=style.OFFERED, ylabel=style.ACCEPTED)
        axes.set_xlim(left=0)
        axes.set_ylim(bottom=0)
        style.finish(figure, axes, title)
        drawn[f"accepted_load{suffix}"] = figure
    return drawn
