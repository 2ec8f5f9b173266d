"""How many messages of programs are under way, over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hopsim.metrics.series import Series, by_job, of_programs
from hopsim.plot import options, style
from hopsim.plot.canvas import Canvas
from hopsim.plot.intervals import mean_open
from hopsim.plot.records import mean_of_rows, tables_of
from hopsim.plot.view import View, at_one_load

if TYPE_CHECKING:
    from hopsim.results.result import Results

TITLE = "messages of programs under way, and their bytes, over time"
NEEDS = 'measure.streams = ["messages"]'
TAKES = options.OVER_TIME
STREAM = "messages"
POINTS = 400
"""Parts of the time; each shows its mean."""


def draw(results: Results, view: View, canvas: Canvas) -> dict[str, Figure]:
    """Two panels, one line per curve or job of each, with a band over seeds."""
    drawn: dict[str, Figure] = {}
    for shown in at_one_load(of_programs(by_job(results)), view, _end, "table of messages"):
        figure, columns, portions = canvas.stacked(2, shown.curves)
        edges = np.linspace(0, max(map(_end, shown.curves)), POINTS + 1)
        for (messages, volume), portion in zip(columns, portions, strict=True):
            for index, series in enumerate(portion):
                _line(messages, index, series, edges)
                _line(volume, index, series, edges, weight="bytes")
            messages.set_ylim(bottom=0)
            volume.set(xlabel="Time [cycles]")
            style.short_numbers(volume.xaxis)
            style.short_numbers(volume.yaxis)
            volume.set_ylim(bottom=0)
        columns[0][0].set(ylabel="Messages in flight")
        columns[0][1].set(ylabel="Payload in flight [bytes]")
        canvas.finish(figure, [top for top, _ in columns], shown)
        drawn[f"messages_in_flight{shown.suffix}"] = figure
    return drawn


def _end(series: Series) -> int:
    """The cycle after which nothing is under way; 0 if no messages were recorded."""
    ends = [table.column("arrived").to_numpy() for table in tables_of(series, STREAM)]
    return max((int(end.max()) for end in ends if end.size), default=0)


def _line(axes: Axes, index: int, series: Series, edges: np.ndarray, *, weight: str | None = None) -> None:
    def under_way(table: pa.Table) -> np.ndarray:
        spans = table.column("joined").to_numpy(), table.column("arrived").to_numpy()
        return mean_open(spans, edges, None if weight is None else table.column(weight).to_numpy())

    values = mean_of_rows([under_way(table) for table in tables_of(series, STREAM)])
    middles = (edges[:-1] + edges[1:]) / 2
    style.with_band(axes, (middles, values), label=series.label, color=style.look(index)["color"])
