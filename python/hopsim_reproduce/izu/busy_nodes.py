"""Figure 6: two nodes that always offer full load among others that offer less."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from hopsim_reproduce.claims import Value, at_end, between, number, ratio
from hopsim_reproduce.figure import Claim, Figure, Number
from hopsim_reproduce.izu.nodes import loads
from hopsim_reproduce.izu.system import (
    ADAPTIVE,
    AGE,
    FULL_LOAD,
    IZU,
    KINDS,
    LENGTHS,
    MECHANISMS,
    MESH,
    NODES,
    OPEN,
    RR,
    SAT,
    SEEDS,
    Mechanism,
    notes,
)
from hopsim_reproduce.model import Entry, Measured, Scale, quotient, slug
from hopsim_reproduce.panels import LEAST, MEAN, MOST, Case, Line, Panel, Points

BUSY = [20, 51]
"""Nodes that always offer full load."""
LOADS: Mapping[Scale, Sequence[float]] = {
    "quick": (0.05, 0.1, 0.2, 0.3, 0.4, 0.45, 0.5, 0.6, 0.8, 1.0),
    "full": tuple(step / 20 for step in range(1, 21)),
}
PANEL = "adaptive mesh, uniform"
LOW = 0.2
"""A load at which the network still has room for more."""


def _panels(scale: Scale) -> list[Panel]:
    traffic = {"pattern": "uniform", "node_loads": {"listed": [{"nodes": BUSY, "load": FULL_LOAD}]}}
    lines: dict[str, Line] = {}
    for mechanism in MECHANISMS:
        document = MESH.document(ADAPTIVE, mechanism, traffic, LENGTHS[scale], streams=["nodes"])
        name = slug(mechanism.title)
        lines[mechanism.title] = {load: Case(name, document, load) for load in LOADS[scale]}
    return [Panel(PANEL, lines, "load of the other nodes [phits/(node·cycle)]")]


def _busy(mechanism: Mechanism, load: float) -> Value:
    """Mean throughput of the nodes that always offer full load."""

    def read(points: Points) -> Measured:
        found = points.at(PANEL, mechanism.title, load)
        return Measured.of([float(loads(result)[BUSY].mean()) for result in found])

    return Value(f"nodes 20 and 51 with {mechanism.title}, the others at {load:g}", read)


def _numbers() -> Iterator[Number]:
    for mechanism in KINDS:
        yield number(mechanism.title, "nodes 20 and 51, others at 0.2", _busy(mechanism, LOW), 0.84)
    yield number("RR", "mean at full load (saturation)", at_end(PANEL, RR.title, MEAN), 0.45)
    yield number(SAT.title, "least node at full load", at_end(PANEL, SAT.title, LEAST), 0.43)
    for mechanism, published in ((RR, 0.40), (AGE, 0.35)):
        yield number(mechanism.title, "nodes 20 and 51 at full load", _busy(mechanism, FULL_LOAD), published)


def _claims() -> Iterator[Claim]:
    for mechanism in (AGE, SAT):
        yield ratio(
            f"below saturation {mechanism.title} leaves nodes 20 and 51 their rate",
            _busy(mechanism, LOW),
            _busy(RR, LOW),
            0.98,
            1.02,
        )
    for mechanism in (RR, AGE):
        yield ratio(
            f"at saturation SAT has a higher least throughput than {mechanism.title}",
            at_end(PANEL, SAT.title, LEAST),
            at_end(PANEL, mechanism.title, LEAST),
            1.0,
        )
        yield ratio(
            f"at saturation {mechanism.title} has a slightly higher mean than SAT",
            at_end(PANEL, mechanism.title, MEAN),
            at_end(PANEL, SAT.title, MEAN),
            1.0,
            1.2,
        )
        yield ratio(
            f"at saturation nodes 20 and 51 do better with SAT than with {mechanism.title}",
            _busy(SAT, FULL_LOAD),
            _busy(mechanism, FULL_LOAD),
            1.0,
        )
    yield between("saturation is around 0.45: 0.4 is below", _share(RR, 0.4), 0.97)
    yield between("saturation is around 0.45: 0.5 is above", _share(RR, 0.5), None, 0.97)


def _share(mechanism: Mechanism, load: float) -> Value:
    """Mean throughput over mean offer where all but two nodes offer `load`."""
    offered = load + (FULL_LOAD - load) * len(BUSY) / NODES

    def read(points: Points) -> Measured | None:
        return quotient(points.line(PANEL, mechanism.title, MEAN).get(load), Measured.exactly(offered))

    return Value(f"mean with {mechanism.title} / offered, the others at {load:g}", read)


def _notes(scale: Scale) -> list[str]:
    return [
        *notes(scale, LENGTHS[scale]),
        OPEN,
        "Uniform traffic, adaptive routing (the paper names it for figure 7 and in its conclusions). Nodes "
        "20 and 51 always offer full load; queues of 24 packets at the nodes.",
    ]


def entries() -> list[Entry]:
    """The figure."""
    return [
        Figure(
            name="izu-figure-6",
            title="Throughput of the nodes while nodes 20 and 51 offer full load, adaptive 8×8 mesh",
            source=f"{IZU}, figure 6",
            panels=_panels,
            notes=_notes,
            seeds=SEEDS,
            claims=tuple(_claims()),
            numbers=tuple(_numbers()),
            quantities=(LEAST, MEAN, MOST),
        ).entry()
    ]
