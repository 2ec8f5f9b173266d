"""What all figures share: palette, sizes, curves with bands, files with editable text."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, FuncFormatter, StrMethodFormatter
from numpy.typing import ArrayLike

from hopsim.plot.records import column_of, cycles, mean_of_rows
from hopsim.series import Series
from hopsim.stats import Estimate

# Okabe and Ito's palette (2008): told apart with any colour vision, and in grey by the markers.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8C6D00")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
LINES = ("-", "--", ":")

OFFERED = "Offered load [phits/(node·cycle)]"
ACCEPTED = "Accepted load [phits/(node·cycle)]"
LATENCY = "Packet latency [cycles]"
LATENCY_CUT = 6.0
"""Largest over smallest latency that an axis shows."""
CURVE_CUT = 2.0
"""Largest latency that an axis shows over the lowest of any curve, so that none begins above it."""

RC: dict[Any, Any] = {
    "svg.fonttype": "none",
    "pdf.fonttype": 42,
    "font.size": 10.0,
    "axes.grid": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "grid.alpha": 0.3,
    "lines.markersize": 4.5,
    "savefig.dpi": 160,
}
"""Settings under which figures are made and saved."""


LETTERS = 12
"""Letters of a title, a note or a legend per inch of width."""
SYMBOL = 8
"""Letters that the symbol of a label and the space around it take."""
LONGEST_OF_BAR = 44
"""Letters of a line of the name of a bar."""
LINE = 0.17
"""Height of a line of a legend or a name [inches]."""
PER_PANEL = 8
"""Curves of a panel that can be told apart."""
NOTHING = "no packet delivered"
"""What stands for a curve that has no values."""


def panels(count: int, *, width: float = 5.2, height: float = 3.6) -> tuple[Figure, list[Axes]]:
    """A figure with `count` panels, at most three in a row, that share their axes' ranges."""
    columns = 2 if count == 4 else min(count, 3)
    rows = -(-count // columns)
    with mpl.rc_context(RC):
        figure = Figure(figsize=(width * columns, height * rows), layout="constrained")
        grid = figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True)
    axes = list(grid.flat)
    for spare in axes[count:]:
        spare.remove()
    return figure, axes[:count]


def portioned(curves: Sequence[Series]) -> tuple[Figure, list[Axes], list[Sequence[Series]]]:
    """A figure with a panel for every few curves, and the curves of each."""
    parts = portions(curves)
    figure, axes = panels(len(parts))
    return figure, axes, parts


def stacked(
    count: int, curves: Sequence[Series], *, width: float = 6.4, height: float = 2.6
) -> tuple[Figure, list[list[Axes]], list[Sequence[Series]]]:
    """A figure with `count` panels below one another that share the horizontal axis, for every few curves.

    Returns the panels column by column, and the curves of each column.
    """
    parts = portions(curves)
    with mpl.rc_context(RC):
        figure = Figure(figsize=(width * len(parts), height * count), layout="constrained")
        grid = figure.subplots(count, len(parts), squeeze=False, sharex=True, sharey="row")
    return figure, grid.T.tolist(), parts


def below(count: int, *, width: float, height: float = 3.6) -> tuple[Figure, list[Axes]]:
    """A figure with `count` panels below one another that share the range of the vertical axis."""
    with mpl.rc_context(RC):
        figure = Figure(figsize=(width, height * count), layout="constrained")
        grid = figure.subplots(count, 1, squeeze=False, sharey=True)
    return figure, list(grid.flat)


def rows(labels: Sequence[str]) -> tuple[Figure, Axes]:
    """A figure for named horizontal bars, the first at the top."""
    names = [textwrap.fill(label, LONGEST_OF_BAR) for label in labels]
    lines = max(name.count("\n") + 1 for name in names)
    with mpl.rc_context(RC):
        figure = Figure(figsize=(7.5, 1.2 + len(names) * (0.2 + LINE * lines)), layout="constrained")
        axes = figure.subplots()
    axes.grid(visible=False, axis="y")
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.4, -0.6)
    return figure, axes


