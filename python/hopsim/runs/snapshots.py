"""States of long runs in files: a run that was killed goes on with what was saved."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hopsim import _core
from hopsim.document.experiment import Experiment, Point
from hopsim.errors import Cancelled, ConfigError
from hopsim.files import atomic
from hopsim.files.reading import path_of, stored_bytes
from hopsim.spelling import Spelling, of_python

EVERY_MINUTES = 10.0
"""How often a run is saved unless it is said."""
VALID = "valid: a file that --save-state has written"


@dataclass(frozen=True)
class Saving:
    """From where a run goes on, and where its state is saved.

    Attributes:
        source: the file that it must go on with.
        target: the file its state is saved in; it goes on with that if it is there.
        every: time between two states [minutes].
        at: the cycle whose state is saved, instead of one every so many minutes.
    """

    source: Path | None = None
    target: Path | None = None
    every: float | None = None
    at: int | None = None

    @classmethod
    def of(
        cls,
        from_state: str | os.PathLike[str] | None,
        save_state: str | os.PathLike[str] | None,
        save_every: float | None,
        save_at: int | None,
        spelled: Spelling = of_python,
    ) -> Saving | None:
        """What arguments ask for, None if for nothing. Raises `ConfigError` if they contradict each other."""
        _refuse_times(save_every, save_at, spelled)
        when = {"save_every": save_every, "save_at": save_at}
        given = [spelled(name, value) for name, value in when.items() if value is not None]
        if save_state is None and given:
            beside = f"beside {spelled('save_state')}, the file"
            raise ConfigError(f"{given[0]}: says when to save; valid: {beside}")
        if len(given) > 1:
            raise ConfigError(f"{given[0]}: {given[1]} is given; valid: one of them")
        if from_state is not None and save_state is not None:
            raise ConfigError(
                f"{spelled('from_state', from_state)}: {spelled('save_state', save_state)} is given; valid: "
                f"{spelled('save_state')} alone, which goes on with the file if it is there, or "
                f"{spelled('from_state')} alone"
            )
        if from_state is None and save_state is None:
            return None
        given_paths = {"from_state": from_state, "save_state": save_state}
        source, target = (None if path is None else path_of(path, name) for name, path in given_paths.items())
        return cls(source, target, save_every, save_at)

    def check(self, document: Experiment, points: list[Point]) -> None:
        """Refuse a sweep, and before it runs what the run would refuse, such as a state of something else.

        Raises `ConfigError`, and `RunError` if a state is damaged in a way that only loading it shows.
        """
        if len(points) != 1:
            raise ConfigError(
                f"{document.name}: has a sweep of {len(points)} points, and a state is that of one; "
                "valid: one point, or sweep.branch_at"
            )
        # A run that was cancelled before it began has looked at all of it.
        trial = _core.Monitor()
        trial.cancel()
        with contextlib.suppress(Cancelled):
            self._run(points[0].config, trial, 1, None)

    def simulate(self, config: str, monitor: _core.Monitor, threads: int) -> _core.Run:
        """Run a point on so many threads at most. Raises `ConfigError`, `RunError`, `Cancelled`."""
        timer = _Timer(monitor, self.every or EVERY_MINUTES)
        if self.target is not None and self.at is None:
            timer.start()
        try:
            return self._run(config, monitor, threads, self._keep)
        finally:
            timer.stop()

    def _run(
        self, config: str, monitor: _core.Monitor, threads: int, keep: Callable[[bytes], None] | None
    ) -> _core.Run:
        if self.target is not None:
            _refuse_unwritable(self.target)
        snapshot = self._snapshot()
        try:
            return _core.run_saved(config, monitor, threads, snapshot, keep, self.at)
        except ConfigError as error:
            raise ConfigError(f"{self.source or self.target}: {error}") from None

    def _keep(self, snapshot: bytes) -> None:
        if self.target is not None:
            atomic.write(self.target, lambda file: file.write(snapshot))

    def _snapshot(self) -> bytes | None:
        path = self.source or self.target
        if path is None or (self.source is None and not path.exists()):
            return None
        try:
            return stored_bytes(path)
        except OSError as error:
            raise ConfigError(f"{path}: cannot read the state: {error.strerror}; {VALID}") from None


def _refuse_unwritable(target: Path) -> None:
    try:
        atomic.probe_file(target)
    except OSError as error:
        raise ConfigError(
            f"{target}: cannot write the state: {error.strerror}; valid: a writable path"
        ) from None


def _refuse_times(every: Any, at: Any, spelled: Spelling) -> None:
    number = isinstance(every, int | float) and not isinstance(every, bool)
    if every is not None and not (number and every > 0):
        raise ConfigError(f"{spelled('save_every', repr(every))}: is no time; valid: minutes, more than 0")
    if at is not None and (not isinstance(at, int) or isinstance(at, bool) or not 0 < at < 2**32):
        raise ConfigError(f"{spelled('save_at', repr(at))}: is no cycle of a run; valid: 1 … 3000000000")


class _Timer:
    """Asks for a state every so many minutes."""

    def __init__(self, monitor: _core.Monitor, minutes: float) -> None:
        self._monitor = monitor
        self._seconds = 60 * minutes
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._ask, daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """Ask for nothing more."""
        self._done.set()

    def _ask(self) -> None:
        while not self._done.wait(self._seconds):
            self._monitor.save()
