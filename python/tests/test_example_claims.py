"""What the comments of examples say happens: each claim names the words it stands for, and simulates them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

import hopsim as hs
from conftest import ROOT

EXAMPLES = ROOT / "experiments"

Claim = Callable[[], None]

CLAIMS: list[tuple[str, str, Claim]] = []
"""Name of the example, words of its comments, and what is found true of it."""


def claim(example: str, words: str) -> Callable[[Claim], Claim]:
    """A test of some words in the comments of an example."""

    def add(test: Claim) -> Claim:
        CLAIMS.append((example, words, test))
        return test

    return add


@cache
def results(example: str) -> hs.Results:
    return hs.sweep(EXAMPLES / f"{example}.toml", workers=1)


def column(example: str, name: str, **values: Any) -> list[float]:
    """A metric of the points whose axes end in these keys with these values."""

    def fits(axes: dict[str, Any]) -> bool:
        short = {path.rsplit(".", 1)[-1]: value for path, value in axes.items()}
        return all(short[key] == value for key, value in values.items())

    found = [result.summary[name] for result in results(example) if fits(result.axes)]
    assert found
    return found


def comments(example: str) -> str:
    lines = (EXAMPLES / f"{example}.toml").read_text("utf-8").splitlines()
    return " ".join(line.partition("#")[2].strip() for line in lines if "#" in line)


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


@pytest.mark.parametrize(("example", "words", "holds"), CLAIMS, ids=[test.__name__ for _, _, test in CLAIMS])
def test_claim_of_an_example_holds(example: str, words: str, holds: Claim) -> None:
    assert words.casefold() in comments(example).casefold(), "the example no longer says so"
    holds()
