"""How links are used over time, and for how long there is no room behind them."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hopsim.plot import style
from hopsim.plot.over_time import by_link, figures
from hopsim.plot.view import View
from hopsim.results import Results

TITLE = "utilisation of links over time, and how long there is no room behind them"
NEEDS = 'measure.streams = ["link_series"] and measure.interval (InfiniBand: time.interval)'
STREAM = "link_series"
SHOWN = 8
"""Most links that are drawn: those that are used and stalled most."""
WIDTH = 8.0
"""Width of a figure [inches]."""


def draw(results: Results, _view: View) -> dict[str, Figure]:
    """A figure per curve and place on it; the first seed of several."""
    return figures(results, (STREAM, "links", "Links"), over_time)


def over_time(table: pa.Table, title: str) -> Figure:
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
    with mpl.rc_context(style.RC):
        figure = Figure(figsize=(WIDTH, 6.2), layout="constrained")
        above, below = figure.subplots(2, 1, sharex=True, sharey=True)
    for number, link in enumerate(sorted(order[:SHOWN])):
        colour = style.PALETTE[number % len(style.PALETTE)]
        above.plot(times, used[link], color=colour, linewidth=1, label=names[link])
        below.plot(times, stalled[link], color=colour, linewidth=1)
    below.set_ylabel("Idle for want of credits" if is_fabric else "No room behind it")
    below.set_xlabel("Time [s]" if is_fabric else "Cycle")
    _label(above, len(names[SHOWN:]), float(together[order[SHOWN:]].max(initial=0)))
    figure.suptitle(title, fontsize="medium")
    handles, labels = above.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, fontsize="small", frameon=False)
    return figure


def _label(above: Axes, others: int, most: float) -> None:
    if others:
        note = f"{others} others are never in use or stalled for more than {most:.0%} of an interval"
        above.set_title(note, fontsize="small")
    above.set_ylabel("Utilisation")
    above.set_ylim(0, 1.05)
