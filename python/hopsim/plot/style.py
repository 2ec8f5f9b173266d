"""What all figures share: palette, sizes, curves with bands, files with editable text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from hopsim.results import Result, Results
from hopsim.series import Series, curve_axes, curves
from hopsim.stats import Estimate, over_runs

# Okabe and Ito's palette (2008): told apart with any colour vision, and in grey by the markers.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8C6D00")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
LINES = ("-", "--", ":")

OFFERED = "Offered load [phits/(node·cycle)]"
ACCEPTED = "Accepted load [phits/(node·cycle)]"
LATENCY = "Packet latency [cycles]"

MAX_LINES = 8

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


@dataclass(frozen=True)
class View:
    """What to show.

    Attributes:
        by: sweep axes that make the curves; all but load and seed when None. Axes left out make
            separate figures.
        load: offered load of figures that show one load (the nearest is taken); the highest when None.
        group: group whose routers are shown.
    """

    by: tuple[str, ...] | None = None
    load: float | None = None
    group: int = 0


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


def stacked(count: int, *, width: float = 6.4, height: float = 2.6) -> tuple[Figure, list[Axes]]:
    """A figure with `count` panels below one another that share the horizontal axis."""
    with mpl.rc_context(RC):
        figure = Figure(figsize=(width, height * count), layout="constrained")
        grid = figure.subplots(count, 1, squeeze=False, sharex=True)
    return figure, list(grid.flat)


def look(index: int) -> dict[str, Any]:
    """Colour, marker and line style of the curve `index`."""
    return {
        "color": PALETTE[index % len(PALETTE)],
        "marker": MARKERS[index % len(MARKERS)],
        "linestyle": LINES[index // len(PALETTE) % len(LINES)],
    }


def curve(axes: Axes, index: int, series: Series, key: str) -> None:
    """A key of the summary against offered load, with a 95 % confidence band."""
    points = [
        (load.mean, value.mean, value)
        for load, value in zip(series.values("offered_load"), series.values(key), strict=True)
        if load.mean is not None and value.mean is not None
    ]
    if not points:
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
    results = series.groups[0].results
    values = over_seeds([scale * part for part in stream_of(results, stream, column)])
    means = [np.nan if value.mean is None else value.mean for value in values]
    colour = look(index)["color"]
    axes.plot(cycles(series, stream), means, color=colour, label=series.label or None)
    low, high = band(values)
    axes.fill_between(cycles(series, stream), low, high, color=colour, alpha=0.2, linewidth=0)


def cycles(series: Series, stream: str) -> np.ndarray:
    """The column `cycle` of a stream; empty if it was not recorded."""
    columns = stream_of(series.groups[0].results, stream, "cycle")
    return columns[0] if columns else np.empty(0)


LONGEST_IN_COLUMN = 34
"""Characters of a label that leave room for another one beside it."""


def finish(figure: Figure, axes: Axes, title: str) -> None:
    """Title and, when there is something to tell apart, a legend above `axes`, where it hides nothing."""
    figure.suptitle(title, fontsize="medium")
    labels = axes.get_legend_handles_labels()[1]
    if labels:
        place = (0, 1.02)
        columns = 2 if len(labels) > 1 and max(map(len, labels)) <= LONGEST_IN_COLUMN else 1
        axes.legend(loc="lower left", bbox_to_anchor=place, ncols=columns, fontsize="small", frameon=False)


def caption(*parts: str) -> str:
    """The title of a figure from the parts that say something."""
    return ", ".join(part for part in parts if part)


def plain_log_ticks(axes: Axes) -> None:
    """A logarithmic horizontal axis with numbers written in full."""
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.xaxis.set_minor_formatter(FuncFormatter(_minor_label))


def _minor_label(value: float, _position: int | None) -> str:
    return f"{value:g}" if f"{value:.0e}"[0] in "25" else ""


def figures(results: Results, view: View) -> Iterator[tuple[str, str, list[Series]]]:
    """File suffix, title and curves of each figure: one per combination of the axes not in `view.by`."""
    everything = curves(results)
    if view.by is None:
        yield "", "", everything
        return
    rest = [path for path in curve_axes(results) if path not in view.by]
    for index, part in enumerate(curves(results, rest)):
        chosen = Results(dict(enumerate(result for group in part.groups for result in group.results)))
        yield (f"-{index + 1}" if part.label else ""), part.label, curves(chosen, view.by)


def at_load(series: Series, load: float | None) -> Series:
    """The one point of a curve nearest to `load`, or its highest load."""
    if load is None:
        return Series(series.label, series.groups[-1:])
    nearest = min(series.groups, key=lambda group: abs((group.estimate("offered_load").mean or 0.0) - load))
    return Series(series.label, [nearest])


def one_load_each(group: Sequence[Series], load: float | None) -> tuple[list[Series], str]:
    """Curves to draw when each shows one load, no more than can be told apart, and that load.

    A single curve is shown at all its loads. Loads that differ are in the labels, a common one is returned.
    """
    if len(group) == 1 and load is None:
        points = [Series("", [member]) for member in group[0].groups]
    else:
        points = [at_load(series, load) for series in group]
    shown = points[-MAX_LINES:]
    loads = [f"offered load {series.groups[0].estimate('offered_load').mean or 0.0:.3g}" for series in shown]
    if len(set(loads)) == 1:
        return shown, loads[0]
    labels = [caption(series.label, text) for series, text in zip(shown, loads, strict=True)]
    return [Series(label, series.groups) for label, series in zip(labels, shown, strict=True)], ""


def stream_of(results: Sequence[Result], stream: str, column: str) -> list[np.ndarray]:
    """A column of a recorded table, for each of the results (seeds); null is NaN."""
    return [result.tables[stream].column(column).to_numpy() for result in results if stream in result.tables]


def over_seeds(columns: Sequence[np.ndarray]) -> list[Estimate]:
    """Row by row, the mean of a column over seeds."""
    return [_mean(row) for row in zip(*columns, strict=True)]


def save(figure: Figure, path: Path) -> Path:
    """Write a figure; vector formats keep their text as text."""
    with mpl.rc_context(RC):
        figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)
    return path


def _mean(row: Sequence[float]) -> Estimate:
    present = [float(value) for value in row if not np.isnan(value)]
    return over_runs(present) if present else Estimate(None)
