"""Means, spreads and the size of a difference that chance explains."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

FALSE_ALARM = 0.001
"""Chance that two samples of the same simulator are called different, per comparison."""


@dataclass(frozen=True)
class Sample:
    """Mean and spread of one quantity over several seeds."""

    mean: float
    std: float
    """Sample standard deviation; 0 for a single value."""
    count: int

    @staticmethod
    def of(values: Sequence[float]) -> Sample:
        """Mean and sample standard deviation of values."""
        mean = math.fsum(values) / len(values)
        if len(values) == 1:
            return Sample(mean, 0.0, 1)
        square = math.fsum((value - mean) ** 2 for value in values)
        return Sample(mean, math.sqrt(square / (len(values) - 1)), len(values))

    @property
    def freedom(self) -> int:
        """Degrees of freedom of the standard deviation."""
        return self.count - 1


def pooled(samples: Sequence[Sample]) -> tuple[float, int]:
    """Common standard deviation of samples around their own means, and its degrees of freedom."""
    freedom = sum(sample.freedom for sample in samples)
    if freedom == 0:
        return 0.0, 0
    square = math.fsum(sample.freedom * sample.std**2 for sample in samples)
    return math.sqrt(square / freedom), freedom


def standard_error(std: float, first: int, second: int) -> float:
    """Standard deviation of the difference between means over `first` and `second` seeds."""
    return std * math.sqrt(1 / first + 1 / second)


@lru_cache(maxsize=256)
def student_quantile(probability: float, freedom: int) -> float:
    """The value a Student t variable stays below with the given probability (> 0.5)."""
    if freedom < 1:
        return math.inf
    low, high = 0.0, 1.0
    while student_cdf(high, freedom) < probability:
        low, high = high, 2 * high
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if student_cdf(middle, freedom) < probability else (low, middle)
    return high


def student_cdf(value: float, freedom: int) -> float:
    """P(T < value) for value >= 0, by the finite series in theta = atan(value / sqrt(freedom))."""
    theta = math.atan2(value, math.sqrt(freedom))
    sine, cosine = math.sin(theta), math.cos(theta)
    odd = freedom % 2 == 1
    term = cosine if odd else 1.0
    total = term if freedom > 1 or not odd else 0.0
    for k in range(3 if odd else 2, freedom - 1, 2):
        term *= cosine * cosine * (k - 1) / k
        total += term
    inside = 2 / math.pi * (theta + sine * total) if odd else sine * total
    return (1 + inside) / 2
