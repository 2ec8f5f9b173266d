"""Where points are simulated: on threads of this process, or wherever an executor runs them."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import socket
import threading
from collections.abc import Callable, Collection, Generator, Iterable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa

from hopsim import _core
from hopsim.document.experiment import DICTIONARY, Experiment, Point
from hopsim.errors import Cancelled, ConfigError, RunError
from hopsim.metrics import tables
from hopsim.results.result import Result
from hopsim.runs import memory

Finish = Callable[[Point, Result], Result]
Run = Callable[[str, _core.Monitor, int], _core.Run]
"""Simulates a resolved configuration on so many threads at most."""
Measured = tuple[dict[str, Any], dict[str, pa.Table]]
"""The record of a point, and its tables by name."""


class Workers(Protocol):
    """What simulates points."""

    @property
    def monitors(self) -> Collection[_core.Monitor]:
        """Those of the points that run in this process."""
        ...

    def submit(self, point: Point) -> Future[Any]:
        """Begin a point, or let it wait for its turn."""
        ...

    def keep(self, point: Point, future: Future[Any]) -> Result:
        """What came of a future that is done. Raises `Cancelled`, `ConfigError`, `RunError`."""
        ...

    def stop(self, futures: Iterable[Future[Any]]) -> list[Future[Any]]:
        """Begin nothing more; returns those of the futures that are done and were not cancelled."""
        ...


class Allotment:
    """Shares out threads: points side by side first, and what is left over to the threads of a point."""

    def __init__(self, threads: int, points: int) -> None:
        self._free = threads
        self._waiting = points
        self._lock = threading.Lock()

    @contextlib.contextmanager
    def taken(self) -> Generator[int]:
        """How many threads the next point has while it runs; at least one."""
        with self._lock:
            share = max(self._free // max(min(self._waiting, self._free), 1), 1)
            self._waiting -= 1
            self._free -= share
        try:
            yield share
        finally:
            with self._lock:
                self._free += share


class Threads:
    """Threads of this process; the simulator releases the GIL, so threads are enough."""

    def __init__(self, count: int, points: int, finish: Finish, run: Run) -> None:
        self._run = run
        self._pool = ThreadPoolExecutor(count, thread_name_prefix="hopsim")
        self._finish = finish
        self._stopping = False
        self._side_by_side = max(min(count, points), 1)
        self._allotment = Allotment(count, points)
        self.monitors: list[_core.Monitor] = []

    def submit(self, point: Point) -> Future[Result]:
        """A future whose point is stored by the thread that has simulated it."""
        monitor = _core.Monitor()
        self.monitors.append(monitor)
        return self._pool.submit(self._work, point, monitor)

    def _work(self, point: Point, monitor: _core.Monitor) -> Result:
        if self._stopping:
            raise Cancelled
        with self._allotment.taken() as threads:
            _allow_memory(monitor, self._side_by_side)
            found = simulate(point.config, monitor, threads, self._run)
        return self._finish(point, _result(point, found))

    def keep(self, point: Point, future: Future[Result]) -> Result:
        """What the thread has stored."""
        return future.result()

    def stop(self, futures: Iterable[Future[Result]]) -> list[Future[Result]]:
        """Stop the points that run, too."""
        self._stopping = True
        for monitor in self.monitors:
            monitor.cancel()
        self._pool.shutdown(wait=True)
        return list(futures)


@dataclass(frozen=True)
class Elsewhere:
    """Whatever an executor runs functions on: processes, other machines. It stays open.

    Attributes:
        executor: who is given the points.
        directory: where the files are that the document names, under this path on every machine.
    """

    executor: Executor
    directory: Path

    def check(self) -> None:
        """Raises `ConfigError` if a worker has no hopsim.

        Asked for by a function of Python itself: Dask loses a worker that does not know what it is sent.
        Nothing is imported, as another thread of that worker may just be at it.
        """
        try:
            there = self.executor.submit(importlib.util.find_spec, "hopsim").result()
        except Exception:  # An executor that runs nothing loses every point, and says why.
            return
        if there is None:
            raise ConfigError(
                f"executor: its workers have no hopsim; valid: hopsim {_core.version()}, as here"
            )


class Submitted:
    """Points that an executor runs, and that this process stores."""

    def __init__(self, where: Elsewhere, finish: Finish) -> None:
        self._where = where
        self._directory = str(where.directory.absolute())
        self._finish = finish
        self.monitors: tuple[_core.Monitor, ...] = ()

    def submit(self, point: Point) -> Future[Measured]:
        """Hand a point over; an executor that takes nothing (any more) loses it."""
        try:
            return self._where.executor.submit(
                simulate_elsewhere, point.config, self._directory, _core.version()
            )
        except RuntimeError as error:
            lost: Future[Measured] = Future()
            lost.set_exception(error)
            return lost

    def keep(self, point: Point, future: Future[Measured]) -> Result:
        """Store what came back."""
        error = _error(future)
        if isinstance(error, ConfigError | RunError):
            raise error
        if error is not None:
            raise RunError(f"the executor lost it: {error!r}")
        return self._finish(point, _result(point, future.result()))

    def stop(self, futures: Iterable[Future[Measured]]) -> list[Future[Measured]]:
        """Take back what has not begun; nobody waits for what runs."""
        return [future for future in futures if not future.cancel() and future.done()]


def simulate(config: str, monitor: _core.Monitor, threads: int = 1, start: Run = _core.run) -> Measured:
    """Run one resolved configuration on so many threads at most. Raises `RunError`, `Cancelled`."""
    return measured(config, start(config, monitor, threads))


def measured(config: str, run: _core.Run) -> Measured:
    """What was measured of a resolved configuration: its record and its tables."""
    record = {"config": json.loads(config), "result": json.loads(run.summary), "jobs": json.loads(run.jobs)}
    return record, {name: tables.from_buffers(columns) for name, columns in run.tables.items()}


def simulate_elsewhere(config: str, directory: str, version: str) -> Measured:
    """The same in a process of an executor, for another one that has this version of the simulator.

    Raises `ConfigError` if the versions differ, or a file in `directory` is not to be found here.
    """
    if version != _core.version():
        raise ConfigError(
            f"executor: hopsim {_core.version()} on {socket.gethostname()}, {version} here; "
            "valid: the same version on all machines"
        )
    # What a document reads from files is in the configuration, but for programs: these by their digests.
    if '"sha256"' in config:
        _read_programs(config, directory)
    monitor = _core.Monitor()
    # How many others run on this machine nobody knows here.
    _allow_memory(monitor, side_by_side=1)
    return simulate(config, monitor)


def _allow_memory(monitor: _core.Monitor, side_by_side: int) -> None:
    """Say how much there is for a point: an equal part of what is free now, as others begin beside it."""
    there = memory.available()
    if there is not None:
        monitor.allow_memory(there // side_by_side)


def _read_programs(config: str, directory: str) -> None:
    """Read the files of programs; the core keeps what it has read in this process."""
    try:
        replace(Experiment.of(json.loads(config)), directory=Path(directory)).points()
    except ConfigError as error:
        reason = str(error).removeprefix(f"{DICTIONARY}: ")
        raise ConfigError(
            f"executor: on {socket.gethostname()}: {reason}; "
            "valid: the same file under this path on all machines"
        ) from None


def _error(future: Future[Any]) -> BaseException | None:
    """Why a future that is done has no result."""
    try:
        return future.exception()
    except Exception as error:  # Whoever cancelled it has an error of their own for that.
        return error


def _result(point: Point, found: Measured) -> Result:
    record, recorded = found
    return Result(record, point.axes, recorded, point.labels)
