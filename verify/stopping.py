"""Intervals of 95 % of queues whose mean latency has a closed form: how often they hold it.

Of runs that stop by themselves, at several loads and widths asked for, and of plain runs with a window of
20,000 cycles and more. A row has `RUNS` runs that differ in their seed; at least `COVERAGE` of them must hold
the mean. A run that does not stop by its interval holds nothing, and fails the check besides.
"""

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
STOPPING = ((0.3, 0.05), (0.3, 0.02), (0.6, 0.05), (0.6, 0.02), (0.8, 0.05))
"""Loads, and relative half widths asked for."""
PLAIN = ((0.3, 20_000), (0.5, 20_000), (0.6, 20_000), (0.8, 20_000), (0.9, 100_000))
"""Loads and windows of plain runs [cycles]."""
RUNS = 1000
"""Seeds of each row."""
COVERAGE = 0.93
"""Least share of the intervals, of those of 95 % each, that must hold the mean."""
BIAS = 0.25
"""Greatest difference of the mean of all runs from the closed form, over the half width asked for."""
MOST = 10_000_000
"""Greatest window [cycles]."""
WARMUP = 10_000
"""Of plain runs [cycles]."""
QUIET = 0.001
"""A load at which next to no packet waits."""


@dataclass(frozen=True)
class Stop:
    """How a run stopped.

    Attributes:
        why: the column `stop`, None of a plain run.
        latency: mean packet latency [cycles].
        width: half width of its interval [cycles].
        window: how long it was [cycles].
        attempts: windows that it simulated, None of a plain run.
    """

    why: str | None
    latency: float
    width: float
    window: int
    attempts: int | None


@dataclass(frozen=True)
class Row:
    """Runs that differ in their seed.

    Attributes:
        load: of each of both queues.
        width: relative half width asked for, None of plain runs.
        window: of plain runs [cycles].
    """

    load: float
    width: float | None = None
    window: int = 20_000

    @property
    def asked(self) -> str:
        """What is asked for."""
        return f"{self.window:,} cycles" if self.width is None else f"{self.width:.0%}"

    @property
    def name(self) -> str:
        """For people, and for `--rows`."""
        return f"load {self.load} to {self.asked}"


ROWS = (
    *(Row(load, width) for load, width in STOPPING),
    *(Row(load, None, window) for load, window in PLAIN),
)


def document(row: Row) -> Document:
    """Two nodes that send to each other: each is a queue that serves a packet for a cycle per phit."""
    measure: dict[str, Any] = {"warmup": WARMUP, "cycles": row.window}
    if row.width is not None:
        stop = {"relative_ci": row.width, "max_cycles": MOST}
        measure = {"warmup": "auto", "cycles": 5_000, "stop": stop}
    traffic = {"process": {"bernoulli": {"load": row.load}}, "packet_length": LENGTH}
    return {"topology": {"mesh": {"sides": [2]}}, "jobs": [{"traffic": traffic}], "measure": measure}


def waiting(load: float) -> float:
    """Mean wait in the queue, whose arrivals are independent from cycle to cycle (Geo/D/1) [cycles]."""
    return load * (LENGTH - 1) / (2 * (1 - load))


def alone() -> float:
    """The latency of a packet that does not wait [cycles]."""
    return hopsim.run(document(Row(QUIET))).summary["packet_latency_p50"]


def stop(result: Result) -> Stop:
    """How a run stopped."""
    summary = result.summary
    latency, width = summary["packet_latency_mean"], summary["packet_latency_mean_ci95"]
    return Stop(summary["stop"], latency, width, summary["cycles"], summary["stop_attempts"])


def coverage(stops: list[Stop], latency: float) -> float:
    """The share of the runs that stop by their interval, or are plain, and hold a latency in it."""
    held = [found.why in (None, "reached") and abs(found.latency - latency) <= found.width for found in stops]
    return fmean(held)


def failures(row: Row, stops: list[Stop], latency: float) -> list[str]:
    """What must not be."""
    name, wrong = row.name, list[str]()
    others = {str(found.why) for found in stops} - {"None" if row.width is None else "reached"}
    if others:
        wrong.append(f"{name}: runs stop with {', '.join(sorted(others))}")
    if (held := coverage(stops, latency)) < COVERAGE:
        wrong.append(f"{name}: {held:.1%} of the intervals hold the mean")
    mean = fmean(found.latency for found in stops)
    if row.width is not None and abs(mean / latency - 1) > BIAS * row.width:
        wrong.append(f"{name}: the mean of all runs is {mean:.2f}, not {latency:.2f}")
    return wrong


def check(options: Options) -> int:
    """Run all rows and count what must not be."""
    selected = [row for row in ROWS if options.selects(row.name)]
    found = options.simulate([document(row) for row in selected], RUNS, stop)
    shown = Table(title=f"Intervals of 95 %, {RUNS} runs each", title_justify="left")
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
    for row, stops in zip(selected, found, strict=True):
        latency = base + waiting(row.load)
        wrong += failures(row, stops, latency)
        mean, window = fmean(found.latency for found in stops), fmean(found.window for found in stops)
        attempts = [found.attempts for found in stops if found.attempts is not None]
        cells = (f"{coverage(stops, latency):.1%}", f"{mean:.2f}", f"{latency:.2f}", f"{window:,.0f}")
        shown.add_row(str(row.load), row.asked, *cells, f"{fmean(attempts):.1f}" if attempts else "–")
    options.console.print(shown)
    for reason in wrong:
        options.console.print(reason)
    return len(wrong)
