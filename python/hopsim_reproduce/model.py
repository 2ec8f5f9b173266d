"""What an entry is made of."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from hopsim.metrics.stats import mean_and_variance, student_t
from hopsim.results.result import Result

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Document = dict[str, Any]
AxisValue = float | str
"""Of a sweep axis."""
Scale = Literal["quick", "full"]
LOAD = "load"
"""Sweep axis of the offered load."""
ROUNDING = 1e-9
"""Relative error of a difference of decimal numbers."""
AGREES = 0.1
"""Relative difference of a published value that agrees, where nothing else is said."""
SATURATION = 0.97
"""A network is saturated if it accepts less than this share of the offered load."""


def slug(*parts: str) -> str:
    """A name of an experiment: it becomes a directory."""
    texts = (part.lower().replace("+", "plus") for part in parts)
    return "-".join(re.sub(r"[^a-z0-9]+", "-", text).strip("-") for text in texts)


@dataclass(frozen=True)
class Experiment:
    """One document with the loads, or values of another key, and the seeds it is swept over."""

    name: str
    """Unique within the entry; names its results directory."""
    document: Document
    values: Sequence[AxisValue]
    """Of the axis; empty if the document is swept over seeds only."""
    seeds: int
    may_deadlock: bool = False
    """Points that end in a deadlock are part of the result: they are missing from it."""
    axis: str = LOAD
    """Path of the key that takes the values. Files are named relative to the shipped examples."""

    def sweep(self) -> Document:
        """The document as the sweep runner takes it."""
        seeds = list(range(1, self.seeds + 1))
        values: Document = {self.axis: list(self.values)} if self.values else {}
        axes = {**values, "measure.seed": seeds}
        return {**self.document, "sweep": {"product": axes}}


Results = Mapping[str, Sequence[Result]]
"""Experiment name -> its points."""


def load(result: Result) -> float:
    """The load that was asked for."""
    return result.axes[LOAD]


def at(results: Sequence[Result], value: AxisValue | None, axis: str = LOAD) -> list[Result]:
    """The points at one value of the axis, all of them if there is no axis: one per seed."""
    if value is None:
        return list(results)
    return [result for result in results if _same(result.axes[axis], value)]


def _same(first: AxisValue, second: AxisValue) -> bool:
    if isinstance(first, str) or isinstance(second, str):
        return first == second
    return math.isclose(first, second)


@dataclass(frozen=True)
class Measured:
    """Mean and spread over seeds."""

    mean: float
    std: float
    """Sample standard deviation; 0 for a single seed."""
    seeds: int

    @staticmethod
    def of(values: Sequence[float]) -> Measured:
        """Mean and sample standard deviation of values."""
        mean, variance = mean_and_variance(values)
        return Measured(mean, math.sqrt(variance), len(values))

    @staticmethod
    def of_known(values: Sequence[float | None]) -> Measured | None:
        """The same; None if one of the values does not exist, or none was measured."""
        known = [value for value in values if value is not None]
        return Measured.of(known) if known and len(known) == len(values) else None

    def change(self) -> Measured:
        """By how much a ratio differs from 1 [%]."""
        return Measured(100 * (self.mean - 1), 100 * self.std, self.seeds)

    @staticmethod
    def exactly(value: float) -> Measured:
        """What is computed from means: it has no spread of its own."""
        return Measured(value, 0.0, 1)


def quotient(over: Measured | None, under: Measured | None) -> Measured | None:
    """Of the means; None if it does not exist."""
    if over is None or under is None or under.mean == 0:
        return None
    return Measured.exactly(over.mean / under.mean)


@dataclass(frozen=True)
class Comparison:
    """One published value and ours."""

    row: str
    quantity: str
    ours: Measured | None
    """None if it does not exist."""
    published: float
    decimals: int = 4
    expected: str = ""
    """What theory gives for the network that was run, if it says anything."""
    missing: str = ""
    """Why ours may not exist."""
    allowed: float | None = None
    """Largest difference that agrees; None if nothing is asked of it."""
    only: str = ""
    """Why the value is shown and not judged, if it is not."""

    @property
    def agrees(self) -> bool | None:
        """Whether the difference is allowed; None if nothing is asked of it."""
        if self.allowed is None:
            return None
        return self.difference is not None and abs(self.difference) <= self.allowed * (1 + ROUNDING)

    @property
    def is_chance(self) -> bool:
        """Whether the published value could be that of one more seed of ours.

        It lies within the 95 % prediction interval of those that ran (Student's t).
        """
        if self.ours is None or self.difference is None or self.ours.seeds < 2:
            return False
        error = self.ours.std * math.sqrt(1 + 1 / self.ours.seeds)
        return abs(self.difference) <= student_t(self.ours.seeds - 1) * error

    @property
    def difference(self) -> float | None:
        """Ours minus published."""
        return None if self.ours is None else self.ours.mean - self.published

    @property
    def relative(self) -> float | None:
        """Difference over published."""
        difference = self.difference
        return None if difference is None or self.published == 0 else difference / self.published


@dataclass(frozen=True)
class Fact:
    """A statement of the publication that has no number, and whether our results agree."""

    statement: str
    criterion: str
    """What we require, in figures."""
    found: str
    """What we measured, in figures."""
    holds: bool


@dataclass(frozen=True)
class Outcome:
    """What an entry concludes from its results."""

    comparisons: Sequence[Comparison] = ()
    facts: Sequence[Fact] = ()


@dataclass(frozen=True)
class Entry:
    """One published table or figure."""

    name: str
    title: str
    source: str
    """Publication and table or figure."""
    notes: Callable[[Scale], Sequence[str]]
    """What the reader has to know of the settings, printed before the results."""
    seeds: Mapping[Scale, int]
    experiments: Callable[[Scale, int], Sequence[Experiment]]
    """The experiments of a scale with this many seeds."""
    conclude: Callable[[Scale, Results], Outcome]
    draw: Callable[[Scale, Results], Figure]
