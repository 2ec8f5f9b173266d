"""Congestion trees over time: where they begin, how large they grow, how many packets stand in them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from hopsim.errors import ConfigError
from hopsim.report.points import Named, named_points, shown_first

if TYPE_CHECKING:
    from hopsim.results.result import Results

STREAM = "congestion_trees"
SHOWN = 6
"""Roots of a point that have a curve of their own."""
LISTED = 15
"""Roots of a point that are in its table."""
NOT_COUNTED = ("port_class", "peer_router")


@dataclass
class Trees:
    """What the section of congestion trees shows.

    Attributes:
        points: for each point its label, cycles looked at, packets by root and time, and rows of roots.
        notes: what is left out, in sentences.
        first: the place in `points` of the one shown first.
    """

    points: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    notes: list[str] = field(default_factory=list[str])
    first: int = 0


def trees_of(results: Results) -> Trees:
    """The trees of all points that recorded them; where points differ in the seed only, of the first."""
    section = Trees()
    candidates = [each for each in named_points(results) if STREAM in each.result.tables]
    shown: list[Named] = []
    for each in candidates:
        try:
            table = each.result.tables[STREAM]
        except ConfigError as error:
            section.notes.append(f"Point {each.number} is not shown: {error}.")
            continue
        shown.append(each)
        section.points.append({"label": each.label, "point": each.number} | _grown(table))
    section.first = shown_first(shown)
    if any(len(each.seeds) > 1 for each in candidates):
        section.notes.append("Of points that differ in their seed the first seed is shown.")
    if any(point["roots"] > LISTED for point in section.points):
        section.notes.append(
            f"The {LISTED} roots are listed in whose trees packets stood longest; all trees are in "
            f"streams/{STREAM}.parquet."
        )
    return section


def _grown(table: pa.Table) -> dict[str, Any]:
    """The roots of a point in the order of the time that packets stood in their trees."""
    columns = {name: table.column(name).to_numpy() for name in table.column_names if name not in NOT_COUNTED}
    cycles, step = np.unique(columns["cycle"], return_inverse=True)
    ends = np.column_stack([columns["router"], columns["port"]]).astype(np.int64).reshape(-1, 2)
    roots, root = np.unique(ends, axis=0, return_inverse=True)
    packets = np.zeros((len(roots), len(cycles)))
    np.add.at(packets, (root, step), columns["packets"])
    order = np.argsort(-packets.sum(axis=1), kind="stable")
    rows = [_row(table, columns, np.flatnonzero(root == number), len(cycles)) for number in order[:LISTED]]
    shown = order[:SHOWN]
    return {
        "cycles": cycles.tolist(),
        "packets": packets[shown].tolist(),
        "total": packets.sum(axis=0).tolist(),
        "roots": len(roots),
        "rows": rows,
    }


def _row(table: pa.Table, columns: dict[str, np.ndarray], places: np.ndarray, looks: int) -> dict[str, Any]:
    """What is said of a root: its trees are at `places` of the table."""
    first = int(places[0])
    router, peer = int(columns["router"][first]), table.column("peer_router")[first].as_py()
    ends = f"port {int(columns['port'][first])} to a node" if peer is None else f"router {peer}"
    packets = columns["packets"][places]
    victims = columns["victims"][places].sum() / max(1, packets.sum())
    return {
        "router": router,
        "name": f"router {router} → {ends}",
        "cells": [
            str(table.column("port_class")[first].as_py()),
            f"{packets.sum() / looks:,.1f}",
            f"{packets.max():,}",
            f"{columns['links'][places].max():,}",
            f"{columns['depth'][places].max():,}",
            f"{100 * victims:.0f} %",
            f"{columns['cycle'][first]:,}",
            f"{100 * len(places) / looks:.0f} %",
        ],
    }
