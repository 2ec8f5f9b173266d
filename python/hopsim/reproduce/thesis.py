"""Settings of chapter 3 of P. Fuentes' thesis (table 1.2): networks, routers, mechanisms.

The thesis leaves three choices open; they are FOGSim's defaults here: three allocator iterations,
the injection VC picked by destination, and ADVc over h-1 groups. The last one is what its
simulator does and what its saturation loads show, although the text says h groups.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hopsim.reproduce.model import Document, Experiment, Scale

THESIS = "P. Fuentes, PhD thesis, Universidad de Cantabria, 2017"
PACKET_LENGTH = 8


@dataclass(frozen=True)
class Network:
    """A balanced dragonfly (p = h, a = 2h) and how long it is simulated."""

    h: int
    warmup: int
    cycles: int

    @property
    def a(self) -> int:
        """Routers per group."""
        return 2 * self.h

    @property
    def nodes(self) -> int:
        """Nodes of the whole network."""
        return self.h * self.a * (self.a * self.h + 1)

    @property
    def target_groups(self) -> int:
        """Groups that ADVc sends to."""
        return self.h - 1

    @property
    def minimal_bound(self) -> float:
        """Load at which the links of one router carry all that a group sends minimally."""
        return self.target_groups / (self.a * self.h)


NETWORKS: Mapping[Scale, Network] = {
    "quick": Network(h=4, warmup=20_000, cycles=20_000),
    "full": Network(h=8, warmup=60_000, cycles=60_000),
}
SEEDS: Mapping[Scale, int] = {"quick": 3, "full": 5}


@dataclass(frozen=True)
class Arbitration:
    """An arbitration policy of the chapter."""

    title: str
    arbiter: Any
    transit_priority: bool = False


PRIORITY = Arbitration("round-robin, in-transit priority", "round_robin", transit_priority=True)
ROUND_ROBIN = Arbitration("round-robin", "round_robin")
AGE = Arbitration("age", {"age": {"timestamp": "generation"}})


@dataclass(frozen=True)
class Mechanism:
    """A routing mechanism of the chapter."""

    name: str
    local_vcs: int
    routing: Document

    @property
    def slug(self) -> str:
        """Names its experiment."""
        return self.name.lower()


def _oblivious(policy: str) -> Document:
    """Valiant to a router, first global hop by a misrouting policy, own group excluded."""
    return {
        "valiant": {
            "intermediate": "router",
            "policy": policy,
            "intermediate_groups": "other",
            "intra_group": "global",
        }
    }


MECHANISMS: Sequence[Mechanism] = (
    Mechanism("MIN", 3, {"minimal": {}}),
    Mechanism("Obl-RRG", 4, _oblivious("rrg")),
    Mechanism("Obl-CRG", 4, _oblivious("crg")),
)


def document(
    network: Network, mechanism: Mechanism, arbitration: Arbitration, streams: Sequence[str]
) -> Document:
    """The experiment without its load and seed."""
    return {
        "compat": "fogsim",
        "topology": {
            "dragonfly": {
                "p": network.h,
                "a": network.a,
                "h": network.h,
                "arrangement": "palmtree",
            }
        },
        "links": {
            "injection": {"latency": 1},
            "local": {"latency": 10},
            "global": {"latency": 100},
        },
        "router": {"cioq": _router(mechanism, arbitration)},
        "routing": mechanism.routing,
        "nic": {"injection_vc": "destination"},
        "jobs": [{"traffic": _traffic(network)}],
        "measure": {
            "warmup": network.warmup,
            "cycles": network.cycles,
            "streams": list(streams),
        },
    }


def _router(mechanism: Mechanism, arbitration: Arbitration) -> Document:
    return {
        "vcs": {"local": mechanism.local_vcs, "global": 2, "injection": 3},
        "buffers": {"local": 32, "global": 256, "injection": 256, "output": 32},
        "speedup": 2,
        "crossbar_latency": 3,
        "allocator": {
            "iterations": 3,
            "input_arbiter": arbitration.arbiter,
            "output_arbiter": arbitration.arbiter,
            "transit_priority": arbitration.transit_priority,
        },
    }


def _traffic(network: Network) -> Document:
    return {
        "pattern": {"adversarial_consecutive": {"groups": network.target_groups}},
        "process": {"bernoulli": {}},
        "packet_length": PACKET_LENGTH,
    }


def experiments(
    scale: Scale,
    seeds: int,
    arbitration: Arbitration,
    loads: Mapping[str, Sequence[float]],
    streams: Sequence[str] = (),
) -> list[Experiment]:
    """One experiment per mechanism."""
    network = NETWORKS[scale]
    return [
        Experiment(
            name=mechanism.slug,
            document=document(network, mechanism, arbitration, streams),
            loads=loads[mechanism.name],
            seeds=seeds,
        )
        for mechanism in MECHANISMS
    ]


def notes(scale: Scale, arbitration: Arbitration) -> list[str]:
    """What was run."""
    network = NETWORKS[scale]
    lines = [
        f"Dragonfly p={network.h} a={network.a} h={network.h}: {network.nodes:,} nodes, "
        f"{network.warmup:,} + {network.cycles:,} cycles, arbitration: {arbitration.title}.",
        f"ADVc over the next h-1 = {network.target_groups} groups: the published figures were made "
        "so, although the text says h.",
    ]
    if scale == "quick":
        full = NETWORKS["full"]
        lines.append(
            f"The published values are of {full.nodes:,} nodes and {full.warmup:,} + "
            f"{full.cycles:,} cycles. This network is smaller and the runs shorter, so they differ; "
            "--scale full runs the published network."
        )
    return lines
