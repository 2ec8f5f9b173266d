"""Table 2 and figure 3 with virtual-channel routers, in which packets move flit by flit as in BookSim.

The paper took both with BookSim and prints no setting of it but the network, the routing and the patterns.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hopsim_reproduce.izu import table
from hopsim_reproduce.izu.system import BATCHES, MESH, QUEUE, Mechanism
from hopsim_reproduce.izu.traffic import PATTERNS
from hopsim_reproduce.model import Document, Entry, Scale

VCS, BUFFER, PACKET_LENGTH = 8, 2, 1
"""Of a port, flits of a VC, and flits of a packet: fitted, see the notes."""
SOURCE_QUEUES: Mapping[str, Any] = {
    table.IDEAL: "unbounded",
    table.FINITE: {"packets": QUEUE},
    table.INJECTION: {"packets": 1},
}
"""Column -> queue of the NIC: a packet is generated, and gets its stamp, when it joins it."""


def _notes(scale: Scale) -> list[str]:
    lengths = table.LENGTHS[scale]
    return [
        f"8×8 mesh, DOR, full load, virtual-channel routers of {VCS} VCs of {BUFFER} flits, packets of one "
        f"flit; {lengths.warmup:,} + {lengths.cycles:,} cycles.",
        "The paper prints neither VCs, buffers nor the length of a packet. Of 24 pairs of VCs (2 to 16) and "
        "flits per VC (1 to 16) this one has the least error over the twelve figures but for 5 × 3 and "
        "6 × 2, whose VCs are no power of two: 6 %. Larger buffers make the queue of 24 and the injection "
        "time worse, as more packets then wait in front of the crossbar in the order in which they came; "
        "with 2 VCs, or buffers of one flit, the ideal stamp comes out too low, too.",
        "Ideal: stamped at generation, unbounded queue. Queue of 24: the same, generation stands still "
        "while 24 packets wait. Injection time: stamped when the NIC lets go of a packet.",
    ]


def _document(mechanism: Mechanism, pattern: str, stamp: str, scale: Scale) -> Document:
    lengths = table.LENGTHS[scale]
    return {
        "topology": MESH.topology,
        "links": {"network": {"latency": 1}},
        "router": {
            "virtual_channel": {
                "vcs": {"network": VCS, "injection": VCS},
                "buffers": {"network": BUFFER, "injection": BUFFER},
                "arbiter": mechanism.arbiter,
            }
        },
        "routing": MESH.oblivious,
        "nic": {
            "injection_vc": "shortest",
            "source_queue": SOURCE_QUEUES[stamp],
            "when_full": "wait",
        },
        "jobs": [{"traffic": {"packet_length": PACKET_LENGTH, "pattern": PATTERNS[pattern]}}],
        "measure": {
            "warmup": lengths.warmup,
            "cycles": lengths.cycles,
            "batches": BATCHES,
            "streams": ["nodes"],
        },
    }


FLITS = table.Routers("-flits", ", flit by flit", _document, _notes)


def entries() -> list[Entry]:
    """The table and the figure."""
    return table.entries_of(FLITS)
