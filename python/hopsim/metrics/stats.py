"""Means with 95 % confidence intervals, over seeds or over the batches of one run."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hopsim import _core


@dataclass(frozen=True)
class Estimate:
    """A mean and the half width of its 95 % confidence interval; None where it does not exist."""

    mean: float | None
    half_width: float | None = None

    def text(self, decimals: int, *, interval: bool = True) -> str:
        """`mean ± half width`, rounded to `decimals`."""
        if self.mean is None:
            return "–"
        mean = f"{self.mean:,.{decimals}f}"
        if self.half_width is None or not interval:
            return mean
        return f"{mean} ± {self.half_width:.{decimals}f}"


def estimate(summaries: Sequence[Mapping[str, Any]], key: str) -> Estimate:
    """`key` over runs that differ in their seed only.

    With several runs the interval is Student's over their means; with one it is the run's own,
    from its batches (`<key>_ci95`). Runs in which the quantity does not exist are left out.
    """
    values = [float(summary[key]) for summary in summaries if summary.get(key) is not None]
    if not values:
        return Estimate(None)
    if len(summaries) == 1:
        own = summaries[0].get(f"{key}_ci95")
        return Estimate(values[0], None if own is None else float(own))
    return over_runs(values)


def mean_and_variance(values: Sequence[float]) -> tuple[float, float]:
    """Mean and sample variance; no variance for a single value."""
    mean = math.fsum(values) / len(values)
    square = math.fsum((value - mean) ** 2 for value in values)
    return mean, square / (len(values) - 1) if len(values) > 1 else 0.0


def jain(values: Sequence[float]) -> float:
    """Jain's index of fairness: 1 if all are equal, 1/n if one of n has everything (DEC TR-301, 1984)."""
    squares = sum(value * value for value in values)
    return sum(values) ** 2 / (len(values) * squares) if squares else 1.0


def over_runs(values: Sequence[float]) -> Estimate:
    """Mean of independent runs; no interval for a single one."""
    count = len(values)
    mean, variance = mean_and_variance(values)
    if count < 2:
        return Estimate(mean)
    return Estimate(mean, student_t(count - 1) * math.sqrt(variance / count))


def student_t(freedom: int, confidence: float = 0.95) -> float:
    """Two-sided quantile of Student's t with `freedom` >= 1 degrees of freedom, 0 <= `confidence` < 1.

    Raises `ValueError` out of these ranges.
    """
    return _core.student_t(freedom, confidence)
