"""Another simulator drives nodes: `hs.Simulation`, and its example."""

from __future__ import annotations

import os
import runpy
import signal
import threading
from fractions import Fraction
from math import ceil, floor
from typing import Any

import pytest

import hopsim as hs
from conftest import ROOT, Command
from hopsim import _core
from hopsim.runs.runner import all_cores

TORUS = "topology.torus.sides = [4, 4]\n"
EXTERNAL = '[[jobs]]\nname = "cpus"\nprogram = "external"\n'
TRAFFIC = "[[jobs]]\nplacement.nodes = { first = 8, count = 8 }\ntraffic.process.bernoulli.load = 0.2\n"
ALONE = TORUS + EXTERNAL + "placement.nodes = { first = 0, count = 8 }\n"
BESIDE = ALONE + TRAFFIC


def test_the_example_prints_what_that_in_c_does(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(ROOT / "examples" / "co_simulation.py"))
    expected = (ROOT / "examples" / "co_simulation.txt").read_text("utf-8")
    assert capsys.readouterr().out == expected


def test_messages_come_back_with_what_they_were_injected_with() -> None:
    network = hs.Simulation(TORUS + EXTERNAL)
    numbers = [network.inject(0, node, 3 * node, tag=2**64 - node) for node in range(1, 5)]
    assert numbers == [0, 1, 2, 3]
    assert network.in_flight == 4
    network.step(500)
    messages = network.delivered()
    assert network.in_flight == 0
    assert [message.delivered for message in messages] == sorted(message.delivered for message in messages)
    found = {message.number: message for message in messages}
    for number, node in enumerate(range(1, 5)):
        message = found[number]
        assert message[1:6] == (2**64 - node, 0, node, 3 * node, 0)
        # Packets of 16 phits, one after the other on the wire of the node.
        assert message.delivered >= 3 * node
    assert network.delivered() == []


@pytest.mark.parametrize("beside", [BESIDE, ALONE])
def test_results_are_those_of_a_table_of_the_same_messages(beside: str, tmp_path: Any) -> None:
    units = 'units = { cycle = "1 ns", phit = "4 B" }\n'
    sends = [(10 * n, n % 8, (n * 3 + 1) % 8, 5 + n) for n in range(40) if n % 8 != (n * 3 + 1) % 8]
    rows = [f"{cycle},{source},{to},{4 * phits}\n" for cycle, source, to, phits in sends]
    (tmp_path / "table.csv").write_text("time_cycles,source,destination,bytes\n" + "".join(rows), "utf-8")
    text = units + beside.replace('"external"', '{ table = { file = "table.csv" } }')
    (tmp_path / "table.toml").write_text(text, "utf-8")
    table = hs.run(tmp_path / "table.toml", {"measure.streams": ["nodes", "message_sizes"]})
    network = hs.Simulation(units + beside, {"measure.streams": ["nodes", "message_sizes"]})
    for cycle, source, destination, phits in sends:
        network.step(cycle - network.now)
        network.inject(source, destination, phits)
    network.step(table.summary["cycles"] - network.now)
    result = network.results()
    assert result is network.results()
    assert result.jobs[0]["messages"] == len(sends)
    for record, expected in zip([result.summary, *result.jobs], [table.summary, *table.jobs], strict=True):
        measured = {key: value for key, value in record.items() if value is not None}
        assert len(measured) > 30
        assert measured == {key: expected[key] for key in measured}
    assert result.nodes == table.nodes
    assert result.config["jobs"][0]["program"] == {"external": {}}


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        ((0, 16, 1), ("destination = 16", "no such node", "0 … 15")),
        ((-1, 1, 1), ("source = -1", "integers 0 … 4294967295")),
        ((0, 9, 1), ("destination = 9", "job1", "valid: 0 … 7")),
        ((1, 1, 1), ("destination = 1", "the source itself")),
        ((0, 1, 0), ("phits = 0", "valid: 1 …")),
        ((0, 1, 2**32), ("phits = 4294967296", "not a number in range")),
        ((0, 1, 1.5), ("phits = 1.5", "integers")),
        ((0, True, 1), ("destination = True", "integers")),
        ((0, 1, 1, 2**64), ("tag = 18446744073709551616", "integers 0 … 18446744073709551615")),
    ],
)
def test_bad_messages_are_refused(arguments: tuple[Any, ...], parts: tuple[str, ...]) -> None:
    network = hs.Simulation(BESIDE)
    with pytest.raises(hs.ConfigError) as error:
        network.inject(*arguments)
    assert all(part in str(error.value) for part in parts), str(error.value)
    assert network.in_flight == 0


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("load = 0.1\n" + TORUS, "jobs: no other simulator drives any of them"),
        (
            TORUS + EXTERNAL + '[sweep.product]\n"measure.seed" = [1, 2]\n',
            "has a sweep of 2 points; valid: no sweep",
        ),
        (TORUS + EXTERNAL + "start = 3\n", "jobs.0.start: another simulator drives the nodes"),
        ("topology.ideal = { nodes = 4, latency = 3 }\n" + EXTERNAL, "in which packets meet"),
        (
            'router = "infiniband"\n' + TORUS + EXTERNAL,
            "program.external: another simulator counts in cycles",
        ),
        (
            'router = "infiniband"\n' + TORUS + "[[jobs]]\nflows = [{ source = 0, destination = 1 }]\n",
            "router.infiniband: a fabric of InfiniBand has no cycles",
        ),
    ],
)
def test_documents_that_cannot_be_driven_are_refused(text: str, part: str) -> None:
    with pytest.raises(hs.ConfigError) as error:
        hs.Simulation(text)
    assert part in str(error.value)


