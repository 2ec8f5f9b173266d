"""Prints what an entry concludes, and writes it as CSV."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from hopsim.files import csv_file
from hopsim_reproduce.model import Comparison, Entry, Fact, Outcome, Scale
from hopsim_reproduce.score import HEADINGS, Score, row
from hopsim_reproduce.sentences import KINDS, Judged, Kind, judge, name, sentence

MISSING = "-"
WIDTH = 130
"""Columns of a table that is not shown on a terminal."""
VALUE_COLUMNS = (
    "row",
    "quantity",
    "hopsim",
    "spread",
    "seeds",
    "published",
    "difference",
    "relative",
    "allowed",
    "agrees",
    "chance",
    "kind",
    "place",
    "shown_only",
)
STATEMENT_COLUMNS = ("statement", "required", "hopsim", "holds", "kind", "place", "sentence", "verdict")
TITLES: Mapping[Kind, str] = {
    "published": "published statement",
    "derived": "follows from what is printed",
    "ours": "statement of ours, in no publication",
}
WORDS: Mapping[Kind, str] = {
    "published": "published statements",
    "derived": "statements that follow from what is printed",
    "ours": "statements of ours",
}
VERDICTS: Mapping[str, str] = {
    "held": "[green]yes[/]",
    "failed": "[bold red]no[/]",
    "needs full scale": "[yellow]needs full scale[/]",
}


def listing(entries: Sequence[Entry]) -> Table:
    """The entries that can be reproduced."""
    table = Table("name", "what", "source", title="hopsim reproduce NAME", title_justify="left")
    for entry in entries:
        table.add_row(entry.name, entry.title, entry.source)
    return table


def heading(console: Console, entry: Entry, scale: Scale) -> None:
    """What is going to run."""
    console.print(f"{entry.name}: {entry.title}", style="bold", highlight=False)
    console.print(entry.source, highlight=False)
    for note in entry.notes(scale):
        console.print(f"- {note}", highlight=False)


def outcome(console: Console, entry: Entry, scale: Scale, result: Outcome) -> None:
    """The comparison with the publication."""
    judged = judge(entry, scale, result)
    statements = judged[len(result.comparisons) :]
    if result.comparisons:
        console.print(comparisons(entry.source, result.comparisons))
    for kind in KINDS:
        of_kind = [pair for pair in zip(result.facts, statements, strict=True) if pair[1].kind == kind]
        if of_kind:
            console.print(facts(entry.source, kind, of_kind))
    for line in tally(result, judged):
        console.print(line, highlight=False)


def tally(result: Outcome, judged: Sequence[Judged]) -> list[str]:
    """How many values agree and how many statements hold, those of every kind apart."""
    values, statements = judged[: len(result.comparisons)], judged[len(result.comparisons) :]
    lines = [_values(values)] if values else []
    for kind in KINDS:
        of_kind = [each.verdict for each in statements if each.kind == kind]
        if of_kind:
            lines.append(f"{_held(of_kind)} {WORDS[kind]} hold{_later(of_kind)}.")
    return lines


def _values(judged: Sequence[Judged]) -> str:
    verdicts = [each.verdict for each in judged]
    chance = sum(each.verdict == "held" and bool(each.note) for each in judged)
    more = f", {chance} of them within the spread of seeds" if chance else ""
    shown = verdicts.count("shown only")
    only = f"; {shown} are shown only" if shown else ""
    return f"{_held(verdicts)} values agree{more}{_later(verdicts)}{only}."


def _held(verdicts: Sequence[str]) -> str:
    return f"{verdicts.count('held')} of {verdicts.count('held') + verdicts.count('failed')}"


def _later(verdicts: Sequence[str]) -> str:
    count = verdicts.count("needs full scale")
    return f"; {count} more need the full scale" if count else ""


def line(each: Score) -> str:
    """An entry that has just been run."""
    if each.error:
        return f"{each.entry}: {each.error}"
    parts = [f"{each.held(kind)} {WORDS[kind]}" for kind in KINDS if each.held(kind)]
    return f"{each.entry}: {', '.join(parts) or 'nothing to judge at this scale'}"


def card(scores: Sequence[Score]) -> Table:
    """The score card."""
    table = Table(title="What of the publications came out", title_justify="left")
    for heading in HEADINGS:
        table.add_column(heading)
    for each in scores:
        table.add_row(*row(each))
    return table


def comparisons(title: str, values: Sequence[Comparison]) -> Table:
    """Ours beside the published value."""
    table = Table(title=title, title_justify="left")
    for heading in ("row", "quantity"):
        table.add_column(heading)
    for heading in ("hopsim ± spread", "published", "difference", "%"):
        table.add_column(heading, justify="right")
    judges = any(value.agrees is not None for value in values)
    if judges:
        table.add_column("allowed", justify="right")
        table.add_column("agrees")
    expects = any(value.expected for value in values)
    if expects:
        table.add_column("theory, for the network run")
    previous = None
    for value in values:
        row = "" if value.row == previous else value.row
        previous = value.row
        verdict = judgement(value) if judges else ()
        theory = (value.expected,) if expects else ()
        table.add_row(row, value.quantity, *cells(value), *verdict, *theory)
    return table


def judgement(value: Comparison) -> tuple[str, str]:
    """The allowed difference and whether ours is, or the spread of seeds explains it, as text."""
    if value.allowed is None:
        return ("", "")
    chance = not value.agrees and value.is_chance
    verdict = "[yellow]no (chance)[/]" if chance else _yes_or_no(bool(value.agrees))
    return (f"±{value.allowed:.{value.decimals}f}", verdict)


def _yes_or_no(holds: bool) -> str:
    return "[green]yes[/]" if holds else "[bold red]no[/]"


def cells(value: Comparison) -> tuple[str, str, str, str]:
    """Ours, published, difference and percentage as text."""
    published = f"{value.published:.{value.decimals}f}"
    difference, relative = value.difference, value.relative
    return (
        _measured(value),
        published,
        MISSING if difference is None else f"{difference:+.{value.decimals}f}",
        MISSING if relative is None else f"{100 * relative:+.1f}",
    )


def _measured(value: Comparison) -> str:
    ours = value.ours
    if ours is None:
        return f"{MISSING} ({value.missing})" if value.missing else MISSING
    spread = f" ± {ours.std:.{value.decimals}f}" if ours.seeds > 1 else ""
    return f"{ours.mean:.{value.decimals}f}{spread}"


def facts(title: str, kind: Kind, statements: Sequence[tuple[Fact, Judged]]) -> Table:
    """Statements of a kind without a number, and whether they hold here."""
    table = Table(title=title, title_justify="left")
    for heading in (TITLES[kind], "required", "hopsim", "holds"):
        table.add_column(heading)
    for fact, judged in statements:
        table.add_row(fact.statement, fact.criterion, fact.found, VERDICTS[judged.verdict])
    return table


def write(directory: Path, entry: Entry, scale: Scale, result: Outcome) -> list[Path]:
    """Values and statements as CSV, each in a file of its own; says which were written."""
    values = [_record(entry, value) for value in result.comparisons]
    judged = judge(entry, scale, Outcome(facts=result.facts))
    statements = [
        (fact.statement, fact.criterion, fact.found, fact.holds, each.kind, own.where, own.says, each.verdict)
        for fact, each in zip(result.facts, judged, strict=True)
        for own in [each.sentence]
    ]
    written: list[Path] = []
    for file, columns, rows in (
        ("comparison.csv", VALUE_COLUMNS, values),
        ("statements.csv", STATEMENT_COLUMNS, statements),
    ):
        if rows:
            csv_file.write(directory / file, columns, rows)
            written.append(directory / file)
    return written


def _record(entry: Entry, value: Comparison) -> tuple[object, ...]:
    ours = value.ours
    own = sentence(entry.name, name(value))
    figures = (ours.mean, ours.std, ours.seeds) if ours else ("", "", "")
    return (
        value.row,
        value.quantity,
        *figures,
        value.published,
        "" if value.difference is None else value.difference,
        "" if value.relative is None else value.relative,
        "" if value.allowed is None else value.allowed,
        "" if value.agrees is None else value.agrees,
        "" if value.agrees is None else value.is_chance,
        own.kind,
        own.where,
        value.only,
    )
