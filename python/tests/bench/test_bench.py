"""`hopsim bench`: what it reads, computes, stores and prints; nothing here measures a target."""

from __future__ import annotations

import importlib.util
import io
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from rich.console import Console

from conftest import Command
from hopsim import _core
from hopsim.bench.cases import GRAPH_CYCLES, GRAPHS, LIKE_GRAPHS, Case, cases
from hopsim.bench.cli import cells, table
from hopsim.bench.figures import Figure
from hopsim.bench.history import History
from hopsim.bench.measure import Bench, NotMeasuredError, collected, document, packet_hops, setup
from hopsim.cli import cli
from hopsim.document.experiment import Experiment
from hopsim.errors import ConfigError

CALLGRIND = """==42== Callgrind, a call-graph generating cache profiler
==42== Events    : Ir
==42== Collected : 1134595708
==42==
==42== I   refs:      1,134,595,708
"""
ABOUT = {"hopsim": "0.1.0", "cores": 2}

# Stands for the native runner: 10 packet-hops per cycle.
RUNNER = """#!{python}
import json, sys
measure = json.load(open(sys.argv[1]))["measure"]
print("{{}}\\npacket_hops", 10 * (measure["warmup"] + measure["cycles"]))
"""


@pytest.fixture
def runner(tmp_path: Path) -> Path:
    path = tmp_path / "run"
    path.write_text(RUNNER.format(python=sys.executable), "utf-8")
    path.chmod(0o755)
    return path


def figure(value: float | None = 90.0, target: float | None = 100.0, note: str = "") -> Figure:
    return Figure("a", "instructions", "", value, target, note)


def printed(figures: list[Figure], saved: dict[str, float]) -> str:
    def measure(_: Case, __: Bench) -> Iterator[Figure]:
        return iter(figures)

    console = Console(file=io.StringIO(), width=140)
    console.print(table([(Case("section", "a", measure), figures)], saved))
    return console.file.getvalue()  # type: ignore[attr-defined]


def test_runner_output_is_read() -> None:
    assert packet_hops('{\n "hops_mean": 2.7\n}\npacket_hops 1439043\n') == 1439043
    with pytest.raises(NotMeasuredError, match="packet_hops"):
        packet_hops("{}")


def test_callgrind_output_is_read() -> None:
    assert collected(CALLGRIND) == 1134595708
    with pytest.raises(NotMeasuredError, match="callgrind"):
        collected("==42== Callgrind")


def test_verdict_needs_a_value_and_a_target() -> None:
    assert figure(100.0).verdict == "pass"
    assert figure(100.1).verdict == "fail"
    assert figure(None).verdict == figure(target=None).verdict == ""


def test_ratio_is_to_the_saved_figure_of_the_same_name() -> None:
    assert figure().ratio({"a: instructions": 100.0}) == pytest.approx(0.9)
    assert figure().ratio({"b: instructions": 100.0}) is None
    assert figure().ratio({"a: instructions": 0.0}) is None
    assert figure(None).ratio({"a: instructions": 100.0}) is None


def test_table_shows_value_target_verdict_ratio_and_note() -> None:
    row = printed([figure(note="[3 runs]")], {"a: instructions": 100.0}).splitlines()[-1]
    assert row.split() == ["a", "instructions", "90.0", "≤", "100", "pass", "×0.900", "[3", "runs]"]
    assert cells(figure(None, note="why"), {})[1:] == ["–", "≤ 100", "", "", "why"]


def test_saved_figures_come_back(tmp_path: Path) -> None:
    path = tmp_path / "new" / "bench.json"
    assert History(path).latest() == {}
    History(path).save(ABOUT, [figure(90.0), Figure("b", "time", "ns", 5.0), Figure("c", "x", "", None)])
    History(path).save(ABOUT, [figure(80.0)])
    again = History(path)
    assert again.latest() == {"a: instructions": 80.0, "b: time": 5.0}
    assert [run["cores"] for run in again.runs] == [2, 2]
    assert [entry.name for entry in path.parent.iterdir()] == ["bench.json"]


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"runs": 1}', '{"runs": [1]}', '{"runs": [{}]}'])
def test_another_file_is_not_overwritten(tmp_path: Path, text: str) -> None:
    path = tmp_path / "other.json"
    path.write_text(text, "utf-8")
    with pytest.raises(ConfigError, match=r"--save .*other\.json: not a file of `hopsim bench`"):
        History(path)


