"""What points are worth: steady, saturated, not converged, or too few samples."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from hopsim.metrics.series import Group, by_job, over_seeds

if TYPE_CHECKING:
    from hopsim.results.result import Results

KEY = "verdict"
STEADY = "steady"
SATURATED = "saturated"
NOT_CONVERGED = "not converged"
TOO_FEW_SAMPLES = "too few samples"
WORST_FIRST = (SATURATED, NOT_CONVERGED, TOO_FEW_SAMPLES, STEADY)
LACKS = {NOT_CONVERGED: "warm-up", TOO_FEW_SAMPLES: "window"}
"""What is too short."""
UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"))
"""Of time, as documents write them."""


def verdicts(group: Group) -> list[str]:
    """Those of the points of a group, without those that have none."""
    found = [result.summary.get(KEY) for result in group.results]
    return [verdict for verdict in found if verdict is not None]


def worst(group: Group) -> str | None:
    """The worst verdict of a group; None if it has none."""
    found = verdicts(group)
    return min(found, key=WORST_FIRST.index) if found else None


def cell(group: Group) -> str:
    """The worst verdict as text, and of how many seeds it is if they disagree."""
    found, name = verdicts(group), worst(group)
    if name is None:
        return "–"
    count = found.count(name)
    return name if count == len(found) else f"{name} ({count} of {len(found)})"


def has_verdicts(results: Results) -> bool:
    """Whether any point has one: not with programs, or of a version that knew none."""
    return any(result.summary.get(KEY) is not None for result in results)


def advice(results: Results) -> str:
    """A line about the points, or jobs of points, that are not steady; empty if all are."""
    groups = over_seeds(by_job(results))
    found = Counter(name for group in groups if (name := worst(group)) is not None)
    told = [_told(name, found[name], groups) for name in WORST_FIRST if found[name]]
    return "" if set(found) <= {STEADY} else f"Verdict: {'; '.join(told)}"


def _told(name: str, count: int, groups: Sequence[Group]) -> str:
    summaries = [result.summary for group in groups for result in group.results]
    missing: list[str] = []
    for key, text in MISSING.items():
        found = [summary[key] for summary in summaries if summary.get(KEY) == name and summary.get(key)]
        missing += [text(max(found))] if found else []
    if name not in LACKS or not missing:
        return f"{count} {name}"
    return f"{count} {name} ({LACKS[name]} about {' or '.join(missing)} too short)"


def _cycles(count: float) -> str:
    return f"{count:,.0f} cycles"


def _time(seconds: float) -> str:
    """Three digits and a unit that leaves few zeros."""
    size, unit = next((each for each in UNITS if seconds >= each[0]), UNITS[-1])
    return f"{seconds / size:.3g} {unit}"


MISSING: dict[str, Callable[[float], str]] = {"missing_cycles": _cycles, "missing_s": _time}
"""How much of it, by key of the summary: in cycles, and in fabrics in seconds."""
