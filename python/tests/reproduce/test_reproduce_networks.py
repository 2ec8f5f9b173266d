"""The entries of networks of low diameter and of fat trees, on results that were not simulated."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from typing import Any, get_args

import networkx
import pytest

from hopsim import _core
from hopsim.results.result import Result
from hopsim_reproduce.entries import BY_NAME
from hopsim_reproduce.model import Outcome, Scale
from hopsim_reproduce.networks import dragonfly_plus, polarfly, shifts, slim_fly
from hopsim_reproduce.networks.polarfly import PolarFly
from hopsim_reproduce.networks.slim_fly import SlimFly
from hopsim_reproduce.panels import ACCEPTED, LATENCY
from made_up import made_up


def conclude(name: str, change: Any) -> Outcome:
    """What an entry says of the made-up results with what `change` makes of each."""
    results = {
        experiment: [
            Result(
                {"config": each.config, "result": {**each.summary, **change(each)}}, each.axes, each.tables
            )
            for each in points
        ]
        for experiment, points in made_up(BY_NAME[name]).items()
    }
    return BY_NAME[name].conclude("quick", results)


def failing(outcome: Outcome) -> list[str]:
    return [fact.statement for fact in outcome.facts if not fact.holds]


def routing(result: Result) -> str:
    return next(iter(result.config["routing"]))


def orthogonal_points(q: int) -> networkx.Graph[int]:
    """PolarFly as its definition has it, vertices numbered as hopsim does."""
    points = [(1, y, z) for y in range(q) for z in range(q)] + [(0, 1, z) for z in range(q)] + [(0, 0, 1)]
    graph: networkx.Graph[int] = networkx.Graph()
    for one, first in enumerate(points):
        for other, second in enumerate(points[:one]):
            if sum(a * b for a, b in zip(first, second, strict=True)) % q == 0:
                graph.add_edge(one, other)
    return graph


@pytest.mark.parametrize("links", [1, 2])
@pytest.mark.parametrize("q", [3, 7])
def test_a_permutation_of_a_polarfly_pairs_routers_so_many_links_apart(q: int, links: int) -> None:
    network = PolarFly(q, 2)
    destinations = network.permutation(links)["destinations"]
    assert sorted(destinations) == list(range(2 * (q * q + q + 1)))
    graph = orthogonal_points(q)
    for node, destination in enumerate(destinations):
        assert node % 2 == destination % 2
        assert networkx.shortest_path_length(graph, node // 2, destination // 2) == links


def slim_fly_of(q: int) -> networkx.Graph[int]:
    """A Slim Fly of a prime q = 4w + 1 by its definition."""
    root = next(g for g in range(2, q) if len({pow(g, e, q) for e in range(q - 1)}) == q - 1)
    even, odd = ({pow(root, e, q) for e in range(start, q - 1, 2)} for start in (0, 1))
    graph: networkx.Graph[int] = networkx.Graph()
    for x in range(q):
        for y in range(q):
            graph.add_edges_from((x * q + y, x * q + (y + step) % q) for step in even)
            graph.add_edges_from((q * q + x * q + y, q * q + x * q + (y + step) % q) for step in odd)
            graph.add_edges_from((x * q + y, q * q + m * q + (y - m * x) % q) for m in range(q))
    return graph


@pytest.mark.parametrize("q", [5, 13])
def test_of_the_worst_traffic_of_a_slim_fly_every_link_that_is_used_has_the_packets_of_two_routers(
    q: int,
) -> None:
    graph = slim_fly_of(q)
    destinations = SlimFly(q, 1).worst()["destinations"]
    assert sorted(destinations) == list(range(2 * q * q))
    packets: Counter[tuple[int, int]] = Counter()
    for source, target in enumerate(destinations):
        assert not graph.has_edge(source, target)
        (over,) = set(graph[source]) & set(graph[target])
        packets.update([(source, over), (over, target)])
    assert set(packets.values()) == {2}


def test_values_of_the_authors_simulator_are_from_runs_that_came_to_an_end() -> None:
    points = polarfly.published()
    assert {point.pattern for point in points} == {"uniform", *polarfly.PATTERNS}
    assert {point.line for point in points} == set(polarfly.ROUTINGS)
    assert all(0 < point.accepted <= 1.02 * point.load for point in points)
    at_low_load: Mapping[str, float] = {
        point.line: point.latency for point in points if point.load == 0.1 and point.pattern == "uniform"
    }
    assert at_low_load["MIN"] < at_low_load["UGAL-L"] < at_low_load["VAL"]


def test_values_of_a_polarfly_are_judged_by_ten_percent() -> None:
    artifact = {(point.pattern, point.line, point.load): point for point in polarfly.published()}

    def change(error: float) -> Any:
        def found(each: Result) -> dict[str, float]:
            line = {"minimal": "MIN", "ugal": "UGAL-L", "valiant": "VAL"}[routing(each)]
            point = artifact.get(("uniform", line, each.axes["load"]))
            if point is None:
                return {}
            return {ACCEPTED: error * point.accepted, LATENCY: error * point.latency}

        return found

    for error, agrees in ((1.0, True), (1.09, True), (1.11, False), (0.89, False)):
        values = conclude("networks-polarfly", change(error)).comparisons
        assert len(values) > 20
        assert {value.agrees for value in values} == {agrees}, error


def test_a_slim_fly_whose_minimal_routing_accepts_more_than_its_bound_is_noticed() -> None:
    nodes = slim_fly.NETWORKS["quick"].nodes_per_router

    def change(bounds: float) -> Any:
        def found(each: Result) -> dict[str, float]:
            worst = "destinations" in each.config["jobs"][0]["traffic"]["pattern"]
            saturated = {"minimal": 0.87, "valiant": 0.43, "ugal": 0.8}[routing(each)]
            if worst:
                saturated = {"minimal": bounds / (2 * nodes), "valiant": 0.4, "ugal": 0.45}[routing(each)]
            return {ACCEPTED: min(each.axes["load"], saturated)}

        return found

    right = conclude("networks-slim-fly", change(1.0))
    assert failing(right) == []
    assert all(value.agrees for value in right.comparisons)
    wrong = conclude("networks-slim-fly", change(1.1)).comparisons
    assert [value.row for value in wrong if not value.agrees] == ["MIN, worst traffic"]


def test_a_shift_that_is_held_up_is_noticed() -> None:
    def change(held_up: int, by: float) -> Any:
        def found(each: Result) -> dict[str, float]:
            at_random = each.config["routing"]["minimal"]["up"] == "random"
            first = each.config["jobs"][0]["traffic"]["pattern"]["destinations"][0]
            share = 0.8 if at_random else by if first == held_up else 1.0
            return {ACCEPTED: share * 0.94, shifts.GENERATED: 0.94}

        return found

    assert failing(conclude("networks-shifts", change(7, 0.995))) == []
    assert failing(conclude("networks-shifts", change(7, 0.98))) == ["by destination no shift is held up"]


def test_a_jellyfish_whose_servers_get_less_is_noticed_for_each_way_to_spread_packets() -> None:
    def change(of_jellyfish: float) -> Any:
        def found(each: Result) -> dict[str, float]:
            return {ACCEPTED: of_jellyfish if "jellyfish" in each.config["topology"] else 0.6}

        return found

    assert failing(conclude("networks-jellyfish", change(0.61))) == []
    assert len(failing(conclude("networks-jellyfish", change(0.59)))) == 3


def test_both_networks_of_the_jellyfish_entry_have_the_same_switches() -> None:
    for scale in get_args(Scale):
        documents = [each.document for each in BY_NAME["networks-jellyfish"].experiments(scale, 1)]
        trees, graphs = (
            [each["topology"] for each in documents if kind in each["topology"]]
            for kind in ("xgft", "jellyfish")
        )
        half, _, ports = trees[0]["xgft"]["children"]
        jellyfish = graphs[0]["jellyfish"]
        assert ports == 2 * half == jellyfish["degree"] + jellyfish["nodes_per_router"]
        # Two levels of ports · half switches, and half² above them.
        assert jellyfish["routers"] == 2 * ports * half + half * half
        servers = half * half * ports
        assert 4 * jellyfish["routers"] * jellyfish["nodes_per_router"] == 5 * servers


def test_a_dragonfly_plus_whose_nodes_get_less_is_noticed_for_each_kind_of_traffic() -> None:
    def change(of_plus: float) -> Any:
        def found(each: Result) -> dict[str, float]:
            is_plus = dragonfly_plus.DRAGONFLY not in each.config["topology"]
            ends_next_door = "adversarial" in each.config["jobs"][0]["traffic"]["pattern"]
            bound = 1 / dragonfly_plus.nodes_per_group(each.config["topology"])
            if ends_next_door and routing(each) == "minimal":
                return {ACCEPTED: min(each.axes["load"], bound)}
            if ends_next_door and is_plus and routing(each) == "ugal":
                return {ACCEPTED: min(each.axes["load"], 0.4)}
            return {ACCEPTED: min(each.axes["load"], of_plus if is_plus else 0.5)}

        return found

    right = conclude("networks-dragonfly-plus", change(0.49))
    assert failing(right) == []
    assert all(value.agrees for value in right.comparisons)
    less = failing(conclude("networks-dragonfly-plus", change(0.47)))
    # With that spines that decide carry less than 1.2 times what leaves do.
    *of_nodes, of_spines = less
    assert len(of_nodes) == 3
    assert all(text.endswith("a node gets no less than in the dragonfly") for text in of_nodes)
    assert of_spines.startswith("dragonfly+: spines that decide")


def test_both_networks_of_the_dragonfly_plus_entry_have_the_same_switches() -> None:
    for ports in dragonfly_plus.PORTS.values():
        both = [
            dragonfly_plus.topology(kind, ports) for kind in (dragonfly_plus.DRAGONFLY, dragonfly_plus.PLUS)
        ]
        dragonfly, plus = both[0]["dragonfly"], both[1]["dragonfly_plus"]
        assert dragonfly["p"] + dragonfly["a"] - 1 + dragonfly["h"] == ports - 1
        assert plus["nodes_per_leaf"] + plus["spines"] == ports == plus["leaves"] + plus["global_links"]
        # A link between any two groups, and no port left over.
        assert plus["spines"] * plus["global_links"] == plus["groups"] - 1
        documents = [json.dumps({"topology": network, "load": 0.1}) for network in both]
        counts = [json.loads(_core.topology_info(document))["nodes"] for document in documents]
        assert counts == [dragonfly_plus.nodes(network) for network in both]
