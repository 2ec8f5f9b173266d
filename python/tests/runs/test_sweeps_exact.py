"""What `run` and `sweep` simulate, record and refuse, as told to a simulator that is made up."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hopsim as hs
from hopsim import _core
from hopsim.document.experiment import Point
from hopsim.errors import ConfigError, RunError, SweepError
from hopsim.results.outcome import Outcome
from hopsim.results.result import Result
from hopsim.runs import progress, sweeps
from hopsim.runs.branches import Branches
from hopsim.runs.progress import Silent
from hopsim.runs.runner import Hooks, all_cores
from hopsim.runs.workers import Elsewhere

RING: dict[str, Any] = {"topology": {"ring": {"routers": 4}}, "load": 0.1}


class Runner:
    """What stands for all that runs points: it says what it was given, and finishes some of them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.points: list[Point] = []
        self.workers: Any = None
        self.hooks = Hooks()
        self.stored: Mapping[int, Result] = {}
        self.outcome = Outcome()
        monkeypatch.setattr(sweeps, "run_points", self.run_points)

    def run_points(
        self, points: Sequence[Point], workers: Any, hooks: Hooks, stored: Mapping[int, Result]
    ) -> Outcome:
        self.points, self.workers, self.hooks, self.stored = list(points), workers, hooks, stored
        for point in points:
            if point.index not in self.outcome.failures:
                record = {"config": json.loads(point.config), "result": {"number": point.index}}
                hooks.report(point, Result(record, point.axes, {}))
        return self.outcome

    def measure(self, document: dict[str, Any], **given: Any) -> tuple[list[str], int]:
        """Streams and interval with which `run` simulates a document."""
        hs.run(document, progress=False, **given)
        (point,) = self.points
        measure = json.loads(point.config)["measure"]
        return measure["streams"], measure.get("interval", -1)


@pytest.fixture
def runner(monkeypatch: pytest.MonkeyPatch) -> Runner:
    return Runner(monkeypatch)


PACKETS = ["nodes", "routers", "latency_histogram"]
PROGRAM: dict[str, Any] = {
    "units": {"cycle": "1 ns", "phit": "4 B"},
    "topology": {"ring": {"routers": 4}},
    "jobs": [{"program": {"collective": {"kind": "barrier"}}}],
}


@pytest.mark.parametrize(
    ("measure", "streams", "interval"),
    [
        ({}, PACKETS, 100),
        ({"cycles": 1234}, PACKETS, 12),
        ({"cycles": 199}, PACKETS, 1),
        ({"cycles": 99}, PACKETS, 1),
        ({"interval": 7}, PACKETS, 7),
        ({"interval": 0}, PACKETS, 0),
        ({"streams": ["links"]}, ["links"], 100),
        ({"streams": []}, [], 100),
        ({"streams": ["links"], "interval": 9}, ["links"], 9),
    ],
)
def test_a_run_records_packets_and_a_hundred_rows_unless_it_is_told_otherwise(
    runner: Runner, measure: dict[str, Any], streams: list[str], interval: int
) -> None:
    assert runner.measure({**RING, "measure": measure}) == (streams, interval)


@pytest.mark.parametrize(
    ("document", "streams", "interval"),
    [
        # Nobody knows how long programs take: no intervals.
        (PROGRAM, [*PACKETS, "ranks"], 0),
        ({**PROGRAM, "topology": {"ideal": {"nodes": 4, "latency": 9}}}, ["ranks"], 0),
        (
            {**PROGRAM, "contention": "none"},
            ["ranks"],
            0,
        ),
        (
            {**PROGRAM, "measure": {"interval": 50}},
            [*PACKETS, "ranks"],
            50,
        ),
        (
            {**PROGRAM, "measure": {"streams": ["links"]}},
            ["links"],
            0,
        ),
        # Driven by another simulator, they have no ranks of their own.
        ({"topology": RING["topology"], "jobs": [{"program": "external"}]}, PACKETS, 0),
    ],
)
def test_a_run_of_programs_records_their_ranks(
    runner: Runner, document: dict[str, Any], streams: list[str], interval: int
) -> None:
    assert runner.measure(document) == (streams, interval)


def test_a_run_of_a_fabric_records_its_flows(runner: Runner) -> None:
    fabric = {
        "router": "infiniband",
        "topology": {"fat_tree": {"k": 2, "levels": 1}},
        "jobs": [{"flows": [{"source": 0, "destination": 1}]}],
    }
    assert runner.measure(fabric) == (["flows"], -1)
    assert runner.measure({**fabric, "measure": {"streams": ["victims"]}}) == (["victims"], -1)
    assert runner.measure({**fabric, "measure": {"streams": []}}) == ([], -1)


