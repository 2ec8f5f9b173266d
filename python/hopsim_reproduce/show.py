"""Prints what an entry concludes, and writes it as CSV."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from hopsim.files import csv_file
from hopsim_reproduce.model import Comparison, Entry, Fact, Outcome, Scale

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
)
STATEMENT_COLUMNS = ("statement", "required", "hopsim", "holds")


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


def outcome(console: Console, entry: Entry, result: Outcome) -> None:
    """The comparison with the publication."""
    if result.comparisons:
        console.print(comparisons(entry.source, result.comparisons))
    if result.facts:
        console.print(facts(entry.source, result.facts))
    for line in tally(result):
        console.print(line, highlight=False)


def tally(result: Outcome) -> list[str]:
    """How many values agree and how many statements hold."""
    judged = [value for value in result.comparisons if value.agrees is not None]
    held = [fact.holds for fact in result.facts]
    lines: list[str] = []
    if judged:
        agreeing = sum(value.agrees is True for value in judged)
        chance = sum(value.agrees is False and value.is_chance for value in judged)
        more = f", {chance} more within the spread of seeds" if chance else ""
        lines.append(f"{agreeing} of {len(judged)} values agree within what is allowed{more}.")
    if held:
        lines.append(f"{sum(held)} of {len(held)} statements hold.")
    return lines


def comparisons(title: str, values: Sequence[Comparison]) -> Table:
    """Ours beside the published value."""
    table = Table(title=title, title_justify="left")
    for name in ("row", "quantity"):
        table.add_column(name)
    for name in ("hopsim ± spread", "published", "difference", "%"):
        table.add_column(name, justify="right")
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


def facts(title: str, statements: Sequence[Fact]) -> Table:
    """Statements without a number, and whether they hold here."""
    table = Table(title=title, title_justify="left")
    for name in ("published statement", "required", "hopsim", "holds"):
        table.add_column(name)
    for fact in statements:
        table.add_row(fact.statement, fact.criterion, fact.found, _yes_or_no(fact.holds))
    return table


def write(directory: Path, result: Outcome) -> list[Path]:
    """Values and statements as CSV, each in a file of its own; says which were written."""
    values = [_record(value) for value in result.comparisons]
    statements = [(fact.statement, fact.criterion, fact.found, fact.holds) for fact in result.facts]
    written: list[Path] = []
    for name, columns, rows in (
        ("comparison.csv", VALUE_COLUMNS, values),
        ("statements.csv", STATEMENT_COLUMNS, statements),
    ):
        if rows:
            csv_file.write(directory / name, columns, rows)
            written.append(directory / name)
    return written


def _record(value: Comparison) -> tuple[object, ...]:
    ours = value.ours
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
    )
