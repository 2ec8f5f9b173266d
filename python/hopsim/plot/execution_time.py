"""How long programs take."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.figure import Figure

from hopsim.metrics.series import by_job, of_programs
from hopsim.plot import options
from hopsim.plot.canvas import Canvas
from hopsim.plot.metric import Metric
from hopsim.plot.view import View

if TYPE_CHECKING:
    from hopsim.results.result import Results

TITLE = "execution time of programs as bars, or against the offered load of other jobs or a sweep axis"
NEEDS = "jobs that run programs"
TAKES = options.CURVES


def draw(results: Results, view: View, canvas: Canvas) -> dict[str, Figure]:
    """One figure with all programs."""
    metric = Metric("execution_time", "execution_time", "Execution time [cycles]", large=True)
    return metric.draw(of_programs(by_job(results)), view, canvas)
