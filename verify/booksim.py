"""Virtual-channel routers against BookSim 2: documents made of its options, and what it measured.

Latencies agree within 3 % below saturation, and accepted loads within 5 % everywhere, but for rows that are
left out and named in `docs/validation.md`.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from rich.table import Table

from hopsim import Result
from hopsim.convert import booksim, booksim_file
from verify.options import Options
from verify.simulate import Document
from verify.statistics import Sample, pooled, standard_error, student_quantile

ROWS = Path(__file__).parent / "reference" / "booksim-runs.csv"
AGREES: Mapping[str, float] = {
    "packet_latency_mean": 0.03,
    "network_latency_mean": 0.03,
    "hops_mean": 0.01,
    "accepted_load": 0.05,
}
"""Greatest relative difference of a metric that chance need not explain."""
WINDOW = {"warmup": 5_000, "cycles": 20_000}
"""Longer than BookSim measures: chance is BookSim's then."""
LONGEST_SEEDS = 4
"""As many as BookSim ran with."""


@dataclass(frozen=True)
class Row:
    """What BookSim measured.

    Attributes:
        name: of the row.
        options: of BookSim, those that are not its defaults, as `name=value;name=value`.
        metric: what was measured.
        measured: the values of its seeds.
    """

    name: str
    options: str
    metric: str
    measured: Sample

    def document(self) -> Document:
        """The same experiment here."""
        document = booksim.convert(booksim_file.assignments(f"{self.options};")).document
        return {**document, "measure": {**document["measure"], **WINDOW}}


def read(path: Path = ROWS) -> list[Row]:
    """All rows, in the order of the file."""
    with path.open(newline="") as file:
        return [_row(record) for record in csv.DictReader(file)]


def _row(record: Mapping[str, str]) -> Row:
    return Row(
        name=record["name"],
        options=record["options"],
        metric=record["metric"],
        measured=Sample(float(record["mean"]), float(record["std"]), int(record["seeds"])),
    )


def check(options: Options) -> int:
    """Print every selected row; how many differ."""
    rows = [row for row in read() if options.selects(row.name)]
    cases = {row.name: row.document() for row in rows}
    seeds = min(options.seeds, LONGEST_SEEDS)
    found = dict(zip(cases, options.simulate([*cases.values()], seeds, summary), strict=True))
    table = Table(title="Virtual-channel routers and BookSim 2", title_justify="left")
    for heading in ("row", "metric", "BookSim", "hopsim", "difference", "by chance", "agrees"):
        table.add_column(heading, justify="left" if heading in {"row", "metric", "agrees"} else "right")
    differ = 0
    for row in rows:
        ours, theirs = Sample.of([run[row.metric] for run in found[row.name]]), row.measured.mean
        difference, chance = ours.mean - theirs, by_chance(row.measured, ours)
        agrees = abs(difference) <= max(AGREES[row.metric] * theirs, chance)
        differ += not agrees
        table.add_row(
            row.name,
            row.metric,
            f"{theirs:.4g}",
            f"{ours.mean:.4g}",
            f"{difference / theirs:+.1%}",
            f"±{chance / theirs:.1%}",
            "[green]yes[/]" if agrees else "[bold red]NO[/]",
        )
    options.console.print(table)
    options.console.print(f"BookSim: {len(rows) - differ} passed, {differ} failed")
    return differ


def by_chance(theirs: Sample, ours: Sample) -> float:
    """The difference that chance explains."""
    std, freedom = pooled([ours, theirs])
    return student_quantile(freedom) * standard_error(std, ours.count, theirs.count)


def summary(result: Result) -> Mapping[str, float]:
    """What is compared of a run."""
    return {metric: result.summary[metric] for metric in AGREES}
