"""Jellyfish and a fat tree of the same switches: with a quarter more servers, what does each server get?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from hopsim_reproduce.claims import at_end, ratio
from hopsim_reproduce.figure import Claim, Figure
from hopsim_reproduce.model import Document, Entry, Scale
from hopsim_reproduce.panels import ACCEPTED, Case, Line, Panel

SINGLA = (
    "A. Singla, C.-Y. Hong, L. Popa, P. B. Godfrey, Jellyfish: networking data centers randomly, NSDI 2012"
)
PORTS: Mapping[Scale, int] = {"quick": 8, "full": 16}
"""Of a switch, a multiple of 4."""
SEEDS: Mapping[Scale, int] = {"quick": 2, "full": 5}
PANEL = "random permutation, a quarter more servers on the same switches"
TREE_BY_FLOW, TREE_BY_PACKET, TREE_BY_LOAD = (
    f"fat tree, {how}" for how in ("by flow", "by packet", "by load")
)
BY_FLOW, BY_PACKET, BY_LOAD = (f"jellyfish, {how}" for how in ("by flow", "by packet", "by load"))
LOADS = (0.2, 0.4, 0.6, 0.8, 1.0)
VCS = 16


def _topology(line: str, ports: int) -> Document:
    """5/4 ports² switches: a fat tree of ports³/4 servers, or a random graph of 5/4 as many."""
    half = ports // 2
    if line.startswith("fat tree"):
        return {"xgft": {"children": [half, half, ports], "parents": [1, half, half]}}
    nodes = ports // 4
    graph = {"routers": 5 * ports**2 // 4, "degree": ports - nodes, "seed": 1, "nodes_per_router": nodes}
    return {"jellyfish": graph}


ROUTINGS: Mapping[str, Document] = {
    TREE_BY_FLOW: {"ecmp": {"by": "flow"}},
    TREE_BY_PACKET: {"ecmp": {}},
    TREE_BY_LOAD: {"adaptive": {}},
    BY_FLOW: {"ecmp": {"by": "flow"}},
    BY_PACKET: {"k_shortest_paths": {"k": 8}},
    BY_LOAD: {"polarized": {}},
}
"""Line -> routing: a path for a flow, a path for a packet, or links by what is outstanding behind them."""


def _document(line: str, scale: Scale) -> Document:
    return {
        "topology": _topology(line, PORTS[scale]),
        "router": {"cioq": {"vcs": {"network": VCS}, "buffers": {"network": 128}}},
        "routing": ROUTINGS[line],
        "jobs": [{"traffic": {"packet_length": 8, "pattern": "random_permutation"}}],
        "measure": {"warmup": 3_000, "cycles": 5_000},
    }


def _panels(scale: Scale) -> list[Panel]:
    def line(number: int, name: str) -> Line:
        return {load: Case(f"line-{number}", _document(name, scale), load) for load in LOADS}

    return [Panel(PANEL, {name: line(number, name) for number, name in enumerate(ROUTINGS)})]


def _claims() -> Iterator[Claim]:
    for how, jellyfish, tree in (
        ("with a path for every flow", BY_FLOW, TREE_BY_FLOW),
        ("with packets spread evenly", BY_PACKET, TREE_BY_PACKET),
        ("with packets spread by load", BY_LOAD, TREE_BY_LOAD),
    ):
        pair = at_end(PANEL, jellyfish), at_end(PANEL, tree)
        yield ratio(f"{how} a server gets no less than in the fat tree", *pair, low=1.0)


def _notes(scale: Scale) -> list[str]:
    ports = PORTS[scale]
    switches, servers = 5 * ports**2 // 4, ports**3 // 4
    return [
        f"{switches} switches of {ports} ports: a fat tree of {servers} servers, a Jellyfish of "
        f"{servers * 5 // 4}. Every server sends to one other one.",
        "In the paper flows are divided among eight shortest paths by MPTCP, so that none is crowded. Here a "
        "flow takes one path, or its packets are spread over shortest or eight paths evenly, or by what is "
        "outstanding behind links (adaptive in the fat tree, polarized in the Jellyfish).",
    ]


def entries() -> list[Entry]:
    """Throughput of both."""
    figure = Figure(
        name="networks-jellyfish",
        title="Jellyfish with a quarter more servers than a fat tree of the same switches",
        source=f"{SINGLA}, abstract and evaluation",
        panels=_panels,
        notes=_notes,
        seeds=SEEDS,
        claims=tuple(_claims()),
        quantities=(ACCEPTED,),
    )
    return [figure.entry()]
