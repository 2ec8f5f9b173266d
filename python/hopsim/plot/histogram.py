"""Distribution of packet latency: density and share of packets that take longer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hopsim.metrics.series import Series, by_job
from hopsim.plot import options, style
from hopsim.plot.canvas import Canvas
from hopsim.plot.view import Shown, View, at_one_load

if TYPE_CHECKING:
    from hopsim.results.result import Result, Results

TITLE = "distribution of packet latency"
NEEDS = 'measure.streams = ["latency_histogram"]'
STREAM = "latency_histogram"
TAKES = options.OVER_TIME
BINS = 80


def draw(results: Results, view: View, canvas: Canvas) -> dict[str, Figure]:
    """Two panels, packets of all seeds together, those of each job apart."""
    drawn = at_one_load(by_job(results), view, lambda series: counts(series)[2].sum() > 0, "histogram")
    return {f"histogram{shown.suffix}": _figure(shown, canvas) for shown in drawn}


def _figure(shown: Shown, canvas: Canvas) -> Figure:
    figure, columns, portions = canvas.stacked(2, shown.curves)
    for (density, tail), portion in zip(columns, portions, strict=True):
        for index, series in enumerate(portion):
            _distribution(density, tail, style.look(index)["color"], series)
        style.plain_log_ticks(tail)
        tail.set(xlabel=style.LATENCY, yscale="log")
        tail.set_ylim(1e-3, 110)
    columns[0][0].set(ylabel="Packets [% per cycle]")
    columns[0][1].set(ylabel="Packets that take longer [%]")
    canvas.finish(figure, [top for top, _ in columns], shown)
    return figure


def _distribution(density: Axes, tail: Axes, colour: str, series: Series) -> None:
    first, last, packets = counts(series)
    edges = _edges(first[0], last[-1] + 1)
    packed, _ = np.histogram((first + last) / 2, edges, weights=packets)
    share = 100 * packed / packets.sum()
    density.stairs(share / np.diff(edges), edges, color=colour, label=series.label or None)
    longer = 100 * (1 - np.cumsum(packets) / packets.sum())
    tail.step(np.append(first[0], last), np.append(100, longer.clip(min=0)), where="post", color=colour)


def _edges(low: float, high: float) -> np.ndarray:
    """Ends of bins of equal width on a logarithmic axis, none narrower than a cycle."""
    return np.unique(np.round(np.geomspace(max(low, 1), max(high, low + 1), BINS + 1)))


def counts(series: Series) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """First and last latency of each bin [cycles] and the packets in it, summed over seeds."""
    found: dict[tuple[int, int], int] = {}
    for result in series.groups[0].results:
        if STREAM in result.tables:
            for first, last, packets in zip(*_columns(result), strict=True):
                found[first, last] = found.get((first, last), 0) + packets
    bins = sorted(found)
    first, last = np.array(bins, dtype=float).reshape(-1, 2).T
    return first, last, np.array([found[ends] for ends in bins], dtype=float)


def _columns(result: Result) -> list[list[Any]]:
    table = result.tables[STREAM]
    return [table.column(name).to_pylist() for name in ("latency_from", "latency_to", "packets")]
