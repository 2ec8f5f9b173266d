"""The score card: what of the publications came out, entry by entry."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from hopsim.files import atomic
from hopsim_reproduce.model import Entry, Outcome, Scale
from hopsim_reproduce.sentences import Judged, judge, repeats

FILE = "scorecard.json"
NOT_RUN = "not run yet"
JUDGED = ("held", "failed")
FEW = 3
"""Statements that are named one by one."""


@dataclass(frozen=True)
class Line:
    """A statement or value of an entry."""

    text: str
    kind: str
    where: str
    verdict: str
    found: str = ""
    cause: str = ""
    """Why it failed, as far as that is known, or why it is shown only."""


@dataclass(frozen=True)
class Score:
    """An entry and all its statements."""

    entry: str
    scale: str
    """Empty if it has not been run."""
    seeds: int
    """Runs per point."""
    repeats: str
    """The entry whose statements it judges with other settings."""
    lines: Sequence[Line]
    error: str = ""
    """Why there is no verdict."""

    def count(self, kind: str, *verdicts: str) -> int:
        """Statements of a kind with one of these verdicts."""
        return sum(line.kind == kind and line.verdict in verdicts for line in self.lines)

    def held(self, kind: str) -> str:
        """Held of those judged, as text; empty if there are none."""
        judged = self.count(kind, *JUDGED)
        return f"{self.count(kind, 'held')} of {judged}" if judged else ""

    @property
    def was_run(self) -> bool:
        """Whether there are verdicts."""
        return bool(self.scale)

    @property
    def failed(self) -> list[Line]:
        """What did not hold of what the publication says or what follows from it."""
        return [line for line in self.lines if line.verdict == "failed" and line.kind != "ours"]


def score(entry: Entry, scale: Scale, seeds: int, outcome: Outcome) -> Score:
    """Of an entry that was run, with so many runs per point."""
    lines = [_line(each) for each in judge(entry, scale, outcome)]
    return Score(entry.name, scale, seeds, _repeats(entry.name), lines)


def pending(entry: str, error: str = "") -> Score:
    """Of one that was not, or could not be, run."""
    return Score(entry, "", 0, _repeats(entry), (), error)


def _repeats(entry: str) -> str:
    found = repeats().get(entry)
    return found.of if found else ""


def _line(judged: Judged) -> Line:
    own = judged.sentence
    cause = own.known(judged.text) if judged.verdict == "failed" else judged.note
    return Line(judged.text, own.kind, own.where, judged.verdict, judged.found, cause)


def write(path: Path, scores: Iterable[Score]) -> None:
    """As JSON."""
    text = json.dumps([_record(each) for each in scores], ensure_ascii=False, indent=1)
    atomic.make_folder(path.parent)
    atomic.write_text(path, text + "\n")


def _record(each: Score) -> Mapping[str, Any]:
    lines = [{key: value for key, value in asdict(line).items() if value} for line in each.lines]
    return {**asdict(each), "lines": lines}


def read(path: Path) -> list[Score]:
    """What `write` has written."""
    return [
        replace(Score(**record), lines=[Line(**line) for line in record["lines"]])
        for record in json.loads(path.read_text("utf-8"))
    ]


HEADINGS = (
    "entry",
    "scale",
    "seeds",
    "published: held",
    "derived",
    "ours",
    "need full scale",
    "shown only",
    "failed",
)


def row(each: Score) -> tuple[str, ...]:
    """Of the table of all entries."""
    numbers = [each.held(kind) for kind in ("published", "derived", "ours")]
    others = [
        str(sum(line.verdict == verdict for line in each.lines) or "")
        for verdict in ("needs full scale", "shown only")
    ]
    how = (each.scale or NOT_RUN, str(each.seeds or ""))
    return (each.entry, *how, *numbers, *others, each.error or _causes(each.failed))


def _causes(failed: Sequence[Line]) -> str:
    """What failed, and the cause of each, one after the other."""
    causes: dict[str, list[str]] = {}
    for line in failed:
        causes.setdefault(line.cause, []).append(line.text)
    return " ".join(
        f"{_named(texts)}{f' — {cause}' if cause else ' (cause not known).'}"
        for cause, texts in causes.items()
    )


def _named(texts: Sequence[str]) -> str:
    """Statements that failed, or how many if they are more than fit a line."""
    return "; ".join(texts) if len(texts) <= FEW else f"{len(texts)} statements, such as: {texts[0]}"


def totals(scores: Iterable[Score]) -> str:
    """Over all entries but those that repeat others."""
    own = [each for each in scores if not each.repeats]
    run = [each for each in own if each.was_run]
    parts = [
        f"{sum(each.count(kind, 'held') for each in run)} of "
        f"{sum(each.count(kind, *JUDGED) for each in run)} {words}"
        for kind, words in (
            ("published", "published statements and values held"),
            ("derived", "that follow from what is printed"),
            ("ours", "of our own, which no publication makes"),
        )
    ]
    later = sum(line.verdict == "needs full scale" for each in run for line in each.lines)
    return (
        f"{len(run)} of {len(own)} entries run: {', '.join(parts)}; {later} need full scale. "
        "Entries that repeat others with other settings are not counted."
    )


def markdown(scores: Sequence[Score]) -> str:
    """The card as a page of the documentation has it: totals, entries, and those that repeat others."""
    parts = [totals(scores), _table([each for each in scores if not each.repeats])]
    others = [each for each in scores if each.repeats]
    if others:
        parts += ["The same statements with other settings, not counted above:", _table(others)]
    return "\n\n".join(parts) + "\n"


def _table(scores: Sequence[Score]) -> str:
    lines = [HEADINGS, ("---", "---", *["--:"] * 6, "---")]
    lines += [row(each) for each in scores]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)
