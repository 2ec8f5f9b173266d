"""Accepted load and latency over time."""

from __future__ import annotations

from matplotlib.figure import Figure

from hopsim.plot import style
from hopsim.results import Results

TITLE = "accepted load and packet latency over time"
STREAM = "timeseries"


def draw(results: Results, view: style.View) -> dict[str, Figure]:
    """Two panels, one line per curve, with a band over seeds."""
    drawn = {}
    for suffix, title, group in style.figures(results, view):
        points, offered = style.one_load_each(group, view.load)
        chosen = [series for series in points if style.cycles(series, STREAM).size]
        if not chosen:
            continue
        figure, (load, latency) = style.stacked(2)
        for index, series in enumerate(chosen):
            style.line(load, index, series, (STREAM, "accepted_load"))
            style.line(latency, index, series, (STREAM, "latency_mean"))
        load.set(ylabel="Accepted load\n[phits/(node·cycle)]")
        latency.set(xlabel="Time [cycles]", ylabel=style.LATENCY)
        load.set_ylim(bottom=0)
        latency.set_ylim(bottom=0)
        style.finish(figure, load, style.caption(title, offered))
        drawn[f"timeseries{suffix}"] = figure
    return drawn
