"""Many cases in processes of their own, which are watched: one that dies or stands still is a fault.

A process runs case after case. Where one has died or stood still, another one goes on behind that case.
"""

from __future__ import annotations

import multiprocessing
import os
import re
import resource
import signal
import tempfile
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from verify import power

Case = Callable[[int], str]
"""Tries the case of this number; says what is wrong, nothing if all is well."""
Maker = Callable[[Path], Case]
"""Makes cases, of which it may keep what they need in a folder; a function of a module: another process
calls it."""

LONGEST_S = 90
"""After so long without an answer a process is killed [s]."""
PATIENCE_S = 10
"""After so long a command is interrupted [s]."""
MOST_MB = 3000
"""Address space that commands may take, besides what is taken before [MB of 2^20 bytes]."""
INTERRUPTED = 130

_CLEAR = re.compile(r"^hopsim: \S.{9,}", re.MULTILINE)
"""How an error is told."""
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\x80-\x9f]")
_BAD = ("internal error", "Traceback", "panicked", "RuntimeWarning", "Exception ignored")


@dataclass(frozen=True)
class Ended:
    """How a command has ended.

    Attributes:
        status: exit status.
        shown: standard output.
        said: standard error.
        cpu_s: time of processors [s].
        interrupted: whether it had to be interrupted.
    """

    status: int
    shown: str
    said: str
    cpu_s: float
    interrupted: bool

    @property
    def complaint(self) -> str:
        """What is wrong with how it has ended; nothing if it is done or has told clearly why not."""
        if bad := next((each for each in _BAD if each in self.said), ""):
            return f"{bad}: {self.said[max(self.said.find(bad) - 50, 0) :][:600]!r}"
        if self.interrupted and self.status == INTERRUPTED:
            return ""
        if self.status not in (0, 1, 2):
            return f"ends with status {self.status}: {self.said[-300:]!r}"
        if self.status and not _CLEAR.search(self.said):
            return f"ends with status {self.status} and says {self.said[-300:]!r}"
        if found := _CONTROL.search(self.said):
            return f"says {found[0]!r}, which a terminal heeds: {self.said[-300:]!r}"
        return ""


def run(command: Sequence[str], folder: Path) -> Ended:
    """Run `hopsim` in a folder, in this process, for a limited time."""
    rung: list[int] = []

    def ring(number: int, _frame: Any) -> None:
        rung.append(number)
        raise KeyboardInterrupt

    before, began, written = signal.signal(signal.SIGALRM, ring), time.process_time(), _written()
    signal.setitimer(signal.ITIMER_REAL, PATIENCE_S)
    try:
        done = power.run(command, folder)
    except KeyboardInterrupt:
        done = power.Done(INTERRUPTED, "", "interrupted outside of it")
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    cpu_s = time.process_time() - began
    past = os.pread(2, 2000, written).decode("utf-8", "replace") if _written() > written else ""
    return Ended(done.status or 0, done.shown, done.said + past, cpu_s, bool(rung))


def tried(name: str, make: Maker, numbers: Sequence[int], jobs: int, tick: Callable[[], object]) -> list[str]:
    """Try cases, so many at a time, and call `tick` after each; returns what is wrong, with the numbers."""
    with ThreadPoolExecutor(jobs) as pool:
        parts = [deque(numbers[first::jobs]) for first in range(jobs)]
        found = [pool.submit(_all, make, part, tick) for part in parts]
        return [f"{name} {number}: {fault}" for part in found for number, fault in part.result()]


def _all(make: Maker, numbers: deque[int], tick: Callable[[], object]) -> list[tuple[int, str]]:
    return [*_faults(make, numbers, tick)]


def _faults(make: Maker, left: deque[int], tick: Callable[[], object]) -> Iterator[tuple[int, str]]:
    while left:
        with tempfile.TemporaryDirectory(prefix="attack") as folder:
            answers, there = _CONTEXT.Pipe(duplex=False)
            process = _CONTEXT.Process(target=_work, args=(make, Path(folder), [*left], there))
            process.start()
            there.close()
            is_ready, fault = False, ""
            while left and not fault:
                try:
                    fault = "" if answers.poll(LONGEST_S) else f"no answer within {LONGEST_S} s"
                    answer: str = "" if fault else answers.recv()
                except EOFError:
                    process.join()
                    fault = answer = f"the process has died, with status {process.exitcode}"
                if not is_ready:
                    if answer:
                        raise AssertionError(f"cases cannot be prepared: {answer}")
                    is_ready = True
                    continue
                if fault or answer:
                    yield left[0], fault or answer
                left.popleft()
                tick()
            process.kill()
            process.join()


def _work(make: Maker, folder: Path, numbers: Sequence[int], answers: Connection) -> None:
    """Try cases in this process, and send what is wrong with each."""
    # What is written past Python, as by a panic, is seen too.
    os.dup2(os.open(folder / "written", os.O_RDWR | os.O_CREAT | os.O_APPEND), 2)
    place = folder / "place"
    place.mkdir()
    try:
        case = make(place)
    except Exception:
        answers.send(traceback.format_exc())
        return
    taken = int(re.findall(r"VmSize:\s+(\d+) kB", Path("/proc/self/status").read_text("utf-8"))[0]) << 10
    most = taken + (MOST_MB << 20)
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    answers.send("")
    for number in numbers:
        try:
            answers.send(case(number))
        except Exception:
            answers.send(f"the case itself fails: {traceback.format_exc()[-1500:]}")


def _written() -> int:
    """How much was written to the file behind standard error."""
    return os.fstat(2).st_size


_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(
    ["__main__", "matplotlib.pyplot", "hopsim.cli.plot", "hopsim.cli.run", "hopsim.cli.saturate", __name__]
)
