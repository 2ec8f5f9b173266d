"""Which packets a run records to follow some of them: `measure.packets`, for each way to ask."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pytest

import hopsim as hs
from hopsim.document.estimate import packet_hops_per_cycle
from hopsim.document.experiment import Experiment, Point
from hopsim.errors import ConfigError, RunError
from hopsim.insight.causes import CAUSES
from hopsim.insight.packets import Choice
from hopsim.results.outcome import Outcome
from hopsim.results.result import Result, Results
from hopsim.runs import packet_trace
from hopsim.spelling import of_command

RING: dict[str, Any] = {
    "topology": {"ring": {"routers": 6}},
    "load": 0.1,
    "measure": {"warmup": 200, "cycles": 800},
}
LIVES = [(1, 0, 250), (2, 0, 260), (1, 4, 300), (2, 5, 700)]
"""Source, number and cycle of generation of the packets that the made-up simulator has, each for node 3."""


class Simulator:
    """What stands for the simulator: it says which packets it was asked to record, and has some of them."""

    def __init__(
        self, monkeypatch: pytest.MonkeyPatch, lives: Sequence[tuple[int, int, int]] = LIVES
    ) -> None:
        self.asked: list[dict[str, Any]] = []
        self.given: list[dict[str, Any]] = []
        self.lives = lives
        self.summary: dict[str, Any] = {}
        self.failures: dict[int, str] = {}
        monkeypatch.setattr(packet_trace, "simulate", self.simulate)

    def simulate(self, points: Sequence[Point], workers: int, *, progress: bool) -> tuple[Results, Outcome]:
        (point,) = points
        config = json.loads(point.config)
        assert config["measure"]["streams"] == ["packet_hops"]
        wanted: dict[str, Any] = config["measure"]["packets"]
        self.asked.append(wanted)
        self.given.append({"workers": workers, "progress": progress})
        rows = [
            self.row(source, serial, generated)
            for source, serial, generated in self.lives
            if wanted.get("from", 0) <= generated < wanted.get("to", 10**9)
            and serial % wanted.get("every", 1) == 0
            and wanted.get("source", source) == source
        ]
        table = pa.Table.from_pylist(rows, schema=pa.Table.from_pylist([self.row(0, 0, 0)]).schema)
        result = Result({"config": config, "result": self.summary}, {}, {"packet_hops": table})
        return Results({0: result}), Outcome(failures=self.failures)

    @staticmethod
    def row(source: int, serial: int, generated: int) -> dict[str, Any]:
        of_packet = {"source": source, "serial": serial, "destination": 3, "job": "a", "length": 8}
        at = {"generated": generated, "delivered": float(generated + 50), "hop": 0, "router": source}
        ports = {
            "input_port": 0,
            "input_vc": 0,
            "port": 1,
            "port_class": "network",
            "vc": 0,
            "peer_router": 3,
        }
        times = {"arrived": generated, "granted": generated + 1, "departed": generated + 9}
        return {**of_packet, **at, **ports, **times, **dict.fromkeys(CAUSES, 0), "misrouted": False}


@pytest.fixture
def simulator(monkeypatch: pytest.MonkeyPatch) -> Simulator:
    return Simulator(monkeypatch)


def everything(**chosen: int) -> dict[str, int]:
    """`measure.packets` as resolved: every packet, unless something else is chosen."""
    return {"every": 1, "from": 0, **chosen}


def found(simulator: Simulator, document: dict[str, Any] = RING, **given: Any) -> list[tuple[int, int]]:
    simulator.asked.clear()
    packets = hs.trace_packets(document, progress=False, **given)
    return [(packet.source, packet.serial) for packet in packets]


def test_all_packets_since_the_warm_up_are_recorded_if_nothing_else_is_asked(simulator: Simulator) -> None:
    assert found(simulator) == [(1, 0), (2, 0), (1, 4), (2, 5)]
    assert simulator.asked == [everything(**{"from": 200})]
    assert found(simulator, {**RING, "measure": {"warmup": 255, "cycles": 800}}) == [(2, 0), (1, 4), (2, 5)]
    assert simulator.asked == [everything(**{"from": 255})]
    assert found(simulator, after=280) == [(1, 4), (2, 5)]
    assert simulator.asked == [everything(**{"from": 280})]
    assert found(simulator, every=5) == [(1, 0), (2, 0), (2, 5)]
    assert simulator.asked == [{"every": 5, "from": 200}]


def test_of_one_node_all_packets_are_recorded_to_tell_which_there_are(simulator: Simulator) -> None:
    assert found(simulator, source=1, after=280) == [(1, 4)]
    assert simulator.asked == [everything(source=1)]
    assert found(simulator, destination=3, slowest=2) == [(1, 0), (2, 0)]
    assert simulator.asked == [everything(destination=3)]
    with pytest.raises(
        ConfigError, match=r"recorded: source 1; destination 3; generated in cycles 250 … 300"
    ):
        found(simulator, source=1, after=600)


def test_of_a_number_its_multiples_are_recorded_and_all_if_it_is_not_there(simulator: Simulator) -> None:
    assert found(simulator, serial=4) == [(1, 4)]
    assert simulator.asked == [everything(every=4)]
    assert found(simulator, source=2, serial=5) == [(2, 5)]
    assert simulator.asked == [everything(every=5, source=2)]
    # Of the first one: no run is long enough for a second one with a multiple of this number.
    assert found(simulator, serial=0) == [(1, 0), (2, 0)]
    assert simulator.asked == [everything(every=3_000_000_000)]
    with pytest.raises(ConfigError, match=r"serial = 7: no such packet .* valid: serial = 0, 4, 5"):
        found(simulator, serial=7)
    assert simulator.asked == [everything(every=7), everything()]


def test_packets_that_the_document_chooses_are_what_is_chosen_from(simulator: Simulator) -> None:
    measure = {**RING["measure"], "packets": {"every": 2, "from": 255, "to": 800}}
    assert found(simulator, {**RING, "measure": measure}) == [(2, 0), (1, 4)]
    assert simulator.asked == [{"every": 2, "from": 255, "to": 800}]
    assert found(simulator, {**RING, "measure": measure}, source=1, every=1) == [(1, 4)]
    assert simulator.asked == [{"every": 1, "from": 255, "to": 800, "source": 1}]


def first(document: Experiment, most: int | None, **given: Any) -> list[tuple[int, int]]:
    packets = packet_trace.traced(document, Choice(**given), most, workers=2, progress=True)
    return [(packet.source, packet.serial) for packet in packets]


def test_where_few_are_asked_for_those_of_some_cycles_are_recorded(
    simulator: Simulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As many cycles as a number of routers is passed in, of which not all may be left."""
    document = Experiment.of(RING)
    hops = packet_hops_per_cycle(document.points()[0])
    monkeypatch.setattr(packet_trace, "FEW", 75.5 * hops)
    assert first(document, 1) == [(1, 0)]
    assert first(document, 2, after=255) == [(2, 0), (1, 4)]
    assert first(document, 1, source=2) == [(2, 0)]
    assert simulator.asked == [
        everything(**{"from": 200, "to": 276}),
        everything(**{"from": 255, "to": 331}),
        everything(**{"from": 200, "to": 276, "source": 2}),
    ]
    assert simulator.given == [{"workers": 2, "progress": True}] * 3
    # Not there: all of them are recorded.
    simulator.asked.clear()
    assert first(document, 1, after=305) == [(2, 5)]
    assert simulator.asked == [everything(**{"from": 305, "to": 381}), everything(**{"from": 305})]
    simulator.asked.clear()
    kept = document.replacing({"measure.packets": {"from": 240, "to": 270}})
    assert first(kept, 1) == [(1, 0)]
    assert first(document, None) == [(1, 0), (2, 0), (1, 4), (2, 5)]
    assert simulator.asked == [everything(**{"from": 240, "to": 270}), everything(**{"from": 200})]


