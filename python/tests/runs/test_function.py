"""Routing functions of one's own: what they are told, that they decide, and what happens when they fail."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import hopsim as hs

MESH = """
routing = "minimal"
load = 0.6
topology.mesh.sides = [4, 3]
links.network.latency = 3
jobs = [{ traffic = { pattern = "uniform", packet_length = 4 } }]
router.cioq.vcs = { network = 1 }
router.cioq.buffers.network = 16
measure = { warmup = 200, cycles = 800 }
"""

SIDES = (4, 3)

RING = MESH.replace("mesh.sides = [4, 3]", "ring.routers = 8").replace(
    "buffers.network = 16", "buffers.network = 4"
)


def place(router: int) -> tuple[int, int]:
    return router % SIDES[0], router // SIDES[0]


def dimension_order(head: hs.Head) -> hs.Output:
    """X first, then Y."""
    x, y = place(head.router)
    goal = place(head.destination_router)
    step = (1 if goal[0] > x else -1, 0) if goal[0] != x else (0, 1 if goal[1] > y else -1)
    behind = (x + step[0], y + step[1])
    return next(output for output in head.outputs if place(output.router) == behind)


def measured(result: hs.Result) -> dict[str, Any]:
    """The summary without what tells documents and runs from each other."""
    own = ("config", "digest", "routing", "wall", "decisions_per_hop")
    return {name: value for name, value in result.summary.items() if not name.startswith(own)}


@pytest.mark.parametrize("router", ["cioq", "input_queued"])
def test_a_function_that_goes_by_dimension_order_gives_the_results_of_minimal_routing(router: str) -> None:
    text = MESH.replace("router.cioq", f"router.{router}")
    built_in, own = hs.run(text), hs.run(text, routing=dimension_order)
    assert measured(own) == measured(built_in)
    assert own.routers.equals(built_in.routers)
    assert own.config["routing"] == {"function": {}}


def test_results_depend_on_what_the_function_chooses_and_on_nothing_else() -> None:
    def any_that_leads_nearer(head: hs.Head) -> hs.Output:
        nearer = [output for output in head.outputs if output.distance < head.distance]
        return nearer[int(head.random * len(nearer))]

    drawn = hs.run(MESH, routing=any_that_leads_nearer)
    assert measured(hs.run(MESH, routing=any_that_leads_nearer, workers=2)) == measured(drawn)
    assert measured(hs.run(MESH, routing=dimension_order)) != measured(drawn)


def test_a_head_is_told_what_its_router_knows() -> None:
    heads: list[hs.Head] = []

    def route(head: hs.Head) -> hs.Output:
        heads.append(head)
        return dimension_order(head)

    hs.run(MESH, routing=route)
    at_source = [head for head in heads if head.hops == 0]
    assert at_source
    assert len(at_source) < len(heads)
    for head in heads:
        assert (head.input_port is None) == (head.input_vc is None) == (head.hops == 0)
        assert head.destination == head.destination_router
        assert head.length == 4
        assert not head.is_reply
        assert 0 <= head.random < 1
        (x, y), (to_x, to_y) = place(head.router), place(head.destination_router)
        assert head.distance == abs(x - to_x) + abs(y - to_y) > 0
        if head.hops == 0:
            assert head.router == head.source
        assert [output.port for output in head.outputs] == sorted({output.port for output in head.outputs})
        for output in head.outputs:
            (x, y), (next_x, next_y) = place(head.router), place(output.router)
            assert abs(x - next_x) + abs(y - next_y) == 1
            assert output.distance == abs(next_x - to_x) + abs(next_y - to_y)
            assert output.credits + output.occupancy == 16
            assert output.is_open <= (output.credits >= head.length)
    assert len({head.random for head in heads}) == len(heads)


def test_a_packet_that_leaves_the_shortest_path_counts_as_misrouted() -> None:
    def away_from_the_source(head: hs.Head) -> hs.Output:
        if head.hops == 0 and head.source == 0:
            return max(head.outputs, key=lambda output: output.distance)
        return dimension_order(head)

    shares = hs.run(MESH, routing=away_from_the_source).summary
    # Of a corner's destinations some lie so that every output leads nearer.
    assert 0 < shares["misrouted_fraction"] < 1 / 12
    assert hs.run(MESH, routing=dimension_order).summary["misrouted_fraction"] == 0


def test_what_a_function_raises_ends_the_run_and_reaches_the_caller() -> None:
    def fails(head: hs.Head) -> hs.Output:
        raise ZeroDivisionError(f"in router {head.router}")

    with pytest.raises(ZeroDivisionError, match="in router"):
        hs.run(MESH, routing=fails, progress=False)


def of_another_router(head: hs.Head) -> hs.Output:
    return hs.Output(99, 0, 0, 0, is_open=True, credits=1, occupancy=0)


def a_number(head: hs.Head) -> Any:
    return 3


@pytest.mark.parametrize(("function", "shown"), [(of_another_router, r"Output\(port=99,"), (a_number, "3")])
def test_an_answer_that_is_no_output_of_the_head_is_refused(
    function: Callable[[hs.Head], Any], shown: str
) -> None:
    valid = "valid: one of the outputs of the head, or None"
    message = rf"routing: the function returned {shown}.* in router \d+; {valid}"
    with pytest.raises(hs.ConfigError, match=message):
        hs.run(MESH, routing=function)


def test_packets_that_go_to_and_fro_end_the_run() -> None:
    def farthest(head: hs.Head) -> hs.Output:
        return max(head.outputs, key=lambda output: output.distance)

    line = MESH.replace("[4, 3]", "[4]").replace("0.6", "0.01").replace("cycles = 800", "cycles = 5000")
    with pytest.raises(hs.RunError, match=r"a packet from node \d has made 28 hops and is in router"):
        hs.run(line, routing=farthest)


def test_a_network_that_stands_still_because_packets_wait_in_a_circle_is_found() -> None:
    def clockwise(head: hs.Head) -> hs.Output:
        return next(output for output in head.outputs if output.router == (head.router + 1) % 8)

    document = RING.replace("0.6", "1.0").replace("cycles = 800", "cycles = 20000, watchdog = 1000")
    with pytest.raises(
        hs.RunError, match=r"deadlock at cycle \d+: none of \d+ packets .* has moved since cycle"
    ):
        hs.run(document, routing=clockwise)


def test_a_function_that_asks_for_nothing_is_found_and_packets_that_move_are_no_deadlock() -> None:
    def nothing(head: hs.Head) -> None:
        return None

    watched = MESH.replace("cycles = 800", "cycles = 2000, watchdog = 300")
    with pytest.raises(hs.RunError, match=r"what routing\.function asks for is never open"):
        hs.run(watched, routing=nothing)
    hs.run(watched, routing=dimension_order)
    hs.run(watched, load=0.001, routing=dimension_order)


def test_where_there_is_no_function_or_nobody_to_ask_it_that_is_said() -> None:
    valid = r"valid: hopsim.run\(document, routing=function\)"
    reason = rf"routing.function: is a function in Python, and this run is given none; {valid}"
    with pytest.raises(hs.ConfigError, match=reason):
        hs.run(MESH, routing="function")
    with pytest.raises(
        hs.ConfigError, match=r"routing: a function routes the packets of one run; use hopsim.run\(\)"
    ):
        hs.sweep(MESH, load=[0.1, 0.2], routing=dimension_order)
    flits = MESH.replace("router.cioq", "router.virtual_channel")
    with pytest.raises(
        hs.ConfigError, match=r"routing.function .*: a function of one's own is asked in routers that"
    ):
        hs.run(flits, routing=dimension_order)
