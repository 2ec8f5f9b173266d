"""Virtual-channel routers against BookSim 2, packet by packet.

Packets that BookSim was given, or drew itself, are given here at the same times, and every packet is to
pass in the same cycles. Three kinds of scenarios: replays of hundreds of packets, traces of a few packets
(`t01` …) of whose flits every stage is known, and runs of BookSim with its own random numbers (`ss-` …).
"""

from __future__ import annotations

import csv
import dataclasses
import lzma
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.table import Table

import hopsim as hs
from hopsim.convert import booksim, booksim_file
from verify.options import Options
from verify.simulate import Document

FOLDER = Path(__file__).parent / "reference"
SCENARIOS = FOLDER / "booksim-replays.csv"
PACKETS = FOLDER / "booksim-replay-packets.csv.xz"
FLITS = FOLDER / "booksim-trace-flits.csv"
OF_FLITS = ("flit", "router", "arrived", "granted", "departed")
OF_HEADS = ("routed", "vc_allocated")
REST = 200
"""Cycles behind the last packet, in which nothing happens."""


@dataclass(frozen=True)
class Packet:
    """A packet that BookSim was given or drew, and what became of it.

    Attributes:
        cycle: in which it was generated.
        source: its node.
        destination: its node.
        length: in flits.
        expected: cycles in which its head set out, its head arrived and its tail arrived, and the routers
            that it passed; None if BookSim was still sending it.
    """

    cycle: int
    source: int
    destination: int
    length: int
    expected: tuple[int, ...] | None


@dataclass(frozen=True)
class Stages:
    """A flit at a router: when it arrived, when the stages of the router ended for it, and when it left.

    BookSim says nothing of the route of a head that was known before (lookahead), and of flits behind heads
    neither route nor VC allocation are told.
    """

    packet: int
    flit: int
    router: int
    arrived: int
    routed: int | None
    vc_allocated: int | None
    granted: int
    departed: int


@dataclass(frozen=True)
class Scenario:
    """What BookSim simulated.

    Attributes:
        name: of the scenario.
        options: of BookSim, as `name=value;name=value`.
        packets: in the order in which they were generated.
        stages: of the flits; none where they are not known.
    """

    name: str
    options: str
    packets: Sequence[Packet]
    stages: frozenset[Stages]

    def document(self) -> Document:
        """The same experiment here."""
        document = booksim.convert(booksim_file.assignments(f"{self.options};")).document
        settings = booksim.Settings(booksim_file.assignments(f"{self.options};"))
        concentrated = settings.value("topology") in {"cmesh", "flatfly"}
        number = booksim.node_number(settings) if concentrated else int
        listed = [
            {
                "cycle": packet.cycle,
                "source": number(packet.source),
                "destination": number(packet.destination),
                "length": packet.length,
            }
            for packet in self.packets
        ]
        end = max(max(packet.expected or (packet.cycle,)) for packet in self.packets) + REST
        streams = ["packet_hops", *(["flit_hops"] if self.stages else [])]
        measure = {"warmup": 0, "cycles": end, "streams": streams}
        kept = {key: value for key, value in document.items() if key != "load"}
        return {**kept, "jobs": [{"traffic": {"packet_list": listed}}], "measure": measure}


def read() -> list[Scenario]:
    """All scenarios, in the order of the file."""
    packets: dict[str, list[Packet]] = defaultdict(list)
    with lzma.open(PACKETS, "rt", newline="") as file:
        for row in csv.DictReader(file):
            expected = tuple(int(row[name]) for name in ("injected", "head", "tail", "routers") if row[name])
            cycle, source, destination, length = (
                int(row[name]) for name in ("cycle", "source", "destination", "length")
            )
            packet = Packet(cycle, source, destination, length, expected or None)
            packets[row["scenario"]].append(packet)
    stages: dict[str, set[Stages]] = defaultdict(set)
    with FLITS.open(newline="") as file:
        for row in csv.DictReader(file):
            stages[row["scenario"]].add(_stages(int(row["packet"]), row))
    with SCENARIOS.open(newline="") as file:
        return [
            Scenario(name, row["options"], packets[name], frozenset(stages[name]))
            for row in csv.DictReader(file)
            if (name := row["scenario"])
        ]


def _stages(packet: int, row: Mapping[str, Any]) -> Stages:
    """A row of the table of BookSim, where nothing is empty text, or of the stream `flit_hops`."""
    flit, router, arrived, granted, departed = (int(row[name]) for name in OF_FLITS)
    routed, vc_allocated = (None if row[name] in {"", None} else int(row[name]) for name in OF_HEADS)
    return Stages(packet, flit, router, arrived, routed, vc_allocated, granted, departed)


def compare(scenario: Scenario) -> tuple[int, int, str]:
    """How many packets are compared, how many pass in other cycles, and the first of these in words."""
    document = scenario.document()
    latency = document["links"]["injection"]["latency"]
    passed: dict[tuple[int, int], list[Mapping[str, int]]] = defaultdict(list)
    result = hs.run(document, progress=False)
    for row in result.packet_hops.to_pylist():
        passed[row["source"], row["serial"]].append(row)
    flits: dict[tuple[int, int], list[Mapping[str, Any]]] = defaultdict(list)
    for row in result.flit_hops.to_pylist() if scenario.stages else []:
        flits[row["source"], row["serial"]].append(row)
    tells_routes = any(stages.routed is not None for stages in scenario.stages)
    serials: Counter[int] = Counter()
    compared, differ, first = 0, 0, ""
    for number, listed in enumerate(document["jobs"][0]["traffic"]["packet_list"]):
        source = listed["source"]
        key = (source, serials[source])
        hops = passed[key]
        serials[source] += 1
        expected = scenario.packets[number].expected
        if expected is None:
            continue
        head, last = hops[0]["arrived"] - latency, hops[-1]
        found = (head, last["departed"] + latency, int(last["delivered"]), len(hops))
        known = {stages for stages in scenario.stages if stages.packet == number}
        stages = {_stages(number, row) for row in flits[key]}
        if not tells_routes:
            stages = {dataclasses.replace(each, routed=None) for each in stages}
        compared += 1
        if found != expected or (known and known != stages):
            differ += 1
            first = first or f"packet {number}: {found} and not {expected}"
    return compared, differ, first


def check(options: Options) -> int:
    """Print every selected scenario; in how many some packet passes in other cycles."""
    table = Table(title="Virtual-channel routers and BookSim 2, packet by packet", title_justify="left")
    for heading in ("scenario", "packets", "in other cycles", "the first"):
        table.add_column(heading, justify="right" if heading in {"packets", "in other cycles"} else "left")
    failed = 0
    selected = [scenario for scenario in read() if options.selects(scenario.name)]
    for scenario in selected:
        compared, differ, first = compare(scenario)
        failed += differ > 0
        table.add_row(scenario.name, str(compared), str(differ), first)
    options.console.print(table)
    options.console.print(f"BookSim, packet by packet: {len(selected) - failed} passed, {failed} failed")
    return failed
