"""Runs that find their warm-up or their window by themselves: how long they were in the end, and why."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from hopsim.document.estimate import AUTO

if TYPE_CHECKING:
    from hopsim.document.experiment import Point
    from hopsim.metrics.series import Group
    from hopsim.results.result import Result, Results

KEY = "stop"
END = "end"
WARMUP = "warmup_cycles"
WINDOW = "cycles"
UNSETTLED = "not found"
WORST_FIRST = ("saturated", "max cycles", "reached", "delivered")


def warmup(result: Result) -> int:
    """The warm-up of a run [cycles]."""
    found = result.summary.get(WARMUP)
    # Versions that found none did not say so either; runs of programs have none.
    return int(result.config["measure"].get("warmup", 0) if found is None else found)


def is_adaptive(point: Point) -> bool:
    """Whether a point finds out by itself how long it must be, so that its time is not known beforehand."""
    measure = json.loads(point.config)["measure"]
    return KEY in measure or END in measure or measure.get("warmup") == AUTO


def stops(results: Results) -> bool:
    """Whether any point says why it stopped."""
    return any(result.summary.get(KEY) is not None for result in results)


def finds_warmup(results: Results) -> bool:
    """Whether any point has found its warm-up."""
    return any(result.summary.get("warmup_found") is not None for result in results)


def cell(group: Group) -> str:
    """Why the points of a group stopped: the worst reason, and of how many seeds it is if they disagree."""
    found = [result.summary.get(KEY) for result in group.results]
    why = next((why for why in WORST_FIRST if why in found), None)
    if why is None:
        return "–"
    count = found.count(why)
    return why if count == len(found) else f"{why} ({count} of {len(found)})"


def window_text(measure: Mapping[str, Any]) -> str:
    """Warm-up and window as a document has them, in cycles."""
    before = measure.get("warmup", 0)
    warmed = "a warm-up that is found" if before == AUTO else f"{before:,} of warm-up"
    end, stop = measure.get(END), measure.get(KEY)
    if end is not None:
        until = f"until {end['packets']:,} packets are delivered"
        return f"up to {end['max_cycles']:,} cycles, {until}, after {warmed}"
    if stop is None:
        return f"{measure['cycles']:,} cycles after {warmed}"
    until = f"until {stop['metric']} is known to {100 * stop['relative_ci']:g} %, then anew"
    return f"{measure['cycles']:,} to {stop['max_cycles']:,} cycles, {until}, after {warmed}"
