"""Runs points on a pool of threads; the simulator releases the GIL, so threads are enough.

What always holds: a finished point is stored before anything else happens to it; an interrupt
stops the running points and loses none that has finished; results do not depend on the number
of threads.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field

from hopsim import _core, tables
from hopsim.errors import Cancelled, RunError
from hopsim.experiment import Point
from hopsim.progress import Silent, Watch
from hopsim.results import Result

TICK_S = 0.1

Finish = Callable[[Point, Result], Result]
Report = Callable[[Point, Result], None]


@dataclass
class Outcome:
    """How a sweep ended.

    Attributes:
        finished: points that have a result, stored ones too.
        total: points of the experiment.
        failures: point number -> why it could not finish.
        interrupted: Ctrl-C (or SIGTERM) stopped it.
        wall_time_s: from start to end [s].
    """

    finished: int = 0
    total: int = 0
    failures: dict[int, str] = field(default_factory=dict[int, str])
    interrupted: bool = False
    wall_time_s: float = 0.0


@dataclass(frozen=True)
class Hooks:
    """What a caller adds to a sweep.

    Attributes:
        finish: called in the worker thread with a finished point; returns the result to keep.
        report: called in the calling thread, in order of completion.
        watch: told about progress.
    """

    finish: Finish = lambda _, result: result
    report: Report = lambda _, result: None
    watch: Watch = field(default_factory=Silent)


def simulate(point: Point, monitor: _core.Monitor) -> Result:
    """Run one point. Raises `RunError`, `Cancelled`."""
    run = _core.run(point.config, monitor)
    record = {
        "config": json.loads(point.config),
        "result": json.loads(run.summary),
        "jobs": json.loads(run.jobs),
    }
    recorded = {name: tables.from_buffers(columns) for name, columns in run.tables.items()}
    return Result(record, point.axes, recorded, point.labels)


def run_points(points: Sequence[Point], workers: int, hooks: Hooks, stored: Mapping[int, Result]) -> Outcome:
    """Run every point that is not in `stored`, on `workers` threads.

    `stored` points are reported first. Points with the same configuration are simulated once.
    """
    began = time.monotonic()
    for point in points:
        if point.index in stored:
            hooks.report(point, stored[point.index])
    missing = [point for point in points if point.index not in stored]
    pool = _Pool(missing, workers, hooks)
    hooks.watch.start(len(points), len(stored))
    try:
        outcome = pool.run(len(stored))
    finally:
        hooks.watch.stop()
    outcome.finished += len(stored)
    outcome.total = len(points)
    outcome.wall_time_s = time.monotonic() - began
    return outcome


def all_cores() -> int:
    """Number of threads this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class _Pool:
    """Points with the same digest, as one unit of work each, on a thread pool."""

    def __init__(self, points: Sequence[Point], workers: int, hooks: Hooks) -> None:
        self._groups: dict[str, list[Point]] = {}
        for point in points:
            self._groups.setdefault(point.digest, []).append(point)
        self._workers = workers
        self._hooks = hooks
        self._monitors = {digest: _core.Monitor() for digest in self._groups}
        self._pending: dict[Future[Result], list[Point]] = {}
        self._stopping = False
        self._outcome = Outcome()

    def run(self, stored: int) -> Outcome:
        """Run everything; an interrupt or an unexpected error stops the points that still run."""
        pool = ThreadPoolExecutor(self._workers, thread_name_prefix="hopsim")
        try:
            for group in self._groups.values():
                self._pending[pool.submit(self._work, group[0])] = group
            self._collect(stored)
        except KeyboardInterrupt:
            self._outcome.interrupted = True
            self._stop(pool)
            self._collect(stored)
        finally:
            self._stop(pool)
        return self._outcome

    def _work(self, point: Point) -> Result:
        if self._stopping:
            raise Cancelled
        return self._hooks.finish(point, simulate(point, self._monitors[point.digest]))

    def _collect(self, stored: int) -> None:
        total = stored + sum(len(group) for group in self._pending.values())
        while self._pending:
            done, _ = wait(self._pending, timeout=TICK_S, return_when=FIRST_COMPLETED)
            for future in done:
                self._take(future, self._pending[future])
                del self._pending[future]
            running = sum(len(group) for group in self._pending.values())
            self._hooks.watch.tick(total - running, self._monitors.values())

    def _take(self, future: Future[Result], group: list[Point]) -> None:
        try:
            result = future.result()
        except Cancelled:
            return
        except RunError as error:
            self._outcome.failures.update({point.index: str(error) for point in group})
            return
        self._outcome.finished += len(group)
        for point in group:
            record = result.record | {"jobs": result.jobs}
            self._hooks.report(point, Result(record, point.axes, result.tables, point.labels))

    def _stop(self, pool: ThreadPoolExecutor) -> None:
        self._stopping = True
        for monitor in self._monitors.values():
            monitor.cancel()
        pool.shutdown(wait=True)
