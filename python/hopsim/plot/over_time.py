"""Figures of what a stream with a row per interval says, one for each point."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
from matplotlib.figure import Figure

from hopsim.plot.canvas import Canvas
from hopsim.plot.records import first_table
from hopsim.plot.view import caption
from hopsim.results import Results
from hopsim.series import curves


def figures(
    results: Results,
    names: tuple[str, str, str],
    canvas: Canvas,
    figure: Callable[[pa.Table, str, Canvas], Figure],
) -> dict[str, Figure]:
    """A figure per curve and place on it, the first seed of several.

    `names`: of the stream, first part of the file's name and of the title.
    """
    stream, stem, title = names
    drawn: dict[str, Figure] = {}
    for series in curves(results):
        for group in series.groups:
            table = first_table(replace(series, groups=[group]), stream)
            if table is None or table.num_rows == 0:
                continue
            seed = f"seed {group.results[0].summary['seed']}"
            place = series.abscissa.text(group) if len(series.groups) > 1 else ""
            number = f"-{len(drawn) + 1}" if drawn else ""
            drawn[f"{stem}{number}"] = figure(table, caption(title, series.label, place, seed), canvas)
    return drawn


def by_link(
    table: pa.Table, ends: tuple[Sequence[object], Sequence[object]], columns: Sequence[str]
) -> tuple[list[str], np.ndarray, list[np.ndarray]]:
    """Names of links and lanes, times of the intervals [s or cycles], and columns by link and interval.

    `ends`: what the link of every row leaves, and what it leads to. Every interval has the same links.
    """
    clock, lane_of = ("time_s", "vl") if "time_s" in table.column_names else ("cycle", "vc")
    times = np.unique(table.column(clock).to_numpy())
    links = table.num_rows // len(times)
    lanes = table.column(lane_of).to_pylist()[:links]
    several = len(set(lanes)) > 1
    names = [
        f"{one} to {other}" + (f", {lane_of.upper()} {lane}" if several else "")
        for one, other, lane in zip(ends[0][:links], ends[1][:links], lanes, strict=True)
    ]
    values = [table.column(column).to_numpy().reshape(len(times), links).T for column in columns]
    return names, times, values
