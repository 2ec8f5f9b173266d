"""What chapter 2 simulates: searches of Graph500 on the networks of table 2.4."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hopsim_reproduce.model import Document, Scale
from hopsim_reproduce.thesis.routing import oblivious

QUERY_TIME = "jobs.0.program.graph500.query_time"
"""Axis of the experiments [ns]."""
EDGEFACTOR, COALESCING = 16, 256
PHIT_BYTES = 8
PACKET = 512
"""A message of 256 queries of 16 B [phits]."""
KILOBYTE = 1024 // PHIT_BYTES
"""[phits]"""
BUFFERS: Document = {
    "local": 16 * KILOBYTE,
    "output": 16 * KILOBYTE,
    "global": 128 * KILOBYTE,
    "injection": 128 * KILOBYTE,
}
LATENCIES: Mapping[str, int] = {"local": 50, "global": 500}
"""Of links [cycles]."""
CROSSBAR = 200
"""[cycles]"""
MIN, VAL, VAL_GROUP = "MIN", "VAL", "VAL-group"
ROUTINGS: Mapping[str, tuple[Any, Document]] = {
    MIN: ("minimal", {"local": 2, "global": 1}),
    VAL: (oblivious("rrg"), {"local": 4, "global": 2}),
    VAL_GROUP: (
        {"valiant": {"intermediate": "group", "policy": "rrg", "intra_group": "minimal"}},
        {"local": 4, "global": 2},
    ),
}
"""Routing and VCs by their names in the thesis: its VAL goes through a random router (section 1.4.1.2). The
public source of FOGSim, whose searches `verify` compares with, goes through a group and calls that VAL."""
FOGSIM: Document = {"equations": "fogsim", "generation": "link", "signals": "full"}
"""How the public source of FOGSim searches."""
SCALES: Mapping[Scale, int] = {"quick": 20, "full": 26}


@dataclass(frozen=True)
class Layout:
    """Where the processes of a search run, one per node, and how their messages are routed."""

    h: int
    routing: str
    groups: int = 0
    """First groups of the network that run processes; 0: all."""

    @property
    def a(self) -> int:
        """Routers of a group."""
        return 2 * self.h

    @property
    def ranks(self) -> int:
        """Processes."""
        return self.h * self.a * (self.groups or self.a * self.h + 1)

    @property
    def title(self) -> str:
        """Of a curve."""
        where = f"{self.groups} groups of h = {self.h}" if self.groups else f"h = {self.h}"
        return f"{self.ranks} ranks, {where}, {self.routing}"

    def document(
        self, search: Document, cycle: str, *, slower_links: int = 1, streams: Sequence[str] = ()
    ) -> Document:
        """A search without its seed; a cycle is the time of a phit on a link."""
        routing, vcs = ROUTINGS[self.routing]
        job: Document = {
            "program": {"graph500": {"edgefactor": EDGEFACTOR, "coalescing": COALESCING, **search}},
            # All packets of FOGSim are full.
            "host": {"packet_length": PACKET, "last_packet": "full"},
        }
        if self.groups:
            job["placement"] = {"groups": {"first": 0, "count": self.groups}}
        return {
            "compat": "fogsim",
            "units": {"cycle": cycle, "phit": f"{PHIT_BYTES} B"},
            "topology": {"dragonfly": {"p": self.h, "a": self.a, "h": self.h, "arrangement": "palmtree"}},
            "links": {
                "injection": {"latency": 1},
                **{name: {"latency": slower_links * cycles} for name, cycles in LATENCIES.items()},
            },
            "router": {"cioq": _router(vcs)},
            "routing": routing,
            "jobs": [job],
            "measure": {"streams": list(streams)},
        }


def _router(vcs: Document) -> Document:
    arbiter = "least_recently_served"
    return {
        "vcs": {**vcs, "injection": 3},
        "buffers": BUFFERS,
        "speedup": 2,
        "crossbar_latency": CROSSBAR,
        "allocator": {"iterations": 2, "input_arbiter": arbiter, "output_arbiter": arbiter},
    }


def ideal(search: Document, ranks: int) -> Document:
    """A search on a network that takes no time: what is sent does not depend on it."""
    return {
        "units": {"cycle": "1 ns", "phit": f"{PHIT_BYTES} B"},
        "topology": {"ideal": {"nodes": ranks, "latency": 1, "cycles_per_phit": 0}},
        "jobs": [{"program": {"graph500": search}, "host": {"packet_length": PACKET}}],
        "measure": {},
    }
