"""Cumulative distribution of packet latency."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from hopsim.metrics.series import by_job
from hopsim.plot import histogram, options, style
from hopsim.plot.canvas import Canvas
from hopsim.plot.histogram import counts
from hopsim.plot.view import Shown, View, at_one_load

if TYPE_CHECKING:
    from hopsim.results.result import Results

TITLE = "share of packets that take no longer than a latency"
NEEDS = 'measure.streams = ["latency_histogram"]'
STREAM = histogram.STREAM
TAKES = options.AT_ONE_LOAD | options.FRAME


def draw(results: Results, view: View, canvas: Canvas) -> dict[str, Figure]:
    """One line per curve, packets of all seeds together, those of each job apart."""
    drawn = at_one_load(by_job(results), view, lambda series: counts(series)[2].sum() > 0, "histogram")
    return {f"cdf{shown.suffix}": _figure(shown, canvas) for shown in drawn}


def _figure(shown: Shown, canvas: Canvas) -> Figure:
    figure, panels, portions = canvas.portioned(shown.curves)
    for axes, portion in zip(panels, portions, strict=True):
        for index, series in enumerate(portion):
            _, last, packets = counts(series)
            share = 100 * np.cumsum(packets) / packets.sum()
            colour = style.look(index)["color"]
            axes.step(last, share, where="post", color=colour, label=series.label or None)
        axes.set_xlabel(style.LATENCY)
        axes.tick_params(labelbottom=True)
        axes.set_xlim(left=0)
    panels[0].set_ylim(0, 102)
    panels[0].set_ylabel("Packets that take no longer [%]")
    canvas.finish(figure, panels, shown)
    return figure
