"""What the ranks of programs spend their time on."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hopsim.metrics.series import Series, by_job, of_programs
from hopsim.plot import options
from hopsim.plot.canvas import Canvas
from hopsim.plot.records import column_of, mean_of_rows
from hopsim.plot.view import View, at_one_load

if TYPE_CHECKING:
    from hopsim.results.result import Results

TITLE = "computation, overhead and waiting of every rank of a program"
NEEDS = 'measure.streams = ["ranks"]'
TAKES = options.AT_ONE_LOAD | {"xlim", "ylim"}
STREAM = "ranks"
PARTS = {
    "compute": ("computation", "#0072B2"),
    "overhead": ("overhead of messages", "#009E73"),
    "wait": ("waiting", "#E69F00"),
}
"""Column -> what it is, and its colour."""
TITLE_WIDTH = 40
"""Characters of a line above a panel."""


def draw(results: Results, view: View, canvas: Canvas) -> dict[str, Figure]:
    """A panel per curve, or per job of each: shares of the execution time, mean over seeds."""
    drawn: dict[str, Figure] = {}
    for shown in at_one_load(of_programs(by_job(results)), view, _ranks, "table of ranks"):
        figure, panels = canvas.grid_of(len(shown.curves))
        for axes, series in zip(panels, shown.curves, strict=True):
            _stack(axes, series)
            axes.set_title(textwrap.fill(series.label, TITLE_WIDTH), fontsize="medium")
            axes.set_xlabel("Rank")
            axes.tick_params(labelbottom=True)
        panels[0].set_ylabel("Share of the execution time [%]")
        panels[0].set_xlim(-0.5, max(map(_ranks, shown.curves)) - 0.5)
        panels[0].set_ylim(0, 100)
        found = {
            name: handle
            for axes in panels
            for handle, name in zip(*axes.get_legend_handles_labels(), strict=True)
        }
        names = [name for name, _ in PARTS.values() if name in found][::-1]
        canvas.legend(figure, [found[name] for name in names], names, "right upper")
        canvas.finish(figure, [], shown)
        drawn[f"ranks{shown.suffix}"] = figure
    return drawn


def _ranks(series: Series) -> int:
    """How many there are."""
    return max((len(ranks) for ranks in column_of(series, STREAM, "rank")), default=0)


def _stack(axes: Axes, series: Series) -> None:
    """From rank to rank a step, so that thousands of them are drawn as fast as few."""
    edges = np.arange(_ranks(series) + 1) - 0.5
    bottom = np.zeros(_ranks(series))
    for column, (name, colour) in PARTS.items():
        shares = np.array([value.mean or 0.0 for value in mean_of_rows(_shares(series, column))])
        if shares.any():
            axes.stairs(bottom + shares, edges, baseline=bottom, fill=True, color=colour, label=name)
        bottom = bottom + shares


def _shares(series: Series, column: str) -> list[np.ndarray]:
    """A column over the execution time [%], by seed."""
    pairs = zip(column_of(series, STREAM, column), column_of(series, STREAM, "finish"), strict=True)
    return [values * (100 / max(1, finish.max())) for values, finish in pairs]
