"""PolarFly beside the simulator that its authors published, which is a BookSim with routing of its own."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

import networkx
from networkx.algorithms import bipartite

from hopsim_reproduce.claims import at_end, at_place, between, number, ratio
from hopsim_reproduce.figure import Claim, Figure, Number
from hopsim_reproduce.model import Document, Entry, Scale
from hopsim_reproduce.networks.system import MINIMAL, SEEDS, UGAL, VALIANT, Network, routings
from hopsim_reproduce.panels import ACCEPTED, LATENCY, Case, Line, Panel

LAKHOTIA = "K. Lakhotia et al., PolarFly: a cost-effective and flexible low-diameter topology, SC 2022"
ARTIFACT = "artifact of the paper (github.com/IntelLabs/PolarFly, commit 015a80d)"
LOADS = (0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 1.0)
OF_LARGE = (0.3, 0.7, 0.9, 1.0)
PATTERNS: Mapping[str, int] = {"pairs one link apart": 1, "pairs two links apart": 2}
"""Permutations of routers by how far every router is from the one to which all its nodes send."""
ROUTINGS = routings(occupancy="port")
OF_ARTIFACT: Mapping[str, str] = {"min": MINIMAL, "ugallnew": UGAL, "val": VALIANT}


@dataclass(frozen=True)
class PolarFly:
    """A network of the family, q a prime, whose elements are the integers modulo q."""

    q: int
    nodes_per_router: int

    @property
    def topology(self) -> Document:
        """The section of the document."""
        return {"polarfly": {"q": self.q, "nodes_per_router": self.nodes_per_router}}

    def permutation(self, links: int) -> Document:
        """A permutation of routers of which every two are so many links apart, node by node."""
        points = [(1, y, z) for y in range(self.q) for z in range(self.q)]
        points += [(0, 1, z) for z in range(self.q)] + [(0, 0, 1)]
        graph: networkx.Graph[tuple[str, int]] = networkx.Graph()
        for source, one in enumerate(points):
            for target, other in enumerate(points):
                orthogonal = sum(a * b for a, b in zip(one, other, strict=True)) % self.q == 0
                if source != target and orthogonal == (links == 1):
                    graph.add_edge(("from", source), ("to", target))
        sources = [("from", router) for router in range(len(points))]
        pairs: Mapping[Any, Any] = bipartite.hopcroft_karp_matching(graph, sources)
        nodes = range(self.nodes_per_router)
        destinations = [
            pairs[source][1] * self.nodes_per_router + node for source in sources for node in nodes
        ]
        return {"destinations": destinations}


SMALL = PolarFly(7, 4)
"""What the authors' simulator runs in seconds."""
LARGER: Mapping[Scale, PolarFly] = {"quick": PolarFly(11, 6), "full": PolarFly(31, 16)}
"""The second one is that of the paper."""
OF_SMALL, OF_LARGER = "57 routers of 4 nodes", "a larger network"


@dataclass(frozen=True)
class Published:
    """A point of the authors' simulator."""

    pattern: str
    line: str
    load: float
    accepted: float
    latency: float


@cache
def published() -> Sequence[Published]:
    """The points of `data/polarfly-artifact.csv` that came to an end."""
    text = (resources.files("hopsim_reproduce") / "data" / "polarfly-artifact.csv").read_text("utf-8")
    rows = csv.DictReader(text.splitlines())
    return [
        Published(
            row["pattern"],
            OF_ARTIFACT[row["routing"]],
            float(row["offered"]),
            float(row["accepted"]),
            float(row["latency"]),
        )
        for row in rows
        if row["accepted"]
    ]


def _line(network: PolarFly, line: str, pattern: str, loads: Sequence[float]) -> Line:
    routing, vcs = ROUTINGS[line]
    links = PATTERNS.get(pattern)
    traffic: Document | str = "uniform" if links is None else network.permutation(links)
    document = Network(network.topology, routing, traffic, vcs).document()
    name = f"{network.q}-{line}-{pattern}".lower().replace(" ", "-")
    return {load: Case(name, document, load) for load in loads}


def _uniform(scale: Scale) -> list[Panel]:
    small = {line: _line(SMALL, line, "uniform", LOADS) for line in ROUTINGS}
    larger = {line: _line(LARGER[scale], line, "uniform", OF_LARGE) for line in (MINIMAL, UGAL)}
    return [Panel(OF_SMALL, small), Panel(OF_LARGER, larger)]


