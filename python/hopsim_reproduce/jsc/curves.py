"""Figures 6, 9 and 11: latency and throughput under uniform and adversarial traffic."""

from __future__ import annotations

from collections.abc import Sequence

from hopsim_reproduce.claims import (
    at_end,
    at_place,
    between,
    gain,
    highest,
    latencies,
    peak,
    peaks,
    place_of_highest,
    ratio,
)
from hopsim_reproduce.figure import Claim
from hopsim_reproduce.jsc.study import JSC, LEAST_RECENTLY_SERVED, PRIORITY
from hopsim_reproduce.model import Entry
from hopsim_reproduce.panels import ACCEPTED, LATENCY
from hopsim_reproduce.thesis import fairness
from hopsim_reproduce.thesis.curves import (
    BELOW_SATURATION,
    CLOSE_TO_MINIMAL,
    MM,
    POLICY_CLAIMS,
    WITH_PRIORITY,
    all_patterns,
    fairness_spike,
    saturation,
)
from hopsim_reproduce.thesis.fairness import AT_SOURCE, IN_TRANSIT, OBLIVIOUS
from hopsim_reproduce.thesis.system import AGE

PAIRS = {"oblivious": "Obl", "source-adaptive": "Src", "in-transit": "In-Trns"}
"""Kind of routing -> what names of its policies begin with."""
MISROUTED = "misrouted_fraction"
AT_INJECTION = "misrouted_at_injection_fraction"


def _misrouted_up_to(name: str, share: float) -> Claim:
    return between(
        f"UN: {name} misroutes up to {100 * share:g} % of the packets",
        highest("UN", name, MISROUTED, 1.0),
        high=share,
    )


def _misrouted_after_saturation(panel: str, name: str, limits: tuple[float, float], statement: str) -> Claim:
    return between(f"{panel}: {name} {statement}", at_end(panel, name, MISROUTED), *limits)


def _rrg_is_slower(kinds: Sequence[str], panel: str, load: float) -> list[Claim]:
    return [
        latencies(
            f"{panel}: RRG costs {kind} routing latency",
            (panel, load),
            (f"{PAIRS[kind]}-RRG", f"{PAIRS[kind]}-CRG"),
            1.0,
        )
        for kind in kinds
    ]


