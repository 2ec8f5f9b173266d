"""`hopsim trace-packet`, `hopsim.trace_packets` and `Result.packets`: lives of packets, told and drawn."""

from __future__ import annotations

import json
import re
from itertools import groupby, pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import hopsim as hs
from conftest import Command
from hopsim.insight import packets, perfetto
from hopsim.runs import packet_trace

MESH = """
topology.mesh.sides = [4, 4]
router.input_queued.buffers.network = 32
load = 0.1

[[jobs]]
traffic.pattern.hotspot = { node = 5, fraction = 0.6 }

[measure]
warmup = 200
cycles = 800
"""
DRAGONFLY = """
topology.dragonfly = { p = 2, a = 4, h = 2 }
routing.olm = {}
router.cioq.pipeline_latency = 2
load = 0.5
jobs = [{ traffic.pattern.adversarial.offset = 1 }]
measure = { warmup = 300, cycles = 500 }
"""
FLITS = MESH.replace(
    "router.input_queued.buffers.network = 32",
    "router.virtual_channel = { routing_delay = 3, buffers = { network = 4 } }",
)
FAILING = """
topology.slim_fly.q = 4
load = 0.2
measure = { warmup = 200, cycles = 800 }
faults = [{ at = 300, until = 600, links.fraction = 0.1, reaction = { detection = 20, reroute = 60 } }]
"""
SPECULATIVE = FLITS.replace("routing_delay = 3", "routing_delay = 0, speculation = 'separate'")
FAST = FLITS.replace("routing_delay = 3", "routing_delay = 3, speedup = 1.5")
RECORDING = MESH + 'streams = ["packet_hops"]\n'


@pytest.fixture
def mesh(tmp_path: Path) -> Path:
    path = tmp_path / "mesh.toml"
    path.write_text(MESH, "utf-8")
    return path


def test_lives_go_on_when_links_fail() -> None:
    found = hs.trace_packets(FAILING, every=1, progress=False)
    delivered = [packet for packet in found if packet.delivered is not None]
    assert all(sum(packet.parts().values()) == packet.latency for packet in delivered)
    assert min(packet.generated for packet in found) < 300
    assert max(packet.generated for packet in delivered) > 700


def test_parts_of_a_life_add_up_to_its_latency() -> None:
    for text in (MESH, DRAGONFLY, FLITS):
        found = hs.trace_packets(text, every=1, progress=False)
        delivered = [packet for packet in found if packet.delivered is not None]
        assert len(delivered) > 100
        assert all(sum(packet.parts().values()) == packet.latency for packet in delivered)
        assert all(packet.generated >= 200 for packet in found)
        waited = {reason for packet in found for reason in packet.parts()}
        assert "waiting behind other packets" in waited
        assert "waiting for room behind the link" in waited
        assert not any("-" in line.split(":")[0] for packet in found for line in packet.lines()[1:-1])


@pytest.mark.parametrize("text", [SPECULATIVE, FAST], ids=["speculative", "faster than its links"])
def test_parts_add_up_where_heads_cross_sooner_than_the_delays_say(text: str) -> None:
    found = hs.trace_packets(text, every=1, progress=False)
    delivered = [packet for packet in found if packet.delivered is not None]
    assert len(delivered) > 100
    assert all(sum(packet.parts().values()) == packet.latency for packet in delivered)
    passages = [passage for packet in found for passage in packet.passages]
    assert min(min(each.pipeline, each.crossing, each.at_output) for each in passages) == 0


def test_the_mean_of_all_lives_is_that_of_the_summary() -> None:
    result = hs.run(MESH, {"measure.streams": ["packet_hops"]}, progress=False)
    ended = [
        packet.latency
        for packet in result.packets()
        if packet.delivered is not None and 200 <= packet.delivered - packet.length < 1000
    ]
    mean = sum(latency for latency in ended if latency is not None) / len(ended)
    assert mean == pytest.approx(result.summary["packet_latency_mean"])
    assert len(ended) == result.summary["packets_delivered"]


