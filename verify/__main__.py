"""Command line: `python -m verify [fogsim|table17|all]`."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import click
from rich.console import Console
from rich.progress import Progress

from verify import fogsim, report
from verify.compare import Comparison, compare
from verify.rows import Row, matching, read_runs, read_table17, siblings
from verify.simulate import simulate

SEEDS = 20
"""Enough for a standard deviation good to a sixth; the short runs still take minutes in all."""

MIN_SEEDS = 5
"""With fewer, the spread of seeds is too uncertain to tell anything."""

KINDS = ("minimal", "oblivious", "valiant-group", "valiant-router", "acceptance")
"""Kinds of reference rows whose mechanisms hopsim has."""

CHECKS = {
    "fogsim": ("FOGSim, single runs", read_runs),
    "table17": ("FOGSim, means over seeds", read_table17),
}


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("check", type=click.Choice([*CHECKS, "all"]), default="all")
@click.option(
    "--seeds",
    type=click.IntRange(min=MIN_SEEDS),
    default=SEEDS,
    show_default=True,
    help="Runs per row, with seeds 1 to N.",
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
def main(check: str, seeds: int, jobs: int, pattern: str | None, out: Path) -> None:
    """Compare hopsim with measured data and say which rows agree.

    Exit status 1 if a row disagrees and is not a known exception.
    """
    console = report.console()
    failed = 0
    for name in CHECKS if check == "all" else [check]:
        title, read = CHECKS[name]
        comparisons = _compare(console, read(), pattern, seeds, jobs)
        if comparisons:
            failed += report.show(console, title, comparisons).failed
            report.write(out / f"{name}.csv", comparisons)
            console.print(f"Every figure: {out / name}.csv")
    sys.exit(1 if failed else 0)


def _compare(
    console: Console, rows: Sequence[Row], pattern: str | None, seeds: int, jobs: int
) -> list[Comparison]:
    """Run the rows that match and that hopsim can run; say which ones it cannot."""
    selected = [row for row in matching(rows, pattern) if _runs(row) is None]
    left_out = Counter(reason for row in matching(rows, pattern) if (reason := _runs(row)))
    for reason, count in left_out.most_common():
        console.print(f"Not compared: {count} rows, {reason}")
    cases = siblings(selected)
    everyone = siblings(rows)
    documents = [fogsim.document(members[0]) for members in cases.values()]
    with Progress(console=console, transient=True) as progress:
        task = progress.add_task(f"{len(documents)} cases", total=len(documents) * seeds)
        figures = simulate(documents, seeds, jobs, lambda: progress.advance(task))
    results = dict(zip(cases, figures, strict=True))
    return [compare(row, results[row.case], everyone[row.case]) for row in selected]


def _runs(row: Row) -> str | None:
    """Why a row is left out."""
    reason = fogsim.unsupported(row.settings)
    if reason is None and row.kind not in KINDS:
        return f"kind {row.kind}"
    return reason


if __name__ == "__main__":
    main()
