"""The model of what a run takes, by hand: networks whose survey is made up, and points written down here."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import count
from typing import Any

import pytest

from hopsim import _core
from hopsim.document import estimate
from hopsim.document.estimate import (
    Expected,
    Survey,
    expected,
    packet_hops,
    packet_hops_per_cycle,
    runs_programs,
)
from hopsim.document.experiment import Experiment, Point

Config = dict[str, Any]

NETWORK = Survey(
    nodes=50,
    routers=10,
    links=(("local", 20), ("global", 5)),
    diameter=4,
    mean_distance=2.5,
    sampled=False,
    cut=3,
    longest_path=6,
    decides=False,
    input_vcs=400,
    ports=90,
    state_bytes=7_000_000,
)
HOPS = 4.125
"""Of `NETWORK`: its longest path is longer than its diameter by half, the mean one by a quarter."""
FABRIC = Survey(
    nodes=16,
    routers=8,
    links=(("network", 16),),
    diameter=2,
    mean_distance=1.5,
    sampled=False,
    cut=8,
    longest_path=2,
    decides=False,
    input_vcs=48,
    ports=40,
    state_bytes=3_000_000,
    set_up_steps=250_000_000,
    packet_hops=5e6,
)


@pytest.fixture
def surveyed(monkeypatch: pytest.MonkeyPatch) -> dict[str, Survey]:
    """Survey by the name of a topology, which stands for those of the core."""
    found = {"network": NETWORK, "fabric": FABRIC}

    def survey(point: Point) -> Survey:
        return found[next(iter(json.loads(point.config)["topology"]))]

    monkeypatch.setattr(estimate, "survey", survey)
    return found


def traffic(load: float | None = 0.2, length: int = 8, changes: Sequence[Config] = ()) -> Config:
    process: Config = {"all_at_once": {}} if load is None else {"bernoulli": {"load": load}}
    return {
        "traffic": {"process": process, "packet_length": length, **({"changes": changes} if changes else {})}
    }


def point(*jobs: Config, measure: Config | None = None, **more: Any) -> Point:
    config: Config = {
        "topology": {"network": {}},
        "links": {"injection": {"latency": 1}, "local": {"latency": 10}, "global": {"latency": 100}},
        "jobs": list(jobs) or [traffic()],
        "measure": measure or {"warmup": 1000, "cycles": 3000},
        **more,
    }
    return Point(0, json.dumps(config), {}, "")


def fabric(topology: Mapping[str, Any] | None = None, forwarding: str = "minimal") -> Point:
    config: Config = {
        "topology": topology or {"fabric": {}},
        "router": {"infiniband": {"forwarding": forwarding}},
        "jobs": [{"messages": {}}],
        "measure": {},
    }
    return Point(0, json.dumps(config), {}, "")


@pytest.mark.parametrize(
    ("diameter", "longest", "hops"),
    [
        (4, 6, HOPS),
        (4, 4, 3.5),
        (3, 9, 6.0),
        # A single router: 2.5 stands for its mean distance.
        (0, 0, 3.5),
    ],
)
def test_a_packet_takes_the_mean_distance_half_of_the_detour_and_the_hop_to_its_node(
    diameter: int, longest: int, hops: float
) -> None:
    network = replace(NETWORK, diameter=diameter, longest_path=longest)
    assert network.hops == hops


def test_a_network_without_fabric_has_no_steps_and_no_hops_of_its_own() -> None:
    least = {key: value for key, value in vars(NETWORK).items() if key != "state_bytes"}
    network = Survey(**least)
    assert (network.state_bytes, network.set_up_steps, network.packet_hops) == (0, 0, None)
    assert (network.output_vcs, network.series_rows) == (0, 0)


RATES: list[tuple[list[Config], float]] = [
    ([traffic(0.2, 8)], 0.2 / 8),
    # Each job has but part of the nodes: the greatest rate counts, not the sum.
    ([traffic(0.2, 8), traffic(0.3, 4), traffic(0.1, 2)], 0.3 / 4),
    ([traffic(0.2, 8, [{"load": 0.6}, {"load": 0.4}, {"pattern": "uniform"}, {"load": None}])], 0.6 / 8),
    ([traffic(0.2, 8, [{"load": 0.1}])], 0.2 / 8),
    # A process without a load sends what the network takes.
    ([traffic(None, 16)], 1 / 16),
    ([{"program": {}}], 0.0),
    ([{"program": {}}, traffic(0.2, 8)], 0.2 / 8),
]


@pytest.mark.parametrize(("jobs", "rate"), RATES)
def test_hops_are_those_of_all_packets_that_nodes_draw(
    surveyed: dict[str, Survey], jobs: Sequence[Config], rate: float
) -> None:
    one = point(*jobs)
    assert packet_hops_per_cycle(one) == pytest.approx(50 * rate * HOPS, rel=1e-12)
    assert packet_hops(one) == pytest.approx(50 * rate * HOPS * 4000, rel=1e-12)


@pytest.mark.parametrize(
    ("measure", "cycles"),
    [
        ({"warmup": 1000, "cycles": 3000}, 4000),
        ({"warmup": 0, "cycles": 3000}, 3000),
        # A warm-up that is found takes at least a pilot as long as the window.
        ({"warmup": "auto", "cycles": 3000}, 6000),
        ({"max_cycles": 70}, 70),
    ],
)
def test_hops_are_those_of_warm_up_and_window(
    surveyed: dict[str, Survey], measure: Config, cycles: int
) -> None:
    assert packet_hops(point(measure=measure)) == pytest.approx(50 * 0.025 * HOPS * cycles, rel=1e-12)


def test_hops_of_a_fabric_are_those_that_the_core_tells(surveyed: dict[str, Survey]) -> None:
    assert packet_hops(fabric()) == 5e6


@pytest.mark.parametrize(("decides", "nanoseconds"), [(False, 130), (True, 270)])
def test_time_is_so_much_per_hop_and_more_where_heads_decide(
    surveyed: dict[str, Survey], decides: bool, nanoseconds: float
) -> None:
    surveyed["network"] = replace(NETWORK, decides=decides)
    hops = 50 * 0.025 * HOPS * 4000
    assert expected([point()], 1).cpu_s == pytest.approx(hops * nanoseconds * 1e-9, rel=1e-12)
    # Of programs it is not known, and traffic beside them ends with them.
    both = point(traffic(), {"program": {}})
    assert runs_programs(both)
    assert not runs_programs(point())
    assert expected([both, point()], 1).cpu_s == pytest.approx(hops * nanoseconds * 1e-9, rel=1e-12)


LATENCY = HOPS * (10 + (10 + 100) / 2)
"""Of a packet: each hop takes a router, 10 cycles, and a link, those to the nodes left out [cycles]."""


@pytest.mark.parametrize(
    ("cycles", "links", "inside"),
    [
        (3000, None, LATENCY),
        # Not longer than the run.
        (0, None, 100.0),
        (3000, {"injection": {"latency": 7}, "network": {"latency": 30}}, HOPS * (10 + 30)),
        (3000, {"injection": {"latency": 7}}, HOPS * 10),
    ],
)
def test_memory_is_that_of_the_network_of_the_packets_in_it_and_of_the_process(
    surveyed: dict[str, Survey], cycles: int, links: Config | None, inside: float
) -> None:
    more = {} if links is None else {"links": links}
    one = point(measure={"warmup": 100, "cycles": cycles}, **more)
    packets = 50 * 0.025 * inside
    assert expected([one], 1).peak_mb == pytest.approx(90 + 7 + 100 * packets / 1e6, rel=1e-12)


def test_a_network_without_links_has_packets_in_routers_alone(surveyed: dict[str, Survey]) -> None:
    config = json.loads(point().config)
    del config["links"]
    found = expected([Point(0, json.dumps(config), {}, "")], 1)
    assert found.peak_mb == pytest.approx(90 + 7 + 100 * 50 * 0.025 * HOPS * 10 / 1e6, rel=1e-12)


def test_time_and_memory_of_a_fabric(surveyed: dict[str, Survey]) -> None:
    """400 ns per hop, 300 bytes per port, and 2 ns per step of setting it up."""
    assert expected([fabric()], 1) == Expected(2.0, 90 + 3 + 40 * 300 / 1e6, 0.5)
    assert expected([point()], 1).set_up_s == 0


def test_rows_of_series_take_time_and_memory(surveyed: dict[str, Survey]) -> None:
    """2 us and 280 bytes each: of 90 output VCs in 8 intervals; those of a fabric the core tells."""
    surveyed["network"] = replace(NETWORK, output_vcs=90)
    measure: Config = {"warmup": 1000, "cycles": 3000, "interval": 500, "streams": ["nodes"]}
    without = expected([point(measure=measure)], 1)
    found = expected([point(measure=measure | {"streams": ["nodes", "link_series"]})], 1)
    assert found.cpu_s - without.cpu_s == pytest.approx(90 * 8 * 2e-6)
    assert found.peak_mb - without.peak_mb == pytest.approx(90 * 8 * 280e-6)
    surveyed["fabric"] = replace(FABRIC, series_rows=1_000_000)
    assert expected([fabric()], 1).cpu_s == pytest.approx(2.0 + 2.0)
    assert expected([fabric()], 1).peak_mb == pytest.approx(90 + 3 + 40 * 300 / 1e6 + 280)
    # How many programs leave is not known.
    both = point(traffic(), {"program": {}}, measure=measure | {"streams": ["link_series"]})
    assert expected([both], 1).cpu_s == 0


def test_rows_of_hops_take_time_and_memory(surveyed: dict[str, Survey]) -> None:
    """2 us and 280 bytes each: a row per hop of each recorded packet, and of each of its flits."""
    measure: Config = {"warmup": 1000, "cycles": 3000}
    without = expected([point(measure=measure)], 1)
    hops = packet_hops(point(measure=measure))

    def rows(streams: list[str], packets: Config | None = None) -> float:
        chosen = {} if packets is None else {"packets": packets}
        found = expected([point(measure=measure | {"streams": streams} | chosen)], 1)
        assert found.peak_mb - without.peak_mb == pytest.approx((found.cpu_s - without.cpu_s) / 2e-6 * 280e-6)
        return (found.cpu_s - without.cpu_s) / 2e-6

    assert rows(["packet_hops"]) == pytest.approx(hops)
    assert rows(["packet_hops", "flit_hops"]) == pytest.approx(hops * (1 + 8))
    assert rows(["flit_hops"], {"every": 4}) == pytest.approx(hops * 8 / 4)
    assert rows(["packet_hops"], {"source": 1}) == pytest.approx(hops / 50)
    assert rows(["packet_hops"], {"source": 1, "destination": 2}) == pytest.approx(hops / 50 / 50)
    assert rows(["packet_hops"], {"from": 1000, "to": 2000}) == pytest.approx(hops / 4)
    assert rows(["packet_hops"], {"from": 3000, "to": 9000}) == pytest.approx(hops / 4)
    assert rows(["packet_hops"], {"from": 5000}) == 0
    assert rows(["nodes"]) == 0


def test_the_largest_points_that_run_at_once_take_memory(surveyed: dict[str, Survey]) -> None:
    for name, size in (("small", 1), ("middle", 5), ("large", 20)):
        surveyed[name] = replace(NETWORK, state_bytes=size * 1_000_000, nodes=0)
    points = [point(topology={name: {}}) for name in ("small", "large", "middle")]
    assert [expected(points, workers).peak_mb for workers in (1, 2, 3, 4)] == [110, 115, 116, 116]
    assert expected(points, 1).cpu_s == 0


def test_fabrics_in_turn_are_set_up_when_they_are_checked_and_when_they_run(
    surveyed: dict[str, Survey],
) -> None:
    surveyed["other"] = replace(FABRIC, set_up_steps=1_000_000_000)
    one, other = fabric(), fabric({"other": {}})
    for points, seconds in (
        ([], 0.0),
        ([one, one, one], 0.5),
        # Other points between them change nothing.
        ([one, point(), one], 0.5),
        ([one, other], 2 * 2.5),
        ([one, one, other, other], 2 * 2.5),
        ([one, other, one], 2 * 3.0),
        ([one, fabric(forwarding="up_down")], 2 * 1.0),
    ):
        assert expected(points, 1).set_up_s == pytest.approx(seconds, rel=1e-12)


NUMBERS = count()


def ask(monkeypatch: pytest.MonkeyPatch, *points: Point) -> tuple[list[Survey], list[Config]]:
    """The surveys of points, and what the core was asked for them."""
    asked: list[Config] = []

    def survey(config: str) -> str:
        asked.append(json.loads(config))
        return json.dumps({**vars(FABRIC), "nodes": len(asked)})

    monkeypatch.setattr(estimate, "_core", type("Core", (), {"survey": staticmethod(survey)}))
    return [estimate.survey(each) for each in points], asked


def test_packets_are_as_many_as_the_load_over_the_mean_length() -> None:
    shares = [{"length": 1, "weight": 3}, {"length": 5, "weight": 1}]
    assert estimate.mean_packet_length({"packet_lengths": shares}) == 2.0
    assert estimate.mean_packet_length({"packet_length": 7}) == 7


def test_points_with_the_same_network_and_pattern_are_surveyed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    topology: Config = {f"network {next(NUMBERS)}": {}}
    job: Config = {"traffic": {"pattern": {"uniform": {}}, "packet_length": 8}}
    program: Config = {"program": {"collective": {}}}

    def with_load(load: float, **of_traffic: Any) -> Config:
        drawn = {"process": {"bernoulli": {"load": load}}, "node_loads": {"drawn": {"seed": load}}}
        return {"traffic": {**job["traffic"], **drawn, **of_traffic}}

    alike = [
        point(with_load(0.2), program, topology=topology),
        point(with_load(0.7, changes=[{"load": 0.9}]), program, topology=topology, measure={"cycles": 77}),
    ]
    other = point(with_load(0.2, pattern={"tornado": {}}), program, topology=topology)
    found, asked = ask(monkeypatch, *alike, other)
    assert found[0] is found[1]
    assert [each.nodes for each in found] == [1, 1, 2]
    assert found[0].links == (("network", 16),)
    apart: Config = {"process": {"bernoulli": {"load": 0.1}}, "node_loads": {"equal": {}}}
    assert asked[0] == {
        **json.loads(alike[0].config),
        "measure": {"cycles": 1, "batches": 1, "warmup": 0},
        "jobs": [{"traffic": {**job["traffic"], **apart}}, program],
    }


def test_a_fabric_is_surveyed_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    one = fabric({f"fabric {next(NUMBERS)}": {}})
    _, asked = ask(monkeypatch, one)
    assert asked == [json.loads(one.config)]


def test_the_survey_of_a_ring_is_known_by_hand() -> None:
    """Of 5 routers with a node each: itself, two that are one hop away and two that are two."""
    (one,) = Experiment.of({"topology": {"ring": {"routers": 5}}, "load": 0.1}).points()
    network = estimate.survey(one)
    assert (network.nodes, network.routers, network.diameter) == (5, 5, 2)
    assert network.mean_distance == pytest.approx(1.2)
    assert dict(network.links) == {"network": 5}
    assert not estimate.is_fabric(json.loads(one.config))
    assert json.loads(_core.survey(one.config))["nodes"] == 5
