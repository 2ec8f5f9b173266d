"""Networks, queues and fairness mechanisms of the paper: what one line of a figure is simulated with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hopsim_reproduce.model import Document, Scale

IZU = "C. Izu, E. Vallejo, Impact of network fairness on the performance of parallel systems, AusPDC 2019"
NODES = 64
SIDE = 8
PACKET_LENGTH = 16
"""[phits]"""
BUFFER = 64
"""Of a transit queue: 4 packets [phits]."""
QUEUE = 24
"""Of a node [packets]."""
FULL_LOAD = 1.0
OBLIVIOUS, ADAPTIVE = "oblivious", "adaptive"
ROUTINGS = (OBLIVIOUS, ADAPTIVE)


@dataclass(frozen=True)
class Lengths:
    """How long a point is simulated [cycles]."""

    warmup: int
    cycles: int


LENGTHS: Mapping[Scale, Lengths] = {"quick": Lengths(10_000, 40_000), "full": Lengths(50_000, 250_000)}
"""`full`: 5 batches of 10·N² packets at an accepted load of 0.2."""
SEEDS: Mapping[Scale, int] = {"quick": 1, "full": 3}
BATCHES = 5


@dataclass(frozen=True, eq=False)
class Mechanism:
    """A fairness mechanism, or none."""

    title: str
    arbiter: Any = "round_robin"
    control: Document = field(default_factory=lambda: {"none": {}})


def sat(least: int, most: int) -> Mechanism:
    """The SAT signal with thresholds l and k [packets]."""
    return Mechanism(f"SAT l={least} k={most}", control={"sat": {"l": least, "k": most}})


RR = Mechanism("RR")
AGE = Mechanism("Age", {"age": {"timestamp": "generation"}})
SAT = sat(8, 8)
"""As fair as it gets."""
SAT_WIDE = sat(8, 16)
MECHANISMS = (RR, AGE, SAT, SAT_WIDE)
KINDS = (RR, AGE, SAT)
"""One mechanism of each kind."""


@dataclass(frozen=True)
class Queues:
    """Where packets wait before they enter the network."""

    source: Any
    """The section `source_queue`."""
    injection: int
    """Of an injection VC [phits]."""
    vcs: int
    link: str
    """Whether the wire from the one to the other carries one phit per cycle: `injection_link`."""


FINITE = Queues({"packets": 0}, QUEUE * PACKET_LENGTH, 1, "unlimited")
"""One queue of 24 packets from which the router takes them (table 1)."""


@dataclass(frozen=True)
class Network:
    """One of the three networks of 64 nodes."""

    title: str
    topology: Document
    vcs: int
    oblivious: Document

    def document(
        self,
        routing: str,
        mechanism: Mechanism,
        traffic: Document,
        lengths: Lengths,
        *,
        queues: Queues = FINITE,
        crossbar: str = "vc",
        when_full: str = "wait",
        streams: Sequence[str] = (),
    ) -> Document:
        """The experiment without its load and seed."""
        network = self._network(routing, mechanism, queues, crossbar)
        return {
            **network,
            "nic": {**network["nic"], "source_queue": queues.source, "when_full": when_full},
            "jobs": [{"traffic": {"packet_length": PACKET_LENGTH, **traffic}}],
            "measure": {
                "warmup": lengths.warmup,
                "cycles": lengths.cycles,
                "batches": BATCHES,
                "streams": list(streams),
            },
        }

    def running(self, routing: str, mechanism: Mechanism, job: Document, units: Document) -> Document:
        """The experiment in which nodes run a program, without its seed; nodes have queues of 24 packets."""
        network = self._network(routing, mechanism, FINITE, "vc")
        return {**network, "units": units, "jobs": [job], "measure": {}}

    def _network(self, routing: str, mechanism: Mechanism, queues: Queues, crossbar: str) -> Document:
        return {
            "topology": self.topology,
            "links": {"network": {"latency": 1}},
            "router": {"input_queued": self._router(mechanism, queues, crossbar)},
            "routing": self.oblivious if routing == OBLIVIOUS else "adaptive",
            "nic": {"injection_vc": "shortest", "control": mechanism.control},
            "semantics": {"injection_link": queues.link},
        }

    def _router(self, mechanism: Mechanism, queues: Queues, crossbar: str) -> Document:
        return {
            "crossbar_inputs": crossbar,
            "vcs": {"network": self.vcs, "injection": queues.vcs},
            "buffers": {"network": BUFFER, "injection": queues.injection},
            "allocator": {
                "iterations": 1,
                "input_arbiter": mechanism.arbiter,
                "output_arbiter": mechanism.arbiter,
            },
        }


MESH = Network("mesh", {"mesh": {"sides": [SIDE, SIDE]}}, 2, {"minimal": {}})
TORUS = Network("torus", {"torus": {"sides": [SIDE, SIDE]}}, 2, {"minimal": {}})
FAT_TREE = Network("fat tree", {"fat_tree": {"k": 4, "levels": 3}}, 1, {"minimal": {"up": "source"}})


def notes(scale: Scale, lengths: Lengths) -> list[str]:
    """What is run, and what the paper leaves open."""
    lines = [
        f"{NODES} nodes, packets of {PACKET_LENGTH} phits, transit queues of {BUFFER} phits per VC; "
        f"{lengths.warmup:,} + {lengths.cycles:,} cycles."
    ]
    if scale == "quick":
        full = LENGTHS["full"]
        lines.append(
            "The paper warms up for 50,000 cycles and measures 5 batches of 10·N² packets, which take "
            f"{full.cycles:,} cycles at an accepted load of 0.2: --scale full."
        )
    return lines


OPEN = (
    "Not in the paper, so chosen: one cycle per router and link, one iteration of the allocator, an input "
    "of the crossbar for every VC (with one for every port the adaptive mesh saturates at 0.39 under uniform "
    "traffic, not near 0.45), and a node takes one phit per cycle."
)