def test_a_run_is_the_document_with_what_is_given(runner: Runner) -> None:
    runner.outcome = Outcome()
    found = hs.run(RING, {"measure.seed": 7}, workers=3, load=0.25)
    assert found.summary == {"number": 0}
    config = json.loads(runner.points[0].config)
    assert config["measure"]["seed"] == 7
    assert config["jobs"][0]["traffic"]["process"] == {"bernoulli": {"load": 0.25}}
    assert runner.workers == 3
    assert runner.stored == {}
    assert runner.hooks.run is _core.run
    hs.run(RING, progress=False)
    assert runner.workers == all_cores()
    assert isinstance(runner.hooks.watch, Silent)


def test_a_run_with_a_state_is_one_that_saves_it(runner: Runner, tmp_path: Path) -> None:
    hs.run(RING, progress=False, save_state=tmp_path / "state", save_every=2.5)
    run: Any = runner.hooks.run
    saving = run.__self__
    assert (saving.source, saving.target, saving.every, saving.at) == (None, tmp_path / "state", 2.5, None)
    hs.run(RING, progress=False, save_state=tmp_path / "state", save_at=100)
    run = runner.hooks.run
    assert (run.__self__.every, run.__self__.at) == (None, 100)
    (tmp_path / "state").write_bytes(b"state")
    hs.run(RING, progress=False, from_state=tmp_path / "state")
    run = runner.hooks.run
    assert (run.__self__.source, run.__self__.target) == (tmp_path / "state", None)


def test_a_run_that_fails_says_why(runner: Runner) -> None:
    runner.outcome = Outcome(failures={0: "a deadlock"})
    with pytest.raises(RunError, match=r"^a deadlock$"):
        hs.run(RING, progress=False)
    runner.outcome = Outcome(interrupted=True)
    with pytest.raises(KeyboardInterrupt):
        hs.run(RING, progress=False)
    runner.outcome = Outcome()
    with pytest.raises(ConfigError, match=r"^<dict>: has a sweep of 2 points; use hopsim\.sweep\(\)$"):
        hs.run({**RING, "sweep": {"product": {"load": [0.1, 0.2]}}}, progress=False)


def test_the_axes_of_a_sweep_are_those_of_the_document_then_the_product_then_lists(runner: Runner) -> None:
    document = {**RING, "sweep": {"product": {"links.network.latency": [3, 5]}}}
    found = hs.sweep(
        document,
        {"measure.seed": 9},
        product={"measure.cycles": range(300, 500, 100)},
        workers=2,
        progress=False,
        load=np.array([0.1, 0.2]),
        routing="minimal",
    )
    names = ("links.network.latency", "measure.cycles", "load")
    values = [(latency, cycles, load) for latency in (3, 5) for cycles in (300, 400) for load in (0.1, 0.2)]
    assert [result.axes for result in found] == [dict(zip(names, each, strict=True)) for each in values]
    assert [result.config["measure"]["seed"] for result in found] == [9] * 8
    assert found.points == list(range(8))
    assert runner.workers == 2
    assert runner.hooks.run is _core.run
    for item in ((0.3, 0.4), [0.3, 0.4]):
        assert hs.sweep(RING, progress=False, load=item)["load"].to_pylist() == [0.3, 0.4]
    # Not a list but a value: that of the only point.
    for value in (0.3, np.float64(0.3), np.array(0.3)):
        assert len(hs.sweep(RING, progress=False, load=value)) == 1


def test_a_sweep_of_which_points_fail_has_the_others(runner: Runner) -> None:
    runner.outcome = Outcome(failures={1: "a deadlock"})
    with pytest.raises(SweepError, match=r"^point 1: a deadlock$") as failed:
        hs.sweep(RING, load=[0.1, 0.2, 0.3], progress=False)
    assert failed.value.results.points == [0, 2]
    assert failed.value.failures == {1: "a deadlock"}


def test_an_executor_runs_points_instead_of_threads(runner: Runner, tmp_path: Path) -> None:
    path = tmp_path / "ring.toml"
    path.write_text("load = 0.1\ntopology.ring.routers = 4\n", "utf-8")
    with ThreadPoolExecutor(1) as executor:
        hs.sweep(path, executor=executor, progress=False)
        assert runner.workers == Elsewhere(executor, tmp_path)
        with pytest.raises(
            ConfigError, match=r"^workers = 2: says nothing of an executor; valid: executor or workers$"
        ):
            hs.sweep(path, executor=executor, workers=2, progress=False)
    wrong: Any = 3
    with pytest.raises(ConfigError, match=r"^executor = 3: is no concurrent\.futures\.Executor; valid: a "):
        hs.sweep(path, executor=wrong, progress=False)


