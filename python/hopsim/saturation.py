"""Saturation search: up to which offered load the sources of a network keep up, and what it accepts beyond.

Every configuration and seed is searched by itself. What comes next follows from what its runs have shown so
far, so that a search that was stopped goes on where it was:

    DIR/round-<n>            a results directory for each round: one more load of every search
    DIR/saturation.parquet, .csv   a row per configuration and seed
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from hopsim.errors import ConfigError, SweepError
from hopsim.estimate import is_fabric
from hopsim.experiment import Experiment, Point, Source
from hopsim.results import Result, Results
from hopsim.series import SEED
from hopsim.store import Store, write_table
from hopsim.sweep import document_of, simulate, threads

FAILING = ("saturated", "not converged")
"""Verdicts of loads that are not sustained: while buffers fill, sources do not fall behind yet."""
NOTHING: dict[str, Any] = {"sweep.saturate": {}}
"""Asks for a search without saying how."""
STABLE = 0.02
"""Greatest relative difference of two accepted loads on a plateau."""
LEAST = 1e-5
"""Of loads below this share of the greatest none is tried."""
DIGITS = 6

METRICS = {
    "saturation_load": "middle between the next two [phits/(node·cycle)]",
    "saturation_load_low": "greatest offered load found that is sustained; 0 if there is none",
    "saturation_load_high": "least offered load found that is not; null if all are",
    "verdict_low": "the verdict at saturation_load_low",
    "accepted_load_max": "greatest accepted load of any run [phits/(node·cycle)]",
    "accepted_load_full": "accepted at the greatest load tried [phits/(node·cycle)]",
    "accepted_load_halfway": "accepted half-way from there to saturation [phits/(node·cycle)]",
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
        seeds: runs of each load, with seeds 1 to this, unless the document sweeps over seeds.
    """

    key: str = "load"
    most: float = 1.0
    precision: float = 0.01
    seeds: int = 3


def asking(document: Experiment, **given: Any) -> Experiment:
    """A document that asks for a search as `sweep.saturate` says, with what is given (not None) instead."""
    stated = {f"sweep.saturate.{name}": value for name, value in given.items() if value is not None}
    return document.replacing(stated) if stated or document.saturate else document.replacing(NOTHING)


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
        return self.tried[load].summary["verdict"] not in FAILING

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
        return self.tried[load].summary["accepted_load"]

    def result(self) -> Result:
        """What was found: `METRICS` in the summary."""
        full = self.accepted(self.wanted.most)
        halfway = None if self.high is None else self.accepted(self.halfway)
        stable = halfway is not None and abs(halfway - full) <= STABLE * max(halfway, full)
        verdict = self.tried[self.low].summary["verdict"] if self.low else None
        accepted = max(map(self.accepted, self.tried))
        values = (self.saturation, self.low, self.high, verdict, accepted, full, halfway)
        found = dict(zip(METRICS, (*values, full if stable else None, len(self.tried)), strict=True))
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
        seeds: runs of each load, with seeds 1 to this, unless the document sweeps over seeds.
        out: directory of a results directory for each round. A search that was stopped goes on there.
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
    return saturation_of(document, None if out is None else Path(out), count, progress=progress)


def saturation_of(document: Experiment, out: Path | None, workers: int, *, progress: bool) -> Results:
    """The same of a document that asks for it, on so many threads."""
    wanted = Wanted(**(document.saturate or {}))
    searches = _searches(document, wanted)
    number = 0
    while points := _points(document, searches):
        number += 1
        folder = None if out is None else out / f"round-{number:02}"
        for index, result in _round(document, points, folder, workers, progress=progress).items():
            searches[index].tried[points[index].axes[wanted.key]] = result
    results = Results({index: search.result() for index, search in enumerate(searches)})
    if out is not None:
        write_table(out, "saturation", results.table, with_csv=True)
    return results


def _searches(document: Experiment, wanted: Wanted) -> list[Search]:
    """A search for each configuration and seed. Raises `ConfigError`."""
    points = document.replacing({wanted.key: wanted.most}).points()
    for point in points:
        config = json.loads(point.config)
        if is_fabric(config) or any("program" in job for job in config["jobs"]):
            raise ConfigError(
                f"{document.name}: has no offered load to search; "
                "valid: jobs that draw packets, in a network other than an InfiniBand fabric"
            )
    if any(SEED in point.axes for point in points):
        return [Search(point.axes, point.labels, wanted) for point in points]
    seeds = range(1, wanted.seeds + 1)
    return [Search({**point.axes, SEED: seed}, point.labels, wanted) for point in points for seed in seeds]


def _points(document: Experiment, searches: Sequence[Search]) -> dict[int, Point]:
    """The next run of every search that is not over, by its number."""
    points: dict[int, Point] = {}
    for index, search in enumerate(searches):
        load = search.next()
        if load is not None:
            axes = {**search.axes, search.wanted.key: load}
            (point,) = document.replacing(axes).points()
            points[index] = replace(point, index=index, axes=axes, labels=search.labels)
    return points


def _round(
    document: Experiment, points: Mapping[int, Point], folder: Path | None, workers: int, *, progress: bool
) -> dict[int, Result]:
    """Simulate one more load of every search."""
    listed = [replace(point, index=place) for place, point in enumerate(points.values())]
    store = None if folder is None else Store.claim(folder, document, listed, force=False)
    results, outcome = simulate(listed, workers, progress=progress, store=store)
    if outcome.failures:
        numbers = list(points)
        raise SweepError(results, {numbers[place]: text for place, text in outcome.failures.items()})
    return dict(zip(points, results, strict=True))
