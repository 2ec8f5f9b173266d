"""Main commands in a poor environment: terminals, folders, languages, clocks, and closed standard streams.

Each ends as it does in a good one, but where its output is lost: then it says so, and never by a traceback.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp

from verify import power
from verify.attack.results import NETWORK
from verify.clusters import contents
from verify.disk import Tree, plant, tree

LONGEST_S = 60
COMMANDS: dict[str, str] = {
    "help": "--help",
    "list": "list",
    "explain": "explain routing",
    "schema": "schema",
    "check": "check a.toml",
    "run --json": "run a.toml --json - -j 1",
    "run": "run a.toml --out d -j 2 --csv",
    "saturate": "saturate knee.toml --seeds 1 --precision 0.5 --out d -j 1",
    "interference": "interference program.toml --out d -j 1",
    "plot": "plot r --kind accepted_load --format svg",
    "report": "report r",
    "why": "why r --point 0",
    "trace-packet": "trace-packet packets.toml",
    "trace info": "trace info two.goal",
    "trace convert": "trace convert two.goal b.goal.xz --force",
    "refused": "run a.toml --set load=x",
}
"""Name -> arguments; r is a results directory that is there before."""

BACKWARDS = """
import random, time
_time, _monotonic, _draw = time.time, time.monotonic, random.Random(1)
time.time = lambda: _time() - 3e8 * _draw.random()
time.time_ns = lambda: int(1e9 * time.time())
"""
"""A clock that jumps, years back and forth, at every look."""


@dataclass(frozen=True)
class Around:
    """An environment.

    Attributes:
        set: variables; those that are None are taken away.
        streams: what a shell does with standard streams.
        lost: which of them are lost: "1" output, "2" messages.
        patch: what Python does at its start.
    """

    set: Mapping[str, str | None] = field(default_factory=dict[str, "str | None"])
    streams: str = ""
    lost: str = ""
    patch: str = ""


AROUND: dict[str, Around] = {
    "TERM unset": Around({"TERM": None, "COLUMNS": None}),
    "TERM dumb": Around({"TERM": "dumb"}),
    "TERM garbage": Around({"TERM": "\x1b[31m/../x", "COLUMNS": "-5", "LINES": "x"}),
    "one column": Around({"COLUMNS": "1", "FORCE_COLOR": "1"}),
    "HOME unset": Around(
        {"HOME": None, "XDG_CONFIG_HOME": None, "XDG_CACHE_HOME": None, "MPLCONFIGDIR": None}
    ),
    "HOME a file": Around({"HOME": "/dev/null", "MPLCONFIGDIR": None}),
    "HOME missing": Around({"HOME": "/nowhere/at/all", "MPLCONFIGDIR": "/nowhere/config"}),
    "TMPDIR missing": Around({"TMPDIR": "/nowhere/at/all"}),
    "TMPDIR a file": Around({"TMPDIR": "/dev/null", "TMP": "", "TEMP": "\udcff"}),
    "LC_ALL C": Around({"LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}),
    "LC_ALL garbage": Around({"LC_ALL": "xx_YY.nonsense", "LANG": "\udcff", "LANGUAGE": "::"}),
    "ASCII": Around({"PYTHONIOENCODING": "ascii:strict"}),
    "Latin 1": Around({"PYTHONIOENCODING": "latin-1:strict"}),
    "no PATH": Around({"PATH": "", "USER": None, "LOGNAME": None, "SHELL": "x"}),
    "TZ garbage": Around({"TZ": "Nowhere/\udcff"}),
    "clock": Around(patch=BACKWARDS),
    "input closed": Around(streams="<&-"),
    "messages closed": Around(streams="2>&-", lost="2"),
    "messages full": Around(streams="2>/dev/full", lost="2"),
    "output closed": Around(streams=">&-", lost="1"),
    "output full": Around(streams=">/dev/full", lost="1"),
    "output a closed pipe": Around(streams="| true", lost="1"),
    "all closed": Around(streams="<&- >&- 2>&-", lost="12"),
    "output read-only": Around(streams="1</dev/null", lost="1"),
}


@cache
def _results() -> Tree:
    """A folder with the documents and a results directory."""
    with TemporaryDirectory() as root:
        folder = Path(root)
        _prepare(folder)
        return tree(folder)


def _prepare(folder: Path) -> None:
    for name, text in power.DOCUMENTS.items():
        (folder / name).write_text(text)
    (folder / "a.toml").write_text(NETWORK)
    done = power.run(("run", "a.toml", "--out", "r", "-j", "1"), folder)
    if done.status != 0:
        raise AssertionError(f"undisturbed, it ends with {done}")


@dataclass(frozen=True)
class _Done:
    status: int
    shown: str
    said: str
    written: dict[str, bytes]


def _run(command: str, around: Around, folder: Path) -> _Done:
    folder = folder / "place"
    plant(folder, _results())
    given: dict[str, str | None] = {
        "TERM": "xterm",
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "TMPDIR": str(folder),
    }
    given.update(around.set)
    environment = {name: value for name, value in given.items() if value is not None}
    patches = folder / "patches"
    patches.mkdir()
    (patches / "sitecustomize.py").write_text(around.patch)
    environment["PYTHONPATH"] = os.pathsep.join([str(patches), *filter(None, sys.path)])
    line = f"'{sys.executable}' -W ignore -m hopsim {COMMANDS[command]}"
    streams = (
        f"{line} {around.streams}"
        if "|" not in around.streams
        else f"{line} {around.streams}; exit ${{PIPESTATUS[0]}}"
    )
    done = subprocess.run(
        ["/bin/bash", "-c", streams],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=LONGEST_S,
        check=False,
    )
    shown, said = (text.decode("utf-8", "replace") for text in (done.stdout, done.stderr))
    stored = folder / "d"
    written = contents(stored) if (stored / "manifest.json").exists() else {}
    return _Done(done.returncode, shown, said, written)


def _wrong(done: _Done, plain: _Done, around: Around) -> str:
    if any(bad in done.said for bad in ("internal error", "Traceback", "Exception ignored", "panicked")):
        return done.said[-500:]
    if "1" in around.lost:
        # What shows nothing may be done; otherwise the loss is told.
        allowed = {1} if plain.shown else {plain.status, 1}
        if "pipe" in around.streams or "|" in around.streams:
            allowed |= {plain.status}
        if done.status not in allowed | ({plain.status} if plain.status else set()):
            return f"ends with {done.status}: {done.said[-300:]!r}"
        return ""
    if done.status != plain.status:
        return f"ends with {done.status}, not {plain.status}: {done.said[-300:]!r}"
    if {*done.written} != {*plain.written}:
        return f"leaves {sorted({*done.written} ^ {*plain.written})}"
    differing = [
        name
        for name, content in plain.written.items()
        if not name.startswith("plots/") and name != "manifest.json" and done.written[name] != content
    ]
    return f"leaves other {differing}" if differing else ""


PAIRS = [(command, name) for command in COMMANDS for name in AROUND]
COUNT = len(PAIRS)


def order() -> list[tuple[str, str]]:
    """All pairs of a command and an environment, in a drawn order."""
    return random.Random(1).sample(PAIRS, COUNT)


def tried(numbers: Iterable[int], jobs: int, tick: Callable[[], object]) -> list[str]:
    """Commands in environments, by their numbers in that order; what is wrong."""
    _results()  # Here, as threads share the working directory.
    pairs = [order()[number] for number in numbers]
    with ThreadPoolExecutor(jobs) as pool, TemporaryDirectory() as root:
        commands = sorted({command for command, _ in pairs})
        good = [pool.submit(_run, each, Around(), Path(mkdtemp(dir=root))) for each in commands]
        plain = {each: done.result() for each, done in zip(commands, good, strict=True)}

        def one(pair: tuple[str, str]) -> str:
            command, name = pair
            around = AROUND[name]
            try:
                done = _run(command, around, Path(mkdtemp(dir=root)))
            except subprocess.TimeoutExpired:
                text = f"does not end within {LONGEST_S} s"
            else:
                text = _wrong(done, plain[command], around)
            tick()
            return f"environment {command}, {name}: {text}" if text else ""

        return [*filter(None, pool.map(one, pairs))]
