"""A sample of what `cargo-mutants` can break in the engine, against the Rust tests of `make test`."""

from __future__ import annotations

import json
import random
import re
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from itertools import pairwise

from mutants.bench import Bench, Verdict
from mutants.changes import Change
from mutants.score import Fate, Outcome
from mutants.scratch import CHECKOUT, MutantsError, Scratch

TARGET = 0.95

CYCLES = "crates/hopsim-cycles/src"
EXPERIMENT = "crates/hopsim-experiment/src"
FOLDERS = {
    "routing": ("crates/hopsim-routing/src/**",),
    "traffic": ("crates/hopsim-traffic/src/**",),
    "injection": (f"{CYCLES}/injection/**",),
    "measure": ("crates/hopsim-measure/src/**",),
    "engine": tuple(f"{CYCLES}/{each}/**" for each in ("kernel", "node", "router", "threads")),
    "runs": ("crates/hopsim-core/src/engine/**",),
    "plan": (f"{EXPERIMENT}/plan/**", f"{EXPERIMENT}/plan.rs"),
}
"""What is broken: names, and the files of each."""

PACKAGES = (
    "hopsim-core",
    "hopsim-cycles",
    "hopsim-experiment",
    "hopsim-measure",
    "hopsim-routing",
    "hopsim-traffic",
)
"""Those that the files are of."""

STAGES = (
    (*(f"--package={package}" for package in PACKAGES), "--lib"),
    ("-p", "hopsim-experiment", "--tests"),
    ("-p", "hopsim-reference", "--test", "it", "--", "engine::engine_and_reference_agree_on_every_packet"),
    ("-p", "hopsim-reference", "--tests"),
    ("-p", "hopsim-core", "--features", "trace", "--tests"),
)
"""What `cargo test` is told until a test fails. The last two are all tests; those before take less time."""

LIST_LIMIT_S = 600.0

_FATES = {Verdict.CAUGHT: Fate.CAUGHT, Verdict.ENDLESS: Fate.ENDLESS, Verdict.UNBUILT: Fate.UNVIABLE}
_HUNK = re.compile(r"^@@ -(\d+)", re.MULTILINE)


@dataclass(frozen=True)
class Mutant:
    """One thing that `cargo-mutants` can break."""

    name: str
    """With file, line and column."""
    file: str
    diff: str

    @property
    def folder(self) -> str:
        """Which of `FOLDERS` it is in."""
        return _folder_of(self.file)

    @property
    def change(self) -> Change:
        """What it changes."""
        return Change.of_diff(self.file, self.diff)


def _folder_of(file: str) -> str:
    """The one of `FOLDERS` that a file is in; empty for others."""
    return next((name for name, globs in FOLDERS.items() if any(fnmatch(file, glob) for glob in globs)), "")


def tool() -> str:
    """The program. Raises `MutantsError` if it is not installed."""
    own = CHECKOUT / "target" / "tools" / "bin" / "cargo-mutants"
    found = str(own) if own.exists() else shutil.which("cargo-mutants")
    if found is None:
        how = "run make mutants-rust, or cargo install --locked cargo-mutants"
        raise MutantsError(f"cargo-mutants is not installed: {how}")
    return found


def listed(scratch: Scratch) -> list[Mutant]:
    """All mutants of the folders."""
    packages = [f"--package={package}" for package in PACKAGES]
    files = [f"--file={glob}" for globs in FOLDERS.values() for glob in globs]
    command = [tool(), "mutants", "--no-config", "--list", "--json", "--diff", *packages, *files]
    run = scratch.run(command, LIST_LIMIT_S)
    try:
        found = json.loads(run.output)
    except ValueError:
        raise MutantsError(f"cargo-mutants lists no mutants:\n{run.output}") from None
    return [Mutant(each["name"], each["file"], each["diff"]) for each in found]


def sample(mutants: Sequence[Mutant], each: int, seed: int, folders: Iterable[str] = FOLDERS) -> list[Mutant]:
    """`each` mutants of every folder, or all that it has, drawn with the seed."""
    chosen: list[Mutant] = []
    for folder in folders:
        here = sorted((mutant for mutant in mutants if mutant.folder == folder), key=lambda each: each.name)
        # The sample of a folder does not depend on which others are asked for.
        chosen += random.Random(f"{seed} {folder}").sample(here, min(each, len(here)))
    return chosen


def patched(text: str, diff: str) -> str:
    """`text` with a unified diff applied to it."""
    lines = text.splitlines(keepends=True)
    starts = [*(match.start() for match in _HUNK.finditer(diff)), len(diff)]
    # From the end, so that the numbers of lines before still hold.
    for start, end in reversed(list(pairwise(starts))):
        head, *body = diff[start:end].splitlines(keepends=True)
        first = int(head.split("-")[1].split(",")[0].split()[0]) - 1
        before = [line[1:] for line in body if line[0] in " -"]
        if lines[first : first + len(before)] != before:
            raise MutantsError(f"a diff of cargo-mutants does not fit its file:\n{diff}")
        lines[first : first + len(before)] = [line[1:] for line in body if line[0] in " +"]
    return "".join(lines)


def attempt(bench: Bench, mutant: Mutant) -> Outcome:
    """Try a mutant against one stage after the other. Raises `MutantsError` if one fails without it."""
    text = patched((bench.scratch.root / mutant.file).read_text("utf-8"), mutant.diff)
    fate = Fate.MISSED
    for stage in STAGES:
        verdict = bench.attempt(mutant.file, text, ("cargo", "test", *stage)).verdict
        fate = _FATES.get(verdict, Fate.MISSED)
        if fate is not Fate.MISSED:
            break
    return Outcome(mutant.folder, mutant.name, mutant.change, fate)


def stale(mutants: Sequence[Mutant], equivalent: Mapping[Change, str]) -> list[Change]:
    """Equivalent changes to the folders that none of the mutants makes."""
    made = {mutant.change for mutant in mutants}
    return [change for change in equivalent if _folder_of(change.file) and change not in made]
