"""Figures 5.9 to 5.14: requests and replies, source-adaptive and in-transit routing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from hopsim_reproduce.claims import at_end, at_place, between, gain, latencies, peak, peaks, ratio
from hopsim_reproduce.model import Document, Entry, Scale
from hopsim_reproduce.panels import ACCEPTED, Panel
from hopsim_reproduce.thesis.behaviour import PUBLISHED, TEXTBOOK, Behaviour
from hopsim_reproduce.thesis.flexvc import (
    ADVERSARIAL,
    FLEXVC_NOTE,
    PATTERNS,
    RECOMPUTE_NOTE,
    UNIFORM,
    VALIANT,
    Split,
    explanation,
    panel,
    split_name,
    splitting,
)
from hopsim_reproduce.thesis.lines import figure, over_load
from hopsim_reproduce.thesis.network import CURVES
from hopsim_reproduce.thesis.routing import (
    FACTOR,
    MINCRED_PER_PORT,
    MINCRED_PER_VC,
    MINIMAL,
    PER_PORT,
    PER_VC,
    T_GLOBAL,
    congestion,
    contention,
    in_transit,
    oblivious,
    source_adaptive,
)
from hopsim_reproduce.thesis.system import Channels, System, damq, flexvc, increasing
from hopsim_reproduce.thesis.traffic import ADV1, Traffic, requests

CONTENTION_THRESHOLD: Mapping[Scale, int] = {"quick": 4, "full": 6}
"""Packets (figure 5.14)."""
SATURATION: Mapping[Scale, int] = {"quick": 2, "full": T_GLOBAL}
"""Packets above F times the mean of a router's h global links at which one of them is saturated. If all
others are idle, a link is from T / (1 - F / h) packets on: with h = 3, T = 2 gives the 3.5 or so that T = 3
gives with h = 8."""
SATURATION_NOTE = (
    f"PB marks a global link as saturated {SATURATION['full']} packets above {FACTOR:g} times the mean in "
    f"the full network, {SATURATION['quick']} in the small one: the fewer links there are, the more each "
    "adds to the mean."
)
MIN_REQUESTS = System("MIN", MINIMAL, increasing(4, 2))
VAL_REQUESTS = System("VAL", VALIANT, increasing(8, 4))
SPLITS: Sequence[Split] = (
    (2, 1, 2, 1),
    (2, 1, 3, 2),
    (2, 1, 4, 3),
    (3, 2, 2, 1),
    (3, 2, 3, 2),
    (4, 3, 2, 1),
)
"""Local and global VCs for requests, then for replies, of figure 5.9."""
VALIANT_SPLITS: Sequence[Split] = ((4, 2, 4, 2), (6, 4, 4, 2))
"""The same for Valiant routing; the thesis' text does not list them. A reply that cannot return to its
minimal path needs VCs for the whole detour."""


def _split(routing: Document, split: Split) -> System:
    return System(f"FlexVC {split_name(split)}", routing, splitting(split))


def _oblivious(traffic: Traffic) -> System:
    return VAL_REQUESTS if traffic is ADV1 else MIN_REQUESTS


def _panels(systems: Sequence[System], scale: Scale) -> list[Panel]:
    """The three patterns as requests; the oblivious reference of each pattern comes first."""
    return [panel(requests(traffic), [_oblivious(traffic), *systems], scale) for traffic in PATTERNS]


def _split_lines(traffic: Traffic) -> list[System]:
    base = _oblivious(traffic)
    return [
        base.with_(name="baseline"),
        base.with_(name="DAMQ 75 %", buffers=damq(base.channels)),
        *(_split(base.routing, split) for split in (VALIANT_SPLITS if traffic is ADV1 else SPLITS)),
    ]


def _request_reply(scale: Scale) -> list[Panel]:
    """Figure 5.9: increasing VCs and DAMQ with twice the VCs of one way, FlexVC by its split."""
    return [panel(requests(traffic), _split_lines(traffic), scale) for traffic in PATTERNS]


FEW, MANY = (f"FlexVC {split_name(split)}" for split in (SPLITS[0], SPLITS[-1]))
REQUEST_NUMBERS = (
    gain(FEW, "throughput at full load against MIN", (at_end("UN", FEW), at_end("UN", "baseline")), 24.6),
    gain(FEW, "throughput at full load against DAMQ", (at_end("UN", FEW), at_end("UN", "DAMQ 75 %")), 17.9),
    gain(MANY, "peak against MIN", (peak("UN", MANY), peak("UN", "baseline")), 23.7),
)
REQUEST_CLAIMS = (
    ratio(
        "UN: the baseline is congested beyond its peak",
        at_end("UN", "baseline"),
        peak("UN", "baseline"),
        high=0.99,
    ),
    ratio(f"UN: {MANY} loses less than 2 % beyond its peak", at_end("UN", MANY), peak("UN", MANY), 0.98),
    *(
        peaks(
            "UN: VCs for requests count, not all VCs",
            "UN",
            (f"FlexVC {split_name(more)}", f"FlexVC {split_name(less)}"),
            1.0,
        )
        for more, less in ((SPLITS[3], SPLITS[1]), (SPLITS[3], SPLITS[2]), (SPLITS[5], SPLITS[4]))
    ),
)

SENSINGS = {
    "per-VC": PER_VC,
    "per-port": PER_PORT,
    "minCred-per-VC": MINCRED_PER_VC,
    "minCred-per-port": MINCRED_PER_PORT,
}
BASE_SENSINGS = ("per-VC", "per-port")


def _routing(
    scale: Scale,
    sensing: Document = PER_VC,
    *,
    recompute: bool = True,
    behaviour: Behaviour = PUBLISHED,
) -> Document:
    """PB."""
    return source_adaptive(
        "rrg",
        behaviour=behaviour,
        sensing=sensing,
        recompute=recompute,
        saturation_threshold=SATURATION[scale],
    )


def _piggyback(
    scale: Scale, channels: Channels, flexible: Channels, *, recompute: bool = True
) -> list[System]:
    """PB with every buffer organisation and sensing."""
    routings = {name: _routing(scale, sensing, recompute=recompute) for name, sensing in SENSINGS.items()}
    return [
        *(System(f"PB {name}", routings[name], channels) for name in BASE_SENSINGS),
        *(System(f"PB DAMQ {name}", routings[name], channels, damq(channels)) for name in BASE_SENSINGS),
        *(System(f"PB FlexVC {name}", routing, flexible) for name, routing in routings.items()),
    ]


def _source_adaptive(scale: Scale) -> list[Panel]:
    """Figure 5.10."""
    variants = _piggyback(scale, increasing(4, 2), flexvc(4, 2))
    minimal = System("MIN", MINIMAL, increasing(2, 1))
    valiant = System("VAL", VALIANT, increasing(4, 2))
    return [
        *(panel(traffic, [minimal, *variants], scale) for traffic in UNIFORM),
        panel(ADV1, [valiant, *variants], scale),
    ]


BEST = "PB FlexVC minCred-per-port"
SOURCE_CLAIMS = (
    *(
        peaks(f"{panel}: FlexVC outperforms the baseline", panel, (BEST, "PB per-VC"), 1.0)
        for panel in ("UN", "BURSTY-UN", "ADV+1")
    ),
    peaks("UN: FlexVC outperforms MIN", "UN", (BEST, "MIN"), 1.0),
    peaks("ADV+1: FlexVC outperforms VAL", "ADV+1", (BEST, "VAL"), 1.0),
    *(
        peaks(
            f"UN: sensing makes no difference with FlexVC: {name}",
            "UN",
            (f"PB FlexVC {name}", BEST),
            0.97,
            1.03,
        )
        for name in tuple(SENSINGS)[:-1]
    ),
    latencies("UN: FlexVC is faster than the baseline", ("UN", 0.7), (BEST, "PB per-VC"), high=1.0),
    ratio(
        "ADV+1: per-port sensing needs a high load to see the pattern",
        at_place("ADV+1", "PB per-port", 0.2),
        at_place("ADV+1", "PB per-VC", 0.2),
        1.0,
    ),
)


def _source_adaptive_requests(scale: Scale) -> list[Panel]:
    """Figure 5.11."""
    variants = _piggyback(scale, increasing(8, 4), flexvc(4, 2, (2, 1)))
    return _panels(variants, scale)


SOURCE_REQUEST_CLAIMS = (
    *(
        ratio(
            f"UN: FlexVC {name} clearly outperforms the baseline in saturation",
            at_end("UN", f"PB FlexVC {name}"),
            at_end("UN", "PB per-VC"),
            1.02,
        )
        for name in SENSINGS
    ),
    peaks("ADV+1: per-port is worse than per-VC", "ADV+1", ("PB per-port", "PB per-VC"), high=0.99),
    peaks("ADV+1: minCred-per-port is competitive", "ADV+1", (BEST, "PB per-VC"), 0.95),
    *(
        peaks(
            f"ADV+1: FlexVC {name} is worse than the baseline",
            "ADV+1",
            (f"PB FlexVC {name}", "PB per-VC"),
            high=0.99,
        )
        for name in ("per-VC", "per-port")
    ),
    between("ADV+1: DAMQ is congested, per-VC", at_end("ADV+1", "PB DAMQ per-VC"), high=0.15),
    between("ADV+1: DAMQ is congested, per-port", at_end("ADV+1", "PB DAMQ per-port"), high=0.05),
)
SOURCE_REQUEST_NUMBERS = (
    gain(
        "best FlexVC",
        "UN, throughput in saturation against PB",
        (at_end("UN", BEST), at_end("UN", "PB per-VC")),
        20.4,
    ),
)
KEPT, DRAWN_ANEW = "kept", "drawn anew"


def _recomputation(scale: Scale) -> list[Panel]:
    """Figure 5.13: the intermediate router kept, or drawn anew."""
    panels: list[Panel] = []
    for title, recompute in ((KEPT, False), (DRAWN_ANEW, True)):
        valiant = VAL_REQUESTS.with_(routing=oblivious("rrg", recompute=recompute))
        variants = _piggyback(scale, increasing(8, 4), flexvc(4, 2, (2, 1)), recompute=recompute)
        members = [valiant, *variants]
        panels.append(over_load(CURVES[scale], requests(ADV1), members, ADVERSARIAL[scale], title))
    return panels


RECOMPUTE_CLAIMS = (
    *(
        peaks(f"router drawn anew: {name} is competitive", DRAWN_ANEW, (name, "VAL"), 0.9)
        for name in ("PB per-VC", BEST)
    ),
    ratio("drawing anew helps FlexVC", peak(DRAWN_ANEW, BEST), peak(KEPT, BEST), 1.0),
    between("the best performers reach the bound of 0.5", peak(DRAWN_ANEW, "PB per-VC"), 0.45, 0.6),
)
RECOMPUTE_NUMBERS = (
    gain(
        BEST,
        "router kept: load accepted against PB without FlexVC",
        (at_end(KEPT, BEST), at_end(KEPT, "PB per-VC")),
        -15.0,
    ),
)


RESTRICTION_NOTES: Mapping[Behaviour, str] = {
    PUBLISHED: (
        "In-transit FlexVC as in the simulator of the thesis, other than the text says: it looks for "
        "congested global VCs under the wrong number, so that no packet leaves a minimal global link. "
        "thesis-figure-5.14-textbook has the behaviour of the text."
    ),
    TEXTBOOK: (
        "In-transit FlexVC as the text says, other than the published figure was made: packets leave "
        "congested global links. PB compares true path lengths."
    ),
}


def _in_transit(behaviour: Behaviour, scale: Scale) -> list[Panel]:
    """Figure 5.14: OLM with increasing VCs, with FlexVC, with FlexVC and contention counters."""
    flexible = flexvc(3, 2, (2, 1))
    counters = contention(CONTENTION_THRESHOLD[scale])
    restricted = congestion(MINCRED_PER_PORT, behaviour.flexvc_restriction)
    members = [
        System("PB", _routing(scale, behaviour=behaviour), increasing(8, 4)),
        System("PB FlexVC", _routing(scale, MINCRED_PER_PORT, behaviour=behaviour), flexvc(4, 2, (2, 1))),
        System("In-transit", in_transit("mm"), increasing(6, 4)),
        System("In-transit FlexVC", in_transit("mm", restricted), flexible),
        System("In-transit Cta FlexVC", in_transit("mm", counters), flexible),
    ]
    return _panels(members, scale)


COUNTERS = "In-transit Cta FlexVC"
IN_TRANSIT_CLAIMS = (
    peaks("UN: FlexVC in transit is competitive", "UN", ("In-transit FlexVC", "In-transit"), 0.95),
    peaks(
        "ADV+1: FlexVC with congestion sensing saturates at a very low load",
        "ADV+1",
        ("In-transit FlexVC", "In-transit"),
        high=0.7,
    ),
    *(
        peaks(
            f"{panel}: contention counters are competitive with FlexVC", panel, (COUNTERS, "In-transit"), 0.95
        )
        for panel in ("UN", "BURSTY-UN", "ADV+1")
    ),
    *(
        peaks(f"{panel}: they outperform source-adaptive routing", panel, (COUNTERS, "PB FlexVC"), 1.0)
        for panel in ("BURSTY-UN", "ADV+1")
    ),
)


def _in_transit_entry(behaviour: Behaviour) -> Entry:
    entry = figure(
        "5.14",
        "Latency and throughput of in-transit routing, requests and replies",
        partial(_in_transit, behaviour),
        explanation(FLEXVC_NOTE, RESTRICTION_NOTES[behaviour], RECOMPUTE_NOTE, SATURATION_NOTE),
        IN_TRANSIT_CLAIMS,
    )
    name, title = behaviour.entry_name(entry.name), behaviour.entry_title(entry.title)
    return replace(entry, name=name, title=title)


def entries() -> list[Entry]:
    """The figures in order."""
    return [
        figure(
            "5.9",
            "Latency and throughput of oblivious routing, requests and replies",
            _request_reply,
            explanation(FLEXVC_NOTE, RECOMPUTE_NOTE, "The splits of FlexVC under ADV+1 are not in the text."),
            REQUEST_CLAIMS,
            REQUEST_NUMBERS,
        ),
        figure(
            "5.10",
            "Latency and throughput of source-adaptive routing",
            _source_adaptive,
            explanation(FLEXVC_NOTE, RECOMPUTE_NOTE, SATURATION_NOTE),
            SOURCE_CLAIMS,
        ),
        figure(
            "5.11",
            "Latency and throughput of source-adaptive routing, requests and replies",
            _source_adaptive_requests,
            explanation(FLEXVC_NOTE, RECOMPUTE_NOTE, SATURATION_NOTE),
            SOURCE_REQUEST_CLAIMS,
            SOURCE_REQUEST_NUMBERS,
        ),
        figure(
            "5.13",
            "Throughput under ADV+1 requests and replies with the intermediate router kept or drawn anew",
            _recomputation,
            explanation(FLEXVC_NOTE, SATURATION_NOTE),
            RECOMPUTE_CLAIMS,
            RECOMPUTE_NUMBERS,
            quantities=(ACCEPTED,),
        ),
        *(_in_transit_entry(behaviour) for behaviour in RESTRICTION_NOTES),
    ]
