"""How long it takes after a failure until the network accepts as much as it will: docs/reading-results.md."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hopsim.metrics.series import Group
    from hopsim.results.result import Result, Results

KEY = "recovery"
WITHIN = 0.02
"""Of the new plateau."""
TOGETHER = 3
"""Intervals whose mean counts."""
PLATEAU = 0.25
"""Share of the time behind a failure, the last, that is the plateau."""


@dataclass(frozen=True)
class Recovery:
    """What follows a failure.

    Attributes:
        cycle: the first cycle in which something is out of order.
        end: the cycle behind the time that is looked at.
        plateau: accepted load of the last quarter of it; None of too few intervals.
        cycles: time until the accepted load is back; None if it is not.
    """

    cycle: int
    end: int
    plateau: float | None
    cycles: int | None


def recoveries(result: Result) -> list[Recovery]:
    """One for each cycle of a run in which links or routers fail, in order."""
    faults = result.config.get("faults", [])
    measure = result.config["measure"]
    failures = {fault["at"] for fault in faults if fault.get("at", 0) > 0}
    if not failures:
        # Of others nobody may know beforehand how long they are.
        return []
    changes = failures | {fault["until"] for fault in faults if fault.get("until") is not None}
    end = measure.get("warmup", 0) + measure["cycles"]
    series = result.tables.get("timeseries")
    loads = [] if series is None else [float(load) for load in series.column("accepted_load").to_numpy()]
    return [
        recovery(loads, measure.get("interval", 0), cycle, min({end, *(at for at in changes if at > cycle)}))
        for cycle in sorted(failures)
    ]


def recovery(loads: Sequence[float], interval: int, cycle: int, end: int) -> Recovery:
    """What follows a failure in some cycle, up to another one; `loads`: accepted, by interval of the run."""
    begins = [number * interval for number in range(len(loads))]
    timed = zip(begins, loads, strict=True)
    whole = [(at, load) for at, load in timed if cycle <= at and at + interval <= end]
    late = [load for at, load in whole if at >= cycle + (1 - PLATEAU) * (end - cycle)]
    if len(late) < TOGETHER:
        return Recovery(cycle, end, None, None)
    plateau, back = fmean(late), None
    for start in reversed(range(len(whole) - TOGETHER + 1)):
        mean = fmean(load for _, load in whole[start : start + TOGETHER])
        if plateau == 0 or abs(mean - plateau) > WITHIN * plateau:
            break
        back = whole[start][0] - cycle
    return Recovery(cycle, end, plateau, back)


def has_failures(results: Results) -> bool:
    """Whether in any point, with a time series, something fails in the middle of the run."""
    return any("timeseries" in result.tables and recoveries(result) for result in results)


def cell(group: Group) -> str:
    """The time after the first failure, on average over the seeds that recover, and of how many these are."""
    first = [found[0].cycles for result in group.results if (found := recoveries(result))]
    back = [cycles for cycles in first if cycles is not None]
    if not back:
        return "–"
    mean = f"{fmean(back):,.0f}"
    return mean if len(back) == len(first) else f"{mean} ({len(back)} of {len(first)})"
