"""Slim Fly: minimal routing, Valiant and UGAL-L under uniform and under its worst traffic."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from hopsim_reproduce.claims import Value, at_end, between, number, peak, peaks
from hopsim_reproduce.figure import Claim, Figure
from hopsim_reproduce.model import Document, Entry, Measured, Scale
from hopsim_reproduce.networks.system import MINIMAL, SEEDS, UGAL, VALIANT, Network, routings
from hopsim_reproduce.panels import Case, Line, Panel, Points

BESTA = "M. Besta, T. Hoefler, Slim Fly: a cost effective low-diameter network topology, SC 2014"
ROUTINGS = routings()
UNIFORM, WORST = "uniform traffic", "worst traffic"
LOADS = (0.1, 0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
OF_WORST = (0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 1.0)
STORAGE = 256
"""Behind every link: 64 flits for each of four VCs."""


@dataclass(frozen=True)
class SlimFly:
    """A network of the family, q a prime."""

    q: int
    nodes_per_router: int

    @property
    def topology(self) -> Document:
        """The section of the document."""
        return {"slim_fly": {"q": self.q, "nodes_per_router": self.nodes_per_router}}

    def worst(self) -> Document:
        """Every router sends two links ahead on a circle of routers, so that a link has the packets of two.

        From (0, x, y) the circle leads to (1, x, y − x²), and from (1, m, c) to (0, m + 1, m·(m + 1) + c).
        Two links ahead is a router of the same half and another column, to which one path of two links leads.
        """
        q = self.q
        ahead: list[int] = []
        for x in range(q):
            ahead += [(x + 1) % q * q + (y + x) % q for y in range(q)]
        for m in range(q):
            ahead += [q * q + (m + 1) % q * q + (c - m - 1) % q for c in range(q)]
        nodes = range(self.nodes_per_router)
        return {"destinations": [router * self.nodes_per_router + node for router in ahead for node in nodes]}


NETWORKS: Mapping[Scale, SlimFly] = {"quick": SlimFly(5, 4), "full": SlimFly(19, 15)}
"""The second one is that of the paper: 722 routers, 10,830 nodes."""


def _line(line: str, panel: str, scale: Scale) -> Line:
    network = NETWORKS[scale]
    routing, vcs = ROUTINGS[line]
    pattern = "uniform" if panel == UNIFORM else network.worst()
    made = Network(network.topology, routing, pattern, vcs, STORAGE, packet_length=1, cycles=(1_000, 2_000))
    name = f"{line}-{panel}".lower().replace(" ", "-")
    loads = LOADS if panel == UNIFORM else OF_WORST
    return {load: Case(name, made.document(), load) for load in loads}


def _panels(scale: Scale) -> list[Panel]:
    return [
        Panel(panel, {line: _line(line, panel, scale) for line in ROUTINGS}) for panel in (UNIFORM, WORST)
    ]


def _nodes(points: Points) -> int:
    """Nodes of a router of the network that was run."""
    case = next(iter(points.panels[WORST].lines[MINIMAL].values()))
    nodes: int = case.document["topology"]["slim_fly"]["nodes_per_router"]
    return nodes


def _of_bound(points: Points) -> Measured | None:
    """What MIN accepts of the worst traffic, times 2p."""
    accepted = peak(WORST, MINIMAL).of(points)
    return None if accepted is None else Measured(accepted.mean * 2 * _nodes(points), 0.0, accepted.seeds)


def _claims() -> Iterator[Claim]:
    yield peaks(
        "uniform traffic: Valiant carries less than half of the load", UNIFORM, (VALIANT, MINIMAL), 0.4, 0.6
    )
    yield between("uniform traffic: Valiant saturates below 0.5", peak(UNIFORM, VALIANT), 0.3, 0.5)
    for line in (VALIANT, UGAL):
        yield between(
            f"worst traffic: {line} carries a third of the load and more", at_end(WORST, line), low=0.33
        )
        yield peaks(f"worst traffic: {line} carries much more than MIN", WORST, (line, MINIMAL), 3.0)


def _notes(scale: Scale) -> list[str]:
    network = NETWORKS[scale]
    return [
        f"{2 * network.q**2} routers of {network.nodes_per_router} nodes; the paper has 722 of 15.",
        "Single flits, four VCs of 64 flits, which MIN shares among its two hops by FlexVC, a crossbar of "
        "twice the speed of a link, routers of three cycles, UGAL-L with the best of four detours.",
        "The paper was not at hand: what is called published of it is as others quote it.",
    ]


def entries() -> list[Entry]:
    """One figure with both kinds of traffic."""
    bound = Value("accepted load of MIN times 2p", _of_bound)
    figure = Figure(
        name="networks-slim-fly",
        title="Slim Fly under uniform and under its worst traffic",
        source=f"{BESTA}, figures 6a and 6d",
        panels=_panels,
        notes=_notes,
        seeds=SEEDS,
        trimmed=True,
        claims=tuple(_claims()),
        numbers=(
            number("MIN, uniform traffic", "peak of the accepted load", peak(UNIFORM, MINIMAL), 0.87),
            number("MIN, worst traffic", "accepted load over 1/(2p)", bound, 1.0, allowed=0.02),
        ),
    )
    return [figure.entry()]
