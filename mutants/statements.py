"""Published statements, each of which has to notice when the mechanism that it is about is broken.

`statements.toml` says which named mutant breaks the mechanism of which entry of `hopsim reproduce`. All are
compiled into one module, and each entry is run with that of its row. A statement that fails with the module
as it should be, by the documented score card, says nothing.
"""

from __future__ import annotations

import json
import shutil
import tomllib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from mutants import named, together
from mutants.bench import BUILD_LIMIT_S, MODULE
from mutants.scratch import CHECKOUT, MutantsError, Scratch

FILE = Path(__file__).with_name("statements.toml")
CARD = CHECKOUT / "docs" / "scorecard.json"
RUN_LIMIT_S = 3600.0
_BUILD = ("cargo", "build", "--quiet", "--release", "--package", "hopsim-py")
_BUILT = Path("target/release/lib_core.so")


@dataclass(frozen=True)
class Row:
    """What is broken, and whose statements have to notice."""

    entries: tuple[str, ...]
    """Names; `*` stands for anything."""
    mutants: tuple[str, ...]
    full: bool = False
    """Whether a quick run judges nothing of them."""

    def has(self, entry: str) -> bool:
        """Whether it is about an entry."""
        return any(fnmatchcase(entry, pattern) for pattern in self.entries)


@dataclass(frozen=True)
class Tried:
    """An entry that was run with a mutant."""

    entry: str
    mutant: str
    failed: Sequence[str]
    """Published statements that fail, and hold otherwise."""
    error: str = ""
    """Why there is no verdict."""

    def text(self) -> str:
        """What became of it."""
        found = self.error or f"{len(self.failed)} statements fail" + "".join(
            f"\n    {each}" for each in self.failed
        )
        return f"{self.entry} with {self.mutant}: {found}"


def entries() -> list[str]:
    """Entries with published statements, in the order of `hopsim reproduce`."""
    from hopsim_reproduce.entries import ENTRIES
    from hopsim_reproduce.sentences import publication, sentences

    return [
        entry.name
        for entry in ENTRIES
        if any(
            each.kind == "published" and fnmatchcase(entry.name, each.entry)
            for each in sentences(publication(entry.name))
        )
    ]


def read(file: Path = FILE) -> list[Row]:
    """All rows. Raises `MutantsError` for a mutant that does not exist."""
    known = {mutant.name for mutant in named.read()}
    rows = [
        Row(tuple(each["entries"]), tuple(each["mutants"]), each.get("full", False))
        for each in tomllib.loads(file.read_text("utf-8"))["row"]
    ]
    for name in (name for row in rows for name in row.mutants):
        if name not in known:
            raise MutantsError(f"{file.name}: {name}: is not in mutants/named")
    return rows


def trials(rows: Iterable[Row], entries: Iterable[str], *, full: bool) -> list[tuple[str, str]]:
    """Which entry is run with which mutant."""
    asked = [row for row in rows if row.full == full]
    return [(entry, name) for entry in entries for row in asked if row.has(entry) for name in row.mutants]


def run(scratch: Scratch, pairs: Sequence[tuple[str, str]], *, full: bool) -> Iterable[Tried]:
    """Compile all mutants together and run each entry with its own, from nothing.

    Raises `MutantsError` if a mutant cannot be compiled with others.
    """
    wanted = {name for _, name in pairs}
    mutants = [each for each in named.read() if each.name in wanted]
    with together.placed(scratch, mutants) as held:
        _refuse(wanted - held)
        built = scratch.run(_BUILD, BUILD_LIMIT_S)
        if built.status != 0:
            raise MutantsError(f"the mutants do not compile together\n{built.output}")
        with scratch.with_content(MODULE, (scratch.root / _BUILT).read_bytes()):
            for entry, name in pairs:
                yield attempt(scratch, entry, name, scale="full" if full else "quick")


def _refuse(names: Collection[str]) -> None:
    if names:
        raise MutantsError(f"{min(names)}: cannot be compiled with other mutants; choose another one")


def attempt(scratch: Scratch, entry: str, mutant: str, *, scale: str = "quick") -> Tried:
    """Run an entry with a mutant that the module of the copy holds."""
    out = scratch.root / "target" / "statements"
    shutil.rmtree(out, ignore_errors=True)
    words = ("reproduce", "all", "--only", entry, "--scale", scale, "--jobs", "1", "--out", str(out))
    done = scratch.run(("python", "-m", "hopsim", *words), RUN_LIMIT_S, variables={together.CHOICE: mutant})
    if done.status is None:
        return Tried(entry, mutant, (), "did not end")
    if done.status != 0:
        return Tried(entry, mutant, (), f"ended with status {done.status}: {done.output[-500:]}")
    card = _cards(out / "scorecard.json")[entry]
    return Tried(entry, mutant, _failed(card, _cards(CARD).get(entry)), str(card.get("error", "")))


def _cards(file: Path) -> dict[str, Mapping[str, object]]:
    return {each["entry"]: each for each in json.loads(file.read_text("utf-8"))}


def _failed(card: Mapping[str, object], documented: Mapping[str, object] | None) -> list[str]:
    """Published statements that fail in a card, and not in the documented one."""
    anyway = {line["text"] for line in _lines(documented or {}) if line["verdict"] == "failed"}
    return [
        line["text"]
        for line in _lines(card)
        if line["kind"] == "published" and line["verdict"] == "failed" and line["text"] not in anyway
    ]


def _lines(card: Mapping[str, object]) -> Sequence[Mapping[str, str]]:
    return card.get("lines", ())  # type: ignore[return-value]


def without_row(rows: Sequence[Row], entries: Iterable[str]) -> list[str]:
    """Entries that no row is about."""
    return [entry for entry in entries if not any(row.has(entry) for row in rows)]
