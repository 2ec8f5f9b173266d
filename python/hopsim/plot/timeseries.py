"""Accepted load and latency over time."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hopsim.plot import style
from hopsim.results import Results
from hopsim.series import Series

TITLE = "accepted load and packet latency over time"


def draw(results: Results, view: style.View) -> dict[str, Figure]:
    """Two panels, one line per curve, with a band over seeds."""
    drawn = {}
    for suffix, title, group in style.figures(results, view):
        points, offered = style.one_load_each(group, view.load)
        chosen = [series for series in points if _cycles(series).size]
        if not chosen:
            continue
        figure, (load, latency) = style.stacked(2)
        for index, series in enumerate(chosen):
            _line(load, index, series, "accepted_load")
            _line(latency, index, series, "latency_mean")
        load.set(ylabel="Accepted load\n[phits/(node·cycle)]")
        latency.set(xlabel="Time [cycles]", ylabel=style.LATENCY)
        load.set_ylim(bottom=0)
        latency.set_ylim(bottom=0)
        style.finish(figure, load, style.caption(title, offered))
        drawn[f"timeseries{suffix}"] = figure
    return drawn


def _line(axes: Axes, index: int, series: Series, column: str) -> None:
    values = style.over_seeds(style.stream_of(series.groups[0].results, "timeseries", column))
    means = [np.nan if value.mean is None else value.mean for value in values]
    cycles = _cycles(series)
    colour = style.look(index)["color"]
    axes.plot(cycles, means, color=colour, label=series.label or None)
    low, high = style.band(values)
    axes.fill_between(cycles, low, high, color=colour, alpha=0.2, linewidth=0)


def _cycles(series: Series) -> np.ndarray:
    columns = style.stream_of(series.groups[0].results, "timeseries", "cycle")
    return columns[0] if columns else np.empty(0)
