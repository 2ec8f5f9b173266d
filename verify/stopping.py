"""Runs that stop by themselves, of a queue whose mean has a closed form: how often it is in the interval."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean
from typing import Any

from rich.table import Table

import hopsim
from hopsim import Result
from verify.options import Options
from verify.simulate import Document

LENGTH = 8
"""Of packets [phits]."""
LOADS = (0.3, 0.6, 0.8)
WIDTHS = (0.05, 0.02)
"""Relative half widths asked for."""
RUNS = 400
"""Seeds of each."""
COVERAGE = 0.8
"""Least share of the intervals, of those of 95 % each, that must hold the mean."""
BIAS = 0.25
"""Greatest difference of the mean of all runs from the closed form, over the half width asked for."""
MOST = 3_000_000
"""Greatest window [cycles]."""
QUIET = 0.001
"""A load at which next to no packet waits."""


@dataclass(frozen=True)
class Stop:
    """How a run stopped.

    Attributes:
        why: the column `stop`.
        latency: mean packet latency [cycles].
        width: half width of its interval [cycles].
        window: how long it was [cycles].
        attempts: windows that it simulated.
    """

    why: str
    latency: float
    width: float
    window: int
    attempts: int


def document(load: float, width: float | None = None) -> Document:
    """Two nodes that send to each other: each is a queue that serves a packet for a cycle per phit."""
    measure: dict[str, Any] = {"warmup": 1000, "cycles": 20_000}
    if width is not None:
        measure = {"warmup": "auto", "cycles": 5_000, "stop": {"relative_ci": width, "max_cycles": MOST}}
    traffic = {"process": {"bernoulli": {"load": load}}, "packet_length": LENGTH}
    return {"topology": {"mesh": {"sides": [2]}}, "jobs": [{"traffic": traffic}], "measure": measure}


def waiting(load: float) -> float:
    """Mean wait in the queue, whose arrivals are independent from cycle to cycle (Geo/D/1) [cycles]."""
    return load * (LENGTH - 1) / (2 * (1 - load))


def alone() -> float:
    """The latency of a packet that does not wait [cycles]."""
    return hopsim.run(document(QUIET)).summary["packet_latency_p50"]


def stop(result: Result) -> Stop:
    """How a run stopped."""
    summary = result.summary
    latency, width = summary["packet_latency_mean"], summary["packet_latency_mean_ci95"]
    return Stop(summary["stop"], latency, width, summary["cycles"], summary["stop_attempts"])


def coverage(stops: list[Stop], latency: float) -> float:
    """The share of the intervals that hold a latency."""
    return fmean(abs(found.latency - latency) <= found.width for found in stops)


def failures(name: str, width: float, stops: list[Stop], latency: float) -> list[str]:
    """What must not be."""
    wrong: list[str] = []
    others = {found.why for found in stops} - {"reached"}
    if others:
        wrong.append(f"{name}: runs stop with {', '.join(sorted(others))}")
    if (held := coverage(stops, latency)) < COVERAGE:
        wrong.append(f"{name}: {held:.1%} of the intervals hold the mean")
    mean = fmean(found.latency for found in stops)
    if abs(mean / latency - 1) > BIAS * width:
        wrong.append(f"{name}: the mean of all runs is {mean:.2f}, not {latency:.2f}")
    return wrong


def check(options: Options) -> int:
    """Run all cases and count what must not be."""
    cases = [(load, width) for load in LOADS for width in WIDTHS if options.selects(_name(load, width))]
    rows = options.simulate([document(load, width) for load, width in cases], RUNS, stop)
    shown = Table(title=f"Intervals of {RUNS} runs each that stop by themselves", title_justify="left")
    for heading in (
        "load",
        "asked for",
        "hold the mean",
        "mean latency",
        "closed form",
        "window",
        "attempts",
    ):
        shown.add_column(heading, justify="right")
    base, wrong = alone(), list[str]()
    for (load, width), stops in zip(cases, rows, strict=True):
        latency = base + waiting(load)
        wrong += failures(_name(load, width), width, stops, latency)
        mean, window = fmean(found.latency for found in stops), fmean(found.window for found in stops)
        attempts = fmean(found.attempts for found in stops)
        cells = (f"{coverage(stops, latency):.1%}", f"{mean:.2f}", f"{latency:.2f}", f"{window:,.0f}")
        shown.add_row(str(load), f"{width:.0%}", *cells, f"{attempts:.1f}")
    options.console.print(shown)
    for reason in wrong:
        options.console.print(reason)
    return len(wrong)


def _name(load: float, width: float) -> str:
    return f"load {load} to {width:.0%}"