def test_a_document_that_is_to_be_driven_does_not_run_by_itself(hopsim: Command, tmp_path: Any) -> None:
    (tmp_path / "driven.toml").write_text(BESIDE, "utf-8")
    hopsim("check", "driven.toml")
    done = hopsim("run", "driven.toml", status=2)
    assert "jobs.0.program.external: another simulator drives the nodes, and this run has none" in done.stderr
    assert "hs.Simulation" in done.stderr
    with pytest.raises(hs.ConfigError, match="and this run has none"):
        hs.run(BESIDE)


def test_the_end_is_the_end() -> None:
    network = hs.Simulation(BESIDE, {"measure.max_cycles": 100})
    with pytest.raises(hs.ConfigError, match="no results before the first cycle"):
        network.results()
    with pytest.raises(hs.ConfigError, match=r"cycles = 101: .* valid: 0 … 100"):
        network.step(101)
    network.step()
    assert network.results().summary["cycles"] == network.now == 1
    with pytest.raises(hs.ConfigError, match="has ended at cycle 1"):
        network.step()


def test_an_interrupt_ends_a_step_and_nothing_is_lost() -> None:
    network = hs.Simulation(BESIDE)
    network.inject(0, 5, 10)
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        network.step(2_000_000_000)
    timer.join()
    assert network.now > 0
    undisturbed = hs.Simulation(BESIDE)
    undisturbed.inject(0, 5, 10)
    undisturbed.step(network.now)
    assert network.delivered() == undisturbed.delivered()
    assert network.results().summary == undisturbed.results().summary


def test_arguments_are_named_in_messages_and_messages_have_tag_0_by_default() -> None:
    network = hs.Simulation(ALONE)
    with pytest.raises(hs.ConfigError, match=r"^cycles = -1: is not a number in range; valid: integers 0 … "):
        network.step(-1)
    with pytest.raises(hs.ConfigError, match=r"^most = 1.5: is not a number in range"):
        network.step_until_delivered(1.5)  # pyright: ignore[reportArgumentType]
    with pytest.raises(hs.ConfigError, match=r"^values = 3: is not a dictionary; valid: \{path: value\}$"):
        hs.Simulation(ALONE, 3)  # pyright: ignore[reportArgumentType]
    network.inject(0, 1, 1)
    assert network.step_until_delivered(1000)
    (message,) = network.delivered()
    assert (message.tag, message.source, message.destination, message.phits) == (0, 0, 1, 1)
    assert not network.step_until_delivered(0)


