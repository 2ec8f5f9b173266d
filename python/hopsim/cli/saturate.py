"""`hopsim saturate`: up to which offered load sources keep up."""

from __future__ import annotations

from pathlib import Path

import click
from rich import box
from rich.markup import escape
from rich.table import Table

from hopsim.cli import options
from hopsim.cli.console import stdout
from hopsim.experiment import Experiment
from hopsim.results import Results
from hopsim.runner import all_cores
from hopsim.saturation import asking, saturation_of
from hopsim.series import SEED, axis_names, over_seeds
from hopsim.store import default_directory

COLUMNS = {
    "saturation_load": "saturation",
    "accepted_load_max": "greatest accepted",
    "accepted_load_full": "accepted at full offer",
    "plateau_load": "plateau",
    "runs": "runs",
}
"""Metric -> heading."""
DECIMALS = 4


@click.command("saturate", short_help="Find the load at which each configuration of FILE saturates.")
@options.experiment
@options.assignments
@click.option("--key", metavar="PATH", help="Key of the offered load; default: load.")
@click.option("--most", metavar="LOAD", type=float, help="Greatest load tried; default: 1.")
@click.option(
    "--precision",
    metavar="SHARE",
    type=float,
    help="Width of the interval in which saturation is found, relative to the load; default: 0.01.",
)
@click.option(
    "--seeds",
    metavar="N",
    type=int,
    help="Runs of each load, with seeds 1 to N, unless FILE sweeps over measure.seed; default: 3.",
)
@click.option(
    "--out", metavar="DIR", type=click.Path(path_type=Path), help="Results directory; resumed if it exists."
)
@click.option("-j", "workers", metavar="N", type=click.IntRange(1), help="Threads; default: all cores.")
def command(
    experiment: str,
    assignments: tuple[str, ...],
    key: str | None,
    most: float | None,
    precision: float | None,
    seeds: int | None,
    out: Path | None,
    workers: int | None,
) -> None:
    """Find the offered load up to which the sources of FILE keep up.

    A load is sustained unless the verdict of its point is saturated or not converged. Every configuration
    and seed of FILE is searched by itself, in about ten runs; a sweep of FILE over the load is left out. The
    table sweep.saturate of FILE may state the options, and makes `hopsim run FILE` the same. Results go to
    the directory given with --out, or to results/<name>-<digest>-saturation: a results directory for each
    round of runs, saturation.parquet and .csv with a row per configuration and seed, and saturation.png.
    The same command goes on where it stopped.
    """
    document = options.document(experiment, assignments)
    document = asking(document, key=key, most=most, precision=precision, seeds=seeds)
    search(document, out, workers)


def search(document: Experiment, out: Path | None, workers: int | None) -> None:
    """Search as a document asks for, and show what was found."""
    if out is None:
        folder = default_directory(document, document.points())
        out = folder.with_name(f"{folder.name}-saturation")
    results = saturation_of(document, out, workers or all_cores(), progress=True)
    console = stdout()
    console.print(_table(results))
    # Imports Matplotlib, which takes a while.
    from hopsim.plot import saturation, save

    for stem, figure in saturation.draw(results).items():
        save(figure, out / f"{stem}.png")
    console.print(f"Results: {out}", soft_wrap=True, highlight=False)


def _table(results: Results) -> Table:
    """One row per configuration, mean and interval over seeds."""
    axes = [path for path in results.axes if path != SEED]
    seeds = len({result.summary["seed"] for result in results})
    spread = f", ± 95 % confidence interval over {seeds} seeds" if seeds > 1 else ""
    table = Table(
        caption=f"Loads in phits/(node·cycle){spread}.",
        caption_justify="left",
        box=box.SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
    )
    for name in axis_names(results, axes):
        table.add_column(escape(name), overflow="fold", min_width=4)
    for heading in COLUMNS.values():
        table.add_column(heading, justify="right", no_wrap=True)
    for group in over_seeds(results):
        cells = [escape(group.labels.get(path, "–")) for path in axes]
        *loads, runs = COLUMNS
        figures = [group.estimate(key).text(DECIMALS, interval=seeds > 1) for key in loads]
        simulated = sum(result.summary[runs] for result in group.results)
        table.add_row(*cells, *figures, str(simulated))
    return table
