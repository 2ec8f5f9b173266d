"""Routers of the paper: rings and tori with an escape VC, and local buffer restriction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hopsim.results.result import Result
from hopsim_reproduce.model import Document, Measured

RIDRUEJO = "F. J. Ridruejo et al., Realistic evaluation of interconnection network performance at high loads"
PACKET_LENGTH = 16
"""[phits]"""
QUEUE = 4 * PACKET_LENGTH
"""Of a transit VC and of an injection port [phits]."""
RESERVED = 3
"""Packets that LBR leaves room for: B."""
CONTROLS: Mapping[str, Document] = {"base": {"none": {}}, "LBR": {"lbr": {"packets": RESERVED}}}
RING: Document = {"ring": {"routers": 64}}
NOTE = (
    "3 VCs of 4 packets of 16 phits, one of them the escape VC with the bubble; two injection "
    "ports of 4 packets, by direction; nodes consume all packets that arrive at once. "
    f"B = {RESERVED} for LBR."
)
HOSTS = "Computations take no time, a send ends when it has left the node, all packets are full."
CHOSEN = (
    "Not in the paper, so chosen: one cycle per router and link, round-robin arbitration in one "
    "iteration, an input of the crossbar for every port (the caption of figure 1 has the three VCs of a port "
    "share its link, and does not say whether they share the input of the crossbar)"
)


def network(topology: Document, control: str) -> Document:
    """All of an experiment but jobs and measurement."""
    return {
        "topology": topology,
        "links": {"network": {"latency": 1}},
        "router": {
            "input_queued": {
                "vcs": {"network": 3, "injection": 2},
                "buffers": {"network": QUEUE, "injection": QUEUE},
                "allocator": {"iterations": 1},
                "consumption": "parallel",
                "crossbar_inputs": "port",
            }
        },
        "routing": "adaptive",
        "nic": {"injection_ports": 2, "injection_vc": "direction", "control": CONTROLS[control]},
        "semantics": {"injection_link": "unlimited"},
    }


def relative(own: Sequence[Result], base: Sequence[Result], key: str) -> Measured:
    """A metric of runs over that of the base case with the same seed."""
    pairs = zip(own, base, strict=True)
    return Measured.of([first.summary[key] / second.summary[key] for first, second in pairs])


def running(topology: Document, control: str, program: Document, streams: Sequence[str] = ()) -> Document:
    """An experiment in which each node runs a rank of a program whose computations take no time."""
    host: Document = {
        "cpu_speed": "infinite",
        "packet_length": PACKET_LENGTH,
        "last_packet": "full",
        "send_completes": "injected",
    }
    return {
        **network(topology, control),
        "units": {"cycle": "1 ns", "phit": "4 B"},
        "jobs": [{"program": program, "host": host}],
        "measure": {"streams": list(streams)} if streams else {},
    }
