"""Threads: points side by side first, the rest to the threads of a point; no result depends on them."""

from __future__ import annotations

import threading
import time
from contextlib import ExitStack

import pytest

import hopsim as hs
from hopsim import _core
from hopsim.document.experiment import Experiment
from hopsim.errors import Cancelled
from hopsim.runs.workers import Allotment

DRAGONFLY = {
    "topology": {"dragonfly": {"p": 4, "a": 8, "h": 4}},
    "load": 0.6,
    "measure": {"warmup": 100, "cycles": 900, "batches": 3},
}


@pytest.mark.parametrize(
    ("threads", "points", "shares"),
    [
        (8, 1, [8]),
        (8, 3, [2, 3, 3]),
        (2, 5, [1, 1, 1, 1, 1]),
        (1, 2, [1, 1]),
        (5, 4, [1, 1, 1, 2]),
    ],
)
def test_points_begin_with_what_is_left_for_each(threads: int, points: int, shares: list[int]) -> None:
    allotment = Allotment(threads, points)
    with ExitStack() as running:
        first = min(threads, points)
        begun = [running.enter_context(allotment.taken()) for _ in range(first)]
        assert begun == shares[:first]
    for share in shares[first:]:
        with allotment.taken() as taken:
            assert taken >= share


def test_a_point_that_begins_when_others_have_ended_gets_their_threads() -> None:
    allotment = Allotment(4, 5)
    with ExitStack() as running:
        assert [running.enter_context(allotment.taken()) for _ in range(4)] == [1, 1, 1, 1]
    with allotment.taken() as threads:
        assert threads == 4


@pytest.mark.parametrize("routing", ["minimal", "piggyback"])
def test_a_run_gives_the_same_on_any_number_of_threads(routing: str) -> None:
    document = DRAGONFLY | {"routing": routing}
    alone, *others = (hs.run(document, workers=threads, progress=False) for threads in (1, 2, 3, 8))
    for other in others:
        assert other.record == alone.record
        assert other.tables.keys() == alone.tables.keys()
        assert all(other.tables[name].equals(alone.tables[name]) for name in alone.tables)


def test_a_run_says_how_many_threads_it_used() -> None:
    monitor = _core.Monitor()
    _core.run(Experiment.of(DRAGONFLY).points()[0].config, monitor, 3)
    assert monitor.threads_used == 3
    assert 0 <= monitor.waited < 1


def test_ctrl_c_ends_a_run_on_several_threads_at_once() -> None:
    config = Experiment.of(DRAGONFLY | {"measure": {"cycles": 20_000_000}}).points()[0].config
    monitor = _core.Monitor()
    ended: list[float] = []

    def simulate() -> None:
        with pytest.raises(Cancelled):
            _core.run(config, monitor, 2)
        ended.append(time.monotonic())

    thread = threading.Thread(target=simulate)
    thread.start()
    while monitor.done == 0:
        time.sleep(0.01)
    monitor.cancel()
    thread.join(timeout=20)
    assert ended
