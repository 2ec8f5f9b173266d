"""Graphs as the network files that BookSim 2 reads with `topology = anynet`, and the paths in them."""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from typing import Any

from hopsim.errors import ConfigError
from hopsim.export.differences import shown

LEAST_LATENCY = 2
"""Latency of a link whose channel in BookSim takes a cycle."""


class Anynet:
    """A graph as BookSim has it: a channel each way between routers that are linked, with its latency."""

    def __init__(self, graph: Mapping[str, Any], latency: int) -> None:
        """Of a resolved `topology.graph` and the latency of links that state none.

        Raises `ConfigError` for what a network file cannot say, and where packets on the paths that BookSim
        takes could wait for each other in a circle.
        """
        routers = 1 + max(max(edge["between"]) for edge in graph["edges"])
        self._channels: dict[int, dict[int, int]] = {router: {} for router in range(routers)}
        for place, edge in enumerate(graph["edges"]):
            self._join(f"topology.graph.edges.{place}", edge, latency)
        self._nodes = _nodes(graph, routers)
        self._refuse_circles()

    @property
    def nodes(self) -> int:
        """How many nodes there are."""
        return sum(self._nodes)

    def text(self) -> str:
        """The network file: a line for each router with its nodes and its links."""
        lines: list[str] = []
        node = 0
        for router, count in enumerate(self._nodes):
            nodes = [f"node {each}" for each in range(node, node + count)]
            links = [f"router {to} {latency}" for to, latency in self._channels[router].items()]
            lines.append(" ".join([f"router {router}", *nodes, *links]))
            node += count
        return "\n".join(lines) + "\n"

    def _join(self, path: str, edge: Mapping[str, Any], latency: int) -> None:
        one, other = edge["between"]
        taken = edge.get("latency", latency)
        if taken < LEAST_LATENCY:
            raise ConfigError(
                f"{path}.latency = {taken}: is less than a channel of BookSim 2 takes; valid: "
                f"{LEAST_LATENCY} or more"
            )
        if edge.get("cycles_per_phit", 1) != 1:
            raise ConfigError(
                f"{path}.cycles_per_phit = {edge['cycles_per_phit']}: channels of BookSim 2 take a flit per "
                "cycle; valid: 1"
            )
        if other in self._channels[one]:
            raise ConfigError(
                f"{path}.between = {shown([one, other])}: is a second link between these routers; valid: one"
            )
        for begin, end in ((one, other), (other, one)):
            self._channels[begin][end] = taken - 1

    def _first(self, start: int) -> dict[int, int]:
        """The first router on the path from one router to each of the others, as BookSim finds them.

        Of the routers that it has not left it takes the nearest one, of several that with the lowest number,
        and a path is replaced by a shorter one only.
        """
        distances, first = {start: 0}, {start: start}
        left: set[int] = set()
        waiting = [(0, start)]
        while waiting:
            distance, router = heapq.heappop(waiting)
            if router in left:
                continue
            left.add(router)
            for other, latency in sorted(self._channels[router].items()):
                longer = distance + latency
                if other not in distances or longer < distances[other]:
                    distances[other] = longer
                    first[other] = other if router == start else first[router]
                    heapq.heappush(waiting, (longer, other))
        del first[start]
        return first

    def _refuse_circles(self) -> None:
        """Refuses a graph in which channels wait for each other, as any VC of a channel may be taken."""
        first = {router: self._first(router) for router in self._channels}
        waits: dict[tuple[int, int], set[tuple[int, int]]] = {}
        for router, hops in first.items():
            for end, to in hops.items():
                following = {(to, first[to][end])} if to != end else set[tuple[int, int]]()
                waits.setdefault((router, to), set()).update(following)
        while free := [channel for channel, others in waits.items() if not others & waits.keys()]:
            for channel in free:
                del waits[channel]
        if waits:
            one, other = min(waits)
            raise ConfigError(
                f'topology = "graph": on the paths that BookSim 2 takes, any VC of any link, packets can '
                f"wait for each other in a circle, over the link from router {one} to {other}; valid: a "
                "graph without such a circle, as a tree"
            )


def _nodes(graph: Mapping[str, Any], routers: int) -> list[int]:
    """How many nodes each router has."""
    if "nodes" in graph:
        return [*graph["nodes"], *[0] * (routers - len(graph["nodes"]))]
    with_nodes = graph.get("routers_with_nodes", routers)
    return [graph["nodes_per_router"]] * with_nodes + [0] * (routers - with_nodes)
