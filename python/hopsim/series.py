"""Points of a sweep put in order: repetitions over seeds, and curves over load."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hopsim.results import Result, Results
from hopsim.stats import Estimate, estimate

SEED = "measure.seed"


@dataclass(frozen=True)
class Group:
    """Points that differ in their seed only.

    Attributes:
        axes: sweep assignments they share.
        results: the points.
    """

    axes: dict[str, Any]
    results: list[Result]

    @property
    def labels(self) -> dict[str, str]:
        """Path -> its value as short text."""
        return {path: value_label(value) for path, value in self.axes.items()}

    def estimate(self, key: str) -> Estimate:
        """Mean and confidence interval of a key of the summary."""
        return estimate([result.summary for result in self.results], key)


@dataclass(frozen=True)
class Series:
    """One curve: groups that differ in their load only, by ascending load.

    Attributes:
        label: what the legend says; empty for the only curve.
        groups: its points.
    """

    label: str
    groups: list[Group]

    def values(self, key: str) -> list[Estimate]:
        """A key of the summary, point by point."""
        return [group.estimate(key) for group in self.groups]


def over_seeds(results: Results) -> list[Group]:
    """Points grouped over seeds, in order of their first point."""
    groups: dict[str, Group] = {}
    for result in results:
        axes = {path: value for path, value in result.axes.items() if path != SEED}
        groups.setdefault(_key(axes), Group(axes, [])).results.append(result)
    return list(groups.values())


def curves(results: Results, by: Sequence[str] | None = None) -> list[Series]:
    """Curves over load: one for each combination of the axes `by`.

    `by` are all axes other than load and seed when not given.
    """
    groups = over_seeds(results)
    chosen = _distinguishing(groups, curve_axes(results) if by is None else by)
    found: dict[str, list[Group]] = {}
    for group in groups:
        found.setdefault(_key({path: group.axes.get(path) for path in chosen}), []).append(group)
    return [Series(_label(members[0], chosen), sorted(members, key=_load)) for members in found.values()]


def curve_axes(results: Results) -> list[str]:
    """Sweep axes other than load and seed."""
    return [path for path in results.axes if not is_load(path) and path != SEED]


def is_load(path: str) -> bool:
    """Whether a sweep axis is an offered load."""
    return path.rpartition(".")[2] == "load"


def axis_labels(paths: Sequence[str]) -> list[str]:
    """The shortest ends of the paths that still tell them apart."""
    return [_shortest(path, paths) for path in paths]


def value_label(value: Any) -> str:
    """A value of the document as short text: `valiant (policy=crg)` for a choice with parameters."""
    if isinstance(value, Mapping) and len(value) == 1:
        ((name, inner),) = value.items()
        if not isinstance(inner, Mapping):
            return f"{name}={value_label(inner)}"
        fields = ", ".join(f"{key}={value_label(item)}" for key, item in inner.items())
        return f"{name} ({fields})" if fields else str(name)
    if isinstance(value, str):
        return value
    if isinstance(value, float):
        return f"{value:g}"
    return json.dumps(value)


def _distinguishing(groups: Sequence[Group], paths: Sequence[str]) -> list[str]:
    """`paths` without those that follow from the others (axes zipped together)."""
    kept = list(paths)
    for path in reversed(paths):
        rest = [other for other in kept if other != path]
        if len(_combinations(groups, rest)) == len(_combinations(groups, kept)):
            kept = rest
    return kept


def _combinations(groups: Sequence[Group], paths: Sequence[str]) -> set[str]:
    return {_key({path: group.axes.get(path) for path in paths}) for group in groups}


def _label(group: Group, paths: Sequence[str]) -> str:
    labels = group.labels
    parts = []
    for path, name in zip(paths, axis_labels(paths), strict=True):
        value = labels.get(path, "–")
        parts.append(value if isinstance(group.axes.get(path), str | Mapping) else f"{name} = {value}")
    return ", ".join(parts)


def _load(group: Group) -> float:
    return group.estimate("offered_load").mean or 0.0


def _key(axes: Mapping[str, Any]) -> str:
    return json.dumps(axes, sort_keys=True)


def _shortest(path: str, paths: Sequence[str]) -> str:
    parts = path.split(".")
    for count in range(1, len(parts)):
        end = ".".join(parts[-count:])
        if not end[0].isdigit() and sum(other == end or other.endswith(f".{end}") for other in paths) == 1:
            return end
    return path
