"""Intervals of runs that stop by themselves, of a queue in closed form, and that wrong ones are noticed."""

from dataclasses import replace

import pytest
from verify import stopping
from verify.stopping import Row, Stop

import hopsim

SEEDS = 30
"""`verify stopping` runs each of its rows a thousand times."""
ROW = Row(0.3, 0.05)
MEASURED = (Row(0.6, 0.05), Row(0.5, None, 20_000))


@pytest.mark.parametrize("row", MEASURED, ids=lambda row: row.name)
def test_intervals_hold_the_mean(row: Row) -> None:
    stops: list[Stop] = []
    for seed in range(1, SEEDS + 1):
        document = stopping.document(row)
        document["measure"]["seed"] = seed
        stops.append(stopping.stop(hopsim.run(document)))
    latency = stopping.alone() + stopping.waiting(row.load)
    assert stopping.failures(row, stops, latency) == []


def test_wrong_intervals_are_told() -> None:
    good = Stop("reached", 20.0, 0.5, 5000, 2)
    assert stopping.failures(ROW, [good] * 10, 20.1) == []
    assert stopping.failures(ROW, [good] * 14 + [replace(good, latency=19.0)], 20.1) == []
    assert stopping.failures(ROW, [good] * 7 + [replace(good, latency=19.0)] * 3, 20.1) == [
        "load 0.3 to 5%: 70.0% of the intervals hold the mean",
        "load 0.3 to 5%: the mean of all runs is 19.70, not 20.10",
    ]


def test_a_run_that_does_not_stop_by_its_interval_holds_nothing() -> None:
    good = Stop("reached", 20.0, 0.5, 5000, 2)
    assert stopping.failures(ROW, [good] * 9 + [replace(good, why="max cycles")], 20.0) == [
        "load 0.3 to 5%: runs stop with max cycles",
        "load 0.3 to 5%: 90.0% of the intervals hold the mean",
    ]


def test_plain_runs_are_judged_by_their_intervals_alone() -> None:
    plain = Stop(None, 20.0, 0.5, 20_000, None)
    row = Row(0.8, None, 20_000)
    assert stopping.document(row)["measure"] == {"warmup": stopping.WARMUP, "cycles": 20_000}
    assert stopping.failures(row, [plain] * 10, 20.4) == []
    assert stopping.failures(row, [plain] * 9 + [replace(plain, latency=19.0)], 20.0) == [
        "load 0.8 to 20,000 cycles: 90.0% of the intervals hold the mean"
    ]
