"""Progress of a sweep on standard error: points done, packet-hops per second, time left."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Iterable
from typing import Any, Protocol

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from hopsim._core import Monitor

LOG_INTERVAL_S = 10.0
NOTEBOOK_INTERVAL_S = 0.5


class Watch(Protocol):
    """Told by a sweep how far it is."""

    def start(self, total: int, stored: int, *, lengths_known: bool) -> None:
        """`total` points, of which `stored` were finished before; whether it is known how long they are."""

    def tick(self, finished: int, monitors: Iterable[Monitor]) -> None:
        """`finished` points so far (stored ones too); the monitors of all points started in this process."""

    def stop(self) -> None:
        """The sweep ended, in whatever way."""


class Silent:
    """Shows nothing."""

    def start(self, total: int, stored: int, *, lengths_known: bool) -> None:
        """Nothing to show."""

    def tick(self, finished: int, monitors: Iterable[Monitor]) -> None:
        """Nothing to show."""

    def stop(self) -> None:
        """Nothing to show."""


class Meter:
    """Rate and time left, from the monitors of the points started.

    How long programs take nobody knows: with `lengths_known` false points count when they are finished.
    """

    def __init__(self, total: int, stored: int, *, lengths_known: bool = True) -> None:
        self.total = total
        self.stored = stored
        self.lengths_known = lengths_known
        self.finished = stored
        self.progress = float(stored)
        self.rate: float | None = None
        self.left_s: float | None = None
        self._began = time.monotonic()

    def update(self, finished: int, monitors: Iterable[Monitor]) -> None:
        """Take stock; `progress` counts running points by the share that is done of them.

        Of points that run elsewhere nothing is known before they are finished.
        """
        elapsed = max(time.monotonic() - self._began, 1e-9)
        hops, share = None, 0.0
        for monitor in monitors:
            hops = (hops or 0) + monitor.packet_hops
            share += monitor.done / monitor.total if monitor.total and self.lengths_known else 0.0
        self.finished = finished
        self.progress = max(float(finished), min(self.stored + share, self.total))
        self.rate = None if hops is None else hops / elapsed
        done_here = self.progress - self.stored
        self.left_s = elapsed * (self.total - self.progress) / done_here if done_here > 0 else None

    def text(self) -> str:
        """`3/12 points, 8.1 M packet-hops/s, 0:42 left`, without what is not known."""
        rate = "" if self.rate is None else f", {self.rate / 1e6:.1f} M packet-hops/s"
        left = "" if self.left_s is None else f", {_clock(self.left_s)} left"
        return f"{self.finished}/{self.total} points{rate}{left}"


class Bar:
    """A live bar in a terminal."""

    def __init__(self, console: Console) -> None:
        self._bar = Progress(
            BarColumn(),
            TextColumn("{task.description}"),
            TimeElapsedColumn(),
            console=console,
            transient=True,
        )
        self._task: TaskID | None = None
        self._meter = Meter(0, 0)

    def start(self, total: int, stored: int, *, lengths_known: bool) -> None:
        """Draw the bar."""
        self._meter = Meter(total, stored, lengths_known=lengths_known)
        self._task = self._bar.add_task(self._meter.text(), total=total, completed=stored)
        self._bar.start()

    def tick(self, finished: int, monitors: Iterable[Monitor]) -> None:
        """Move the bar."""
        self._meter.update(finished, monitors)
        if self._task is not None:
            self._bar.update(self._task, completed=self._meter.progress, description=self._meter.text())

    def stop(self) -> None:
        """Remove the bar."""
        self._bar.stop()


class Notebook:
    """A line below the cell of a notebook, which changes; unlike a bar it needs no widgets."""

    def __init__(self, interval_s: float = NOTEBOOK_INTERVAL_S) -> None:
        self._interval_s = interval_s
        self._last = time.monotonic()
        self._meter = Meter(0, 0)
        self._line: Any = None

    def start(self, total: int, stored: int, *, lengths_known: bool) -> None:
        """Show the line."""
        # Only where there is a notebook.
        from IPython.display import display  # pyright: ignore[reportMissingImports, reportUnknownVariableType]

        self._meter = Meter(total, stored, lengths_known=lengths_known)
        self._line = display(self._shown(self._meter.text()), raw=True, display_id=True)

    def tick(self, finished: int, monitors: Iterable[Monitor]) -> None:
        """Change the line when it is time."""
        now = time.monotonic()
        if now - self._last >= self._interval_s and self._line is not None:
            self._last = now
            self._meter.update(finished, monitors)
            self._line.update(self._shown(self._meter.text()), raw=True)

    def stop(self) -> None:
        """Empty the line."""
        if self._line is not None:
            self._line.update(self._shown(""), raw=True)

    @staticmethod
    def _shown(text: str) -> dict[str, str]:
        return {"text/plain": text}


class Log:
    """A plain line every ten seconds, for logs."""

    def __init__(self, interval_s: float = LOG_INTERVAL_S) -> None:
        self._interval_s = interval_s
        self._last = time.monotonic()
        self._meter = Meter(0, 0)

    def start(self, total: int, stored: int, *, lengths_known: bool) -> None:
        """Begin to count."""
        self._meter = Meter(total, stored, lengths_known=lengths_known)
        self._last = time.monotonic()

    def tick(self, finished: int, monitors: Iterable[Monitor]) -> None:
        """Write a line when it is time."""
        now = time.monotonic()
        if now - self._last >= self._interval_s:
            self._last = now
            self._meter.update(finished, monitors)
            # A log that cannot be written is no reason to stop.
            with contextlib.suppress(OSError):
                sys.stderr.write(self._meter.text() + "\n")
                sys.stderr.flush()

    def stop(self) -> None:
        """Nothing is left behind."""


def for_terminal() -> Watch:
    """A bar when standard error is a terminal, else a plain line now and then."""
    console = Console(stderr=True)
    return Bar(console) if console.is_terminal else Log()


def for_python() -> Watch:
    """A bar in a terminal, a line in a notebook, else nothing; nothing in threads of the caller either."""
    console = Console(stderr=True)
    if threading.current_thread() is not threading.main_thread():
        return Silent()
    if console.is_jupyter:
        return Notebook()
    return Bar(console) if console.is_terminal else Silent()


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
