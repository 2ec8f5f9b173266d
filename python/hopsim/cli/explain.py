"""`hopsim explain`: documentation, parameters, units, ranges and defaults of one name."""

from __future__ import annotations

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from hopsim.cli.console import stdout
from hopsim.document.experiment import example_names, preset_names, shipped_text
from hopsim.errors import ConfigError
from hopsim.runs.saturation import METRICS as OF_SEARCHES
from hopsim.runs.slowdowns import METRICS as OF_COMPARISONS
from hopsim.vocabulary import columns, terms
from hopsim.vocabulary.catalogue import Catalogue, Node, Parameter, unit_and_range
from hopsim.vocabulary.columns import ResultColumn
from hopsim.vocabulary.sample import sample

TEXT_WIDTH = 100


@click.command("explain")
@click.argument("name", metavar="NAME")
def command(name: str) -> None:
    """Explain a mechanism, a choice or a key: what it does, its parameters, units, defaults, source.

    NAME is a name or a path, such as valiant, routing.valiant, ejection or measure.warmup, an
    abbreviation of the papers, such as ADVc, or a preset or example. It may also be a column of the
    results, such as packet_latency_p99 or routers.injection_load, or a table of them, such as timeseries.
    Of words for what hopsim does not have, such as wormhole or RoCE, it says what there is instead.
    """
    console = stdout()
    if name.lower() in preset_names():
        console.print(shipped_text(name.lower()), markup=False)
        return
    term = terms.find(name)
    if term is not None:
        console.print(f"[bold]{escape(term.names[0])}[/bold]")
        console.print(escape(term.text), width=min(console.width, TEXT_WIDTH))
        console.print()
    catalogue = Catalogue()
    known = (*columns.result_columns(), *found_by_several_runs())
    found = columns.find(name, known)
    try:
        nodes = catalogue.find(name, {*(each.name for each in known), *example_names()})
    except ConfigError:
        if name.lower() in example_names():
            console.print(shipped_text(name.lower()), markup=False)
        elif not found and term is None:
            raise
        nodes = []
    for index, node in enumerate(nodes):
        if index:
            console.print()
        _explain(console, catalogue, node)
    if nodes and found:
        console.print()
    _explain_columns(console, found)


def found_by_several_runs() -> list[ResultColumn]:
    """Columns of what searches for saturation and comparisons of programs find."""
    texts = {"saturation": OF_SEARCHES, "interference": OF_COMPARISONS}
    split = [
        (table, name, *unit_and_range(text)) for table, found in texts.items() for name, text in found.items()
    ]
    return [ResultColumn(table, name, unit, meaning) for table, name, meaning, unit, _ in split]


def _explain_columns(console: Console, found: list[ResultColumn]) -> None:
    """A line on where they are, and a row each, table by table."""
    for name in dict.fromkeys(each.table for each in found):
        rows = [each for each in found if each.table == name]
        console.print(f"[bold]{escape(name)}[/bold] in the results: {escape(rows[0].place)}")
        table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
        for heading in ("column", "unit", "meaning"):
            table.add_column(heading, no_wrap=heading != "meaning")
        for row in rows:
            table.add_row(escape(row.name), escape(row.unit), escape(row.meaning))
        console.print(table)
        console.print()


def _explain(console: Console, catalogue: Catalogue, node: Node) -> None:
    console.print(f"[bold]{escape(node.path)}[/bold]")
    console.print(escape(sample(catalogue, node)), style="dim", soft_wrap=True)
    console.print()
    for paragraph in node.paragraphs if node.doc else []:
        console.print(escape(paragraph), width=min(console.width, TEXT_WIDTH))
        console.print()
    parameters = catalogue.parameters(node) or _own(catalogue, node)
    tables = [_parameter_table(parameters)] if parameters else []
    tables += [_choice_table(rows) for rows in _choices(catalogue, node) if rows]
    for index, table in enumerate(tables):
        if index:
            console.print()
        console.print(table)


def _choices(catalogue: Catalogue, node: Node) -> list[list[tuple[str, Node]]]:
    """The node's own choices; those of the keys below it, with the name of the key."""
    below = catalogue.choices(node.path)
    if "oneOf" in node.schema:
        return [[("", choice) for choice in below]]
    keys = [key for key in below if "oneOf" in key.schema]
    return [[(key.name, choice) for key in keys for choice in catalogue.choices(key.path)]]


def _own(catalogue: Catalogue, node: Node) -> list[Parameter]:
    """The row of a plain key in the table of the node above it."""
    above = catalogue.nodes.get(node.path.rpartition(".")[0])
    rows = catalogue.parameters(above) if above else []
    return [row for row in rows if row.name == node.name]


def _parameter_table(parameters: list[Parameter]) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for heading in ("parameter", "type", "unit", "range", "default", "meaning"):
        table.add_column(heading, no_wrap=heading == "parameter")
    for row in parameters:
        cells = (row.name, row.type, row.unit, row.range, row.default, row.doc)
        table.add_row(*(escape(cell) for cell in cells))
    return table


def _choice_table(choices: list[tuple[str, Node]]) -> Table:
    """A row per choice, with the name of its key where there are several keys."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    several = any(key for key, _ in choices)
    for heading in ("key", "choice") if several else ("choice",):
        table.add_column(heading, no_wrap=True)
    table.add_column("meaning")
    last = ""
    for key, choice in choices:
        first = [key if key != last else ""] if several else []
        table.add_row(*(escape(cell) for cell in (*first, choice.name, choice.lead)))
        last = key
    return table
