"""What packets met by the cycle in which they were generated: how the network takes a change of traffic."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hopsim.metrics.series import Series
from hopsim.plot import options, style
from hopsim.plot.canvas import Canvas
from hopsim.plot.records import is_recorded
from hopsim.plot.view import View, at_one_load

if TYPE_CHECKING:
    from hopsim.results.result import Results

TITLE = "latency and misrouted share by the cycle in which packets were generated"
NEEDS = 'measure.streams = ["generation"] and measure.interval > 0'
TAKES = options.OVER_TIME
STREAM = "generation_series"


def draw(results: Results, view: View, canvas: Canvas) -> dict[str, Figure]:
    """Two panels, one line per curve, with a band over seeds; a line where the traffic changes."""
    drawn: dict[str, Figure] = {}
    for shown in at_one_load(results, view, lambda series: is_recorded(series, STREAM), "generation series"):
        figure, columns, portions = canvas.stacked(2, shown.curves)
        for (latency, misrouted), portion in zip(columns, portions, strict=True):
            for index, series in enumerate(portion):
                style.line(latency, index, series, (STREAM, "latency_mean"))
                style.line(misrouted, index, series, (STREAM, "misrouted_fraction"), scale=100)
            _mark_changes((latency, misrouted), portion)
            misrouted.set(xlabel="Generation [cycles]")
            latency.set_ylim(bottom=0)
            misrouted.set_ylim(-2, 102)
        columns[0][0].set(ylabel=style.LATENCY)
        columns[0][1].set(ylabel="Misrouted packets [%]")
        canvas.finish(figure, [top for top, _ in columns], shown)
        drawn[f"generation{shown.suffix}"] = figure
    return drawn


def _mark_changes(panels: Sequence[Axes], chosen: Sequence[Series]) -> None:
    for cycle in sorted(set(_changes(chosen))):
        for axes in panels:
            axes.axvline(cycle, color="0.5", linewidth=0.8, linestyle=":")


def _changes(chosen: Sequence[Series]) -> Iterator[int]:
    """Cycles at which the traffic of some job changes."""
    for series in chosen:
        for job in series.groups[0].results[0].config.get("jobs", []):
            changes: list[dict[str, Any]] = job.get("traffic", {}).get("changes") or []
            yield from (change["cycle"] for change in changes)