def test_a_life_is_told_router_by_router(hopsim: Command, mesh: Path) -> None:
    (packet,) = hs.trace_packets(mesh, slowest=1, progress=False)
    lines = hopsim("trace-packet", mesh, "--slowest", 1).stdout.splitlines()
    assert lines == packet.lines()
    assert lines[0] == (
        f"Packet {packet.serial} of node {packet.source}, for node {packet.destination}, 8 phits, job0: "
        f"generated in cycle {packet.generated:,}, delivered in cycle {packet.delivered:,}, "
        f"{packet.latency:,} cycles later."
    )
    assert lines[1].split() == ["router", "arrives", "granted", "leaves"]
    for line, passage in zip(lines[2:-1], packet.passages, strict=True):
        assert line.split()[:2] == [str(passage.router), f"{passage.arrived:,}"]
        total = sum(passage.waited.values()) + passage.at_output
        assert (f"waits {total:,} cycle" in line) == bool(total)
    assert lines[-1].startswith(f"In all {packet.latency:,} cycles: 1 at its node + ")
    assert packet.passages[-1].target == "its node"


def test_what_is_waited_for_is_told_in_words() -> None:
    waited = {"queued": 12, "room": 25, "bubble": 0, "output": 0, "crossbar": 0}
    at = (17, 100, 137, 142)
    passage = packets.Passage(3, 1, 0, 2, "local", 1, at[0], *at[1:], waited, 0, 3, misrouted=True)
    assert passage.reasons() == {
        "behind other packets": 12,
        "for room in the buffer of router 17": 25,
        "in the output queue": 2,
    }
    packet = packets.Packet(4, 7, 40, "job0", 8, 90, None, (passage,))
    assert packet.lines() == [
        "Packet 7 of node 4, for node 40, 8 phits, job0: generated in cycle 90, still inside at the end of "
        "the run.",
        "  router  arrives  granted  leaves",
        "       3      100      137     142  waits 39 cycles: 12 behind other packets, 25 for room in the "
        "buffer of router 17, 2 in the output queue; by port 2, VC 1, the local link to router 17, a detour",
        "So far 10 at its node + 12 waiting behind other packets + 25 waiting for room behind the link + "
        "2 in output queues + 3 crossing routers; then it is on its way to router 17 or waits "
        "there.",
    ]


def test_choices_choose() -> None:
    result = hs.run(RECORDING, progress=False)
    everything = result.packets()
    assert everything == sorted(everything, key=lambda packet: (packet.generated, packet.source))
    assert {packet.source for packet in result.packets(source=3)} == {3}
    assert {packet.destination for packet in result.packets(destination=5)} == {5}
    assert all(packet.serial % 4 == 0 for packet in result.packets(every=4))
    assert min(packet.generated for packet in result.packets(after=500)) >= 500
    (one,) = result.packets(source=3, serial=2)
    assert (one.source, one.serial) == (3, 2)
    slowest = result.packets(slowest=3)
    latencies = sorted((packet.latency or 0 for packet in everything), reverse=True)
    assert [packet.latency for packet in slowest] == latencies[:3]
    run = hs.trace_packets(MESH, source=3, every=2, after=400, progress=False)
    assert run == result.packets(source=3, every=2, after=400)


def test_results_that_recorded_packets_are_read(hopsim: Command, tmp_path: Path) -> None:
    out = tmp_path / "out"
    hs.sweep(RECORDING, product={"load": [0.05, 0.1]}, out=out, progress=False)
    told = hopsim("trace-packet", out, "--point", 1, "--slowest", 1).stdout.splitlines()
    assert told == hs.load(out)[1].packets(slowest=1)[0].lines()
    several = hopsim("trace-packet", out, status=2).stderr
    assert f"{out} has several points; valid: --point with one of these" in several
    assert "point 7: has not finished or is not there; valid: 0, 1" in (
        hopsim("trace-packet", out, "--point", 7, status=2).stderr
    )
    assert "valid: no --set, or the file of an experiment" in (
        hopsim("trace-packet", out, "--point", 1, "--set", "load=0.1", status=2).stderr
    )


