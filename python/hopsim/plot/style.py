"""What all figures share: palette, curves with bands, files with editable text."""

from __future__ import annotations

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

from hopsim.errors import ConfigError
from hopsim.files import atomic
from hopsim.metrics.series import Series
from hopsim.metrics.stats import Estimate
from hopsim.plot.records import column_of, cycles, mean_of_rows
from hopsim.vocabulary.units import ANYTHING, range_of_column

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
    # The same figure is the same file.
    "svg.hashsalt": "hopsim",
    "pdf.fonttype": 42,
    "axes.grid": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "grid.alpha": 0.3,
}
"""Settings under which figures are made and saved."""
SIZES: dict[Any, float] = {"font.size": 10.0, "lines.markersize": 6.0, "lines.linewidth": 1.5}
"""Letters, markers and lines of figures of the usual size [points]."""
_DATES = {".svg": "Date", ".pdf": "CreationDate"}
"""What formats call the time at which a file is made, which is left out."""
DPI = 160
"""Dots per inch of images."""
MOST_DOTS = 80_000_000
"""Dots of the largest image; each takes four bytes, and again as many while it is written."""
SMALLEST = 6.0
"""Size of the letters of figures that are much smaller than usual [points]."""

DIAGONAL = "accepted = offered"
"""Label of the line on which everything offered is accepted."""
NOTHING = "no packet delivered"
"""What stands for a curve that has no values."""
BAND = "_95 % CI"
"""Label by which bands of confidence intervals are known; one that begins so is in no legend."""
OUTLINE = 1.2
"""Width of the line round a hollow bar."""
ERROR: dict[str, Any] = {"elinewidth": 0.8}
"""How error bars look."""
NUMBER = "number"
"""Marks the text that says the value of a bar, which is left out where it has no room."""
MARKS = 8
"""Markers of a line over time."""
OVER_TIME: dict[str, Any] = {"linewidth": 1, "markersize": 4}
"""How lines over time look, which have many points, and what marks some of them."""
OTHERS: dict[str, Any] = {"color": "0.8", "linewidth": 0.6, "zorder": 1}
"""How lines look that have no name, behind those that have."""


