"""The rules that are broken by name: `named/AREA.toml`, one entry each."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, fields
from enum import Enum
from pathlib import Path

from mutants.scratch import CHECKOUT, PROFILE, Run, Scratch

DIRECTORY = Path(__file__).parent / "named"

_CARGO_TEST = ("cargo", "test", "--quiet", "--profile", PROFILE)

BUILD_LIMIT_S = 3600.0
LEAST_LIMIT_S = 60.0
SLOWER = 10.0
"""A test has failed to notice a mutant if it takes this many times what it takes without."""


class EntryError(Exception):
    """An entry cannot be used; the message names it and says why."""


class Verdict(Enum):
    """What became of a mutant."""

    CAUGHT = "caught"
    MISSED = "missed"
    ENDLESS = "missed: its test did not end"
    UNBUILT = "does not compile"
    STALE = "stale"


@dataclass(frozen=True)
class Mutant:
    """A rule, how it is broken, and the test that notices."""

    area: str
    name: str
    breaks: str
    """What is wrong then, in a sentence."""
    file: str
    find: str
    """Text that is in the file exactly once."""
    replace: str
    test: tuple[str, ...]
    """`cargo test …` or `python -m pytest …`; fails on the mutant."""

    def text(self, root: Path) -> str | None:
        """The file with the rule broken; None if the rule is no longer there."""
        try:
            whole = (root / self.file).read_text("utf-8")
        except FileNotFoundError:
            return None
        return whole.replace(self.find, self.replace) if whole.count(self.find) == 1 else None

    def staleness(self, root: Path) -> str:
        """Why `text` is None."""
        if not (root / self.file).is_file():
            return f"{self.file} does not exist"
        count = (root / self.file).read_text("utf-8").count(self.find)
        return f"`find` is in {self.file} {count} times, and must be there once"


@dataclass(frozen=True)
class Judgement:
    """A verdict, and what there is to say of it."""

    mutant: Mutant
    verdict: Verdict
    seconds: float = 0.0
    details: str = ""


def read(directory: Path = DIRECTORY) -> list[Mutant]:
    """All entries, by area. Raises `EntryError`."""
    found = [mutant for file in sorted(directory.glob("*.toml")) for mutant in _entries(file)]
    names = [mutant.name for mutant in found]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise EntryError(f"{twice[0]}: two mutants have this name")
    return found


def _entries(file: Path) -> list[Mutant]:
    try:
        document = tomllib.loads(file.read_text("utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise EntryError(f"{file.name}: {error}") from None
    if set(document) - {"mutant"}:
        raise EntryError(f"{file.name}: holds [[mutant]] entries only, not {min(set(document) - {'mutant'})}")
    return [_mutant(file, entry) for entry in document.get("mutant", [])]


def _mutant(file: Path, entry: dict[str, object]) -> Mutant:
    place = f"{file.name}: {entry.get('name', 'an entry without name')}"
    keys = [each.name for each in fields(Mutant) if each.name != "area"]
    for key in entry:
        if key not in keys:
            raise EntryError(f"{place}: {key} is no key; keys: {', '.join(keys)}")
    for key in keys:
        if not isinstance(entry.get(key), list if key == "test" else str):
            raise EntryError(f"{place}: {key} is missing, or not a {'list' if key == 'test' else 'text'}")
    texts = {key: str(entry[key]) for key in keys if key != "test"}
    if texts["find"] == texts["replace"] or not texts["find"]:
        raise EntryError(f"{place}: find must hold something that replace does not")
    mutant = Mutant(area=file.stem, **texts, test=tuple(map(str, entry["test"])))  # type: ignore[arg-type]
    if mutant.test[:2] != ("cargo", "test") and mutant.test[:3] != ("python", "-m", "pytest"):
        raise EntryError(f"{place}: test must begin with cargo test or python -m pytest")
    return mutant


class Bench:
    """Applies mutants to a copy of the checkout, one at a time."""

    def __init__(self, scratch: Scratch) -> None:
        self._scratch = scratch
        self._seconds: dict[tuple[str, ...], float] = {}
        """Test -> how long it takes when nothing is broken [s]."""

    def judge(self, mutant: Mutant) -> Judgement:
        """What the test of a mutant says. Raises `EntryError` if it fails without the mutant."""
        text = mutant.text(self._scratch.root)
        if text is None:
            return Judgement(mutant, Verdict.STALE, details=mutant.staleness(self._scratch.root))
        limit_s = max(LEAST_LIMIT_S, SLOWER * self._seconds_of(mutant))
        with self._scratch.with_text(mutant.file, text):
            built = self._build(mutant)
            if built.status != 0:
                return Judgement(mutant, Verdict.UNBUILT, built.seconds, built.output)
            run = self._scratch.run(_plain(mutant.test), limit_s)
        return Judgement(mutant, _verdict(mutant, run), built.seconds + run.seconds, run.output)

    def _seconds_of(self, mutant: Mutant) -> float:
        if mutant.test not in self._seconds:
            built = self._build(mutant)
            run = self._scratch.run(_plain(mutant.test), BUILD_LIMIT_S)
            if built.status != 0 or run.status != 0:
                raise EntryError(
                    f"{mutant.name}: its test fails without the mutant: {' '.join(mutant.test)}\n{run.output}"
                )
            self._seconds[mutant.test] = run.seconds
        return self._seconds[mutant.test]

    def _build(self, mutant: Mutant) -> Run:
        """Compile what the test needs: what does not compile is not caught by a test."""
        if mutant.test[0] == "cargo":
            command = (*_CARGO_TEST, "--no-run", *mutant.test[2:])
        else:
            script = "import ast, pathlib, sys; ast.parse(pathlib.Path(sys.argv[1]).read_text('utf-8'))"
            command = ("python", "-c", script, mutant.file)
        return self._scratch.run(command, BUILD_LIMIT_S)


def _plain(test: Sequence[str]) -> tuple[str, ...]:
    """The test as it is run: one failure is enough, and nothing is kept for the next run."""
    if test[0] == "cargo":
        return (*_CARGO_TEST, *test[2:])
    return (*test, "-x", "-p", "no:cacheprovider")


def _verdict(mutant: Mutant, run: Run) -> Verdict:
    if run.status is None:
        return Verdict.ENDLESS
    if run.status == 0:
        return Verdict.MISSED
    # Other statuses of pytest are errors while tests are collected: no test has said anything.
    return Verdict.CAUGHT if mutant.test[0] == "cargo" or run.status == 1 else Verdict.UNBUILT


def stale(mutants: Sequence[Mutant], root: Path = CHECKOUT) -> list[str]:
    """A message for each mutant that does not fit the sources."""
    return [f"{mutant.name}: {mutant.staleness(root)}" for mutant in mutants if mutant.text(root) is None]
