"""Figures 6 and 7: nodes that offer different loads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hopsim.reproduce.figure import (
    LEAST,
    MEAN,
    MOST,
    Case,
    Claim,
    Figure,
    Number,
    Panel,
    Points,
    Value,
    at_end,
    between,
    number,
    ratio,
)
from hopsim.reproduce.izu.nodes import central, loads, mean_loads, plane
from hopsim.reproduce.izu.system import (
    ADAPTIVE,
    AGE,
    FULL_LOAD,
    IZU,
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
from hopsim.reproduce.model import (
    SATURATION,
    Comparison,
    Entry,
    Experiment,
    Fact,
    Measured,
    Outcome,
    Results,
    Scale,
    quotient,
    slug,
)
from hopsim.results import Result

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

BUSY = [20, 51]
"""Nodes that always offer full load."""
LOADS: Mapping[Scale, Sequence[float]] = {
    "quick": (0.05, 0.1, 0.2, 0.3, 0.4, 0.45, 0.5, 0.6, 0.8, 1.0),
    "full": tuple(step / 20 for step in range(1, 21)),
}
PANEL = "adaptive mesh, uniform"
LOW = 0.2
"""A load at which the network still has room for more."""
SATURATED_SHARE = 1 / 3
SHOWN = (RR, AGE, SAT)
DRAWS: Mapping[Scale, int] = {"quick": 3, "full": 10}
"""Seeds, each with loads of its own."""


def _panels(scale: Scale) -> list[Panel]:
    traffic = {"pattern": "uniform", "node_loads": {"listed": [{"nodes": BUSY, "load": FULL_LOAD}]}}
    lines = {}
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
    for mechanism in (RR, AGE, SAT):
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


def _random_notes(scale: Scale) -> list[str]:
    return [
        *notes(scale, LENGTHS[scale]),
        OPEN,
        "A third of the nodes, drawn at random, offer full load, each of the others a random load from 0 "
        "to 1. The paper's draw is not known: every seed is another one, ± is their spread.",
        f"Saturated: a node that injects less than {SATURATION:.0%} of what it offers.",
    ]


def _random_experiments(scale: Scale, seeds: int) -> list[Experiment]:
    traffic = {"pattern": "uniform", "node_loads": {"random": {"saturated": SATURATED_SHARE}}}
    documents = {
        # Packets that find their queue full are lost, not late: what was generated is the load on offer.
        mechanism: MESH.document(
            ADAPTIVE, mechanism, traffic, LENGTHS[scale], when_full="drop", streams=["nodes"]
        )
        for mechanism in SHOWN
    }
    return [
        Experiment(slug(mechanism.title), document, [FULL_LOAD], seeds)
        for mechanism, document in documents.items()
    ]


def _saturated(result: Result) -> np.ndarray:
    """Throughput of the nodes that could not inject all they offered."""
    injected = loads(result)
    return injected[injected < SATURATION * loads(result, "generated")]


def _random_outcome(_scale: Scale, results: Results) -> Outcome:
    found = {mechanism: Draws.of(results[slug(mechanism.title)]) for mechanism in SHOWN}
    comparisons = [
        Comparison(mechanism.title, quantity, value, published, 3)
        for quantity, mechanism, value, published in (
            ("least of the saturated nodes", AGE, found[AGE].least, 0.403),
            ("least of the saturated nodes", SAT, found[SAT].least, 0.483),
            ("most of all nodes", AGE, found[AGE].most, 0.913),
            ("most of all nodes", SAT, found[SAT].most, 0.487),
        )
    ]
    return Outcome(comparisons, [*_centres(found), *_random_facts(found)])


@dataclass(frozen=True)
class Draws:
    """Throughput of nodes with random loads, over the draws [phits/cycle]."""

    least: Measured
    """Of the saturated nodes."""
    most: Measured
    """Of all nodes."""
    mean: Measured
    centre: Measured
    """Most of the nodes in the middle."""

    @staticmethod
    def of(runs: Sequence[Result]) -> Draws:
        """From the results of a mechanism."""
        injected = [loads(run) for run in runs]
        return Draws(
            Measured.of([float(_saturated(run).min()) for run in runs]),
            Measured.of([float(nodes.max()) for nodes in injected]),
            Measured.of([float(nodes.mean()) for nodes in injected]),
            Measured.of([float(nodes[central()].max()) for nodes in injected]),
        )


def _centres(found: Mapping[Mechanism, Draws]) -> Iterator[Fact]:
    for mechanism in (RR, AGE):
        most, centre = found[mechanism].most.mean, found[mechanism].centre.mean
        yield Fact(
            f"with {mechanism.title} some nodes inject at high rates, but never near the centre",
            "most of all nodes at least 1.2 times the most of the 4×4 in the middle",
            f"{most:.3f}, in the middle {centre:.3f}",
            most >= 1.2 * centre,
        )


def _random_facts(found: Mapping[Mechanism, Draws]) -> Iterator[Fact]:
    plain, age, even = (found[mechanism] for mechanism in (RR, AGE, SAT))
    gain = even.least.mean / age.least.mean - 1
    yield Fact(
        "the least saturated node gains 20 % from Age to SAT", "10 to 30 %", f"{gain:.1%}", 0.1 <= gain <= 0.3
    )
    yield Fact(
        "SAT caps all at the rate of the first node that saturates",
        "most of all / least of the saturated nodes at most 1.05",
        f"{even.most.mean / even.least.mean:.3f}",
        even.most.mean <= 1.05 * even.least.mean,
    )
    yield Fact(
        "Age has a higher mean than SAT and a higher least than RR",
        "mean Age > SAT; least saturated Age > RR",
        f"mean {age.mean.mean:.3f}, {even.mean.mean:.3f}; least {age.least.mean:.3f}, {plain.least.mean:.3f}",
        age.mean.mean > even.mean.mean and age.least.mean > plain.least.mean,
    )


def _random_figure(_scale: Scale, results: Results) -> Drawing:
    from hopsim.reproduce import drawing

    first = [results[slug(mechanism.title)][:1] for mechanism in SHOWN]
    panels = {"offered": plane(mean_loads(first[0], "generated"))}
    for mechanism, runs in zip(SHOWN, first, strict=True):
        panels[mechanism.title] = plane(mean_loads(runs))
    title = "Figure 7: loads offered and injected by the nodes of the adaptive mesh (seed 1), uniform traffic"
    return drawing.maps(title, "load [phits/(node·cycle)]", panels, 4)


def entries() -> list[Entry]:
    """Both figures."""
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
        ).entry(),
        Entry(
            name="izu-figure-7",
            title="Throughput of nodes with random loads, adaptive 8×8 mesh",
            source=f"{IZU}, figure 7",
            notes=_random_notes,
            seeds=DRAWS,
            experiments=_random_experiments,
            conclude=_random_outcome,
            draw=_random_figure,
        ),
    ]
