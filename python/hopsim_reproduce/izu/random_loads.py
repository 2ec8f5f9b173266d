"""Figure 7: nodes that offer loads drawn at random."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hopsim.results.result import Result
from hopsim_reproduce.izu.nodes import central, loads, mean_loads, plane
from hopsim_reproduce.izu.system import (
    ADAPTIVE,
    AGE,
    FULL_LOAD,
    IZU,
    KINDS,
    LENGTHS,
    MESH,
    OPEN,
    RR,
    SAT,
    Mechanism,
    notes,
)
from hopsim_reproduce.model import (
    AGREES,
    SATURATION,
    Comparison,
    Entry,
    Experiment,
    Fact,
    Measured,
    Outcome,
    Results,
    Scale,
    slug,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SATURATED_SHARE = 1 / 3
DRAWS: Mapping[Scale, int] = {"quick": 3, "full": 10}
"""Seeds, each with loads of its own."""


def _notes(scale: Scale) -> list[str]:
    return [
        *notes(scale, LENGTHS[scale]),
        OPEN,
        "A third of the nodes, drawn at random, offer full load, each of the others a random load from 0 "
        "to 1. The paper's draw is not known: every seed is another one, ± is their spread.",
        f"Saturated: a node that injects less than {SATURATION:.0%} of what it offers.",
    ]


def _experiments(scale: Scale, seeds: int) -> list[Experiment]:
    traffic = {"pattern": "uniform", "node_loads": {"random": {"saturated": SATURATED_SHARE}}}
    documents = {
        # Packets that find their queue full are lost, not late: what was generated is the load on offer.
        mechanism: MESH.document(
            ADAPTIVE, mechanism, traffic, LENGTHS[scale], when_full="drop", streams=["nodes"]
        )
        for mechanism in KINDS
    }
    return [
        Experiment(slug(mechanism.title), document, [FULL_LOAD], seeds)
        for mechanism, document in documents.items()
    ]


def _saturated(result: Result) -> np.ndarray:
    """Throughput of the nodes that could not inject all they offered."""
    injected = loads(result)
    return injected[injected < SATURATION * loads(result, "generated")]


def _conclude(_scale: Scale, results: Results) -> Outcome:
    found = {mechanism: Draws.of(results[slug(mechanism.title)]) for mechanism in KINDS}
    comparisons = [
        Comparison(mechanism.title, quantity, value, published, 3, allowed=AGREES * published)
        for quantity, mechanism, value, published in (
            ("least of the saturated nodes", AGE, found[AGE].least, 0.403),
            ("least of the saturated nodes", SAT, found[SAT].least, 0.483),
            ("most of all nodes", AGE, found[AGE].most, 0.913),
            ("most of all nodes", SAT, found[SAT].most, 0.487),
        )
    ]
    return Outcome(comparisons, [*_centres(found), *_facts(found)])


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


def _facts(found: Mapping[Mechanism, Draws]) -> Iterator[Fact]:
    plain, age, even = (found[mechanism] for mechanism in KINDS)
    gain = even.least.mean / age.least.mean - 1
    yield Fact(
        "the least saturated node gains 20 % from Age to SAT",
        "18 to 22 %",
        f"{gain:.1%}",
        0.18 <= gain <= 0.22,
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


def _draw(_scale: Scale, results: Results) -> Figure:
    from hopsim_reproduce import drawing

    first = [results[slug(mechanism.title)][:1] for mechanism in KINDS]
    panels = {"offered": plane(mean_loads(first[0], "generated"))}
    for mechanism, runs in zip(KINDS, first, strict=True):
        panels[mechanism.title] = plane(mean_loads(runs))
    title = "Figure 7: loads offered and injected by the nodes of the adaptive mesh (seed 1), uniform traffic"
    return drawing.maps(title, "load [phits/(node·cycle)]", panels, 4)


def entries() -> list[Entry]:
    """The figure."""
    return [
        Entry(
            name="izu-figure-7",
            title="Throughput of nodes with random loads, adaptive 8×8 mesh",
            source=f"{IZU}, figure 7",
            notes=_notes,
            seeds=DRAWS,
            experiments=_experiments,
            conclude=_conclude,
            draw=_draw,
        ),
    ]
