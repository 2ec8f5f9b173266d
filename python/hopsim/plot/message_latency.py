"""The latency of messages of programs by their size."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from hopsim.metrics.series import Series, by_job, of_programs
from hopsim.metrics.stats import Estimate, over_runs
from hopsim.plot import options, style
from hopsim.plot.canvas import Canvas
from hopsim.plot.records import tables_of
from hopsim.plot.view import View, at_one_load

if TYPE_CHECKING:
    from hopsim.results.result import Results

TITLE = "mean latency and 99th percentile of messages by their size"
NEEDS = 'measure.streams = ["message_sizes"]'
TAKES = options.OVER_TIME
STREAM = "message_sizes"
COLUMNS = {"latency_mean": "Mean latency [cycles]", "latency_p99": "99th percentile [cycles]"}


def draw(results: Results, view: View, canvas: Canvas) -> dict[str, Figure]:
    """Two panels, one line per curve or job of each, with a band over seeds."""
    drawn: dict[str, Figure] = {}
    programs = of_programs(by_job(results))
    for shown in at_one_load(programs, view, _sizes, "table of message sizes"):
        sizes = sorted({size for series in shown.curves for size in _sizes(series)})
        figure, columns, portions = canvas.stacked(len(COLUMNS), shown.curves)
        for panels, portion in zip(columns, portions, strict=True):
            for axes, column in zip(panels, COLUMNS, strict=True):
                for index, series in enumerate(portion):
                    _line(axes, index, series, column)
                axes.set(xscale="log", yscale="log")
                axes.set_xticks(sizes, [f"{size:,}" for size in sizes], minor=False)
                axes.xaxis.set_minor_locator(NullLocator())
            panels[-1].set_xlabel("Messages up to this payload [bytes]")
        for axes, label in zip(columns[0], COLUMNS.values(), strict=True):
            axes.set_ylabel(label)
        canvas.finish(figure, [panels[0] for panels in columns], shown)
        drawn[f"message_latency{shown.suffix}"] = figure
    return drawn


def _sizes(series: Series) -> list[int]:
    """The classes of sizes that have messages, by their largest."""
    found = [table.column("bytes_to").to_numpy() for table in tables_of(series, STREAM)]
    return sorted({int(size) for sizes in found for size in sizes})


def _line(axes: Axes, index: int, series: Series, column: str) -> None:
    values = [_over_seeds(series, size, column) for size in _sizes(series)]
    style.with_band(axes, (_sizes(series), values), label=series.label, **style.look(index))


def _over_seeds(series: Series, size: int, column: str) -> Estimate:
    rows = [row for table in tables_of(series, STREAM) for row in table.to_pylist()]
    return over_runs([float(row[column]) for row in rows if row["bytes_to"] == size])
