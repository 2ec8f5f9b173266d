"""How long a network takes to recover from a failure, computed twice."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import hopsim as hs
from hopsim.files.quantities import nanoseconds
from hopsim.metrics.outages import Outages, outages
from hopsim.metrics.recovery import Recovery, has_failures, recoveries, recovery
from hopsim.metrics.summary_table import summary_table
from hopsim.results.result import Result, Results

LEVEL = [Fraction(3, 10)] * 8


def slowly(loads: list[Fraction], interval: int, cycle: int, end: int) -> int | None:
    """As docs/reading-results.md has it: every three intervals tried as the first ones, in exact numbers."""
    begins = [index * interval for index in range(len(loads)) if cycle <= index * interval <= end - interval]
    late = [at for at in begins if 4 * (at - cycle) >= 3 * (end - cycle)]
    if len(late) < 3:
        return None
    load = {at: loads[at // interval] for at in begins}
    plateau = sum(load[at] for at in late) / len(late)

    def is_level(at: int) -> bool:
        three = [load[at + step * interval] for step in range(3)]
        return plateau > 0 and 50 * abs(sum(three) / 3 - plateau) <= plateau

    firsts = begins[: len(begins) - 2]
    levels = [at for at in firsts if all(is_level(later) for later in firsts if later >= at)]
    return min(levels) - cycle if levels else None


def quickly(loads: list[Fraction], interval: int, cycle: int, end: int) -> int | Fraction | None:
    return recovery([float(load) for load in loads], interval, cycle, end).time


def test_a_load_that_does_not_change_is_back_at_once() -> None:
    assert quickly(LEVEL * 3, 100, 800, 2_400) == 0
    assert quickly(LEVEL * 3, 100, 750, 2_400) == 50, "the interval of the failure does not count"


def test_a_load_that_falls_is_back_with_the_first_three_intervals_that_are_level() -> None:
    low, high = Fraction(1, 10), Fraction(5, 10)
    loads = [*LEVEL, low, low, low, high, *LEVEL, *LEVEL]
    # The interval of 1,100 is too high, alone and with others; from 1,200 on all is level.
    assert quickly(loads, 100, 800, 2_800) == 400
    assert recovery([float(load) for load in loads], 100, 800, 2_800).plateau == pytest.approx(0.3)


def test_a_plateau_may_be_lower_than_before() -> None:
    loads = [*LEVEL, Fraction(0), *[Fraction(2, 10)] * 15]
    assert quickly(loads, 100, 800, 2_400) == 100


def test_it_is_never_back_if_it_drifts_or_stands_still() -> None:
    assert quickly([*LEVEL, *[Fraction(1, 10 + step) for step in range(16)]], 100, 800, 2_400) is None
    assert quickly([*LEVEL, *[Fraction(0)] * 16], 100, 800, 2_400) is None


def test_a_plateau_has_three_intervals() -> None:
    # The last quarter begins at 1,700: three intervals of 100, of which the last one is cut off by 1,999.
    assert quickly(LEVEL * 3, 100, 800, 2_000) == 0
    assert recovery([0.3] * 24, 100, 800, 1_999) == Recovery(800, 1_999, None, None)


@pytest.mark.parametrize("seed", range(300))
def test_both_computations_say_the_same_of_random_series(seed: int) -> None:
    draw = random.Random(seed)
    interval, count = draw.choice([7, 50, 100]), draw.randrange(8, 60)
    depth = draw.choice([0, 1, 3, 10, 60])
    loads = [Fraction(draw.randrange(300 - depth, 301 + depth), 1000) for _ in range(count)]
    dip = draw.randrange(count)
    for index in range(dip, min(count, dip + draw.randrange(8))):
        loads[index] = Fraction(draw.randrange(400), 1000)
    cycle = draw.randrange(1, count * interval - 1)
    end = draw.randrange(cycle + 1, count * interval + 1)
    assert quickly(loads, interval, cycle, end) == slowly(loads, interval, cycle, end)


def point(faults: list[dict[str, Any]], loads: list[float], **axes: Any) -> Result:
    table = pa.table({"cycle": [100 * index for index in range(len(loads))], "accepted_load": loads})
    config = {"faults": faults, "measure": {"warmup": 400, "cycles": 3_200, "interval": 100}}
    record = {"config": config, "result": {"accepted_load": 0.3, "seed": axes.get("measure.seed", 1)}}
    return Result(record, axes, {"timeseries": table})


def test_every_failure_is_looked_at_up_to_the_next_change() -> None:
    faults = [{"at": 1_200, "until": 2_800}, {"at": 400}, {"until": 300}, {"at": 1_200}, {}]
    found = recoveries(point(faults, [0.3] * 36))
    assert [(each.at, each.end, each.time) for each in found] == [(400, 1_200, None), (1_200, 2_800, 0)]


def test_a_link_that_becomes_slower_is_looked_at_as_a_failure_is() -> None:
    faults = [{"at": 400, "until": 2_800, "slowdown": 4}, {"at": 1_200}, {"until": 2_000, "slowdown": 2}]
    assert outages({"faults": faults}) == Outages(
        failures=frozenset({1_200}), slowdowns=frozenset({400}), repairs=frozenset({2_000, 2_800})
    )
    found = recoveries(point(faults, [0.3] * 36))
    assert [(each.at, each.end) for each in found] == [(400, 1_200), (1_200, 2_000)]


def test_the_table_has_the_mean_over_seeds_that_recover() -> None:
    fault = [{"at": 1_600}]
    rows = [[0.3] * 36, [0.3] * 16 + [0.1] * 2 + [0.3] * 18, [0.3 * 0.9**index for index in range(36)]]
    points = [point(fault, row, **{"measure.seed": seed}) for seed, row in enumerate(rows, 1)]
    table = summary_table(Results(dict(enumerate(points))))
    assert table.columns[-1].header == "recovery"
    assert list(table.columns[-1].cells) == ["100 (2 of 3)"]
    assert list(summary_table(Results(dict(enumerate(points[2:])))).columns[-1].cells) == ["–"]
    assert not has_failures(Results({0: point([{"links": {}}], rows[0])}))


def test_a_run_says_when_it_has_recovered() -> None:
    result = hs.run(
        "load = 0.2\ntopology.slim_fly.q = 4\nmeasure = { warmup = 0, cycles = 6000, interval = 200 }\n"
        "faults = [{ at = 2000, links.fraction = 0.05, reaction = { detection = 0, reroute = 400 } }]\n",
        progress=False,
    )
    (found,) = recoveries(result)
    loads = [Fraction(float(load)) for load in result.timeseries.column("accepted_load").to_numpy()]
    assert (found.at, found.end) == (2_000, 6_000)
    assert found.time == slowly(loads, 200, 2_000, 6_000)
    assert found.time is not None
    assert found.time > 400


def fabric(faults: list[dict[str, Any]], rates: list[list[float]], **axes: Any) -> Result:
    """A point whose flows have these rates, by interval of 10 us; the window begins at 20 us."""
    ends = [(index + 1) * 1e-5 for index, of_flows in enumerate(rates) for _ in of_flows]
    table = pa.table({"time_s": ends, "throughput_gbps": [rate for of_flows in rates for rate in of_flows]})
    times = {"warmup": "20 us", "window": f"{10 * len(rates) - 20} us", "interval": "10000 ns"}
    record = {
        "config": {"faults": faults, "measure": {"time": times}},
        "result": {"throughput_gbps": 3.0, "seed": axes.get("measure.seed", 1)},
    }
    return Result(record, axes, {"flow_series": table})


def test_of_a_fabric_it_is_the_throughput_of_all_flows_in_nanoseconds() -> None:
    level, dip = [1.0, 2.0], [0.2, 1.0]
    # The last two intervals of the dip are level together: what one flow loses the other has.
    rates = [level] * 8 + [dip] * 3 + [[0.5, 2.5]] * 2 + [level] * 11
    fault = {"time": {"at": "80 us", "until": "0.2 ms"}}
    (found,) = recoveries(fabric([fault, {"links": {}}], rates))
    assert (found.at, found.end, found.time) == (80_000, 200_000, 30_000)
    assert found.plateau == pytest.approx(3)
    table = summary_table(
        Results({0: fabric([fault], rates), 1: fabric([fault], [*rates[:9], *rates[11:], *rates[9:11]])})
    )
    assert table.columns[-1].header == "recovery"
    assert "latencies and recovery in ns" in str(table.caption)
    assert not has_failures(Results({0: fabric([{"time": {"at": "0 s", "until": "90 us"}}], rates)}))


def test_without_a_series_nothing_is_said_of_recovery() -> None:
    run = fabric([{"time": {"at": "80 us"}}], [[1.0]] * 24)
    bare = Result({"config": run.config, "result": run.summary}, {}, {})
    assert not has_failures(Results({0: bare}))
    assert recoveries(bare)[0].time is None
    assert nanoseconds("1.5 ps") == Fraction(3, 2000)


def test_a_fabric_recovers_with_its_last_table() -> None:
    result = hs.run(
        "router = 'infiniband'\ntopology.xgft = { children = [2, 2], parents = [1, 2] }\n"
        "faults = [{ links.between = [[0, 2]], time = { at = '100 us', detection = '1 us', "
        "reroute = '60 us', table_write = '1 us' } }]\n"
        "jobs = [{ messages = { rate = '4 Gb/s', gaps = 'even', bytes = 256 } }]\n"
        "measure.time = { warmup = '0 ns', window = '400 us', interval = '10 us' }\n"
        "measure.streams = ['flow_series']\n",
        progress=False,
    )
    (found,) = recoveries(result)
    ends = np.array(result.flow_series.column("time_s").to_pylist())
    rates = np.array(result.flow_series.column("throughput_gbps").to_pylist())
    loads = [Fraction(float(rates[np.isclose(ends, end)].sum())) for end in sorted(set(ends))]
    assert found.time == slowly(loads, 10_000, 100_000, 400_000)
    # Level from the interval on in which the tables come, or the one behind that.
    assert found.time in {60_000, 70_000}
    lost = np.array(result.flow_series.column("lost").to_pylist())
    assert {round(end * 1e5) for end, count in zip(ends, lost, strict=True) if count} <= set(range(11, 18))
    assert lost.sum() == result.summary["packets_lost"] > 0
