"""The comparison with other simulators, of which none needs to be installed here."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest
from rich.console import Console
from verify import booksim, booksim_replays, cross
from verify.options import Options

import hopsim
from hopsim.convert import booksim_file
from hopsim.convert.booksim import convert
from hopsim.document.experiment import Experiment
from hopsim.errors import RunError
from hopsim.export import booksim as to_booksim

STATISTICS = """
Packet latency average = 9.5
====== Overall Traffic Statistics ======
====== Traffic class 0 ======
Packet latency average = {packet_latency_mean} (1 samples)
	minimum = 11 (1 samples)
Network latency average = {network_latency_mean} (1 samples)
Accepted flit rate average = {accepted_load} (1 samples)
Hops average = {hops_mean} (1 samples)
"""
AS_BOOKSIM = {
    "packet_latency_mean": 40.23,
    "network_latency_mean": 39.88,
    "hops_mean": 6.26,
    "accepted_load": 0.1503,
}
"""What BookSim 2 has measured of the case `on_chip`."""


def without_any(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    for simulator in cross.SIMULATORS:
        monkeypatch.delenv(simulator.variable, raising=False)


def test_what_is_not_installed_is_said_and_fails_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_any(monkeypatch)
    console = Console(width=150, record=True, file=io.StringIO())
    assert cross.check(Options(console, None, 2, 1, tmp_path)) == 0
    said = console.export_text()
    assert (
        "BookSim 2: not installed; its program is booksim on the path, or what HOPSIM_BOOKSIM names" in said
    )


@pytest.mark.parametrize(("latency", "failed"), [(40.23, 0), (44.0, 1)])
def test_figures_of_another_simulator_are_compared_with_those_of_what_it_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, latency: float, failed: int
) -> None:
    without_any(monkeypatch)
    text = STATISTICS.format(**{**AS_BOOKSIM, "packet_latency_mean": latency})
    program = tmp_path / "booksim"
    program.write_text(
        f"#!{sys.executable}\nimport pathlib, sys\n"
        f"assert 'topology = mesh;' in pathlib.Path(sys.argv[1]).read_text()\nprint({text!r})\n"
    )
    program.chmod(0o755)
    monkeypatch.setenv("HOPSIM_BOOKSIM", str(program))
    console = Console(width=150, record=True, file=io.StringIO())
    assert cross.check(Options(console, "^on_chip$", 2, 1, tmp_path)) == failed
    said = console.export_text()
    assert f"BookSim 2: {4 - failed} passed, {failed} failed" in said
    assert (" NO " in said) == bool(failed)


def test_the_last_statistics_of_booksim_count() -> None:
    assert cross.measured(STATISTICS.format(**AS_BOOKSIM)) == AS_BOOKSIM
    with pytest.raises(RunError, match="ended without statistics; its last words: Aborted"):
        cross.measured("Aborted")


def test_what_caminos_writes_is_read_by_name() -> None:
    result = (
        "Result\n{\n\tcycle:\n\t12000,\n\tinjected_load:\n\t0.3,\n\taccepted_load:\n\t0.25,\n"
        "\taverage_message_delay:\n\t20.5,\n\taverage_packet_hops:\n\t4.25e0,\n}\n"
    )
    assert cross.read_caminos(result) == {
        "packet_latency_mean": 20.5,
        "hops_mean": 4.25,
        "accepted_load": 0.25,
    }
    with pytest.raises(RunError, match="ended without a result; its last words: panicked"):
        cross.read_caminos("panicked")


@pytest.mark.parametrize("simulator", cross.SIMULATORS, ids=lambda simulator: simulator.program)
def test_every_case_is_an_experiment_of_both(simulator: cross.Simulator) -> None:
    for name, case in simulator.cases.items():
        config = cross.config_of(name, case)
        assert json.loads(config)["measure"]["cycles"] == cross.WINDOW["cycles"]
        assert hopsim.check(simulator.theirs(config))


def test_a_file_of_every_configuration_that_booksim_was_run_with_stands_for_the_same_experiment() -> None:
    """All that is recorded of BookSim: what its files become is written as files that become the same."""
    texts = {row.options for row in booksim.read()} | {each.options for each in booksim_replays.read()}
    assert len(texts) > 150
    for text in texts:
        document = convert(booksim_file.assignments(f"{text};")).document
        (point,) = Experiment.of(document).points()
        made = to_booksim.export(point.config).text
        again = convert(booksim_file.assignments(made)).document
        (there_and_back,) = Experiment.of(again).points()
        ours, theirs = (to_booksim.comparable(json.loads(each.config)) for each in (point, there_and_back))
        assert ours == theirs, text
