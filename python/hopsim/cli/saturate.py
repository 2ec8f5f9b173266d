"""`hopsim saturate`: up to which offered load sources keep up."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NoReturn

import click
from rich.table import Table

from hopsim import starting
from hopsim.cli import found, options
from hopsim.cli.console import print_table, stdout
from hopsim.document.experiment import Experiment
from hopsim.files import atomic
from hopsim.metrics.series import Group
from hopsim.results.result import Results
from hopsim.results.store import default_directory
from hopsim.runs.runner import all_cores
from hopsim.runs.saturation import LONGEST, asking, points_of, saturation_of

LOADS = {
    "saturation_load": "saturation",
    "accepted_load_max": "greatest accepted",
    "accepted_load_full": "accepted at {:g}",
    "plateau_load": "plateau",
}
"""Metric -> heading, with the greatest load tried."""
DECIMALS = 4


@click.command("saturate")
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
    help="Runs of each load, with N seeds from measure.seed on, unless FILE sweeps over it; default: 3.",
)
@click.option(
    "--out", metavar="DIR", type=click.Path(path_type=Path), help="Results directory; resumed if it exists."
)
@click.option("--force", is_flag=True, help="Empty the results directory first.")
@click.option("-j", "workers", metavar="N", type=click.IntRange(1), help="Threads; default: all cores.")
def command(  # noqa: PLR0913 (an option each)
    experiment: str,
    assignments: tuple[str, ...],
    key: str | None,
    most: float | None,
    precision: float | None,
    seeds: int | None,
    out: Path | None,
    force: bool,
    workers: int | None,
) -> None:
    """Find the offered load up to which the sources of FILE keep up.

    A load is sustained if the verdict of its point is steady and the network accepts as much. Where samples
    are too few to tell, or something drifts, the window is lengthened, up to 16 times measure.cycles; what
    cannot be told then counts as not sustained (undecided). Every configuration and seed of FILE is searched
    by itself, in about ten runs; a sweep of FILE over the load is left out. With the load of a single job as
    --key all loads are those of this job. The table sweep.saturate of FILE may state the options, and makes
    `hopsim run FILE` the same. Results go to the directory given with --out, or to
    results/<name>-<digest>-saturation: all runs, as those of a sweep, saturation.parquet and .csv with a row
    per configuration and seed, and plots/saturation.png. The same command goes on where it stopped.
    """
    document = options.document(experiment, assignments)
    document = asking(document, key=key, most=most, precision=precision, seeds=seeds)
    search(document, out, workers, force=force)


def search(document: Experiment, out: Path | None, workers: int | None, *, force: bool) -> None:
    """Search as a document asks for, and show what was found."""
    if out is None:
        folder = default_directory(document, points_of(document))
        out = folder.with_name(f"{folder.name}-saturation")
    try:
        results = saturation_of(document, out, workers or all_cores(), progress=True, force=force)
    except KeyboardInterrupt:
        _interrupted(out)
    console = stdout()
    print_table(console, _table(results))
    if advised := _advice(results):
        console.print(advised, soft_wrap=True, highlight=False)
    # Imports Matplotlib, which takes a while.
    from hopsim.plot import saturation, save

    folder = out / "plots"
    atomic.make_folder(folder)
    for stem, figure in saturation.draw(results).items():
        save(figure, folder / f"{stem}.png")
    console.print(f"Results: {out}", soft_wrap=True, highlight=False)


def _interrupted(out: Path) -> NoReturn:
    sys.stderr.write(f"hopsim: interrupted; run the same command with --out {out} to go on\n")
    sys.exit(starting.status())


def _advice(results: Results) -> str:
    """What would find saturation more exactly; empty if nothing would."""
    unclear = sum(result.summary["undecided"] > 0 for result in results)
    if not unclear:
        return ""
    return (
        f"{unclear} of {len(results)} searches have tried loads of which windows of {LONGEST} times "
        "measure.cycles cannot tell whether they are sustained (undecided), and which count as not "
        "sustained: with a longer measure.cycles they find saturation more exactly."
    )


def _table(results: Results) -> Table:
    """One row per configuration, mean and interval over seeds."""
    highest = results[0].summary["load_full"]
    loads = {heading.format(highest): found.estimate(metric, DECIMALS) for metric, heading in LOADS.items()}
    columns = {**loads, LOADS["saturation_load"]: _saturation, "runs": _runs}
    return found.table(results, "Loads in phits/(node·cycle)", columns)


def _saturation(group: Group, interval: bool) -> str:
    """At least the greatest load tried if that is sustained with some seeds."""
    text = found.estimate("saturation_load", DECIMALS)(group, interval)
    is_bound = any(result.summary["saturation_load_high"] is None for result in group.results)
    return f"≥ {text}" if is_bound else text


def _runs(group: Group, _interval: bool) -> str:
    return str(sum(result.summary["runs"] for result in group.results))
