"""Numbers read off curves and statements about them, against lines whose values are written down here."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from hopsim.results.result import Result
from hopsim_reproduce import claims
from hopsim_reproduce.claims import Value
from hopsim_reproduce.model import Comparison, Fact, Measured
from hopsim_reproduce.panels import ACCEPTED, LATENCY, RATIO, Case, Panel, Place, Points

Read = Callable[..., Value]
"""Makes a value: when a test runs, not before."""

WAIT = "waiting"
SEEDS = (-0.5, 0.5)
"""Two seeds differ from their mean by this much: the sample's standard deviation is the root of 1/2."""

LINES: dict[str, dict[Place, dict[str, float | None]]] = {
    "up": {
        0.1: {ACCEPTED: 1.0, LATENCY: 40.0, WAIT: 3.0},
        0.2: {ACCEPTED: 2.0, LATENCY: 50.0, WAIT: 8.0},
        0.3: {ACCEPTED: 8.0, LATENCY: 60.0, WAIT: 5.0},
        0.4: {ACCEPTED: 4.0, LATENCY: 80.0, WAIT: 9.0},
    },
    "flat": {
        0.1: {ACCEPTED: 1.5, LATENCY: 20.0, WAIT: None},
        0.2: {ACCEPTED: 2.0, LATENCY: 20.0, WAIT: 4.0},
        0.3: {ACCEPTED: 2.5, LATENCY: 30.0, WAIT: 4.0},
    },
    "named": {"first": {ACCEPTED: 6.0, LATENCY: 7.0}, "last": {ACCEPTED: 3.0, LATENCY: 9.0}},
    "stopped": {0.6: {ACCEPTED: 0.5}, 0.75: {}, 1.0: {}, "all": {}},
    "nothing": {1.0: {}},
    "zero": {0.1: {ACCEPTED: 0.0, LATENCY: 0.0}},
}


def points(title: str = "UN") -> Points:
    """A figure of one panel; where nothing is written down a run has ended in a deadlock."""
    cases = {
        line: {place: Case(f"{line} {place}", {}, None, may_deadlock=True) for place in values}
        for line, values in LINES.items()
    }
    results = {
        f"{line} {place}": [run(summary, apart) for apart in SEEDS] if summary else []
        for line, values in LINES.items()
        for place, summary in values.items()
    }
    return Points([Panel(title, cases)], results)


def run(summary: Mapping[str, float | None], apart: float) -> Result:
    values: dict[str, Any] = {
        key: None if value is None else value + apart * (value != 0) for key, value in summary.items()
    }
    return Result({"config": {}, "result": values}, {}, {})


def exactly(value: float) -> Measured:
    return Measured(value, 0.0, 1)


def of_seeds(mean: float) -> Measured:
    return Measured(mean, math.sqrt(0.5), 2)


@pytest.mark.parametrize(
    ("read", "given", "label", "found"),
    [
        (claims.peak, ("UN", "up"), "peak of up", 8.0),
        (claims.peak, ("UN", "named"), "peak of named", 6.0),
        (claims.at_end, ("UN", "up"), "up at the last point", 4.0),
        (claims.at_end, ("UN", "up", LATENCY), "up at the last point", 80.0),
        (claims.at_end, ("UN", "up", WAIT), "up at the last point (waiting)", 9.0),
        (claims.at_start, ("UN", "up"), "up at the first point", 1.0),
        (claims.at_start, ("UN", "up", LATENCY), "up at the first point", 40.0),
        (claims.at_start, ("UN", "up", WAIT), "up at the first point (waiting)", 3.0),
        # A place without the quantity is none of the line's.
        (claims.at_start, ("UN", "flat", WAIT), "flat at the first point (waiting)", 4.0),
        (claims.at_end, ("UN", "stopped"), "stopped at the last point", 0.5),
        (claims.at_place, ("UN", "up", 0.3), "up at 0.3", 60.0),
        (claims.at_place, ("UN", "up", 0.3, ACCEPTED), "up at 0.3", 8.0),
        (claims.at_place, ("UN", "up", 0.3, WAIT), "up at 0.3 (waiting)", 5.0),
        (claims.at_place, ("UN", "named", "first"), "named at first", 7.0),
        (claims.highest, ("UN", "up", WAIT, 0.3), "highest of up up to 0.3 (waiting)", 8.0),
        (claims.highest, ("UN", "up", WAIT, 0.4), "highest of up up to 0.4 (waiting)", 9.0),
        (claims.highest, ("UN", "up", ACCEPTED, 0.2), "highest of up up to 0.2", 2.0),
    ],
)
def test_a_value_is_the_mean_over_seeds_at_its_place(
    read: Read, given: tuple[Any, ...], label: str, found: float
) -> None:
    value = read(*given)
    assert value.label == label
    assert value.of(points()) == of_seeds(found)