def look(index: int) -> dict[str, Any]:
    """Colour, marker and line style of the curve `index`."""
    return {
        "color": PALETTE[index % len(PALETTE)],
        "marker": MARKERS[index % len(MARKERS)],
        "linestyle": LINES[index // len(PALETTE) % len(LINES)],
    }


def look_over_time(index: int, count: int) -> dict[str, Any]:
    """The same of a line with `count` points: its markers stand where those of others do not.

    So lines that lie on one another are seen, which all but one would be hidden by.
    """
    every = max(1, count // MARKS)
    start = index % len(PALETTE) * every // len(PALETTE)
    return {**look(index), **OVER_TIME, "markevery": (start, every)}


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
    band(axes, (x, values), look(index)["color"], range_of_column(key))


def band(
    axes: Axes,
    points: tuple[ArrayLike, Sequence[Estimate]],
    color: str,
    possible: tuple[float, float] = ANYTHING,
) -> None:
    """The confidence intervals of values at places, where they have any; of them what is possible."""
    x, values = points
    halves = half_widths(values, possible)
    if halves is not None:
        means = np.array([np.nan if value.mean is None else value.mean for value in values])
        below, above = means - halves[0], means + halves[1]
        axes.fill_between(x, below, above, color=color, alpha=0.2, linewidth=0, label=BAND)


def half_widths(values: Sequence[Estimate], possible: tuple[float, float] = ANYTHING) -> np.ndarray | None:
    """How far confidence intervals go below and above each value, for error bars; None if none has one.

    An interval ends where the values end that are `possible`: it holds the mean as often without the rest.
    A value without one has NaN.
    """
    halves = np.array([np.nan if value.half_width is None else value.half_width for value in values])
    if np.isnan(halves).all():
        return None
    means = np.array([np.nan if value.mean is None else value.mean for value in values])
    low, high = possible
    # What is not there stays so.
    room = np.maximum([means - low, high - means], 0)
    return np.minimum(halves, room)


def number_bars(
    axes: Axes, places: Sequence[float], values: Sequence[Estimate], *, upright: bool = False
) -> None:
    """Write the value of each bar at its end, behind its interval; `upright`: of bars that stand."""
    ends = [(value.mean or 0.0) + (value.half_width or 0.0) for value in values]
    for place, end, value in zip(places, ends, values, strict=True):
        if value.mean is not None:
            text = f" {value.mean:,.0f}" if abs(value.mean) >= 1e4 else f" {value.mean:.4g}"
            looks: dict[str, Any] = {"fontsize": "x-small", "gid": NUMBER, "clip_on": True}
            if upright:
                axes.text(place, end, text, rotation=90, ha="center", va="bottom", **looks)
            else:
                axes.text(end, place, text, ha="left", va="center", **looks)
    # Room for the numbers.
    if upright:
        axes.margins(y=0.25)
    else:
        axes.margins(x=0.12)


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
    band(axes, points, color)


def cut_latencies(axes: Axes, values: Sequence[float], room: float = 1.1) -> None:
    """End the axis of latencies before saturation hides the rest."""
    axes.set_ylim(0, min(room * max(values), LATENCY_CUT * min(values)))


def cut_curves(axes: Axes, curves: Sequence[Sequence[float | None]]) -> str:
    """End the axis of latencies before saturation hides the rest, but not before every curve is in it.

    Returns which points are above it.
    """
    present = [[value for value in curve if value is not None] for curve in curves]
    end = end_of_latencies(present)
    if end is None:
        return ""
    axes.set_ylim(0, end)
    above = [value for values in present for value in values if value > end]
    return f"above the axis: {number_of(len(above), 'point')}, up to {max(above):.4g}" if above else ""


def end_of_latencies(curves: Sequence[Sequence[float]]) -> float | None:
    """Where an axis of latencies ends that shows every curve before saturation; None without any value."""
    present = [curve for curve in curves if curve]
    if not present:
        return None
    lowest = [min(curve) for curve in present]
    highest = max(max(curve) for curve in present)
    return min(1.1 * highest, max(LATENCY_CUT * min(lowest), CURVE_CUT * max(lowest)))


def number_of(count: int, noun: str) -> str:
    """`1 point`, `2 points`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def side_by_side(count: int) -> tuple[float, list[float]]:
    """Width of each of `count` bars at a place, and how far they stand from its middle."""
    width = 0.8 / count
    return width, [(number - (count - 1) / 2) * width for number in range(count)]


def plain_log_ticks(axes: Axes) -> None:
    """A logarithmic horizontal axis with numbers written in full."""
    axes.set_xscale("log")
    plain_numbers(axes.xaxis)


def plain_numbers(axis: Axis) -> None:
    """Numbers of a logarithmic axis in full, those between powers of ten too."""
    axis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axis.set_minor_formatter(FuncFormatter(_minor_label))


def short_numbers(axis: Axis) -> None:
    """Large numbers with a prefix: 2 M for two million."""
    axis.set_major_formatter(EngFormatter())


def _minor_label(value: float, _position: int | None) -> str:
    return f"{value:g}" if f"{value:.0e}"[0] in "25" else ""


def save(figure: Figure, path: Path, dpi: int | None = None) -> Path:
    """Write a figure, images with so many dots per inch; vector formats keep their text as text.

    Raises `ConfigError` if an image would have more dots than memory is worth.
    """
    width, height = figure.get_size_inches()
    dots = width * height * (dpi or DPI) ** 2
    if path.suffix == ".png" and dots > MOST_DOTS:
        raise ConfigError(
            f"{path.name}: {width:g}x{height:g} inches at {dpi or DPI} dots per inch are {dots:,.0f} dots; "
            f"valid: at most {MOST_DOTS:,}, with a smaller --size or --dpi, or another --format"
        )
    with mpl.rc_context(RC):
        metadata = {_DATES[path.suffix]: None} if path.suffix in _DATES else None
        atomic.write(
            path,
            lambda file: figure.savefig(
                file, format=path.suffix.removeprefix("."), dpi=dpi or DPI, metadata=metadata
            ),
        )
    return path
