"""Runs points side by side, on threads or by an executor.

What always holds: a finished point is stored before anything else happens to it; an interrupt
stops the running points and loses none that has finished; results do not depend on where and in
which order points ran.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field
from typing import Any

from hopsim import _core
from hopsim.document.estimate import runs_programs
from hopsim.document.experiment import Point
from hopsim.errors import Cancelled, RunError
from hopsim.results.outcome import Outcome
from hopsim.results.result import Result
from hopsim.runs.progress import Silent, Watch
from hopsim.runs.workers import Elsewhere, Finish, Run, Submitted, Threads, Workers

TICK_S = 0.1

Report = Callable[[Point, Result], None]


@dataclass(frozen=True)
class Hooks:
    """What a caller adds to a sweep.

    Attributes:
        finish: called with a finished point, in the thread that has simulated it if that is one of this
            process; returns the result to keep.
        report: called in the calling thread, in order of completion.
        watch: told about progress.
        run: what simulates a resolved configuration, on threads of this process.
    """

    finish: Finish = lambda _, result: result
    report: Report = lambda _, result: None
    watch: Watch = field(default_factory=Silent)
    run: Run = field(default_factory=lambda: _core.run)


def run_points(
    points: Sequence[Point], workers: int | Elsewhere, hooks: Hooks, stored: Mapping[int, Result]
) -> Outcome:
    """Run every point that is not in `stored`, on so many threads or by an executor.

    `stored` points are reported first. Points with the same configuration are simulated once.
    Raises `ConfigError` if workers of an executor have another version, or not the files of the document.
    """
    began = time.monotonic()
    for point in points:
        if point.index in stored:
            hooks.report(point, stored[point.index])
    missing = [point for point in points if point.index not in stored]
    if missing and isinstance(workers, Elsewhere):
        workers.check()
    before = len(points) - len(missing)
    hooks.watch.start(len(points), before, lengths_known=not any(map(runs_programs, missing)))
    try:
        outcome = _Sweep(missing, workers, hooks).run(before)
    finally:
        hooks.watch.stop()
    outcome.finished += before
    outcome.total = len(points)
    outcome.wall_time_s = time.monotonic() - began
    return outcome


def all_cores() -> int:
    """Number of threads this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class _Sweep:
    """Points with the same digest, as one unit of work each."""

    def __init__(self, points: Sequence[Point], workers: int | Elsewhere, hooks: Hooks) -> None:
        self._groups: dict[str, list[Point]] = {}
        for point in points:
            self._groups.setdefault(point.digest, []).append(point)
        self._workers = _workers(workers, len(self._groups), hooks)
        self._hooks = hooks
        self._pending: dict[Future[Any], list[Point]] = {}
        self._outcome = Outcome()

    def run(self, stored: int) -> Outcome:
        """Run everything; an interrupt or an unexpected error stops what still runs here."""
        try:
            for group in self._groups.values():
                self._pending[self._workers.submit(group[0])] = group
            self._collect(stored)
        except KeyboardInterrupt:
            self._outcome.interrupted = True
            self._stop()
            self._collect(stored)
        finally:
            self._stop()
        self._count_threads()
        return self._outcome

    def _count_threads(self) -> None:
        shared = [monitor for monitor in self._workers.monitors if monitor.threads_used > 1]
        if shared:
            self._outcome.threads_used = max(monitor.threads_used for monitor in shared)
            self._outcome.waited = statistics.fmean(monitor.waited for monitor in shared)

    def _collect(self, stored: int) -> None:
        total = stored + sum(len(group) for group in self._pending.values())
        while self._pending:
            done, _ = wait(self._pending, timeout=TICK_S, return_when=FIRST_COMPLETED)
            for future in done:
                self._take(future, self._pending[future])
                del self._pending[future]
            running = sum(len(group) for group in self._pending.values())
            self._hooks.watch.tick(total - running, self._workers.monitors)

    def _take(self, future: Future[Any], group: list[Point]) -> None:
        try:
            result = self._workers.keep(group[0], future)
        except Cancelled:
            return
        except RunError as error:
            self._outcome.failures.update({point.index: str(error) for point in group})
            return
        self._outcome.finished += len(group)
        for point in group:
            record = result.record | {"jobs": result.jobs}
            self._hooks.report(point, Result(record, point.axes, result.tables, point.labels))

    def _stop(self) -> None:
        self._pending = {future: self._pending[future] for future in self._workers.stop(self._pending)}


def _workers(workers: int | Elsewhere, points: int, hooks: Hooks) -> Workers:
    if isinstance(workers, int):
        return Threads(workers, points, hooks.finish, hooks.run)
    return Submitted(workers, hooks.finish)
