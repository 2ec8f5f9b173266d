"""Mean packet latency against offered load."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hopsim.plot import style
from hopsim.plot.metric import Metric
from hopsim.plot.view import View
from hopsim.results import Results
from hopsim.series import Series, by_job, of_traffic

TITLE = "mean packet latency against offered load or burst size, or as bars"
NEEDS = "jobs with traffic"
KEY = "packet_latency_mean"


def _cut(axes: Axes, group: list[Series]) -> None:
    """Ends the axis where saturation would hide the rest, but not before every curve has begun."""
    style.cut_curves(axes, [[value.mean for value in series.values(KEY)] for series in group])


def draw(results: Results, view: View) -> dict[str, Figure]:
    """One figure with all curves."""
    return Metric("latency_load", KEY, style.LATENCY, _cut).draw(of_traffic(by_job(results)), view)
