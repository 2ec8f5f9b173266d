"""Figure 8: throughput while many send to one node."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from hopsim_reproduce.claims import at_place, ratio
from hopsim_reproduce.figure import Claim, Figure
from hopsim_reproduce.izu.system import (
    ADAPTIVE,
    AGE,
    FULL_LOAD,
    IZU,
    KINDS,
    LENGTHS,
    MECHANISMS,
    MESH,
    OBLIVIOUS,
    OPEN,
    ROUTINGS,
    RR,
    SAT,
    SEEDS,
    Lengths,
    Mechanism,
    notes,
)
from hopsim_reproduce.izu.traffic import hot_spot
from hopsim_reproduce.model import Entry, Fact, Scale, slug
from hopsim_reproduce.panels import LEAST, MEAN, Case, Panel, Points

SHARES: Mapping[Scale, Sequence[float]] = {
    "quick": (0, 1, 2, 3, 5, 10, 20),
    "full": (0, 1, 2, 3, 4, 5, 7.5, 10, 15, 20),
}
"""Packets to node 0 [%]."""


def title(routing: str) -> str:
    """Name of the network with a routing."""
    return f"{routing} mesh"


def _panels(scale: Scale) -> list[Panel]:
    return [
        Panel(
            title(routing),
            {
                mechanism.title: {share: _case(routing, mechanism, share, scale) for share in SHARES[scale]}
                for mechanism in MECHANISMS
            },
            "packets to node 0 [%]",
        )
        for routing in ROUTINGS
    ]


def _case(routing: str, mechanism: Mechanism, share: float, scale: Scale) -> Case:
    document = MESH.document(routing, mechanism, {"pattern": hot_spot(share)}, LENGTHS[scale])
    return Case(slug(routing, mechanism.title, f"{share:g}"), document, FULL_LOAD)


def _fairest(routing: str) -> Claim:
    def check(points: Points) -> Fact:
        lines = {each: points.line(title(routing), each.title, LEAST) for each in KINDS}
        wrong = [
            f"{share:g} %"
            for share in lines[SAT]
            if not lines[RR][share].mean < lines[AGE][share].mean <= lines[SAT][share].mean
        ]
        return Fact(
            f"{title(routing)}: Age improves the least throughput, SAT has the best",
            "least: RR < Age <= SAT at every share",
            f"not at {', '.join(wrong)}" if wrong else "so it is",
            not wrong,
        )

    return check


def _claims() -> Iterator[Claim]:
    for routing in ROUTINGS:
        panel = title(routing)
        for mechanism in KINDS:
            end, start = (at_place(panel, mechanism.title, share, MEAN) for share in (20, 0))
            yield ratio(
                f"{panel}, {mechanism.title}: mean throughput drops quickly with the share",
                end,
                start,
                None,
                0.3,
            )
        yield _fairest(routing)
    for share in (1, 2, 3):
        own, other = (at_place(title(routing), RR.title, share, MEAN) for routing in (ADAPTIVE, OBLIVIOUS))
        yield ratio(f"RR, {share} %: adaptive routing improves the mean significantly", own, other, 1.05)


def explanation(scale: Scale, lengths: Mapping[Scale, Lengths] = LENGTHS) -> list[str]:
    """What is run."""
    return [
        *notes(scale, lengths[scale]),
        OPEN,
        "Full load. A packet goes to node 0 with the share named, else to any other node, node 0 as well.",
    ]


def entries() -> list[Entry]:
    """The figure."""
    return [
        Figure(
            name="izu-figure-8",
            title="Mean and least throughput by the share of packets to a hot node, 8×8 mesh",
            source=f"{IZU}, figure 8",
            panels=_panels,
            notes=explanation,
            seeds=SEEDS,
            claims=tuple(_claims()),
            trimmed=True,
            quantities=(MEAN, LEAST),
        ).entry(),
    ]
