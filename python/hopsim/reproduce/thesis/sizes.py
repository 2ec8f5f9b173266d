"""Figures 3.10 and 3.13: throughput and fairness under ADVc at 0.4 by the size of the network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from hopsim.reproduce.claims import at_end, at_start, between, ratio
from hopsim.reproduce.figure import ACCEPTED, COV, RATIO, Claim, Figure, Line, Panel
from hopsim.reproduce.model import Entry, Scale
from hopsim.reproduce.thesis import fairness
from hopsim.reproduce.thesis.lines import case
from hopsim.reproduce.thesis.network import THESIS, Network
from hopsim.reproduce.thesis.system import AGE, ROUND_ROBIN, Arbitration
from hopsim.reproduce.thesis.traffic import advc

LOAD = 0.4
PANEL = "ADVc at 0.4"
NETWORKS: Mapping[Scale, Sequence[Network]] = {
    "quick": tuple(Network(h, 4_000, 4_000) for h in (3, 4, 5)),
    "full": tuple(Network(h, 60_000, 60_000) for h in (4, 5, 6, 7, 8, 9, 10)),
}
SEEDS: Mapping[Scale, int] = {"quick": 2, "full": 5}
STEADY = ("Obl-RRG", "Obl-CRG", "In-Trns-RRG", "In-Trns-CRG", "In-Trns-MM")
"""Mechanisms that the size should not matter to."""


def _panels(arbitration: Arbitration, scale: Scale) -> list[Panel]:
    systems = {name: system for name, system in fairness.systems(arbitration).items() if name != "MIN"}
    lines: dict[str, Line] = {
        name: {
            network.nodes: case(network, advc(), system, LOAD, f"h{network.h}") for network in NETWORKS[scale]
        }
        for name, system in systems.items()
    }
    return [Panel(PANEL, lines, "nodes")]


def _notes(arbitration: Arbitration, scale: Scale) -> list[str]:
    sizes = ", ".join(f"{network.nodes:,}" for network in NETWORKS[scale])
    lengths = NETWORKS[scale][0]
    return [
        f"Dragonflies of {sizes} nodes (p = h, a = 2h), {lengths.warmup:,} + {lengths.cycles:,} cycles.",
        *fairness.explanation(arbitration),
    ]


def _over_sizes(statement: str, line: str, key: str, low: float | None, high: float | None) -> Claim:
    """The largest network against the smallest."""
    return ratio(f"{line}: {statement}", at_end(PANEL, line, key), at_start(PANEL, line, key), low, high)


THROUGHPUT = tuple(
    _over_sizes("throughput remains similar with size", name, ACCEPTED, 0.92, 1.08) for name in STEADY
)
WITHOUT_PRIORITY = (
    *THROUGHPUT,
    _over_sizes("throughput decreases slightly with size", "Src-RRG", ACCEPTED, None, 1.0),
    _over_sizes("throughput decreases slightly with size", "Src-CRG", ACCEPTED, None, 1.0),
    *(_over_sizes("unfairness remains with size", name, RATIO, 0.7, 1.4) for name in STEADY),
    _over_sizes("unfairness grows with size", "Src-CRG", RATIO, 1.0, None),
)
BY_AGE = (
    *THROUGHPUT,
    *(
        between(f"{name}: fair at any size", at_end(PANEL, name, RATIO), None, 1.5)
        for name in ("In-Trns-RRG", "In-Trns-CRG", "In-Trns-MM")
    ),
    _over_sizes("unfairness grows with size", "Src-CRG", RATIO, 1.0, None),
)


def entries() -> list[Entry]:
    """Both figures."""
    return [
        Figure(
            name=f"thesis-figure-{label}",
            title=f"Throughput and fairness under ADVc at {LOAD} by network size, {arbitration.title}",
            source=f"{THESIS}, figure {label}",
            panels=partial(_panels, arbitration),
            notes=partial(_notes, arbitration),
            seeds=SEEDS,
            claims=claims,
            quantities=(ACCEPTED, RATIO, COV),
        ).entry()
        for label, arbitration, claims in (
            ("3.10", ROUND_ROBIN, WITHOUT_PRIORITY),
            ("3.13", AGE, BY_AGE),
        )
    ]
