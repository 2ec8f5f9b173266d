"""Where the routers and nodes of a network are drawn.

A dragonfly is groups on a circle, meshes, tori and HyperX are grids, rings circles, k-ary n-trees levels;
any other network has levels by the distance from the routers with nodes, or is laid out by its links.
Coordinates go to the right and upwards; neighbours are about 1 apart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
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
STUB = 101
"""Instead of a bend: only the ends of the link are drawn, every 15 degrees from the right one more."""
STUBS = ((0, 180), (90, 270), (45, 135), (315, 300), (30, 150), (60, 120), (330, 75), (105, 345))
"""For each dimension the directions of ends towards larger and smaller coordinates [degrees]."""


@dataclass(frozen=True)
class Layout:
    """A drawing.

    Attributes:
        shape: `groups`, `grid`, `circle`, `levels` or `graph`.
        places: two coordinates for every router, then for every node.
        bends: for every link how far it bends to its left [% of its length], or `STUB` and a direction.
        groups: the group of every router; empty where there are none.
        legend: what one must know to read it, in sentences; may be empty.
    """

    shape: str
    places: np.ndarray
    bends: np.ndarray
    groups: np.ndarray
    legend: str = ""


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
    sides: Sequence[int] = parameters.get("sides", []) if shape == "grid" else []
    if name == "hyperx":
        bends = _bends(sides, links)
    elif sides:
        bends = _stubs(sides, links, bends)
    places = _with_nodes(routers, outwards, links)
    return Layout(shape, places, bends, groups, _legend(name, sides))


def _legend(name: str, sides: Sequence[int]) -> str:
    sentences: list[str] = []
    if name == "torus" and max(sides, default=0) > 2:
        sentences.append("Short ends at an edge lead to the opposite edge.")
    if name in ("mesh", "torus") and len(sides) > 2:
        sentences.append("Slanted ends lead to the same place of the next grid, in further dimensions.")
    return " ".join(sentences)


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
    """Two dimensions to the right and upwards; those of more dimensions are grids beside each other."""
    sides: Sequence[int] = [*parameters["sides"], 1]
    x, y, *_ = _coordinates(sides, np.arange(links.routers))
    grid = np.arange(links.routers) // (sides[0] * sides[1])
    columns = int(np.ceil(np.sqrt(grid.max(initial=0) + 1)))
    x = x + grid % columns * (sides[0] + 1)
    y = y + grid // columns * (sides[1] + 1)
    return "grid", np.column_stack([x, y]).astype(float), np.tile([-0.7, -0.7], (links.routers, 1))


def _hyperx(parameters: Mapping[str, Any], links: Links) -> _Placed:
    """Dimensions go right and upwards in turn, the third over the first: links stay in rows and columns."""
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
    places = np.column_stack([number % width + 0.5, number // width * _height(width)])
    return "levels", places, np.tile([0.0, -1.0], (links.routers, 1))


def _graph(_parameters: Mapping[str, Any], links: Links) -> _Placed:
    """Levels where some routers have no nodes, as spines have none; else by the links."""
    graph: nx.Graph[int] = nx.Graph()
    graph.add_nodes_from(range(links.routers))
    inner = _inner(links)
    graph.add_edges_from(zip(links.source[inner].tolist(), links.target[inner].tolist(), strict=True))
    ends = np.concatenate([links.source[~inner], links.target[~inner]])
    edges = set(ends[ends < links.routers].tolist())
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
    for level in np.unique(levels):
        members = np.flatnonzero(levels == level)
        places[members, 0] = (np.arange(len(members)) + 0.5) * width / len(members)
        places[members, 1] = level * _height(width)
    return "levels", places, np.tile([0.0, -1.0], (len(levels), 1))


def _height(width: int) -> float:
    """How far levels of so many routers are apart."""
    return max(1.5, width / 5)


_SHAPES: dict[str, Callable[[Mapping[str, Any], Links], _Placed]] = {
    "dragonfly": _dragonfly,
    "ring": _ring,
    "mesh": _grid,
    "torus": _grid,
    "hyperx": _hyperx,
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
    """The places of routers and, beside the router of each, of nodes; NaN of nodes without links."""
    home = np.full(links.nodes, -1)
    for ends, others in ((links.source, links.target), (links.target, links.source)):
        is_node = ends >= links.routers
        home[ends[is_node] - links.routers] = others[is_node]
    linked = np.flatnonzero(home >= 0)
    rank, share = _ranks(home[linked])
    # Those of a router are spread over 60 degrees at most, each 20 from the next.
    step = np.minimum(np.pi / 9, np.pi / 3 / np.maximum(1, share - 1))
    angle = (rank - (share - 1) / 2) * step
    x, y = outwards[home[linked]].T
    turned = np.column_stack([x * np.cos(angle) - y * np.sin(angle), x * np.sin(angle) + y * np.cos(angle)])
    nodes = np.full((links.nodes, 2), np.nan)
    nodes[linked] = routers[home[linked]] + 0.45 * turned
    return np.concatenate([routers, nodes])


def _ranks(keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For each key how many equal ones are before it, and how many there are."""
    _, group, count = np.unique(keys, return_inverse=True, return_counts=True)
    order = np.argsort(group, kind="stable")
    first = np.concatenate([[0], np.cumsum(count)])[:-1]
    rank = np.empty(len(keys), dtype=int)
    rank[order] = np.arange(len(keys)) - first[group[order]]
    return rank, count[group]


def _parallel(links: Links) -> np.ndarray:
    """Bends that keep several links between the same two vertices apart."""
    rank, count = _ranks(links.source * (links.routers + links.nodes) + links.target)
    return np.clip((2 * rank - count + 1) * PARALLEL, -100, 100)


def _bends(sides: Sequence[int], links: Links) -> np.ndarray:
    """Bends of the links of a HyperX: of those that pass by others."""
    bends = np.zeros(len(links.keys), dtype=int)
    for dimension, (here, there) in enumerate(_ends(sides, links)):
        far = np.abs(there - here)
        bends[(far > 1) | ((far > 0) & (dimension > 1))] = BEND
    return np.where(_inner(links), bends, 0)


def _stubs(sides: Sequence[int], links: Links, parallel: np.ndarray) -> np.ndarray:
    """Of meshes and tori: ends of the links round the edge, and of those beyond two dimensions."""
    bends = parallel.copy()
    for dimension, (here, there) in enumerate(_ends(sides, links)):
        far, side = there - here, sides[dimension]
        # Of the two links between two routers the first one is that towards smaller coordinates.
        up = np.where(parallel == 0, (far == 1) | (far == 1 - side), parallel > 0)
        degrees = np.where(up, *STUBS[dimension])
        is_stub = (far != 0) & ((dimension > 1) | (np.abs(far) > 1)) & _inner(links)
        bends[is_stub] = (STUB + degrees // 15)[is_stub]
    return bends


def _ends(sides: Sequence[int], links: Links) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """For each dimension the coordinates of what links leave and of what they lead to."""
    yield from zip(_coordinates(sides, links.source), _coordinates(sides, links.target), strict=True)


def _inner(links: Links) -> np.ndarray:
    """Which links are between routers."""
    return (links.source < links.routers) & (links.target < links.routers)
