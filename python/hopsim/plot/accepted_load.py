"""Accepted load against offered load."""

from __future__ import annotations

from matplotlib.axes import Axes

from hopsim.plot import style
from hopsim.plot.metric import Metric
from hopsim.series import Series

TITLE = "accepted load against offered load or burst size, or as bars"
NEEDS = "points that have finished"
DIAGONAL = "accepted = offered"


def _mark_offered(axes: Axes, group: list[Series]) -> None:
    """The line on which everything offered is accepted, where the axis is the load of what is drawn."""
    if group[0].abscissa.path is None:
        end = max(place or 0.0 for series in group for place in series.places())
        for panel in axes.figure.axes:
            panel.plot([0, end], [0, end], color="0.6", linewidth=1, linestyle=":", label=DIAGONAL)


draw = Metric("accepted_load", "accepted_load", style.ACCEPTED, _mark_offered).draw
"""One figure with all curves, and the line on which everything offered is accepted."""
