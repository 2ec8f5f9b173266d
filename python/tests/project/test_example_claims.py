"""What the comments of examples say happens: each claim names the words it stands for, and simulates them.

What else comments say, as what is simulated and how, is in `example_sentences.txt`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import hopsim as hs
from conftest import ROOT
from hopsim.document.estimate import cut_off, deadlock
from hopsim.insight import limit_note
from hopsim.metrics.recovery import recoveries

EXAMPLES = ROOT / "experiments"
KNOWN = ROOT / "python/tests/project/example_sentences.txt"

Claim = Callable[[], None]

CLAIMS: list[tuple[str, str, Claim]] = []
"""Name of the example, words of its comments, and what is found true of it."""


def claim(example: str, words: str) -> Callable[[Claim], Claim]:
    """A test of some words in the comments of an example."""

    def add(test: Claim) -> Claim:
        CLAIMS.append((example, words, test))
        return test

    return add


OTHERS_LOAD = "jobs.1.traffic.process.bernoulli.load"
VCS = "router.virtual_channel.vcs.network"
PRIORITY = "jobs.0.priority"
"""What `priority_classes` varies."""

CHANGES: dict[str, dict[str, Any]] = {
    "ideal": {"measure.streams": ["messages"]},
    "fairness_advc": {"sweep.product.load": [0.4]},
    "families": {"sweep.product.load": [0.1, 0.9]},
    "on_chip": {"sweep.product.load": [0.3]},
    "speculative_on_chip": {"sweep.product.load": [0.05, 0.35]},
    "flattened_butterfly": {"sweep.product.load": [0.05, 0.3]},
    "torus_on_chip": {"sweep.product.load": [0.35]},
    "o1turn_on_chip": {"sweep.product.load": [0.1, 0.6]},
    "speedup_on_chip": {"sweep.product.load": [0.05, 0.45]},
    "on_off_flow_control": {"sweep.product.load": [0.1, 1.0]},
    "priority_classes": {"sweep.product": {OTHERS_LOAD: [0.01, 0.3], VCS: [2, 4, 8], PRIORITY: [0, 1]}},
    "valiant_adversarial": {"sweep.product.load": [0.2, 0.3, 0.5]},
}
"""What is recorded besides, and the loads that claims are about where there are others."""


@cache
def results(example: str) -> hs.Results:
    return hs.sweep(EXAMPLES / f"{example}.toml", CHANGES.get(example, {}), workers=1)


def point(example: str, values: dict[str, Any]) -> hs.Result:
    """The example without its sweep, with these values."""
    return hs.run(EXAMPLES / f"{example}.toml", {"sweep": {}, **values})


def column(example: str, name: str, **values: Any) -> list[float]:
    """A metric of the points whose axes end in these keys with these values."""

    def fits(axes: dict[str, Any]) -> bool:
        short = {path.rsplit(".", 1)[-1]: value for path, value in axes.items()}
        return all(short[key] == value for key, value in values.items())

    found = [result.summary[name] for result in results(example) if fits(result.axes)]
    assert found
    return found


def numbers(table: pa.Table, name: str) -> list[float]:
    """A column of a table without gaps."""
    return [float(value) for value in table.column(name).to_pylist() if value is not None]


def comments(example: str) -> str:
    lines = (EXAMPLES / f"{example}.toml").read_text("utf-8").splitlines()
    commands = re.compile(r"#   hopsim ")
    return " ".join(
        line.partition("#")[2].strip() for line in lines if "#" in line and not commands.match(line)
    )


def unclaimed(example: str) -> Iterator[str]:
    """The sentences, or parts of them up to a colon or semicolon, of which no claim has any words."""
    text = comments(example)
    claims = [words.casefold() for name, words, _ in CLAIMS if name == example]
    starts = [(text.casefold().find(words), len(words)) for words in claims]
    for part in re.finditer(r"\S.*?(?:[.:;](?=\s)|$)", text):
        if not any(start < part.end() and part.start() < start + length for start, length in starts):
            yield part.group()


@claim("infiniband_fairness", "get equal shares of it; node 0 sends to node 3 and loses nothing.")
def equal_shares_and_a_bystander_that_loses_nothing() -> None:
    bystander, *contributors = shares({})
    assert bystander == pytest.approx(13.0, rel=0.001)
    assert max(contributors) < 1.1 * min(contributors)


@claim(
    "infiniband_fairness",
    'with switching = "store_and_forward" the last one gets a third more than the next',
)
def shares_that_differ_with_one_threshold() -> None:
    low = {"router.infiniband.congestion_control.thresholds.low": "4 MTU"}
    _, *contributors, last = shares({**low, "router.infiniband.switch.switching": "store_and_forward"})
    assert 1.2 * max(contributors) < last < 1.5 * max(contributors)
    # As the switch is written, one threshold does nothing of the kind.
    _, *contributors = shares(low)
    assert max(contributors) < 1.1 * min(contributors)


def shares(changes: dict[str, Any]) -> list[float]:
    result = hs.run(EXAMPLES / "infiniband_fairness.toml", changes)
    return [float(each or 0) for each in result.flows.column("throughput_gbps").to_pylist()]


@claim("infiniband_fairness", "Jain's index of their throughput is in the results of the job")
def jains_index_of_the_job() -> None:
    assert [job["job"] for job in results("infiniband_fairness")[0].jobs] == ["bystander", "contributors"]
    assert 0.99 < results("infiniband_fairness")[0].jobs[1]["jain_index"] < 1


@claim("infiniband_training", "and with a virtual lane of its own it takes no longer than without them.")
def a_lane_of_its_own_is_as_good_as_no_hot_spot() -> None:
    tables: dict[str, Any] = {"sweep": {}, "router.infiniband": {}}
    bytes_of_flows = {f"jobs.1.flows.{flow}.bytes": 1 for flow in range(8)}
    alone = hs.run(EXAMPLES / "infiniband_training.toml", tables | bytes_of_flows)
    times = column("infiniband_training", "execution_time")
    assert times[2] <= 1.01 * alone.summary["execution_time"]


@claim("infiniband_training", "Congestion control throttles them,")
def congestion_control_helps_the_program() -> None:
    times = column("infiniband_training", "execution_time")
    assert times[0] > 1.2 * times[1] > 1.2 * 1.2 * times[2]


@claim("infiniband_cluster", "min_hop uses both, and carries nearly twice as much.")
def min_hop_carries_nearly_twice_as_much() -> None:
    given, spread = (
        column("infiniband_cluster", "throughput_gbps")[part] for part in (slice(3), slice(3, 6))
    )
    assert 1.6 < max(spread) / max(given) < 2


@claim("infiniband_contributors", "Without congestion control it is held up by packets for node 0.")
def a_victim_without_congestion_control() -> None:
    assert all(rate < 7 for rate in of_victim("none"))


@claim("infiniband_contributors", "frees it of two contributors as of twelve: it sends 13 Gb/s.")
def the_default_table_frees_it() -> None:
    assert of_victim("quartic") == pytest.approx([13.0] * 3, rel=0.01)
    text = (EXAMPLES / "infiniband_contributors.toml").read_text("utf-8")
    config = hs.run(text.replace('cct = "quartic"', ""), {"sweep": {}, "measure.time.warmup": "0 s"}).config
    assert config["router"]["infiniband"]["congestion_control"]["cct"] == "quartic"


@claim(
    "infiniband_contributors",
    "with twelve its indices stay at their limit, which hopsim says below the table.",
)
def indices_at_the_limit() -> None:
    *_, twelve = (result for result in results("infiniband_contributors") if label_of(result) == "simula")
    assert twelve.summary["ccti_at_limit_fraction"] > 0.9
    assert of_victim("simula")[0] > 12.9 > 7 > of_victim("simula")[2]
    assert 'ccti_limit = 127 of cct = "simula"' in limit_note.note(results("infiniband_contributors"))


def label_of(result: hs.Result) -> str:
    return result.labels["router.infiniband"]


def of_victim(table: str) -> list[float]:
    """Its throughput with two, six and twelve contributors."""
    found = [result for result in results("infiniband_contributors") if label_of(result) == table]
    return [float(result.jobs[0]["throughput_gbps"]) for result in found]


def rates_of_ethernet(flow_control: str) -> list[float]:
    """Of the victim, in one VL with the others and in a VL of its own."""
    found = [
        result
        for result in results("ethernet_victims")
        if result.labels["router.ethernet.flow_control"] == flow_control
    ]
    return [float(result.jobs[0]["throughput_gbps"]) for result in found]


@claim(
    "ethernet_victims",
    "Its buffers fill with packets for node 15 until it pauses the switches below it, and these pause "
    "node 3, which is left with what every other node gets: 16.7 Gb/s.",
)
def a_victim_of_pauses() -> None:
    shared = results("ethernet_victims")[0]
    assert rates_of_ethernet("pauses")[0] == pytest.approx(16.7, rel=0.005)
    assert shared.jobs[1]["flow_throughput_mean_gbps"] == pytest.approx(16.7, rel=0.005)
    paused = {row["from"]: row["paused_fraction"] for row in shared.links.to_pylist() if row["vl"] == 0}
    assert paused["node 3"] > 0.5
    assert paused["switch 0"] > 0.05


@claim("ethernet_victims", "With credits instead of pauses it gets no more.")
def credits_free_no_victim() -> None:
    assert rates_of_ethernet("credits")[0] == pytest.approx(rates_of_ethernet("pauses")[0], rel=0.005)


@claim(
    "ethernet_victims", "In a priority of its own it has 50 Gb/s, all that the three others of its leaf leave"
)
def a_priority_of_its_own() -> None:
    assert rates_of_ethernet("pauses")[1] == pytest.approx(50, rel=0.005)
    rows = results("ethernet_victims")[1].flows.to_pylist()
    others = [row["throughput_gbps"] for row in rows if row["job"] == "incast"][:3]
    assert sum(others) == pytest.approx(50, rel=0.005)


@claim(
    "ethernet_against_infiniband",
    "packets for node 15 hold node 3 back, by pauses or for want of credits, and leave it 16.7 Gb/s.",
)
def without_congestion_control_the_two_are_alike() -> None:
    ethernet, _, infiniband, _ = results("ethernet_against_infiniband")
    for result in (ethernet, infiniband):
        rows = result.flows.to_pylist()
        assert [row["throughput_gbps"] for row in rows] == pytest.approx([16.67] * 7, rel=0.005)
    assert ethernet.jobs[0]["pauses"] > 0
    assert "pauses" not in infiniband.jobs[0]


@claim("ethernet_against_infiniband", "Without congestion control the two are alike:")
def the_victim_is_one_of_node_15_in_both() -> None:
    ethernet, _, infiniband, _ = results("ethernet_against_infiniband")
    for result in (ethernet, infiniband):
        roles = {row["name"]: row["role"] for row in result.victims.to_pylist()}
        assert roles["flow0"] == "victim"


@claim(
    "ethernet_against_infiniband", "With DCQCN it has 54 Gb/s, all that the three others of its leaf leave"
)
def congestion_control_of_both_frees_the_victim() -> None:
    _, dcqcn, _, infiniband = results("ethernet_against_infiniband")
    victim, *leaf = (row["throughput_gbps"] for row in dcqcn.flows.to_pylist()[:4])
    assert victim == pytest.approx(54, rel=0.02)
    assert victim + sum(leaf) > 99
    assert infiniband.jobs[0]["throughput_gbps"] == pytest.approx(49, rel=0.02)


@claim(
    "ethernet_against_infiniband",
    "The link to node 15 then carries 99.9 Gb/s with DCQCN, and 95 with that of InfiniBand.",
)
def what_the_hot_link_carries() -> None:
    _, dcqcn, _, infiniband = results("ethernet_against_infiniband")
    found = [result.jobs[1]["throughput_gbps"] for result in (dcqcn, infiniband)]
    assert found == pytest.approx([99.95, 95], rel=0.005)


@claim(
    "ethernet_incast",
    "With pauses alone one in a hundred of these messages takes more than 28 times as long as it would "
    "alone, with DCQCN more than 6 times, and with Swift and HPCC more than 3 times.",
)
def slowdowns_of_messages_beside_an_incast() -> None:
    found = [result.jobs[1]["slowdown_p99"] for result in results("ethernet_incast")]
    pauses, dcqcn, _, swift, hpcc = found
    assert 28 < pauses < 30
    assert 6 < dcqcn < 7
    assert 3 < swift < 4
    assert 3 < hpcc < 4


@claim(
    "ethernet_incast",
    "With TIMELY it is 34 times, though links are hardly ever paused: rates that have fallen rise slowly, "
    "and messages wait at their hosts.",
)
def messages_wait_at_their_hosts_with_timely() -> None:
    pauses, dcqcn, timely, *_ = (result.jobs[1] for result in results("ethernet_incast"))
    assert 34 < timely["slowdown_p99"] < 35
    assert timely["paused_fraction"] < pauses["paused_fraction"] / 10
    # In the network packets are faster than with DCQCN, and yet messages take longer.
    assert timely["packet_latency_p99_ns"] < dcqcn["packet_latency_p99_ns"]
    assert timely["flow_completion_time_p99"] > dcqcn["flow_completion_time_p99"]


@claim(
    "ethernet_incast",
    "The incast takes 2.6 ms, the time of its bytes on the link, with TIMELY and HPCC 2.9 ms "
    "and with DCQCN 4.8 ms.",
)
def how_long_the_incast_takes() -> None:
    times = [result.jobs[0]["flow_completion_time_p99"] / 1e6 for result in results("ethernet_incast")]
    assert times == pytest.approx([2.56, 4.79, 2.91, 2.56, 2.93], rel=0.005)
    assert times[0] == pytest.approx(16 * 2e6 * 8 / 100e9 * 1e3, rel=0.005)


@claim("ethernet_allreduce", "Without them the allreduce would take 2.1 ms.")
def an_allreduce_alone() -> None:
    alone = {f"jobs.1.flows.{flow}.bytes": 1 for flow in range(15)}
    result = hs.run(EXAMPLES / "ethernet_allreduce.toml", {"sweep": {}, **alone})
    assert result.summary["execution_time"] / 1e6 == pytest.approx(2.1, abs=0.05)


@claim(
    "ethernet_allreduce",
    "With pauses alone they hold it back until it takes 17 ms, and credits in place of pauses change "
    "nothing.",
)
def an_allreduce_beside_an_incast() -> None:
    by_pauses, by_credits, *_ = column("ethernet_allreduce", "execution_time")
    assert by_pauses / 1e6 == pytest.approx(17.4, rel=0.01)
    assert by_credits == pytest.approx(by_pauses, rel=0.001)


@claim(
    "ethernet_allreduce",
    "With DCQCN it takes 7 ms, and with Swift 2.4 ms, while the incast has its link all the same.",
)
def an_allreduce_that_congestion_control_frees() -> None:
    *_, dcqcn, swift = results("ethernet_allreduce")
    times = [result.summary["execution_time"] / 1e6 for result in (dcqcn, swift)]
    assert times == pytest.approx([6.95, 2.35], rel=0.01)
    assert swift.jobs[1]["throughput_gbps"] > 99


@claim("infiniband_uniform", "A message of eight packets takes longer,")
def longer_messages_take_longer() -> None:
    short, long = (
        column("infiniband_uniform", "message_latency_mean_ns", bytes=size) for size in (2048, 16384)
    )
    assert all(one < other for one, other in zip(short, long, strict=True))


@claim("infiniband_uniform", "and its packets meet others that go the same way for longer.")
def their_packets_wait_longer() -> None:
    short, long = (
        column("infiniband_uniform", "packet_latency_mean_ns", bytes=size) for size in (2048, 16384)
    )
    assert all(one < other for one, other in zip(short, long, strict=True))


@claim("on_chip", "at a load of 0.3 one VC saturates, two do not.")
def two_vcs_carry_what_one_does_not() -> None:
    one, two = (column("on_chip", "accepted_load", network=vcs)[0] for vcs in (1, 2))
    assert one < 0.25
    assert two > 0.297


@claim(
    "virtual_channels",
    "At full load four VCs accept more than one and a half times as much as one, and eight hardly more than "
    "four.",
)
def more_vcs_make_more_of_the_same_memory() -> None:
    def accepted(vcs: int) -> float:
        router = "router.virtual_channel"
        divided = {f"{router}.vcs.network": vcs, f"{router}.buffers.network": 16 // vcs}
        return point("virtual_channels", {**divided, "load": 1.0}).summary["accepted_load"]

    one, two, four, eight = (accepted(vcs) for vcs in (1, 2, 4, 8))
    assert 1.5 * one < four
    assert one < two < four
    assert abs(eight / four - 1) < 0.03


@claim("torus_on_chip", "at a load of 0.35 two VCs saturate, four do not.")
def four_vcs_with_datelines_carry_what_two_do_not() -> None:
    two, four = (column("torus_on_chip", "accepted_load", network=vcs) for vcs in (2, 4))
    assert max(two) < 0.34
    assert min(four) > 0.345


@claim("torus_on_chip", "at that load two VCs then accept a third more.")
def a_class_for_every_dimension_is_shared_more_evenly() -> None:
    crossing, dimension = (
        column("torus_on_chip", "accepted_load", **{"network": 2, "class": rule})[0]
        for rule in ("crossing", "dimension")
    )
    assert dimension == pytest.approx(4 / 3 * crossing, rel=0.08)


@claim(
    "speculative_on_chip",
    "At a load of 0.05 a packet is a cycle earlier for nearly every router on its path.",
)
def speculation_saves_a_cycle_in_most_routers() -> None:
    def latency(speculation: str) -> float:
        return column("speculative_on_chip", "packet_latency_mean", speculation=speculation, load=0.05)[0]

    routers = column("speculative_on_chip", "hops_mean", speculation="none", load=0.05)[0] + 1
    for speculation in ("equal", "separate"):
        assert 0.9 * routers < latency("none") - latency(speculation) <= routers


@claim("speculative_on_chip", "So at a load of 0.35 latencies with that are the shortest.")
def heads_with_an_allocator_of_their_own_do_no_harm() -> None:
    none, equal, separate = (
        column("speculative_on_chip", "packet_latency_mean", speculation=speculation, load=0.35)[0]
        for speculation in ("none", "equal", "separate")
    )
    assert separate < min(none, equal)


@claim("o1turn_on_chip", "At a load of 0.6 the mesh then accepts more than half as much again.")
def two_orders_of_dimensions_carry_more_of_a_transpose() -> None:
    by_dimensions, in_two_orders = (
        column("o1turn_on_chip", "accepted_load", routing=routing, load=0.6)[0]
        for routing in ("minimal", "o1turn")
    )
    assert 1.5 * by_dimensions < in_two_orders < 1.7 * by_dimensions


@claim(
    "o1turn_on_chip",
    "Paths with Valiant's detours are three quarters longer, and at that load it accepts less than by "
    "dimension order.",
)
def detours_cost_a_transpose_more_than_they_spread() -> None:
    def value(routing: str, metric: str, load: float) -> float:
        return column("o1turn_on_chip", metric, routing=routing, load=load)[0]

    minimal, longer = (value(routing, "hops_mean", 0.1) for routing in ("minimal", "valiant"))
    assert longer == pytest.approx(1.75 * minimal, rel=0.03)
    assert value("valiant", "accepted_load", 0.6) < 0.8 * value("minimal", "accepted_load", 0.6)


@claim(
    "speedup_on_chip", "Half of uniform traffic crosses the middle, whose links are full at a load of 0.49."
)
def links_in_the_middle_of_a_mesh_are_full_first() -> None:
    found = point("speedup_on_chip", {"load": 0.3, "measure.streams": ["links"]})
    of_vcs = [
        row["utilisation"]
        for row in found.links.to_pylist()
        if {row["router"] % 8, (row["peer_router"] or 0) % 8} == {3, 4}
    ]
    # Eight rows, two directions.
    assert sum(of_vcs) / 16 == pytest.approx(found.summary["accepted_load"] / 0.49, rel=0.02)
    assert len(of_vcs) == 16 * 4


def with_speedup(speedup: float, inputs: int, metric: str, load: float) -> float:
    axes = {"speedup": speedup, "crossbar_inputs": inputs, "load": load}
    return column("speedup_on_chip", metric, **axes)[0]


@claim("speedup_on_chip", "at a load of 0.45 the mesh accepts 0.4.")
def vcs_of_a_port_wait_for_its_input_of_the_crossbar() -> None:
    assert with_speedup(1.0, 1, "accepted_load", 0.45) == pytest.approx(0.4, rel=0.01)


@claim("speedup_on_chip", "With two inputs for every port (input speedup) it accepts 0.44.")
def two_inputs_of_the_crossbar_accept_more() -> None:
    assert with_speedup(1.0, 2, "accepted_load", 0.45) == pytest.approx(0.44, rel=0.01)


@claim("speedup_on_chip", "it accepts all of it, with one input as with two.")
def faster_routers_do_with_one_input() -> None:
    for inputs in (1, 2):
        accepted, offered = (
            with_speedup(1.5, inputs, f"{name}_load", 0.45) for name in ("accepted", "offered")
        )
        assert accepted == pytest.approx(offered, rel=0.005)


@claim("speedup_on_chip", "with a speedup of 2 packets take a third less time at a load of 0.05.")
def steps_of_faster_routers_are_shorter() -> None:
    slow, fast = (with_speedup(speedup, 1, "packet_latency_mean", 0.05) for speedup in (1.0, 2.0))
    assert fast == pytest.approx(2 / 3 * slow, rel=0.03)


def one_flow(buffer: int) -> float:
    """What a flow over one link of `on_off_flow_control` gets with credits."""
    flow = {"topology": {"mesh": {"sides": [2]}}, "jobs.0.traffic.pattern": {"destinations": [1, 0]}}
    buffers = {"router.input_queued.buffers.network": buffer}
    return float(point("on_off_flow_control", {**flow, **buffers, "load": 1.0}).summary["accepted_load"])


@claim("on_off_flow_control", "a buffer of a round trip, 16 phits, keeps the link busy.")
def a_round_trip_of_credits_keeps_a_link_busy() -> None:
    assert one_flow(16) == 1.0
    assert one_flow(15) == pytest.approx(15 / 16, rel=0.01)


@claim("on_off_flow_control", "16 phits here, so that one of 16 is off whenever anything is in it.")
def a_buffer_says_off_while_a_round_trip_has_room() -> None:
    switched = [result for result in results("on_off_flow_control") if "on_off" in str(result.axes)]
    thresholds = [
        result.config["router"]["input_queued"]["flow_control"]["on_off"]["network"]["off"]
        for result in switched
    ]
    assert set(thresholds) == {16}


@claim(
    "on_off_flow_control",
    "At full load the mesh accepts less than half as much with 16 phits as with credits, with 24 nearly as "
    "much, and with 32 as much.",
)
def on_off_needs_two_round_trips() -> None:
    def accepted(flow_control: Any, buffer: int) -> float:
        axes: dict[str, Any] = {"flow_control": flow_control, "network": buffer}
        return column("on_off_flow_control", "accepted_load", load=1.0, **axes)[0]

    shares = {size: accepted({"on_off": {}}, size) / accepted("credits", size) for size in (16, 24, 32)}
    assert shares[16] < 0.5
    assert 0.9 < shares[24] < 0.95
    assert shares[32] == pytest.approx(1, abs=0.01)


@claim("on_off_flow_control", "At a load of 0.1 both do with 16.")
def a_small_buffer_does_at_a_low_load() -> None:
    latencies = column("on_off_flow_control", "packet_latency_mean", load=0.1)
    assert len(latencies) == 6
    assert max(latencies) < 1.01 * min(latencies)


def of_classes(job: int, metric: str, load: float, vcs: int, priority: int) -> float:
    """A metric of a job of `priority_classes`."""
    axes = {OTHERS_LOAD: load, VCS: vcs, PRIORITY: priority}
    (found,) = (result for result in results("priority_classes") if result.axes == axes)
    return float(found.jobs[job][metric])


def latencies_with_and_without(job: int, vcs: int) -> tuple[float, float]:
    """The mean latencies of a job of `priority_classes` at a load of 0.3, with its priority and without."""
    with_it, without = (of_classes(job, "packet_latency_mean", 0.3, vcs, priority) for priority in (1, 0))
    return with_it, without


@claim(
    "priority_classes",
    "Of what the others add to their latency at a load of 0.3 the priority takes a fifth away with two VCs, "
    "two thirds with four and five sixths with eight.",
)
def a_priority_is_worth_more_with_more_vcs() -> None:
    for vcs, expected in ((2, 1 / 5), (4, 2 / 3), (8, 5 / 6)):
        alone = of_classes(0, "packet_latency_mean", 0.01, vcs, 0)
        with_it, without = latencies_with_and_without(0, vcs)
        assert (without - with_it) / (without - alone) == pytest.approx(expected, abs=0.03)


@claim("priority_classes", "With eight it costs the others less than 5 % in latency, and nobody any load.")
def a_priority_costs_others_little() -> None:
    with_it, without = latencies_with_and_without(1, 8)
    assert 1.03 * without < with_it < 1.05 * without
    for job in (0, 1):
        accepted, offered = (of_classes(job, f"{name}_load", 0.3, 8, 1) for name in ("accepted", "offered"))
        assert accepted == pytest.approx(offered, rel=0.01)


def latencies_of_two(vcs: int, **router: bool) -> list[int | None]:
    """The latencies of the packets of nodes 0 and 1 in `two_packets`."""
    changes = {f"router.virtual_channel.{name}": value for name, value in router.items()}
    recorded = {"measure.streams": ["packet_hops"], "router.virtual_channel.vcs.network": vcs}
    return [packet.latency for packet in point("two_packets", {**changes, **recorded}).packets()]


@claim("two_packets", "times that both heads come to router 1 in the same cycle.")
def both_heads_come_in_the_same_cycle() -> None:
    found = point("two_packets", {"measure.streams": ["packet_hops"]}).packets()
    arrivals = [passage.arrived for packet in found for passage in packet.passages if passage.router == 1]
    assert len(arrivals) == 2
    assert len(set(arrivals)) == 1


@claim(
    "two_packets",
    "alone the packet of node 1 takes 16 cycles and that of node 0 takes 20, now they take 23 and 28.",
)
def packets_that_take_turns_are_both_late() -> None:
    assert latencies_of_two(2) == [28, 23]
    recorded = {"measure.streams": ["packet_hops"]}
    given = point("two_packets", {}).config["jobs"][0]["traffic"]["packet_list"]
    alone = [
        point("two_packets", {**recorded, "jobs.0.traffic.packet_list": [packet]}).packets()[0].latency
        for packet in given
    ]
    assert alone == [20, 16]


@claim("two_packets", "it takes 16 cycles again, and the other one 28 all the same.")
def a_packet_that_holds_the_switch_delays_the_other_one_no_more() -> None:
    assert latencies_of_two(2, hold_switch=True) == [28, 16]


@claim(
    "two_packets",
    "With one VC the head of the other one is granted that VC only when the tail is gone, and takes 30.",
)
def a_packet_waits_for_the_only_vc() -> None:
    assert latencies_of_two(1) == [30, 16]


@claim(
    "flattened_butterfly",
    "on minimal paths they share a link, which carries a load of 0.25 for each of the four nodes.",
)
def a_link_for_four_nodes_carries_a_quarter_of_each() -> None:
    accepted = column("flattened_butterfly", "accepted_load", routing="minimal", load=0.3)[0]
    assert 0.24 < accepted <= 0.25


@claim("flattened_butterfly", "at a load of 0.3 it accepts more than minimal routing.")
def ugal_accepts_more_than_a_link_carries() -> None:
    minimal, ugal = (
        column("flattened_butterfly", "accepted_load", routing=routing, load=0.3)[0]
        for routing in ("minimal", "ugal")
    )
    assert ugal > 1.03 * minimal


@claim(
    "flattened_butterfly",
    "at 0.05 its latencies are nearer to those of minimal routing than to those of Valiant's, which always "
    "makes a detour.",
)
def ugal_takes_few_detours_while_there_is_room() -> None:
    minimal, ugal, valiant = (
        column("flattened_butterfly", "packet_latency_mean", routing=routing, load=0.05)[0]
        for routing in ("minimal", "ugal", "valiant")
    )
    assert ugal - minimal < valiant - ugal


@claim("hyperx", "so no more than 1/4 is accepted.")
def minimal_paths_carry_a_quarter() -> None:
    for routing in ("minimal", "adaptive"):
        assert max(column("hyperx", "accepted_load", routing=routing)) <= 0.25


@claim(
    "hyperx",
    "Oblivious detours lead over all links of a router and accept more, at the price of longer paths;",
)
def detours_accept_more_on_longer_paths() -> None:
    assert column("hyperx", "accepted_load", routing="valiant", load=0.4)[0] > 0.35
    minimal, valiant = (
        column("hyperx", "packet_latency_mean", routing=routing, load=0.1)[0]
        for routing in ("minimal", "valiant")
    )
    assert valiant > minimal


def of_families(metric: str, load: float, routing: str) -> dict[str, float]:
    """A metric of the networks of `families`."""
    found = [
        result
        for result in results("families")
        if (result.axes["load"], result.axes["routing"]) == (load, routing)
    ]
    return {next(iter(result.axes["topology"])): float(result.summary[metric]) for result in found}


@claim(
    "families",
    "At a load of 0.1 the slim fly and the PolarFly, in which no two routers are more than two links apart, "
    "have the lowest latencies, and the tree has the highest.",
)
def two_links_are_fast() -> None:
    latencies = of_families("packet_latency_mean", 0.1, "minimal")
    ordered = sorted(latencies, key=lambda name: latencies[name])
    assert set(ordered[:2]) == {"slim_fly", "polarfly"}
    assert ordered[-1] == "xgft"


@claim(
    "families",
    "With minimal routing these three accept more than 0.8 at a load of 0.9, and the networks that are drawn "
    "at random less than 0.5.",
)
def two_links_and_trees_accept_more() -> None:
    accepted = of_families("accepted_load", 0.9, "minimal")
    assert min(accepted[name] for name in ("slim_fly", "polarfly", "xgft")) > 0.8
    assert max(accepted[name] for name in ("jellyfish", "xpander")) < 0.5


@claim("families", "UGAL has more paths to choose from and accepts more there.")
def ugal_spreads_paths_of_random_networks() -> None:
    minimal, ugal = (of_families("accepted_load", 0.9, routing) for routing in ("minimal", "ugal"))
    for name in ("jellyfish", "xpander"):
        assert ugal[name] > 1.1 * minimal[name]


@claim("families", "Other seeds draw networks in which minimal routing accepts as much as UGAL.")
def not_all_random_networks_are_crowded() -> None:
    drawn = {"jellyfish": {"routers": 50, "degree": 7, "seed": 4}}
    one = {"topology": drawn, "links": {"network": {"latency": 5}}, "load": 0.9}
    room = {"router.cioq.vcs": {"network": 8}, "router.cioq.buffers": {"network": 32}}
    minimal, ugal = (
        point("families", one | room | {"routing": routing}).summary["accepted_load"]
        for routing in ("minimal", "ugal")
    )
    assert minimal >= ugal


def over_time(name: str, example: str = "failing_links") -> dict[str, list[float]]:
    """A column of the time series of an example by routing, the mean of its seeds, by intervals of 500
    cycles; infinite where there is nothing."""
    series: dict[str, list[list[float]]] = {}
    for result in results(example):
        values = result.timeseries.column(name).to_pylist()
        row = [float("inf") if value is None or value != value else value for value in values]
        series.setdefault(str(result.axes["routing"]), []).append(row)
    return {
        routing: [sum(each) / len(each) for each in zip(*rows, strict=True)]
        for routing, rows in series.items()
    }


@claim(
    "failing_links",
    "Before these come the network stands still, whatever the routing: packets that wait for links which are "
    "out of order hold up all others.",
)
def packets_that_wait_hold_up_all_others() -> None:
    for accepted in over_time("accepted_load").values():
        assert min(accepted[5:10]) > 0.28
        assert max(accepted[14:16]) < 0.01


@claim(
    "failing_links",
    "Afterwards it makes up for lost time, and with any shortest path (adaptive) it is through with that "
    "first.",
)
def lost_time_is_made_up_for() -> None:
    accepted, latency = over_time("accepted_load"), over_time("latency_mean")
    assert all(min(loads[16:19]) > 0.33 for loads in accepted.values())
    back = {
        routing: next(at for at in range(16, 50) if max(values[at : at + 4]) < 100)
        for routing, values in latency.items()
    }
    assert back.pop("adaptive") < min(back.values())


def of_fabric(name: str, first: int, last: int) -> list[float]:
    """A column of the series of flows of `infiniband_failing`, all flows together, by seed: the mean of the
    intervals that end between these times [us].
    """
    found: list[float] = []
    for result in results("infiniband_failing"):
        series = result.flow_series
        ends = np.round(np.array(series.column("time_s").to_pylist()) * 1e6)
        values = np.array(series.column(name).to_pylist())[(first <= ends) & (ends <= last)]
        found.append(float(values.sum()) / ((last - first) / 20 + 1))
    assert len(found) == 3
    return found


@claim(
    "infiniband_failing",
    "Until then packets whose way leads over the link are lost, and the throughput is an eighth lower on "
    "average.",
)
def a_link_that_fails_takes_throughput_until_there_are_tables() -> None:
    failed, level = (of_fabric("throughput_gbps", *times) for times in ((420, 500), (600, 800)))
    assert 0.105 < 1 - sum(failed) / sum(level) < 0.145
    assert min(of_fabric("lost", 420, 500)) > 30
    assert of_fabric("lost", 540, 1200) == of_fabric("lost", 20, 400) == [0] * 3


@claim(
    "infiniband_failing",
    "Of a hundred packets lost 99 are discarded by the switches; the others were crossing the link.",
)
def what_waits_for_a_link_that_has_failed_is_discarded() -> None:
    summaries = [result.summary for result in results("infiniband_failing")]
    lost, discarded, spoiled = (
        sum(summary[key] for summary in summaries)
        for key in ("packets_lost", "packets_discarded", "packets_spoiled")
    )
    assert 0.99 * lost < discarded < lost == discarded + spoiled


@claim(
    "infiniband_failing",
    "The throughput is back with the tables, within 120 us of the failure (the column recovery).",
)
def the_throughput_is_back_with_the_tables() -> None:
    for result in results("infiniband_failing"):
        (found,) = recoveries(result)
        assert found.time is not None
        assert 100_000 <= found.time <= 120_000


@claim(
    "infiniband_failing",
    "At the repair nothing is lost: until the tables change again nothing uses the link.",
)
def a_repair_loses_nothing() -> None:
    assert of_fabric("lost", 800, 1200) == [0] * 3


@claim(
    "infiniband_failing",
    "The spines have theirs last, so for 6 us packets for some nodes go back and forth between a leaf and a "
    "spine (hopsim check).",
)
def old_and_new_tables_together_close_a_circle() -> None:
    one, *_ = hs.Experiment.open(EXAMPLES / "infiniband_failing.toml").points()
    _, said = cut_off(one)
    assert said.startswith("cut off from 904 us to 910 us: up to 16 of 240 ways between nodes at once")
    found = deadlock(one)
    assert found is not None
    assert found.endswith("switch 1 → switch 4 → switch 1")


@claim(
    "failing_links",
    "In no run is the accepted load level again (the column recovery) within 4,000 cycles of the failure, "
    "and in some not before the repair.",
)
def it_takes_long_until_the_load_is_level() -> None:
    found = [each.time for result in results("failing_links") for each in recoveries(result)]
    assert len(found) == 12
    assert None in found
    assert min(cycles for cycles in found if cycles is not None) > 4_000


@claim(
    "failing_links",
    "Of a thousand packets fewer than one are lost, but with minimal routing two or three: the network is "
    "drained before its tables change, and those are lost whose paths lead over links that are out of order "
    "then.",
)
def few_packets_are_lost() -> None:
    for result in results("failing_links"):
        share = 1000 * result.summary["packets_lost"] / result.summary["packets_generated"]
        assert 2 < share < 3 if result.axes["routing"] == "minimal" else 0 < share < 1


@claim("failing_switch", "Nobody is cut off: the eight nodes below it have three planes left.")
def no_node_of_planes_is_cut_off() -> None:
    example = hs.Experiment.open(EXAMPLES / "failing_switch.toml")
    for planes in range(1, 5):
        switches = [64 + 16 * plane for plane in range(planes)]
        one, *_ = example.setting([f"faults.0.routers={switches}", 'faults.0.unreachable="drop"']).points()
        assert (cut_off(one) != ()) == (planes == 4)


@claim(
    "failing_switch",
    "Where a plane is drawn for every flow or every packet (ecmp) nearly nothing arrives before there are "
    "new tables: what waits for the dead switch holds up all others.",
)
def a_dead_switch_holds_up_packets_whose_plane_is_drawn() -> None:
    accepted = over_time("accepted_load", "failing_switch")
    assert len(accepted) == 3
    for routing, loads in accepted.items():
        assert min(loads[2:10]) > 0.39
        assert (loads[13] < 0.1 * loads[9]) == routing.startswith(("ecmp", "{'ecmp'"))


@claim(
    "failing_switch",
    "Where packets take the links with most room (adaptive) they take the other planes by themselves: four "
    "fifths of the load and more go on, and the mean latency stays below two and a half times the usual one, "
    "where with ecmp it is six times as long and more.",
)
def packets_with_a_choice_take_the_other_planes() -> None:
    accepted = over_time("accepted_load", "failing_switch")
    assert min(accepted["adaptive"][10:14]) > 0.8 * accepted["adaptive"][9]
    for routing, latencies in over_time("latency_mean", "failing_switch").items():
        longer = max(latencies[10:]) / latencies[9]
        assert longer < 2.5 if routing == "adaptive" else longer > 6


@claim("failing_switch", "Of a thousand packets fewer than two are lost.")
def few_packets_are_lost_with_a_switch() -> None:
    for result in results("failing_switch"):
        assert 0 < result.summary["packets_lost"] < 0.002 * result.summary["packets_generated"]


@claim("fairness_advc", "the accepted load stays the same.")
def fair_shares_of_the_same_load() -> None:
    loads = column("fairness_advc", "accepted_load", load=0.4)
    assert max(loads) < 1.05 * min(loads)


@claim("fairness_advc", "Priority for packets in transit or age arbitration evens the shares out;")
def age_or_priority_make_shares_even() -> None:
    jain = {
        (arbiter, first): min(
            column("fairness_advc", "jain_index", output_arbiter=arbiter, transit_priority=first, load=0.4)
        )
        for arbiter in ("round_robin", "age")
        for first in (False, True)
    }
    uneven = jain.pop(("round_robin", False))
    assert uneven < 0.6 < 0.95 < min(jain.values())


@claim("request_reply_flexvc", "With the same 4/2 VCs, each of which is needed, little changes;")
def the_same_vcs_change_little() -> None:
    each = column("request_reply_flexvc", "accepted_load")
    increasing, flexible = max(each[:5]), max(each[5:10])
    assert flexible == pytest.approx(increasing, rel=0.03)


@claim("request_reply_flexvc", "serve all hops and carry an eighth more.")
def spare_vcs_carry_an_eighth_more() -> None:
    each = column("request_reply_flexvc", "accepted_load")
    assert max(each[10:]) / max(each[:5]) == pytest.approx(9 / 8, rel=0.03)


@claim("collective_dragonfly", "With many bytes the ring is faster:")
def the_ring_is_faster_with_many_bytes() -> None:
    times = column("collective_dragonfly", "execution_time")
    assert max(times[12:18]) < min(times[18:])
    assert min(times[:6]) > max(times[9:12]), "and slower with few"


@claim("collective_dragonfly", "by different amounts for different draws (the seeds).")
def random_nodes_cost_the_ring_different_amounts() -> None:
    times = column("collective_dragonfly", "execution_time")
    for consecutive, random in ((times[:3], times[3:6]), (times[12:15], times[15:18])):
        assert len(set(consecutive)) == 1
        assert len(set(random)) == 3
        assert min(random) > consecutive[0]


@claim("graph500", "so Valiant's detours cost twice the links and gain nothing.")
def detours_gain_the_search_nothing() -> None:
    minimal, valiant = (column("graph500", "execution_time", routing=name) for name in ("minimal", "valiant"))
    assert all(one < other for one, other in zip(minimal, valiant, strict=True))


@claim("graph500", "the routing does not matter any more.")
def processors_are_the_limit() -> None:
    minimal, valiant = (
        column("graph500", "execution_time", routing=name)[-1] for name in ("minimal", "valiant")
    )
    assert valiant == pytest.approx(minimal, rel=0.01)


@claim("graph_file", "(here 2)")
def minimal_paths_of_the_graph_need_two_vcs() -> None:
    assert results("graph_file")[0].config["router"]["input_queued"]["vcs"]["network"] == 2


@claim("graph_file", "its packets crowd around the root.")
def up_down_accepts_less() -> None:
    minimal, up_down = (
        max(column("graph_file", "accepted_load", routing=name)) for name in ("minimal", "up_down")
    )
    assert up_down < 0.8 * minimal


@claim("traffic_table", "with wider phits they take fewer cycles")
def wider_phits_take_fewer_cycles() -> None:
    times = column("traffic_table", "execution_time")
    assert times == sorted(times, reverse=True)
    assert len(set(times)) == 3


@claim("bursts_torus", "keeps the network from filling up with new packets while old ones wait.")
def restriction_makes_bursts_shorter() -> None:
    without, restricted, _ = column("bursts_torus", "cycles_per_burst")
    assert restricted < without


@claim("router_models", "output queues and speedup are what uniform traffic at high load asks for.")
def output_queues_and_speedup_accept_more() -> None:
    loads = column("router_models", "accepted_load")
    assert loads[:2] == pytest.approx(loads[5:7], rel=0.01)
    assert min(loads[3:5]) > 1.2 * max(loads[8:])


@claim("mesh_fairness", "and SAT gives every node the same.")
def sat_gives_every_node_the_same() -> None:
    without, with_sat = column("mesh_fairness", "jain_index", load=1.0)
    assert without < 0.95
    assert with_sat > 0.9999


@claim("trace_torus", "The faster the processors, the more of the execution time is waiting for messages.")
def faster_processors_wait_more() -> None:
    times = column("trace_torus", "execution_time")
    assert times == sorted(times, reverse=True)
    speeds = (0.25, 1, 4, 16)
    computing = [times[0] * speeds[0] / speed for speed in speeds]
    waiting = [1 - least / time for least, time in zip(computing, times, strict=False)]
    assert waiting == sorted(waiting)


@claim("adaptive_advc", "In-transit routing (OLM) accepts most.")
def in_transit_routing_accepts_most() -> None:
    valiant, source_adaptive, olm = (
        adaptive(routing, first=False).summary["accepted_load"] for routing in ADAPTIVE
    )
    assert olm > 1.1 * max(valiant, source_adaptive)


@claim("adaptive_advc", "max/min goes from 1.5 to more than 20.")
def priority_starves_some_nodes() -> None:
    ratio = [
        adaptive("olm", first=first).summary["router_injection_max_min_ratio"] for first in (False, True)
    ]
    assert 1.4 < ratio[0] < 1.6
    assert ratio[1] > 20


ADAPTIVE = {"valiant": "rrg", "source_adaptive": "rrg", "olm": "mm"}


@cache
def adaptive(routing: str, first: bool) -> hs.Result:
    given = {"load": 0.5, "routing": {routing: {"policy": ADAPTIVE[routing]}}}
    priority = {"router.cioq.allocator.transit_priority": first}
    return point("adaptive_advc", {**given, **priority})


@claim("demo", "minimal routing collapses and Valiant routing does not.")
def minimal_routing_collapses_and_valiant_does_not() -> None:
    jobs = {"load": 0.5, "jobs.0.traffic.pattern": "ADVc"}
    minimal, valiant = (
        point("demo", {**jobs, "routing": routing}).summary["accepted_load"]
        for routing in ("minimal", "valiant")
    )
    assert minimal < 0.13
    assert valiant > 0.38


@claim("valiant_adversarial", "the accepted load of minimal routing is 1/(a·p).")
def minimal_routing_accepts_what_one_link_carries() -> None:
    beyond = [
        column("valiant_adversarial", "accepted_load", routing="minimal", load=load)[0] for load in (0.2, 0.5)
    ]
    assert beyond == pytest.approx([1 / 18] * 2, rel=0.005)


@claim("valiant_adversarial", "gets up to half the capacity.")
def valiant_accepts_up_to_a_half() -> None:
    found = [load for load in column("valiant_adversarial", "accepted_load", load=0.5) if load > 0.1]
    assert len(found) == 3
    assert 0.4 < min(found) < max(found) < 0.5


@claim("valiant_adversarial", "which saves a local hop;")
def crg_saves_a_local_hop() -> None:
    rrg, crg, _ = (hops for hops in column("valiant_adversarial", "hops_mean", load=0.3) if hops > 3)
    # It is saved unless the link that rrg draws is one of its own router, 1 of 6, or leads there.
    assert rrg - crg == pytest.approx(5 / 6, abs=0.05)


@claim("trunked_groups", "so that adversarial traffic hurts four times less.")
def four_links_carry_four_times_as_much() -> None:
    assert column("trunked_groups", "accepted_load")[-1] == pytest.approx(4 / 32, rel=0.005)


@claim("two_jobs", "the victim's latency tells what it suffers.")
def the_victim_waits_longer_the_louder_the_aggressor() -> None:
    jobs = [result.jobs for result in results("two_jobs")]
    victim, aggressor = ([job[number]["packet_latency_mean"] for job in jobs] for number in (0, 1))
    assert victim == sorted(victim)
    assert victim[-1] > victim[0] + 2
    assert aggressor == sorted(aggressor)


@claim("two_programs", "are what it loses to its neighbours.")
def the_program_loses_time_to_its_neighbours() -> None:
    times = column("two_programs", "execution_time")
    assert times == sorted(times)
    assert times[-1] > 1.2 * times[0]


@claim("two_programs", "The traffic goes on until the program is done,")
def traffic_goes_on_until_the_program_is_done() -> None:
    for result in results("two_programs"):
        neighbours = result.jobs[1]
        assert neighbours["accepted_load"] == pytest.approx(neighbours["offered_load"], abs=0.002)


@claim(
    "transient",
    "Credits see the change when buffers have filled, contention counters as soon as heads queue.",
)
def contention_counters_see_the_change_first() -> None:
    # Shares of the packets of the first 50 cycles of the adversarial traffic that leave the minimal path.
    shares = [at(result, 8000, "misrouted_fraction") for result in results("transient")]
    buffers, counters = shares[:6], shares[6:]
    assert max(buffers) < 0.6
    assert min(counters) > 0.75


@claim("transient", "then ADV+1, for which most packets must leave the minimal path.")
def most_packets_leave_the_minimal_path_later() -> None:
    for result in results("transient"):
        assert at(result, 7900, "misrouted_fraction") < 0.3
        assert at(result, 8600, "misrouted_fraction") > 0.6


def at(result: hs.Result, cycle: int, name: str) -> float:
    """A column of the packets that were generated in the interval from a cycle on."""
    table = result.generation_series.to_pydict()
    return float(table[name][table["cycle"].index(cycle)])


@claim("ideal", "a message of M phits takes the latency and M cycles.")
def messages_of_an_ideal_network_take_the_latency_and_their_length() -> None:
    table = results("ideal")[1].messages.to_pydict()
    took = [arrived - joined for joined, arrived in zip(table["joined"], table["arrived"], strict=True)]
    # Messages that set out at once follow each other.
    assert all(time >= 100 + phits for time, phits in zip(took, table["phits"], strict=True))
    alone = [time == 100 + phits for time, phits in zip(took, table["phits"], strict=True)]
    assert sum(alone) > len(alone) / 2


@claim("ideal", "are the program's own computations, and the waiting of ranks for each other.")
def computation_and_waiting_are_all_that_is_left() -> None:
    last = results("ideal")[-1].summary
    assert last["message_latency_max"] == 1
    parts = last["compute_time_mean"] + last["wait_time_mean"]
    assert parts == pytest.approx(last["execution_time"], rel=0.01)
    times = column("ideal", "execution_time")
    assert times == sorted(times, reverse=True)


@claim(
    "arbitration_trace",
    "The table and the figure have the mean execution time with its 95 % confidence interval",
)
def placements_of_five_seeds_differ() -> None:
    seeds = {"sweep": {"product": {"measure.seed": [1, 2, 3, 4, 5]}}}
    torus = {"topology": {"torus": {"sides": [8, 8]}}}
    found = hs.sweep(EXAMPLES / "arbitration_trace.toml", seeds | torus, workers=1)
    assert len({result.summary["execution_time"] for result in found}) == 5


@claim("stop_when_good", "every load runs until its latency is known to 1 %,")
def latencies_are_known_to_a_percent() -> None:
    reached = [result.summary for result in results("stop_when_good") if result.summary["stop"] == "reached"]
    assert len(reached) == 4
    assert max(summary["stop_relative_ci"] for summary in reached) <= 0.01


@claim("stop_when_good", "such a point stops with the first one.")
def a_saturated_point_stops_with_the_first_window() -> None:
    last = results("stop_when_good")[-1].summary
    assert [last["stop"], last["stop_attempts"], last["cycles"]] == ["saturated", 1, 5000]


@claim("mixed_traffic", "so that the weights of the two patterns add up to one.")
def weights_add_up_to_one() -> None:
    for result in results("mixed_traffic"):
        mix = result.config["jobs"][0]["traffic"]["pattern"]["mix"]
        assert sum(part["weight"] for part in mix) == pytest.approx(1)


@claim("mixed_traffic", "the time series shows how the network fills")
def the_network_fills() -> None:
    for result in results("mixed_traffic"):
        loads = numbers(result.timeseries, "accepted_load")
        assert loads[0] < 0.1 < 0.35 < min(loads[10:])


@claim("trace_torus", "computations take no time and the network alone is left.")
def infinitely_fast_processors_take_no_time() -> None:
    last = results("trace_torus")[-1].summary
    assert last["compute_time_mean"] == 0
    assert last["wait_time_mean"] > 0.95 * last["execution_time"]


@claim("traffic_table", "and wait less for each other.")
def messages_wait_less_for_each_other() -> None:
    latencies = column("traffic_table", "message_latency_mean")
    assert latencies == sorted(latencies, reverse=True)


@claim(
    "mesh_fairness", "round-robin arbitration favours the nodes in the middle, the oldest packet first helps,"
)
def the_middle_is_favoured_and_age_helps() -> None:
    arbiter = "router.input_queued.allocator.output_arbiter"
    round_robin, age = (
        point("mesh_fairness", {"load": 1.0, arbiter: name}) for name in ("round_robin", "age")
    )
    of_all = numbers(round_robin.nodes, "injected")
    middle = [of_all[8 * row + place] for row in (3, 4) for place in (3, 4)]
    corners = [of_all[node] for node in (0, 7, 56, 63)]
    assert min(middle) > 1.2 * max(corners)
    assert age.summary["jain_index"] > round_robin.summary["jain_index"]


@claim("hyperx", "UGAL takes them where the minimal path is crowded.")
def ugal_detours_more_the_more_load() -> None:
    hops = column("hyperx", "hops_mean", routing="ugal")
    assert hops == sorted(hops)
    assert column("hyperx", "hops_mean", routing="minimal")[0] <= hops[0] < hops[-1] - 0.3


@claim(
    "fairness_advc", "each of its own nodes gets about as much as all nodes of most other routers together."
)
def a_node_of_the_last_router_gets_what_other_routers_get() -> None:
    result = point("fairness_advc", {"load": 0.4})
    injected = numbers(result.routers, "injected")
    by_place = [sum(injected[place::8]) for place in range(8)]
    of_a_node = by_place[7] / 4
    assert all(0.8 * of_a_node < each < of_a_node for each in by_place[1:7])


@claim("first_run", "9 groups, 72 nodes.")
def the_first_run_has_72_nodes() -> None:
    nodes = point("first_run", {"load": 0.1, "measure.streams": ["nodes"]}).nodes
    assert nodes.num_rows == 72


@claim("infiniband_cluster", "These tables send everything over the first spine switch.")
def the_tables_use_one_spine() -> None:
    links = point("infiniband_cluster", {"measure.streams": ["links"]}).links.to_pydict()
    # Switches 0 to 2 are the leaves.
    assert {"switch 3"} == {place for place in links["to"] if place in ("switch 3", "switch 4")}


@claim("request_reply_flexvc", "spare ones (6/3), which in increasing order would stay unused,")
def increasing_vcs_leave_spare_ones_unused() -> None:
    few, many = (
        point("request_reply_flexvc", {"load": 0.6, "router.cioq.vcs": {"local": local, "global": global_}})
        for local, global_ in ((4, 2), (6, 3))
    )
    assert few.summary["accepted_load"] == many.summary["accepted_load"]


@pytest.mark.parametrize(("example", "words", "holds"), CLAIMS, ids=[test.__name__ for _, _, test in CLAIMS])
def test_claim_of_an_example_holds(example: str, words: str, holds: Claim) -> None:
    assert words.casefold() in comments(example).casefold(), "the example no longer says so"
    holds()


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.toml")), ids=lambda path: path.stem)
def test_what_comments_say_is_claimed_or_known_to_need_no_test(path: Path) -> None:
    listed = KNOWN.read_text("utf-8").splitlines()
    known = {line.partition(": ")[2] for line in listed if line.startswith(f"{path.stem}: ")}
    assert set(unclaimed(path.stem)) == known, (
        f"test it as a claim; {KNOWN.name} is for what simulates nothing"
    )
