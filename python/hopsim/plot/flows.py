"""What flows of a fabric get over time, and how they are throttled."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hopsim.plot import fault_marks, options, style
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
SECONDS = 1e-9
"""A nanosecond."""
CAUSES = {"lost_on_links": "on links that fail", "discarded": "discarded by switches", "spoiled": "spoiled"}
"""Columns with packets lost, and what they are called."""
WIDTH = 8.0
"""Width of a figure [inches]."""


def draw(results: Results, view: View, canvas: Canvas) -> dict[str, Figure]:
    """A figure per curve, of a single curve one per place on it; the first seed of several."""
    return Kind(STREAM, "flows", "Throughput of flows", over_time).figures(results, view, canvas)


def over_time(table: pa.Table, about: Shown, canvas: Canvas, *, with_index: bool | None = None) -> Figure:
    """Lines, stack and the index of the congestion control table, if asked for or a flow is throttled.

    Where links fail marks say when, and a panel below what is lost.
    """
    names, times, values = _by_flow(table, "throughput_gbps")
    _, _, indices = _by_flow(table, "ccti")
    has_index = with_index if with_index is not None else bool(np.nanmax(indices) > 0)
    losses = _losses(table)
    rows = 2 + has_index + bool(losses)
    named = _named(values, indices)
    figure, grid = canvas.grid(rows, 1, (WIDTH, 2.5 * rows + 0.8), sharex=True)
    _lines(grid[0], (names, named), times, values)
    grid[0].set_ylabel("Throughput [Gb/s]")
    _stack(grid[1], (names, named), times, values)
    grid[1].set_ylabel("Throughput, stacked\n[Gb/s]")
    if has_index:
        _lines(grid[2], (names, named), times, indices)
        grid[2].set_ylabel("CCTI")
    if losses:
        _lost(grid[rows - 1], losses, times)
    fault_marks.mark(grid, (series.groups[0].results[0].config for series in about.curves[:1]), SECONDS)
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


def _losses(table: pa.Table) -> dict[str, np.ndarray]:
    """Packets lost by interval, by cause; nothing where none are."""
    if "lost" not in table.column_names or not table.column("lost").to_numpy().any():
        return {}
    found = {name: _by_flow(table, column)[2].sum(axis=0) for column, name in CAUSES.items()}
    return {name: counts for name, counts in found.items() if counts.any()}


def _lost(axes: Axes, losses: dict[str, np.ndarray], times: np.ndarray) -> None:
    """Packets of all flows lost in each interval, by cause."""
    for number, (name, counts) in enumerate(losses.items()):
        axes.plot(times, counts, label=name, **style.look_over_time(number, len(times)))
    axes.set_ylim(bottom=0)
    axes.set_ylabel("Packets lost\nin an interval")
    axes.legend(fontsize="small", loc="upper right")


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
