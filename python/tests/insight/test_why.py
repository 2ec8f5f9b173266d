"""`hopsim why` and `Result.why`: what they say of networks whose bottleneck is known."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest
from click.testing import CliRunner

import hopsim as hs
from hopsim.cli.why import command
from hopsim.insight.why import Analysis, Root, explain
from hopsim.plot import KINDS, View
from hopsim.results.store import load

MESH = """
topology.mesh.sides = [5, 5]
router.input_queued.buffers.network = 32
load = 0.12

[[jobs]]
traffic.pattern.hotspot = { node = 12, fraction = 0.6 }

[measure]
warmup = 4000
cycles = 2000
interval = 200
streams = ["link_series", "congestion_trees", "waits"]
"""


def experiment(directory: Path, text: str = MESH) -> Path:
    path = directory / "mesh.toml"
    path.write_text(text, "utf-8")
    return path


def test_the_link_to_the_node_of_a_hot_spot_is_the_bottleneck(tmp_path: Path) -> None:
    lines = hs.run(experiment(tmp_path)).why()
    assert 6 <= len(lines) <= 10
    assert "The bottleneck: router 12, its link to a node by port 0, in use for 100%" in lines[1]
    text = "\n".join(lines)
    for part in (
        "Accepted load",
        "Victims",
        "Who contributes",
        "packets stand still",
        "for room behind the link",
        "That is head-of-line blocking; of VCs, more of which make it less, network links have ",
    ):
        assert part in text


Rooted = tuple[int, int, str]
"""Router, port and class of a link."""


def told_of(lost: dict[Rooted, int], looks: dict[int, list[tuple[int, int]]]) -> list[str]:
    """What is told of the time lost in the trees of links, and of their roots at each look."""
    flows = [
        {"router": router, "port": port, "port_class": name, "contributor_cycles": cycles, **NOBODY}
        for (router, port, name), cycles in lost.items()
    ]
    rooted = [(cycle, *link) for cycle, links in looks.items() for link in links]
    trees = [
        {"cycle": cycle, "router": router, "port": port, "links": 1, "packets": 1, "depth": 1}
        for cycle, router, port in rooted
    ]
    used = [
        {"cycle": 0, "router": router, "port": port, "utilisation": (port + 1) / 10}
        for router, port, _ in lost
    ]
    found: Any = {
        "congestion_flows": pa.Table.from_pylist(flows),
        "congestion_trees": pa.Table.from_pylist(trees),
        "standing_packets": pa.table(
            {"cycle": list(looks), "standing": [9] * len(looks), "in_trees": [9] * len(looks)}
        ),
        "link_series": pa.Table.from_pylist(used),
    }
    config = {"measure": {"interval": 100, "warmup": 0}, "router": {}, "topology": {"dragonfly": {"a": 4}}}
    summary = {"packets_delivered": 1, "network_latency_mean": 1.0, "injection_latency_mean": 1.0}
    result: Any = SimpleNamespace(
        config=config, summary=summary, tables=found, jobs=[{}], link_series=found["link_series"]
    )
    return explain(result)


NOBODY = {
    "other_contributor_cycles": 0,
    "victim_cycles": 0,
    "source_group": 0,
    "destination_group": 1,
    "job": "job0",
}


def test_links_of_a_router_are_named_by_their_class() -> None:
    local: list[Rooted] = [(25, port, "local") for port in (2, 3, 4)]
    ports: list[Rooted] = [(25, 0, "terminal"), *local, (25, 6, "global")]
    lost = dict(zip(ports, [40, 30, 40, 50, 2], strict=True))
    told = told_of(lost | {(3, 6, "global"): 90, (4, 6, "global"): 80}, {100: [(25, 2)]})
    assert told[1] == (
        "The bottleneck: router 25 of group 6, its local links by ports 2 to 4, in use for 40% of the time, "
        "and its link to a node by port 0, in use for 10% of the time; at 1 more router, such as 3, at least "
        "half as much is lost."
    )


def test_since_when_it_lasts_is_told_of_what_was_looked_at() -> None:
    lost: dict[Rooted, int] = {(25, 6, "global"): 40}

    def since(*rooted: bool) -> str:
        looks = {100 * number: [(25 if root else 0, 6)] for number, root in enumerate(rooted, start=1)}
        return told_of(lost, looks)[2]

    assert since(True) == "At the end, in cycle 100, links wait for room because of it."
    assert since(True, False, True) == "At the end, in cycle 300, links wait for room because of it."
    assert since(True, False).startswith("It comes and goes: at the end, cycle 200, nothing")
    assert since(False, True, True).startswith("From cycle 200 at the latest until the end, cycle 300, links")


def test_of_a_network_that_is_hardly_used_nothing_is_said_to_be_congested(tmp_path: Path) -> None:
    calm = MESH.replace("load = 0.12", "load = 0.01")
    lines = hs.run(experiment(tmp_path, calm)).why()
    assert lines[1].startswith("Nothing is congested")
    assert "bottleneck" not in "\n".join(lines)


def test_without_the_streams_it_says_how_to_record_them(tmp_path: Path) -> None:
    bare = MESH.replace('streams = ["link_series", "congestion_trees", "waits"]', 'streams = ["nodes"]')
    result = hs.run(experiment(tmp_path, bare))
    with pytest.raises(hs.NotRecordedError) as error:
        result.why()
    assert str(error.value) == (
        "link_series and congestion_trees not recorded; run it again into another directory, with "
        '--set measure.interval=200 --set \'measure.streams=["nodes", "link_series", "congestion_trees"]\''
    )


def test_of_several_points_one_is_named(tmp_path: Path) -> None:
    swept = MESH + "\n[sweep.product]\nload = [0.01, 0.12]\n"
    out = tmp_path / "out"
    hs.sweep(experiment(tmp_path, swept), out=out)
    runner = CliRunner()
    assert "has several points; valid: --point with one of these" in str(
        runner.invoke(command, [str(out)]).exception
    )
    told = runner.invoke(command, [str(out), "--point", "1"])
    assert "The bottleneck: router 12" in told.output
    assert told.output.splitlines() == load(out).why(1)
    results = load(out)
    for wrong, said in ((7, "7"), (True, "True"), ({"load": 0.12}, "{'load': 0.12}")):
        with pytest.raises(hs.ConfigError) as error:
            results.why(wrong)  # pyright: ignore[reportArgumentType]
        assert str(error.value) == f"point {said}: has not finished or is not there; valid: 0, 1"
    with pytest.raises(hs.ConfigError) as error:
        results.why()
    listed = "  0: load = 0.01\n  1: load = 0.12"
    assert str(error.value) == f"2 points; valid: the number of one of these\n{listed}"
    # With one point left it is said which.
    (out / "points" / f"{_digest(out, 0)}.json").unlink()
    assert str(runner.invoke(command, [str(out)]).exception) == (
        f"{out} has several points, 1 of 2 have finished; valid: --point with one of these\n  1: load = 0.12"
    )


def _digest(out: Path, point: int) -> str:
    return json.loads((out / "manifest.json").read_text("utf-8"))["points"][point]["digest"]


def test_links_of_routers_are_drawn_over_time_by_router_and_port(tmp_path: Path) -> None:
    results = hs.sweep(experiment(tmp_path), progress=False)
    (figure,) = KINDS["links"].draw(results, View()).values()
    above, below = figure.axes
    names = [str(line.get_label()) for line in above.lines]
    assert len(names) == 8
    # Those to router 12, from the sides.
    assert (
        sum(name.startswith(("router 7 ", "router 11 ", "router 13 ", "router 17 ")) for name in names) >= 4
    )
    assert (below.get_ylabel(), below.get_xlabel()) == ("A VC without room behind it", "Cycle")


FABRIC = """
topology.fat_tree = { k = 7, levels = 1 }
router.infiniband = {}

