"""`hopsim trace run`: every program in a folder, each by itself on the network of one document."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import click
from rich.markup import escape
from rich.table import Table

from hopsim.cli import options
from hopsim.cli.console import print_table, stdout
from hopsim.cli.encoding import visible
from hopsim.results.store import Store
from hopsim.runs import sweeps
from hopsim.runs.program_folder import ProgramFolder, Tried
from hopsim.runs.runner import all_cores

METRICS = ("execution_time", "messages", "message_bytes", "message_latency_mean")
"""Columns of the table, as `hopsim explain` explains them."""


@click.command("run", short_help="Run every program in a folder on a network.")
@options.experiment
@click.argument("folder", metavar="FOLDER", type=click.Path(path_type=Path))
@options.assignments
@click.option(
    "--job",
    type=click.IntRange(0),
    default=0,
    metavar="N",
    help="Number of the job whose program is replaced; default 0.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Results directory; resumed if it exists. Without it nothing is stored.",
)
@click.option("-j", "workers", type=click.IntRange(1), metavar="N", help="Threads; default: all cores.")
def command(
    experiment: str,
    folder: Path,
    assignments: tuple[str, ...],
    job: int,
    out: Path | None,
    workers: int | None,
) -> None:
    """Run every program in FOLDER, each by itself in the place of the program of a job in FILE.

    Programs are known by how the names of their files end: .mpt, .dim, .prv, .goal, .bin (GOAL), .0.et, .1.et
    and so on (Chakra), with .xz or .gz or not. A table tells how long each took. Of those that cannot run, or
    do not come to their end, it is said why, such as a broken file, more ranks than nodes, or ranks that wait
    for each other; the status is 1 if there are such.
    """
    programs = ProgramFolder(options.document(experiment, assignments), folder, job)
    document = programs.document()
    points = document.points()
    store = None if out is None else Store.claim(out, document, points, force=False)
    results, outcome = sweeps.simulate(points, workers or all_cores(), progress=True, store=store)
    programs.take(results, outcome.failures)
    _print(programs.tried)
    if store is not None:
        stdout().print(f"Results: {store.root}", soft_wrap=True, highlight=False)
    failed = [each for each in programs.tried if each.reason]
    for each in failed:
        sys.stderr.write(visible(f"hopsim: {each.name}: {each.reason}\n"))
    if failed:
        sys.stderr.write(f"hopsim: {len(failed)} of {len(programs.tried)} programs have no result\n")
        sys.exit(1)


def _print(tried: Sequence[Tried]) -> None:
    """Print a row for each program: its metrics in the units of the document's network."""
    table = Table(box=None, padding=(0, 2, 0, 0))
    table.add_column("program", no_wrap=True)
    for heading in ("ranks", *METRICS):
        table.add_column(heading, justify="right")
    for each in tried:
        summary = {} if each.result is None else each.result.summary
        measured = ["-" if summary.get(name) is None else f"{summary[name]:,.10g}" for name in METRICS]
        table.add_row(escape(visible(each.name)), str(each.ranks or "-"), *measured)
    print_table(stdout(), table)