TRAFFIC: dict[str, Any] = {"process": {"bernoulli": {"load": 0.1}}}
DRAWN: dict[str, Any] = {
    "topology": {"ring": {"routers": 4}},
    "jobs": [{"placement": {"random_nodes": {"count": 4}}, "traffic": TRAFFIC}],
}
NO_TIMER: dict[str, Any] = {
    "router": {"infiniband": {"congestion_control": {"ccti_timer": 0}}},
    "topology": {"fat_tree": {"k": 2, "levels": 1}},
    "jobs": [{"flows": [{"source": 0, "destination": 1}]}],
}
UNLIKE: dict[str, Any] = {
    "load": 0.1,
    "sweep": {"product": {"topology": [{"ring": {"routers": 4}}, {"dragonfly": {"p": 1, "a": 2, "h": 1}}]}},
}


def warned(simulate: Any, document: dict[str, Any]) -> list[str]:
    """What calls warn of, but for the name of the document that each begins with."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        simulate(document, progress=False)
    messages = [str(warning.message) for warning in caught]
    assert all(message.startswith("<dict>: ") for message in messages)
    return [message.removeprefix("<dict>: ") for message in messages]


def test_runs_and_sweeps_warn_of_what_is_hardly_meant(runner: Runner) -> None:
    for simulate in (hs.run, hs.sweep):
        assert warned(simulate, RING) == []
        (drawn,) = warned(simulate, DRAWN)
        assert drawn.startswith("jobs.0.placement.random_nodes.count = 4 takes all that there is to draw")
        (no_timer,) = warned(simulate, NO_TIMER)
        assert no_timer.startswith("router.infiniband.congestion_control.ccti_timer = 0: no timer")
    assert len(runner.points) == 1
    # A network that is compared with another one differs in the latencies of its links.
    assert any("latenc" in message for message in warned(hs.sweep, UNLIKE))


@pytest.mark.parametrize("workers", [0, -1, True, False, 1.0, "2"])
def test_a_number_of_threads_is_a_whole_one(workers: Any) -> None:
    with pytest.raises(ConfigError) as refused:
        sweeps.threads(workers)
    assert str(refused.value) == (
        f"workers = {workers!r}: is not a number of threads; valid: 1 …, or None for all cores"
    )
    assert [sweeps.threads(each) for each in (1, 2, None)] == [1, 2, all_cores()]


def test_values_are_a_dictionary() -> None:
    assert sweeps.together(values=None) == {}
    assert sweeps.together(values={"a": 1}) == {"a": 1}
    for name in ("values", "product"):
        wrong: dict[str, Any] = {name: [1]}
        with pytest.raises(ConfigError) as refused:
            hs.sweep(RING, progress=False, **wrong)
        assert str(refused.value) == f"{name} = [1]: is not a dictionary; valid: {{path: value}}"


def test_what_a_directory_holds_is_what_a_sweep_returns(tmp_path: Path) -> None:
    small = {**RING, "measure": {"warmup": 0, "cycles": 100}}
    first = hs.sweep(small, load=[0.1, 0.2], out=tmp_path / "out", workers=1, progress=False)
    files = {path: path.stat().st_mtime_ns for path in sorted((tmp_path / "out" / "points").glob("*.json"))}
    assert len(files) == 2
    assert (tmp_path / "out" / "summary.parquet").exists()
    assert not (tmp_path / "out" / "summary.csv").exists()
    again = hs.sweep(small, load=[0.1, 0.2], out=tmp_path / "out", workers=1, progress=False)
    assert again.table.equals(first.table)
    assert {path: path.stat().st_mtime_ns for path in files} == files
    assert hs.load(tmp_path / "out").table.equals(first.table)
    with pytest.raises(ConfigError, match="out"):
        hs.sweep(small, load=[0.1, 0.3], out=tmp_path / "out", workers=1, progress=False)


def test_progress_is_shown_unless_it_is_not_wanted(runner: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    bar = Silent()
    monkeypatch.setattr(progress, "for_python", lambda: bar)
    for simulate in (hs.run, hs.sweep):
        simulate(RING)
        assert runner.hooks.watch is bar
        simulate(RING, progress=True)
        assert runner.hooks.watch is bar
        simulate(RING, progress=False)
        assert runner.hooks.watch is not bar
        assert isinstance(runner.hooks.watch, Silent)


def test_points_that_branch_share_what_they_have_in_common(runner: Runner) -> None:
    changes = [{"cycle": 650, "load": 0.3}]
    traffic = {"process": {"bernoulli": {"load": 0.1}}, "changes": changes}
    document: dict[str, Any] = {
        "topology": RING["topology"],
        "jobs": [{"traffic": traffic}],
        "measure": {"warmup": 600, "cycles": 100, "streams": []},
        "sweep": {"branch_at": 400, "product": {"jobs.0.traffic.changes.0.load": [0.2, 0.3]}},
    }
    hs.sweep(document, progress=False)
    run: Any = runner.hooks.run
    branches = run.__self__
    assert isinstance(branches, Branches)
    assert vars(branches)["_configs"] == [point.config for point in runner.points]
    assert vars(branches)["_branch_at"] == 400
