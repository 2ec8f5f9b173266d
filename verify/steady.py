"""Rows of steady traffic against FOGSim."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from verify import fogsim, report
from verify.compare import Comparison, compare
from verify.options import Options
from verify.rows import Row, siblings
from verify.simulate import figures


def check(options: Options, name: str, title: str, rows: Sequence[Row]) -> int:
    """Compare the rows that the options select and print the verdicts; how many fail."""
    comparisons = _compare(options, rows)
    if not comparisons:
        return 0
    counts = report.show(options.console, title, comparisons)
    path = options.out / f"{name}.csv"
    report.write(path, comparisons)
    options.console.print(f"Every figure: {path}")
    return counts.failed


def _compare(options: Options, rows: Sequence[Row]) -> list[Comparison]:
    """Run the rows that match and that hopsim can run; say which ones it cannot."""
    chosen = [row for row in rows if options.selects(row.name)]
    left_out = Counter(reason for row in chosen if (reason := fogsim.unsupported(row.settings)))
    for reason, count in left_out.most_common():
        options.console.print(f"Not compared: {count} rows, {reason}")
    selected = [row for row in chosen if fogsim.unsupported(row.settings) is None]
    cases = siblings(selected)
    everyone = siblings(rows)
    documents = [fogsim.document(members[0]) for members in cases.values()]
    results = dict(zip(cases, options.simulate(documents, options.seeds, figures), strict=True))
    return [compare(row, results[row.case], everyone[row.case]) for row in selected]
