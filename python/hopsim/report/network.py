"""The network with the loads of its links, point by point, over the window and over time."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from hopsim.errors import ConfigError
from hopsim.report.layout import Layout, layout_of
from hopsim.report.links import TIMES, Links, links_of, times
from hopsim.report.payload import pack
from hopsim.report.points import Named, named_points, shown_first

if TYPE_CHECKING:
    from hopsim.results.result import Result, Results

NEEDS = 'measure.streams = ["links"]'
SERIES = "link_series"
MOST_VALUES = 4_000_000
"""Loads of links that a report holds: a byte each, more or less."""
SCALE = 1000
"""Shares are held in parts of so many."""
QUANTITIES = {
    "utilisation": ("Load: share of the time in which a link carries phits", False),
    "credit_stall_fraction": ("Credit stalls: share of the time in which a VC of a link lacks credits", True),
}
"""Column -> what it says, and whether the largest over the VCs counts instead of their sum."""


@dataclass
class Network:
    """What the section of the network shows.

    Attributes:
        networks: the unlike networks, packed.
        points: for each point drawn its label, its network and its loads, packed.
        notes: what is left out or put together, in sentences.
        first: the place in `points` of the one shown first: of the first curve that of the highest load.
    """

    networks: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    points: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    notes: list[str] = field(default_factory=list[str])
    first: int = 0


def network_of(results: Results, most: int = MOST_VALUES) -> Network:
    """The networks of all points that say what links lead to; of those that differ in the seed the first."""
    section = Network()
    found: dict[str, int] = {}
    candidates = [each for each in named_points(results) if _structure(each.result)]
    left = most
    drawn: dict[int, _Drawn] = {}
    for place, each in _hottest_first(candidates):
        try:
            table = each.result.tables[_structure(each.result)]
        except ConfigError as error:
            section.notes.append(f"Point {each.number} is not drawn: {error}.")
            continue
        if not table.num_rows:
            section.notes.append(f"Point {each.number} is not drawn: no link was used.")
            continue
        links = links_of(table)
        if len(links.keys) > left:
            continue
        left -= len(links.keys)
        packed = _packed(links, layout_of(each.result.config["topology"], links), each.result)
        number = found.setdefault(packed["digest"], len(section.networks))
        if number == len(section.networks):
            section.networks.append(packed)
        drawn[place] = _Drawn(each, number, links, {} if times(table).size else _loads(table, links))
    chosen = [drawn[place] for place in sorted(drawn)]
    _say_what_is_left_out(section, chosen, candidates, results)
    _put_points(section, chosen, left)
    section.first = shown_first([each.named for each in chosen])
    return section


def _structure(result: Result) -> str:
    """The table that says what the links of a network lead to; empty if none was recorded."""
    naming = ("links", SERIES) if _is_fabric(result) else ("links",)
    return next((name for name in naming if name in result.tables), "")


def _is_fabric(result: Result) -> bool:
    return "throughput_gbps" in result.summary


@dataclass(frozen=True)
class _Drawn:
    """A point, its network, and the loads of its links over the window."""

    named: Named
    network: int
    links: Links
    window: dict[str, np.ndarray]


def _hottest_first(candidates: list[Named]) -> Iterator[tuple[int, Named]]:
    """The points with their places, those of the highest loads of all curves first."""
    yield from sorted(enumerate(candidates), key=lambda item: item[1].from_top)


def _loads(table: pa.Table, links: Links) -> dict[str, np.ndarray]:
    """The columns of loads, by time and link."""
    return {
        column: links.values(table, column, largest=largest)
        for column, (_, largest) in QUANTITIES.items()
        if column in table.column_names
    }


def _packed(links: Links, layout: Layout, result: Result) -> dict[str, Any]:
    arrays = {
        "source": links.source.astype(np.uint32),
        "target": links.target.astype(np.uint32),
        "kind": links.kinds.astype(np.uint8),
        "bend": layout.bends.astype(np.int8),
        "places": layout.places.astype(np.float32).ravel(),
        "group": layout.groups.astype(np.uint16),
    }
    content = b"".join(array.tobytes() for array in arrays.values())
    return {
        "digest": hashlib.sha256(content).hexdigest(),
        "shape": layout.shape,
        "legend": layout.legend,
        "routers": links.routers,
        "nodes": links.nodes,
        "links": len(links.keys),
        "classes": list(links.classes),
        "router": "switch" if _is_fabric(result) else "router",
        "topology": next(iter(result.config["topology"])),
        **pack(arrays),
    }


def _say_what_is_left_out(
    section: Network, drawn: list[_Drawn], candidates: list[Named], results: Results
) -> None:
    not_readable = len(section.notes)
    without = [result for result in results if not _structure(result)]
    if without and candidates:
        section.notes.append(f"{len(without)} of {len(results)} points are not drawn for want of {NEEDS}.")
    if any(SERIES in result.tables for result in without):
        section.notes.append(
            f"The stream {SERIES} alone does not say what links lead to; hopsim plot --kind links draws it."
        )
    if len(drawn) < len(candidates) - not_readable:
        section.notes.append(
            f"{len(drawn)} of {len(candidates)} points are drawn, those of the highest loads, to keep the "
            "file small; the others are in streams/links.parquet."
        )
    if any(len(each.named.seeds) > 1 for each in drawn):
        section.notes.append("Of points that differ in their seed the first seed is drawn.")
    if any(_is_fabric(each.named.result) for each in drawn):
        section.notes.append("Links that no flow uses are not recorded, and not drawn.")


def _put_points(section: Network, drawn: list[_Drawn], left: int) -> None:
    """Pack the loads of the points; several intervals become one where they are too many."""
    series = sum(1 for each in drawn if SERIES in each.named.result.tables)
    steps: list[int] = []
    highest = 0.0
    for each in drawn:
        named = each.named
        point: dict[str, Any] = {"label": named.label, "point": named.number, "network": each.network}
        loads = dict(each.window)
        if SERIES in named.result.tables:
            try:
                moments, over_time, count = _series(named.result.tables[SERIES], each.links, left // series)
            except ConfigError as error:
                section.notes.append(f"Point {named.number} is not drawn over time: {error}.")
            else:
                point["times"] = moments
                loads |= {f"{name}_series": rows for name, rows in over_time.items()}
                steps.append(count)
        highest = max(highest, *(rows.max(initial=0) for rows in loads.values()))
        section.points.append(point | pack({name: _shares(rows) for name, rows in loads.items()}))
    if highest > 1:
        section.notes.append(
            "A packet counts as a whole when it departs: in a short time a busy link can carry some more "
            "than 100 %."
        )
    if max(steps, default=1) > 1:
        section.notes.append(
            f"Over time each step is the mean of up to {max(steps)} intervals, to keep the file small; all "
            f"of them are in streams/{SERIES}.parquet."
        )


def _series(table: pa.Table, links: Links, room: int) -> tuple[dict[str, Any], dict[str, np.ndarray], int]:
    """Times, loads by time and link, and how many intervals were put together so that they fit."""
    loads = _loads(table, links)
    values = sum(rows.size for rows in loads.values())
    count = -(-values // max(room, len(loads) * len(links.keys)))
    return _times(table, count), {name: _merged(rows, count) for name, rows in loads.items()}, count


def _times(table: pa.Table, count: int) -> dict[str, Any]:
    """Name, unit and value of the time of every step: its begin, or of fabrics its end."""
    column = next(name for name in TIMES if name in table.column_names)
    name, unit = TIMES[column]
    moments = times(table)
    chosen = [moments[min(start + count, len(moments)) - 1] for start in range(0, len(moments), count)]
    if column == "cycle":
        chosen = list(moments[::count])
    return {"name": name, "unit": unit, "values": [float(value) for value in chosen]}


def _merged(rows: np.ndarray, count: int) -> np.ndarray:
    """The means of so many rows each; those left over at the end are together."""
    starts = np.arange(0, len(rows), count)
    lengths = np.diff(np.append(starts, len(rows)))
    return np.add.reduceat(rows, starts, axis=0) / lengths[:, None]


def _shares(rows: np.ndarray) -> np.ndarray:
    return np.clip(np.round(rows.ravel() * SCALE), 0, 65535).astype(np.uint16)
