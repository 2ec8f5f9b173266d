"""Accepted load against offered load."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hopsim.metrics.series import OF_LINKS, OFFERED, Series, by_job, has_flows, of_traffic
from hopsim.plot import options, style
from hopsim.plot.canvas import Canvas
from hopsim.plot.metric import Metric
from hopsim.plot.view import View

if TYPE_CHECKING:
    from hopsim.results.result import Results

TITLE = "accepted load against offered load, burst size or a sweep axis, or as bars"
NEEDS = "jobs with traffic"
TAKES = options.CURVES


def _mark_offered(panels: Sequence[Axes], curves: Sequence[Series]) -> str:
    """The line on which everything offered is accepted, where the axis is the load of what is drawn."""
    abscissa = curves[0].abscissa
    if abscissa.path is None and abscissa.key == OFFERED.key:
        end = max(place or 0.0 for series in curves for place in series.places())
        # Bent where one of the axes is logarithmic.
        line = np.linspace(0, end, 200)
        for panel in panels:
            panel.plot(line, line, color="0.6", linewidth=1, linestyle=":", label=style.DIAGONAL)
    return ""


def draw(results: Results, view: View, canvas: Canvas) -> dict[str, Figure]:
    """One figure with all curves, and the line on which everything offered is accepted."""
    label = f"Accepted load [{OF_LINKS}]" if has_flows(results) else style.ACCEPTED
    metric = Metric("accepted_load", "accepted_load", label, _mark_offered)
    return metric.draw(of_traffic(by_job(results)), view, canvas)
