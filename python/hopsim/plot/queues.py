"""What waits in the switches of an InfiniBand fabric over time, and which outputs are congested."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pyarrow as pa
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hopsim.plot import style
from hopsim.plot.over_time import by_link, figures
from hopsim.plot.view import View
from hopsim.results import Results

TITLE = "bytes queued for the outputs of switches over time, and which are congested"
NEEDS = 'measure.streams = ["queue_series"] and measure.time.interval'
STREAM = "queue_series"
SHOWN = 8
"""Most outputs that are drawn: those with the longest queues."""
KIB = 1024
WIDTH = 8.0
"""Width of a figure [inches]."""


def draw(results: Results, _view: View) -> dict[str, Figure]:
    """A figure per curve and place on it; the first seed of several."""
    return figures(results, (STREAM, "queues", "Queues of outputs"), over_time)


def over_time(table: pa.Table, title: str) -> Figure:
    """Queues and throughput of the outputs whose queues get longest."""
    ports = [f"switch {switch}" for switch in table.column("switch").to_pylist()]
    names, times, (queued, sent, congested) = by_link(
        table, (ports, table.column("peer").to_pylist()), ("queued_bytes", "throughput_gbps", "is_congested")
    )
    order = np.argsort(-queued.max(axis=1), kind="stable")
    shown = sorted(order[:SHOWN])
    with mpl.rc_context(style.RC):
        figure = Figure(figsize=(WIDTH, 6.2), layout="constrained")
        above, below = figure.subplots(2, 1, sharex=True)
    for number, output in enumerate(shown):
        colour = style.PALETTE[number % len(style.PALETTE)]
        above.plot(times, queued[output] / KIB, color=colour, linewidth=1, label=names[output])
        is_congested = congested[output] > 0
        above.plot(times[is_congested], queued[output][is_congested] / KIB, ".", color=colour, markersize=4)
        below.plot(times, sent[output], color=colour, linewidth=1)
    _label(above, below, len(names) - len(shown), float(queued[order[SHOWN:]].max(initial=0)))
    figure.suptitle(title, fontsize="medium")
    handles, labels = above.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, fontsize="small", frameon=False)
    return figure


def _label(above: Axes, below: Axes, others: int, most: float) -> None:
    note = f"; {others} others never have more than {most / KIB:.3g} KiB" if others else ""
    above.set_title(f"dots: congested at the end of an interval{note}", fontsize="small")
    above.set_ylabel("Queued at the end [KiB]")
    below.set_ylabel("Granted [Gb/s]")
    below.set_xlabel("Time [s]")
    for axes in (above, below):
        axes.set_ylim(bottom=0)
