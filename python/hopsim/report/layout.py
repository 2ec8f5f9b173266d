"""Where the routers and nodes of a network are drawn.

A dragonfly is groups on a circle, meshes, tori and HyperX are grids, rings circles, k-ary n-trees levels;
any other network has levels by the distance from the routers with nodes, or is laid out by its links.
Coordinates go to the right and upwards; neighbours are about 1 apart.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import networkx as nx
import numpy as np

from hopsim.report.links import Links

SPRING = 400
"""Most routers that are laid out by their links: the time grows with their square."""
BEND = 18
"""How far a link that passes by other routers bends [% of its length]."""
PARALLEL = 10
"""How far each further one of several links between the same two routers bends [% of its length]."""
WRAP = 127
"""Instead of a bend: the link leads round the edge of a grid, and its ends are drawn outwards."""


@dataclass(frozen=True)
class Layout:
    """A drawing.

    Attributes:
        shape: `groups`, `grid`, `circle`, `levels` or `graph`.
        places: two coordinates for every router, then for every node.
        bends: for every link how far it bends to its left [% of its length], or `WRAP`.
        groups: the group of every router; empty where there are none.
    """

    shape: str
    places: np.ndarray
    bends: np.ndarray
    groups: np.ndarray


_Placed = tuple[str, np.ndarray, np.ndarray]
"""Shape, places of the routers, and for each the direction in which its nodes hang."""


def layout_of(topology: Mapping[str, Any], links: Links) -> Layout:
    """The drawing of a network.

    `topology` is that of a resolved configuration, {name: parameters}.
    """
    ((name, parameters),) = topology.items()
    place = _SHAPES.get(name, _graph)
    shape, routers, outwards = place(parameters, links)
    groups = np.arange(links.routers) // parameters["a"] if shape == "groups" else np.empty(0, int)
    bends = _parallel(links)
    sides = parameters.get("sides", []) if shape == "grid" else []
    if sides:
        bends = np.where(bends == 0, _bends(sides, links, wraps=name == "torus"), bends)
    return Layout(shape, _with_nodes(routers, outwards, links), bends, groups)


def _dragonfly(parameters: Mapping[str, Any], links: Links) -> _Placed:
    """Groups on a circle, the routers of each on a smaller one that does not touch those beside it."""
    a = parameters["a"]
    count = max(1, -(-links.routers // a))
    small = a / 6 + 0.5
    large = small * 1.35 * max(1.5, count / np.pi)
    number = np.arange(links.routers)
    group = _on_circle(number // a, count) * large
    outwards = _on_circle(number % a, a)
    return "groups", group + outwards * small, outwards


def _ring(_parameters: Mapping[str, Any], links: Links) -> _Placed:
    outwards = _on_circle(np.arange(links.routers), links.routers)
    return "circle", outwards * max(1.0, links.routers / (2 * np.pi)), outwards


def _grid(parameters: Mapping[str, Any], links: Links) -> _Placed:
    """Dimensions to the right and upwards in turn; from the third on, grids beside and above each other."""
    sides: Sequence[int] = parameters["sides"]
    places = np.zeros((links.routers, 2))
    pitch = [1.0, 1.0]
    for dimension, coordinate in enumerate(_coordinates(sides, np.arange(links.routers))):
        axis = dimension % 2
        places[:, axis] += coordinate * pitch[axis]
        pitch[axis] *= sides[dimension] + 1
    return "grid", places, np.tile([-0.7, -0.7], (links.routers, 1))


def _fat_tree(parameters: Mapping[str, Any], links: Links) -> _Placed:
    width = parameters["k"] ** (parameters["levels"] - 1)
    number = np.arange(links.routers)
    return _levels(number // width, width)


def _graph(_parameters: Mapping[str, Any], links: Links) -> _Placed:
    """Levels where some routers have no nodes, as spines have none; else by the links."""
    graph: nx.Graph[int] = nx.Graph()
    graph.add_nodes_from(range(links.routers))
    inner = (links.source < links.routers) & (links.target < links.routers)
    graph.add_edges_from(zip(links.source[inner].tolist(), links.target[inner].tolist(), strict=True))
    edges = {int(router) for router in (*links.source[~inner], *links.target[~inner]) if router < links.routers}
    if edges and len(edges) < links.routers:
        distance = nx.multi_source_dijkstra_path_length(graph, edges)
        levels = np.array([distance.get(router, 0) for router in range(links.routers)])
        return _levels(levels, int(np.bincount(levels).max()))
    if links.routers > SPRING:
        return _ring({}, links)
    found = nx.spring_layout(graph, seed=1, iterations=200)
    places = np.array([found[router] for router in range(links.routers)]).reshape(-1, 2)
    outwards = places - places.mean(axis=0)
    length = np.maximum(np.hypot(*outwards.T), 1e-9)[:, None]
    return "graph", places * max(1.0, np.sqrt(links.routers)), outwards / length


def _levels(levels: np.ndarray, width: int) -> _Placed:
    """Routers above one another by level, each level spread over the width; nodes hang below."""
    places = np.zeros((len(levels), 2))
    height = max(1.5, width / 5)
    for level in np.unique(levels):
        members = np.flatnonzero(levels == level)
        places[members, 0] = (np.arange(len(members)) + 0.5) * width / len(members)
        places[members, 1] = level * height
    return "levels", places, np.tile([0.0, -1.0], (len(levels), 1))


_SHAPES: dict[str, Callable[[Mapping[str, Any], Links], _Placed]] = {
    "dragonfly": _dragonfly,
    "ring": _ring,
    "mesh": _grid,
    "torus": _grid,
    "hyperx": _grid,
    "fat_tree": _fat_tree,
}
"""Topology -> how it is drawn; any other is a graph."""


def _on_circle(number: np.ndarray, count: int) -> np.ndarray:
    """Points on a circle of radius 1, clockwise from the top."""
    angle = np.pi / 2 - 2 * np.pi * number / count
    return np.column_stack([np.cos(angle), np.sin(angle)])


def _coordinates(sides: Sequence[int], router: np.ndarray) -> list[np.ndarray]:
    """Coordinates of routers, dimension by dimension."""
    rest = router
    found: list[np.ndarray] = []
    for side in sides:
        found.append(rest % side)
        rest = rest // side
    return found


def _with_nodes(routers: np.ndarray, outwards: np.ndarray, links: Links) -> np.ndarray:
    """The places of routers and, beside the router that each is linked to, of nodes."""
    home = np.zeros(links.nodes, dtype=int)
    for ends, others in ((links.source, links.target), (links.target, links.source)):
        is_node = ends >= links.routers
        home[ends[is_node] - links.routers] = others[is_node]
    share = np.bincount(home, minlength=max(1, links.routers))
    first = np.concatenate([[0], np.cumsum(share)])[:-1]
    order = np.argsort(home, kind="stable")
    rank = np.empty(links.nodes, dtype=int)
    rank[order] = np.arange(links.nodes) - first[home[order]]
    # Those of a router are spread over 60 degrees at most, each 20 from the next.
    step = np.minimum(np.pi / 9, np.pi / 3 / np.maximum(1, share[home] - 1))
    angle = (rank - (share[home] - 1) / 2) * step
    x, y = outwards[home].T if links.nodes else np.zeros((2, 0))
    turned = np.column_stack([x * np.cos(angle) - y * np.sin(angle), x * np.sin(angle) + y * np.cos(angle)])
    return np.concatenate([routers, routers[home] + 0.45 * turned]) if links.nodes else routers


def _parallel(links: Links) -> np.ndarray:
    """Bends that keep several links between the same two vertices apart."""
    pair = links.source * (links.routers + links.nodes) + links.target
    _, group, count = np.unique(pair, return_inverse=True, return_counts=True)
    order = np.argsort(group, kind="stable")
    first = np.concatenate([[0], np.cumsum(count)])[:-1]
    rank = np.empty(len(pair), dtype=int)
    rank[order] = np.arange(len(pair)) - first[group[order]]
    return np.clip((2 * rank - count[group] + 1) * PARALLEL, -100, 100)


def _bends(sides: Sequence[int], links: Links, *, wraps: bool) -> np.ndarray:
    """Bends of the links of a grid: those that pass by others, and those round the edge."""
    bends = np.zeros(len(links.keys), dtype=int)
    inner = (links.source < links.routers) & (links.target < links.routers)
    ends = (_coordinates(sides, links.source), _coordinates(sides, links.target))
    for dimension, (here, there) in enumerate(zip(*ends, strict=True)):
        far = np.abs(there - here)
        passes = inner & ((far > 1) | ((far > 0) & (dimension > 1)))
        bends[passes] = BEND
        if wraps and sides[dimension] > 2:
            bends[inner & (far == sides[dimension] - 1)] = WRAP
    return bends
