"""What the ranks of programs do over time."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from hopsim.metrics.series import Series, by_job, of_programs
from hopsim.plot import options, style
from hopsim.plot.canvas import Canvas
from hopsim.plot.intervals import mean_open
from hopsim.plot.records import first_table
from hopsim.plot.view import View, at_one_load, caption

if TYPE_CHECKING:
    from hopsim.results.result import Results

TITLE = "what every rank of a program computes, sends and waits for, over time"
NEEDS = 'measure.streams = ["operations"]'
TAKES = options.AT_ONE_LOAD | {"xlim"}
STREAM = "operations"

ACTIVITIES = {
    "compute": ("computation", "#0072B2"),
    "send_overhead": ("sending", "#009E73"),
    "receive_overhead": ("receiving", "#56B4E9"),
    "wait_receive": ("waits to receive", "#E69F00"),
    "wait_send": ("waits to send", "#D55E00"),
    "wait_compute": ("waits for another stream", "#CC79A7"),
    "wait": ("waits for messages", "#F0E442"),
}
"""Activity of the table -> its name and colour: cold where the processor works, warm where it waits."""
MOST_ROWS = 64
"""Rows of a panel: with more ranks each row is several of them."""
COLUMNS = 1000
"""Parts of the time."""
LINES = 8
"""Lines of a row, so that parts in which it does several things show how much of each."""
PANELS = 6
"""Panels of a file."""
WIDTH = 9.0
"""Width of a figure [inches]."""


def draw(results: Results, view: View, canvas: Canvas) -> dict[str, Figure]:
    """A panel per curve, or per job of each; the first seed of several."""
    drawn: dict[str, Figure] = {}
    programs = of_programs(by_job(results))
    for shown in at_one_load(programs, view, _has_rows, "table of operations", per_file=PANELS):
        first = [_first_seed(series) for series in shown.curves]
        figure = _figure(first, canvas)
        canvas.finish(figure, [], replace(shown, title=caption(shown.title, *_seeds(shown.curves))))
        drawn[f"gantt{shown.suffix}"] = figure
    return drawn


def _has_rows(series: Series) -> bool:
    table = first_table(series, STREAM)
    return table is not None and table.num_rows > 0


def _first_seed(series: Series) -> Series:
    group = series.groups[0]
    return replace(series, groups=[replace(group, results=group.results[:1])])


def _seeds(curves: list[Series]) -> list[str]:
    """Which run is shown where there are several."""
    several = [series.groups[0].results for series in curves if len(series.groups[0].results) > 1]
    return [f"seed {several[0][0].summary['seed']}"] if several else []


def _figure(curves: list[Series], canvas: Canvas) -> Figure:
    tables = [table for series in curves if (table := first_table(series, STREAM)) is not None]
    ends = [int(np.max(table.column("end").to_numpy())) for table in tables]
    rows = [min(_ranks(table), MOST_ROWS) for table in tables]
    heights = [0.9 + 0.12 * count for count in rows]
    layout: dict[str, Any] = {"sharex": True, "gridspec_kw": {"height_ratios": heights}}
    figure, grid = canvas.grid(len(curves), 1, (WIDTH, sum(heights) + 0.6), **layout)
    present: set[str] = set()
    for axes, series, table, count in zip(grid, curves, tables, rows, strict=True):
        present |= _panel(axes, table, count, max(ends))
        axes.set_title(series.label, fontsize="medium")
    grid[-1].set_xlabel("Time [cycles]")
    style.short_numbers(grid[-1].xaxis)
    found = [ACTIVITIES[name] for name in ACTIVITIES if name in present]
    handles = [Patch(color=colour, label=name) for name, colour in found]
    canvas.legend(figure, handles, [name for name, _ in found], "lower center", 4)
    return figure


def _ranks(table: pa.Table) -> int:
    return int(np.max(table.column("rank").to_numpy())) + 1


def _panel(axes: Axes, table: pa.Table, rows: int, end: int) -> set[str]:
    """The first stream of all ranks as an image; returns what they do."""
    ranks = _ranks(table)
    edges = np.linspace(0, end, COLUMNS + 1)
    bounds = np.linspace(0, ranks, rows + 1).round().astype(int)
    shares = _shares(table, bounds, edges)
    image = np.concatenate([_lines(part) for part in shares])
    colours = ListedColormap(["white", *(colour for _, colour in ACTIVITIES.values())])
    axes.imshow(
        image,
        cmap=colours,
        vmin=-0.5,
        vmax=len(ACTIVITIES) + 0.5,
        aspect="auto",
        interpolation="nearest",
        extent=(0, end, rows, 0),
    )
    shown = range(0, rows, -(-rows // 16))
    axes.set_yticks([row + 0.5 for row in shown], [str(bounds[row]) for row in shown])
    axes.set_ylabel("Rank" if ranks == rows else f"Rank, {-(-ranks // rows)} in a row")
    axes.grid(visible=False)
    return {name for name, total in zip(ACTIVITIES, shares.sum(axis=(0, 2)), strict=True) if total > 0}


def _shares(table: pa.Table, bounds: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """By row, activity and part of the time: how much of it the ranks of the row spend so."""
    stream = table.column("stream").to_numpy()
    columns = {
        name: table.column(name).to_numpy()[stream == 0] for name in ("rank", "activity", "begin", "end")
    }
    first = np.searchsorted(columns["rank"], bounds)
    shares = np.zeros((len(bounds) - 1, len(ACTIVITIES), len(edges) - 1))
    for row, (start, stop) in enumerate(pairwise(first)):
        activities = columns["activity"][start:stop]
        for number, name in enumerate(ACTIVITIES):
            chosen = activities == name
            spans = columns["begin"][start:stop][chosen], columns["end"][start:stop][chosen]
            shares[row, number] = mean_open(spans, edges) / (bounds[row + 1] - bounds[row])
    return shares


def _lines(shares: np.ndarray) -> np.ndarray:
    """The lines of a row: activities from the bottom, each with its share of them; above them nothing."""
    heights = (np.arange(LINES)[::-1] + 0.5) / LINES
    below = np.cumsum(shares, axis=0)
    number = (below[None, :, :] <= heights[:, None, None]).sum(axis=1)
    return np.where(number < len(ACTIVITIES), number + 1, 0)
