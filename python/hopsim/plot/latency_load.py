"""Mean packet latency against offered load."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hopsim.metrics.series import Series, by_job, of_traffic
from hopsim.plot import options, style
from hopsim.plot.canvas import Canvas
from hopsim.plot.metric import Metric
from hopsim.plot.view import View

if TYPE_CHECKING:
    from hopsim.results.result import Results

TITLE = "mean packet latency against offered load, burst size or a sweep axis, or as bars"
NEEDS = "jobs with traffic"
TAKES = options.CURVES
LATENCIES = {
    "packet_latency_mean": style.LATENCY,
    "message_latency_mean_ns": "Message latency [ns]",
    "packet_latency_mean_ns": "Packet latency [ns]",
}
"""Key of the summary -> label; the first that the results have is drawn."""


def draw(results: Results, view: View, canvas: Canvas) -> dict[str, Figure]:
    """One figure with all curves."""
    shown = of_traffic(by_job(results))
    key = next((key for key in LATENCIES if any(key in result.summary for result in shown)), "")

    def cut(panels: Sequence[Axes], curves: Sequence[Series]) -> str:
        """Ends the axis where saturation would hide the rest, but not before every curve has begun."""
        if view.ylim or view.yscale == "log":
            return ""
        return style.cut_curves(
            panels[0], [[value.mean for value in series.values(key)] for series in curves]
        )

    return Metric("latency_load", key, LATENCIES[key], cut).draw(shown, view, canvas) if key else {}
