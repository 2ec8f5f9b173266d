"""The fabrics of figures 2 and 8, their flows, and congestion control as far as the paper tells it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hopsim_reproduce.model import Document, Scale

GRAN = "Gran et al., On the Relation Between Congestion Control, Switch Arbitration and Fairness, 2011"
CAPACITY = 13.0
"""Of the links of hosts [Gb/s]: the bottleneck is the link from the switch to H5."""
FLOWS: Mapping[str, tuple[str, str]] = {
    "f1": ("H1", "H4"),
    "f2": ("H2", "H5"),
    "f3": ("H3", "H5"),
    "f6": ("H6", "H5"),
    "f7": ("H7", "H5"),
}
"""Flow -> source and destination, in the order in which they begin."""
VICTIM, *CONTRIBUTORS = FLOWS
STAGE: Mapping[Scale, float] = {"quick": 0.2, "full": 1.0}
"""From one flow's begin to the next one's [s]."""
INTERVAL = 0.01
"""Of the time series [s]."""
SEEDS: Mapping[Scale, int] = {"quick": 8, "full": 8}


@dataclass(frozen=True)
class Topology:
    """A network, and which of its nodes the hosts are."""

    document: Document
    hosts: Mapping[str, int]


ONE_SWITCH = Topology(
    {"fat_tree": {"k": 7, "levels": 1}}, {f"H{number}": number - 1 for number in range(1, 8)}
)
"""Figure 2."""
TWO_SWITCHES = Topology(
    {"graph": {"edges": [{"between": [0, 1]}], "nodes_per_router": 4}},
    {"H1": 0, "H2": 1, "H3": 2, "H4": 4, "H5": 5, "H6": 6, "H7": 7},
)
"""Figure 8; node 3 is idle."""

HIGH = 9.0
"""The high threshold [packets]."""
DISTANCE = 3.1
"""Of the two thresholds [packets]: "a little more than 3 MTUs" (§IV.B)."""
ONE_THRESHOLD: Document = {"mode": "per_voq", "high": f"{HIGH:g} MTU", "low": f"{HIGH:g} MTU"}
TWO_THRESHOLDS: Document = {**ONE_THRESHOLD, "low": f"{HIGH - DISTANCE:g} MTU"}
COMMON: Document = {**TWO_THRESHOLDS, "mode": "common"}


def control(thresholds: Document, **keys: Any) -> Document:
    """Congestion control with these thresholds; what the paper does not tell is in the notes."""
    return {
        "thresholds": thresholds,
        "mark_point": "wire",
        "marking_rate": 1,
        "ccti_timer": 150,
        "cct": "simula",
        **keys,
    }


def seconds(time: float) -> str:
    """A time as documents write it."""
    return f"{time:g} s"


def flows(topology: Topology, stage: float) -> list[Document]:
    """The five flows, one more in every stage of so many seconds."""
    return [
        {
            "name": name,
            "source": topology.hosts[source],
            "destination": topology.hosts[destination],
            "start": seconds(number * stage),
        }
        for number, (name, (source, destination)) in enumerate(FLOWS.items())
    ]


def fabric(congestion_control: Document | None, **switch: Any) -> Document:
    """The router of all figures."""
    rules: Document = {
        "links": {"host": {"rate": f"{CAPACITY:g} Gb/s"}, "switch": {"rate": f"{2 * CAPACITY:g} Gb/s"}},
        "host": {"injection": "16 Gb/s", "drain": "16 Gb/s"},
        "switch": {"switching": "cut_through", **switch},
    }
    if congestion_control is not None:
        rules["congestion_control"] = congestion_control
    return {"infiniband": rules}


def document(
    topology: Topology, stage: float, congestion_control: Document | None, **switch: Any
) -> Document:
    """The five stages."""
    return {
        "topology": topology.document,
        "router": fabric(congestion_control, **switch),
        "jobs": [{"flows": flows(topology, stage)}],
        "measure": {
            "time": {
                "warmup": "0 s",
                "window": seconds(len(FLOWS) * stage),
                "interval": seconds(INTERVAL),
            },
            "streams": ["flow_series", "victims"],
        },
    }


NOTES = (
    "Links of hosts carry 13 Gb/s (the plateau of figure 3), that between switches twice as much (§V); hosts "
    "send and take more than that, so that the link to H5 is the bottleneck (§IV). Virtual cut-through "
    "(§III.A), packets of 2,048 bytes.",
)
UNTOLD = (
    "The paper prints neither buffers, nor the congestion control table, nor its timer, nor thresholds, "
    "nor when a packet is marked: here a table of 128 entries that grows with the square of the index, "
    f"increase 1, timer 150, a high threshold of {HIGH:g} packets, and marks when a packet goes onto the "
    "link. The threshold was chosen for figure 4, see there."
)
