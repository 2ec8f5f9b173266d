"""What the ranks of programs do over time: every operation, of all ranks or evenly chosen ones."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from hopsim.errors import ConfigError
from hopsim.metrics import tables
from hopsim.metrics.series import JOB
from hopsim.plot.gantt import ACTIVITIES, STREAM
from hopsim.plot.view import caption
from hopsim.report.payload import pack
from hopsim.report.points import named_points

if TYPE_CHECKING:
    from hopsim.results.result import Results

MOST_OPERATIONS = 300_000
"""Operations that a report holds: some five bytes each."""


@dataclass
class Ranks:
    """What the section of ranks shows.

    Attributes:
        charts: for each point and job its label, ranks shown, end [cycles] and operations, packed.
        notes: what is left out, in sentences.
    """

    charts: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    notes: list[str] = field(default_factory=list[str])


def ranks_of(results: Results, most: int = MOST_OPERATIONS) -> Ranks:
    """The operations of all points that recorded them; where they differ in the seed only, of the first."""
    section = Ranks()
    candidates = [each for each in named_points(results) if STREAM in each.result.tables]
    for each in candidates:
        try:
            table = each.result.tables[STREAM]
        except ConfigError as error:
            section.notes.append(f"Point {each.number} is not drawn: {error}.")
            continue
        jobs, codes = tables.coded(table.column(JOB))
        for code, job in enumerate(jobs):
            label = caption(each.label, job if len(jobs) > 1 else "")
            section.charts.append(
                {"label": label, "point": each.number}
                | _chart(
                    tables.rows(table, np.flatnonzero(codes == code)), most // len(candidates) // len(jobs)
                )
            )
    if any(len(each.seeds) > 1 for each in candidates):
        section.notes.append("Of points that differ in their seed the first seed is drawn.")
    if any(chart["streams"] for chart in section.charts):
        section.notes.append("Of ranks with several streams the first stream is drawn.")
    thinned = [chart for chart in section.charts if len(chart["ranks"]) < chart["all"]]
    if thinned:
        chart = thinned[0]
        section.notes.append(
            f"To keep the file small some ranks are drawn, evenly chosen, such as {len(chart['ranks'])} of "
            f"{chart['all']} of {chart['label']}; the others are in streams/{STREAM}.parquet."
        )
    return section


def _chart(table: pa.Table, most: int) -> dict[str, Any]:
    """The operations of a job: no more than so many, of as many ranks as that allows, but of one at least."""
    stream = table.column("stream").to_numpy()
    first = tables.rows(table, np.flatnonzero(stream == 0))
    columns = {name: first.column(name).to_numpy() for name in ("rank", "begin", "end")}
    names, codes = tables.coded(first.column("activity"))
    activity = np.array([list(ACTIVITIES).index(name) for name in names], dtype=np.uint8)[codes]
    ranks = np.unique(columns["rank"])
    shown = ranks[:: max(1, -(-first.num_rows // max(1, most)))]
    chosen = np.isin(columns["rank"], shown)
    end = float(columns["end"].max(initial=0))
    return {
        "ranks": shown.tolist(),
        "all": len(ranks),
        "end": end,
        "streams": bool((stream != 0).any()),
        "shares": _shares(activity, columns, ranks, end),
        **pack(
            {
                "rank": np.searchsorted(shown, columns["rank"][chosen]).astype(np.uint16),
                "activity": activity[chosen],
                "begin": columns["begin"][chosen].astype(np.float64),
                "end": columns["end"][chosen].astype(np.float64),
            }
        ),
    }


def _shares(
    activity: np.ndarray, columns: dict[str, np.ndarray], ranks: np.ndarray, end: float
) -> list[list[str]]:
    """For each activity that occurs its name and mean, least and largest share of the time over all ranks."""
    place = np.searchsorted(ranks, columns["rank"])
    length = (columns["end"] - columns["begin"]).astype(float)
    rows: list[list[str]] = []
    for code, (name, _) in enumerate(ACTIVITIES.values()):
        of_rank = np.bincount(place, length * (activity == code), len(ranks)) / max(end, 1.0)
        if of_rank.any():
            low, high = int(of_rank.argmin()), int(of_rank.argmax())
            rows.append(
                [
                    name,
                    f"{of_rank.mean():.1%}",
                    f"{of_rank[low]:.1%} (rank {ranks[low]})",
                    f"{of_rank[high]:.1%} (rank {ranks[high]})",
                ]
            )
    return rows
