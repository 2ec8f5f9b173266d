"""Rows that are known to fail, each with its reason: listed by the report, and not a failure."""

from __future__ import annotations

import re
from dataclasses import dataclass

from verify.compare import Comparison


@dataclass(frozen=True)
class KnownException:
    """A documented disagreement."""

    rows: str
    """Regular expression over row names."""
    metrics: frozenset[str]
    """Keys of the metrics it covers; any other one still fails the row."""
    reason: str


KNOWN: tuple[KnownException, ...] = ()


def reason(comparison: Comparison, known: tuple[KnownException, ...] = KNOWN) -> str | None:
    """Why the failures of a row are accepted; None if one of them is not documented."""
    failing = {outcome.metric.key for outcome in comparison.failures}
    for exception in known:
        if re.search(exception.rows, comparison.row.name) and failing <= exception.metrics:
            return exception.reason
    return None
