"""Reaction times and periods of made-up series."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pytest

from hopsim.reaction import merge, oscillation_period, reaction_time

INTERVAL = 10
CHANGE = 1000


def series(value: Callable[[int], float], end: int = 3000, packets: int = 100) -> pa.Table:
    """`value` of the cycles since the change, in every interval."""
    cycles = range(0, end, INTERVAL)
    values = [value(cycle - CHANGE) for cycle in cycles]
    columns = {"packets": [packets] * len(values), "latency_mean": values}
    return pa.table({"cycle": pa.array(cycles, type=pa.uint32()), **columns})


def step(at: int) -> Callable[[int], float]:
    return lambda since: 100.0 if since < at else 200.0


@pytest.mark.parametrize("delay", [0, 10, 700])
def test_a_late_step_is_the_reaction(delay: int) -> None:
    assert reaction_time(series(step(delay)), CHANGE) == delay


def test_an_exponential_approach_ends_where_a_tenth_is_missing() -> None:
    constant = 80.0
    approach = series(lambda since: 100 if since < 0 else 200 - 100 * math.exp(-since / constant))
    assert reaction_time(approach, CHANGE) == pytest.approx(constant * math.log(10), abs=INTERVAL)
    wide = reaction_time(approach, CHANGE, tolerance=0.5)
    assert wide == pytest.approx(constant * math.log(2), abs=INTERVAL)


def test_a_bump_counts_until_it_is_over() -> None:
    assert reaction_time(series(lambda since: 300.0 if 0 <= since < 50 else step(0)(since)), CHANGE) == 50


def test_noise_of_the_tail_is_no_reaction() -> None:
    noise = np.random.default_rng(1).normal(0, 5, 10_000)
    noisy = series(lambda since: step(40)(since) + noise[since + CHANGE])
    assert reaction_time(noisy, CHANGE, hold=500) == 40


def test_hold_forgives_what_happens_later() -> None:
    late = series(lambda since: 400.0 if since == 600 else step(20)(since))
    assert reaction_time(late, CHANGE) == 610
    assert reaction_time(late, CHANGE, hold=300) == 20


def test_a_series_that_still_rises_has_not_settled() -> None:
    assert reaction_time(series(lambda since: 100.0 + max(since, 0)), CHANGE) is None


def test_another_column_and_several_seeds() -> None:
    tables = [series(step(at)).rename_columns(["cycle", "packets", "misrouted_fraction"]) for at in (30, 50)]
    assert reaction_time(tables, CHANGE, column="misrouted_fraction") == 50


def test_seeds_are_merged_over_packets_and_empty_intervals_left_out() -> None:
    first = pa.table({"cycle": [0, 10], "packets": [1, 0], "latency_mean": [100.0, None]})
    second = pa.table({"cycle": [0, 20], "packets": [3, 1], "latency_mean": [200.0, 50.0]})
    merged = merge([first, second], "latency_mean")
    assert merged.cycles.tolist() == [0, 20]
    assert merged.values.tolist() == [175.0, 50.0]
    assert merged.packets.tolist() == [4, 1]


def test_a_change_outside_the_series_is_refused() -> None:
    with pytest.raises(ValueError, match="change_cycle 0: the series has packets on one side of it only"):
        reaction_time(series(step(0)), 0)


def test_the_period_of_a_damped_oscillation() -> None:
    swing = series(
        lambda since: 200 + 50 * math.exp(-max(since, 0) / 3000) * math.cos(2 * math.pi * since / 600), 5000
    )
    assert oscillation_period(swing, CHANGE) == pytest.approx(600, abs=2 * INTERVAL)


def test_the_period_of_an_oscillation_around_a_level_that_still_sinks() -> None:
    def value(since: int) -> float:
        swing = 5 * math.exp(-max(since, 0) / 600) * math.cos(2 * math.pi * since / 600)
        return 290 + 20 * math.exp(-max(since, 0) / 900) + swing

    assert oscillation_period(series(value, 5000), CHANGE) == pytest.approx(600, rel=0.1)


def test_noise_and_constants_have_no_period() -> None:
    noise = np.random.default_rng(2).normal(0, 5, 10_000)
    assert oscillation_period(series(lambda since: noise[since + CHANGE], 6000), CHANGE) is None
    assert oscillation_period(series(lambda _: 200.0), CHANGE) is None
