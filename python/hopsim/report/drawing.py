"""A drawing of a network without any results: routers, nodes, and links by class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from hopsim.plot import style
from hopsim.report.layout import STUB, layout_of
from hopsim.report.links import PORTS, Links

NODES = 200
"""Most routers beside which nodes are drawn."""
NUMBERS = 64
"""Most routers that have their numbers in them."""
STEPS = 12
"""Pieces of a link that bends."""
STUB_LENGTH = 0.35
"""How long the drawn end of a link is whose middle is left out; neighbours are 1 apart."""


Listed = Sequence[tuple[int, int, str]]
"""Links between routers: the two routers and the class of each."""


def draw(topology: Mapping[str, Any], found: Mapping[str, Any], links: Listed) -> Figure:
    """The network of a resolved configuration, whose topology is {name: parameters}.

    `found` are its numbers as `hopsim topology info` tells them.
    """
    drawn = _links(topology, found, links)
    layout = layout_of(topology, drawn)
    classes = [name for name in drawn.classes if name != "terminal"]
    with mpl.rc_context(style.RC):
        figure = Figure(figsize=(8, 8), layout="constrained")
        ax = figure.add_subplot()
    colours = dict(zip(classes, style.PALETTE, strict=False))
    lines = [_line(layout.places, drawn, layout.bends, link) for link in range(len(drawn.keys))]
    for name in ("terminal", *classes):
        of_class = [lines[link] for link in np.flatnonzero(drawn.kinds == drawn.classes.index(name))]
        colour, width = ("0.7", 0.6) if name == "terminal" else (colours[name], 0.9)
        shown = [line for line in of_class if len(line)]
        ax.add_collection(LineCollection(shown, colors=colour, linewidths=width, zorder=1))
    _routers(ax, layout.places[: drawn.routers], layout.places[drawn.routers :])
    ax.set_aspect("equal")
    ax.set_axis_off()
    ax.autoscale_view()
    counts = found["links_by_class"]
    handles = [
        Line2D([], [], color=colours[name], label=f"{counts[name]:,} {name} link{'s' * (counts[name] != 1)}")
        for name in classes
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles), frameon=False)
    title = f"{found['topology']}: {found['routers']:,} routers, {found['nodes']:,} nodes"
    ax.set_title("\n".join(filter(None, [title, layout.legend])), fontsize=style.SIZES["font.size"])
    return figure


def _routers(ax: Any, routers: np.ndarray, nodes: np.ndarray) -> None:
    """Circles, with numbers where there is room, and points for nodes."""
    ax.scatter(*nodes.T, s=6, color="0.6", zorder=2)
    few = len(routers) <= NUMBERS
    ax.scatter(*routers.T, s=160 if few else 24, color="white" if few else "0.2", edgecolor="0.2", zorder=3)
    if few:
        for number, (x, y) in enumerate(routers):
            ax.text(x, y, str(number), ha="center", va="center", fontsize=6.5, zorder=4)


def _links(topology: Mapping[str, Any], found: Mapping[str, Any], links: Listed) -> Links:
    """Both directions of the links between routers, and those to nodes where there is room for them."""
    routers, nodes = found["routers"], found["nodes"] if found["routers"] <= NODES else 0
    home = _homes(topology, found)[:nodes]
    ends = [(one, other, kind) for one, other, kind in links]
    ends += [(other, one, kind) for one, other, kind in links]
    ends += [(router, routers + node, "terminal") for node, router in enumerate(home)]
    ends.sort(key=lambda end: end[0])
    classes = tuple(sorted({kind for *_, kind in ends} | {"terminal"}))
    source = np.array([one for one, *_ in ends], dtype=np.int64)
    target = np.array([other for _, other, _ in ends], dtype=np.int64)
    kinds = np.array([classes.index(kind) for *_, kind in ends], dtype=np.int64)
    return Links(routers, nodes, source * PORTS + np.arange(len(ends)), source, target, kinds, classes)


def _homes(topology: Mapping[str, Any], found: Mapping[str, Any]) -> list[int]:
    """The router of every node."""
    ((name, parameters),) = topology.items()
    of_routers: Sequence[int] = parameters.get("nodes", []) if name == "graph" else []
    if not of_routers:
        with_nodes = found["routers_with_nodes"]
        of_routers = [found["nodes"] // with_nodes] * with_nodes
    return [router for router, count in enumerate(of_routers) for _ in range(count)]


def _line(places: np.ndarray, links: Links, bends: np.ndarray, link: int) -> np.ndarray:
    """The points of a link; none of the second direction of one that is drawn already."""
    here, there, bend = links.source[link], links.target[link], int(bends[link])
    start, end = places[here], places[there]
    if bend >= STUB:
        angle = np.deg2rad((bend - STUB) * 15)
        return np.array([start, start + STUB_LENGTH * np.array([np.cos(angle), np.sin(angle)])])
    if here > there:
        return np.empty((0, 2))
    if bend == 0:
        return np.array([start, end])
    along = end - start
    middle = (start + end) / 2 + np.array([-along[1], along[0]]) * bend / 100
    part = np.linspace(0, 1, STEPS + 1)[:, None]
    return (1 - part) ** 2 * start + 2 * part * (1 - part) * middle + part**2 * end
