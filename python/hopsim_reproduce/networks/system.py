"""The routers and traffic that these networks are run with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hopsim_reproduce.model import Document, Scale

SEEDS: Mapping[Scale, int] = {"quick": 1, "full": 3}
MINIMAL, VALIANT, UGAL = "MIN", "VAL", "UGAL-L"


def routings(**ugal: str) -> Mapping[str, tuple[Document, Document]]:
    """Line -> routing, and keys of its VCs; `ugal` are further keys of UGAL, which draws four detours.

    Minimal paths have two links at most. With FlexVC they use all four VCs, as in BookSim.
    """
    return {
        MINIMAL: ({"minimal": {}}, {"discipline": "by_hop", "management": "flexvc"}),
        VALIANT: ({"valiant": {}}, {}),
        UGAL: ({"ugal": {"detours": 4, **ugal}}, {}),
    }


@dataclass(frozen=True)
class Network:
    """A network of virtual-channel routers as the authors of Slim Fly and PolarFly set up BookSim."""

    topology: Document
    routing: Document
    pattern: Document | str
    vcs: Document = field(default_factory=dict[str, Any])
    """Keys of the section beside the number of VCs."""
    storage: int = 128
    """Behind every link, divided evenly among its four VCs [flits]."""
    packet_length: int = 4
    """[flits]"""
    cycles: tuple[int, int] = (3_000, 5_000)
    """Warm-up and window."""

    def document(self) -> Document:
        """The experiment without its load and seed."""
        buffer = self.storage // 4
        router = {
            "vcs": {"network": 4, "injection": 4, **self.vcs},
            "buffers": {"network": buffer, "injection": buffer, "ejection": buffer, "output": 128},
            "routing_delay": 1,
            "vc_allocation_delay": 1,
            "switch_traversal_delay": 1,
            "credit_delay": 2,
            "speedup": 2,
        }
        warmup, cycles = self.cycles
        return {
            "compat": "booksim",
            "topology": self.topology,
            "links": {"injection": {"latency": 2}, "network": {"latency": 2}},
            "router": {"virtual_channel": router},
            "routing": self.routing,
            "jobs": [{"traffic": {"pattern": self.pattern, "packet_length": self.packet_length}}],
            "measure": {"warmup": warmup, "cycles": cycles},
        }
