"""Runs that find their warm-up and window by themselves: they are the plain runs of what they find."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import hopsim as hs
from conftest import Command
from hopsim import _core
from hopsim.document.experiment import Experiment
from hopsim.metrics import stopping
from hopsim.metrics.series import over_seeds
from hopsim.plot import KINDS, View

DOCUMENT = """
load = 0.4
topology.dragonfly = { p = 2, a = 4, h = 2 }
[measure]
warmup = "auto"
cycles = 1000
stop = { relative_ci = 0.02, max_cycles = 40_000 }
streams = ["nodes", "links", "latency_histogram"]
interval = 100
"""

HOW = {"warmup_found", "stop", "stop_relative_ci", "stop_attempts"}
"""Columns that a plain run leaves empty."""


@pytest.fixture
def document(tmp_path: Path) -> Path:
    path = tmp_path / "document.toml"
    path.write_text(DOCUMENT)
    return path


@pytest.fixture(scope="module")
def found() -> hs.Result:
    return hs.run(DOCUMENT, progress=False)


def without(record: dict[str, Any], keys: set[str]) -> str:
    return json.dumps({key: value for key, value in record.items() if key not in keys})


def test_it_is_the_plain_run_of_what_it_finds(found: hs.Result) -> None:
    assert found.summary["stop"] == "reached"
    assert found.summary["warmup_found"] == "latency"
    assert found.summary["stop_attempts"] > 1
    assert found.summary["stop_relative_ci"] <= 0.02
    plain = DOCUMENT.replace("stop = {", "# stop = {").replace('"auto"', str(found.summary["warmup_cycles"]))
    result = hs.run(plain, {"measure.cycles": found.summary["cycles"]}, progress=False)
    assert {key: result.summary[key] for key in HOW} == dict.fromkeys(HOW)
    assert without(found.summary, HOW) == without(result.summary, HOW)
    assert found.tables.keys() == result.tables.keys()
    assert all(table.equals(result.tables[name]) for name, table in found.tables.items())


def test_the_same_seed_stops_in_the_same_cycle_however_it_is_run(
    document: Path, tmp_path: Path, hopsim: Command, found: hs.Result
) -> None:
    several = hs.run(DOCUMENT, workers=2, progress=False)
    assert several.json() == found.json()
    out = tmp_path / "out"
    printed = hopsim("run", document, "--json", "-", "--out", out).stdout
    assert json.loads(printed)["result"] == found.summary
    again = hopsim("run", document, "--json", "-", "--out", out).stdout
    assert again == printed
    assert hs.load(out)[0].summary == found.summary


def test_the_table_shows_what_was_used(document: Path, hopsim: Command, found: hs.Result) -> None:
    header, row = _table(hopsim("run", document).stdout)
    assert header[-4:] == ["warm-up", "window", "verdict", "stop"]
    assert row[-4:] == [
        f"{found.summary['warmup_cycles']:,}",
        f"{found.summary['cycles']:,}",
        "steady",
        "reached",
    ]


def _table(text: str) -> tuple[list[str], list[str]]:
    """Heading and first row of what is on the screen."""
    lines = [line for line in text.splitlines() if line.strip()]
    heading = next(number for number, line in enumerate(lines) if "accepted" in line)
    row = next(line for line in lines[heading + 1 :] if "±" in line)
    return lines[heading].split(), row.split()


def test_the_table_of_plain_runs_is_as_before(hopsim: Command, document: Path) -> None:
    document.write_text(DOCUMENT.replace("stop =", "# stop =").replace('"auto"', "500"))
    header, _ = _table(hopsim("run", document).stdout)
    assert header[-1] == "verdict"
    assert not {"window", "warm-up", "stop"} & set(header)


def test_warm_ups_are_swept_and_overridden(document: Path, hopsim: Command) -> None:
    results = hs.sweep(DOCUMENT, product={"measure.warmup": ["auto", 500]}, progress=False)
    assert [result.axes["measure.warmup"] for result in results] == ["auto", 500]
    assert [result.summary["warmup_found"] for result in results] == ["latency", None]
    # What is measured is behind a window as long whose interval was narrow.
    assert results[1].summary["warmup_cycles"] == 500 + results[1].summary["cycles"]
    plain = DOCUMENT.replace("stop =", "# stop =").replace('"auto"', "500")
    document.write_text(plain)
    printed = hopsim("run", document, "--json", "-", "--set", "measure.warmup=auto").stdout
    summary = json.loads(printed)["result"]
    assert (summary["warmup_found"], summary["stop"]) == ("latency", None)


def test_states_branches_and_other_simulators_are_refused(document: Path, hopsim: Command) -> None:
    reason = "a run that finds its warm-up or its window has no one state"
    refused = hopsim("run", document, "--save-state", "state", status=2)
    assert reason in refused.stderr
    refused = hopsim("run", document, "--set", "sweep.branch_at=100", status=2)
    assert reason in refused.stderr
    with pytest.raises(hs.ConfigError, match="no other simulator drives"):
        hs.Simulation(DOCUMENT)


def test_what_reads_the_window_reads_the_one_that_was_found(document: Path, hopsim: Command) -> None:
    streams = '["link_series", "congestion_trees", "nodes"]'
    text = DOCUMENT.replace('["nodes", "links", "latency_histogram"]', streams)
    mesh = text.replace("dragonfly = { p = 2, a = 4, h = 2 }", "mesh = { sides = [4, 4] }").replace(
        "0.4", "0.2"
    )
    results = hs.sweep(mesh, progress=False)
    (result,) = results
    assert stopping.warmup(result) == result.summary["warmup_cycles"] > 0
    assert result.summary["cycles"] > result.config["measure"]["cycles"]
    assert result.why()
    figures = KINDS["node_map"].draw(results, View()).values()
    maps = [image.get_array() for figure in figures for axes in figure.axes for image in axes.images]
    # Phits per cycle of the window that was found, not of the first one.
    assert all(float(np.max(values)) < 0.3 for values in maps if values is not None)
    document.write_text(mesh)
    assert " or more on " in hopsim("check", document).stdout


def test_windows_are_told_in_words() -> None:
    assert stopping.window_text({"warmup": 100, "cycles": 2000}) == "2,000 cycles after 100 of warm-up"
    stop = {"metric": "accepted_load", "relative_ci": 0.005, "max_cycles": 9000}
    assert stopping.window_text({"warmup": "auto", "cycles": 2000, "stop": stop}) == (
        "2,000 to 9,000 cycles, until accepted_load is known to 0.5 %, then anew, "
        "after a warm-up that is found"
    )
    end = {"packets": 10_000, "max_cycles": 9000}
    assert stopping.window_text({"warmup": 100, "cycles": 2000, "end": end}) == (
        "up to 9,000 cycles, until 10,000 packets are delivered, after 100 of warm-up"
    )


def test_seeds_that_stop_differently_are_as_good_as_the_worst() -> None:
    def result(seed: int, stop: str | None) -> hs.Result:
        summary = {"stop": stop, "seed": seed, "accepted_load": 0.1, "packet_latency_mean": 9.0}
        return hs.Result({"config": {}, "result": summary}, {"measure.seed": seed}, {})

    for stops, cell in (
        (["reached", "reached"], "reached"),
        (["reached", "max cycles"], "max cycles (1 of 2)"),
        (["saturated", "max cycles"], "saturated (1 of 2)"),
        ([None, None], "–"),
    ):
        results = hs.Results({number: result(number, stop) for number, stop in enumerate(stops)})
        (group,) = over_seeds(results)
        assert stopping.cell(group) == cell


def test_progress_counts_all_that_is_simulated() -> None:
    (point,) = Experiment.of(DOCUMENT).points()
    monitor = _core.Monitor()
    _core.run(point.config, monitor, 1)
    assert monitor.done == monitor.total > 1000


def test_saturation_is_searched_with_windows_that_are_found() -> None:
    quick = DOCUMENT.replace(
        "relative_ci = 0.02, max_cycles = 40_000", "relative_ci = 0.1, max_cycles = 8_000"
    )
    (result,) = hs.saturate(quick, seeds=1, precision=0.2, progress=False)
    assert 0.4 < result.summary["saturation_load"] <= 1


@pytest.mark.parametrize(
    ("measure", "is_adaptive"),
    [
        ({"warmup": 10}, False),
        ({"warmup": "auto"}, True),
        ({"warmup": 10, "stop": {"relative_ci": 0.1}}, True),
        ({}, False),
    ],
)
def test_a_point_is_adaptive_that_finds_its_warmup_or_its_window(
    measure: dict[str, Any], is_adaptive: bool
) -> None:
    point: Any = SimpleNamespace(config=json.dumps({"measure": measure}))
    assert stopping.is_adaptive(point) is is_adaptive


def test_results_say_whether_any_point_stopped_by_itself_or_found_its_warmup() -> None:
    def results(**summary: Any) -> hs.Results:
        plain = hs.Result({"config": {}, "result": {}}, {}, {})
        return hs.Results({0: plain, 1: hs.Result({"config": {}, "result": summary}, {}, {})})

    assert stopping.stops(results(stop="reached"))
    assert not stopping.stops(results(warmup_found=True, stop=None))
    assert stopping.finds_warmup(results(warmup_found=False))
    assert not stopping.finds_warmup(results(stop="reached", warmup_found=None))


def test_the_warm_up_is_the_one_that_was_found_or_else_that_of_the_document() -> None:
    for found, cycles in (({"warmup_cycles": 700}, 700), ({"warmup_cycles": 0}, 0), ({}, 300)):
        result = hs.Result({"config": {"measure": {"warmup": 300}}, "result": found}, {}, {})
        assert stopping.warmup(result) == cycles
    assert stopping.window_text({"cycles": 2000}) == "2,000 cycles after 0 of warm-up"
