"""Saturation search: up to which offered load the sources of a network keep up, and what it accepts beyond.

Every configuration and seed is searched by itself, a load after the other, those of all searches at the same
time. What comes next follows from what its runs have shown so far, so that a search that was stopped goes on
where it was, and its results directory holds the runs as that of a sweep does.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from hopsim.errors import ConfigError, SweepError
from hopsim.estimate import is_fabric
from hopsim.experiment import Experiment, Point, Source
from hopsim.files import path_of
from hopsim.links_warning import warn_of_differing_defaults
from hopsim.placement_warning import warn_of_settled_placements
from hopsim.results import Result, Results
from hopsim.series import SEED
from hopsim.store import Store, write_table
from hopsim.sweeps import document_of, simulate, threads

FAILING = ("saturated", "not converged")
"""Verdicts of loads that are not sustained: while buffers fill, sources do not fall behind yet."""
UNKNOWN = "too few samples"
"""The verdict of loads of which nobody can tell; they count as sustained."""
OF_FABRIC = "an InfiniBand fabric has no load in phits/(node·cycle)"
RUNS = 10
"""So many runs a search takes, about."""
NOTHING: dict[str, Any] = {"sweep.saturate": {}}
"""Asks for a search without saying how."""
STABLE = 0.02
"""Greatest relative difference of two accepted loads on a plateau."""
LEAST = 1e-5
"""Of loads below this share of the greatest none is tried."""
DIGITS = 6

METRICS = {
    "saturation_load": "middle between saturation_load_low and saturation_load_high [phits/(node·cycle)]",
    "saturation_load_low": "greatest offered load found that is sustained; 0 if there is none",
    "saturation_load_high": "least offered load found that is not; null if all are",
    "verdict_low": "the verdict at saturation_load_low",
    "accepted_load_max": "greatest accepted load of any run [phits/(node·cycle)]",
    "load_full": "greatest load tried [phits/(node·cycle)]",
    "accepted_load_full": "accepted at load_full [phits/(node·cycle)]",
    "accepted_load_halfway": "accepted half-way from load_full to saturation [phits/(node·cycle)]",
    "plateau_load": f"accepted_load_full if the two differ by {STABLE:.0%} at most, else null",
    "runs": "simulations",
}
"""What is found of every configuration and seed, and what it means."""


@dataclass(frozen=True)
class Wanted:
    """What is searched for.

    Attributes:
        key: path of the offered load.
        most: greatest load tried [phits/(node·cycle)].
        precision: greatest distance of two loads between which saturation lies, relative to the greater.
        seeds: runs of each load, with so many seeds from `measure.seed` on, unless the document sweeps over
            seeds.
    """

    key: str = "load"
    most: float = 1.0
    precision: float = 0.01
    seeds: int = 3

    @classmethod
    def of(cls, document: Experiment) -> Wanted:
        """What a document asks for."""
        return cls(**(document.saturate or {}))

    @property
    def job(self) -> int | None:
        """The job whose load it is, None if it is that of all."""
        named = re.match(r"jobs\.(\d+)\.", self.key)
        return None if named is None else int(named[1])


def asking(document: Experiment, **given: Any) -> Experiment:
    """A document that asks for a search as `sweep.saturate` says, with what is given (not None) instead."""
    stated = {f"sweep.saturate.{name}": value for name, value in given.items() if value is not None}
    return document.replacing(stated) if stated or document.saturate else document.replacing(NOTHING)


def points_of(document: Experiment) -> list[Point]:
    """The points of a document; if it asks for a search, with the greatest load that this tries.

    Raises `ConfigError`.
    """
    if document.saturate is None:
        return document.points()
    wanted = Wanted.of(document)
    try:
        return document.replacing({wanted.key: wanted.most}).points()
    except ConfigError as error:
        if wanted.key == Wanted.key:
            # It would name a load that nobody gave.
            if document.states("router.infiniband"):
                raise _without_load(document, OF_FABRIC) from None
            raise
        reason = str(error).removeprefix(f"{document.name}: ")
        raise ConfigError(
            f"{document.name}: sweep.saturate.key = {wanted.key!r}: takes no load ({reason}); "
            "valid: load, or the path of the load of a job"
        ) from None


def runs_of_search(document: Experiment, points: Sequence[Point]) -> int:
    """About how many runs it takes to find where a point of a document saturates, with all seeds."""
    swept = any(SEED in point.axes for point in points)
    return RUNS * (1 if swept else Wanted.of(document).seeds)


@dataclass
class Search:
    """The search for one configuration and seed.

    Attributes:
        axes: sweep assignments, the seed among them, the load not.
        labels: names of their values.
        wanted: what is searched for.
        tried: what runs have shown so far, by offered load.
    """

    axes: dict[str, Any]
    labels: dict[str, str]
    wanted: Wanted
    tried: dict[float, Result] = field(default_factory=dict[float, Result])

    def keeps_up(self, load: float) -> bool:
        """Whether a load that was tried is sustained: sources keep up, and nothing drifts."""
        return self._shown(load)["verdict"] not in FAILING

    def lacks(self, load: float) -> float | None:
        """Cycles by which the window is too short to tell whether a load that was tried is sustained.

        0 if nobody knows how many; None if it is long enough.
        """
        shown = self._shown(load)
        return (shown["missing_cycles"] or 0) if shown["verdict"] == UNKNOWN else None

    def _shown(self, load: float) -> dict[str, Any]:
        """What the run with a load that was tried has shown of the job that it is the load of, or of all."""
        result = self.tried[load]
        return result.summary if self.wanted.job is None else result.jobs[self.wanted.job]

    @property
    def low(self) -> float:
        """The greatest load found below the next one at which sources keep up."""
        below = [load for load in self.tried if self.high is None or load < self.high]
        return max(filter(self.keeps_up, below), default=0.0)

    @property
    def high(self) -> float | None:
        """The least load found at which they do not."""
        return min((load for load in self.tried if not self.keeps_up(load)), default=None)

    def next(self) -> float | None:
        """The load to try next; None if all is known."""
        if self.wanted.most not in self.tried:
            return self.wanted.most
        if self.high is None:
            return None
        if self.high - self.low > self.wanted.precision * self.high and self.high > LEAST * self.wanted.most:
            return _rounded(self._between(self.low, self.high))
        halfway = self.halfway
        return None if halfway in self.tried else halfway

    def _between(self, low: float, high: float) -> float:
        """A load between two.

        Saturation is mostly near the load that is accepted at full offer: first that is tried, then loads
        further and further above or below, until it is between two that were tried; then the middle.
        """
        guess = _rounded(self.accepted(self.wanted.most))
        middle = (low + high) / 2
        if guess not in self.tried:
            return guess if low < guess < high else middle
        step = 2 * self.wanted.precision * 2 ** max(len(self.tried) - 2, 0)
        if low == guess or (low > guess and high == self.wanted.most):
            return min(guess * (1 + step), middle)
        if high <= guess and low == 0:
            return max(high * (1 - step), high / 2)
        return middle

    @property
    def halfway(self) -> float:
        """A load half-way between saturation and the greatest one."""
        return _rounded((self.saturation + self.wanted.most) / 2)

    @property
    def saturation(self) -> float:
        """Up to which load sources keep up."""
        return self.low if self.high is None else (self.low + self.high) / 2

    def accepted(self, load: float) -> float:
        """The accepted load at an offered one that was tried."""
        return self._shown(load)["accepted_load"]

    def result(self) -> Result:
        """What was found: `METRICS` in the summary."""
        full = self.accepted(self.wanted.most)
        halfway = None if self.high is None else self.accepted(self.halfway)
        stable = halfway is not None and abs(halfway - full) <= STABLE * max(halfway, full)
        verdict = self._shown(self.low)["verdict"] if self.low else None
        accepted = max(map(self.accepted, self.tried))
        sustained = (self.saturation, self.low, self.high, verdict)
        beyond = (accepted, self.wanted.most, full, halfway, full if stable else None)
        found = dict(zip(METRICS, (*sustained, *beyond, len(self.tried)), strict=True))
        some = self.tried[self.wanted.most]
        record = {"config": some.config, "result": {**found, "seed": some.summary["seed"]}}
        return Result(record, self.axes, {}, self.labels)


def _rounded(load: float) -> float:
    """A load that is short to write, and the same on all machines."""
    return float(f"{load:.{DIGITS}g}")


def saturate(  # noqa: PLR0913 (an option each)
    experiment: Source,
    values: Mapping[str, Any] | None = None,
    *,
    product: Mapping[str, Sequence[Any]] | None = None,
    key: str | None = None,
    most: float | None = None,
    precision: float | None = None,
    seeds: int | None = None,
    out: str | os.PathLike[str] | None = None,
    workers: int | None = None,
    progress: bool = True,
    **shorthand: Any,
) -> Results:
    """Find the offered load at which each configuration of an experiment saturates.

    Args:
        experiment: path of a TOML file, name of a preset, TOML text, or a dictionary. A sweep of it over
            the load is left out.
        values: {dotted path: value} that replace values of the document.
        product: more sweep axes {dotted path: values}.
        key: path of the offered load; as the other three what the table `sweep.saturate` says if not given.
        most: greatest load tried [phits/(node·cycle), 0 < most <= 1].
        precision: how narrow the interval is in which saturation is found, relative to the load (> 0).
        seeds: runs of each load, with so many seeds from `measure.seed` on. A document that sweeps over
            seeds has a search for each of them, and nothing but 1 can be said here.
        out: results directory of all runs. A search that was stopped goes on there.
        workers: threads; all cores when not given. Results do not depend on it.
        progress: show a bar when in a terminal or notebook.
        shorthand: top-level keys; a list, range or array is a sweep axis.

    Returns:
        A result for every configuration and seed, whose summary has `METRICS`.

    Raises:
        ConfigError: bad input, or `out` holds something else.
        SweepError: some points could not finish.
    """
    count = threads(workers)
    document = document_of(experiment, values, product, shorthand)
    document = asking(document, key=key, most=most, precision=precision, seeds=seeds)
    return saturation_of(document, None if out is None else path_of(out, "out"), count, progress=progress)


def saturation_of(
    document: Experiment, out: Path | None, workers: int, *, progress: bool, force: bool = False
) -> Results:
    """The same of a document that asks for it, on so many threads; `force` empties a results directory."""
    wanted = Wanted.of(document)
    highest = points_of(document)
    warn_of_differing_defaults(document, highest)
    warn_of_settled_placements(document, highest)
    searches = _searches(document, highest)
    store: Store | None = None
    runs = 0
    while points := _points(document, searches, runs):
        runs += len(points)
        listed = list(points.values())
        if store is not None:
            store = store.with_more(listed)
        elif out is not None:
            store = Store.claim(out, document, listed, force=force)
        results, outcome = simulate(listed, workers, progress=progress, store=store)
        if outcome.failures:
            raise SweepError(results, outcome.failures)
        for number, point in points.items():
            searches[number].tried[point.axes[wanted.key]] = results.by_number(point.index)
        _refuse_short_windows(document, searches, wanted.most)
    found = Results({index: search.result() for index, search in enumerate(searches)})
    if out is not None:
        write_table(out, "saturation", found.table, with_csv=True)
    return found


def _searches(document: Experiment, points: Sequence[Point]) -> list[Search]:
    """A search for each configuration and seed, of points with the greatest load. Raises `ConfigError`."""
    wanted = Wanted.of(document)
    configs = [json.loads(point.config) for point in points]
    for config in configs:
        _refuse_without_load(document, config)
    if any(SEED in point.axes for point in points):
        if document.states("sweep.saturate.seeds") and wanted.seeds != 1:
            raise ConfigError(
                f"{document.name}: sweep.saturate.seeds = {wanted.seeds}: the sweep says which seeds; "
                f"valid: 1 (a search for each seed of the sweep), or no {SEED} in the sweep"
            )
        return [Search(point.axes, point.labels, wanted) for point in points]
    first = configs[0]["measure"]["seed"]
    seeds = range(first, first + wanted.seeds)
    return [Search({**point.axes, SEED: seed}, point.labels, wanted) for point in points for seed in seeds]


def _refuse_without_load(document: Experiment, config: Mapping[str, Any]) -> None:
    """Raises `ConfigError` for what has no load or no verdict."""
    reason = ""
    if is_fabric(config):
        reason = OF_FABRIC
    elif any("program" in job for job in config["jobs"]):
        reason = "runs with programs end with these and have no verdict"
    if reason:
        raise _without_load(document, reason)


def _without_load(document: Experiment, reason: str) -> ConfigError:
    return ConfigError(
        f"{document.name}: has no load to search: {reason}; "
        "valid: nothing but jobs that draw packets, in a network other than an InfiniBand fabric"
    )


def _points(document: Experiment, searches: Sequence[Search], first: int) -> dict[int, Point]:
    """The next run of every search that is not over, by its number; runs are numbered from `first` on."""
    points: dict[int, Point] = {}
    for number, search in enumerate(searches):
        load = search.next()
        if load is not None:
            axes = {**search.axes, search.wanted.key: load}
            (point,) = document.replacing(axes).points()
            index = first + len(points)
            points[number] = replace(point, index=index, axes=axes, labels=search.labels)
    return points


def _refuse_short_windows(document: Experiment, searches: Sequence[Search], most: float) -> None:
    """Raises `ConfigError` if nobody can tell what happens at the greatest load."""
    lacking = [cycles for search in searches if (cycles := search.lacks(most)) is not None]
    if lacking:
        longer = f"about {max(lacking):,.0f} cycles more" if max(lacking) else "a longer window"
        raise ConfigError(
            f"{document.name}: measure.cycles: too few samples to tell whether sources keep up with a load "
            f"of {most:g} in {len(lacking)} of {len(searches)} searches; valid: {longer}"
        )
