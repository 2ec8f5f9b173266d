"""The rules that are broken by name: `named/AREA.toml`, one entry each."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, fields
from pathlib import Path

from mutants.bench import Bench, Trial, Verdict
from mutants.scratch import MutantsError

DIRECTORY = Path(__file__).parent / "named"


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
    """What became of a mutant."""

    mutant: Mutant
    trial: Trial


def read(directory: Path = DIRECTORY) -> list[Mutant]:
    """All entries, by area. Raises `MutantsError`."""
    found = [mutant for file in sorted(directory.glob("*.toml")) for mutant in _entries(file)]
    names = [mutant.name for mutant in found]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise MutantsError(f"{twice[0]}: two mutants have this name")
    return found


def _entries(file: Path) -> list[Mutant]:
    try:
        document = tomllib.loads(file.read_text("utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise MutantsError(f"{file.name}: {error}") from None
    others = set(document) - {"mutant"}
    if others:
        raise MutantsError(f"{file.name}: holds [[mutant]] entries only, not {min(others)}")
    return [_mutant(file, entry) for entry in document.get("mutant", [])]


def _mutant(file: Path, entry: dict[str, object]) -> Mutant:
    place = f"{file.name}: {entry.get('name', 'an entry without name')}"
    keys = [each.name for each in fields(Mutant) if each.name != "area"]
    for key in entry:
        if key not in keys:
            raise MutantsError(f"{place}: {key} is no key; keys: {', '.join(keys)}")
    for key in keys:
        if not isinstance(entry.get(key), list if key == "test" else str):
            raise MutantsError(f"{place}: {key} is missing, or not a {'list' if key == 'test' else 'text'}")
    texts = {key: str(entry[key]) for key in keys if key != "test"}
    if texts["find"] == texts["replace"] or not texts["find"]:
        raise MutantsError(f"{place}: find must hold something that replace does not")
    mutant = Mutant(area=file.stem, **texts, test=tuple(map(str, entry["test"])))  # type: ignore[arg-type]
    if mutant.test[:2] != ("cargo", "test") and mutant.test[:3] != ("python", "-m", "pytest"):
        raise MutantsError(f"{place}: test must begin with cargo test or python -m pytest")
    return mutant


def judge(bench: Bench, mutant: Mutant) -> Judgement:
    """What the test of a mutant says. Raises `MutantsError` if it fails without the mutant."""
    text = mutant.text(bench.scratch.root)
    if text is None:
        staleness = mutant.staleness(bench.scratch.root)
        return Judgement(mutant, Trial(Verdict.STALE, 0.0, staleness))
    return Judgement(mutant, bench.attempt(mutant.file, text, mutant.test))
