"""The figure `gantt`: what every rank of a program does over time, as coloured bars.

A kind of figure: `kind.py` says what its module has (`TITLE`, `NEEDS`, `TAKES`, `STREAM`, `draw`), and
`accessor.py` has its row. The report, which draws the same in the browser, takes `ACTIVITIES` and `STREAM`
from here. It reads the recorded table `operations`, and draws only what the canvas hands it.

A panel shows a job as an image: a row for each rank, or for a few neighbouring ranks if there are many, and
a column for each short part of the time. As a row may do several things in one part of the time, it has a few
lines, of which each activity gets its share.
"""

from __future__ import annotations

import math
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
"""Most rows of a panel: with more ranks each row is for several of them."""
MOST_TICKS = 16
"""Most rows of a panel that are labelled with their rank."""
COLUMNS = 1000
"""Columns of a panel: equal parts of the time."""
LINES = 8
"""Lines of the image in a row: an activity that takes a quarter of a column has two of them."""
MOST_PANELS = 6
"""Most panels of a figure: more make further figures."""
WIDTH = 9.0
"""Width of a figure [inches]."""
ROW_HEIGHT = 0.12
"""Height of a row [inches]."""
PANEL_FRAME = 0.9
"""Height of a panel without its rows: its title and the distance to the next [inches]."""
LEGEND_HEIGHT = 0.6
"""Height of the legend and the label of the time below all panels [inches]."""


def draw(results: Results, view: View, canvas: Canvas) -> dict[str, Figure]:
    """A panel per curve, or per job of each; the first seed of several."""
    drawn: dict[str, Figure] = {}
    programs = of_programs(by_job(results))
    for shown in at_one_load(programs, view, _has_rows, "table of operations", per_file=MOST_PANELS):
        figure = _figure([_first_seed(series) for series in shown.curves], canvas)
        canvas.finish(figure, [], replace(shown, title=caption(shown.title, *_seed_shown(shown.curves))))
        drawn[f"gantt{shown.suffix}"] = figure
    return drawn


def _has_rows(series: Series) -> bool:
    table = first_table(series, STREAM)
    return table is not None and table.num_rows > 0


def _first_seed(series: Series) -> Series:
    """The curve with its first run alone: bars, unlike numbers, have no mean over seeds."""
    group = series.groups[0]
    return replace(series, groups=[replace(group, results=group.results[:1])])


def _seed_shown(curves: list[Series]) -> list[str]:
    """The seed that is shown, for the title; empty if every curve has only one."""
    several = [series.groups[0].results for series in curves if len(series.groups[0].results) > 1]
    return [f"seed {several[0][0].summary['seed']}"] if several else []


def _figure(curves: list[Series], canvas: Canvas) -> Figure:
    """A figure with a panel for each curve, all up to the cycle in which the last of them ends."""
    tables = [table for series in curves if (table := first_table(series, STREAM)) is not None]
    ends = [int(np.max(table.column("end").to_numpy())) for table in tables]
    rows = [min(_ranks(table), MOST_ROWS) for table in tables]
    heights = [PANEL_FRAME + ROW_HEIGHT * count for count in rows]
    layout: dict[str, Any] = {"sharex": True, "gridspec_kw": {"height_ratios": heights}}
    figure, grid = canvas.grid(len(curves), 1, (WIDTH, sum(heights) + LEGEND_HEIGHT), **layout)
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
    """How many ranks the job has."""
    return int(np.max(table.column("rank").to_numpy())) + 1


def _panel(axes: Axes, table: pa.Table, rows: int, end: int) -> set[str]:
    """Draw a job with so many rows up to cycle `end`; returns the activities that occur."""
    ranks = _ranks(table)
    edges = np.linspace(0, end, COLUMNS + 1)
    first_ranks = np.linspace(0, ranks, rows + 1).round().astype(int)
    shares = _shares(table, first_ranks, edges)
    image = np.concatenate([_lines(of_row) for of_row in shares])
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
    labelled = range(0, rows, math.ceil(rows / MOST_TICKS))
    axes.set_yticks([row + 0.5 for row in labelled], [str(first_ranks[row]) for row in labelled])
    axes.set_ylabel("Rank" if ranks == rows else f"Rank, {math.ceil(ranks / rows)} in a row")
    axes.grid(visible=False)
    return {name for name, total in zip(ACTIVITIES, shares.sum(axis=(0, 2)), strict=True) if total > 0}


def _shares(table: pa.Table, first_ranks: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """The shares of the activities [0 ... 1], by row, activity and column.

    Args:
        table: the operations of a job, in the order of their ranks.
        first_ranks: the first rank of each row, and behind the last one the number of ranks.
        edges: the cycles at which columns begin, and the end of the last one.
    """
    # Stream 0 alone covers the whole time of a rank. What other streams do beside it has no place in its row.
    stream = table.column("stream").to_numpy()
    columns = {
        name: table.column(name).to_numpy()[stream == 0] for name in ("rank", "activity", "begin", "end")
    }
    first_operations = np.searchsorted(columns["rank"], first_ranks)
    shares = np.zeros((len(first_ranks) - 1, len(ACTIVITIES), len(edges) - 1))
    for row, (start, stop) in enumerate(pairwise(first_operations)):
        activities = columns["activity"][start:stop]
        for number, name in enumerate(ACTIVITIES):
            chosen = activities == name
            spans = columns["begin"][start:stop][chosen], columns["end"][start:stop][chosen]
            # How many ranks do it at a time, on average, of those in the row.
            shares[row, number] = mean_open(spans, edges) / (first_ranks[row + 1] - first_ranks[row])
    return shares


def _lines(shares: np.ndarray) -> np.ndarray:
    """The lines of a row of the image, from the top: per column an activity's number from 1, or 0 for none.

    In a column, activities are stacked from the bottom, each as high as its share (`shares`: by activity and
    column). A line shows what its middle falls into; above the highest activity there is none.
    """
    heights = (np.arange(LINES)[::-1] + 0.5) / LINES
    tops = np.cumsum(shares, axis=0)
    number = (tops[None, :, :] <= heights[:, None, None]).sum(axis=1)
    return np.where(number < len(ACTIVITIES), number + 1, 0)