UNIFORM = (
    *CLOSE_TO_MINIMAL,
    *_rrg_is_slower(("source-adaptive", "in-transit"), "UN", 0.3),
    peaks("UN: RRG gains in-transit routing nothing", "UN", ("In-Trns-RRG", "In-Trns-CRG"), high=1.01),
    *(_misrouted_up_to(name, 0.2) for name in AT_SOURCE),
    *(_misrouted_up_to(name, 0.3) for name in IN_TRANSIT),
    ratio(
        "UN: most of the misrouting of In-Trns-MM is in transit, at full load",
        at_end("UN", MM, AT_INJECTION),
        at_end("UN", MM, MISROUTED),
        high=0.5,
    ),
)
BEST_POLICY = (
    *POLICY_CLAIMS,
    peaks("ADV+1: CRG saturates later, in-transit", "ADV+1", ("In-Trns-CRG", "In-Trns-RRG"), 1.0),
    *_rrg_is_slower(("oblivious", "source-adaptive"), "ADV+1", 0.2),
    peaks("ADV+1: In-Trns-MM is the best, better than Obl-CRG", "ADV+1", (MM, "Obl-CRG"), 1.0),
    peaks("ADV+1: In-Trns-MM is the best, better than Src-CRG", "ADV+1", (MM, "Src-CRG"), 1.0),
    peaks("ADVc: CRG is the best for oblivious routing", "ADVc", ("Obl-CRG", "Obl-RRG"), 1.0),
)
STARVATION = (
    *(
        _misrouted_after_saturation("ADV+1", name, (0.955, 0.985), "misroutes about 97 % of the packets")
        for name in (*AT_SOURCE, *IN_TRANSIT)
    ),
    between(
        "ADV+1: latency of In-Trns-CRG peaks at an extremely low load",
        place_of_highest("ADV+1", "In-Trns-CRG", LATENCY, BELOW_SATURATION),
        high=0.15,
    ),
    fairness_spike("In-Trns-CRG", 1.1, None, "ADV+1: latency of In-Trns-CRG falls after the peak", "ADV+1"),
    *(
        fairness_spike(name, None, 1.05, f"ADV+1: latency of {name} does not fall", "ADV+1")
        for name in (MM, "In-Trns-RRG")
    ),
    between(
        "ADV+1: In-Trns-CRG accepts less than offered before saturation, 0.3",
        at_place("ADV+1", "In-Trns-CRG", 0.3, ACCEPTED),
        high=0.295,
    ),
    _misrouted_after_saturation("ADVc", "Src-RRG", (0.0, 0.85), "sends more than 15 % minimally"),
    _misrouted_after_saturation("ADVc", "Src-CRG", (0.0, 0.6), "sends more than 40 % minimally"),
    *(
        _misrouted_after_saturation("ADVc", name, (0.87, 0.93), "misroutes 90 % of the packets")
        for name in IN_TRANSIT
    ),
    ratio(
        "ADVc: before saturation, at 0.3, In-Trns-MM accepts less than oblivious routing",
        at_place("ADVc", MM, 0.3, ACCEPTED),
        at_place("ADVc", "Obl-CRG", 0.3, ACCEPTED),
        high=0.99,
    ),
    between(
        "ADVc: latency of In-Trns-MM peaks at 0.15",
        place_of_highest("ADVc", MM, LATENCY, BELOW_SATURATION),
        0.1,
        0.2,
    ),
    fairness_spike(MM, 1.1, None, "ADVc: latency of In-Trns-MM falls after the peak"),
)
WITHOUT_PRIORITY = (
    *(
        fairness_spike(name, None, 1.05, f"ADV+1: latency of {name} has no peak", "ADV+1")
        for name in ("In-Trns-CRG", MM)
    ),
    between(
        "ADV+1: with In-Trns-RRG the peak comes at a much higher load",
        place_of_highest("ADV+1", "In-Trns-RRG", LATENCY, BELOW_SATURATION),
        0.3,
    ),
    *(fairness_spike(name, 1.0, None, f"ADVc: latency of {name} still has a peak") for name in IN_TRANSIT),
)
BY_AGE = (
    *_rrg_is_slower(("source-adaptive", "in-transit"), "UN", 0.3),
    peaks("UN: CRG accepts more, source-adaptive", "UN", ("Src-CRG", "Src-RRG"), 1.0),
    peaks("UN: CRG accepts more, in-transit", "UN", ("In-Trns-CRG", "In-Trns-RRG"), 1.0),
    *(
        fairness_spike(name, None, 1.05, f"{panel}: latency of {name} has no peak", panel)
        for panel in ("ADV+1", "ADVc")
        for name in IN_TRANSIT
    ),
    peaks("UN: MM performs similarly to CRG", "UN", (MM, "In-Trns-CRG"), 0.97, 1.03),
    *(
        peaks(f"{panel}: MM performs as well as CRG or better", panel, (MM, "In-Trns-CRG"), 0.99)
        for panel in ("ADV+1", "ADVc")
    ),
    peaks("ADVc: source-adaptive routing is poor", "ADVc", ("Src-RRG", MM), high=0.85),
    peaks("ADVc: RRG is clearly the best at the source", "ADVc", ("Src-RRG", "Src-CRG"), 1.1),
    *(
        ratio(
            f"{panel}: congestion reduces the throughput of {name} after saturation",
            at_end(panel, name, ACCEPTED),
            peak(panel, name),
            0.8,
            0.99,
        )
        for panel in ("ADV+1", "ADVc")
        for name in (*OBLIVIOUS, *AT_SOURCE)
    ),
    ratio(
        "ADVc: it does so hardly with In-Trns-MM",
        at_end("ADVc", MM, ACCEPTED),
        peak("ADVc", MM),
        0.97,
    ),
)


def entries() -> list[Entry]:
    """The three figures."""
    priority = fairness.systems(PRIORITY, injection=JSC.injection)["MIN"].with_(name=WITH_PRIORITY)
    loss = gain(
        "MIN under UN",
        "throughput without priority against with it",
        (peak("UN", "MIN"), peak("UN", WITH_PRIORITY)),
        -1.2,
    )
    return [
        all_patterns(
            JSC,
            "6",
            PRIORITY,
            claims=(*UNIFORM, *BEST_POLICY, *STARVATION),
            numbers=saturation(JSC, "2"),
        ),
        all_patterns(
            JSC,
            "9",
            LEAST_RECENTLY_SERVED,
            claims=(*UNIFORM, *BEST_POLICY, *WITHOUT_PRIORITY),
            numbers=(*saturation(JSC, "3"), loss),
            extra=[priority],
        ),
        all_patterns(JSC, "11", AGE, claims=BY_AGE, numbers=saturation(JSC, "4")),
    ]
