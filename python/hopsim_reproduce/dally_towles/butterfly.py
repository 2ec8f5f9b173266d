"""Dally's own networks: butterflies of 2×2 switches whose links have 1 to 16 lanes, which are VCs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from hopsim_reproduce.claims import Value, at_end, at_place, at_start, between, ratio
from hopsim_reproduce.dally_towles.system import (
    DALLY,
    MORE,
    PACKET_LENGTH,
    STORAGE,
    Lengths,
    Router,
    divided,
    over,
    rises,
)
from hopsim_reproduce.figure import Claim, Figure, Number
from hopsim_reproduce.model import AGREES, Comparison, Document, Entry, Scale
from hopsim_reproduce.panels import LATENCY, OF_SENDERS, Case, Line, Panel

LANES = (1, 2, 4, 8, 16)
STAGES: Mapping[Scale, int] = {"quick": 6, "full": 8}
DEPTHS: Mapping[Scale, Sequence[int]] = {"quick": (2, 4, 6), "full": (2, 4, 6, 8)}
LENGTHS: Mapping[Scale, Lengths] = {"quick": Lengths(2_000, 5_000), "full": Lengths(3_000, 10_000)}
SEEDS: Mapping[Scale, int] = {"quick": 1, "full": 3}
LOADS = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
MEDIUM = 0.2
"""A load that one lane carries."""
ROUTER = Router(routing=0, vc_allocation=1, traversal=0, crossbar_inputs="vc")
FAN_OUT = 16
"""Most routers below one of those that only say which way is up."""
X_LABEL = "offered load [phits/(source·cycle)]"
OF_LANES = f"{STORAGE} flits behind every link"
OF_STAGES = f"{OF_LANES}, full load"
GAIN = 3.5
"""By which lanes multiply the throughput (abstract of 1990)."""
GAIN_OF_TEN_STAGES = 4.0
"""The same of ten stages (abstract of 1992)."""


def name(lanes: int) -> str:
    """Of a line."""
    return "1 lane" if lanes == 1 else f"{lanes} lanes"


def edges(stages: int) -> tuple[int, list[tuple[int, int]]]:
    """Root and links of a butterfly with 2^stages sources and as many sinks, as a graph.

    The last stage has the first routers, whose nodes are the sinks, and the first one those behind it, whose
    nodes are the sources. Behind all stages is a tree above the first stage, so that all links of the
    butterfly lead down from it and packets may take any lane; it is on no shortest path.
    """
    rows = 2 ** (stages - 1)
    number = [rows * (1 + stage) for stage in range(stages - 1)] + [0]
    links = [
        (number[stage] + row, number[stage + 1] + other)
        for stage in range(stages - 1)
        for row in range(rows)
        for other in (row, row ^ (1 << stage))
    ]
    above, free = list(range(number[0], number[0] + rows)), stages * rows
    while len(above) > 1:
        below, above = above, []
        for first in range(0, len(below), FAN_OUT):
            links += [(free, router) for router in below[first : first + FAN_OUT]]
            above.append(free)
            free += 1
    return above[0], links


def document(stages: int, lanes: int, scale: Scale) -> Document:
    """The experiment without its load and seed."""
    root, links = edges(stages)
    sinks = 2**stages
    return {
        "topology": {
            "graph": {
                "edges": [{"between": list(link)} for link in links],
                "nodes_per_router": 2,
                "routers_with_nodes": sinks,
            }
        },
        "links": {"network": {"latency": 1}},
        "router": ROUTER.document(lanes, divided(lanes)),
        "routing": {"up_down": {"root": root}},
        "jobs": [
            {
                "traffic": {
                    "packet_length": PACKET_LENGTH,
                    "pattern": {"hot_region": {"fraction": 1.0, "share": 0.5}},
                    "node_loads": {"listed": [{"nodes": list(range(sinks)), "load": 0.0}]},
                }
            }
        ],
        "measure": LENGTHS[scale].measure(),
    }


def _case(stages: int, lanes: int, scale: Scale, load: float) -> Case:
    return Case(f"{stages}-stages-{lanes}-lanes", document(stages, lanes, scale), load)


def _by_load(scale: Scale) -> list[Panel]:
    stages = STAGES[scale]
    lines: dict[str, Line] = {
        name(lanes): {load: _case(stages, lanes, scale, load) for load in LOADS} for lanes in LANES
    }
    return [Panel(OF_LANES, lines, X_LABEL)]


def _by_depth(scale: Scale) -> list[Panel]:
    lines: dict[str, Line] = {
        name(lanes): {float(stages): _case(stages, lanes, scale, 1.0) for stages in DEPTHS[scale]}
        for lanes in LANES
    }
    return [Panel(OF_STAGES, lines, "stages")]


def _saturated(lanes: int) -> Value:
    return Value(f"{name(lanes)} at full load", at_end(OF_LANES, name(lanes), OF_SENDERS).of)


def _claims_of_lanes() -> Iterator[Claim]:
    yield from rises([_saturated(lanes) for lanes in LANES], [name(lanes) for lanes in LANES], "same storage")
    yield between("with one lane the network accepts 20 to 50 % of its capacity", _saturated(1), 0.2, 0.5)
    yield between("with lanes it comes near its capacity", _saturated(LANES[-1]), 0.75, 1.0)
    yield ratio(
        "at a medium load more lanes of the same storage mean more latency",
        at_place(OF_LANES, name(LANES[-1]), MEDIUM, LATENCY),
        at_place(OF_LANES, name(1), MEDIUM, LATENCY),
        MORE,
    )


def _gain(value: Value, published: float, row: str, only: str = "") -> Number:
    """By how much lanes multiply the throughput."""
    allowed = None if only else AGREES * published
    return lambda points: Comparison(
        row, "throughput over that of 1 lane", value.of(points), published, 2, allowed=allowed, only=only
    )


def _at_depth(place: str, lanes: int) -> Value:
    read = at_start if place == "first" else at_end
    return read(OF_STAGES, name(lanes), OF_SENDERS)


def _kept(lanes: int) -> Value:
    """Throughput of the deepest network over that of the flattest."""
    return over(_at_depth("last", lanes), _at_depth("first", lanes), f"deepest / flattest, {name(lanes)}")


def _claims_of_stages() -> Iterator[Claim]:
    yield between("with one lane deeper networks accept less", _kept(1), high=1 / MORE)
    most = LANES[-1]
    yield ratio("with lanes throughput depends less on the depth", _kept(most), _kept(1), 1.1)
    gains = [
        over(_at_depth(place, most), _at_depth(place, 1), f"{name(most)} / 1 lane, {where}")
        for place, where in (("last", "deepest"), ("first", "flattest"))
    ]
    yield ratio("lanes gain more in deeper networks", gains[0], gains[1], 1.1)


def _notes(scale: Scale, what: str) -> list[str]:
    lengths = LENGTHS[scale]
    return [
        f"{what}; {STORAGE} flits behind every link, divided evenly among the lanes; packets of "
        f"{PACKET_LENGTH} flits to sinks drawn at random; {lengths.warmup:,} + {lengths.cycles:,} cycles. "
        "The capacity is one flit per source and cycle.",
        "Of the papers the abstracts and the beginning of that of 1990 were at hand, and the reading guide "
        "of a course (Cornell, ECE 5970), which has the length of packets and what figures 16 and 19 show. "
        "Assumed: the storage, a cycle per switch and one per link, and an input of the crossbar for every "
        "lane.",
    ]


def entries() -> list[Entry]:
    """Throughput and latency by lanes, and throughput by depth."""
    last = LANES[-1]
    of_ten = (
        "the abstract has it of ten stages, which are 5,120 routers, more than a graph may have here; this "
        "is of the deepest network that is run"
    )
    return [
        Figure(
            name="dally-lanes",
            title="Butterfly of 2×2 switches by load and number of lanes",
            source=DALLY,
            panels=_by_load,
            notes=lambda scale: _notes(scale, f"{STAGES[scale]} stages, {2 ** STAGES[scale]} sources"),
            seeds=SEEDS,
            claims=tuple(_claims_of_lanes()),
            numbers=(_gain(over(_saturated(last), _saturated(1), ""), GAIN, name(last)),),
            quantities=(LATENCY, OF_SENDERS),
            trimmed=True,
        ).entry(),
        Figure(
            name="dally-stages",
            title="Throughput of butterflies by depth and number of lanes",
            source=DALLY,
            panels=_by_depth,
            notes=lambda scale: _notes(scale, f"{DEPTHS[scale][0]} to {DEPTHS[scale][-1]} stages, full load"),
            seeds=SEEDS,
            claims=tuple(_claims_of_stages()),
            numbers=(
                _gain(
                    over(_at_depth("last", last), _at_depth("last", 1), ""),
                    GAIN_OF_TEN_STAGES,
                    name(last),
                    of_ten,
                ),
            ),
            quantities=(OF_SENDERS,),
        ).entry(),
    ]