def test_messages_wait_until_their_last_packet_is_admitted() -> None:
    network = hs.Simulation(TORUS + EXTERNAL + "placement.list = [9, 2, 5]\n")
    assert network.nodes == [9, 2, 5]
    for _ in range(3):
        network.inject(9, 2, 8)
    waiting: list[int] = []
    while network.in_flight:
        waiting.append(network.waiting(9))
        network.step()
    # On an idle network a packet of 8 phits has the wire of its node for 8 cycles.
    assert waiting[:18] == [3, *[2] * 8, *[1] * 8, 0]
    assert set(waiting[18:]) == {0}
    assert network.waiting(2) == 0
    with pytest.raises(
        hs.ConfigError, match=r"^node = 3: is a node of no job, which nobody drives; valid: 2, 5, 9"
    ):
        network.waiting(3)


@pytest.mark.parametrize("cycle", ["1 ns", "0.8 ns", "2.5 ns", "0.333 ns", "7 us"])
def test_times_and_sizes_are_exact_by_the_units_of_the_document(cycle: str) -> None:
    network = hs.Simulation(f'units = {{ cycle = "{cycle}", phit = "2.4 B" }}\n' + ALONE)
    number, unit = cycle.split()
    length = Fraction(number) * {"ns": 1000, "us": 1_000_000}[unit]
    for count in [0, 1, 2, 3, 5, 1000, 123_457, 2**40 + 1]:
        assert network.picoseconds(count) == floor(count * length)
        assert network.cycles(count) == ceil(count / length)
        assert network.cycles(network.picoseconds(count)) == count
    for size in [0, 1, 2, 3, 5, 12, 1000, 2**32]:
        assert network.phits(size) == max(1, ceil(size / Fraction("2.4")))


def test_times_and_sizes_that_mean_nothing_are_refused() -> None:
    without = hs.Simulation(ALONE)
    for ask in (without.cycles, without.picoseconds, without.phits):
        with pytest.raises(
            hs.ConfigError, match=r"^units: the document does not say .* valid: units = \{ cycle"
        ):
            ask(1)
    network = hs.Simulation('units = { cycle = "1 us", phit = "1 B" }\n' + ALONE)
    with pytest.raises(
        hs.ConfigError, match=r"^bytes = 4294967296: is too much; valid: a message of at most 4294967295"
    ):
        network.phits(2**32)
    with pytest.raises(
        hs.ConfigError, match=r"^cycle = 18446744073709551615: is too much; valid: an earlier cycle"
    ):
        network.picoseconds(2**64 - 1)
    with pytest.raises(hs.ConfigError, match=r"^picoseconds = -1: is not a number in range"):
        network.cycles(-1)


@pytest.mark.parametrize(("given", "asked"), [({}, 1), ({"workers": 3}, 3), ({"workers": None}, all_cores())])
def test_so_many_threads_are_asked_for(
    given: dict[str, Any], asked: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: list[int] = []

    def simulation(_: str, count: int) -> None:
        threads.append(count)

    monkeypatch.setattr(_core, "Simulation", simulation)
    hs.Simulation(ALONE, **given)
    assert threads == [asked]


def test_results_have_the_axes_and_names_of_the_only_point() -> None:
    swept = '[sweep]\nproduct."measure.seed" = [4]\nlabels."measure.seed" = ["four"]\n'
    network = hs.Simulation(ALONE + swept)
    network.step(10)
    result = network.results()
    assert (result.axes, result.labels) == ({"measure.seed": 4}, {"measure.seed": "four"})
    assert result.summary["seed"] == 4
