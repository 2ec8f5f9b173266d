"""The forms in which the links of a network are shown: matrix of groups, grid of routers, levels, ports."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.collections import LineCollection
from matplotlib.colors import Normalize
from matplotlib.ticker import MaxNLocator

COLOURS = mpl.colormaps["YlOrRd"].with_extremes(bad="0.9")
"""From idle to full; grey where there is no link."""
GROUND = "0.85"
"""What lies behind lines, so that pale ones are seen."""
REACH = 0.46
"""How far a line goes from its router, in distances between routers; at half two would touch."""
THICKNESS = 0.2
"""Of a line, in distances between routers."""
THICKEST = 5.0
"""Points that no line exceeds."""
INCHES = 4.2
"""Side of a panel."""
MOST_LINES = 40
"""Blocks of a matrix that are told apart by lines."""


@dataclass(frozen=True)
class Links:
    """A row per link that leaves a router.

    Attributes:
        router: which it leaves.
        port: its output port there.
        peer: router at the other end, or for a node a number greater than those of all routers.
        used: phits in a cycle, all VCs together.
    """

    router: np.ndarray
    port: np.ndarray
    peer: np.ndarray
    used: np.ndarray

    def where(self, chosen: np.ndarray) -> Links:
        """Those of some rows."""
        return Links(self.router[chosen], self.port[chosen], self.peer[chosen], self.used[chosen])


@dataclass(frozen=True)
class Matrix:
    """Cells with a colour each; the first row is at the bottom.

    Attributes:
        title: what the links have in common.
        cells: utilisation; NaN where there is no link. Of several links in a cell it is the busiest.
        labels: of the horizontal and the vertical axis.
        blocks: (axis, cells of a block, names of the blocks) where an axis has blocks of cells.
        size: of the panel [inches].
    """

    title: str
    cells: np.ndarray
    labels: tuple[str, str]
    blocks: tuple[str, int, Sequence[str]] | None = None
    size: tuple[float, float] = (INCHES + 0.6, INCHES)

    def draw(self, axes: Axes, norm: Normalize) -> None:
        """Fill the panel."""
        axes.imshow(
            self.cells, cmap=COLOURS, norm=norm, origin="lower", aspect="auto", interpolation="nearest"
        )
        axes.grid(visible=False)
        axes.set(xlabel=self.labels[0], ylabel=self.labels[1])
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_locator(MaxNLocator("auto", integer=True, min_n_ticks=1))
        if self.blocks:
            self._mark_blocks(axes, *self.blocks)

    def _mark_blocks(self, axes: Axes, side: str, length: int, names: Sequence[str]) -> None:
        axis: Axis = axes.xaxis if side == "x" else axes.yaxis
        every = -(-len(names) // MOST_LINES * 2) if len(names) > MOST_LINES else 1
        middles = [number * length + (length - 1) / 2 for number in range(len(names))]
        axis.set_ticks(middles[::every], names[::every])
        axis.set_tick_params(length=0)
        for number in range(1, len(names) if len(names) <= MOST_LINES else 0):
            edge = number * length - 0.5
            line = axes.axvline(edge) if side == "x" else axes.axhline(edge)
            line.set(color="white", linewidth=1)


@dataclass(frozen=True)
class Grid:
    """Routers on a plane, and from each to its neighbours half a line.

    Attributes:
        sides: routers in both dimensions.
        lines: begin and end of each line.
        used: utilisation of its link.
        title: empty, as it has all links between routers.
    """

    sides: tuple[int, int]
    lines: np.ndarray
    used: np.ndarray
    title: str = ""
    labels: tuple[str, str] = ("x", "y")
    size: tuple[float, float] = field(default=(INCHES, INCHES + 0.4))

    def draw(self, axes: Axes, norm: Normalize) -> None:
        """Fill the panel."""
        points = min(72 * INCHES / max(self.sides) * THICKNESS, THICKEST)
        axes.set_facecolor(GROUND)
        axes.add_collection(
            LineCollection(list(self.lines), array=self.used, cmap=COLOURS, norm=norm, linewidths=points)
        )
        axes.set_aspect("equal")
        axes.set(xlim=(-0.8, self.sides[0] - 0.2), ylim=(-0.8, self.sides[1] - 0.2))
        axes.set(xlabel=self.labels[0], ylabel=self.labels[1])
        axes.grid(visible=False)
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_locator(MaxNLocator("auto", integer=True, min_n_ticks=1))


Form = Matrix | Grid


def forms(topology: Mapping[str, Any], links: Links, routers: int) -> list[Form]:
    """The panels that show all links between the `routers` of a network, of trees also those to the nodes.

    `topology`: the section of the resolved document.
    """
    ((name, config),) = topology.items()
    return _FORMS.get(name, _by_port)(config, links, routers)


def _dragonfly(config: Mapping[str, Any], links: Links, routers: int) -> list[Form]:
    """From group to group, and of each group those inside, router by router."""
    size = config["a"]
    groups = routers // size
    group, other = links.router // size, links.peer // size
    # No node is in the group of its router: its number would be that of a group beyond all.
    inside = links.where(group == other)
    across = links.where((links.peer < routers) & (group != other))
    between = _cells((groups, groups), (across.router // size, across.peer // size), across.used)
    # The other routers of the group in ascending order.
    place = inside.peer % size - (inside.peer > inside.router)
    columns = inside.router % size * (size - 1) + place
    local = _cells((groups, size * (size - 1)), (inside.router // size, columns), inside.used)
    names = [str(number) for number in range(size)]
    return [
        Matrix("global links", between, ("To group", "From group")),
        Matrix(
            "local links", local, ("Router of the group, a column per link", "Group"), ("x", size - 1, names)
        ),
    ]


def _grid(sides: Sequence[int], nodes: int, links: Links) -> list[Form]:
    """Lines of a plane or a row; ports are, after those of the nodes, minus and plus of each dimension."""
    width, height = (*sides, 1)[:2]
    chosen = links.where(links.peer < width * height)
    dimension, is_plus = np.divmod(chosen.port - nodes, 2)
    step = np.where(is_plus == 1, REACH, -REACH)
    begins = np.stack([chosen.router % width, chosen.router // width], axis=1).astype(float)
    ends = begins + np.stack([step * (dimension == 0), step * (dimension == 1)], axis=1)
    return [Grid((width, height), np.stack([begins, ends], axis=1), chosen.used)]


def _cube(config: Mapping[str, Any], links: Links, routers: int) -> list[Form]:
    """A plane or a row as a grid, more dimensions port by port."""
    sides = config.get("sides") or [routers]
    return (
        _grid(sides, config["nodes_per_router"], links)
        if len(sides) < 3
        else _by_port(config, links, routers)
    )


def _fat_tree(config: Mapping[str, Any], links: Links, routers: int) -> list[Form]:
    """From each level down and up, switch by switch."""
    arity, levels = config["k"], config["levels"]
    width = routers // levels
    level = links.router // width
    is_up = (links.peer < routers) & (links.peer // width > level)
    rows = (2 * level + is_up) * arity + links.port % arity
    cells = _cells(((2 * levels - 1) * arity, width), (rows, links.router % width), links.used)
    names = ["0 to nodes"]
    for below in range(levels - 1):
        names += [f"{below} to {below + 1}", f"{below + 1} to {below}"]
    labels = ("Switch of the level", "From level to level, a row per port")
    return [Matrix("", cells, labels, ("y", arity, names), (6.2, INCHES))]


def _by_port(_: Mapping[str, Any], links: Links, routers: int) -> list[Form]:
    """Routers side by side, their ports above one another."""
    chosen = links.where(links.peer < routers)
    shape = (int(chosen.port.max(initial=0)) + 1, routers)
    return [Matrix("", _cells(shape, (chosen.port, chosen.router), chosen.used), ("Router", "Output port"))]


def _cells(shape: tuple[int, int], places: tuple[np.ndarray, np.ndarray], used: np.ndarray) -> np.ndarray:
    """A matrix with the busiest link of each cell."""
    cells = np.full(shape, -math.inf)
    np.maximum.at(cells, places, used)
    return np.where(np.isinf(cells), np.nan, cells)


_FORMS: dict[str, Callable[[Mapping[str, Any], Links, int], list[Form]]] = {
    "dragonfly": _dragonfly,
    "mesh": _cube,
    "torus": _cube,
    "ring": _cube,
    "fat_tree": _fat_tree,
}
"""Topology -> its form; others are shown port by port."""
