"""Points of a sweep put in order: repetitions over seeds, jobs apart, and curves over load."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from hopsim.metrics.stats import Estimate, estimate
from hopsim.vocabulary.labels import axis_labels, is_load, job_of, labels_of, numbered, value_label
from hopsim.vocabulary.units import unit_of_column, unit_of_key, with_unit, words

if TYPE_CHECKING:
    from hopsim.results.result import Result, Results

__all__ = ["Abscissa", "Group", "Series", "axis_names", "by_job", "curves", "over_seeds", "value_label"]

SEED = "measure.seed"
JOB = "job"
"""What stands for an axis where jobs are shown apart."""
BURST = "synchronised_bursts.packets"
"""End of the path of the size of bursts."""


@dataclass(frozen=True)
class Group:
    """Points that differ in their seed only.

    Attributes:
        axes: sweep assignments they share.
        results: the points.
        labels: path -> its value as short text, different from those of the other values of the sweep.
    """

    axes: dict[str, Any]
    results: list[Result]
    labels: dict[str, str] = field(default_factory=dict[str, str])

    def estimate(self, key: str) -> Estimate:
        """Mean and confidence interval of a key of the summary."""
        return estimate([result.summary for result in self.results], key)


@dataclass(frozen=True)
class Abscissa:
    """What curves run over: the offered load of what is shown, unless the sweep varies something else.

    Attributes:
        name: what it is, such as `offered load`.
        unit: its unit; empty for names and ratios.
        path: sweep axis that holds its values; a key of the summary does when None.
        paths: sweep axes that follow from it.
        key: that key of the summary.
        names: of an axis whose values are not plain numbers, value as JSON -> its name, in order; a group
            stands at the number of its name.
    """

    name: str = "offered load"
    unit: str = "phits/(node·cycle)"
    path: str | None = None
    paths: tuple[str, ...] = ()
    key: str = "offered_load"
    names: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def label(self) -> str:
        """The name with the unit, for an axis of a figure."""
        return with_unit(self.name, self.unit)

    def of(self, group: Group) -> float | None:
        """Where a group stands."""
        if self.path is None:
            return group.estimate(self.key).mean
        value = group.axes.get(self.path)
        if self.names:
            return float(list(self.names).index(_key(value))) if self.path in group.axes else None
        return float(value) if isinstance(value, int | float) else None

    def text(self, group: Group) -> str:
        """Name and value for a group; empty when it has none."""
        value = self.value_text(group)
        return f"{self.name} {value}" if value else ""

    def value_text(self, group: Group) -> str:
        """The value for a group; empty when it has none."""
        value = self.of(group)
        if value is None:
            return ""
        return list(self.names.values())[int(value)] if self.names else f"{value:.3g}"


OFFERED = Abscissa()
OF_LINKS = "of what the links to the nodes carry"
"""Unit of the loads of fabrics."""


@dataclass(frozen=True)
class Series:
    """One curve: groups that differ in the abscissa only, in ascending order.

    Attributes:
        label: what the legend says; empty for the only curve.
        groups: its points.
        abscissa: what it runs over.
    """

    label: str
    groups: list[Group]
    abscissa: Abscissa = OFFERED

    def values(self, key: str) -> list[Estimate]:
        """A key of the summary, point by point."""
        return [group.estimate(key) for group in self.groups]

    def places(self) -> list[float | None]:
        """The abscissa, point by point."""
        return [self.abscissa.of(group) for group in self.groups]


def over_seeds(results: Results) -> list[Group]:
    """Points grouped over seeds, in order of their first point; a point that occurs again counts once."""
    labels = _labels(results)
    groups: dict[str, Group] = {}
    seen: set[str] = set()
    for result in results:
        if (point := _key([result.axes, result.summary.get("seed")])) in seen:
            continue
        seen.add(point)
        axes = {path: value for path, value in result.axes.items() if path != SEED}
        named = {path: result.labels.get(path, labels[path][_key(value)]) for path, value in axes.items()}
        groups.setdefault(_key(axes), Group(axes, [], named)).results.append(result)
    return list(groups.values())


def by_job(results: Results) -> Results:
    """The same points; if some have several jobs, with a result for each job and its name as axis `job`.

    Those that stand for jobs already stay as they are.
    """
    if JOB in results.axes or not has_jobs(results):
        return results
    return results.only(part for result in results for part in _jobs(result))


def curves(
    results: Results, by: Sequence[str] | None = None, abscissa: Abscissa | None = None
) -> list[Series]:
    """Curves over the abscissa: one for each combination of the axes `by`.

    `by` are all axes other than that of the abscissa and the seed when not given, `abscissa` is that of
    `abscissa_of`.
    """
    groups = over_seeds(results)
    abscissa = abscissa or abscissa_of(results)
    # What was measured has no order of its own: its points follow what was varied.
    order = abscissa if abscissa.path is not None else abscissa_of(results)
    chosen = _distinguishing(groups, curve_axes(results, abscissa) if by is None else by)
    found: dict[str, list[Group]] = {}
    for group in groups:
        found.setdefault(_key({path: group.axes.get(path) for path in chosen}), []).append(group)
    names = axis_names(results, chosen)
    labels = numbered(_joined([_parts(members[0], chosen, names) for members in found.values()]))
    ordered = [sorted(members, key=lambda group: order.of(group) or 0.0) for members in found.values()]
    return [Series(label, members, abscissa) for label, members in zip(labels, ordered, strict=True)]


def curve_axes(results: Results, abscissa: Abscissa | None = None) -> list[str]:
    """Sweep axes other than those of the abscissa and the seed."""
    taken = (SEED, *(abscissa or abscissa_of(results)).paths)
    return [path for path in results.axes if path not in taken]


def abscissa_of(results: Results) -> Abscissa:
    """What the curves of a sweep run over: burst size, the load of one of several jobs, or offered load.

    Where loads of several jobs vary independently, it is the one that varies fastest.
    """
    if has_bursts(results):
        bursts = [path for path in results.axes if path.endswith(BURST)]
        return Abscissa("burst size", "packets/node", bursts[-1] if bursts else "", tuple(bursts[-1:]))
    loads = [path for path in results.axes if is_load(path)]
    free = _distinguishing(over_seeds(results), loads) or loads
    paths = tuple(path for path in loads if path not in free[:-1])
    if loads and free[-1] != "load" and has_jobs(results) and not has_flows(results):
        (name,) = axis_names(results, free[-1:])
        return Abscissa(f"offered {name}", path=free[-1], paths=paths)
    return Abscissa(unit=OF_LINKS, paths=paths) if has_flows(results) else Abscissa(paths=paths)


def along(results: Results, x: str) -> Abscissa:
    """The abscissa that is the sweep axis `x`, or a column `x` of the summary."""
    usual = abscissa_of(results)
    if x == usual.path or (x in usual.paths and x == "load"):
        return usual
    if x not in results.axes:
        return replace(usual, name=words(x), unit=unit_of_column(x), path=None, key=x)
    (name,) = axis_names(results, [x])
    groups = over_seeds(results)
    paths = [path for path in results.axes if _follows(groups, path, x)]
    values = {_key(group.axes[x]): group for group in groups if x in group.axes}
    has_names = any(x in result.labels for result in results)
    if not has_names and all(_is_number(group.axes[x]) for group in values.values()):
        # A number alone says little: `buffers.network`, and not `network`.
        end = name if " " in name else ".".join(x.split(".")[-2:])
        return Abscissa(end, unit_of_key(x), x, tuple(paths))
    names = {value: group.labels[x] for value, group in values.items()}
    return Abscissa(name, "", x, tuple(paths), names=names)


def has_bursts(results: Results) -> bool:
    """Whether the nodes send bursts that wait for each other instead of offering a load."""
    return any("cycles_per_burst" in result.summary for result in results)


def has_programs(results: Results) -> bool:
    """Whether the nodes of some job run a program."""
    return any("execution_time" in result.summary for result in results)


def has_searches(results: Results) -> bool:
    """Whether some job searches a graph as Graph500 does."""
    return any("traversed_edges_per_second" in result.summary for result in results)


def has_flows(results: Iterable[Result]) -> bool:
    """Whether the network is a fabric."""
    return any("throughput_gbps" in result.summary for result in results)


def of_programs(results: Results) -> Results:
    """The points that are, or whose only job is, a program."""
    return _where(results, lambda result: "execution_time" in result.summary)


def of_traffic(results: Results) -> Results:
    """The points without programs."""
    return _where(results, lambda result: "execution_time" not in result.summary)


def _where(results: Results, holds: Callable[[Result], bool]) -> Results:
    return results.only(result for result in results if holds(result))


def has_jobs(results: Results) -> bool:
    """Whether some points have several jobs."""
    return any(len(result.jobs) > 1 or JOB in result.axes for result in results)


def axis_names(results: Results, paths: Sequence[str]) -> list[str]:
    """Short names of sweep axes; those of one of several jobs name the job: `load of victim`."""
    names = axis_labels(paths)
    if not has_jobs(results):
        return names
    return [_of_job(results, path) or name for path, name in zip(paths, names, strict=True)]


def _of_job(results: Results, path: str) -> str:
    """The name of an axis that belongs to a job; empty for one that does not."""
    number = job_of(path)
    if number is None:
        return ""
    name = next(jobs[number]["name"] for result in results if len(jobs := result.config["jobs"]) > number)
    inner = "load" if is_load(path) else axis_labels([path.split(".", 2)[2]])[0]
    return f"{inner} of {name}"


def _jobs(result: Result) -> Iterator[Result]:
    for job in result.jobs:
        name = job[JOB]
        record = {"config": result.config, "result": job}
        yield result.replaced(record, {**result.axes, JOB: name}, _OfJob(result.tables, name))


class _OfJob(Mapping[str, pa.Table]):
    """The rows of one job in those tables that tell jobs apart; the other tables are whole."""

    def __init__(self, inner: Mapping[str, pa.Table], job: str) -> None:
        self._inner = inner
        self._job = job

    def __getitem__(self, name: str) -> pa.Table:
        table = self._inner[name]
        if JOB not in table.column_names:
            return table
        # By a mask: an expression would start threads of Arrow (see `store`).
        return table.filter(pc.equal(table[JOB], pa.scalar(self._job)))

    def __iter__(self) -> Iterator[str]:
        return iter(self._inner)

    def __len__(self) -> int:
        return len(self._inner)


def _labels(results: Results) -> dict[str, dict[str, str]]:
    """Axis -> value as JSON -> label."""
    values: dict[str, dict[str, Any]] = {}
    for result in results:
        for path, value in result.axes.items():
            values.setdefault(path, {})[_key(value)] = value
    labels = {path: labels_of(path, list(found.values())) for path, found in values.items()}
    return {path: dict(zip(found, labels[path], strict=True)) for path, found in values.items()}


def _distinguishing(groups: Sequence[Group], paths: Sequence[str]) -> list[str]:
    """`paths` without those that follow from the others (axes zipped together)."""
    kept = list(paths)
    for path in reversed(paths):
        rest = [other for other in kept if other != path]
        if len(_combinations(groups, rest)) == len(_combinations(groups, kept)):
            kept = rest
    return kept


def _follows(groups: Sequence[Group], path: str, other: str) -> bool:
    """Whether the value of an axis follows from that of another one."""
    return len(_combinations(groups, [path, other])) == len(_combinations(groups, [other]))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _combinations(groups: Sequence[Group], paths: Sequence[str]) -> set[str]:
    return {_key({path: group.axes.get(path) for path in paths}) for group in groups}


def _parts(group: Group, paths: Sequence[str], names: Sequence[str]) -> list[tuple[str, str]]:
    """What the label of a curve consists of: for each axis a text, and one with the name of the axis."""
    return [_part(group, path, name) for path, name in zip(paths, names, strict=True)]


def _part(group: Group, path: str, name: str) -> tuple[str, str]:
    if path not in group.axes:
        return f"{name} = –", f"{name} = –"
    text = group.labels[path]
    if path in group.results[0].labels:
        return text, text
    with_name = f"{name} = {text}"
    speaks = isinstance(group.axes[path], str | Mapping | list)
    return (text if speaks else with_name), with_name


def _joined(curves: Sequence[Sequence[tuple[str, str]]]) -> list[str]:
    """Labels from their parts, with the names of axes where texts alone leave open which axis they are of."""
    texts = [{text for text, _ in column if text} for column in zip(*curves, strict=True)]
    unclear = [any(own & other for other in texts if other is not own) for own in texts]
    chosen = [[part[clash] for part, clash in zip(parts, unclear, strict=True)] for parts in curves]
    return [", ".join(filter(None, parts)) for parts in chosen]


def _key(value: Any) -> str:
    return json.dumps(value, sort_keys=True)