[[jobs]]
name = "hot"
flows = [
    { name = "a", source = 1, destination = 4 },
    { name = "b", source = 2, destination = 4 },
]

[measure]
time = { warmup = "0.2 ms", window = "1 ms", interval = "0.1 ms" }
streams = ["victims", "queue_series"]
"""


def test_of_a_fabric_it_says_what_victims_and_queues_say(tmp_path: Path) -> None:
    lines = hs.run(experiment(tmp_path, FABRIC), progress=False).why()
    assert lines[0].startswith("Throughput 13.01 Gb/s of all flows")
    assert lines[1].startswith("Congestion begins at port 4 of switch 0, to node 4; contributors held up")
    assert "a of hot" in lines[1]
    assert "b of hot" in lines[1]
    assert lines[1].endswith("no victims.")
    assert lines[2].startswith("There ")
    assert lines[2].endswith(" at most.")


def test_queues_of_a_fabric_are_those_of_the_window(tmp_path: Path) -> None:
    result = hs.run(experiment(tmp_path, FABRIC), progress=False)
    rows = [
        row["queued_bytes"]
        for row in result.queue_series.to_pylist()
        if row["port"] == 4 and row["time_s"] > 0.2e-3 + 1e-9
    ]
    assert len(rows) == 10
    told = result.why()[2]
    assert f"There {sum(rows) / len(rows):,.0f} bytes wait on average, {max(rows):,.0f} at most" in told


def test_a_fabric_in_which_nothing_is_held_up_has_no_congestion(tmp_path: Path) -> None:
    calm = FABRIC.replace('{ name = "b", source = 2, destination = 4 },', "")
    lines = hs.run(experiment(tmp_path, calm), progress=False).why()
    assert lines[1:] == ["No flow is held up by congestion for more than 1% of the window."]


def test_of_a_fabric_without_its_stream_it_says_what_to_set(tmp_path: Path) -> None:
    without = FABRIC.replace('"victims", ', "")
    with pytest.raises(hs.NotRecordedError, match="victims not recorded") as refused:
        hs.run(experiment(tmp_path, without), progress=False).why()
    assert '"queue_series", "victims"' in str(refused.value)


def looked_at(warmup: int, trees: list[dict[str, Any]], standing: list[tuple[int, int, int]]) -> Analysis:
    """What the streams say of looks at (cycle, packets that stand, those in trees)."""
    columns = ("cycle", "standing", "in_trees")
    found: Any = {
        "congestion_flows": pa.table({}),
        "congestion_trees": pa.Table.from_pylist(trees),
        "standing_packets": pa.Table.from_pylist(
            [dict(zip(columns, look, strict=True)) for look in standing]
        ),
        "link_series": pa.table({}),
    }
    config = {"measure": {"interval": 100, "warmup": warmup}, "router": {}}
    result: Any = SimpleNamespace(config=config, summary={}, tables=found, link_series=found["link_series"])
    return Analysis(result)


def tree(cycle: int, router: int, links: int, packets: int, depth: int) -> dict[str, Any]:
    return {"cycle": cycle, "router": router, "port": 0, "links": links, "packets": packets, "depth": depth}


def test_a_look_at_the_end_of_the_warm_up_is_not_in_the_window() -> None:
    found = looked_at(200, [tree(100, 1, 1, 1, 1)], [(100, 50, 0), (200, 90, 0), (300, 8, 2), (400, 2, 2)])
    assert found.in_window(found.standing).column("cycle").to_pylist() == [300, 400]
    assert found.share == 0.4


def test_the_size_of_the_trees_of_several_routers_is_their_mean() -> None:
    trees = [
        tree(200, 1, 90, 900, 90),
        *(tree(cycle, 1, 2, 10, 3) for cycle in (300, 400)),
        *(tree(cycle, 2, 4, 30, 5) for cycle in (300, 400)),
    ]
    found = looked_at(200, trees, [(cycle, 1, 1) for cycle in (200, 300, 400)])
    one, other = (Root(router, {"local": (0,)}, 1) for router in (1, 2))
    assert found.size([one]) == (2, 10, 3)
    assert found.size([other]) == (4, 30, 5)
    assert found.size([one, other]) == (3, 20, 5)


def flow(router: int, groups: tuple[int, int], cycles: tuple[int, int, int], job: str) -> dict[str, Any]:
    """Time that packets of a flow stood in the trees of a link of a router, by their roles."""
    own, other, victim = cycles
    ends = {"source_group": groups[0], "destination_group": groups[1], "job": job}
    lost = {"contributor_cycles": own, "other_contributor_cycles": other, "victim_cycles": victim}
    return {"router": router, "port": 3, "port_class": "local", **ends, **lost}


def whole(topology: str = "dragonfly", **replaced: Any) -> list[str]:
    """All that is told of a network with two congested routers and two jobs."""
    flows = [
        flow(5, (1, 2), (300, 100, 0), "a"),
        flow(5, (3, 2), (100, 0, 200), "b"),
        flow(9, (4, 0), (0, 0, 300), "a"),
    ]
    trees = [
        {**tree(cycle, router, links, 10 * links, links + 1), "port": 3}
        for cycle in (200, 300, 400)
        for router, links in ((5, 2), (9, 5))
    ]
    used = [
        {"cycle": cycle, "router": router, "port": 3, "utilisation": part / 10, "credit_stall_fraction": 0.0}
        | {"port_class": "local"}
        for cycle, share in ((100, 9), (200, 4), (300, 6))
        for router, part in ((5, share), (9, 1), (9, 1))
    ]
    standing = [{"cycle": cycle, "standing": 50, "in_trees": 30} for cycle in (200, 300, 400)]
    waits = [
        {"queued": 100, "room": 60, "bubble": 0, "output": 39, "crossbar": 1},
        {"queued": 0, "room": 0, "bubble": 0, "output": 0, "crossbar": 0},
    ]
    tables: dict[str, Any] = {
        "congestion_flows": pa.Table.from_pylist(flows),
        "congestion_trees": pa.Table.from_pylist(trees),
        "standing_packets": pa.Table.from_pylist(standing),
        "link_series": pa.Table.from_pylist(used),
        "waits": pa.Table.from_pylist(waits),
    } | replaced.pop("tables", {})
    summary = {
        "packets_delivered": 10,
        "network_latency_mean": 200.0,
        "injection_latency_mean": 44.4,
        "offered_load": 0.5,
        "accepted_load": 0.4,
        "verdict": "saturated",
    } | replaced
    sides = {topology: {"a": 4}}
    vcs = {"local": 2, "global": 1, "injection": 3}
    config: dict[str, Any] = {
        "measure": {"interval": 100, "warmup": 200},
        "router": {"cioq": {"vcs": vcs}},
        "links": {"local": {}, "global": {}},
        "topology": sides,
    }
    result: Any = SimpleNamespace(
        config=config, summary=summary, tables=tables, jobs=[{}, {}], link_series=tables["link_series"]
    )
    result.waits = tables["waits"]
    return explain(result)


WAITED = (
    "What packets waited for in routers, all those of injection VCs too: behind other packets 50%, for room "
    "behind the link 30%, for a busy link 20%, for the crossbar 0%."
)


def test_all_that_is_told_of_a_congested_network() -> None:
    assert whole() == [
        "Accepted load 0.4 phits/(node·cycle) of 0.5 offered (80%): saturated.",
        "The bottleneck: router 5 of group 1, its local link by port 3, in use for 50% of the time.",
        "From cycle 200 at the latest until the end, cycle 400, links wait for room because of it.",
        "Behind it 20 packets stand still at a time, on 2.0 links, up to 3 one behind the other.",
        "Who contributes: 40% of the time is lost by packets that want the very link, 10% by those that want "
        "another congested one, most from group 1 to 2 (75%), 3 to 2 (25%).",
        "Victims: 50% is lost by packets that want no congested link and stand behind others, most from "
        "group 4 to 0 (60%), 3 to 2 (40%). That is head-of-line blocking; of VCs, more of which make it "
        "less, local links have 2, global links have 1.",
        "Victims by job: a 60%, b 40%.",
        "The cost: 42% of all packets that stand still in routers stand there. In all trees a packet stands "
        "for 100 cycles on average, without what stands behind the first packet of an injection VC; from "
        "generation to the first grant it takes 44.",
        WAITED,
    ]


def test_groups_are_called_routers_where_the_network_has_none() -> None:
    told = whole("mesh")
    assert told[1].startswith("The bottleneck: router 5, its local link by port 3")
    assert told[4].endswith("another congested one, most from router 1 to 2 (75%), 3 to 2 (25%).")


def test_all_that_is_told_of_a_network_without_congestion() -> None:
    assert whole(packets_delivered=1000) == [
        "Accepted load 0.4 phits/(node·cycle) of 0.5 offered (80%): saturated.",
        "Nothing is congested: of 200 cycles in the network a packet stands in congestion trees for "
        "1.0 on average.",
        "On average 50.0 packets stand still in the whole network at a time.",
        "The busiest link: port 3 of router 5 (local), in use for 50% of the time.",
        WAITED,
    ]


def test_what_packets_lose_is_worth_a_word_from_two_percent_of_their_latency_on() -> None:
    assert whole(network_latency_mean=4999.0)[1].startswith("The bottleneck")
    assert whole(network_latency_mean=5000.0)[1].startswith("Nothing is congested")


def test_what_is_not_known_is_left_out() -> None:
    told = whole(offered_load=None, verdict=None, accepted_load=None, injection_latency_mean=None)
    assert told[0] == "Accepted load 0 phits/(node·cycle)."
    assert told[7].endswith("it takes 0.")


def test_flows_of_which_none_stands_out_are_not_named() -> None:
    many = pa.Table.from_pylist([flow(5, (number, 70), (10, 0, 0), "a") for number in range(60)])
    told = whole(tables={"congestion_flows": many})
    assert told[4] == (
        "Who contributes: 100% of the time is lost by packets that want the very link, 0% by those that want "
        "another congested one, between many groups."
    )
    assert told[5] == "Victims: none; all that stands there is on its way over a congested link."
    fifty = pa.Table.from_pylist([flow(5, (number, 70), (10, 0, 0), "a") for number in range(50)])
    assert whole(tables={"congestion_flows": fifty})[4].endswith(
        "most from group 0 to 70 (2%), 1 to 70 (2%), 2 to 70 (2%)."
    )


def test_many_routers_are_named_with_some_examples() -> None:
    spread = pa.Table.from_pylist([flow(router, (0, 1), (10, 0, 0), "a") for router in range(1, 7)])
    told = whole("mesh", tables={"congestion_flows": spread})
    assert told[1].endswith("; at 5 more routers, such as 2, 3, 4, at least half as much is lost.")
    assert told[3].startswith(
        "Behind each of these routers 3 packets stand still at a time, on 0.3 links, up to 3 one"
    )


def test_no_bottleneck_stands_out_where_the_worst_routers_lose_less_than_a_fifth() -> None:
    small = [flow(router, (0, 1), (9, 0, 0), "a") for router in range(10, 20)]
    spread = pa.Table.from_pylist([flow(5, (0, 1), (20, 0, 0), "a"), *small])
    told = whole("mesh", tables={"congestion_flows": spread})
    assert told[1].startswith(
        "No bottleneck stands out, trees begin at 11 routers; most at router 5, its local link"
    )


@pytest.mark.parametrize(
    ("ports", "text"),
    [
        ((4,), "link by port 4,"),
        ((2, 3), "links by ports 2, 3,"),
        ((2, 3, 4), "links by ports 2 to 4,"),
        ((2, 3, 5), "links by ports 2, 3, 5,"),
    ],
)
def test_ports_are_named_as_a_range_where_they_are_three_or_more_in_a_row(
    ports: tuple[int, ...], text: str
) -> None:
    told = told_of({(25, port, "local"): 40 for port in ports}, {100: [(25, ports[0])]})
    assert f"its local {text}" in told[1]


@pytest.mark.parametrize(("cycles", "interval"), [(900, 20), (40, 1), (0, 1), (5000, 102)])
def test_without_an_interval_it_says_one_of_a_fiftieth_of_the_run(cycles: int, interval: int) -> None:
    measure: dict[str, Any] = {"interval": 0, "warmup": min(100, cycles), "streams": ["nodes"]}
    result: Any = SimpleNamespace(
        config={"measure": measure, "router": {}}, summary={"cycles": cycles}, tables={}
    )
    with pytest.raises(hs.NotRecordedError, match=f"--set measure.interval={interval} --set"):
        explain(result)
