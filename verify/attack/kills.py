"""Commands that are killed at random moments, and several at a time on one directory.

Whatever has happened, the same command again leaves what an undisturbed one does.
"""

from __future__ import annotations

import multiprocessing
import random
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import chdir, redirect_stderr, redirect_stdout
from multiprocessing.context import ForkServerProcess
from pathlib import Path

from hopsim.cli import main
from verify import clusters
from verify.attack.series import LONGEST_S
from verify.engines import ENGINES
from verify.power import CASES, MESSAGES, Place

REFUSED = 2
ENGINE = next(engine for engine in ENGINES if engine.name == "Dask")
BESIDE: dict[str, tuple[tuple[str, ...], ...]] = {
    "twice": (("run",), ("run",)),
    "beside a report": (("run",), ("report", "d"), ("report", "d")),
    "beside figures": (("run",), ("plot", "d", "--kind", "accepted_load"), ("why", "d", "--point", "0")),
    "beside a run of all with --csv": (("run", "--csv"), ("run", "--shard", "1/2")),
    "beside one of another experiment with --force": (("run",), ("run", "--force", "--set", "load=0.2")),
}
"""What runs at once on the directory d; to each `run` the document and the directory are added."""


def killed(count: int, tick: Callable[[], object]) -> Iterator[str]:
    """So many kills: of every command that writes in turn, and of processes of pools, three of ten."""
    chance = random.Random("kills")
    pooled = count * 3 // 10
    names = [[*CASES][number % len(CASES)] for number in range(count - pooled)]
    for name, case in CASES.items():
        if name not in names:
            continue
        with tempfile.TemporaryDirectory() as folder:
            place = Place(Path(folder), case)
            began = time.monotonic()
            _kill(_begun(case.command, place.again()), LONGEST_S)
            lasts_s = time.monotonic() - began
            for _ in range(names.count(name)):
                after_s = chance.uniform(0, 1.1 * lasts_s)
                _kill(_begun(case.command, place.again()), after_s)
                if wrong := place.after_kill():
                    yield f"{name}, killed after {after_s:.3f} s: {wrong}"
                tick()
    yield from _pools(pooled, tick)


def _pools(count: int, tick: Callable[[], object]) -> Iterator[str]:
    """Kills of main processes and workers of sweeps on pools of processes."""
    processes = [engine for engine in ENGINES if engine.is_there() and engine.name != ENGINE.name]
    with tempfile.TemporaryDirectory() as folder:
        place = clusters.Place(Path(folder))
        for number in range(count):
            engine = processes[number % len(processes)]
            victim = engine.victims[number // len(processes) % len(engine.victims)]
            if wrong := clusters.disturbed(place, engine, victim):
                yield f"{engine.name}, {victim} killed: {wrong}"
            tick()


def dask(count: int, tick: Callable[[], object]) -> Iterator[str]:
    """Workers, the scheduler and the main process of sweeps on Dask, killed in turn."""
    if not ENGINE.is_there():
        return
    with tempfile.TemporaryDirectory() as folder:
        place = clusters.Place(Path(folder))
        for number in range(count):
            victim = ENGINE.victims[number % len(ENGINE.victims)]
            if wrong := clusters.disturbed(place, ENGINE, victim):
                yield f"{ENGINE.name}, {victim} killed: {wrong}"
            tick()


def writers(count: int, tick: Callable[[], object]) -> Iterator[str]:
    """Several commands at once on one directory."""
    cases: list[Callable[[clusters.Place], str]] = [
        *(lambda place, each=each: _beside(place, each) for each in BESIDE.values()),
        lambda place: clusters.shards(place, killed=False),
        clusters.rivals,
    ]
    names = [*BESIDE, "shards", "different documents"]
    with tempfile.TemporaryDirectory() as folder:
        place = clusters.Place(Path(folder))
        for number in range(count):
            kind = number % len(cases)
            if wrong := cases[kind](place):
                yield f"{names[kind]}: {wrong}"
            tick()


def _beside(place: clusters.Place, commands: Sequence[tuple[str, ...]]) -> str:
    directory = place.directory()
    directory.mkdir()
    document = str(place.document)
    given = [
        (name, document, "--out", "d", "-j", "1", *options) if name == "run" else (name, *options)
        for name, *options in commands
    ]
    started: list[ForkServerProcess] = []
    for command in given:
        started.append(_begun(command, directory))
        time.sleep(place.random.uniform(0, place.duration_s / 4))
    for process in started:
        process.join(LONGEST_S)
    stuck = [each for each in started if each.exitcode is None]
    for process in stuck:
        _kill(process, 0)
    if stuck:
        return f"{len(stuck)} of {given} do not end"
    said = (directory / MESSAGES).read_text("utf-8")
    if "internal error" in said or "Traceback" in said:
        return said[-500:]
    done = [each.exitcode for each in started]
    if not {*done} <= {0, 1, REFUSED}:
        return f"end with {done}"
    last = _begun(("run", document, "--out", "d", "-j", "1", "--force"), directory)
    last.join(LONGEST_S)
    if last.exitcode != 0:
        return f"ended with {done}, and a run after them with {last.exitcode}: {said[-300:]!r}"
    found = clusters.contents(directory / "d")
    made = ("plots/", "report.html")
    for name in [name for name in found if name.startswith(made) or name.endswith(".csv")]:
        (directory / "d" / name).unlink()
    if (directory / "d" / "plots").is_dir():
        (directory / "d" / "plots").rmdir()
    return "" if place.is_right(directory / "d") else f"{directory / 'd'} differs after {given}"


# Processes that begin at once: they are forked from one that has imported hopsim and does nothing else.
_CONTEXT = multiprocessing.get_context("forkserver")


def _begun(command: Sequence[str], folder: Path) -> ForkServerProcess:
    process = _CONTEXT.Process(target=_run, args=(command, folder))
    process.start()
    return process


def _run(command: Sequence[str], folder: Path) -> None:
    said = folder / MESSAGES
    with (
        chdir(folder),
        said.open("a", encoding="utf-8") as messages,
        Path("/dev/null").open("w", encoding="utf-8") as shown,
        redirect_stdout(shown),
        redirect_stderr(messages),
    ):
        main(command)


def _kill(process: ForkServerProcess, after_s: float) -> None:
    process.join(after_s)
    process.kill()
    process.join()
