"""Accepted load and latency over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.figure import Figure

from hopsim.plot import fault_marks, options, style
from hopsim.plot.canvas import Canvas
from hopsim.plot.records import is_recorded
from hopsim.plot.view import View, at_one_load

if TYPE_CHECKING:
    from hopsim.results.result import Results

TITLE = "accepted load and packet latency over time"
NEEDS = "measure.interval > 0"
TAKES = options.OVER_TIME
STREAM = "timeseries"


def draw(results: Results, view: View, canvas: Canvas) -> dict[str, Figure]:
    """Two panels, one line per curve, with a band over seeds, and marks where links fail in all runs."""
    drawn: dict[str, Figure] = {}
    for shown in at_one_load(results, view, lambda series: is_recorded(series, STREAM), "time series"):
        figure, columns, portions = canvas.stacked(2, shown.curves)
        for (load, latency), portion in zip(columns, portions, strict=True):
            for index, series in enumerate(portion):
                style.line(load, index, series, (STREAM, "accepted_load"))
                style.line(latency, index, series, (STREAM, "latency_mean"))
            runs = (result for series in portion for group in series.groups for result in group.results)
            fault_marks.mark((load, latency), (result.config for result in runs))
            load.set_ylim(bottom=0)
            latency.set(xlabel="Time [cycles]")
            latency.set_ylim(bottom=0)
        columns[0][0].set(ylabel="Accepted load\n[phits/(node·cycle)]")
        columns[0][1].set(ylabel=style.LATENCY)
        canvas.finish(figure, [top for top, _ in columns], shown)
        drawn[f"timeseries{shown.suffix}"] = figure
    return drawn
