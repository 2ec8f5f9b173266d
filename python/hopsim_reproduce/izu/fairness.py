"""Figure 4: fairness against throughput at full load, of three networks under five patterns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from hopsim_reproduce.figure import Claim, Figure, Number
from hopsim_reproduce.izu.system import (
    ADAPTIVE,
    AGE,
    FAT_TREE,
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
    SAT_WIDE,
    SEEDS,
    TORUS,
    Mechanism,
    Network,
    notes,
)
from hopsim_reproduce.izu.traffic import PATTERNS, PERMUTATIONS, TRANSPOSE
from hopsim_reproduce.model import AGREES, Comparison, Entry, Fact, Measured, Scale, slug
from hopsim_reproduce.panels import FAIRNESS, LEAST, MEAN, Case, Panel, Points

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

NETWORKS = (MESH, TORUS, FAT_TREE)
STARVES = 0.05
"""Least over mean throughput from which a node counts as starved."""
FAIR = 0.98
"""The same from which a network counts as fair."""
NEGLIGIBLE = 1.0
"""Difference of a change of average throughput that agrees [%]: the text gives them to a percent."""


def _title(network: Network, routing: str) -> str:
    return f"{network.title}, {routing}"


def _case(network: Network, routing: str, mechanism: Mechanism, pattern: str, scale: Scale) -> Case:
    document = network.document(routing, mechanism, {"pattern": PATTERNS[pattern]}, LENGTHS[scale])
    return Case(slug(network.title, routing, mechanism.title, pattern), document, FULL_LOAD)


def _panels(scale: Scale) -> list[Panel]:
    return [
        Panel(
            _title(network, routing),
            {
                mechanism.title: {
                    pattern: _case(network, routing, mechanism, pattern, scale) for pattern in PATTERNS
                }
                for mechanism in MECHANISMS
            },
        )
        for routing in ROUTINGS
        for network in NETWORKS
    ]


def _fairness(points: Points, network: Network, routing: str, mechanism: Mechanism) -> dict[str, float]:
    """Least over mean throughput by pattern."""
    return _means(points, network, routing, mechanism, FAIRNESS)


def _means(
    points: Points, network: Network, routing: str, mechanism: Mechanism, key: str
) -> dict[str, float]:
    line = points.line(_title(network, routing), mechanism.title, key)
    return {str(pattern): value.mean for pattern, value in line.items()}


def _average(values: Mapping[str, float]) -> float:
    return sum(values.values()) / len(values)


def _throughput(points: Points, network: Network, routing: str, mechanism: Mechanism) -> float:
    """Mean of the five patterns."""
    return _average(_means(points, network, routing, mechanism, MEAN))


def _mesh_least_fair(routing: str, pattern: str) -> Claim:
    def check(points: Points) -> Fact:
        mesh, torus, tree = (_fairness(points, network, routing, RR)[pattern] for network in NETWORKS)
        excepted = routing == OBLIVIOUS and pattern in PERMUTATIONS
        return Fact(
            f"RR, {routing}, {pattern}: the mesh is the least fair",
            f"min/mean: mesh below {'fat tree (the torus starves)' if excepted else 'torus and fat tree'}",
            f"mesh {mesh:.3f}, torus {torus:.3f}, fat tree {tree:.3f}",
            mesh < tree and (excepted or mesh < torus),
        )

    return check


def _tree_most_fair(routing: str, pattern: str) -> Claim:
    def check(points: Points) -> Fact:
        mesh, torus, tree = (_fairness(points, network, routing, RR)[pattern] for network in NETWORKS)
        return Fact(
            f"RR, {routing}, {pattern}: the fat tree is the most fair",
            "min/mean: fat tree above mesh and torus",
            f"mesh {mesh:.3f}, torus {torus:.3f}, fat tree {tree:.3f}",
            tree > max(mesh, torus),
        )

    return check


def _starved(pattern: str, mechanism: Mechanism, statement: str) -> Claim:
    def check(points: Points) -> Fact:
        found = _fairness(points, TORUS, OBLIVIOUS, mechanism)[pattern]
        cured = mechanism not in (RR, AGE)
        return Fact(
            f"oblivious torus, {pattern}: {statement}",
            f"min/mean with {mechanism.title} {'above' if cured else 'below'} {STARVES:g}",
            f"{found:.3f}",
            (found > STARVES) == cured,
        )

    return check


def _all_fair(points: Points) -> Fact:
    values = {
        f"{_title(network, routing)}, {pattern}": value
        for network in NETWORKS
        for routing in ROUTINGS
        for pattern, value in _fairness(points, network, routing, SAT).items()
    }
    worst = min(values, key=lambda name: values[name])
    return Fact(
        "SAT with l = k: all markers on the top line",
        f"min/mean at least {FAIR:g} in all {len(values)} cases",
        f"{values[worst]:.3f} at least ({worst})",
        values[worst] >= FAIR,
    )


def _adaptive_faster(network: Network) -> Claim:
    def check(points: Points) -> Fact:
        before, after = (_throughput(points, network, routing, RR) for routing in ROUTINGS)
        return Fact(
            f"{network.title}: adaptive routing increases average throughput",
            "mean over the patterns, adaptive / oblivious above 1",
            f"{after / before:.3f} = {after:.4f} / {before:.4f}",
            after > before,
        )

    return check


def _adaptive_least(points: Points) -> Fact:
    cases = [
        (network, pattern, [_means(points, network, routing, RR, LEAST)[pattern] for routing in ROUTINGS])
        for network in NETWORKS
        for pattern in PATTERNS
    ]
    higher = [(network, pattern) for network, pattern, (before, after) in cases if after > before]
    torus = sum(network is TORUS for network, _ in higher)
    return Fact(
        "adaptive routing in most cases increases minimum throughput, especially in the torus",
        "least of RR higher in most cases, in the torus under all patterns",
        f"in {len(higher)} of {len(cases)}, in the torus in {torus} of {len(PATTERNS)}",
        2 * len(higher) > len(cases) and torus == len(PATTERNS),
    )


def _fairer(network: Network, routing: str) -> Claim:
    def check(points: Points) -> Fact:
        plain, age, even = (_average(_fairness(points, network, routing, mechanism)) for mechanism in KINDS)
        return Fact(
            f"{_title(network, routing)}: Age improves fairness, SAT more",
            "min/mean averaged over the patterns: RR < Age < SAT with l = k",
            f"{plain:.3f}, {age:.3f}, {even:.3f}",
            plain < age < even,
        )

    return check


def _wider(network: Network, routing: str) -> Claim:
    def check(points: Points) -> Fact:
        even, wide = (_means(points, network, routing, mechanism, MEAN) for mechanism in (SAT, SAT_WIDE))
        fair, wide_fair = (
            _average(_fairness(points, network, routing, mechanism)) for mechanism in (SAT, SAT_WIDE)
        )
        more = sum(wide[pattern] > even[pattern] for pattern in even)
        return Fact(
            f"{_title(network, routing)}: k = 2l is less fair, mostly with a little more throughput",
            "average min/mean lower, throughput higher under most patterns",
            f"min/mean {wide_fair:.3f} after {fair:.3f}; higher under {more} of {len(even)}",
            wide_fair < fair and 2 * more > len(even),
        )

    return check


def _transpose_gains(network: Network, mechanism: Mechanism) -> Claim:
    def check(points: Points) -> Fact:
        plain, own = (
            (
                _fairness(points, network, ADAPTIVE, each)[TRANSPOSE],
                _means(points, network, ADAPTIVE, each, MEAN)[TRANSPOSE],
            )
            for each in (RR, mechanism)
        )
        return Fact(
            f"adaptive {network.title}, transpose: {mechanism.title} improves fairness and throughput",
            "min/mean and mean throughput above those of RR",
            f"min/mean {own[0]:.3f} after {plain[0]:.3f}, throughput {own[1]:.3f} after {plain[1]:.3f}",
            own[0] > plain[0] and own[1] > plain[1],
        )

    return check


def _tree_throughput(routing: str, mechanism: Mechanism) -> Claim:
    def check(points: Points) -> Fact:
        change = _change(points, FAT_TREE, routing, mechanism)
        rises = routing == ADAPTIVE
        return Fact(
            f"fat tree, {routing}: throughput {'increases' if rises else 'decreases'} with {mechanism.title}",
            f"mean over the patterns against RR {'above' if rises else 'below'} 0 %",
            f"{change:+.1f} %",
            (change > 0) == rises,
        )

    return check


def _change(points: Points, network: Network, routing: str, mechanism: Mechanism) -> float:
    """Of the throughput averaged over the patterns, against RR [%]."""
    plain, own = (_throughput(points, network, routing, each) for each in (RR, mechanism))
    return 100 * (own / plain - 1)


def _reduction(pick: Callable[[Sequence[float]], float], name: str, published: float) -> Number:
    """The least or greatest reduction of the average throughput by SAT in mesh and torus."""

    def compare(points: Points) -> Comparison:
        found = [
            -_change(points, network, routing, mechanism)
            for network in (MESH, TORUS)
            for routing in ROUTINGS
            for mechanism in (SAT, SAT_WIDE)
        ]
        quantity = f"{name} reduction of average throughput [%]"
        most = AGREES * published
        ours = Measured.exactly(pick(found))
        return Comparison("SAT, mesh and torus", quantity, ours, published, 1, allowed=most)

    return compare


def _by_age(network: Network, routing: str, published: float) -> Number:
    def compare(points: Points) -> Comparison:
        change = Measured.exactly(_change(points, network, routing, AGE))
        return Comparison(
            f"Age, {_title(network, routing)}",
            "change of average throughput [%]",
            change,
            published,
            1,
            allowed=NEGLIGIBLE,
        )

    return compare


def _claims() -> Iterator[Claim]:
    for routing in ROUTINGS:
        for pattern in PATTERNS:
            yield _mesh_least_fair(routing, pattern)
            yield _tree_most_fair(routing, pattern)
    for pattern in PERMUTATIONS:
        yield _starved(pattern, RR, "RR starves some nodes")
        yield _starved(pattern, AGE, "Age does not help")
        yield _starved(pattern, SAT, "SAT avoids it")
    for network in NETWORKS:
        yield _adaptive_faster(network)
    yield _adaptive_least
    yield _all_fair
    for network in NETWORKS:
        for routing in ROUTINGS:
            yield _fairer(network, routing)
            yield _wider(network, routing)
    for mechanism in MECHANISMS[1:]:
        for routing in ROUTINGS:
            yield _tree_throughput(routing, mechanism)
        for network in (MESH, FAT_TREE):
            yield _transpose_gains(network, mechanism)


def _notes(scale: Scale) -> list[str]:
    return [
        *notes(scale, LENGTHS[scale]),
        OPEN,
        "Full load, queues of 24 packets at the nodes. SAT with l = 8 in all networks (§5.1), although §4.1 "
        "asks for 16 in the fat tree: a round takes 232 cycles there, so that no node gets more than 0.55.",
        "Mean and least are those of the nodes that send something: a permutation leaves some out. What is "
        "said of averages is of the mean over the five patterns.",
    ]


def _draw(points: Points, title: str) -> Drawing:
    from hopsim_reproduce import drawing

    panels: dict[str, drawing.Cloud] = {}
    for panel in points.panels.values():
        lines = {
            name: (points.line(panel.title, name, MEAN), points.line(panel.title, name, FAIRNESS))
            for name in panel.lines
        }
        panels[panel.title] = {
            name: {str(pattern): (means[pattern], fair[pattern]) for pattern in means if pattern in fair}
            for name, (means, fair) in lines.items()
        }
    labels = ("mean injected load [phits/(node·cycle)]", "min/mean of the nodes")
    return drawing.scatter(title, labels, panels, len(NETWORKS))


def entries() -> list[Entry]:
    """The figure."""
    return [
        Figure(
            name="izu-figure-4",
            title="Fairness against throughput at full load: mesh, torus and fat tree, RR, Age and SAT",
            source=f"{IZU}, figure 4",
            panels=_panels,
            notes=_notes,
            seeds=SEEDS,
            claims=tuple(_claims()),
            trimmed=True,
            numbers=(
                _reduction(min, "least", 4.8),
                _reduction(max, "greatest", 20.4),
                *(_by_age(network, OBLIVIOUS, 0.0) for network in (MESH, TORUS)),
                *(_by_age(network, ADAPTIVE, 2.0) for network in (MESH, TORUS)),
            ),
            drawing=_draw,
        ).entry()
    ]
