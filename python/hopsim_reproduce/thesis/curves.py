"""Latency and throughput under uniform and adversarial traffic.

Figures 3.2, 3.3, 3.7, 3.8 and 3.11 of the thesis; those of the journal version are made by `all_patterns`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial

from hopsim_reproduce.claims import (
    at_end,
    at_place,
    between,
    gain,
    highest,
    latencies,
    number,
    peak,
    peaks,
    ratio,
)
from hopsim_reproduce.figure import Claim, Figure, Number
from hopsim_reproduce.model import Entry, Scale
from hopsim_reproduce.panels import ACCEPTED, LATENCY, Panel
from hopsim_reproduce.thesis import fairness
from hopsim_reproduce.thesis.fairness import AT_SOURCE, IN_TRANSIT, OBLIVIOUS
from hopsim_reproduce.thesis.lines import ADVERSARIAL_LOADS, UNIFORM_LOADS, figure, over_load
from hopsim_reproduce.thesis.network import TWO_SEEDS
from hopsim_reproduce.thesis.published import AVERAGE_ALLOWED, published
from hopsim_reproduce.thesis.study import THESIS, Study
from hopsim_reproduce.thesis.system import AGE, PRIORITY, ROUND_ROBIN, Arbitration, System
from hopsim_reproduce.thesis.traffic import ADV1, UN, advc

LONG_QUEUE = 1000
"""Injection buffer of figures 3.3 and 3.8 [phits per VC]."""
BELOW_SATURATION = 0.4
"""A load that in-transit routing still carries."""
WITH_PRIORITY = "MIN, in-transit priority"


def _systems(arbitration: Arbitration, names: Iterable[str], injection: int) -> list[System]:
    found = fairness.systems(arbitration, injection=injection)
    return [found[name] for name in names]


def _uniform(study: Study, arbitration: Arbitration, extra: Sequence[System], scale: Scale) -> Panel:
    systems = [*_systems(arbitration, ("MIN", *AT_SOURCE, *IN_TRANSIT), study.injection), *extra]
    return over_load(study.curves[scale], UN, systems, UNIFORM_LOADS[scale])


def _adversarial(study: Study, arbitration: Arbitration, injection: int, scale: Scale) -> list[Panel]:
    systems = _systems(arbitration, (*OBLIVIOUS, *AT_SOURCE, *IN_TRANSIT), injection)
    loads = ADVERSARIAL_LOADS[scale]
    return [over_load(study.curves[scale], traffic, systems, loads) for traffic in (ADV1, advc())]


def _all(study: Study, arbitration: Arbitration, extra: Sequence[System], scale: Scale) -> list[Panel]:
    adversarial = _adversarial(study, arbitration, study.injection, scale)
    return [_uniform(study, arbitration, extra, scale), *adversarial]


def _notes(study: Study, arbitration: Arbitration, scale: Scale) -> list[str]:
    return [*study.notes(scale, study.curves[scale]), *fairness.explanation(arbitration)]


def saturation(study: Study, table: str) -> list[Number]:
    """The column `avg. saturation load` of the table of the same section."""
    rows = {row.mechanism: row.saturation for row in published(study, table)}
    return [
        number(
            f"{name} under ADVc",
            "accepted at the largest load",
            at_end("ADVc", name),
            load,
            allowed=AVERAGE_ALLOWED,
        )
        for name, load in rows.items()
        if name != "MIN"
    ]


def fairness_spike(
    name: str, low: float | None, high: float | None, statement: str, panel: str = "ADVc"
) -> Claim:
    """Latency below saturation against that of a higher load: starved routers make a peak."""
    spike = highest(panel, name, LATENCY, BELOW_SATURATION - 0.05)
    return ratio(statement, spike, at_place(panel, name, BELOW_SATURATION), low, high)


MM = "In-Trns-MM"
CLOSE_TO_MINIMAL = (
    latencies("UN: In-Trns-MM is about as fast as MIN", ("UN", 0.3), (MM, "MIN"), 0.95, 1.1),
    latencies("UN: Src-CRG is about as fast as MIN", ("UN", 0.3), ("Src-CRG", "MIN"), 0.95, 1.15),
    peaks("UN: RRG costs source-adaptive routing throughput", "UN", ("Src-RRG", "Src-CRG"), high=1.0),
)
UNIFORM_CLAIMS = (
    *CLOSE_TO_MINIMAL,
    peaks("UN: in-transit routing outperforms MIN", "UN", (MM, "MIN"), 1.0),
)
POLICY_CLAIMS = (
    peaks("ADV+1: CRG saturates later, oblivious", "ADV+1", ("Obl-CRG", "Obl-RRG"), 1.0),
    peaks("ADV+1: CRG saturates later, source-adaptive", "ADV+1", ("Src-CRG", "Src-RRG"), 1.0),
    peaks("ADVc: in-transit routing has the highest throughput", "ADVc", (MM, "Obl-CRG"), 1.0),
    peaks("ADVc: Src-RRG does not see the pattern", "ADVc", ("Src-RRG", MM), high=0.85),
    peaks("ADVc: CRG is poor for source-adaptive routing", "ADVc", ("Src-CRG", "Src-RRG"), high=0.8),
)
ADVERSARIAL_CLAIMS = (
    *POLICY_CLAIMS,
    between("ADV+1: In-Trns-MM comes near the bound of 0.5", peak("ADV+1", MM), 0.45, 0.55),
)
LONG_QUEUE_CLAIMS = (
    fairness_spike("In-Trns-MM", 1.1, None, "ADVc: latency of In-Trns-MM peaks below saturation"),
    fairness_spike("In-Trns-CRG", 1.1, None, "ADVc: latency of In-Trns-CRG peaks below saturation"),
)


def all_patterns(
    study: Study,
    label: str,
    arbitration: Arbitration,
    *,
    claims: Sequence[Claim],
    numbers: Sequence[Number],
    extra: Sequence[System] = (),
) -> Entry:
    """The entry of a figure with a panel for UN, ADV+1 and ADVc; `extra` are more lines under UN."""
    return Figure(
        name=study.entry_name("figure", label),
        title=f"Latency and throughput under UN, ADV+1 and ADVc, {arbitration.title}",
        source=study.place("figure", label),
        panels=partial(_all, study, arbitration, extra),
        notes=partial(_notes, study, arbitration),
        seeds=study.curves_seeds,
        claims=claims,
        numbers=numbers,
        trimmed=True,
    ).entry()


def _long_queue(label: str, arbitration: Arbitration, claims: Sequence[Claim]) -> Entry:
    title = f"Latency and throughput with injection buffers of {LONG_QUEUE} phits, {arbitration.title}"
    panels = partial(_adversarial, THESIS, arbitration, LONG_QUEUE)
    return figure(label, title, panels, partial(_notes, THESIS, arbitration), claims, seeds=TWO_SEEDS)


def entries() -> list[Entry]:
    """The five figures."""
    priority = fairness.systems(PRIORITY)["MIN"].with_(name=WITH_PRIORITY)
    return [
        all_patterns(
            THESIS,
            "3.2",
            PRIORITY,
            claims=(*UNIFORM_CLAIMS, *ADVERSARIAL_CLAIMS),
            numbers=saturation(THESIS, "3.1"),
        ),
        _long_queue("3.3", PRIORITY, LONG_QUEUE_CLAIMS),
        all_patterns(
            THESIS,
            "3.7",
            ROUND_ROBIN,
            claims=(
                *UNIFORM_CLAIMS,
                *ADVERSARIAL_CLAIMS,
                fairness_spike("In-Trns-MM", None, 1.1, "ADVc: the latency peak of In-Trns-MM disappears"),
            ),
            numbers=(
                *saturation(THESIS, "3.2"),
                gain(
                    "MIN under UN",
                    "throughput without priority against with it",
                    (peak("UN", "MIN"), peak("UN", WITH_PRIORITY)),
                    -3.0,
                ),
            ),
            extra=[priority],
        ),
        _long_queue("3.8", ROUND_ROBIN, LONG_QUEUE_CLAIMS[:1]),
        all_patterns(
            THESIS,
            "3.11",
            AGE,
            claims=(
                *UNIFORM_CLAIMS,
                fairness_spike("In-Trns-MM", None, 1.05, "ADVc: no latency spikes"),
                peaks("ADVc: RRG is clearly the best at the source", "ADVc", ("Src-RRG", "Src-CRG"), 1.1),
                ratio(
                    "ADVc: congestion slightly reduces the throughput of Obl-RRG after saturation",
                    at_end("ADVc", "Obl-RRG", ACCEPTED),
                    peak("ADVc", "Obl-RRG"),
                    0.85,
                    1.0,
                ),
            ),
            numbers=saturation(THESIS, "3.3"),
        ),
    ]
