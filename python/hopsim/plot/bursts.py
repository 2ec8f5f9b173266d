"""How long bursts take in which every node sends the same number of packets and waits for all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.figure import Figure

from hopsim.metrics.series import by_job
from hopsim.plot import options
from hopsim.plot.canvas import Canvas
from hopsim.plot.metric import Metric
from hopsim.plot.view import View

if TYPE_CHECKING:
    from hopsim.results.result import Results

TITLE = "cycles per burst against burst size or a sweep axis, or as bars"
NEEDS = "a process of synchronised_bursts"
TAKES = options.CURVES
KEY = "cycles_per_burst"


def draw(results: Results, view: View, canvas: Canvas) -> dict[str, Figure]:
    """One figure with all curves whose nodes send bursts."""
    bursts = [point for point in by_job(results) if KEY in point.summary]
    metric = Metric("bursts", KEY, "Duration of a burst [cycles]", nothing="no burst completed")
    return metric.draw(results.only(bursts), view, canvas)