def test_setup_is_one_cycle_of_the_same_network() -> None:
    whole = document(0.5, (300, 300), measure={"streams": ["nodes"]}, routing="valiant")
    long, short = (
        json.loads(Experiment.of(experiment).points()[0].config) for experiment in (whole, setup(whole))
    )
    assert (short["measure"]["warmup"], short["measure"]["cycles"]) == (0, 1)
    assert short["measure"]["streams"] == ["nodes"]
    assert {**short, "measure": None} == {**long, "measure": None}


def test_case_names_are_unique_and_some_are_quick() -> None:
    names = [case.name for case in cases()]
    assert len(set(names)) == len(names)
    assert 0 < sum(case.quick for case in cases()) < len(names)


def test_graphs_are_measured_against_a_dragonfly_of_like_size() -> None:
    like = Experiment.of(document(0.5, GRAPH_CYCLES, **LIKE_GRAPHS))
    nodes = json.loads(_core.topology_info(like.points()[0].config))["nodes"]
    for topology in GRAPHS.values():
        # How ties are broken changes no size, and spreading them takes its time.
        first = {name: {**keys, "ties": "first"} for name, keys in topology.items()}
        (point,) = Experiment.of(document(0.5, GRAPH_CYCLES, topology=first)).points()
        graph = json.loads(_core.topology_info(point.config))
        assert graph["nodes"] == pytest.approx(nodes, rel=0.15)


def test_a_run_is_timed_and_repeated(runner: Path) -> None:
    with Bench(runner, runs=2) as bench:
        timing = bench.timing(document(0.1, (20, 30)))
        usage = bench.usage(document(0.1, (20, 30)))
        assert bench.two_at_once(document(0.1, (20, 30))) > 0
    assert timing.packet_hops == 500
    assert 0.0 <= timing.best_s <= timing.median_s
    assert usage.peak_bytes > 1e6
    assert usage.cpu_s > 0


def test_what_fails_is_told(runner: Path, tmp_path: Path) -> None:
    runner.write_text(f"#!{sys.executable}\nraise SystemExit('no such network')\n", "utf-8")
    for path, reason in ((runner, "run failed: no such network"), (tmp_path / "none", "no runner at")):
        with Bench(path, runs=1) as bench:
            (found,) = next(case for case in cases() if "build" in case.name).figures(bench)
        assert found.value is None
        assert reason in found.note


def test_without_valgrind_the_time_remains(runner: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere(_: str) -> None: ...

    monkeypatch.setattr("shutil.which", nowhere)
    with Bench(runner, runs=1) as bench:
        timed, missing = next(case for case in cases() if case.name == "default UN minimal 0.1").figures(
            bench
        )
    assert timed.value is not None
    assert timed.unit == "ns"
    assert (missing.value, missing.note) == (None, "valgrind is not installed")


def test_command_measures_saves_and_compares(hopsim: Command, runner: Path, tmp_path: Path) -> None:
    given = ("bench", "--case", "16,512 nodes, load 0.5", "--runner", runner)
    first = hopsim(*given)
    assert "pass" in first.stdout
    assert "×" not in first.stdout
    assert (tmp_path / "bench-results" / "latest.json").is_file()
    again = hopsim(*given, "--no-save")
    assert re.search(r"×\d\.\d{3}", again.stdout)
    assert "Saved" not in again.stdout


def test_command_refuses_what_it_does_not_know(hopsim: Command) -> None:
    assert "no such case" in hopsim("bench", "--case", "hypercube", status=2).stderr
    assert "not a regular expression" in hopsim("bench", "--case", "(", status=2).stderr


def test_command_says_where_it_cannot_measure(monkeypatch: pytest.MonkeyPatch) -> None:
    def find_nothing(_name: str) -> None:
        return None

    monkeypatch.setattr(importlib.util, "find_spec", find_nothing)
    done = CliRunner().invoke(cli, ["bench", "--case", "hypercube"])
    assert isinstance(done.exception, ConfigError)
    assert str(done.exception) == "bench: this system does not say what processes use; valid: Linux, macOS"
