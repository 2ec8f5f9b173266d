"""Verdicts: hopsim's figures over several seeds against a reference row.

A figure passes if it lies within the tolerance of its metric, or if chance explains the
difference: with s the standard deviation pooled over hopsim's seeds and the reference's (where it
has several), n hopsim seeds and m reference seeds,

    |mean - reference| <= t * s * sqrt(1/n + 1/m) + rounding of the reference

where t is the Student quantile at which two samples of the same simulator are called different
once in a thousand comparisons. Most reference rows are one seed (m = 1): the reference's own noise
is then what limits the comparison, however many seeds hopsim runs.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from verify.metrics import Metric, metrics_of
from verify.rows import GROUP0, Row
from verify.statistics import Sample, pooled, standard_error, student_quantile

SATURATION = 0.97
"""A row is saturated if it accepts less than this share of the offered load."""

Figures = Mapping[str, float | None]


class Verdict(Enum):
    """How a figure compares with its reference."""

    TOLERANCE = "within tolerance"
    SPREAD = "within the spread of seeds"
    FAIL = "fails"
    REPORTED = "reported only"


@dataclass(frozen=True)
class Outcome:
    """One metric of one row."""

    metric: Metric
    ours: Sample
    reference: float
    z: float
    """Difference in standard errors; 0 without any spread and without difference."""
    verdict: Verdict

    @property
    def difference(self) -> float:
        """Ours minus the reference."""
        return self.ours.mean - self.reference

    @property
    def deviation(self) -> float:
        """Relative difference; NaN if the reference is zero and we are not."""
        if self.reference == 0:
            return 0.0 if self.difference == 0 else math.nan
        return self.difference / self.reference


@dataclass(frozen=True)
class Comparison:
    """All metrics of one row."""

    row: Row
    saturated: bool
    outcomes: Sequence[Outcome]

    @property
    def failures(self) -> list[Outcome]:
        """The outcomes that fail."""
        return [outcome for outcome in self.outcomes if outcome.verdict is Verdict.FAIL]


def compare(row: Row, figures: Sequence[Figures], siblings: Sequence[Row]) -> Comparison:
    """Judge a row by hopsim's figures (one mapping per seed) and the row's other seeds."""
    saturated = row.values["accepted_load"] < SATURATION * row.offered_load
    metrics = [*metrics_of(row), *_profile(row)]
    outcomes = [
        _outcome(metric, row, saturated, Sample.of(values), _reference(metric, row, siblings))
        for metric in metrics
        if metric.key in row.values and (values := _values(metric, figures))
    ]
    return Comparison(row, saturated, outcomes)


def _profile(row: Row) -> list[Metric]:
    """The routers of group 0, reported for the bias table."""
    keys = [key for key in row.values if key.startswith(GROUP0.format(""))]
    return [Metric(key, "group 0 router", judged=False) for key in keys]


def _values(metric: Metric, figures: Sequence[Figures]) -> list[float]:
    return [value for figure in figures if (value := figure.get(metric.key)) is not None]


def _reference(metric: Metric, row: Row, siblings: Sequence[Row]) -> Sample:
    """What is known of the reference's spread."""
    if metric.key in row.spreads:
        return Sample(row.values[metric.key], row.spreads[metric.key], row.seeds)
    values = [other.values[metric.key] for other in siblings if metric.key in other.values]
    return Sample.of(values or [row.values[metric.key]])


def _outcome(metric: Metric, row: Row, saturated: bool, ours: Sample, reference: Sample) -> Outcome:
    value = row.values[metric.key]
    std, freedom = pooled([ours, reference])
    error = standard_error(std, ours.count, row.seeds)
    difference = ours.mean - value
    excess = max(abs(difference) - row.rounding.get(metric.key, 0.0), 0.0)
    z = math.copysign(excess / error, difference) if error > 0 else 0.0
    chance = student_quantile(freedom) * error if freedom else 0.0
    verdict = Verdict.REPORTED
    if metric.judged:
        allowance = metric.allowance(value, saturated)
        within = allowance > 0 and abs(difference) <= allowance
        verdict = _verdict(within, excess <= chance, metric.required(saturated))
    return Outcome(metric, ours, value, z, verdict)


def _verdict(within_tolerance: bool, within_spread: bool, required: bool) -> Verdict:
    if within_tolerance:
        return Verdict.TOLERANCE
    if within_spread:
        return Verdict.SPREAD
    return Verdict.FAIL if required else Verdict.REPORTED