@pytest.mark.parametrize(("wanted", "nearest"), [(0.0, 40.0), (0.16, 50.0), (0.34, 60.0), (7, 80.0)])
def test_at_a_place_is_at_the_nearest_one(wanted: float, nearest: float) -> None:
    value = claims.at_place("UN", "up", wanted)
    assert value.label == f"up at {wanted:g}"
    assert value.of(points()) == of_seeds(nearest)


@pytest.mark.parametrize(("below", "place"), [(0.1, 0.1), (0.19, 0.1), (0.2, 0.2), (0.39, 0.2), (1.0, 0.4)])
def test_the_place_of_the_highest_value_is_one_up_to_the_limit(below: float, place: float) -> None:
    value = claims.place_of_highest("UN", "up", WAIT, below)
    assert value.label == f"place of the highest of up up to {below:g} (waiting)"
    assert value.of(points()) == exactly(place)
    assert claims.place_of_highest("UN", "up", ACCEPTED, 0.3).label == "place of the highest of up up to 0.3"


@pytest.mark.parametrize(
    ("read", "given"),
    [
        (claims.peak, ("UN", "nothing")),
        (claims.at_end, ("UN", "nothing")),
        (claims.at_start, ("UN", "nothing")),
        (claims.at_place, ("UN", "nothing", 1.0)),
        (claims.highest, ("UN", "nothing", WAIT, 1.0)),
        (claims.highest, ("UN", "up", WAIT, 0.05)),
        (claims.place_of_highest, ("UN", "nothing", WAIT, 1.0)),
        (claims.place_of_highest, ("UN", "up", WAIT, 0.05)),
    ],
)
def test_a_line_without_points_has_no_value(read: Read, given: tuple[Any, ...]) -> None:
    assert read(*given).of(points()) is None


def peak(line: str) -> Value:
    return claims.peak("UN", line)


@pytest.mark.parametrize(
    ("limits", "criterion", "holds"),
    [
        ((8.0, None), "peak of up at least 8", True),
        ((8.25, None), "peak of up at least 8.25", False),
        ((None, 8.0), "peak of up at most 8", True),
        ((None, 7.5), "peak of up at most 7.5", False),
        ((7.5, 8.5), "peak of up from 7.5 to 8.5", True),
        ((8.5, 9.5), "peak of up from 8.5 to 9.5", False),
        ((6.5, 7.5), "peak of up from 6.5 to 7.5", False),
    ],
)
def test_a_value_is_in_its_limits(
    limits: tuple[float | None, float | None], criterion: str, holds: bool
) -> None:
    low, high = limits
    assert claims.between("s", peak("up"), low, high)(points()) == Fact("s", criterion, "8", holds)


