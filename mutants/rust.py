"""A sample of what `cargo-mutants` can break in the engine, against the Rust tests of `make test`."""

from __future__ import annotations

import json
import random
import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from mutants.changes import Change
from mutants.named import EntryError
from mutants.score import Fate, Outcome
from mutants.scratch import CHECKOUT, PROFILE, Scratch

TARGET = 0.95

FOLDERS = ("routing", "injection", "traffic", "measure", "engine", "plan")
"""Of `crates/hopsim-core/src`; `plan` with `plan.rs`."""
SOURCES = "crates/hopsim-core/src"

STAGES = (
    ("--package=hopsim-core", "--lib", "--", "--skip=engine::mode"),
    ("--package=hopsim-reference", "--test=it", "engine::engine_and_reference_agree_on_every_packet"),
    ("--package=hopsim-reference", "--tests"),
    ("--package=hopsim-core", "--features=trace", "--tests"),
)
"""What `cargo test` is told. The first catch most in the least time; the last two run everything."""

LIMIT_S = 6 * 3600.0
BUILD_LIMIT_S = 1800
LEAST_LIMIT_S = 120
SLOWER = 8
"""A test that takes this many times what it takes without mutant has met an endless loop."""

_FATES = {
    "CaughtMutant": Fate.CAUGHT,
    "MissedMutant": Fate.MISSED,
    "Timeout": Fate.ENDLESS,
    "Unviable": Fate.UNVIABLE,
}


def tool() -> str:
    """The program. Raises `EntryError` if it is not installed."""
    own = CHECKOUT / "target" / "tools" / "bin" / "cargo-mutants"
    found = str(own) if own.exists() else shutil.which("cargo-mutants")
    if found is None:
        raise EntryError(
            "cargo-mutants is not installed: run make mutants, or cargo install --locked cargo-mutants"
        )
    return found


def listed(scratch: Scratch) -> dict[str, Change]:
    """All mutants of the folders: name -> change."""
    files = [glob for folder in FOLDERS for glob in (f"{SOURCES}/{folder}/**", f"{SOURCES}/{folder}.rs")]
    found = _mutants(scratch, "--list", "--json", "--diff", *(f"--file={glob}" for glob in files))
    return {each["name"]: Change.of_diff(each["file"], each["diff"]) for each in found}


def _mutants(scratch: Scratch, *arguments: str) -> list[dict[str, Any]]:
    run = scratch.run([tool(), "mutants", "--no-config", "--package=hopsim-core", *arguments], LIMIT_S)
    try:
        return json.loads(run.output)
    except ValueError:
        raise EntryError(f"cargo-mutants lists no mutants:\n{run.output}") from None


def folder(change: Change) -> str:
    """Which of `FOLDERS` a change is in."""
    return Path(change.file).relative_to(SOURCES).parts[0].removesuffix(".rs")


def sample(
    mutants: Mapping[str, Change], each: int, seed: int, folders: Sequence[str] = FOLDERS
) -> list[str]:
    """Names of `each` mutants of every folder, or all it has, drawn with the seed."""
    draw = random.Random(seed)
    chosen = []
    for place in FOLDERS:
        names = sorted(name for name, change in mutants.items() if folder(change) == place)
        # Drawn for every folder, so that the sample of one does not depend on which others are asked for.
        drawn = draw.sample(names, min(each, len(names)))
        chosen += drawn if place in folders else []
    return chosen


def run(scratch: Scratch, mutants: Mapping[str, Change], names: Sequence[str]) -> list[Outcome]:
    """Try the mutants of these names. Raises `EntryError` if the tests fail without any."""
    fates: dict[str, Fate] = {}
    for stage in STAGES:
        left = [name for name in names if fates.get(name, Fate.MISSED) is Fate.MISSED]
        fates |= _stage(scratch, left, stage) if left else {}
    return [Outcome(folder(mutants[name]), name, mutants[name], fates[name]) for name in names]


def _stage(scratch: Scratch, names: Sequence[str], stage: Sequence[str]) -> dict[str, Fate]:
    # In place: the copy of the checkout is there for it, and keeps what is compiled.
    command = [tool(), "mutants", "--no-config", "--in-place", "--no-shuffle", f"--profile={PROFILE}"]
    command += ["--package=hopsim-core", f"--build-timeout={BUILD_LIMIT_S}"]
    command += [f"--minimum-test-timeout={LEAST_LIMIT_S}", f"--timeout-multiplier={SLOWER}"]
    command += [f"--re=^{re.escape(name)}$" for name in names]
    output = scratch.root / "target" / "stage"
    shutil.rmtree(output, ignore_errors=True)
    output.mkdir(parents=True)
    done = scratch.run([*command, f"--output={output}", "--", *stage], LIMIT_S)
    try:
        outcomes = json.loads((output / "mutants.out" / "outcomes.json").read_text("utf-8"))["outcomes"]
    except (OSError, ValueError, KeyError):
        raise EntryError(f"cargo-mutants did not end as expected:\n{done.output}") from None
    fates = {
        outcome["scenario"]["Mutant"]["name"]: _FATES[outcome["summary"]]
        for outcome in outcomes
        if outcome["scenario"] != "Baseline"
    }
    if set(fates) != set(names):
        raise EntryError(f"cargo-mutants tried {len(fates)} of {len(names)} mutants:\n{done.output}")
    return fates
