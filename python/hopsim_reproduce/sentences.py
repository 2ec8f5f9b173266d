"""What publications say, sentence by sentence, and which statements and values of entries stand for which.

An entry judges statements and values; `data/sentences/*.toml` says of each which sentence of the publication
it stands for, and whether the publication says it at all. A statement stands for the first sentence of its
publication's file that fits it.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, Literal, get_args

from hopsim_reproduce.model import Comparison, Entry, Fact, Outcome, Scale

Kind = Literal["published", "derived", "ours"]
"""The publication says it; it follows from what is printed there; nobody published it."""
Verdict = Literal["held", "failed", "needs full scale", "shown only"]
KINDS: tuple[Kind, ...] = get_args(Kind)
LEAST_SEEDS = 3
"""Seeds from which on their spread may explain a difference: with two nearly any is within it."""


@dataclass(frozen=True)
class Sentence:
    """A sentence of a publication in our words, or one of ours."""

    entry: str
    """Name of its entry; `*` stands for anything here and in `statements`."""
    where: str
    """Section and figure."""
    says: str
    kind: Kind
    statements: Sequence[str]
    """Statements, and values as `row, quantity`."""
    full: bool = False
    """Whether it is of the published network and length, so that a quick run says nothing of it."""
    cause: str = ""
    """What is known of why it does not hold."""
    fails: Sequence[str] = ("*",)
    """The statements that this is known of."""

    def fits(self, entry: str, text: str) -> bool:
        """Whether a statement of an entry stands for it."""
        return _fits([self.entry], entry) and _fits(self.statements, text)

    def known(self, text: str) -> str:
        """What is known of why a statement does not hold; empty if nothing is."""
        return self.cause if _fits(self.fails, text) else ""


@dataclass(frozen=True)
class Repeat:
    """An entry that judges the statements of another one with other settings."""

    entry: str
    of: str
    why: str


@dataclass(frozen=True)
class Judged:
    """A statement or value with its sentence and its verdict."""

    text: str
    """The statement, or `row, quantity`."""
    sentence: Sentence
    verdict: Verdict
    found: str
    note: str = ""
    """Why a value is shown only, or that the spread of seeds explains it."""

    @property
    def kind(self) -> Kind:
        """That of its sentence."""
        return self.sentence.kind


def _fits(patterns: Sequence[str], text: str) -> bool:
    return any(_pattern(each).fullmatch(text) for each in patterns)


@cache
def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(".*".join(re.escape(part) for part in text.split("*")))


@cache
def _files() -> Mapping[str, Mapping[str, Any]]:
    """Publication -> its file."""
    folder = resources.files("hopsim_reproduce") / "data" / "sentences"
    return {
        file.name.removesuffix(".toml"): tomllib.loads(file.read_text("utf-8"))
        for file in folder.iterdir()
        if file.name.endswith(".toml")
    }


@cache
def sentences(publication: str) -> Sequence[Sentence]:
    """All of a publication, in the order in which they are tried."""
    return [Sentence(**each) for each in _files()[publication]["sentence"]]


@cache
def repeats() -> Mapping[str, Repeat]:
    """Entry -> what it repeats."""
    found = (Repeat(**each) for file in _files().values() for each in file.get("repeat", ()))
    return {each.entry: each for each in found}


def publication(entry: str) -> str:
    """The first word of the name of an entry."""
    return entry.partition("-")[0]


def find(entry: str, text: str) -> Sentence | None:
    """What a statement or value stands for, if there is one of this text."""
    found = (each for each in sentences(publication(entry)) if each.fits(entry, text))
    return next(found, None)


def sentence(entry: str, text: str) -> Sentence:
    """What a statement or value of an entry stands for."""
    found = find(entry, text)
    if found is None:
        raise LookupError(f"{entry}: no sentence for: {text}")
    return found


def name(value: Comparison) -> str:
    """What a value is called among statements."""
    return f"{value.row}, {value.quantity}"


def judge(entry: Entry, scale: Scale, outcome: Outcome) -> list[Judged]:
    """Every statement and value of an outcome with its verdict."""
    return [*_values(entry, scale, outcome.comparisons), *_facts(entry, scale, outcome.facts)]


def _facts(entry: Entry, scale: Scale, facts: Sequence[Fact]) -> Iterator[Judged]:
    for fact in facts:
        own = sentence(entry.name, fact.statement)
        verdict = _later(own, scale) or ("held" if fact.holds else "failed")
        yield Judged(fact.statement, own, verdict, f"{fact.criterion}: {fact.found}")


def _values(entry: Entry, scale: Scale, values: Sequence[Comparison]) -> Iterator[Judged]:
    for value in values:
        own = sentence(entry.name, name(value))
        yield Judged(name(value), own, *_of_value(value, own, scale))


def _of_value(value: Comparison, own: Sentence, scale: Scale) -> tuple[Verdict, str, str]:
    ours = "does not exist" if value.ours is None else f"{value.ours.mean:.{value.decimals}f}"
    found = f"{ours} for {value.published:.{value.decimals}f}"
    if value.only:
        return "shown only", found, value.only
    if later := _later(own, scale):
        return later, found, ""
    if value.agrees:
        return "held", found, ""
    if value.ours is not None and value.ours.seeds >= LEAST_SEEDS and value.is_chance:
        return "held", found, "within the spread of seeds"
    return "failed", found, ""


def _later(own: Sentence, scale: Scale) -> Verdict | None:
    return "needs full scale" if own.full and scale == "quick" else None
