"""The lives of packets, from rows of the stream `packet_hops` that are written down here."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from hopsim.errors import ConfigError
from hopsim.insight import packets, perfetto
from hopsim.insight.causes import CAUSES
from hopsim.insight.flits import FlitPassage
from hopsim.insight.packets import Choice, Packet, Passage
from hopsim.results.result import Result
from hopsim.spelling import of_command

NO_WAIT = dict.fromkeys(CAUSES, 0)


def hop(number: int, router: int, times: tuple[int, int, int], **more: Any) -> dict[str, Any]:
    """A row of the stream, but for what is of the packet; `times` are arrival, grant and departure."""
    arrived, granted, departed = times
    ports = {"input_port": 2, "input_vc": 1, "port": 3, "port_class": "local", "vc": 0, "peer_router": 9}
    passed = {"hop": number, "router": router, "arrived": arrived, "granted": granted, "departed": departed}
    return {**passed, **ports, **NO_WAIT, "misrouted": False, **more}


def rows(source: int, serial: int, generated: int, delivered: int | None, *hops: dict[str, Any]) -> list[Any]:
    of_packet = {"source": source, "serial": serial, "destination": 7, "job": "a", "length": 8}
    return [{**of_packet, "generated": generated, "delivered": delivered, **each} for each in hops]


LIFE = rows(
    3,
    5,
    1000,
    1165,
    hop(0, 1, (1010, 1033, 1045), queued=20, port_class="local", peer_router=4, input_port=0),
    hop(
        1,
        4,
        (1055, 1085, 1098),
        queued=1,
        room=9,
        output=17,
        port=6,
        vc=2,
        port_class="global",
        peer_router=12,
        misrouted=True,
    ),
    hop(2, 12, (1148, 1151, 1157), port=0, vc=1, port_class="terminal", peer_router=None, misrouted=True),
)
"""It waits 20 cycles and 7 at the output, then for three reasons and 8 there, at last 1."""


def result(*rows: list[Any], router: str = "cioq", **latencies: int) -> Result:
    table = pa.Table.from_pylist([row for each in rows for row in each])
    config = {"router": {router: latencies or {"crossbar_latency": 5, "pipeline_latency": 3}}, "measure": {}}
    return Result({"config": config, "result": {}}, {}, {"packet_hops": table})


def only(*rows: list[Any], **more: Any) -> Packet:
    (packet,) = packets.of(result(*rows, **more), Choice())
    return packet


def test_a_packet_is_what_its_rows_say() -> None:
    first = {"queued": 20, "room": 0, "bubble": 0, "output": 0, "crossbar": 0}
    second = {"queued": 1, "room": 9, "bubble": 0, "output": 17, "crossbar": 0}
    assert only(LIFE) == Packet(
        3,
        5,
        7,
        "a",
        8,
        1000,
        1165,
        (
            Passage(1, 0, 1, 3, "local", 0, 4, 1010, 1033, 1045, first, 3, 5, misrouted=False),
            Passage(4, 2, 1, 6, "global", 2, 12, 1055, 1085, 1098, second, 3, 5, misrouted=True),
            Passage(12, 2, 1, 0, "terminal", 1, None, 1148, 1151, 1157, NO_WAIT, 3, 5, misrouted=True),
        ),
    )
    assert type(only(LIFE).delivered) is int
    assert only(LIFE).passages[0].misrouted is False


def test_a_router_without_a_crossbar_latency_is_crossed_in_no_time() -> None:
    assert only(LIFE, router="input_queued", buffers=32).passages[0].crossing == 0


def test_a_virtual_channel_router_delays_flits_behind_the_switch() -> None:
    delays = {"routing_delay": 2, "switch_traversal_delay": 4, "speedup": 1}
    passage = only(LIFE, router="virtual_channel", **delays).passages[0]
    assert (passage.route_computation, passage.crossing) == (2, 4)


def test_the_steps_of_a_route_computation_take_the_cycles_that_have_them() -> None:
    delays = {"routing_delay": 3, "switch_traversal_delay": 1, "speedup": 2}
    assert only(LIFE, router="virtual_channel", **delays).passages[0].route_computation == 2


def test_the_pipeline_takes_what_was_not_waited_for() -> None:
    packet = only(
        rows(3, 5, 1000, None, hop(0, 1, (1000, 1000, 1008)), hop(1, 9, (1008, 1030, 1035), room=20))
    )
    assert [passage.pipeline for passage in packet.passages] == [0, 2]


def test_a_head_that_departs_in_the_cycle_of_its_grant_crosses_and_queues_no_cycle() -> None:
    packet = only(rows(3, 5, 1000, None, hop(0, 1, (1000, 1003, 1003))))
    assert (packet.passages[0].crossing, packet.passages[0].at_output) == (0, 0)


def test_a_life_is_told_line_by_line() -> None:
    assert only(LIFE).lines() == [
        "Packet 5 of node 3, for node 7, 8 phits, a: generated in cycle 1,000, delivered in cycle 1,165, "
        "165 cycles later.",
        "  router  arrives  granted  leaves",
        "       1    1,010    1,033   1,045  waits 27 cycles: 20 behind other packets, 7 in the output "
        "queue; by port 3, VC 0, the local link to router 4",
        "       4    1,055    1,085   1,098  waits 35 cycles: 1 behind other packets, 9 for room in the "
        "buffer of router 12, 17 for a busy link, 8 in the output queue; by port 6, VC 2, the global link to "
        "router 12, a detour",
        "      12    1,148    1,151   1,157  waits 1 cycle in the output queue; by port 0, VC 1, the link to "
        "its node",
        "In all 165 cycles: 10 at its node + 21 waiting behind other packets + 9 waiting for room behind the "
        "link + 17 waiting for a busy link + 16 in output queues + 24 crossing routers + 60 on links + "
        "8 until its tail followed its head.",
    ]


def test_what_takes_no_time_is_not_told() -> None:
    at_once = rows(0, 0, 4, 20, hop(0, 0, (4, 7, 12), peer_router=None, port_class="terminal"))
    assert only(at_once).lines()[2:] == [
        "       0        4        7      12  by port 3, VC 0, the link to its node",
        "In all 16 cycles: 8 crossing routers + 8 until its tail followed its head.",
    ]
    # Of the room in the buffer of its node.
    late = rows(0, 0, 4, 22, hop(0, 0, (4, 9, 14), room=2, peer_router=None, port_class="terminal"))
    assert only(late).lines()[2] == (
        "       0        4        9      14  waits 2 cycles for room in the buffer of its node; by port 3, "
        "VC 0, the link to its node"
    )


@pytest.mark.parametrize(
    ("misrouted", "told"),
    [
        ((False, False, False), (False, False, False)),
        ((False, True, True), (False, True, False)),
        ((True, True, False), (True, False, False)),
        ((True, False, True), (True, False, True)),
    ],
)
def test_a_detour_is_told_where_it_begins(misrouted: tuple[bool, ...], told: tuple[bool, ...]) -> None:
    passed = [
        hop(at, at, (20 * at, 20 * at + 3, 20 * at + 8), misrouted=strayed)
        for at, strayed in enumerate(misrouted)
    ]
    lines = only(rows(0, 0, 0, 99, *passed)).lines()[2:-1]
    assert tuple(line.endswith("router 9, a detour") for line in lines) == told
    assert all(line.endswith(("router 9", "router 9, a detour")) for line in lines)


def test_a_packet_that_is_still_inside_has_no_latency() -> None:
    passed = [
        hop(at, at, (1010 + 108 * at, 1013 + 108 * at, 1018 + 108 * at), peer_router=7 + at)
        for at in range(3)
    ]
    packet = only(rows(3, 5, 1000, None, *passed))
    assert packet.latency is None
    assert packet.parts() == {"at its node": 10, "crossing routers": 24, "on links": 200}
    lines = packet.lines()
    assert lines[0].endswith("generated in cycle 1,000, still inside at the end of the run.")
    assert lines[-1] == (
        "So far 10 at its node + 24 crossing routers + 200 on links; then it is on its way to router 9 or "
        "waits there."
    )


def life(source: int, serial: int, generated: int, delivered: int | None, destination: int = 7) -> list[Any]:
    found = rows(source, serial, generated, delivered, hop(0, source, (generated, generated, generated)))
    return [{**row, "destination": destination} for row in found]


LIVES = result(
    life(1, 0, 10, 110),
    life(1, 1, 20, 130, destination=2),
    life(2, 0, 30, None),
    life(2, 1, 40, 140),
    life(2, 2, 50, 140, destination=2),
    life(1, 2, 60, 170),
)
"""Latencies of 100, 110, none, 100, 90 and 110 cycles."""


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ({}, [(1, 0), (1, 1), (2, 0), (2, 1), (2, 2), (1, 2)]),
        ({"source": 1}, [(1, 0), (1, 1), (1, 2)]),
        ({"destination": 7}, [(1, 0), (2, 0), (2, 1), (1, 2)]),
        ({"source": 1, "destination": 7}, [(1, 0), (1, 2)]),
        ({"source": 2, "destination": 7, "every": 2}, [(2, 0)]),
        ({"serial": 1}, [(1, 1), (2, 1)]),
        ({"source": 2, "serial": 1}, [(2, 1)]),
        ({"after": 50}, [(2, 2), (1, 2)]),
        ({"after": 51}, [(1, 2)]),
        ({"source": 1, "after": 20}, [(1, 1), (1, 2)]),
        ({"every": 2}, [(1, 0), (2, 0), (2, 2), (1, 2)]),
        ({"every": 2, "after": 30}, [(2, 0), (2, 2), (1, 2)]),
        # The slowest first, of equally slow ones that which was generated first; none that has not arrived.
        ({"slowest": 9}, [(1, 1), (1, 2), (1, 0), (2, 1), (2, 2)]),
        ({"slowest": 3}, [(1, 1), (1, 2), (1, 0)]),
        ({"slowest": 1, "source": 2}, [(2, 1)]),
    ],
)
def test_the_chosen_packets_are_found(given: dict[str, Any], found: list[tuple[int, int]]) -> None:
    chosen = packets.of(LIVES, Choice(**given))
    assert [(packet.source, packet.serial) for packet in chosen] == found
    for most in (0, 1, 2):
        assert packets.of(LIVES, Choice(**given), most) == chosen[:most]


def test_equally_slow_packets_stay_in_the_order_of_their_generation() -> None:
    """Of many, as sorting of few keeps their order anyhow."""
    many = result(*(life(node, 0, 10 + node % 2, 110 + node % 3) for node in range(60)))
    found = [packet.source for packet in packets.of(many, Choice(slowest=60))]
    latency = {node: 100 + node % 3 - node % 2 for node in range(60)}
    assert found == sorted(latency, key=lambda node: (-latency[node], node))


def test_a_packet_may_take_no_time_at_all() -> None:
    assert [packet.latency for packet in packets.of(result(life(0, 0, 5, 5)), Choice(slowest=1))] == [0]


def test_each_packet_has_its_own_rows() -> None:
    other = rows(4, 0, 3, None, hop(0, 6, (4, 5, 6)), hop(1, 8, (7, 8, 9)))
    found = packets.of(result(other, LIFE, life(1, 0, 10, 110)), Choice())
    assert [[passage.router for passage in packet.passages] for packet in found] == [[6, 8], [1, 4, 12], [1]]
    assert [packet.delivered for packet in found] == [None, 1165, 110]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"source": 5},
            "source = 5: no such packet has entered the network; recorded: source 1, 2; destination 2, 7; "
            "generated in cycles 10 … 60",
        ),
        (
            {"destination": 7, "after": 61},
            "destination = 7, after = 61: no such packet has entered the network; recorded: source 1, 2; "
            "destination 2, 7; generated in cycles 10 … 60",
        ),
        ({"serial": 3}, "serial = 3: no such packet has entered the network; valid: serial = 0 … 2"),
        (
            {"source": 1, "every": 2, "serial": 1},
            "source = 1, serial = 1, every = 2: no such packet has entered the network; valid: serial = 0, 2",
        ),
        (
            {"source": 2, "serial": 0, "slowest": 1},
            "source = 2, serial = 0: none of these packets was delivered; valid: a longer run",
        ),
    ],
)
def test_what_was_not_recorded_is_told_with_what_was(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError) as refused:
        packets.of(LIVES, Choice(**given))
    assert str(refused.value) == message


def test_where_nothing_was_delivered_or_recorded_that_is_told() -> None:
    with pytest.raises(ConfigError) as refused:
        packets.of(result(life(1, 0, 5, None)), Choice(slowest=1))
    assert str(refused.value) == "packets: none of these packets was delivered; valid: a longer run"
    nothing = result(LIFE)
    nothing.tables = {"packet_hops": nothing.packet_hops.slice(0, 0)}
    with pytest.raises(ConfigError) as refused:
        packets.of(nothing, Choice())
    assert str(refused.value) == (
        "packets: no such packet has entered the network; none was recorded; valid: another choice, or a "
        "longer run"
    )


@pytest.mark.parametrize(
    ("nodes", "told"),
    [
        ([4], "4"),
        ([4, 5], "4, 5"),
        ([4, 5, 6], "4 … 6"),
        ([0, 1, 2, 3, 4, 5, 6, 7, 8, 9], "0 … 9"),
        ([4, 5, 7], "4, 5, 7"),
        ([1, 3, 5, 7, 9, 11, 13, 15], "1, 3, 5, 7, 9, 11, 13, 15"),
        ([1, 3, 5, 7, 9, 11, 13, 15, 17], "1, 3, 5, 7, 9, 11, 13, 15, … 17"),
    ],
)
def test_numbers_are_told_in_short(nodes: list[int], told: str) -> None:
    lives = result(*(life(node, 0, 5, 50, destination=99) for node in nodes))
    with pytest.raises(ConfigError, match=f"recorded: source {told}; destination 99; generated"):
        packets.of(lives, Choice(source=77))


@pytest.mark.parametrize(("name", "least"), [("every", 1), ("slowest", 1), ("serial", 0), ("after", 0)])
def test_a_choice_is_of_whole_numbers(name: str, least: int) -> None:
    for value in (least, least + 1, 2**70):
        valid: dict[str, Any] = {name: value}
        assert getattr(Choice(**valid), name) == value
    for value in (least - 1, True, 1.0, "1"):
        wrong: dict[str, Any] = {name: value}
        with pytest.raises(ConfigError) as refused:
            Choice(**wrong)
        assert str(refused.value) == (
            f"{name} = {value!r}: is not a whole number from {least} on; valid: {least} …"
        )


def test_a_choice_is_told_as_it_was_given() -> None:
    with pytest.raises(ConfigError, match=r"^destination = 3: is the source, and a node sends nothing"):
        Choice(source=3, destination=3)
    with pytest.raises(ConfigError, match=r"^--slowest 0: is not a whole number"):
        Choice(slowest=0, spelled=of_command)
    assert Choice(source=0, destination=1).source == 0


def slices(packet: Packet) -> list[tuple[str, str, int, int]]:
    """Name, kind, begin and duration of the slices of a trace of one packet."""
    events = perfetto.trace([packet])["traceEvents"]
    return [(each["name"], each["cat"], each["ts"], each["dur"]) for each in events if each["ph"] == "X"]


def test_a_trace_has_a_slice_for_everything_that_takes_time() -> None:
    assert slices(only(LIFE)) == [
        ("packet 5: node 3 to node 7", "packet", 1000, 165),
        ("at its node", "node", 1000, 10),
        ("router 1", "router", 1010, 35),
        ("pipeline", "moving", 1010, 3),
        ("waits behind other packets", "waiting", 1013, 20),
        ("crosses", "moving", 1033, 5),
        ("output queue", "waiting", 1038, 7),
        ("local link to router 4", "link", 1045, 10),
        ("router 4", "router", 1055, 43),
        ("pipeline", "moving", 1055, 3),
        ("waits behind other packets", "waiting", 1058, 1),
        ("waits for room behind the link", "waiting", 1059, 9),
        ("waits for a busy link", "waiting", 1068, 17),
        ("crosses", "moving", 1085, 5),
        ("output queue", "waiting", 1090, 8),
        ("global link to router 12", "link", 1098, 50),
        ("router 12", "router", 1148, 9),
        ("pipeline", "moving", 1148, 3),
        ("crosses", "moving", 1151, 5),
        ("output queue", "waiting", 1156, 1),
        ("tail to node 7", "node", 1157, 8),
    ]


def test_the_trace_of_a_packet_that_is_still_inside_ends_where_it_left_its_last_router() -> None:
    packet = only(rows(3, 5, 1000, None, hop(0, 1, (1000, 1003, 1008))))
    assert slices(packet) == [
        ("packet 5: node 3 to node 7", "packet", 1000, 8),
        ("router 1", "router", 1000, 8),
        ("pipeline", "moving", 1000, 3),
        ("crosses", "moving", 1003, 5),
    ]


def test_a_trace_has_a_process_for_each_node_and_a_thread_for_each_packet() -> None:
    found = perfetto.trace(packets.of(LIVES, Choice()))
    assert {key: value for key, value in found.items() if key != "traceEvents"} == {
        "displayTimeUnit": "ms",
        "otherData": {"simulator": "hopsim", "time": "a cycle is shown as 1 us"},
    }
    events = found["traceEvents"]
    named = [each for each in events if each["ph"] == "M"]
    assert {(each["ts"], tuple(each)) for each in named} == {(0, ("name", "ph", "ts", "pid", "tid", "args"))}
    assert [(each["name"], each["pid"], each["tid"], each["args"]) for each in named] == [
        ("process_name", 2, 0, {"name": "node 1"}),
        ("process_name", 3, 0, {"name": "node 2"}),
        ("thread_name", 2, 1, {"name": "packet 0 to node 7"}),
        ("thread_name", 2, 2, {"name": "packet 1 to node 2"}),
        ("thread_name", 3, 3, {"name": "packet 0 to node 7"}),
        ("thread_name", 3, 4, {"name": "packet 1 to node 7"}),
        ("thread_name", 3, 5, {"name": "packet 2 to node 2"}),
        ("thread_name", 2, 6, {"name": "packet 2 to node 7"}),
    ]
    whole = [each for each in events if each["ph"] == "X" and each["cat"] == "packet"]
    assert [(each["pid"], each["tid"]) for each in whole] == [(2, 1), (2, 2), (3, 3), (3, 4), (3, 5), (2, 6)]


def with_flits(delivered: int | None, *passed: tuple[FlitPassage, ...]) -> Packet:
    """A packet of two flits, whose flits passed a router each."""
    ends = [("local", 9)] * (len(passed) - 1) + [("terminal", None)]
    passages = tuple(
        Passage(
            *(router, 2, 1, 3, port_class, 0, peer, of_flits[0].arrived, of_flits[0].granted),
            *(of_flits[0].departed, NO_WAIT, 2, 1),
            misrouted=False,
            route_computation=1,
            flits=of_flits,
        )
        for router, ((port_class, peer), of_flits) in enumerate(zip(ends, passed, strict=True), start=8)
    )
    return Packet(3, 5, 7, "a", 2, 1000, delivered, passages)


FIRST = (FlitPassage(0, 1001, 1001, 1002, 1003, 1004), FlitPassage(1, 1002, None, None, 1006, 1007))
SECOND = (FlitPassage(0, 1007, 1007, 1008, 1009, 1010), FlitPassage(1, 1010, None, None, 1010, 1011))


def tracks(*found: Packet) -> dict[tuple[str, int], list[tuple[str, str, int, int]]]:
    """Slices as above, by the name of their thread, and the number."""
    events = perfetto.trace(found)["traceEvents"]
    names = {each["tid"]: each["args"]["name"] for each in events if each["name"] == "thread_name"}
    threads: dict[tuple[str, int], list[tuple[str, str, int, int]]] = {
        (name, thread): [] for thread, name in names.items()
    }
    for each in events:
        if each["ph"] == "X":
            slice_ = (each["name"], each["cat"], each["ts"], each["dur"])
            threads[names[each["tid"]], each["tid"]].append(slice_)
    return threads


def test_flits_have_tracks_behind_that_of_their_packet() -> None:
    packet = with_flits(1014, FIRST, SECOND)
    found = tracks(packet, only(LIFE))
    assert list(found) == [
        ("packet 5 to node 7", 1),
        ("packet 5, flit 0", 2),
        ("packet 5, flit 1", 3),
        ("packet 5 to node 7", 4),
    ]
    assert found["packet 5, flit 0", 2] == [
        ("router 8", "router", 1001, 4),
        ("RC", "stage", 1001, 1),
        ("VA", "stage", 1002, 1),
        ("SA", "stage", 1003, 1),
        ("ST", "stage", 1004, 1),
        ("local link to router 9", "link", 1005, 2),
        ("router 9", "router", 1007, 4),
        ("RC", "stage", 1007, 1),
        ("VA", "stage", 1008, 1),
        ("SA", "stage", 1009, 1),
        ("ST", "stage", 1010, 1),
        ("terminal link to node 7", "link", 1011, 2),
    ]
    assert found["packet 5, flit 1", 3] == [
        ("router 8", "router", 1002, 6),
        ("buffered", "waiting", 1002, 2),
        ("SA", "stage", 1004, 3),
        ("ST", "stage", 1007, 1),
        ("local link to router 9", "link", 1008, 2),
        ("router 9", "router", 1010, 2),
        ("SA", "stage", 1010, 1),
        ("ST", "stage", 1011, 1),
        ("terminal link to node 7", "link", 1012, 2),
    ]


def test_a_flit_that_is_still_inside_has_slices_up_to_its_last_departure() -> None:
    found = tracks(with_flits(None, FIRST, SECOND[:1]))
    assert found["packet 5, flit 0", 2][-1] == ("ST", "stage", 1010, 1)
    assert found["packet 5, flit 1", 3][-1] == ("ST", "stage", 1007, 1)


def test_slices_of_flits_have_the_cycles_of_their_rows() -> None:
    events = perfetto.trace([with_flits(1014, FIRST, SECOND)])["traceEvents"]
    facts = [
        each["args"] for each in events if each["tid"] in (2, 3) and each.get("cat") in ("router", "link")
    ]
    assert facts == [
        {"arrived": 1001, "routed": 1001, "vc_allocated": 1002, "granted": 1003, "departed": 1004},
        {"departed": 1004, "arrives": 1007},
        {"arrived": 1007, "routed": 1007, "vc_allocated": 1008, "granted": 1009, "departed": 1010},
        {"departed": 1010, "arrives": 1013},
        {"arrived": 1002, "granted": 1006, "departed": 1007},
        {"departed": 1007, "arrives": 1010},
        {"arrived": 1010, "granted": 1010, "departed": 1011},
        {"departed": 1011, "arrives": 1014},
    ]


def test_slices_of_a_packet_and_of_its_routers_have_their_facts() -> None:
    events = perfetto.trace([only(LIFE)])["traceEvents"]
    facts = {each["name"]: each["args"] for each in events}
    assert facts["packet 5: node 3 to node 7"] == {
        "job": "a",
        "length": 8,
        "source": 3,
        "serial": 5,
        **only(LIFE).parts(),
    }
    assert facts["router 4"] == {"input_port": 2, "input_vc": 1, "port": 6, "vc": 2, "misrouted": True}
    assert facts["crosses"] == facts["at its node"] == facts["tail to node 7"] == {}
