"""A note about congestion control that is at its end: sources that it cannot slow down any further."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hopsim.results.result import Result, Results

KEY = "ccti_at_limit_fraction"
"""Share of the window in which the index of a flow was at its limit, of the flow that had most."""
SLIGHT = 0.05
"""Share of the window below which it is not worth a word: an index that swings touches its limit."""


def note(results: Results) -> str:
    """A line about the points in which indices are at their limit; empty if there are none."""
    told = [result for result in results if at_limit(result) > SLIGHT]
    if not told:
        return ""
    worst = max(told, key=at_limit)
    if len(results) == 1:
        return sentence(worst)
    return f"{sentence(worst)} That is the worst of {len(told)} such points."


def at_limit(result: Result) -> float:
    """The share of a point; 0 without a table."""
    return float(result.summary.get(KEY) or 0.0)


def sentence(result: Result) -> str:
    """What a point has of it, and what would help."""
    control: dict[str, Any] = result.config["router"]["infiniband"]["congestion_control"]
    limit, table = control["ccti_limit"], control["cct"]
    named = f'cct = "{table}"' if isinstance(table, str) else "the table cct"
    return (
        f"Congestion control is at its end: the index of a flow is at ccti_limit = {limit} of {named} for "
        f"{at_limit(result):.0%} of the window. Nothing slows its source down further, and what it holds up "
        "stays held up; a table with longer delays (cct, ccti_limit) would."
    )
