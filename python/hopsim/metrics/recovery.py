"""How long it takes after a failure until the network accepts as much as it will: docs/reading-results.md."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Any

from hopsim.files.quantities import nanoseconds
from hopsim.metrics.outages import outages

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hopsim.metrics.outages import Time
    from hopsim.metrics.series import Group
    from hopsim.results.result import Result, Results

KEY = "recovery"
WITHIN = 0.02
"""Of the new plateau."""
TOGETHER = 3
"""Intervals whose mean counts."""
SERIES = frozenset({"timeseries", "flow_series"})
"""The streams that tell, of networks of cycles and of fabrics."""
PLATEAU = 0.25
"""Share of the time behind a failure, the last, that is the plateau."""


@dataclass(frozen=True)
class Recovery:
    """What follows a failure, or a link that becomes slower. Times are cycles; of a fabric nanoseconds.

    Attributes:
        at: when something is not as it was at first.
        end: when the time that is looked at is over.
        plateau: accepted load of the last quarter of it, of a fabric throughput [Gb/s]; None of too few
            intervals.
        time: until that is back; None if it is not.
    """

    at: Time
    end: Time
    plateau: float | None
    time: Time | None


def recoveries(result: Result) -> list[Recovery]:
    """One for each time of a run at which links or routers fail, or links become slower, in order."""
    found = outages(result.config)
    if not found.begins:
        # Of others nobody may know beforehand how long they are.
        return []
    changes = found.begins | found.repairs
    interval, end = _measured(result.config["measure"])
    loads = _accepted(result)
    return [
        recovery(loads, interval, failure, min({end, *(at for at in changes if at > failure)}))
        for failure in sorted(found.begins)
    ]


def _measured(measure: Mapping[str, Any]) -> tuple[Time, Time]:
    """The interval of the series, 0 without one, and the end of the run."""
    if (times := measure.get("time")) is None:
        return measure.get("interval", 0), measure.get("warmup", 0) + measure["cycles"]
    interval, warmup, window = (
        nanoseconds(times.get(key) or "0 s") for key in ("interval", "warmup", "window")
    )
    return interval, warmup + window


def _accepted(result: Result) -> list[float]:
    """By interval of the run: the accepted load, of a fabric the throughput of all flows."""
    if (series := result.tables.get("timeseries")) is not None:
        return [float(load) for load in series.column("accepted_load").to_numpy()]
    if (series := result.tables.get("flow_series")) is None or not series.num_rows:
        return []
    # All flows are in every interval.
    intervals = len(set(series.column("time_s").to_pylist()))
    rates = series.column("throughput_gbps").to_numpy().reshape(intervals, -1)
    return [float(rate) for rate in rates.sum(axis=1)]


def recovery(loads: Sequence[float], interval: Time, failure: Time, end: Time) -> Recovery:
    """What follows a failure, up to another one; `loads`: accepted, by interval of the run."""
    begins = [number * interval for number in range(len(loads))]
    timed = zip(begins, loads, strict=True)
    whole = [(at, load) for at, load in timed if failure <= at and at + interval <= end]
    late = [load for at, load in whole if at >= failure + (1 - PLATEAU) * (end - failure)]
    if len(late) < TOGETHER:
        return Recovery(failure, end, None, None)
    plateau, back = fmean(late), None
    for start in reversed(range(len(whole) - TOGETHER + 1)):
        mean = fmean(load for _, load in whole[start : start + TOGETHER])
        if plateau == 0 or abs(mean - plateau) > WITHIN * plateau:
            break
        back = whole[start][0] - failure
    return Recovery(failure, end, plateau, back)


def has_failures(results: Results) -> bool:
    """Whether in any point, with a series, something fails or becomes slower in the middle of the run."""
    return any(SERIES & result.tables.keys() and outages(result.config).begins for result in results)


def cell(group: Group) -> str:
    """The time after the first failure, on average over the seeds that recover, and of how many these are."""
    first = [found[0].time for result in group.results if (found := recoveries(result))]
    back = [time for time in first if time is not None]
    if not back:
        return "–"
    mean = f"{fmean(back):,.0f}"
    return mean if len(back) == len(first) else f"{mean} ({len(back)} of {len(first)})"
