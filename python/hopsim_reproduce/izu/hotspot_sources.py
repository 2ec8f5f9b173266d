"""Figure 9: how much each node gets of the bandwidth of a node that many send to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from hopsim_reproduce.izu.hotspot import explanation, title
from hopsim_reproduce.izu.nodes import central, loads, mean_loads, plane
from hopsim_reproduce.izu.system import (
    ADAPTIVE,
    AGE,
    FULL_LOAD,
    IZU,
    KINDS,
    MESH,
    NODES,
    OBLIVIOUS,
    ROUTINGS,
    RR,
    SAT,
    SEEDS,
    SIDE,
    Lengths,
    Mechanism,
)
from hopsim_reproduce.izu.traffic import hot_spot
from hopsim_reproduce.model import (
    AGREES,
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

EQUAL = 0.0156
"""What node 0 gets from each, 1/64 [phits/cycle]."""
MAPPED = 10
"""Packets to node 0 [%]."""
NEAR = 3
"""Hops from node 0 that are close."""
LENGTHS: Mapping[Scale, Lengths] = {"quick": Lengths(10_000, 150_000), "full": Lengths(50_000, 500_000)}
"""SAT lets a node send 8 packets at a time: a short window would count one turn more or less."""
SOURCES = (
    "What node 0 gets from a node is that node's throughput times the share of its packets that go there, "
    "uniform ones included."
)

Maps = Mapping[tuple[str, Mechanism], np.ndarray]
"""What node 0 gets from nodes 1 to 63 [phits/cycle]."""


def _notes(scale: Scale) -> list[str]:
    return [*explanation(scale, LENGTHS), SOURCES]


def _experiments(scale: Scale, seeds: int) -> list[Experiment]:
    traffic = {"pattern": hot_spot(MAPPED)}
    return [
        Experiment(
            slug(routing, mechanism.title),
            MESH.document(routing, mechanism, traffic, LENGTHS[scale], streams=["nodes"]),
            [FULL_LOAD],
            seeds,
        )
        for routing in ROUTINGS
        for mechanism in KINDS
    ]


def _to_hot(injected: np.ndarray) -> np.ndarray:
    """What of a node's throughput goes to node 0; node 0 itself sends nothing there."""
    share = MAPPED / 100
    found = injected * (share + (1 - share) / (NODES - 1))
    found[0] = 0.0
    return found


def _by_source(results: Results, routing: str, mechanism: Mechanism) -> np.ndarray:
    return _to_hot(mean_loads(results[slug(routing, mechanism.title)]))


def _conclude(_scale: Scale, results: Results) -> Outcome:
    maps = {
        (routing, mechanism): _by_source(results, routing, mechanism)[1:]
        for routing in ROUTINGS
        for mechanism in KINDS
    }
    return Outcome(list(_shares(results)), [*_bulk(maps), *_fairness(maps), *_near_ones(maps)])


def _shares(results: Results) -> Iterator[Comparison]:
    """Least and most that node 0 gets from a node with SAT."""
    for routing in ROUTINGS:
        runs = [_to_hot(loads(result))[1:] for result in results[slug(routing, SAT.title)]]
        for name, pick in (("least", np.min), ("most", np.max)):
            value = Measured.of([float(pick(run)) for run in runs])
            yield Comparison(
                f"SAT, {title(routing)}",
                f"{name} of a node at node 0",
                value,
                EQUAL,
                4,
                "1/63 = 0.0159",
                allowed=AGREES * EQUAL,
            )


def _bulk(maps: Maps) -> Iterator[Fact]:
    found = maps[OBLIVIOUS, RR]
    row = found[: SIDE - 1].sum() / found.sum()
    yield Fact(
        "RR, oblivious: row 0 gets the bulk of node 0's bandwidth",
        f"the {SIDE - 1} nodes of row 0 get at least half of it",
        f"{row:.3f} (an equal share is {(SIDE - 1) / (NODES - 1):.3f})",
        row >= 0.5,
    )


def _fairness(maps: Maps) -> Iterator[Fact]:
    fair = {key: float(values.min() / values.mean()) for key, values in maps.items()}
    for routing in ROUTINGS:
        plain, age, even = (fair[routing, mechanism] for mechanism in KINDS)
        yield Fact(
            f"{title(routing)}: RR has the highest variability, SAT gives all the same",
            "min/mean of the sources: RR < Age < SAT, SAT at least 0.98",
            f"{plain:.3f}, {age:.3f}, {even:.3f}",
            plain < age < even and even >= 0.98,
        )
    least = fair[ADAPTIVE, RR]
    yield Fact(
        "adaptive mesh, RR: some nodes get less than half of the mean",
        "min/mean of the sources below 0.5",
        f"{least:.3f}",
        least < 0.5,
    )
    yield Fact(
        "Age is quite unfair with adaptive routing",
        "min/mean of the sources below that with oblivious routing",
        f"{fair[ADAPTIVE, AGE]:.3f}, {fair[OBLIVIOUS, AGE]:.3f}",
        fair[ADAPTIVE, AGE] < fair[OBLIVIOUS, AGE],
    )


def _near_ones(maps: Maps) -> Iterator[Fact]:
    nodes = np.arange(1, NODES)
    x, y = nodes % SIDE, nodes // SIDE
    values = maps[OBLIVIOUS, AGE]
    near, mean = float(values[x + y <= NEAR].mean()), float(values.mean())
    yield Fact(
        "oblivious: with Age nodes close to node 0 have better access",
        f"mean of those up to {NEAR} hops away above the mean of all",
        f"{near:.4f}, {mean:.4f}",
        near > mean,
    )
    values = maps[ADAPTIVE, AGE]
    inside = central()[1:]
    middle, edge = float(values[inside].mean()), float(values[~inside].mean())
    yield Fact(
        "adaptive: with Age nodes whose paths avoid the congested centre have better access",
        "mean outside the 4×4 in the middle above the mean inside",
        f"{edge:.4f}, {middle:.4f}",
        edge > middle,
    )


def _draw(_scale: Scale, results: Results) -> Figure:
    from hopsim_reproduce import drawing

    panels = {
        f"{title(routing)}, {mechanism.title}": plane(_by_source(results, routing, mechanism))
        for routing in ROUTINGS
        for mechanism in KINDS
    }
    heading = f"Figure 9: bandwidth of node 0 by source, {MAPPED} % of the packets to node 0, load 1"
    return drawing.maps(heading, "accepted by node 0 [phits/cycle]", panels, len(KINDS), shared=False)


def entries() -> list[Entry]:
    """The figure."""
    return [
        Entry(
            name="izu-figure-9",
            title=f"Bandwidth of a hot node by source, {MAPPED} % of the packets to it, 8×8 mesh",
            source=f"{IZU}, figure 9",
            notes=_notes,
            seeds=SEEDS,
            experiments=_experiments,
            conclude=_conclude,
            draw=_draw,
        ),
    ]
