"""Tables for people and a CSV for machines."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from hopsim.files import csv_file
from verify.compare import Comparison, Outcome, Verdict
from verify.exceptions import reason
from verify.metrics import COLUMNS

STYLES = {
    Verdict.TOLERANCE: ("", "green"),
    Verdict.SPREAD: ("s", "cyan"),
    Verdict.FAIL: ("!", "bold red"),
    Verdict.REPORTED: ("", "dim"),
}
"""Verdict -> (mark behind the figure, colour)."""

WIDTH = 190
"""Columns of a table that is not shown on a terminal."""


@dataclass(frozen=True)
class Counts:
    """The closing line."""

    passed: int
    excused: int
    failed: int


def show(out: Console, title: str, comparisons: Sequence[Comparison]) -> Counts:
    """Print every row's deviations, the bias table and the failing rows; count the verdicts."""
    out.print(deviations(title, comparisons))
    out.print("Difference of the mean over hopsim's seeds from the reference, in percent.")
    out.print("Green: within tolerance; 's': within the spread of seeds; '!': neither; grey: not judged.")
    out.print(bias(comparisons))
    failing = [comparison for comparison in comparisons if comparison.failures]
    for comparison in failing:
        _show_failures(out, comparison)
    excused = sum(reason(comparison) is not None for comparison in failing)
    counts = Counts(len(comparisons) - len(failing), excused, len(failing) - excused)
    documented = f", {counts.excused} known to fail" if counts.excused else ""
    out.print(f"{title}: {counts.passed} passed{documented}, {counts.failed} failed")
    return counts


def deviations(title: str, comparisons: Sequence[Comparison]) -> Table:
    """One line per row, one column per judged metric."""
    table = Table(title=title, title_justify="left")
    table.add_column("row", no_wrap=True)
    table.add_column("sat.")
    used = {outcome.metric.key for row in comparisons for outcome in row.outcomes}
    metrics = [metric for metric in COLUMNS if metric.key in used]
    for metric in metrics:
        table.add_column(metric.title, justify="right", no_wrap=True)
    for comparison in comparisons:
        cells = {outcome.metric.key: _cell(outcome) for outcome in comparison.outcomes}
        table.add_row(
            comparison.row.name,
            "yes" if comparison.saturated else "",
            *(cells.get(metric.key, "") for metric in metrics),
        )
    return table


def _cell(outcome: Outcome) -> str:
    mark, colour = STYLES[outcome.verdict]
    deviation = outcome.difference if outcome.metric.is_share else outcome.deviation
    text = "0 in ref." if math.isnan(deviation) else f"{100 * deviation:+.2f}"
    return f"[{colour}]{text}{mark}[/]"


def bias(comparisons: Sequence[Comparison]) -> Table:
    """Whether the differences of all rows together look like chance.

    A row's tolerance cannot see a small difference that always has the same sign; the mean over
    many rows can. FOGSim's runs with the same seed share their random numbers and so much of their
    noise, most of all in hops and base latency: `by chance` takes rows as independent and is too
    narrow for these.
    """
    scores: dict[str, list[float]] = {}
    for comparison in comparisons:
        for outcome in comparison.outcomes:
            scores.setdefault(outcome.metric.title, []).append(outcome.z)
    table = Table(title="All rows together (z = difference / its standard error)")
    table.title_justify = "left"
    for heading in ("metric", "figures", "mean z", "by chance", "spread of z", "largest |z|"):
        table.add_column(heading, justify="left" if heading == "metric" else "right")
    for title, values in scores.items():
        table.add_row(title, *_bias_cells(values))
    return table


def _bias_cells(values: Sequence[float]) -> tuple[str, ...]:
    count = len(values)
    mean = sum(values) / count
    square = sum((value - mean) ** 2 for value in values) / max(count - 1, 1)
    return (
        str(count),
        f"{mean:+.2f}",
        f"±{2 / math.sqrt(count):.2f}",
        f"{math.sqrt(square):.2f}",
        f"{max(abs(value) for value in values):.1f}",
    )


def _show_failures(out: Console, comparison: Comparison) -> None:
    accepted = reason(comparison)
    out.print(f"{comparison.row.name}: {'known exception' if accepted else 'FAILS'}")
    if accepted:
        out.print(f"  {accepted}")
    for outcome in comparison.failures:
        out.print(
            f"  {outcome.metric.title}: {outcome.ours.mean:.6g} ± {outcome.ours.std:.2g} over "
            f"{outcome.ours.count} seeds, reference {outcome.reference:.6g} "
            f"({100 * outcome.deviation:+.2f} %, {outcome.z:+.1f} standard errors)"
        )


CSV_COLUMNS = (
    "row",
    "kind",
    "offered_load",
    "saturated",
    "metric",
    "ours",
    "ours_std",
    "seeds",
    "reference",
    "deviation",
    "allowance",
    "standard_errors",
    "verdict",
)


def write(path: Path, comparisons: Iterable[Comparison]) -> None:
    """Write every figure of every row, one per line."""
    rows = (_record(comparison, outcome) for comparison in comparisons for outcome in comparison.outcomes)
    csv_file.write(path, CSV_COLUMNS, rows)


def _record(comparison: Comparison, outcome: Outcome) -> tuple[object, ...]:
    return (
        comparison.row.name,
        comparison.row.kind,
        comparison.row.offered_load,
        comparison.saturated,
        outcome.metric.key,
        outcome.ours.mean,
        outcome.ours.std,
        outcome.ours.count,
        outcome.reference,
        "" if math.isnan(outcome.deviation) else outcome.deviation,
        outcome.metric.allowance(outcome.reference, comparison.saturated),
        outcome.z,
        outcome.verdict.value,
    )
