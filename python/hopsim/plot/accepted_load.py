"""Accepted load against offered load."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hopsim.plot import style
from hopsim.plot.metric import Metric
from hopsim.plot.view import View
from hopsim.results import Results
from hopsim.series import OF_LINKS, Series, by_job, has_flows, of_traffic

TITLE = "accepted load against offered load or burst size, or as bars"
NEEDS = "jobs with traffic"
DIAGONAL = "accepted = offered"


def _mark_offered(axes: Axes, group: list[Series]) -> None:
    """The line on which everything offered is accepted, where the axis is the load of what is drawn."""
    if group[0].abscissa.path is None:
        end = max(place or 0.0 for series in group for place in series.places())
        for panel in axes.figure.axes:
            panel.plot([0, end], [0, end], color="0.6", linewidth=1, linestyle=":", label=DIAGONAL)


def draw(results: Results, view: View) -> dict[str, Figure]:
    """One figure with all curves, and the line on which everything offered is accepted."""
    label = f"Accepted load [{OF_LINKS}]" if has_flows(results) else style.ACCEPTED
    metric = Metric("accepted_load", "accepted_load", label, _mark_offered)
    return metric.draw(of_traffic(by_job(results)), view)