def test_after_a_warm_up_that_is_found_packets_are_chosen_when_it_is_known(simulator: Simulator) -> None:
    simulator.summary = {"warmup_cycles": 270}
    document = {**RING, "measure": {"warmup": "auto", "cycles": 800}}
    assert found(simulator, document) == [(1, 4), (2, 5)]
    assert simulator.asked == [everything()]
    assert found(simulator, document, after=260) == [(2, 0), (1, 4), (2, 5)]
    assert found(simulator, document, serial=0) == [(1, 0), (2, 0)]


def test_what_the_simulator_refuses_is_told_in_the_words_of_who_asked(
    simulator: Simulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = Experiment.of(RING)

    def told(**given: Any) -> str:
        with pytest.raises((ConfigError, RunError)) as refused:
            packet_trace.traced(document, Choice(spelled=of_command, **given), workers=1, progress=False)
        return str(refused.value)

    assert told(source=77) == "<dict>: --source 77: out of range; valid: 0 … 5"
    assert told(destination=78, source=1) == "<dict>: --destination 78: out of range; valid: 0 … 5"
    assert told(after=4000) == "<dict>: --after 4000: out of range; valid: 0 … 999"
    simulator.failures = {0: "measure.packets.every = 1: more than 10000000 rows"}
    assert told() == (
        "<dict>: these packets pass more routers than can be followed; valid: a greater --every, or fewer "
        "packets by --source, --destination, --after"
    )
    simulator.failures = {0: "a deadlock"}
    assert told() == "a deadlock"


def test_a_single_point_is_followed(simulator: Simulator) -> None:
    with pytest.raises(ConfigError, match=r"^<dict>: has a sweep of 2 points; valid: a single point, or"):
        found(simulator, {**RING, "sweep": {"product": {"load": [0.1, 0.2]}}})
    with pytest.raises(ConfigError, match=r"ring.routers = 0"):
        found(simulator, {**RING, "topology": {"ring": {"routers": 0}}})
    assert found(simulator, {**RING, "load": 0.2}, values={"measure.warmup": 290}) == [(1, 4), (2, 5)]
    assert found(simulator, RING, measure={"warmup": 300, "cycles": 500}) == [(1, 4), (2, 5)]
    assert simulator.asked == [everything(**{"from": 300})]
