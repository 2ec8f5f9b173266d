"""Command line: `python -m verify [CHECK]`, a key of `CHECKS` or `all`."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import click

from hopsim.cli.console import of_width
from verify import (
    applications,
    attack,
    booksim,
    booksim_replays,
    clusters,
    contributors,
    cross,
    cubes,
    dcqcn,
    ethernet,
    knees,
    power,
    published,
    report,
    reports,
    saturation,
    steady,
    stopping,
    transients,
    verdicts,
)
from verify.options import Options
from verify.rows import read_runs, read_table17

SEEDS = 20
"""Enough for a standard deviation good to a sixth; the short runs still take minutes in all."""

MIN_SEEDS = 5
"""With fewer, the spread of seeds is too uncertain to tell anything."""

CHECKS: Mapping[str, Callable[[Options], int]] = {
    "fogsim": lambda options: steady.check(options, "fogsim", "FOGSim, single runs", read_runs()),
    "table17": lambda options: steady.check(options, "table17", "FOGSim, means over seeds", read_table17()),
    "transients": transients.check,
    "cubes": cubes.check,
    "booksim": booksim.check,
    "booksim-packets": booksim_replays.check,
    "cross": cross.check,
    "applications": applications.check,
    "fabrics": lambda options: published.check(options, ["gran"]),
    "contributors": contributors.check,
    "dcqcn": dcqcn.check,
    "ethernet": ethernet.check,
    "clusters": clusters.check,
    "verdicts": verdicts.check,
    "stopping": stopping.check,
    "saturation": saturation.check,
    "knees": knees.check,
    "reports": reports.check,
    "power": power.check,
    "attack": attack.check,
}
"""Name -> the check; it returns how much fails."""


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("check", type=click.Choice([*CHECKS, "all"]), default="all")
@click.option(
    "--seeds",
    type=click.IntRange(min=MIN_SEEDS),
    default=SEEDS,
    show_default=True,
    help=f"Runs per row, with seeds 1 to N; transients take at least {transients.MIN_SEEDS}.",
)
@click.option(
    "-j",
    "--jobs",
    type=click.IntRange(min=1),
    default=os.cpu_count() or 1,
    help="Runs at a time.  [default: one per core]",
)
@click.option("--rows", "pattern", metavar="REGEX", help="Only rows whose name matches.")
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("verify-results"),
    show_default=True,
    help="Directory of the CSV files.",
)
@click.option(
    "--traces",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    envvar="HOPSIM_TRACES",
    show_envvar=True,
    help="Folder of traces that are not among the examples, for `applications`.",
)
def main(check: str, seeds: int, jobs: int, pattern: str | None, out: Path, traces: Path | None) -> None:
    """Compare hopsim with measured and published data and say what agrees.

    Exit status 1 if something disagrees and is not a known exception.
    """
    options = Options(of_width(report.WIDTH), pattern, seeds, jobs, out, traces)
    failed = sum(CHECKS[name](options) for name in (CHECKS if check == "all" else [check]))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
