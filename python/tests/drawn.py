"""Results that were made up, and what the figures of them say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.collections import LineCollection
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import ArrayLike

import hopsim as hs
from hopsim.plot import KINDS, View

T_OF_TWO = 12.706204736
"""Student's t of two values; the half width of a and b is this times half their difference."""


def result(summary: dict[str, Any], axes: dict[str, Any], **tables: pa.Table) -> hs.Result:
    """A point of seed 1, unless its summary says another, with recorded tables."""
    record: dict[str, Any] = {"config": {"jobs": []}, "result": {"seed": 1, "verdict": "steady", **summary}}
    return hs.Result(record, axes, tables)


def of_jobs(summaries: list[dict[str, Any]], axes: dict[str, Any], **tables: pa.Table) -> hs.Result:
    """A point with several jobs; a summary for each, its name as `job`."""
    jobs = [{"seed": 1, "verdict": "steady", **summary} for summary in summaries]
    config = {"jobs": [{"name": job["job"]} for job in jobs]}
    return hs.Result({"config": config, "result": jobs[0], "jobs": jobs}, axes, tables)


def together(*points: hs.Result) -> hs.Results:
    return hs.Results(dict(enumerate(points)))


def figures_of(kind: str, results: hs.Results, **view: Any) -> dict[str, Figure]:
    return KINDS[kind].draw(results, View(**view))


def figure_of(kind: str, results: hs.Results, **view: Any) -> Figure:
    """The only one."""
    (figure,) = figures_of(kind, results, **view).values()
    return figure


def places(line: Line2D) -> list[tuple[float, float]]:
    xs, ys = (np.asarray(values, dtype=float).tolist() for values in line.get_data())
    return [(round(x, 9), round(y, 9)) for x, y in zip(xs, ys, strict=True)]


def names(figure: Figure) -> list[str]:
    """Of all legends, of the figure and its axes."""
    legends = [*figure.legends, *(axes.get_legend() for axes in figure.axes)]
    return [text.get_text() for legend in legends if legend is not None for text in legend.get_texts()]


def note(figure: Figure) -> str:
    """What it says below of what it leaves out."""
    return " ".join(figure.get_supxlabel().split())


def title(figure: Figure) -> str:
    return " ".join(figure.get_suptitle().split())


def labels(axes: Axes) -> list[str]:
    return [axes.get_xlabel(), axes.get_ylabel()]


def ticks(names: list[Any]) -> list[str]:
    """The texts of ticks."""
    return [name.get_text() for name in names]


def bounds(axes: Axes) -> list[tuple[list[float], list[float]]]:
    """Of each band the lower and the upper bound at its places."""
    found: list[tuple[list[float], list[float]]] = []
    for band in axes.collections:
        corners = np.asarray(band.get_paths()[0].vertices)
        xs = sorted(set(corners[:, 0].tolist()))
        heights = [corners[corners[:, 0] == x, 1] for x in xs]
        found.append(([float(each.min()) for each in heights], [float(each.max()) for each in heights]))
    return found


def error_ends(axes: Axes) -> list[tuple[float, float] | None]:
    """From where to where each horizontal error bar goes; None of a value without one."""
    (bars,) = (each for each in axes.collections if isinstance(each, LineCollection))
    ends = [np.asarray(path.vertices)[:, 0].tolist() for path in bars.get_paths()]
    return [(each[0], each[1]) if np.isfinite(each).all() and len(each) == 2 else None for each in ends]


def floats(values: ArrayLike) -> list[float]:
    return np.asarray(values, dtype=float).tolist()


def colours(mapped: ScalarMappable, values: ArrayLike) -> list[str]:
    """In which each value is drawn."""
    shades = mapped.to_rgba(np.ma.masked_invalid(np.atleast_1d(np.asarray(values, dtype=float).ravel())))
    return [to_hex(shade) for shade in shades.tolist()]
