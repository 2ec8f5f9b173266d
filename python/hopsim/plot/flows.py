"""What flows of an InfiniBand fabric get over time, and how they are throttled."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hopsim.plot import options, style
from hopsim.plot.canvas import Canvas
from hopsim.plot.over_time import Kind
from hopsim.plot.view import Shown, View
from hopsim.results import Results

TITLE = (
    "throughput of every flow over time, as lines and stacked, and its index of the congestion control table"
)
NEEDS = 'measure.streams = ["flow_series"] and measure.time.interval'
TAKES = options.AT_ONE_LOAD | {"xlim"}
STREAM = "flow_series"
NAMED = 16
"""Most flows that have a label of their own."""
WIDTH = 8.0
"""Width of a figure [inches]."""


def draw(results: Results, view: View, canvas: Canvas) -> dict[str, Figure]:
    """A figure per curve, of a single curve one per place on it; the first seed of several."""
    return Kind(STREAM, "flows", "Throughput of flows", over_time).figures(results, view, canvas)


def over_time(table: pa.Table, about: Shown, canvas: Canvas, *, with_index: bool | None = None) -> Figure:
    """Lines, stack and the index of the congestion control table, if asked for or a flow is throttled."""
    names, times, values = _by_flow(table, "throughput_gbps")
    _, _, indices = _by_flow(table, "ccti")
    rows = 3 if (with_index if with_index is not None else bool(np.nanmax(indices) > 0)) else 2
    figure, grid = canvas.grid(rows, 1, (WIDTH, 2.5 * rows + 0.8), sharex=True)
    _lines(grid[0], names, times, values)
    grid[0].set_ylabel("Throughput [Gb/s]")
    _stack(grid[1], names, times, values)
    grid[1].set_ylabel("Throughput, stacked\n[Gb/s]")
    if rows == 3:
        _lines(grid[2], names, times, indices)
        grid[2].set_ylabel("CCTI")
    grid[-1].set_xlabel("Time [s]")
    handles, labels = grid[1].get_legend_handles_labels()
    canvas.legend(figure, handles, labels, "lower center", 8)
    canvas.finish(figure, [], about)
    return figure


def _by_flow(table: pa.Table, column: str) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Names of the flows, ends of the intervals [s], and the column by flow and interval."""
    flows = _names(table)
    names = list(dict.fromkeys(flows))
    times = np.unique(table.column("time_s").to_numpy())
    place = {name: number for number, name in enumerate(names)}
    values = np.full((len(names), len(times)), np.nan)
    found = np.searchsorted(times, table.column("time_s").to_numpy())
    values[[place[name] for name in flows], found] = table.column(column).to_numpy()
    return names, times, values


def _names(table: pa.Table) -> list[str]:
    """Row by row the name of the flow, with that of its job if there are several."""
    jobs, names = ([str(text) for text in table.column(name).to_pylist()] for name in ("job", "name"))
    if len(set(jobs)) < 2:
        return names
    return [f"{job}: {name}" for job, name in zip(jobs, names, strict=True)]


def _colour(number: int) -> str:
    return style.PALETTE[number % len(style.PALETTE)]


def _lines(axes: Axes, names: list[str], times: np.ndarray, values: np.ndarray) -> None:
    for number, (name, line) in enumerate(zip(names, values, strict=True)):
        dash = style.LINES[number // len(style.PALETTE) % len(style.LINES)]
        axes.plot(times, line, color=_colour(number), linestyle=dash, linewidth=1, label=name)
    axes.set_ylim(bottom=0)


def _stack(axes: Axes, names: list[str], times: np.ndarray, values: np.ndarray) -> None:
    """The first flows each, all others together."""
    shown = values[:NAMED]
    labels = names[:NAMED]
    if len(names) > NAMED:
        shown = np.vstack([shown, values[NAMED:].sum(axis=0)])
        labels = [*labels, f"{len(names) - NAMED} others"]
    colours = [_colour(number) for number in range(len(shown))]
    axes.stackplot(times, shown, labels=labels, colors=colours, linewidth=0)
    axes.set_ylim(bottom=0)
    axes.margins(x=0)
