"""Sweeps on many processes: results directories that many claim at once, and kill -9 at random moments.

Whatever happens, the directory is in the end, after the same command again, that of an undisturbed run.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import random
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing.context import ForkServerProcess
from multiprocessing.synchronize import Barrier
from pathlib import Path

from hopsim.cli import main
from verify.engines import ENGINES, Engine
from verify.options import Options

ROUNDS = 50
PROCESSES = 16
LONGEST_S = 120
"""How long a run may take whose engine is broken [s]."""

STUCK_S = 30
"""After so long a run is ended whose engine may wait for ever [s]."""

DOCUMENT = """
load = 0.3
topology.dragonfly = { p = 2, a = 4, h = 2 }
[measure]
warmup = 500
cycles = 4000
interval = 100
streams = ["nodes", "links"]
[sweep.product]
"routing" = ["minimal", "valiant"]
"load" = [0.1, 0.3, 0.5]
"measure.seed" = [1, 2, 3, 4]
"""

RUNS_DIFFER = (b' "wall_time_s": ', b' "peak_memory_bytes": ', b' "written": ', b' "checksum": ')
"""How lines of a manifest begin in which runs differ that are the same."""


def contents(directory: Path) -> dict[str, bytes]:
    """Every file of a results directory, without those lines of the manifest in which runs differ."""
    files = {str(path.relative_to(directory)): path for path in directory.rglob("*") if path.is_file()}
    found = {name: path.read_bytes() for name, path in files.items()}
    lines = found["manifest.json"].splitlines(keepends=True)
    found["manifest.json"] = b"".join(line for line in lines if not line.startswith(RUNS_DIFFER))
    return found


@dataclass
class Place:
    """A folder with the document and the directory of an undisturbed run."""

    root: Path
    random: random.Random = field(default_factory=lambda: random.Random(1))
    duration_s: float = 0.0
    """Of the undisturbed run [s]."""
    _rounds: int = 0

    def __post_init__(self) -> None:
        self.document.write_text(DOCUMENT, "utf-8")
        began = time.monotonic()
        self.complete(self.root / "undisturbed")
        self.duration_s = time.monotonic() - began
        self._expected = contents(self.root / "undisturbed")

    @property
    def document(self) -> Path:
        """The document that is run."""
        return self.root / "sweep.toml"

    def directory(self) -> Path:
        """A new directory for each round."""
        self._rounds += 1
        return self.root / str(self._rounds)

    def complete(self, directory: Path) -> None:
        """The run that writes the tables."""
        _finish([_start(self.document, directory, [])])

    def is_right(self, directory: Path) -> bool:
        """Whether a directory is the same, byte for byte, as that of the undisturbed run."""
        return contents(directory) == self._expected


def shards(place: Place, *, killed: bool) -> str:
    """One round of 16 processes, each with a shard, that claim a directory at once; what is wrong with it.

    One of them is `killed` at a random moment.
    """
    directory = place.directory()
    barrier = _CONTEXT.Barrier(PROCESSES)
    options = [["--shard", f"{index}/{PROCESSES}"] for index in range(PROCESSES)]
    started = [_start(place.document, directory, each, barrier) for each in options]
    if killed:
        time.sleep(place.random.uniform(0, 2 * place.duration_s))
        victim = started.pop(place.random.randrange(PROCESSES))
        victim.kill()
        victim.join()
    refused = _finish(started)
    if refused:
        return f"{refused} of {len(started)} processes failed"
    place.complete(directory)
    return "" if place.is_right(directory) else f"{directory} differs"


def rivals(place: Place) -> str:
    """One round of 16 processes that claim a directory at once, each for another document; what is wrong."""
    directory = place.directory()
    barrier = _CONTEXT.Barrier(PROCESSES)
    options = [["--set", f"measure.warmup={index}"] for index in range(PROCESSES)]
    started = [_start(place.document, directory, each, barrier) for each in options]
    refused = _finish(started)
    return "" if refused == PROCESSES - 1 else f"{directory} was given to {PROCESSES - refused}"


def disturbed(place: Place, engine: Engine, victim: str) -> str:
    """One round in which a process of an engine is killed at a random moment; what is wrong with it."""
    directory = place.directory()
    with engine.start(place.document, directory) as run:
        time.sleep(place.random.uniform(0, engine.duration_s))
        run.kill(victim, place.random)
        if not run.ends_within(STUCK_S if engine.may_hang else LONGEST_S) and not engine.may_hang:
            return f"did not end within {LONGEST_S} s of the death of its {victim}"
    with engine.start(place.document, directory) as run:
        if not run.ends_within(LONGEST_S) or run.status != 0:
            return f"the same command again ended with status {run.status}"
    return "" if place.is_right(directory) else f"{directory} differs"


def check(options: Options, rounds: int = ROUNDS) -> int:
    """So many rounds of shards, and as many of all engines together; returns how many went wrong."""
    with tempfile.TemporaryDirectory() as folder:
        place = Place(Path(folder))
        cases: dict[str, Callable[[], str]] = {
            "shards": lambda: shards(place, killed=False),
            "different documents": lambda: rivals(place),
            "shards, one killed": lambda: shards(place, killed=True),
        }
        wrong = sum(_rounds(options, name, rounds, [case]) for name, case in cases.items())
        for engine in ENGINES:
            name = f"{engine.name}, {' or '.join(engine.victims)} killed"
            if not engine.is_there():
                options.console.print(f"{name}: not tried, {engine.needs} is not installed")
                continue
            kills = [
                lambda engine=engine, victim=victim: disturbed(place, engine, victim)
                for victim in engine.victims
            ]
            wrong += _rounds(options, name, max(len(kills), rounds // len(ENGINES)), kills)
    return wrong


def _rounds(options: Options, name: str, rounds: int, cases: list[Callable[[], str]]) -> int:
    """So many rounds, of each case in turn; prints how they went, returns how many went wrong."""
    if not options.selects(name):
        return 0
    faults = [fault for index in range(rounds) if (fault := cases[index % len(cases)]())]
    for fault in faults:
        options.console.print(f"{name}: {fault}")
    options.console.print(f"{name}: {rounds - len(faults)} of {rounds} rounds right")
    return len(faults)


# Processes that begin at once: they are forked from one that has imported hopsim and does nothing else.
_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(["__main__", "hopsim.cli.run", "verify.clusters"])


def _start(
    document: Path, directory: Path, options: list[str], barrier: Barrier | None = None
) -> ForkServerProcess:
    process = _CONTEXT.Process(target=_run, args=(document, directory, options, barrier))
    process.start()
    return process


def _run(document: Path, directory: Path, options: list[str], barrier: Barrier | None) -> None:
    if barrier is not None:
        barrier.wait(LONGEST_S)
    # Nobody reads what so many runs show.
    with (directory.parent / "shown").open("a", encoding="utf-8") as shown, contextlib.ExitStack() as stack:
        stack.enter_context(contextlib.redirect_stdout(shown))
        stack.enter_context(contextlib.redirect_stderr(shown))
        main(["run", str(document), "--out", str(directory), "-j", "1", *options])


def _finish(processes: list[ForkServerProcess]) -> int:
    """Wait for processes; returns how many failed."""
    for process in processes:
        process.join(LONGEST_S)
    return sum(process.exitcode != 0 for process in processes)
