"""Reaction times and periods of made-up series."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pytest

from hopsim.reaction import NOISE, SIGNIFICANT, TAIL, merge, oscillation_period, reaction_time

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


def test_without_tolerance_and_noise_a_series_settles_on_its_exact_level() -> None:
    assert reaction_time(series(step(20)), CHANGE, tolerance=0.0) == 20


def test_too_few_intervals_for_a_trend_have_no_period() -> None:
    for count in range(2, 6):
        assert oscillation_period(series(lambda since: float(since**2), INTERVAL * count), 0) is None


def test_the_constants_are_those_of_the_documentation() -> None:
    assert (NOISE, TAIL, SIGNIFICANT) == (3.0, 1 / 3, 0.2)


Rows = list[tuple[int, int, float]]
"""First cycle, packets and mean of an interval."""


def plain_merge(runs: list[Rows]) -> Rows:
    """Mean over the packets of all runs, interval by interval."""
    found: Rows = []
    for cycle in sorted({cycle for rows in runs for cycle, packets, _ in rows if packets > 0}):
        same = [
            (packets, mean) for rows in runs for other, packets, mean in rows if other == cycle and packets
        ]
        count = sum(packets for packets, _ in same)
        found.append((cycle, count, sum(packets * mean for packets, mean in same) / count))
    return found


def plain_mean(rows: Rows) -> float:
    """Over packets."""
    return sum(packets * mean for _, packets, mean in rows) / sum(packets for _, packets, _ in rows)


def plain_noise(rows: Rows) -> float:
    """Standard deviation around the straight line of least squares."""
    if len(rows) < 3:
        return 0.0
    centre = sum(cycle for cycle, _, _ in rows) / len(rows)
    level = sum(mean for _, _, mean in rows) / len(rows)
    slope = sum((cycle - centre) * (mean - level) for cycle, _, mean in rows) / sum(
        (cycle - centre) ** 2 for cycle, _, _ in rows
    )
    rest = [mean - level - slope * (cycle - centre) for cycle, _, mean in rows]
    return math.sqrt(sum(value * value for value in rest) / len(rest))


def plain_reaction(
    runs: list[Rows], change: int, tolerance: float, tail: int | None, hold: int | None
) -> int | None:
    """`reaction_time`, from its documentation."""
    rows = plain_merge(runs)
    length = rows[-1][0] - change
    tail_starts = max(length - (length / 3 if tail is None else tail), 0)
    end = [row for row in rows if row[0] - change >= tail_starts]
    level = plain_mean(end)
    step = abs(level - plain_mean([row for row in rows if row[0] < change]))
    band = tolerance * step + 3 * plain_noise(end)
    settled = {cycle - change: abs(mean - level) <= band for cycle, _, mean in rows if cycle >= change}
    for time in settled:
        until = time + (length if hold is None else hold)
        if time <= tail_starts and all(inside for since, inside in settled.items() if time <= since <= until):
            return time
    return None


def random_runs(draw: np.random.Generator) -> list[Rows]:
    """One to three seeds of a step with an approach, a swing, noise and intervals without packets."""
    constant, swing, noise = draw.uniform(1, 250), draw.uniform(0, 60), draw.choice([0.0, 1.0, 8.0, 30.0])
    step, period = draw.uniform(-80, 120), draw.uniform(40, 400)
    first, end = int(draw.integers(1, 30)), int(draw.integers(2, 90))

    def mean(since: int) -> float:
        settled = 1 - math.exp(-since / constant)
        wave = swing * (1 - settled) * math.sin(2 * math.pi * since / period)
        return 150 + (step * settled + wave if since >= 0 else 0) + noise * draw.normal()

    return [
        [
            (
                cycle,
                int(draw.integers(0, 5)) or int(draw.integers(1, 50)) * (cycle % 70 != 0),
                mean(cycle - 300),
            )
            for cycle in range(300 - 10 * first, 300 + 10 * end, 10)
        ]
        for _ in range(draw.integers(1, 4))
    ]


def tables(runs: list[Rows]) -> list[pa.Table]:
    return [
        pa.table(
            {
                "cycle": pa.array([cycle for cycle, _, _ in rows], type=pa.uint32()),
                "packets": [packets for _, packets, _ in rows],
                "latency_mean": [mean if packets else None for _, packets, mean in rows],
            }
        )
        for rows in runs
    ]


@pytest.mark.parametrize("seed", range(40))
def test_the_reaction_time_is_that_of_a_plain_computation(seed: int) -> None:
    draw = np.random.default_rng(seed)
    for _ in range(10):
        runs = random_runs(draw)
        if not any(cycle < 300 and packets for rows in runs for cycle, packets, _ in rows):
            continue
        tail = None if draw.random() < 0.5 else int(draw.integers(0, 400))
        hold = None if draw.random() < 0.5 else int(draw.integers(0, 30)) * 10
        tolerance = float(draw.choice([0.02, 0.1, 0.5]))
        found = reaction_time(tables(runs), 300, tolerance=tolerance, tail=tail, hold=hold)
        assert found == plain_reaction(runs, 300, tolerance, tail, hold)
        if (tolerance, tail, hold) == (0.1, None, None):
            assert reaction_time(tables(runs), 300) == found
        assert type(found) in (int, type(None))


def plain_period(rows: Rows, start: int) -> int | None:
    """`oscillation_period`, from its documentation."""
    rows = [row for row in rows if row[0] >= start]
    interval = rows[1][0] - rows[0][0]
    places = [(cycle - rows[0][0]) / (rows[-1][0] - rows[0][0]) for cycle, _, _ in rows]
    powers = np.array([[place**power for power in range(4)] for place in places])
    values = np.array([mean for _, _, mean in rows])
    rest: list[float] = (values - powers @ np.linalg.lstsq(powers, values, rcond=None)[0]).tolist()
    variance = sum(value * value for value in rest) / len(rest)
    correlation: list[float] = []
    for lag in range(len(rest) // 2):
        pairs = [rest[place] * rest[place + lag] for place in range(len(rest) - lag)]
        correlation.append(sum(pairs) / len(pairs) / variance)
    negative = next((lag for lag, value in enumerate(correlation) if value < 0), None)
    if negative is None:
        return None
    peak = max(range(negative, len(correlation)), key=lambda lag: correlation[lag])
    return peak * interval if correlation[peak] >= 0.2 else None


@pytest.mark.parametrize("seed", range(40))
def test_the_period_is_that_of_a_plain_computation(seed: int) -> None:
    draw = np.random.default_rng(seed)
    period, fade, noise = draw.uniform(60, 500), draw.uniform(100, 2000), draw.choice([0.0, 2.0, 8.0, 15.0])
    rows = [
        (
            cycle,
            5,
            100 + 10 * math.exp(-cycle / fade) * math.cos(6.28 * cycle / period) + noise * draw.normal(),
        )
        for cycle in range(0, int(draw.integers(20, 150)) * 10, 10)
    ]
    found = oscillation_period(tables([rows]), 50)
    assert found == plain_period(rows, 50)
    assert type(found) in (int, type(None))


def test_the_rows_of_a_merged_series_are_those_of_a_plain_computation() -> None:
    draw = np.random.default_rng(3)
    for _ in range(20):
        runs = random_runs(draw)
        merged = merge(tables(runs), "latency_mean")
        expected = plain_merge(runs)
        assert merged.cycles.dtype == np.int64
        assert merged.cycles.tolist() == [cycle for cycle, _, _ in expected]
        assert merged.packets.tolist() == [packets for _, packets, _ in expected]
        assert merged.values.tolist() == pytest.approx([mean for _, _, mean in expected], rel=1e-12)
        chosen = draw.random(len(expected)) < 0.5
        chosen[0] = True
        rows = [row for row, taken in zip(expected, chosen, strict=True) if taken]
        assert merged.mean(chosen) == pytest.approx(plain_mean(rows), rel=1e-12)


def test_packets_on_one_side_of_the_change_only_are_refused_on_either_side() -> None:
    text = "change_cycle 3000: the series has packets on one side of it only"
    with pytest.raises(ValueError, match=f"^{text}$"):
        reaction_time(series(step(0)), 3000)
    assert reaction_time(series(step(0)), 2990) == 0
    assert reaction_time(series(step(0)), INTERVAL) is not None
