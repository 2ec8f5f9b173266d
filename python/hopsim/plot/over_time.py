"""Figures of what a stream with a row per interval says, one for each curve."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from matplotlib.figure import Figure

from hopsim.plot.canvas import Canvas
from hopsim.plot.records import first_table, is_recorded
from hopsim.plot.view import Shown, View, at_one_load, caption

if TYPE_CHECKING:
    from hopsim.results.result import Results


@dataclass(frozen=True)
class Kind:
    """What figures are of.

    Attributes:
        stream: the table.
        stem: first part of the names of files.
        title: first part of titles.
        draw: makes a figure from a table and what is to be said of it.
    """

    stream: str
    stem: str
    title: str
    draw: Callable[[pa.Table, Shown, Canvas], Figure]

    def figures(self, results: Results, view: View, canvas: Canvas) -> dict[str, Figure]:
        """A figure per curve, of a single curve one per place on it; the first seed of several."""
        drawn: dict[str, Figure] = {}
        everything = replace(view, in_parts=False)
        for shown in at_one_load(
            results, everything, lambda series: is_recorded(series, self.stream), f"stream {self.stream}"
        ):
            for series in shown.curves:
                table = first_table(series, self.stream)
                assert table is not None
                seed = f"seed {series.groups[0].results[0].summary['seed']}"
                title = caption(self.title, shown.title, series.label, seed)
                about = replace(shown, title=title, curves=[series])
                name = f"{self.stem}-{len(drawn) + 1}" if drawn else self.stem
                drawn[name] = self.draw(table, about, canvas)
        return drawn


def by_lane(table: pa.Table, links: Sequence[str], columns: Sequence[str]) -> ByLink:
    """Columns by link and lane, named where there are several; `links`: of each row the name of its link."""
    lane_of = "vl" if "time_s" in table.column_names else "vc"
    lanes = table.column(lane_of).to_pylist()
    if len(set(lanes)) > 1:
        links = [f"{link}, {lane_of.upper()} {lane}" for link, lane in zip(links, lanes, strict=True)]
    return by_link(table, links, dict.fromkeys(columns, np.add))


def by_link(table: pa.Table, links: Sequence[str], columns: Mapping[str, np.ufunc]) -> ByLink:
    """Names of links, times of the intervals [s or cycles], and columns by link and interval.

    `links`: of each row the name of its link; `columns`: how rows of the same link and interval are put
    together. Null counts as 0.
    """
    times, step = np.unique(
        table.column("time_s" if "time_s" in table.column_names else "cycle").to_numpy(), return_inverse=True
    )
    places = {name: place for place, name in enumerate(dict.fromkeys(links))}
    link = np.array([places[name] for name in links])
    values: list[np.ndarray] = []
    for column, together in columns.items():
        found = np.zeros((len(places), len(times)))
        together.at(found, (link, step), np.nan_to_num(table.column(column).to_numpy()))
        values.append(found)
    return list(places), times, values


ByLink = tuple[list[str], np.ndarray, list[np.ndarray]]
"""Names, times, and for each column a matrix: a row per name, a column per time."""
