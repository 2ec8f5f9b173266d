"""Intervals of runs that stop by themselves, of a queue in closed form, and that wrong ones are noticed."""

from dataclasses import replace

from verify import stopping
from verify.stopping import Stop

import hopsim

SEEDS = 60


def test_intervals_of_runs_that_stop_by_themselves_hold_the_mean() -> None:
    stops: list[Stop] = []
    for seed in range(1, SEEDS + 1):
        document = stopping.document(0.3, 0.05)
        document["measure"]["seed"] = seed
        stops.append(stopping.stop(hopsim.run(document)))
    latency = stopping.alone() + stopping.waiting(0.3)
    assert stopping.failures("queue", 0.05, stops, latency) == []
    assert all(found.width <= 0.05 * found.latency for found in stops)


def test_wrong_intervals_are_told() -> None:
    good = Stop("reached", 20.0, 0.5, 5000, 1)
    assert stopping.failures("queue", 0.05, [good] * 10, 20.1) == []
    assert stopping.failures("queue", 0.05, [good] * 7 + [replace(good, latency=19.0)] * 3, 20.1) == [
        "queue: 70.0% of the intervals hold the mean",
        "queue: the mean of all runs is 19.70, not 20.10",
    ]
    assert stopping.failures("queue", 0.05, [good, replace(good, why="max cycles")], 20.0) == [
        "queue: runs stop with max cycles"
    ]
