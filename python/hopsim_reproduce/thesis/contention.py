"""The mechanisms of chapter 4, and figures 4.5 to 4.7: steady traffic with contention counters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from hopsim_reproduce.claims import at_place, between, latencies, peak, peaks, ratio
from hopsim_reproduce.model import Entry, Scale
from hopsim_reproduce.panels import Line, Panel
from hopsim_reproduce.thesis import behaviour
from hopsim_reproduce.thesis.lines import ADVERSARIAL_LOADS, UNIFORM_LOADS, case, figure, over_load
from hopsim_reproduce.thesis.network import CURVES, TWO_SEEDS, notes
from hopsim_reproduce.thesis.routing import (
    MINIMAL,
    contention,
    ectn,
    filtered,
    hybrid,
    in_transit,
    oblivious,
    source_adaptive,
)
from hopsim_reproduce.thesis.system import System, increasing
from hopsim_reproduce.thesis.traffic import ADV1, ADVH, UN, mix


@dataclass(frozen=True)
class Thresholds:
    """Counters at which packets are misrouted [packets]: they have to fit the size of the routers."""

    base: int
    hybrid: int
    combined: int
    sweep: Sequence[int]
    """Those of figure 4.5."""


THRESHOLDS: Mapping[Scale, Thresholds] = {
    "quick": Thresholds(base=4, hybrid=5, combined=6, sweep=(2, 3, 4, 5, 6)),
    "full": Thresholds(base=6, hybrid=8, combined=10, sweep=(4, 5, 6, 7, 8, 9, 10)),
}
CONTENTION = ("Base", "Filtered", "ECtN")
"""Mechanisms that only look at counters."""
LOADS: Mapping[Scale, Sequence[float]] = {
    "quick": (0.1, 0.3, 0.5, 0.6),
    "full": ADVERSARIAL_LOADS["full"],
}
"""Under adversarial traffic."""
MIX_LOAD = 0.35
MIXED = "ADV+1 and UN"
SHARES = (0, 20, 40, 60, 80, 100)
"""Uniform packets in figure 4.7 [%]."""


def systems(scale: Scale) -> dict[str, System]:
    """Name -> network."""
    counters = THRESHOLDS[scale]
    routings = {
        "MIN": (MINIMAL, 3),
        "VAL": (oblivious("rrg"), 4),
        "PB": (source_adaptive("rrg"), 4),
        "OLM": (in_transit("mm"), 3),
        "Base": (in_transit("mm", contention(counters.base)), 3),
        "Filtered": (in_transit("mm", filtered(counters.base)), 3),
        "Hybrid": (in_transit("mm", hybrid(counters.hybrid)), 3),
        "ECtN": (in_transit("mm", ectn(counters.base, counters.combined)), 3),
    }
    return {name: System(name, routing, increasing(vcs, 2)) for name, (routing, vcs) in routings.items()}


def chosen(scale: Scale, names: Iterable[str]) -> list[System]:
    """Some of them."""
    found = systems(scale)
    return [found[name] for name in names]


def explanation(scale: Scale) -> list[str]:
    """The notes of every entry of the chapter."""
    counters = THRESHOLDS[scale]
    return [
        *notes(scale, CURVES[scale]),
        f"Counters reach {counters.base} packets (Hybrid {counters.hybrid}, combined ones of ECtN "
        f"{counters.combined}) to misroute; the thesis has 6, 8 and 10 with p = 8. `Reach`, not exceed.",
        "Not printed in the thesis, so chosen: Filtered's alpha 0.5, Hybrid's congestion thresholds those of "
        "OLM. ECtN's broadcasts take no bandwidth, as there.",
        *behaviour.PUBLISHED.notes,
    ]


def _sensitivity(scale: Scale) -> list[Panel]:
    members = [
        System(f"th = {threshold}", in_transit("mm", contention(threshold)), increasing(3, 2))
        for threshold in THRESHOLDS[scale].sweep
    ]
    return [
        over_load(CURVES[scale], UN, members, UNIFORM_LOADS[scale]),
        over_load(CURVES[scale], ADV1, members, LOADS[scale]),
    ]


def _steady(scale: Scale) -> list[Panel]:
    adaptive = ("PB", "OLM", "Base", "Filtered", "Hybrid", "ECtN")
    network = CURVES[scale]
    nonminimal = chosen(scale, ("VAL", *adaptive))
    return [
        over_load(network, UN, chosen(scale, ("MIN", *adaptive)), UNIFORM_LOADS[scale]),
        over_load(network, ADV1, nonminimal, LOADS[scale]),
        over_load(network, ADVH, nonminimal, LOADS[scale]),
    ]


def _mixed(scale: Scale) -> list[Panel]:
    lines: dict[str, Line] = {
        system.name: {share: case(CURVES[scale], mix(share), system, MIX_LOAD) for share in SHARES}
        for system in chosen(scale, ("PB", "OLM", *CONTENTION, "Hybrid"))
    }
    return [Panel(MIXED, lines, "uniform packets [%]")]


SENSITIVITY_CLAIMS = (
    peaks("UN: a higher threshold serves uniform traffic better", "UN", ("th = 6", "th = 4"), 1.0),
    latencies("ADV+1: a higher threshold costs latency", ("ADV+1", 0.3), ("th = 6", "th = 4"), 1.0),
)
STEADY_CLAIMS = (
    *(
        latencies(f"UN: {name} is as fast as MIN before congestion", ("UN", 0.3), (name, "MIN"), 0.98, 1.02)
        for name in CONTENTION
    ),
    latencies("UN: PB is slower than MIN", ("UN", 0.3), ("PB", "MIN"), 1.01),
    latencies("UN: OLM is slower than MIN", ("UN", 0.3), ("OLM", "MIN"), 1.01),
    latencies("UN: Hybrid is about as fast as OLM", ("UN", 0.3), ("Hybrid", "OLM"), 0.95, 1.05),
    peaks("UN: Hybrid matches OLM's throughput or is better", "UN", ("Hybrid", "OLM"), 0.98),
    peaks("UN: Base falls slightly below OLM", "UN", ("Base", "OLM"), 0.9, 1.0),
    *(peaks(f"UN: {name} carries more than MIN", "UN", (name, "MIN"), 1.0) for name in ("OLM", *CONTENTION)),
    *(
        peaks(f"ADV+1: {name} carries as much as OLM", "ADV+1", (name, "OLM"), 0.95, 1.06)
        for name in (*CONTENTION, "Hybrid")
    ),
    between("ADV+1: OLM slightly exceeds Valiant's bound of 0.5", peak("ADV+1", "OLM"), 0.5, 0.55),
    latencies("ADV+1: counters are slow at low loads", ("ADV+1", 0.1), ("Base", "OLM"), 1.0),
    latencies("ADV+1: ECtN is the fastest below saturation", ("ADV+1", 0.3), ("ECtN", "Base"), high=1.0),
    latencies("ADV+1: ECtN is faster than OLM below saturation", ("ADV+1", 0.3), ("ECtN", "OLM"), high=1.0),
    peaks("ADV+h: Base carries as much as OLM", "ADV+h", ("Base", "OLM"), 0.9, 1.1),
)
MIXED_CLAIMS = tuple(
    ratio(
        f"ECtN is clearly faster than OLM with {share} % uniform packets",
        at_place(MIXED, "ECtN", share),
        at_place(MIXED, "OLM", share),
        high=0.98,
    )
    for share in SHARES[1:-1]
)


def entries() -> list[Entry]:
    """The three figures."""
    return [
        figure("4.5", "Sensitivity of Base to its threshold", _sensitivity, explanation, SENSITIVITY_CLAIMS),
        figure(
            "4.6",
            "Latency and throughput under UN, ADV+1 and ADV+h, contention counters",
            _steady,
            explanation,
            STEADY_CLAIMS,
            seeds=TWO_SEEDS,
        ),
        figure("4.7", f"Latency of mixed traffic at {MIX_LOAD}", _mixed, explanation, MIXED_CLAIMS),
    ]
