"""Distribution of packet latency: density and share of packets that take longer."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from hopsim.plot import style
from hopsim.plot.view import View, at_one_load
from hopsim.results import Result, Results
from hopsim.series import Series

TITLE = "distribution of packet latency"
BINS = 80


def draw(results: Results, view: View) -> dict[str, Figure]:
    """Two panels, packets of all seeds together."""
    shown = at_one_load(results, view, lambda series: _counts(series)[2].sum() > 0)
    return {f"histogram{suffix}": _figure(chosen, title) for suffix, title, chosen in shown}


def _figure(chosen: list[Series], title: str) -> Figure:
    figure, (density, tail) = style.stacked(2)
    for index, series in enumerate(chosen):
        first, last, packets = _counts(series)
        colour = style.look(index)["color"]
        edges = _edges(first[0], last[-1] + 1)
        counts, _ = np.histogram((first + last) / 2, edges, weights=packets)
        share = 100 * counts / packets.sum()
        density.stairs(share / np.diff(edges), edges, color=colour, label=series.label or None)
        longer = 100 * (1 - np.cumsum(packets) / packets.sum())
        tail.step(np.append(first[0], last), np.append(100, longer.clip(min=0)), where="post", color=colour)
    density.set(ylabel="Packets [% per cycle]")
    style.plain_log_ticks(tail)
    tail.set(xlabel=style.LATENCY, ylabel="Packets that take longer [%]", yscale="log")
    tail.set_ylim(1e-3, 110)
    style.finish(figure, density, title)
    return figure


def _edges(low: float, high: float) -> np.ndarray:
    """Ends of bins of equal width on a logarithmic axis, none narrower than a cycle."""
    return np.unique(np.round(np.geomspace(max(low, 1), max(high, low + 1), BINS + 1)))


def _counts(series: Series) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """First and last latency of each bin [cycles] and the packets in it, summed over jobs and seeds."""
    counts: dict[tuple[int, int], int] = {}
    for result in series.groups[0].results:
        if "latency_histogram" in result.tables:
            for first, last, packets in zip(*_columns(result), strict=True):
                counts[first, last] = counts.get((first, last), 0) + packets
    bins = sorted(counts)
    first, last = np.array(bins, dtype=float).reshape(-1, 2).T
    return first, last, np.array([counts[ends] for ends in bins], dtype=float)


def _columns(result: Result) -> list[list[int]]:
    table = result.tables["latency_histogram"]
    return [table.column(name).to_pylist() for name in ("latency_from", "latency_to", "packets")]