def portions(curves: Sequence[Series]) -> list[Sequence[Series]]:
    """The curves in order, no more than a panel holds at a time, about as many each time."""
    count = -(-len(curves) // PER_PANEL)
    size = -(-len(curves) // count)
    return [curves[start : start + size] for start in range(0, len(curves), size)]


def look(index: int) -> dict[str, Any]:
    """Colour, marker and line style of the curve `index`."""
    return {
        "color": PALETTE[index % len(PALETTE)],
        "marker": MARKERS[index % len(MARKERS)],
        "linestyle": LINES[index // len(PALETTE) % len(LINES)],
    }


def curve(axes: Axes, index: int, series: Series, key: str, *, nothing: str = NOTHING) -> None:
    """A key of the summary over the abscissa with its 95 % confidence band; `nothing`: why it has none."""
    points = [
        (place, value.mean, value)
        for place, value in zip(series.places(), series.values(key), strict=True)
        if place is not None and value.mean is not None
    ]
    if not points:
        axes.plot([], [], label=f"{series.label} ({nothing})".strip(), **look(index))
        return
    x, means, values = zip(*points, strict=True)
    axes.plot(x, means, label=series.label or None, **look(index))
    low, high = band(values)
    axes.fill_between(x, low, high, color=look(index)["color"], alpha=0.2, linewidth=0)


def band(values: Sequence[Estimate]) -> tuple[list[float], list[float]]:
    """Lower and upper ends of the confidence intervals."""
    means = [value.mean or 0.0 for value in values]
    halves = [value.half_width or 0.0 for value in values]
    return (
        [mean - half for mean, half in zip(means, halves, strict=True)],
        [mean + half for mean, half in zip(means, halves, strict=True)],
    )


def line(axes: Axes, index: int, series: Series, source: tuple[str, str], *, scale: float = 1.0) -> None:
    """A column of a stream with the column `cycle`, mean over seeds with a 95 % confidence band.

    `source` names stream and column; values are drawn times `scale`.
    """
    stream, column = source
    values = mean_of_rows([scale * part for part in column_of(series, stream, column)])
    with_band(axes, (cycles(series, stream), values), label=series.label, color=look(index)["color"])


def with_band(
    axes: Axes, points: tuple[ArrayLike, Sequence[Estimate]], *, label: str, color: str, **looks: Any
) -> None:
    """A line through places and values, with a 95 % confidence band."""
    x, values = points
    means = [np.nan if value.mean is None else value.mean for value in values]
    axes.plot(x, means, color=color, label=label or None, **looks)
    low, high = band(values)
    axes.fill_between(x, low, high, color=color, alpha=0.2, linewidth=0)


def finish(figure: Figure, tops: Sequence[Axes], title: str, omitted: str = "") -> None:
    """Title, legends above the panels `tops` where they hide nothing, and a note of what is not shown."""
    letters = int(figure.get_figwidth() * LETTERS)
    lines: dict[int, int] = {}
    for axes in tops:
        spec = axes.get_subplotspec()
        row, beside = (spec.rowspan.start, spec.get_gridspec().ncols) if spec else (0, 1)
        lines[row] = max(lines.get(row, 0), _legend(axes, letters // beside))
    figure.set_figheight(figure.get_figheight() + LINE * sum(max(0, count - 2) for count in lines.values()))
    figure.suptitle(textwrap.fill(title, letters), fontsize="medium")
    note(figure, omitted)


def note(figure: Figure, omitted: str) -> None:
    """Say at the bottom what a figure does not show."""
    if omitted:
        text = textwrap.fill(omitted, int(figure.get_figwidth() * LETTERS))
        figure.supxlabel(text, fontsize="small", x=0.01, ha="left")


def _legend(axes: Axes, width: int) -> int:
    """A legend of this many letters above a panel with several curves; returns how many lines it has."""
    handles, labels = axes.get_legend_handles_labels()
    if not labels:
        return 0
    columns = 2 if len(labels) > 1 and max(map(len, labels)) <= width // 2 - SYMBOL else 1
    wrapped = [textwrap.fill(label, width - SYMBOL) for label in labels]
    axes.legend(
        handles,
        wrapped,
        loc="lower left",
        bbox_to_anchor=(0, 1.02),
        ncols=columns,
        fontsize="small",
        frameon=False,
    )
    return -(-sum(label.count("\n") + 1 for label in wrapped) // columns)


def cut_latencies(axes: Axes, values: Sequence[float], room: float = 1.1) -> None:
    """End the axis of latencies before saturation hides the rest."""
    axes.set_ylim(0, min(room * max(values), LATENCY_CUT * min(values)))


def cut_curves(axes: Axes, curves: Sequence[Sequence[float | None]]) -> None:
    """End the axis of latencies before saturation hides the rest, but not before every curve is in it."""
    present = [[value for value in curve if value is not None] for curve in curves]
    lowest = [min(values) for values in present if values]
    if lowest:
        highest = max(max(values) for values in present if values)
        axes.set_ylim(0, min(1.1 * highest, max(LATENCY_CUT * min(lowest), CURVE_CUT * max(lowest))))


def side_by_side(count: int) -> tuple[float, list[float]]:
    """Width of each of `count` bars at a place, and how far they stand from its middle."""
    width = 0.8 / count
    return width, [(number - (count - 1) / 2) * width for number in range(count)]


def plain_log_ticks(axes: Axes) -> None:
    """A logarithmic horizontal axis with numbers written in full."""
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axes.xaxis.set_minor_formatter(FuncFormatter(_minor_label))


def short_numbers(axis: Axis) -> None:
    """Large numbers with a prefix: 2 M for two million."""
    axis.set_major_formatter(EngFormatter())


def _minor_label(value: float, _position: int | None) -> str:
    return f"{value:g}" if f"{value:.0e}"[0] in "25" else ""


def save(figure: Figure, path: Path) -> Path:
    """Write a figure; vector formats keep their text as text."""
    with mpl.rc_context(RC):
        figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)
    return path
