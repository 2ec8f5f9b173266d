"""Commands on a disk that fails, and after a loss of power, at every call that writes (`verify/disk.py`).

After an error, and after whatever a loss of power may have left, the same command without any ends with what
it would have left without them, nothing that was finished is lost, and nothing that can be read is wrong.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import random
import shutil
import signal
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import hopsim
from hopsim.cli import main
from hopsim.files import atomic
from verify.clusters import RUNS_DIFFER
from verify.disk import Disk, Fault, Kind, Plain, Torn, Tree, plant, tree
from verify.options import Options

TORN = 8
"""How often what is left after each step is drawn."""
REASONS = (errno.EIO, errno.ENOSPC)
PLAIN = [Plain(names, contents) for names in (False, True) for contents in (False, True)]

POINT = """
[topology.mesh]
sides = [2, 2]
[[jobs]]
name = "one"
placement = { list = [0, 1] }
traffic = { pattern = "uniform", process = { bernoulli = { load = 0.2 } } }
[[jobs]]
name = "other"
placement = { list = [2, 3] }
traffic = { pattern = "uniform", process = { bernoulli = { load = 0.2 } } }
[measure]
warmup = 10
cycles = 100
streams = ["nodes"]
"""
SWEEP = f'{POINT}[sweep.product]\n"measure.seed" = [1, 2]\n'
PACKETS = "load = 0.3\ntopology.mesh.sides = [2, 2]\n[measure]\nwarmup = 10\ncycles = 60\n"
KNEE = "load = 0.3\ntopology.mesh.sides = [2, 2]\n[measure]\nwarmup = 100\ncycles = 3000\n"
PROGRAM = """
[topology.mesh]
sides = [2, 2]
[units]
cycle = "1 ns"
phit = "4 B"
[[jobs]]
name = "all"
program = { collective = { kind = "barrier" } }
host = { packet_length = 4 }
"""
GOAL = "num_ranks 2\nrank 0 {\nl1: send 8b to 1 tag 0\n}\nrank 1 {\nl1: recv 8b from 0 tag 0\n}\n"
DOCUMENTS = {
    "sweep.toml": SWEEP,
    "point.toml": POINT,
    "packets.toml": PACKETS,
    "knee.toml": KNEE,
    "program.toml": PROGRAM,
    "two.goal": GOAL,
}
MESSAGES = "messages"
"""What a process that is killed says is written to a file of this name in its folder."""
RUN = ("run", "sweep.toml", "--out", "d", "-j", "1")


def _lose(folder: Path) -> None:
    """Leave a results directory as of a run that was stopped, with a table that is damaged."""
    one, other = sorted((folder / "d" / "points").glob("*.json"))
    one.unlink()
    other.with_suffix(".nodes.parquet").write_bytes(b"damaged")


@dataclass(frozen=True)
class Case:
    """A command that writes.

    Attributes:
        command: what is disturbed.
        first: commands before it.
        change: what happens to the files after these.
        then: what is run after it was disturbed; if nothing, the same again.
        straight: files that it writes as it goes on.
    """

    command: tuple[str, ...]
    first: tuple[tuple[str, ...], ...] = ()
    change: Callable[[Path], None] = lambda _: None
    then: tuple[str, ...] = ()
    straight: tuple[str, ...] = ()


CASES = {
    "run": Case((*RUN, "--csv")),
    "run, resumed": Case(RUN, (RUN,), _lose),
    "run --force": Case((*RUN, "--force"), ((*RUN, "--set", "measure.cycles=50", "--csv"),)),
    "run --json": Case((*RUN, "--json", "lines"), straight=("lines",)),
    "run --shard": Case((*RUN, "--shard", "0/2"), then=RUN),
    "run --save-state": Case(("run", "packets.toml", "--out", "d", "--save-state", "s", "--save-at", "40")),
    "saturate": Case(
        ("saturate", "knee.toml", "--seeds", "1", "--precision", "0.5", "--out", "d", "-j", "1")
    ),
    "interference": Case(("interference", "program.toml", "--out", "d", "-j", "1")),
    "plot": Case(("plot", "d", "--kind", "accepted_load", "--format", "svg", "--format", "png"), (RUN,)),
    "report": Case(("report", "d"), (RUN, ("report", "d"), ("run", "sweep.toml", "--out", "d", "-j", "2"))),
    "trace-packet": Case(("trace-packet", "packets.toml", "--every", "1", "--perfetto", "p")),
    "trace convert": Case(
        ("trace", "convert", "two.goal", "a.goal.xz", "--force"),
        (("trace", "convert", "two.goal", "a.goal.xz", "--to", "goal-binary"),),
    ),
}


@dataclass
class Done:
    """How a command has ended."""

    status: int
    shown: str
    said: str


def run(command: Sequence[str], folder: Path) -> Done:
    """Run `hopsim` in a folder, in this process."""
    shown, said = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
    status: Any = None
    handler = signal.getsignal(signal.SIGTERM)
    with contextlib.ExitStack() as stack:
        stack.enter_context(contextlib.chdir(folder))
        stack.enter_context(contextlib.redirect_stdout(shown))
        stack.enter_context(contextlib.redirect_stderr(said))
        stack.enter_context(warnings.catch_warnings())
        stack.callback(signal.signal, signal.SIGTERM, handler)
        try:
            main(command)
        except SystemExit as stop:
            status = stop.code
    return Done(status, *(stream.buffer.getvalue().decode() for stream in (shown, said)))  # pyright: ignore


@dataclass
class Place:
    """A case, with what is there before it, after it, and after the command that follows.

    Attributes:
        root: where they are made.
        case: the command.
    """

    root: Path
    case: Case
    calls: int = 0
    steps: int = 0
    _made: int = 0
    _seen: set[int] = field(default_factory=set[int])

    def __post_init__(self) -> None:
        folder = self.root / "before"
        plant(folder, ({Path(name): text.encode() for name, text in DOCUMENTS.items()}, set()))
        for command in self.case.first:
            _expect(run(command, folder))
        self.case.change(folder)
        self._before = tree(folder)
        self._known = [*_read(folder)]
        self._disk = Disk(folder)
        with self._disk.watched():
            _expect(run(self.case.command, folder))
        if self._disk.after(len(self._disk.steps), Plain(names=True, contents=True)) != tree(folder):
            raise AssertionError("something was written that went past the calls that are watched")
        self.calls, self.steps = len(self._disk.calls), len(self._disk.steps)
        self._after = _alike(tree(folder))
        self._whole = {*self._disk.placed(), *self._before[0].items(), *self._after.items()}
        _expect(run(self._then, folder))
        self._end = _alike(tree(folder))
        self._whole.update(self._end.items())
        self._known += _read(folder)
        # A search may replace a point by one with a longer window.
        for number, step in enumerate(self._disk.steps):
            if step.other is not None and step.other.name == "manifest.json":
                left = self._disk.after(number + 1, Plain(names=True, contents=True))
                self._known += _read(self._folder(left))

    def with_error(self, fault: Fault) -> str:
        """What is wrong after a call has failed."""
        folder = self._folder(self._before)
        disk = Disk(folder, fault)
        with disk.watched():
            done = run(self.case.command, folder)
        where = f"{disk.calls[fault.number] if fault.number < len(disk.calls) else 'no call'} {fault}"
        wrong = _unclean(done) or self._not_whole(folder)
        if not wrong and done.status == 0 and self._is_other(self._after, _alike(tree(folder))):
            wrong = "says that all is well, and it is not"
        wrong = wrong or self._goes_on(folder)
        return f"{where}: {wrong}" if wrong else ""

    def again(self) -> Path:
        """A folder with what is there before the command, in which another process may be killed."""
        return self._folder(self._before)

    def after_kill(self) -> str:
        """What is wrong in that folder after it was killed."""
        folder = self.root / "disturbed"
        (folder / MESSAGES).unlink(missing_ok=True)
        return self._not_whole(folder) or self._goes_on(folder)

    def without_power(self, steps: int, draw: Any) -> str:
        """What is wrong after a loss of power that has come after so many steps."""
        left = self._disk.after(steps, draw)
        # Of the same files more is asked when the command was done.
        key = hash((frozenset(left[0].items()), frozenset(left[1]), steps == self.steps))
        if key in self._seen:
            return ""
        self._seen.add(key)
        folder = self._folder(left)
        wrong = self._not_whole(folder, torn=True)
        if not wrong and steps == self.steps:
            wrong = self._is_other(self._after, _alike(left))
            wrong = wrong and f"was done, and is not after a loss of power: {wrong}"
        wrong = wrong or self._goes_on(folder)
        last = self._disk.steps[steps - 1] if steps else None
        where = "" if last is None else f"{last.call} {last.path.name}"
        return f"after step {steps} of {self.steps}, {where}, {draw}: {wrong}" if wrong else ""

    @property
    def _then(self) -> tuple[str, ...]:
        return self.case.then or self.case.command

    def _folder(self, files: Tree) -> Path:
        """A folder with these files; there is one at a time."""
        folder = self.root / "disturbed"
        shutil.rmtree(folder, ignore_errors=True)
        plant(folder, files)
        return folder

    def _not_whole(self, folder: Path, *, torn: bool = False) -> str:
        """A file that is neither as before nor as it is to be.

        If `torn`, those of points may be so, but are not read.
        """
        for path, content in _alike(tree(folder)).items():
            unfinished = atomic.is_unfinished(path.name) or path.name in self.case.straight
            if unfinished or path.name == "manifest.json" or (torn and path.parent.name == "points"):
                continue
            if (path, content) not in self._whole:
                return f"{path} is neither as it was nor as it is to be"
        for record in _read(folder):
            if record not in self._known:
                return f"reads {record}"
        return ""

    def _goes_on(self, folder: Path) -> str:
        """What is wrong after the command that follows."""
        long_ago = time.time() - 2 * atomic.LEFT_S
        for path in folder.rglob(f".*{atomic.SUFFIX}"):
            os.utime(path, (long_ago, long_ago))
        done = run(self._then, folder)
        if done.status != 0:
            return f"the next one ends with {done}"
        return self._is_other(self._end, _alike(tree(folder)), strays=True)

    def _is_other(
        self, expected: dict[Path, bytes], found: dict[Path, bytes], *, strays: bool = False
    ) -> str:
        """What differs; of files that were not finished only if `strays`."""
        for path in sorted({*expected, *found}):
            stray = path not in expected and atomic.is_unfinished(path.name)
            if expected.get(path) != found.get(path) and (strays or not stray):
                states = ["is not there" if path not in each else "is" for each in (expected, found)]
                return f"{path} differs: {states[0]} in what is to be, {states[1]} here"
        return ""


def _alike(found: Tree) -> dict[Path, bytes]:
    """Files without what differs between runs that are the same."""
    return {
        path: _plain(content) if path.name == "manifest.json" else content
        for path, content in found[0].items()
    }


def _plain(manifest: bytes) -> bytes:
    lines = manifest.splitlines(keepends=True)
    return b"".join(line for line in lines if not line.startswith(RUNS_DIFFER))


def _read(folder: Path) -> list[Any]:
    """What Python reads of the results directories below a folder: every point, with its tables."""
    found: list[Any] = []
    for manifest in sorted(folder.rglob("manifest.json")):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with contextlib.suppress(hopsim.ConfigError):
                for result in hopsim.load(manifest.parent):
                    with contextlib.suppress(hopsim.ConfigError):
                        tables = {name: result.tables[name].to_pydict() for name in result.tables}
                        found.append((result.record, result.axes, tables))
    return found


def _expect(done: Done) -> None:
    if done.status != 0:
        raise AssertionError(f"undisturbed, it ends with {done}")


def _unclean(done: Done) -> str:
    """What is wrong with how a command has ended."""
    last = done.said.splitlines()[-1] if done.said else ""
    if "internal error" in done.said or "Traceback" in done.said or done.status not in (0, 1, 2):
        return f"ends with {done}"
    if done.status and not (
        last.startswith("hopsim: ") and any(os.strerror(each) in last for each in REASONS)
    ):
        return f"says {done.said!r}"
    return ""


def errors(place: Place) -> list[Callable[[], str]]:
    """All calls of a case that can fail."""
    found = [
        Fault(number, kind, reason)
        for number in range(place.calls)
        for kind in Kind
        for reason in (REASONS if kind is Kind.ERROR else REASONS[1:])
    ]
    return [lambda fault=fault: place.with_error(fault) for fault in found]


def faults(place: Place) -> list[Callable[[], str]]:
    """All that can go wrong with a case."""
    losses: list[tuple[int, Any]] = [
        (steps, draw)
        for steps in range(place.steps + 1)
        for draw in [*PLAIN, *(Torn(random.Random(f"{steps} {number}")) for number in range(TORN))]
    ]
    return [
        *errors(place),
        *(lambda steps=steps, draw=draw: place.without_power(steps, draw) for steps, draw in losses),
    ]


def drawn(tried: list[Callable[[], str]], name: str, count: int) -> list[Callable[[], str]]:
    """So many of them, the same for a name."""
    return random.Random(name).sample(tried, min(count, len(tried)))


def check(options: Options, only: int | None = None) -> int:
    """Every fault of every case, or only so many of each, drawn; returns how many went wrong."""
    wrong = 0
    for name, case in CASES.items():
        if not options.selects(name):
            continue
        with tempfile.TemporaryDirectory() as folder:
            place = Place(Path(folder), case)
            tried = faults(place)
            tried = tried if only is None else drawn(tried, name, only)
            found = [text for fault in tried if (text := fault())]
        for text in found:
            options.console.print(f"{name}: {text}", markup=False, highlight=False)
        options.console.print(
            f"{name}: {len(tried) - len(found)} of {len(tried)} right ({place.calls} calls)"
        )
        wrong += len(found)
    return wrong
