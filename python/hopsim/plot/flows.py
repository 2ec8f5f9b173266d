"""What flows of an InfiniBand fabric get over time, and how they are throttled."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hopsim.plot import options, style
from hopsim.plot.canvas import Canvas
from hopsim.plot.over_time import Kind
from hopsim.plot.view import Shown, View, caption

if TYPE_CHECKING:
    from hopsim.results.result import Results

TITLE = (
    "throughput of every flow over time, as lines and stacked, and its index of the congestion control table"
)
NEEDS = 'measure.streams = ["flow_series"] and measure.time.interval'
TAKES = options.AT_ONE_LOAD | {"xlim"}
STREAM = "flow_series"
NAMED = len(style.PALETTE)
"""Most flows that have a colour and a name of their own: as many as can be told apart."""
SIDE = 3
"""Of so many flows each the most, and the least, throughput is shown where not all have a name."""
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
    named = _named(values, indices)
    figure, grid = canvas.grid(rows, 1, (WIDTH, 2.5 * rows + 0.8), sharex=True)
    _lines(grid[0], (names, named), times, values)
    grid[0].set_ylabel("Throughput [Gb/s]")
    _stack(grid[1], (names, named), times, values)
    grid[1].set_ylabel("Throughput, stacked\n[Gb/s]")
    if rows == 3:
        _lines(grid[2], (names, named), times, indices)
        grid[2].set_ylabel("CCTI")
    grid[-1].set_xlabel("Time [s]")
    handles, labels = grid[0].get_legend_handles_labels()
    canvas.legend(figure, handles, labels, "lower center", 8)
    canvas.finish(figure, [], replace(about, omitted=caption(about.omitted, _others(values, named))))
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


def _named(values: np.ndarray, indices: np.ndarray) -> list[int]:
    """The flows that have a name, in their order: those with most, with least, and most throttled."""
    by_rate = np.argsort(-_mean(values), kind="stable").tolist()
    by_index = np.argsort(-_mean(indices), kind="stable").tolist()
    chosen = dict.fromkeys([*by_rate[:SIDE], *by_rate[-SIDE:], *by_index])
    return sorted(list(chosen)[:NAMED])


def _mean(values: np.ndarray) -> np.ndarray:
    """Of each flow, over the intervals; nothing counts as 0."""
    return np.nan_to_num(values).mean(axis=1)


def _rest(values: np.ndarray, named: list[int]) -> np.ndarray:
    return np.delete(values, named, axis=0)


def _others(values: np.ndarray, named: list[int]) -> str:
    """What the flows without a name get."""
    rest = _mean(_rest(values, named))
    if not len(rest):
        return ""
    return f"grey: {style.number_of(len(rest), 'other flow')} of {rest.min():.3g} to {rest.max():.3g} Gb/s"


def _lines(axes: Axes, flows: tuple[list[str], list[int]], times: np.ndarray, values: np.ndarray) -> None:
    names, named = flows
    for line in _rest(values, named):
        axes.plot(times, line, **style.OTHERS)
    for number, flow in enumerate(named):
        axes.plot(times, values[flow], label=names[flow], **style.look_over_time(number, len(times)))
    axes.set_ylim(bottom=0)


def _stack(axes: Axes, flows: tuple[list[str], list[int]], times: np.ndarray, values: np.ndarray) -> None:
    """The flows with a name each, all others together in grey."""
    names, named = flows
    shown, colours = values[named], [style.look(number)["color"] for number in range(len(named))]
    labels = [names[flow] for flow in named]
    if len(named) < len(names):
        shown = np.vstack([shown, np.nan_to_num(_rest(values, named)).sum(axis=0)])
        labels, colours = [*labels, f"{len(names) - len(named)} others"], [*colours, style.OTHERS["color"]]
    axes.stackplot(times, shown, labels=labels, colors=colours, edgecolor="white", linewidth=0.3)
    axes.set_ylim(bottom=0)
    axes.margins(x=0)