def _permutations(_: Scale) -> list[Panel]:
    loads = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 1.0)
    return [
        Panel(pattern, {line: _line(SMALL, line, pattern, loads) for line in ROUTINGS})
        for pattern in PATTERNS
    ]


def _numbers(pattern: str, panel: str) -> Iterator[Number]:
    """Values of the authors' simulator, latencies where it is below saturation."""
    for point in published():
        if point.pattern != pattern:
            continue
        row = f"{panel}, {point.line} at {point.load:g}"
        value = at_place(panel, point.line, point.load, ACCEPTED)
        yield number(row, "accepted load", value, point.accepted)
        if point.accepted >= 0.99 * point.load:
            latency = at_place(panel, point.line, point.load, LATENCY)
            yield number(row, "latency [cycles]", latency, point.latency, 2)


def _claims_of_uniform() -> Iterator[Claim]:
    for panel in (OF_SMALL, OF_LARGER):
        for line in (MINIMAL, UGAL):
            accepted = at_place(panel, line, 0.9, ACCEPTED)
            yield between(f"{panel}: {line} carries a load of 0.9", accepted, low=0.97 * 0.9)
    pair = at_end(OF_SMALL, VALIANT), at_end(OF_SMALL, MINIMAL)
    yield ratio("Valiant accepts about half of what MIN does", *pair, 0.4, 0.6)


def _claims_of_permutations() -> Iterator[Claim]:
    one, two = PATTERNS
    bound = 1 / SMALL.nodes_per_router
    full = at_end(one, MINIMAL)
    yield between("one link for all nodes of a router: MIN accepts 1/p", full, 0.98 * bound, 1.001 * bound)
    of_two = at_end(two, MINIMAL)
    yield between("two links apart MIN accepts from 1/(2p) to 1/p", of_two, bound / 2, bound)
    for pattern in PATTERNS:
        for line in (UGAL, VALIANT):
            best, worst = at_end(pattern, line), at_end(pattern, MINIMAL)
            yield ratio(f"{pattern}: {line} accepts more than MIN", best, worst, 1.2)


OF_ARTIFACT_VALUES = (
    f"Values are those of the {ARTIFACT}, with its settings: four VCs of 32 flits, packets of four flits, a "
    "crossbar of twice the speed of a link, routers of three cycles; run once, 3,000 + 5,000 cycles.",
    "UGAL-L is the artifact's, which compares the best of four detours, by all VCs of a port. Packets take "
    "any VC there, in every router, which is not free of deadlock; here it has one by hop, and with MIN any "
    "above which there is one for every hop that follows (FlexVC). Points "
    "that the artifact did not finish, in a deadlock or beyond saturation, have no values.",
)


def _notes_of_uniform(scale: Scale) -> list[str]:
    larger = LARGER[scale]
    size = f"{larger.q**2 + larger.q + 1} routers of {larger.nodes_per_router} nodes"
    return [f"The larger network has {size}; that of the paper has 993 of 16.", *OF_ARTIFACT_VALUES]


def _notes_of_permutations(_: Scale) -> list[str]:
    return [f"{OF_SMALL}; no two routers have the same destination.", *OF_ARTIFACT_VALUES]


def entries() -> list[Entry]:
    """Uniform traffic, and permutations of routers."""
    uniform = Figure(
        name="networks-polarfly",
        title="PolarFly under uniform traffic, beside the authors' simulator",
        source=f"{LAKHOTIA}, evaluation, and its artifact",
        panels=_uniform,
        notes=_notes_of_uniform,
        seeds=SEEDS,
        trimmed=True,
        claims=tuple(_claims_of_uniform()),
        numbers=tuple(_numbers("uniform", OF_SMALL)),
    )
    permutations = Figure(
        name="networks-polarfly-permutations",
        title="PolarFly where all nodes of a router send to one other router",
        source=f"{LAKHOTIA}, evaluation, and its artifact",
        panels=_permutations,
        notes=_notes_of_permutations,
        seeds=SEEDS,
        trimmed=True,
        claims=tuple(_claims_of_permutations()),
        numbers=tuple(each for name in PATTERNS for each in _numbers(name, name)),
    )
    return [uniform.entry(), permutations.entry()]
