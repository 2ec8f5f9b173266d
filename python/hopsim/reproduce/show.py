"""Prints what an entry concludes, and writes it as CSV."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from hopsim.reproduce.model import Comparison, Entry, Fact, Measured, Outcome, Scale

MISSING = "-"
WIDTH = 130
"""Columns of a table that is not shown on a terminal."""


def console() -> Console:
    """A console wide enough for the tables, also into a file or a pipe."""
    result = Console()
    return result if result.is_terminal else Console(width=WIDTH)


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
    for note in entry.notes[scale]:
        console.print(f"- {note}", highlight=False)


def outcome(console: Console, entry: Entry, result: Outcome) -> None:
    """The comparison with the publication."""
    if result.comparisons:
        console.print(comparisons(entry.source, result.comparisons))
    if result.facts:
        console.print(facts(entry.source, result.facts))


def comparisons(title: str, values: Sequence[Comparison]) -> Table:
    """Ours beside the published value."""
    table = Table(title=title, title_justify="left")
    for name in ("row", "quantity"):
        table.add_column(name)
    for name in ("hopsim ± spread", "published", "difference", "%"):
        table.add_column(name, justify="right")
    expects = any(value.expected for value in values)
    if expects:
        table.add_column("theory, for the network run")
    previous = None
    for value in values:
        row = "" if value.row == previous else value.row
        previous = value.row
        theory = (value.expected,) if expects else ()
        table.add_row(row, value.quantity, *cells(value), *theory)
    return table


def cells(value: Comparison) -> tuple[str, str, str, str]:
    """Ours, published, difference and percentage as text."""
    published = f"{value.published:.{value.decimals}f}"
    difference, relative = value.difference, value.relative
    return (
        _measured(value.ours, value.decimals),
        published,
        MISSING if difference is None else f"{difference:+.{value.decimals}f}",
        MISSING if relative is None else f"{100 * relative:+.1f}",
    )


def _measured(ours: Measured | None, decimals: int) -> str:
    if ours is None:
        return f"{MISSING} (a router injects nothing)"
    spread = f" ± {ours.std:.{decimals}f}" if ours.seeds > 1 else ""
    return f"{ours.mean:.{decimals}f}{spread}"


def facts(title: str, statements: Sequence[Fact]) -> Table:
    """Statements without a number, and whether they hold here."""
    table = Table(title=title, title_justify="left")
    for name in ("published statement", "required", "hopsim", "holds"):
        table.add_column(name)
    for fact in statements:
        verdict = "[green]yes[/]" if fact.holds else "[bold red]no[/]"
        table.add_row(fact.statement, fact.criterion, fact.found, verdict)
    return table


def write(path: Path, result: Outcome) -> None:
    """Comparisons and statements as CSV."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        if result.comparisons:
            writer.writerow(
                ("row", "quantity", "hopsim", "spread", "seeds", "published", "difference", "relative")
            )
            writer.writerows(_record(value) for value in result.comparisons)
        else:
            writer.writerow(("statement", "required", "hopsim", "holds"))
            writer.writerows(
                (fact.statement, fact.criterion, fact.found, fact.holds) for fact in result.facts
            )


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
    )