@pytest.mark.parametrize(
    ("limits", "criterion", "holds"),
    [
        ((3.2, None), "peak of up / peak of flat at least 3.2", True),
        ((3.25, None), "peak of up / peak of flat at least 3.25", False),
        ((None, 3.2), "peak of up / peak of flat at most 3.2", True),
        ((None, 3.1), "peak of up / peak of flat at most 3.1", False),
        ((3.1, 3.3), "peak of up / peak of flat from 3.1 to 3.3", True),
    ],
)
def test_a_ratio_is_that_of_the_means(
    limits: tuple[float | None, float | None], criterion: str, holds: bool
) -> None:
    low, high = limits
    fact = Fact("s", criterion, "3.2 = 8 / 2.5", holds)
    assert claims.ratio("s", peak("up"), peak("flat"), low, high)(points()) == fact
    assert claims.peaks("s", "UN", ("up", "flat"), low, high)(points()) == fact


def test_a_ratio_of_latencies_is_that_at_the_load() -> None:
    claim = claims.latencies("s", ("UN", 0.3), ("up", "flat"), 1.5, 2.5)
    assert claim(points()) == Fact("s", "up at 0.3 / flat at 0.3 from 1.5 to 2.5", "2 = 60 / 30", True)
    assert not claims.latencies("s", ("UN", 0.3), ("up", "flat"), high=1.5)(points()).holds
    assert not claims.latencies("s", ("UN", 0.3), ("up", "flat"), low=2.5)(points()).holds


def test_what_does_not_exist_is_in_no_limits() -> None:
    assert claims.between("s", peak("nothing"), 0.0)(points()) == Fact(
        "s", "peak of nothing at least 0", "does not exist", False
    )
    for pair in ((peak("up"), peak("nothing")), (peak("nothing"), peak("up"))):
        fact = claims.ratio("s", *pair, 0.0)(points())
        assert (fact.found, fact.holds) == ("does not exist", False)
    # A ratio over nothing does not exist, and its parts do.
    zero = claims.ratio("s", peak("up"), peak("zero"), 0.0)(points())
    assert (zero.found, zero.holds) == ("does not exist = 8 / 0", False)


@pytest.mark.parametrize(
    ("line", "found", "holds"),
    [
        ("up", "no deadlock", False),
        ("stopped", "at load 0.75, 1", True),
        ("nothing", "at load 1", True),
    ],
)
def test_a_deadlock_is_a_place_without_results(line: str, found: str, holds: bool) -> None:
    fact = claims.deadlocks("s", "UN", line)(points())
    assert fact == Fact("s", f"{line}: a deadlock is reported", found, holds)


def test_a_published_number_stands_beside_ours() -> None:
    found = claims.number("row", "quantity", peak("up"), 7.5)(points())
    assert found == Comparison("row", "quantity", of_seeds(8.0), 7.5, 3, allowed=0.75)
    assert claims.number("row", "quantity", peak("up"), -7.5)(points()).allowed == 0.75
    assert claims.number("row", "quantity", peak("up"), 7.5, allowed=0.5)(points()).allowed == 0.5
    assert claims.number("row", "quantity", peak("up"), 7.5, 1)(points()).decimals == 1
    assert claims.number("row", "quantity", peak("nothing"), 7.5)(points()).ours is None


def test_a_gain_is_by_how_much_a_ratio_is_above_1_in_percent() -> None:
    found = claims.gain("row", "peak", (peak("up"), peak("flat")), 200.0)(points())
    assert found.ours is not None
    assert found.ours.mean == pytest.approx(220.0)  # 100 · (8 / 2.5 - 1)
    assert found == Comparison("row", "peak [%]", found.ours, 200.0, 1, allowed=20.0)
    assert (found.ours.std, found.ours.seeds) == (0.0, 1)
    assert claims.gain("row", "peak", (peak("up"), peak("nothing")), 200.0)(points()).ours is None


def test_a_number_is_told_with_four_digits() -> None:
    value = Value("v", lambda _: exactly(1234.567))
    assert claims.between("s", value, 0.0)(points()).found == "1235"
    third = claims.ratio("s", value, Value("w", lambda _: exactly(3 * 1234.567)), 0.0)(points())
    assert third.found == "0.3333 = 1235 / 3704"


def test_a_ratio_of_injection_is_named_with_its_key() -> None:
    assert claims.at_end("UN", "up", RATIO).label == "up at the last point (router_injection_max_min_ratio)"
