"""Distribution of packet latency: density and share of packets that take longer."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hopsim.plot import style
from hopsim.plot.view import Shown, View, at_one_load
from hopsim.results import Result, Results
from hopsim.series import Series, by_job

TITLE = "distribution of packet latency"
NEEDS = 'measure.streams = ["latency_histogram"]'
BINS = 80


def draw(results: Results, view: View) -> dict[str, Figure]:
    """Two panels, packets of all seeds together, those of each job apart."""
    drawn = at_one_load(by_job(results), view, lambda series: _counts(series)[2].sum() > 0, "histogram")
    return {f"histogram{shown.suffix}": _figure(shown) for shown in drawn}


def _figure(shown: Shown) -> Figure:
    figure, columns, portions = style.stacked(2, shown.curves)
    for (density, tail), portion in zip(columns, portions, strict=True):
        for index, series in enumerate(portion):
            _distribution(density, tail, style.look(index)["color"], series)
        style.plain_log_ticks(tail)
        tail.set(xlabel=style.LATENCY, yscale="log")
        tail.set_ylim(1e-3, 110)
    columns[0][0].set(ylabel="Packets [% per cycle]")
    columns[0][1].set(ylabel="Packets that take longer [%]")
    style.finish(figure, [top for top, _ in columns], shown.title, shown.omitted)
    return figure


def _distribution(density: Axes, tail: Axes, colour: str, series: Series) -> None:
    first, last, packets = _counts(series)
    edges = _edges(first[0], last[-1] + 1)
    counts, _ = np.histogram((first + last) / 2, edges, weights=packets)
    share = 100 * counts / packets.sum()
    density.stairs(share / np.diff(edges), edges, color=colour, label=series.label or None)
    longer = 100 * (1 - np.cumsum(packets) / packets.sum())
    tail.step(np.append(first[0], last), np.append(100, longer.clip(min=0)), where="post", color=colour)


def _edges(low: float, high: float) -> np.ndarray:
    """Ends of bins of equal width on a logarithmic axis, none narrower than a cycle."""
    return np.unique(np.round(np.geomspace(max(low, 1), max(high, low + 1), BINS + 1)))


def _counts(series: Series) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """First and last latency of each bin [cycles] and the packets in it, summed over seeds."""
    counts: dict[tuple[int, int], int] = {}
    for result in series.groups[0].results:
        if "latency_histogram" in result.tables:
            for first, last, packets in zip(*_columns(result), strict=True):
                counts[first, last] = counts.get((first, last), 0) + packets
    bins = sorted(counts)
    first, last = np.array(bins, dtype=float).reshape(-1, 2).T
    return first, last, np.array([counts[ends] for ends in bins], dtype=float)


def _columns(result: Result) -> list[list[Any]]:
    table = result.tables["latency_histogram"]
    return [table.column(name).to_pylist() for name in ("latency_from", "latency_to", "packets")]
