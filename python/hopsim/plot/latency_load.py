"""Mean packet latency against offered load."""

from __future__ import annotations

from matplotlib.axes import Axes

from hopsim.plot import style
from hopsim.plot.metric import Metric
from hopsim.series import Series

TITLE = "mean packet latency against offered load or burst size, or as bars"
NEEDS = "points that delivered packets"
KEY = "packet_latency_mean"


def _cut(axes: Axes, group: list[Series]) -> None:
    """Ends the axis where saturation would hide the rest, but not before every curve has begun."""
    style.cut_curves(axes, [[value.mean for value in series.values(KEY)] for series in group])


draw = Metric("latency_load", KEY, style.LATENCY, _cut).draw
"""One figure with all curves."""
