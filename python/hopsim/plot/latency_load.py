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
LATENCIES = {
    "packet_latency_mean": style.LATENCY,
    "message_latency_mean_ns": "Message latency [ns]",
    "packet_latency_mean_ns": "Packet latency [ns]",
}
"""Key of the summary -> label; the first that the results have is drawn."""


def draw(results: Results, view: View) -> dict[str, Figure]:
    """One figure with all curves."""
    shown = of_traffic(by_job(results))
    key = next((key for key in LATENCIES if any(key in result.summary for result in shown)), "")

    def cut(axes: Axes, group: list[Series]) -> None:
        """Ends the axis where saturation would hide the rest, but not before every curve has begun."""
        style.cut_curves(axes, [[value.mean for value in series.values(key)] for series in group])

    return Metric("latency_load", key, LATENCIES[key], cut).draw(shown, view) if key else {}
