"""Figures 8 and 9: who gets how much of a node that all send to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from hopsim.reproduce.figure import LEAST, MEAN, Case, Claim, Figure, Panel, Points, at_place, ratio
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
    OBLIVIOUS,
    OPEN,
    RR,
    SAT,
    SEEDS,
    SIDE,
    Lengths,
    Mechanism,
    notes,
)
from hopsim.reproduce.izu.traffic import hot_spot
from hopsim.reproduce.model import (
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
    from matplotlib.figure import Figure as Drawing

ROUTINGS = (OBLIVIOUS, ADAPTIVE)
SHARES: Mapping[Scale, Sequence[float]] = {
    "quick": (0, 1, 2, 3, 5, 10, 20),
    "full": (0, 1, 2, 3, 4, 5, 7.5, 10, 15, 20),
}
"""Packets to node 0 [%]."""
MAPPED = 10
"""Those of figure 9 [%]."""
SHOWN = (RR, AGE, SAT)
NEAR = 3
"""Hops from node 0 that are close."""
MAP_LENGTHS: Mapping[Scale, Lengths] = {"quick": Lengths(10_000, 150_000), "full": Lengths(50_000, 500_000)}
"""SAT lets a node send 8 packets at a time: a short window would count one turn more or less."""


def _title(routing: str) -> str:
    return f"{routing} mesh"


SOURCES = (
    "What node 0 gets from a node is that node's throughput times the share of its packets that go there, "
    "uniform ones included."
)


def _panels(scale: Scale) -> list[Panel]:
    return [
        Panel(
            _title(routing),
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
        lines = {each: points.line(_title(routing), each.title, LEAST) for each in SHOWN}
        wrong = [
            f"{share:g} %"
            for share in lines[SAT]
            if not lines[RR][share].mean < lines[AGE][share].mean <= lines[SAT][share].mean
        ]
        return Fact(
            f"{_title(routing)}: Age improves the least throughput, SAT has the best",
            "least: RR < Age <= SAT at every share",
            f"not at {', '.join(wrong)}" if wrong else "so it is",
            not wrong,
        )

    return check


def _claims() -> Iterator[Claim]:
    for routing in ROUTINGS:
        panel = _title(routing)
        for mechanism in (RR, AGE, SAT):
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
        own, other = (at_place(_title(routing), RR.title, share, MEAN) for routing in (ADAPTIVE, OBLIVIOUS))
        yield ratio(f"RR, {share} %: adaptive routing improves the mean significantly", own, other, 1.05)


def _notes(scale: Scale, lengths: Mapping[Scale, Lengths] = LENGTHS) -> list[str]:
    return [
        *notes(scale, lengths[scale]),
        OPEN,
        "Full load. A packet goes to node 0 with the share named, else to any other node, node 0 as well.",
    ]


def _map_notes(scale: Scale) -> list[str]:
    return [*_notes(scale, MAP_LENGTHS), SOURCES]


def _experiments(scale: Scale, seeds: int) -> list[Experiment]:
    traffic = {"pattern": hot_spot(MAPPED)}
    return [
        Experiment(
            slug(routing, mechanism.title),
            MESH.document(routing, mechanism, traffic, MAP_LENGTHS[scale], streams=["nodes"]),
            [FULL_LOAD],
            seeds,
        )
        for routing in ROUTINGS
        for mechanism in SHOWN
    ]


def _to_hot(injected: np.ndarray) -> np.ndarray:
    """What of a node's throughput goes to node 0; node 0 itself sends nothing there."""
    share = MAPPED / 100
    found = injected * (share + (1 - share) / (NODES - 1))
    found[0] = 0.0
    return found


def _by_source(results: Results, routing: str, mechanism: Mechanism) -> np.ndarray:
    return _to_hot(mean_loads(results[slug(routing, mechanism.title)]))


def _outcome(_scale: Scale, results: Results) -> Outcome:
    maps = {
        (routing, mechanism): _by_source(results, routing, mechanism)[1:]
        for routing in ROUTINGS
        for mechanism in SHOWN
    }
    return Outcome(list(_shares(results)), [*_bulk(maps), *_fairness(maps), *_near_ones(maps)])


Maps = Mapping[tuple[str, Mechanism], np.ndarray]
"""What node 0 gets from nodes 1 to 63 [phits/cycle]."""


def _shares(results: Results) -> Iterator[Comparison]:
    """Least and most that node 0 gets from a node with SAT."""
    for routing in ROUTINGS:
        runs = [_to_hot(loads(result))[1:] for result in results[slug(routing, SAT.title)]]
        for name, pick in (("least", np.min), ("most", np.max)):
            value = Measured.of([float(pick(run)) for run in runs])
            yield Comparison(
                f"SAT, {_title(routing)}", f"{name} of a node at node 0", value, 0.0156, 4, "1/63 = 0.0159"
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
        plain, age, even = (fair[routing, mechanism] for mechanism in SHOWN)
        yield Fact(
            f"{_title(routing)}: RR has the highest variability, SAT gives all the same",
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


def _map_figure(_scale: Scale, results: Results) -> Drawing:
    from hopsim.reproduce import drawing

    panels = {
        f"{_title(routing)}, {mechanism.title}": plane(_by_source(results, routing, mechanism))
        for routing in ROUTINGS
        for mechanism in SHOWN
    }
    title = f"Figure 9: bandwidth of node 0 by source, {MAPPED} % of the packets to node 0, load 1"
    return drawing.maps(title, "accepted by node 0 [phits/cycle]", panels, len(SHOWN), shared=False)


def entries() -> list[Entry]:
    """Both figures."""
    return [
        Figure(
            name="izu-figure-8",
            title="Mean and least throughput by the share of packets to a hot node, 8×8 mesh",
            source=f"{IZU}, figure 8",
            panels=_panels,
            notes=_notes,
            seeds=SEEDS,
            claims=tuple(_claims()),
            quantities=(MEAN, LEAST),
        ).entry(),
        Entry(
            name="izu-figure-9",
            title=f"Bandwidth of a hot node by source, {MAPPED} % of the packets to it, 8×8 mesh",
            source=f"{IZU}, figure 9",
            notes=_map_notes,
            seeds=SEEDS,
            experiments=_experiments,
            conclude=_outcome,
            draw=_map_figure,
        ),
    ]
