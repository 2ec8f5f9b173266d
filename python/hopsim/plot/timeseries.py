"""Accepted load and latency over time."""

from __future__ import annotations

from matplotlib.figure import Figure

from hopsim.plot import style
from hopsim.plot.records import is_recorded
from hopsim.plot.view import View, at_one_load
from hopsim.results import Results

TITLE = "accepted load and packet latency over time"
STREAM = "timeseries"


def draw(results: Results, view: View) -> dict[str, Figure]:
    """Two panels, one line per curve, with a band over seeds."""
    drawn = {}
    for suffix, title, chosen in at_one_load(results, view, lambda series: is_recorded(series, STREAM)):
        figure, (load, latency) = style.stacked(2)
        for index, series in enumerate(chosen):
            style.line(load, index, series, (STREAM, "accepted_load"))
            style.line(latency, index, series, (STREAM, "latency_mean"))
        load.set(ylabel="Accepted load\n[phits/(node·cycle)]")
        latency.set(xlabel="Time [cycles]", ylabel=style.LATENCY)
        load.set_ylim(bottom=0)
        latency.set_ylim(bottom=0)
        style.finish(figure, load, title)
        drawn[f"timeseries{suffix}"] = figure
    return drawn
