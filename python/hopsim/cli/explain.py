"""`hopsim explain`: documentation, parameters, units, ranges and defaults of one name."""

from __future__ import annotations

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from hopsim.catalogue import Catalogue, Node, Parameter
from hopsim.cli.console import stdout
from hopsim.experiment import preset_names, preset_text


@click.command("explain")
@click.argument("name", metavar="NAME")
def command(name: str) -> None:
    """Explain a mechanism, a choice or a key: valiant, routing.valiant, ejection, measure.warmup."""
    console = stdout()
    if name in preset_names():
        console.print(preset_text(name), markup=False)
        return
    catalogue = Catalogue()
    for index, node in enumerate(catalogue.find(name)):
        if index:
            console.print()
        _explain(console, catalogue, node)


def _explain(console: Console, catalogue: Catalogue, node: Node) -> None:
    console.print(f"[bold]{escape(node.path)}[/bold]")
    if node.doc:
        console.print(escape(node.doc))
    parameters = catalogue.parameters(node) or _own(catalogue, node)
    if parameters:
        console.print(_parameter_table(parameters))
    choices = [choice for choice in catalogue.choices(node.path) if "oneOf" in node.schema]
    if choices:
        console.print(_choice_table(choices))


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


def _choice_table(choices: list[Node]) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("choice", no_wrap=True)
    table.add_column("meaning")
    for choice in choices:
        table.add_row(escape(choice.name), escape(" ".join(choice.doc.split())))
    return table
