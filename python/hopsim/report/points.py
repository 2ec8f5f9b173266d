"""The points of a sweep with the names that figures give them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hopsim.metrics.series import JOB, SEED, curves
from hopsim.plot.view import caption

if TYPE_CHECKING:
    from hopsim.results.result import Result, Results


@dataclass(frozen=True)
class Named:
    """Points that differ in their seed only, of which the first is shown.

    Attributes:
        number: the number of the first in the sweep.
        label: its curve and its place on it; the only point has none.
        result: the first.
        seeds: all their seeds.
        from_top: how many points of its curve lie beyond it.
    """

    number: int
    label: str
    result: Result
    seeds: tuple[int, ...]
    from_top: int


def named_points(results: Results) -> list[Named]:
    """All points, seeds together, in the order of curves and of places on them."""
    numbers = numbers_of(results)
    found: list[Named] = []
    for series in curves(results):
        for place, group in enumerate(series.groups):
            first = group.results[0]
            seeds = tuple(int(result.summary["seed"]) for result in group.results)
            label = caption(series.label, series.abscissa.text(group)) or "the only point"
            from_top = len(series.groups) - 1 - place
            found.append(Named(numbers[key_of(first)], label, first, seeds, from_top))
    return found


def shown_first(points: Sequence[Named]) -> int:
    """The place of the point that a section opens with: of the first curve that of the highest load."""
    return next((place for place, each in enumerate(points) if each.from_top == 0), 0)


def numbers_of(results: Results) -> dict[str, int]:
    """The number of every point by its `key_of`."""
    found: dict[str, int] = {}
    for number, result in zip(results.points, results, strict=True):
        found.setdefault(key_of(result), number)
    return found


def key_of(result: Result) -> str:
    """What a point has to itself, the same for each of its jobs."""
    axes = {path: value for path, value in result.axes.items() if path not in (JOB, SEED)}
    return json.dumps([axes, result.config["measure"].get("seed")], sort_keys=True)
