"""What waits in the switches of a fabric over time, and which outputs are congested."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hopsim.plot import options, style
from hopsim.plot.canvas import Canvas
from hopsim.plot.over_time import Kind, by_lane
from hopsim.plot.view import Shown, View

if TYPE_CHECKING:
    from hopsim.results.result import Results

TITLE = "bytes queued for the outputs of switches over time, and which are congested"
NEEDS = 'measure.streams = ["queue_series"] and measure.time.interval'
TAKES = options.AT_ONE_LOAD | {"xlim"}
STREAM = "queue_series"
SHOWN = 8
"""Most outputs that are drawn: those with the longest queues."""
KIB = 1024
WIDTH = 8.0
"""Width of a figure [inches]."""


def draw(results: Results, view: View, canvas: Canvas) -> dict[str, Figure]:
    """A figure per curve, of a single curve one per place on it; the first seed of several."""
    return Kind(STREAM, "queues", "Queues of outputs", over_time).figures(results, view, canvas)


def over_time(table: pa.Table, about: Shown, canvas: Canvas) -> Figure:
    """Queues and throughput of the outputs whose queues get longest."""
    switches, peers = (table.column(name).to_pylist() for name in ("switch", "peer"))
    outputs = [f"switch {switch} to {peer}" for switch, peer in zip(switches, peers, strict=True)]
    names, times, (queued, sent, congested) = by_lane(
        table, outputs, ("queued_bytes", "throughput_gbps", "is_congested")
    )
    order = sorted(range(len(names)), key=lambda output: -queued[output].max())
    shown = sorted(order[:SHOWN])
    figure, (above, below) = canvas.grid(2, 1, (WIDTH, 6.2), sharex=True)
    for number, output in enumerate(shown):
        looks = {"color": style.look(number)["color"], **style.OVER_TIME}
        above.plot(times, queued[output] / KIB, label=names[output], **looks)
        is_congested = congested[output] > 0
        above.plot(times[is_congested], queued[output][is_congested] / KIB, ".", **looks)
        below.plot(times, sent[output], **looks)
    _label(above, below, len(names) - len(shown), float(queued[order[SHOWN:]].max(initial=0)))
    handles, labels = above.get_legend_handles_labels()
    canvas.legend(figure, handles, labels, "lower center", 4)
    canvas.finish(figure, [], about)
    return figure


def _label(above: Axes, below: Axes, others: int, most: float) -> None:
    note = f"; {style.number_of(others, 'other')} never held more than {most / KIB:.3g} KiB" if others else ""
    above.set_title(f"dots: congested at the end of an interval{note}", fontsize="small")
    above.set_ylabel("Queued at the end [KiB]")
    below.set_ylabel("Granted [Gb/s]")
    below.set_xlabel("Time [s]")
    for axes in (above, below):
        axes.set_ylim(bottom=0)
