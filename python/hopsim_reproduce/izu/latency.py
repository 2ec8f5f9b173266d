"""Figure 5: average and greatest latency over load in the mesh."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from hopsim_reproduce.claims import at_place, ratio
from hopsim_reproduce.figure import Claim, Figure
from hopsim_reproduce.izu.system import (
    AGE,
    FULL_LOAD,
    IZU,
    LENGTHS,
    MECHANISMS,
    MESH,
    OPEN,
    ROUTINGS,
    RR,
    SAT,
    SAT_WIDE,
    SEEDS,
    Mechanism,
    notes,
)
from hopsim_reproduce.izu.traffic import HOT_REGION, PATTERNS, SHUFFLE
from hopsim_reproduce.model import Entry, Fact, Scale, slug
from hopsim_reproduce.panels import ACCEPTED, LATENCY, LATENCY_MAX, Case, Panel, Points

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

LOADS: Mapping[Scale, Sequence[float]] = {
    "quick": (0.02, 0.05, 0.1, 0.15, 0.2, 0.4, 0.6, 1.0),
    "full": (0.02, *(step / 20 for step in range(1, 21))),
}
BELOW = (0.02, 0.05, 0.1, 0.15, 0.2)
"""Loads below saturation in all panels."""
TRANSITION = (0.4, 0.6)
"""Loads at which some nodes are saturated under perfect shuffle and others not."""
SHOWN = (HOT_REGION, SHUFFLE)
SAME = 0.02
"""Largest relative difference of latencies that are the same."""
SIMILAR = 0.2
"""Of latencies that are similar."""


def _title(pattern: str, routing: str) -> str:
    return f"{pattern}, {routing}"


def _case(pattern: str, routing: str, mechanism: Mechanism, load: float, scale: Scale) -> Case:
    document = MESH.document(routing, mechanism, {"pattern": PATTERNS[pattern]}, LENGTHS[scale])
    return Case(slug(pattern, routing, mechanism.title), document, load)


def _panels(scale: Scale) -> list[Panel]:
    return [
        Panel(
            _title(pattern, routing),
            {
                mechanism.title: {
                    load: _case(pattern, routing, mechanism, load, scale) for load in LOADS[scale]
                }
                for mechanism in MECHANISMS
            },
        )
        for pattern in SHOWN
        for routing in ROUTINGS
    ]


def _against_rr(points: Points, panel: str, mechanism: Mechanism, key: str) -> list[float]:
    """A latency over that of RR, at the loads below saturation."""
    plain, own = (points.line(panel, each.title, key) for each in (RR, mechanism))
    return [own[load].mean / plain[load].mean for load in BELOW]


def _unchanged(panel: str, mechanism: Mechanism, key: str, statement: str) -> Claim:
    name = "greatest" if key == LATENCY_MAX else "average"

    def check(points: Points) -> Fact:
        found = _against_rr(points, panel, mechanism, key)
        return Fact(
            f"{panel}: {statement}",
            f"{name} latency of {mechanism.title} / RR, loads up to {BELOW[-1]:g}: within {SAME:.0%} of 1",
            f"{min(found):.3f} to {max(found):.3f}",
            all(abs(value - 1) <= SAME for value in found),
        )

    return check


def _not_hindered(panel: str) -> Claim:
    def check(points: Points) -> Fact:
        found = _against_rr(points, panel, AGE, LATENCY)
        return Fact(
            f"{panel}: Age does not hinder average latency",
            f"average latency of Age / RR, loads up to {BELOW[-1]:g}: at most {1 + SAME:g}",
            f"{min(found):.3f} to {max(found):.3f}",
            max(found) <= 1 + SAME,
        )

    return check


def _reduced(panel: str) -> Claim:
    def check(points: Points) -> Fact:
        found = [100 * (1 - value) for value in _against_rr(points, panel, AGE, LATENCY_MAX)]
        mean = sum(found) / len(found)
        single = ", ".join(f"{value:.0f}" for value in found)
        return Fact(
            f"{panel}: Age reduces the greatest latency by 10 to 30 %",
            f"mean reduction over the loads {', '.join(f'{load:g}' for load in BELOW)}: 10 to 30 %",
            f"{mean:.0f} % ({single})",
            10 <= mean <= 30,
        )

    return check


def _saturated(panel: str, mechanism: Mechanism, statement: str, low: float | None, high: float) -> Claim:
    own, plain = (at_place(panel, each.title, FULL_LOAD) for each in (mechanism, RR))
    return ratio(f"{panel}: {statement}", own, plain, low, high)


def _claims() -> Iterator[Claim]:
    for pattern in SHOWN:
        for routing in ROUTINGS:
            panel = _title(pattern, routing)
            yield _not_hindered(panel)
            for mechanism in (SAT, SAT_WIDE):
                yield _unchanged(panel, mechanism, LATENCY, f"{mechanism.title} does not hinder it either")
                yield _unchanged(panel, mechanism, LATENCY_MAX, "SAT shows the values of RR at low loads")
            yield _reduced(panel)
            similar = "the average latency of Age at saturation is that of RR"
            yield _saturated(panel, AGE, similar, 1 - SIMILAR, 1 + SIMILAR)
    for routing in ROUTINGS:
        panel = _title(HOT_REGION, routing)
        yield _saturated(panel, SAT, "SAT reduces the average latency at saturation", None, 1.0)
        panel = _title(SHUFFLE, routing)
        for load in TRANSITION:
            own, plain = (at_place(panel, each.title, load) for each in (SAT, RR))
            yield ratio(f"{panel}: SAT is slower while not all nodes are saturated", own, plain, 1.0)


def _notes(scale: Scale) -> list[str]:
    return [
        *notes(scale, LENGTHS[scale]),
        OPEN,
        "Latency is that of packets from generation to delivery: without the wait at the node SAT could not "
        "raise it, as the text says that it does. The text does not name the routing: both are run.",
        f"Below saturation: loads up to {BELOW[-1]:g}. Seeds share their traffic, so that RR and SAT can be "
        "the same to the last digit.",
    ]


def _draw(points: Points, title: str) -> Drawing:
    from hopsim_reproduce import drawing

    latencies = (LATENCY, LATENCY_MAX)
    return drawing.curves(title, points, (*latencies, ACCEPTED), logarithmic=latencies)


def entries() -> list[Entry]:
    """The figure."""
    return [
        Figure(
            name="izu-figure-5",
            title="Average and greatest latency in the 8×8 mesh: RR, Age and SAT",
            source=f"{IZU}, figure 5",
            panels=_panels,
            notes=_notes,
            seeds=SEEDS,
            claims=tuple(_claims()),
            trimmed=True,
            drawing=_draw,
        ).entry()
    ]
