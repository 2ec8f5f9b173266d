"""How fast a network reacts to a change of traffic, from series by generation cycle.

```python
from hopsim.reaction import oscillation_period, reaction_time

results = hs.sweep(experiment, {"measure.seed": 1}, product={"measure.seed": range(1, 6)})
series = [result.generation_series for result in results]
reaction_time(series, change_cycle=6000)                               # of latency
reaction_time(series, change_cycle=6000, column="misrouted_fraction")  # of routing
```

The experiment needs `changes` in its traffic, `measure.streams = ["generation"]` and an interval
that is short against the reaction.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.polynomial import Polynomial

NOISE = 3.0
"""Standard deviations of single intervals that count as noise around the new level."""

TAIL = 1 / 3
"""Share of the time after the change, at its end, in which the new level is taken as reached."""

SIGNIFICANT = 0.2
"""Least autocorrelation of an oscillation."""


@dataclass(frozen=True)
class Series:
    """A quantity by generation cycle.

    Attributes:
        cycles: first cycle of each interval, ascending.
        values: mean over the packets generated in the interval.
        packets: how many they are.
    """

    cycles: np.ndarray
    values: np.ndarray
    packets: np.ndarray

    def mean(self, chosen: np.ndarray) -> float:
        """Mean over the packets of the chosen intervals."""
        return float(np.average(self.values[chosen], weights=self.packets[chosen]))


def merge(series: pa.Table | Sequence[pa.Table], column: str) -> Series:
    """Series of one or several runs as one, over the packets of all; empty intervals are left out."""
    tables = series if isinstance(series, Sequence) else [series]
    cycles, packets, values = (
        np.concatenate([table.column(name).to_numpy() for table in tables])
        for name in ("cycle", "packets", column)
    )
    counted = packets > 0
    places, index = np.unique(cycles[counted].astype(np.int64), return_inverse=True)
    count = np.bincount(index, weights=packets[counted])
    total = np.bincount(index, weights=packets[counted] * values[counted])
    return Series(places, total / count, count)


def reaction_time(
    series: pa.Table | Sequence[pa.Table],
    change_cycle: int,
    *,
    column: str = "latency_mean",
    tolerance: float = 0.1,
    tail: int | None = None,
    hold: int | None = None,
) -> int | None:
    """Cycles from a change of traffic until packets fare as they will from then on.

    The old level is the mean before the change, the new level the mean over the tail of the series.
    The reaction time is the distance from the change to the first interval that lies within

        tolerance * |new level - old level| + 3 * standard deviation of the tail's intervals

    (around their trend) of the new level and from which on all intervals do so, for `hold` cycles
    or to the end: the settling time of control engineering, by the cycle in which packets are
    generated. It is known to one interval; 0 means that the first interval after the change already
    has the new level.

    Args:
        series: `Result.generation_series` of one run, or of several seeds; the intervals are equal.
        change_cycle: the cycle of the change, warm-up included, the first of an interval.
        column: the quantity, `latency_mean` or `misrouted_fraction`.
        tolerance: share of the step that may be missing.
        tail: cycles at the end that define the new level; a third of those after the change if None.
        hold: cycles that the series has to stay there; to its end if None.

    Returns:
        The reaction time [cycles]; None if the series does not settle before its tail.

    Raises:
        ValueError: no interval before the change, or none after it.
    """
    merged = merge(series, column)
    since = merged.cycles - change_cycle
    before, after = since < 0, since >= 0
    if not before.any() or not after.any():
        raise ValueError(f"change_cycle {change_cycle}: the series has packets on one side of it only")
    length = int(since[-1])
    tail_starts = max(length - (length * TAIL if tail is None else tail), 0)
    end = since >= tail_starts
    level = merged.mean(end)
    noise = float(np.std(_without_trend(merged.cycles[end], merged.values[end])))
    band = tolerance * abs(level - merged.mean(before)) + NOISE * noise
    settled = np.abs(merged.values[after] - level) <= band
    time = _first_that_holds(since[after], settled, length if hold is None else hold)
    return time if time is not None and time <= tail_starts else None


def _first_that_holds(since: np.ndarray, settled: np.ndarray, hold: int) -> int | None:
    """The first time from which all intervals of the next `hold` cycles are settled."""
    unsettled = since[~settled]
    for time in since[settled]:
        later = unsettled[unsettled > time]
        if later.size == 0 or later[0] - time > hold:
            return int(time)
    return None


def oscillation_period(
    series: pa.Table | Sequence[pa.Table], from_cycle: int, *, column: str = "latency_mean"
) -> int | None:
    """Period of an oscillation: the lag of the highest peak of the autocorrelation after it was negative.

    What changes slowly, as a level that is still approaching its end, is taken off before: a cubic.

    Args:
        series: as for `reaction_time`; every interval holds packets.
        from_cycle: the part of the series before this cycle is left out.
        column: the quantity.

    Returns:
        The period [cycles], to one interval; None if there is no peak of at least 0.2.
    """
    merged = merge(series, column)
    chosen = merged.cycles >= from_cycle
    cycles, values = merged.cycles[chosen], merged.values[chosen]
    correlation = _autocorrelation(_without_trend(cycles, values, degree=3))
    negative = np.flatnonzero(correlation < 0)
    if negative.size == 0:
        return None
    rest = correlation[negative[0] :]
    peak = int(np.argmax(rest))
    if rest[peak] < SIGNIFICANT:
        return None
    return int((negative[0] + peak) * (cycles[1] - cycles[0]))


def _without_trend(cycles: np.ndarray, values: np.ndarray, degree: int = 1) -> np.ndarray:
    """What is left after the best polynomial; nothing if there are too few intervals for one."""
    if len(values) < degree + 2:
        return np.zeros(len(values))
    return values - Polynomial.fit(cycles, values, degree)(cycles)


def _autocorrelation(values: np.ndarray) -> np.ndarray:
    """Of lags up to half the series, each over the pairs that have it."""
    variance = float(np.mean(values**2))
    lags = range(max(len(values) // 2, 1))
    if variance == 0:
        return np.zeros(len(lags))
    return np.array([np.mean(values[: len(values) - lag] * values[lag:]) for lag in lags]) / variance
