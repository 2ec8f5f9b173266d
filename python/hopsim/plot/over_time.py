"""Figures of what a stream with a row per interval says, one for each point."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pyarrow as pa
from matplotlib.figure import Figure

from hopsim.plot.records import first_table
from hopsim.plot.view import caption
from hopsim.results import Results
from hopsim.series import curves


def figures(
    results: Results, names: tuple[str, str, str], figure: Callable[[pa.Table, str], Figure]
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
            drawn[f"{stem}{number}"] = figure(table, caption(title, series.label, place, seed))
    return drawn
