"""An attack on hopsim: hostile input, damage, kills, errors of the disk, rivals, poor environments.

Nothing may be wrong without a word, be an internal error, go on for ever, or be lost. What is tried is drawn,
the same each time. The environment variable `HOPSIM_ATTACK`, such as `documents=200 files=4000:5000`, says
which parts are tried, and how much of each or, of those that are numbered, which cases. `HOPSIM_ATTACK_KEEP`
names a folder in which the last document is kept that something was wrong with.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path

from rich.progress import Progress

from verify import power
from verify.attack import documents, environment, files, kills, results, series
from verify.options import Options

Tick = Callable[[], object]
"""Called after each case."""
Part = Callable[[range, int, Tick], Iterable[str]]
"""Tries cases by their numbers, so many at a time; what is wrong."""


def errors(count: int, tick: Tick) -> Iterator[str]:
    """So many errors of calls of every command that writes, see `verify.power`."""
    for name, case in power.CASES.items():
        with tempfile.TemporaryDirectory() as folder:
            for fault in power.drawn(power.errors(power.Place(Path(folder), case)), name, count):
                if wrong := fault():
                    yield f"{name}: {wrong}"
                tick()


def _in_series(name: str, make: series.Maker) -> Part:
    return lambda numbers, jobs, tick: series.tried(name, make, numbers, jobs, tick)


def _counted(cases: Callable[[int, Tick], Iterable[str]]) -> Part:
    return lambda numbers, _, tick: cases(len(numbers), tick)


PARTS: dict[str, tuple[Part, int]] = {
    "documents": (_in_series("documents", documents.make), 20_000),
    "files": (_in_series("files", files.make), 26_000),
    "results": (_in_series("results", results.make), 4_000),
    "flips": (_in_series("flips", results.flips), 1_000),
    "kills": (_counted(kills.killed), 100),
    "errors": (_counted(errors), 30),
    "writers": (_counted(kills.writers), 35),
    "dask": (_counted(kills.dask), 12),
    "environment": (environment.tried, environment.COUNT),
}
"""Name -> what tries its cases, and how many by default. Files and results are 30,000 files together."""


def check(options: Options, sizes: str | None = None) -> int:
    """Try all parts, or those that are selected or named in `sizes`; returns how much went wrong."""
    wrong = 0
    for name, numbers in chosen(os.environ.get("HOPSIM_ATTACK", "") if sizes is None else sizes).items():
        if not options.selects(name):
            continue
        part, tried, found = PARTS[name][0], 0, 0
        with Progress(console=options.console, transient=True) as progress:
            task = progress.add_task(name, total=None)
            for text in part(numbers, options.jobs, partial(progress.advance, task)):
                found += 1
                options.console.print(text, markup=False, highlight=False, soft_wrap=True)
            tried = int(progress.tasks[0].completed)
        options.console.print(f"{name}: {tried - found} of {tried} right")
        wrong += found
    return wrong


def chosen(sizes: str) -> dict[str, range]:
    """The cases of each part that are tried: those that `sizes` names, or all if it names none."""
    found: dict[str, range] = {}
    for text in sizes.split():
        name, _, given = text.partition("=")
        first, _, last = given.rpartition(":")
        if name not in PARTS:
            raise ValueError(f"there is no part {name!r}; valid: {', '.join(PARTS)}")
        found[name] = range(int(first or 0), int(last))
    return found or {name: range(count) for name, (_, count) in PARTS.items()}