def test_more_than_ten_are_not_told(hopsim: Command, mesh: Path) -> None:
    told = hopsim("trace-packet", mesh, "--slowest", 13).stdout
    assert told.count("In all") == 10
    assert told.endswith("3 more; --perfetto PATH writes all of them.\n")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["--source", 16], "mesh.toml: --source 16: out of range; valid: 0 … 15"),
        (
            ["--source", 3, "--serial", 5000],
            "--source 3, --serial 5000: no such packet has entered the network; valid: --serial 0",
        ),
        (
            ["--source", 3, "--after", 999],
            "--source 3, --after 999: no such packet has entered the network; ",
        ),
        (["--source", 3, "--destination", 3], "--destination 3: is the source, and a node sends nothing to"),
        (["--after", 1000], "mesh.toml: --after 1000: out of range; valid: 0 … 999"),
        (["--every", 0], "Invalid value for '--every': 0 is not in the range x>=1."),
        (["--point", 0], "is not a results directory; valid: no --point"),
    ],
)
def test_what_is_not_there_is_explained(hopsim: Command, mesh: Path, given: list[Any], message: str) -> None:
    assert message in hopsim("trace-packet", mesh, *given, status=2).stderr


def test_which_packets_there_are_is_told(mesh: Path) -> None:
    with pytest.raises(hs.ConfigError, match=r"valid: serial = 0, 1, 2|valid: serial = 0 … "):
        hs.trace_packets(mesh, source=3, serial=5000, progress=False)
    with pytest.raises(
        hs.ConfigError, match=r"recorded: source 3; destination .*; generated in cycles \d+ … "
    ):
        hs.trace_packets(mesh, source=3, after=999, progress=False)
    with pytest.raises(hs.ConfigError, match=r"slowest = 0: is not a whole number from 1 on; valid: 1 …"):
        hs.trace_packets(mesh, slowest=0, progress=False)


def test_what_cannot_be_followed_is_refused(hopsim: Command, mesh: Path, tmp_path: Path) -> None:
    fabric = "router = 'infiniband'\ntopology.fat_tree = { k = 2, levels = 1 }\n" + (
        "jobs = [{ flows = [{ source = 0, destination = 1 }] }]\nmeasure.time.window = '20 us'\n"
    )
    with pytest.raises(hs.ConfigError, match=r"valid: another router than infiniband"):
        hs.trace_packets(fabric, progress=False)
    ideal = "units = { cycle = '1 ns', phit = '4 B' }\ntopology.ideal = { nodes = 4, latency = 1 }\n"
    with pytest.raises(hs.ConfigError, match="without contention packets are not followed"):
        hs.trace_packets(ideal + "jobs = [{ program.collective = { kind = 'barrier' } }]", progress=False)
    with pytest.raises(
        hs.ConfigError, match="has a sweep of 2 points; valid: a single point, or the results"
    ):
        hs.trace_packets(MESH + "[sweep.product]\nload = [0.1, 0.2]\n", progress=False)
    with pytest.raises(hs.NotRecordedError, match=r'set measure\.streams = \["packet_hops"\]'):
        hs.run(MESH, progress=False).packets()
    stored = hopsim(
        "run", mesh, "--set", 'measure.streams=["packet_hops"]', "--save-state", tmp_path / "s", status=2
    )
    assert "the streams congestion_trees, waits, packet_hops and flit_hops cannot be saved" in stored.stderr


def test_after_a_warm_up_that_is_found_the_first_packet_is_followed(hopsim: Command, mesh: Path) -> None:
    found = 'measure.warmup="auto"'
    result = hs.run(RECORDING, {"measure.warmup": "auto"}, progress=False)
    first = result.packets(after=result.summary["warmup_cycles"])[0]
    assert hopsim("trace-packet", mesh, "--set", found).stdout.splitlines() == first.lines()
    assert hs.trace_packets(mesh, {"measure.warmup": "auto"}, progress=False)[0] == first


