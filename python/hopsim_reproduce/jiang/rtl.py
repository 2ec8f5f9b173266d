"""A 3×3 mesh with one VC: hopsim's rules and BookSim's, no farther apart than BookSim and hardware."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from hopsim_reproduce.claims import Value, at_end, at_place, between, ratio
from hopsim_reproduce.figure import Claim, Figure
from hopsim_reproduce.model import Document, Entry, Scale
from hopsim_reproduce.panels import ACCEPTED, LATENCY, Case, Line, Panel

JIANG = "N. Jiang et al., A detailed and flexible cycle-accurate Network-on-Chip simulator, ISPASS 2013"
SIDE, PACKET_LENGTH, BUFFER = 3, 4, 16
"""Buffer of a link with its one VC, and packets [flits]."""
WARMUP = 10_000
CYCLES: Mapping[Scale, int] = {"quick": 20_000, "full": 100_000}
SEEDS: Mapping[Scale, int] = {"quick": 2, "full": 5}
LOADS = (0.01, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.8, 1.0)
BELOW, BEYOND = (0.05, 0.1, 0.2, 0.3, 0.4), (0.5, 0.6, 0.8, 1.0)
"""Loads at which latencies are judged, and further ones at which the accepted load is."""
OF_LATENCY, OF_THROUGHPUT = 0.05, 0.03
"""The greatest differences between BookSim and the hardware that the paper prints."""
PANEL = "3×3 mesh, uniform traffic"
OURS, BOOKSIM = "hopsim's rules", "BookSim's rules"
ROUTER_DELAY = 3
HOPS = 2 * (SIDE**2 - 1) / (3 * SIDE)
"""Mean distance where nodes send to themselves, too."""
ZERO_LOAD = (HOPS + 1) * (ROUTER_DELAY + 1) + PACKET_LENGTH


def document(rules: str, scale: Scale) -> Document:
    """The experiment without its load and seed."""
    one = {"network": 1, "injection": 1}
    shared: Document = {
        "topology": {"mesh": {"sides": [SIDE, SIDE]}},
        "links": {"network": {"latency": 1}},
        "router": {
            "virtual_channel": {"vcs": one, "buffers": {"network": BUFFER, "injection": BUFFER}},
        },
        "routing": {"minimal": {}},
        "jobs": [{"traffic": {"packet_length": PACKET_LENGTH, "pattern": "uniform"}}],
        "measure": {"warmup": WARMUP, "cycles": CYCLES[scale]},
    }
    if rules == BOOKSIM:
        return {**shared, "compat": "booksim"}
    # As BookSim's nodes do, or else the two would be of different traffic.
    return {**shared, "semantics": {"self_traffic": "router"}}


def _panels(scale: Scale) -> list[Panel]:
    lines: dict[str, Line] = {
        rules: {load: Case(experiment, document(rules, scale), load) for load in LOADS}
        for rules, experiment in ((OURS, "hopsim"), (BOOKSIM, "booksim"))
    }
    return [Panel(PANEL, lines)]


def _read(rules: str, load: float, key: str) -> Value:
    return at_place(PANEL, rules, load, key)


def _claims() -> Iterator[Claim]:
    for load in BELOW:
        yield ratio(
            f"at a load of {load:g} latencies differ by at most 5 %",
            _read(OURS, load, LATENCY),
            _read(BOOKSIM, load, LATENCY),
            1 - OF_LATENCY,
            1 + OF_LATENCY,
        )
    for load in (*BELOW, *BEYOND):
        yield ratio(
            f"at a load of {load:g} accepted loads differ by at most 3 %",
            _read(OURS, load, ACCEPTED),
            _read(BOOKSIM, load, ACCEPTED),
            1 - OF_THROUGHPUT,
            1 + OF_THROUGHPUT,
        )
    for rules in (OURS, BOOKSIM):
        yield between(
            f"{rules}: at the lowest load the latency is that of a packet alone",
            Value(f"{rules} at a load of {LOADS[0]:g}", _read(rules, LOADS[0], LATENCY).of),
            0.97 * ZERO_LOAD,
            1.03 * ZERO_LOAD,
        )
    yield between("saturated, the mesh accepts less than 1", at_end(PANEL, BOOKSIM), 0.4, 0.95)


def _notes(scale: Scale) -> list[str]:
    return [
        f"{SIDE}×{SIDE} mesh, one VC of {BUFFER} flits, packets of {PACKET_LENGTH} flits, uniform traffic, "
        f"{CYCLES[scale]:,} cycles: the network on which the paper compares BookSim with routers described "
        "for hardware. Assumed: dimension-order routing, and a router of three cycles.",
        "The paper was not at hand. Its network, and that BookSim and the hardware differ by at most 5 % "
        "in latency and 3 % in accepted load, are as public notes quote them; no value of its curves is. "
        "So these statements are ours: hopsim's own rules are as close to BookSim's as BookSim is to "
        'hardware. What hopsim does with compat = "booksim" is compared with BookSim itself by `make '
        "verify`, flit by flit.",
    ]


def entries() -> list[Entry]:
    """The mesh."""
    return [
        Figure(
            name="jiang-rtl-mesh",
            title="3×3 mesh with one VC, by hopsim's rules and by BookSim's",
            source=f"{JIANG}, validation",
            panels=_panels,
            notes=_notes,
            seeds=SEEDS,
            claims=tuple(_claims()),
            trimmed=True,
        ).entry()
    ]
