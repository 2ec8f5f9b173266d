"""`hopsim list`: everything a document may name."""

from __future__ import annotations

import click
from rich.markup import escape
from rich.table import Table

from hopsim.cli.console import stdout
from hopsim.document.experiment import example_names, preset_names, shipped_summary
from hopsim.vocabulary.catalogue import KINDS, Catalogue


@click.command("list")
def command() -> None:
    """Show every topology, router, routing, pattern and so on, with one line each.

    Beside each kind stands its place in the document. `hopsim explain NAME` tells more.
    """
    catalogue = Catalogue()
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column()
    for kind, path in KINDS.items():
        rows = [(node.name, node.summary) for node in catalogue.choices(path)]
        _section(table, kind, path if path != kind else "", rows)
    for kind, names in (("preset", preset_names()), ("example", example_names())):
        _section(table, kind, "hopsim run NAME", [(name, shipped_summary(name)) for name in names])
    console = stdout()
    console.print(table)
    console.print(
        "`hopsim explain NAME` tells more about each; NAME may also be any key, such as measure.warmup, "
        "or any column of the results, such as jain_index."
    )


def _section(table: Table, heading: str, place: str, rows: list[tuple[str, str]]) -> None:
    table.add_row(f"[bold]{escape(heading)}[/bold]", f"[dim]{escape(place)}[/dim]")
    for name, summary in rows:
        table.add_row(f"  {escape(name)}", escape(summary))
    table.add_row("", "")
