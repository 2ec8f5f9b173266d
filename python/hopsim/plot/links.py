"""How links are used over time, and for how long there is no room behind them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hopsim.plot import style
from hopsim.plot.canvas import Canvas
from hopsim.plot.over_time import by_link, figures
from hopsim.plot.view import Shown, View
from hopsim.results import Results

TITLE = "utilisation of links over time, and how long there is no room behind them"
NEEDS = 'measure.streams = ["link_series"] and measure.interval (InfiniBand: time.interval)'
TAKES = frozenset({"xlim"})
STREAM = "link_series"
SHOWN = 8
"""Most links that are drawn: those that are used and stalled most."""
WIDTH = 8.0
"""Width of a figure [inches]."""


def draw(results: Results, _view: View, canvas: Canvas) -> dict[str, Figure]:
    """A figure per curve and place on it; the first seed of several."""
    return figures(results, (STREAM, "links", "Links"), canvas, over_time)


def over_time(table: pa.Table, title: str, canvas: Canvas) -> Figure:
    """Utilisation and credit stalls of the links that are, at some time, in use or stalled longest."""
    is_fabric = "time_s" in table.column_names
    if is_fabric:
        ends = (table.column("from").to_pylist(), table.column("to").to_pylist())
    else:
        table = table.filter(pc.is_finite(table.column("credit_stall_fraction")))
        routers, ports = (table.column(name).to_pylist() for name in ("router", "port"))
        ends = ([f"router {router}" for router in routers], [f"port {port}" for port in ports])
    names, times, (used, stalled) = by_link(table, ends, ("utilisation", "credit_stall_fraction"))
    together = (used + stalled).max(axis=1)
    order = np.argsort(-together, kind="stable")
    figure, (above, below) = canvas.grid(2, 1, (WIDTH, 6.2), sharex=True, sharey=True)
    shown: list[int] = sorted(order[:SHOWN].tolist())
    for number, link in enumerate(shown):
        colour = style.PALETTE[number % len(style.PALETTE)]
        above.plot(times, used[link], color=colour, linewidth=1, label=names[link])
        below.plot(times, stalled[link], color=colour, linewidth=1)
    below.set_ylabel("Idle for want of credits" if is_fabric else "No room behind it")
    below.set_xlabel("Time [s]" if is_fabric else "Cycle")
    _label(above, len(names[SHOWN:]), float(together[order[SHOWN:]].max(initial=0)))
    handles, labels = above.get_legend_handles_labels()
    canvas.legend(figure, handles, labels, "lower center", 4)
    canvas.finish(figure, [], Shown("", title, []))
    return figure


def _label(above: Axes, others: int, most: float) -> None:
    if others:
        note = f"{others} others are never in use or stalled for more than {most:.0%} of an interval"
        above.set_title(note, fontsize="small")
    above.set_ylabel("Utilisation")
    above.set_ylim(0, 1.05)