def test_packets_that_a_document_chooses_are_chosen_from(hopsim: Command, mesh: Path) -> None:
    result = hs.run(RECORDING, progress=False)
    chosen = [packet for packet in result.packets(source=3) if packet.generated < 500]
    assert hs.trace_packets(mesh, {"measure.packets": {"source": 3, "to": 500}}, progress=False) == chosen
    given = ["--set", "measure.packets={every=4, to=500, from=100}", "--source", 3]
    told = hopsim("trace-packet", mesh, *given).stdout.splitlines()
    assert told == result.packets(source=3, every=4, after=100)[0].lines()


@pytest.mark.parametrize("few", [0, 50, packet_trace.FEW])
def test_where_one_packet_is_asked_for_few_are_recorded(
    few: int, mesh: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows: list[int] = []

    def spied(*given: Any, **options: Any) -> Any:
        results, outcome = simulate(*given, **options)
        rows.append(results[0].packet_hops.num_rows)
        return results, outcome

    simulate = packet_trace.simulate
    everything = hs.run(RECORDING, progress=False).packets(source=3)
    monkeypatch.setattr(packet_trace, "FEW", few)
    monkeypatch.setattr(packet_trace, "simulate", spied)
    options: dict[str, Any] = {"most": 1, "workers": 1, "progress": False}
    document = hs.Experiment.open(mesh)
    first = packet_trace.traced(document, packets.Choice(source=3), **options)
    assert first == [packet for packet in everything if packet.generated >= 200][:1]
    whole = sum(len(packet.passages) for packet in everything)
    assert 3 * rows[0] < whole or few == packet_trace.FEW
    rows.clear()
    for serial in (0, 2):
        numbered = packet_trace.traced(document, packets.Choice(source=3, serial=serial), **options)
        assert numbered == [packet for packet in everything if packet.serial == serial]
    assert rows[0] < 10


def test_too_many_packets_are_refused_by_the_options_that_choose_fewer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = "measure.packets.every = 1: the stream packet_hops has more than 10000000 rows; valid: …"

    def failing(*_given: Any, **_options: Any) -> Any:
        return hs.Results({}), SimpleNamespace(failures={0: text})

    monkeypatch.setattr(packet_trace, "simulate", failing)
    with pytest.raises(hs.RunError, match="valid: a greater every, or fewer packets by source"):
        hs.trace_packets(MESH, slowest=1, progress=False)


def test_flits_are_told_below_their_router(hopsim: Command, tmp_path: Path) -> None:
    path = tmp_path / "flits.toml"
    path.write_text(FLITS, "utf-8")
    (packet,) = hs.trace_packets(FLITS, slowest=1, flits=True, progress=False)
    for passage in packet.passages:
        head, *rest = passage.flits
        assert (head.arrived, head.granted, head.departed) == (
            passage.arrived,
            passage.granted,
            passage.departed,
        )
        assert (head.routed, head.vc_allocated) >= (head.arrived + 2, head.arrived + 3)
        assert [flit.flit for flit in rest] == list(range(1, packet.length))
        assert all(flit.routed is flit.vc_allocated is None for flit in rest)
    tails = [passage.flits[-1] for passage in packet.passages]
    assert all(two.arrived == one.departed + 1 for one, two in pairwise(tails))
    lines = hopsim("trace-packet", path, "--slowest", 1, "--flits").stdout.splitlines()
    assert lines == packet.lines()
    assert lines[3].split() == ["flit", "arrives", "RC", "VA", "SA", "leaves"]
    assert [line.split()[0] for line in lines[4 : 4 + packet.length]] == [
        str(flit) for flit in range(packet.length)
    ]
    (without,) = hs.trace_packets(FLITS, slowest=1, progress=False)
    assert not any(passage.flits for passage in without.passages)


def test_flits_are_of_virtual_channel_routers(hopsim: Command, mesh: Path) -> None:
    stderr = hopsim("trace-packet", mesh, "--flits", status=2).stderr
    assert "--flits: packets of " in stderr
    assert "do not move flit by flit; valid: without it, or router.virtual_channel" in stderr


def test_packets_of_programs_are_followed() -> None:
    program = """
        units = { cycle = "1 ns", phit = "4 B" }
        topology.mesh.sides = [3, 3]
        jobs = [{ program.collective = { kind = "alltoall", bytes = 512 } }]
    """
    found = hs.trace_packets(program, every=1, progress=False)
    assert {packet.source for packet in found} == set(range(9))
    assert all(sum(packet.parts().values()) == packet.latency for packet in found)


def test_a_trace_is_one_that_viewers_read(hopsim: Command, mesh: Path, tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    said = hopsim("trace-packet", mesh, "--every", 5, "--perfetto", path).stdout
    assert said.endswith(f"Trace: {path}, for ui.perfetto.dev; a cycle is shown as 1 us.\n")
    found = hs.trace_packets(mesh, every=5, progress=False)
    trace = json.loads(path.read_text("utf-8"))
    assert trace == json.loads(json.dumps(perfetto.trace(found)))
    events = trace["traceEvents"]
    assert {event["ph"] for event in events} == {"M", "X"}
    names = {(event["pid"], event["tid"]) for event in events if event["name"] == "thread_name"}
    assert len(names) == len(found)
    assert {event["pid"] for event in events if event["name"] == "process_name"} == {pid for pid, _ in names}
    slices = [event for event in events if event["ph"] == "X"]
    assert {(event["pid"], event["tid"]) for event in slices} == names
    for event in slices:
        assert {"name", "cat", "ph", "ts", "dur", "pid", "tid", "args"} == event.keys()
        assert isinstance(event["ts"], int)
        assert isinstance(event["dur"], int)
        assert event["dur"] > 0
        assert event["ts"] >= 0
    tracks = [list(track) for _, track in groupby(slices, key=lambda event: (event["pid"], event["tid"]))]
    assert len(tracks) == len(found)
    for track, packet in zip(tracks, found, strict=True):
        _check_nesting(track)
        whole, *parts = track
        leaves = [part for part in parts if part["cat"] != "router"]
        # What happened to a packet leaves no gap.
        assert sum(part["dur"] for part in leaves) == whole["dur"]
        assert packet.latency in (None, whole["dur"])


@pytest.mark.parametrize("text", [FLITS, SPECULATIVE, FAST], ids=["pipeline", "speculative", "fast"])
def test_a_trace_of_flits_has_the_cycles_of_their_rows(text: str) -> None:
    streams = {"measure.streams": ["packet_hops", "flit_hops"]}
    result = hs.run(text, {**streams, "links.network.latency": 3}, progress=False)
    found = result.packets(after=600, flits=True)
    events = perfetto.trace(found)["traceEvents"]
    names = {each["tid"]: each["args"]["name"] for each in events if each["name"] == "thread_name"}
    slices = [each for each in events if each["ph"] == "X"]
    tracks = {thread: list(track) for thread, track in groupby(slices, key=lambda each: each["tid"])}
    assert tracks.keys() == names.keys()
    shown: list[tuple[Any, ...]] = []
    for thread, track in tracks.items():
        _check_nesting(track)
        if "flit" in names[thread]:
            source, (serial, flit) = track[0]["pid"] - 1, re.findall(r"\d+", names[thread])
            shown.extend((source, int(serial), int(flit), *crossed) for crossed in _crossed(track))
    chosen = {(packet.source, packet.serial) for packet in found}
    rows = [row for row in result.flit_hops.to_pylist() if (row["source"], row["serial"]) in chosen]
    computes_routes = result.config["router"]["virtual_channel"]["routing_delay"] > 0
    assert sorted(shown) == sorted(_as_shown(row, computes_routes=computes_routes) for row in rows)
    without = perfetto.trace(result.packets(after=600))["traceEvents"]
    assert _but_threads(without) == _but_threads(
        [each for each in events if "flit" not in names.get(each["tid"], "")]
    )


def _crossed(track: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    """Of each router in the track of a flit its number, the first cycle and the last one of every stage."""
    found: list[tuple[Any, ...]] = []
    for each in track:
        if each["cat"] == "router":
            found.append((int(each["name"].removeprefix("router ")), each["ts"], {}))
        elif each["cat"] == "stage":
            found[-1][-1][each["name"]] = each["ts"] + each["dur"] - 1
    return [(router, arrived, *sorted(ends.items())) for router, arrived, ends in found]


def _as_shown(row: dict[str, Any], *, computes_routes: bool) -> tuple[Any, ...]:
    """The same from a row of the stream `flit_hops`."""
    ends = {"SA": row["granted"]}
    if row["departed"] > row["granted"]:
        ends["ST"] = row["departed"]
    if row["flit"] == 0:
        ends["VA"] = int(row["vc_allocated"])
        if computes_routes:
            ends["RC"] = int(row["routed"])
    place = (row["source"], row["serial"], row["flit"], row["router"], row["arrived"])
    return (*place, *sorted(ends.items()))


def _but_threads(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{**each, "tid": 0} for each in events]


def test_packets_and_flits_of_a_trace_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = hs.trace_packets(FLITS, slowest=2, flits=True, progress=False)
    monkeypatch.setattr(perfetto, "MOST_TRACKS", 18)
    hs.write_perfetto(found, tmp_path / "trace.json")
    monkeypatch.setattr(perfetto, "MOST_TRACKS", 17)
    with pytest.raises(
        hs.ConfigError,
        match="a trace of 2 packets and 16 flits is more than viewers open; valid: 17 at most",
    ):
        hs.write_perfetto(found, tmp_path / "trace.json")


def test_the_command_traces_the_flits_that_it_tells(hopsim: Command, tmp_path: Path) -> None:
    document, path = tmp_path / "flits.toml", tmp_path / "trace.json"
    document.write_text(FLITS, "utf-8")
    hopsim("trace-packet", document, "--slowest", 3, "--flits", "--perfetto", path)
    found = hs.trace_packets(FLITS, slowest=3, flits=True, progress=False)
    assert json.loads(path.read_text("utf-8")) == json.loads(json.dumps(perfetto.trace(found)))
    assert "flit 7" in path.read_text("utf-8")


def _check_nesting(track: list[dict[str, Any]]) -> None:
    """Each slice takes time, and is inside the one that is open, or begins when that has ended."""
    stack: list[int] = []
    for event in track:
        while stack and stack[-1] <= event["ts"]:
            stack.pop()
        end = event["ts"] + event["dur"]
        assert event["dur"] > 0
        assert not stack or end <= stack[-1]
        stack.append(end)
    assert all(one["ts"] <= two["ts"] for one, two in pairwise(track))


def test_a_trace_that_no_viewer_opens_is_refused(
    hopsim: Command, mesh: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = hs.trace_packets(MESH, slowest=3, progress=False)
    for wrong in (3, found[0], [3]):
        with pytest.raises(hs.ConfigError, match=r"packets: is .*; valid: a list of packets, as of hopsim"):
            hs.write_perfetto(wrong, tmp_path / "trace.json")  # pyright: ignore[reportArgumentType]
    with pytest.raises(
        hs.ConfigError, match="cannot write: No such file or directory; choose a writable path"
    ):
        hs.write_perfetto(found, tmp_path / "none" / "trace.json")
    refused = hopsim("trace-packet", mesh, "--perfetto", tmp_path / "none" / "trace.json", status=2)
    assert refused.stdout == "", "it was refused before it was simulated"
    assert "cannot write: No such file or directory; choose a writable path" in refused.stderr
    assert "Is a directory" in hopsim("trace-packet", mesh, "--perfetto", tmp_path, status=2).stderr
    with pytest.raises(hs.ConfigError, match=r"^\.: cannot write: Is a directory; choose a writable path"):
        hs.write_perfetto(found, "")
    monkeypatch.setattr(perfetto, "MOST_TRACKS", 2)
    with pytest.raises(
        hs.ConfigError, match="a trace of 3 packets is more than viewers open; valid: 2 at most"
    ):
        hs.write_perfetto(found, tmp_path / "trace.json")
