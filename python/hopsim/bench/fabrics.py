"""Cases of InfiniBand fabrics: time per simulated second, and of a fat tree at full load."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hopsim.bench.cases import Case, Measure
from hopsim.bench.figures import Figure
from hopsim.bench.measure import Bench, Document

Network = tuple[Document, tuple[tuple[int, int], ...]]
"""Topology, and source and destination of flows that begin one after the other."""
ONE_SWITCH: Network = ({"fat_tree": {"k": 7, "levels": 1}}, ((0, 3), (1, 4), (2, 4), (5, 4), (6, 4)))
TWO_SWITCHES: Network = (
    {"graph": {"edges": [{"between": [0, 1]}], "nodes_per_router": 4}},
    ((0, 4), (1, 5), (2, 5), (6, 5), (7, 5)),
)
SECTION = "InfiniBand fabrics"
MB = 1e6
SHIFTS = (18, 36, 54, 72)
"""By so many nodes the flows of the fat tree go on: to other leaves, each to one node at a time."""


def cases() -> Iterator[Case]:
    """All cases."""
    yield Case(SECTION, "one switch, 5 s (Gran et al., figure 7)", _whole(_stages(ONE_SWITCH, 1), s=5.0))
    yield Case(SECTION, "two switches, 5 s (figure 12)", _whole(_stages(TWO_SWITCHES, 10), s=8.0))
    yield Case(SECTION, "fat tree of 648 nodes, full load, 10 ms", _whole(_tree(), s=60.0, mb=100.0))


def _stages(network: Network, marking_rate: int) -> Document:
    topology, pairs = network
    flows = [
        {"source": source, "destination": destination, "start": f"{number} s"}
        for number, (source, destination) in enumerate(pairs)
    ]
    control = {"marking_rate": marking_rate, "ccti_timer": 150 * marking_rate, "cct": "simula"}
    switch = {"switching": "store_and_forward"}
    return {
        "topology": topology,
        "router": {"infiniband": {"congestion_control": control, "switch": switch}},
        "jobs": [{"flows": flows}],
        "measure": {"time": {"warmup": "0 s", "window": "5 s"}},
    }


def _tree() -> Document:
    edges = [{"between": [leaf, 36 + spine]} for leaf in range(36) for spine in range(18)]
    topology = {"graph": {"edges": edges, "nodes_per_router": 18, "routers_with_nodes": 36}}
    flows: list[dict[str, Any]] = [
        {"source": node, "destination": (node + shift) % 648} for node in range(648) for shift in SHIFTS
    ]
    return {
        "topology": topology,
        "router": {"infiniband": {"forwarding": "min_hop", "congestion_control": {}}},
        "jobs": [{"flows": flows}],
        "measure": {"time": {"warmup": "0 s", "window": "10 ms"}},
    }


def _whole(experiment: Document, *, s: float, mb: float | None = None) -> Measure:
    """CPU time of the run, that of a grant, and memory, with their targets."""

    def measure(case: Case, bench: Bench) -> Iterator[Figure]:
        usage, hops = bench.program(experiment, None)
        yield Figure(case.name, "CPU time", "s", usage.cpu_s, s, f"{hops / 1e6:,.2f} M grants")
        yield Figure(case.name, "time per grant", "ns", usage.cpu_s / hops * 1e9)
        yield Figure(case.name, "peak memory", "MB", usage.peak_bytes / MB, mb)

    return measure
