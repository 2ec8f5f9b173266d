"""Means, spreads and the size of a difference that chance explains."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from hopsim.metrics.stats import mean_and_variance, student_t

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
        mean, variance = mean_and_variance(values)
        return Sample(mean, math.sqrt(variance), len(values))

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


@cache
def student_quantile(freedom: int, false_alarm: float = FALSE_ALARM) -> float:
    """How many standard errors chance explains, with so many degrees of freedom."""
    return student_t(freedom, 1 - false_alarm)
