"""Sweeps on a pool of threads: what is counted, reported and told to who watches."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable

import pytest

import hopsim as hs
from conftest import TINY
from hopsim import _core
from hopsim.document.experiment import Experiment, Point
from hopsim.results.result import Result
from hopsim.runs.progress import Meter
from hopsim.runs.runner import Hooks, run_points


class Told:
    """What a watch is told."""

    def __init__(self) -> None:
        self.started: tuple[int, int] | None = None
        self.finished: list[int] = []
        self.stopped = 0
        self.lengths_known: bool | None = None

    def start(self, total: int, stored: int, *, lengths_known: bool) -> None:
        self.started = (total, stored)
        self.lengths_known = lengths_known

    def tick(self, finished: int, monitors: Iterable[_core.Monitor]) -> None:
        self.finished.append(finished)

    def stop(self) -> None:
        self.stopped += 1


def points(seeds: list[int]) -> list[Point]:
    return Experiment.of(TINY).with_axes({"measure.seed": seeds}).points()


def test_progress_counts_points_also_where_several_have_one_configuration() -> None:
    """Six points of three configurations, one of them three times, one point of another stored before."""
    swept = points([1, 1, 1, 2, 3, 3])
    stored = {3: hs.run(TINY, {"measure.seed": 2})}
    told = Told()
    reported: list[int] = []
    hooks = Hooks(report=lambda point, _: reported.append(point.index), watch=told)
    outcome = run_points(swept, 1, hooks, stored)
    assert told.started == (6, 1)
    assert set(told.finished) <= {1, 4, 6}
    assert told.finished == sorted(told.finished)
    assert told.finished[-1] == 6
    assert {4, 6} & set(told.finished)
    assert told.stopped == 1
    assert reported[0] == 3
    assert sorted(reported) == list(range(6))
    assert (outcome.finished, outcome.total, outcome.failures, outcome.interrupted) == (6, 6, {}, False)


def test_while_the_last_configuration_runs_all_its_points_are_unfinished() -> None:
    """One thread and three points of one configuration: nothing is finished until all are."""
    told = Told()
    run_points(points([1, 1, 1]), 1, Hooks(watch=told), {})
    assert set(told.finished) <= {0, 3}
    assert told.finished[-1] == 3


def test_a_slow_configuration_of_several_points_is_unfinished_as_often(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Told at least once while it runs."""
    run, told = _core.run, Told()

    def slow(config: str, monitor: _core.Monitor, threads: int) -> _core.Run:
        while not told.finished:
            time.sleep(0.01)
        return run(config, monitor, threads)

    monkeypatch.setattr(_core, "run", slow)
    run_points(points([1, 1, 1]), 1, Hooks(watch=told), {})
    assert told.finished[0] == 0
    assert told.finished[-1] == 3


def test_points_of_one_configuration_are_simulated_once_and_each_keeps_its_axes() -> None:
    simulated: list[int] = []
    found: dict[int, Result] = {}

    def finish(point: Point, result: Result) -> Result:
        simulated.append(point.index)
        return result

    hooks = Hooks(finish=finish, report=lambda point, result: found.update({point.index: result}))
    swept = Experiment.of(TINY).with_axes({"load": [0.1, 0.1], "measure.seed": [1]}).points()
    run_points(swept, 2, hooks, {})
    assert simulated == [0]
    assert [found[place].axes for place in (0, 1)] == [point.axes for point in swept]
    assert found[0].summary == found[1].summary


def test_of_programs_the_time_left_is_not_known_before_one_is_done() -> None:
    class Running:
        packet_hops, done, total = 10, 1, 1_000_000_000

    meter = Meter(total=4, stored=1, lengths_known=False)
    meter.update(1, [Running()])  # pyright: ignore[reportArgumentType]
    assert re.fullmatch(r"1/4 points, [\d.]+ M packet-hops/s", meter.text())
    meter.update(2, [Running()])  # pyright: ignore[reportArgumentType]
    assert re.fullmatch(r"2/4 points, [\d.]+ M packet-hops/s, 0:00 left", meter.text())
    program = 'units = { cycle = "1 ns", phit = "4 B" }\ntopology.mesh.sides = [4]\n'
    job = 'program.collective = { kind = "barrier" }'
    for text, known in ((f"{program}[[jobs]]\n{job}\n", False), (TINY, True)):
        told = Told()
        run_points(Experiment.of(text).points(), 1, Hooks(watch=told), {})
        assert told.lengths_known is known


def test_the_meter_counts_running_points_by_the_share_of_cycles_done() -> None:
    class Running:
        packet_hops, done, total = 10, 25, 100

    class Waiting:
        packet_hops, done, total = 0, 0, 0

    meter = Meter(total=8, stored=2)
    meter.update(3, [Running(), Running(), Waiting(), Running(), Running(), Running(), Running()])  # pyright: ignore[reportArgumentType]
    assert meter.progress == 3.5
    assert meter.finished == 3
    assert meter.text().startswith("3/8 points, ")
    assert meter.left_s is not None
    assert meter.rate is not None
    # 1.5 points of 6 took as long as the meter runs, so 4.5 take three times that.
    assert meter.left_s * meter.rate == pytest.approx(60 * 3, rel=1e-9)
