"""`hopsim interference`: what programs cost each other."""

from __future__ import annotations

from pathlib import Path

import click
from rich.table import Table

from hopsim.cli import found, options
from hopsim.cli.console import print_table, stdout
from hopsim.results.result import Results
from hopsim.results.store import default_directory
from hopsim.runs.runner import all_cores
from hopsim.runs.slowdowns import interference_of

COLUMNS = {
    "execution_time": ("together", 0),
    "execution_time_alone": ("alone", 0),
    "execution_time_contention_free": ("contention-free", 0),
    "slowdown_interference": ("together/alone", 3),
    "slowdown_contention": ("alone/contention-free", 3),
}
"""Metric -> heading and decimals."""


@click.command("interference")
@options.experiment
@options.assignments
@click.option(
    "--out", metavar="DIR", type=click.Path(path_type=Path), help="Results directory; resumed if it exists."
)
@click.option("-j", "workers", metavar="N", type=click.IntRange(1), help="Threads; default: all cores.")
def command(experiment: str, assignments: tuple[str, ...], out: Path | None, workers: int | None) -> None:
    """Say what the jobs of FILE that run programs cost each other.

    Every point is run with all jobs, with each program alone on the same nodes, and, but in InfiniBand
    fabrics, with packets that never meet. Results go to the directory given with --out, or to
    results/<name>-<digest>-interference: one results directory for each run, and interference.parquet
    and .csv with a row per point and job.
    """
    document = options.document(experiment, assignments)
    if out is None:
        folder = default_directory(document, document.points())
        out = folder.with_name(f"{folder.name}-interference")
    results = interference_of(document, out, workers or all_cores(), progress=True)
    console = stdout()
    print_table(console, _table(results))
    console.print(f"Results: {out}", soft_wrap=True, highlight=False)


def _table(results: Results) -> Table:
    """One row per job and configuration, mean and interval over seeds."""
    columns = {
        heading: found.estimate(key, decimals)
        for key, (heading, decimals) in COLUMNS.items()
        if any(result.summary[key] is not None for result in results)
    }
    return found.table(results, "Execution times in cycles", columns)
