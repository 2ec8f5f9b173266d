"""How links are used over time, and for how long there is no room behind them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from matplotlib.figure import Figure

from hopsim.plot import options, style
from hopsim.plot.canvas import Canvas
from hopsim.plot.over_time import Kind, by_link
from hopsim.plot.view import Shown, View, caption

if TYPE_CHECKING:
    from hopsim.results.result import Results

TITLE = "utilisation of links over time, and how long there is no room behind them"
NEEDS = 'measure.streams = ["link_series"] and measure.interval (InfiniBand: time.interval)'
TAKES = options.AT_ONE_LOAD | {"xlim"}
STREAM = "link_series"
COLUMNS = {"utilisation": np.add, "credit_stall_fraction": np.maximum}
"""Column -> how the VCs of a link are put together: all use it, one without room stops its packets."""
SHOWN = len(style.PALETTE)
"""Most links that are drawn: half of them those in use longest, then those stalled longest."""
WIDTH = 8.0
"""Width of a figure [inches]."""


def draw(results: Results, view: View, canvas: Canvas) -> dict[str, Figure]:
    """A figure per curve, of a single curve one per place on it; the first seed of several."""
    return Kind(STREAM, "links", "Links, all VCs together", over_time).figures(results, view, canvas)


def over_time(table: pa.Table, about: Shown, canvas: Canvas) -> Figure:
    """Utilisation and credit stalls of the links that are in use or stalled longest."""
    is_fabric = "time_s" in table.column_names
    names, times, (used, stalled) = by_link(table, _names(table, is_fabric=is_fabric), COLUMNS)
    shown = _longest(used.mean(axis=1), stalled.mean(axis=1))
    figure, (above, below) = canvas.grid(2, 1, (WIDTH, 6.2), sharex=True, sharey=True)
    for number, link in enumerate(shown):
        looks = style.look_over_time(number, len(times))
        above.plot(times, used[link], label=names[link], **looks)
        below.plot(times, stalled[link], **looks)
    above.set(ylabel="Utilisation", ylim=(0, 1.05 * max(1.0, used[shown].max())))
    below.set_ylabel("Idle for want of credits" if is_fabric else "A VC without room behind it")
    below.set_xlabel("Time [s]" if is_fabric else "Cycle")
    handles, labels = above.get_legend_handles_labels()
    canvas.legend(figure, handles, labels, "lower center", 4)
    omitted = caption(about.omitted, _others(used, stalled, shown))
    canvas.finish(figure, [], replace(about, omitted=omitted))
    return figure


def _names(table: pa.Table, *, is_fabric: bool) -> list[str]:
    """Of each row the name of its link."""
    if is_fabric:
        ends = (table.column(name).to_pylist() for name in ("from", "to"))
        return [f"{one} to {other}" for one, other in zip(*ends, strict=True)]
    columns = (table.column(name).to_pylist() for name in ("router", "port", "port_class"))
    return [
        f"router {router} by port {port}{' to its node' if kind == 'terminal' else ''}"
        for router, port, kind in zip(*columns, strict=True)
    ]


def _longest(used: np.ndarray, stalled: np.ndarray) -> list[int]:
    """Those in use longest and those stalled longest, in the order of the network."""
    by_use, by_stall = (np.argsort(-values, kind="stable").tolist() for values in (used, stalled))
    waiting = [link for link in by_stall[: SHOWN // 2] if stalled[link] > 0]
    return sorted(list(dict.fromkeys([*by_use[: SHOWN // 2], *waiting, *by_use]))[:SHOWN])


def _others(used: np.ndarray, stalled: np.ndarray, shown: list[int]) -> str:
    """What the links that are not drawn are at most."""
    rest = np.delete(np.arange(len(used)), shown)
    if not len(rest):
        return ""
    most = [values[rest].mean(axis=1).max() for values in (used, stalled)]
    return (
        f"not shown: {style.number_of(len(rest), 'link')} in use for up to {most[0]:.0%} of the time and "
        f"stalled for up to {most[1]:.0%} of it"
    )
