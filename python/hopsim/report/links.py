"""The links of a network and their loads, from the streams `links` and `link_series`.

A *vertex* is a router or, after all routers, a node. A link is one direction between two vertices; what
its VCs (VLs) carry is put together.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from hopsim.errors import ConfigError
from hopsim.metrics import tables

PORTS = 1 << 20
"""More than a vertex has ports."""
TIMES = {"time_s": ("time", "s"), "cycle": ("cycle", "cycles")}
"""Column of a series with the time of each row -> its name and unit."""


@dataclass(frozen=True)
class Links:
    """The links of a network.

    Attributes:
        routers: how many routers there are.
        nodes: how many nodes, whose vertices follow those of the routers.
        keys: for each link its vertex and port, ascending.
        source: the vertex that each leaves.
        target: the vertex at its other end.
        kinds: its class, a place in `classes`.
        classes: names of classes: `terminal` for links from and to nodes.
    """

    routers: int
    nodes: int
    keys: np.ndarray
    source: np.ndarray
    target: np.ndarray
    kinds: np.ndarray
    classes: tuple[str, ...]

    def values(self, table: pa.Table, column: str, *, largest: bool = False) -> np.ndarray:
        """A column by time and link: the sum over the VCs of a link, or their largest.

        A table without times gives one row.
        """
        vertex, port = _vertices(table, self.routers)
        link = np.searchsorted(self.keys, vertex * PORTS + port)
        moments = times(table)
        step = np.searchsorted(moments, _time(table)) if len(moments) else np.zeros(len(link), dtype=int)
        count = max(1, len(moments)) * len(self.keys)
        place = step * len(self.keys) + link
        numbers = table.column(column).to_numpy().astype(float)
        present = ~np.isnan(numbers)
        if largest:
            result = np.zeros(count)
            np.maximum.at(result, place[present], numbers[present])
        else:
            result = np.bincount(place[present], numbers[present], count)
        return result.reshape(-1, len(self.keys))


def times(table: pa.Table) -> np.ndarray:
    """The times of a series, each once; none of a table over the whole window."""
    return np.unique(_time(table)) if any(name in table.column_names for name in TIMES) else np.empty(0)


def links_of(table: pa.Table) -> Links:
    """The links that a table names, `links` or `link_series`."""
    routers = _routers(table)
    vertex, port = _vertices(table, routers)
    keys, first = np.unique(vertex * PORTS + port, return_index=True)
    rows = tables.rows(table, first)
    source = vertex[first]
    if "to" in table.column_names:
        target = _named(rows.column("to"), routers)
        names = np.where((source < routers) & (target < routers), "network", "terminal")
    else:
        target = tables.peers(rows)
        names = np.array(rows.column("port_class").to_pylist(), dtype=str)
        # Nodes are numbered as the ports that lead to them.
        to_node = target == tables.NODE
        target[to_node] = routers + np.arange(int(to_node.sum()))
    classes, kinds = np.unique(names, return_inverse=True)
    nodes = int(max(target.max(), source.max())) + 1 - routers
    return Links(routers, max(0, nodes), keys, source, target, kinds, tuple(map(str, classes)))


def _time(table: pa.Table) -> np.ndarray:
    name = next(name for name in TIMES if name in table.column_names)
    return table.column(name).to_numpy()


def _routers(table: pa.Table) -> int:
    """How many routers there are: those of a fabric are called switches."""
    if "router" in table.column_names:
        return int(table.column("router").to_numpy().max()) + 1
    names = {name for column in ("from", "to") for name in tables.coded(table.column(column))[0]}
    return max((_number(name) + 1 for name in names if not _is_node(name)), default=0)


def _vertices(table: pa.Table, routers: int) -> tuple[np.ndarray, np.ndarray]:
    """Vertex and port that the link of each row leaves."""
    if "router" in table.column_names:
        vertex = table.column("router").to_numpy().astype(np.int64)
    else:
        vertex = _named(table.column("from"), routers)
    return vertex, table.column("port").to_numpy().astype(np.int64)


def _named(column: pa.ChunkedArray[Any], routers: int) -> np.ndarray:
    """The vertices of a column of names such as `node 4` and `switch 1`."""
    names, codes = tables.coded(column)
    numbers = [_number(name) + (routers if _is_node(name) else 0) for name in names]
    return np.array(numbers, dtype=np.int64)[codes]


def _is_node(name: str) -> bool:
    return name.startswith("node ")


def _number(name: str) -> int:
    kind, _, number = name.partition(" ")
    if kind not in ("node", "switch") or not re.fullmatch("[0-9]{1,9}", number):
        raise ConfigError(
            f"the stream links: {name!r} is no end of a link; valid: node 4, switch 1 and the like"
        )
    return int(number)
