"""Saturation search: up to which offered load the sources of a network keep up, and what it accepts beyond.

Every configuration and seed is searched by itself, a load after the other, those of all searches at the same
time. What comes next follows from what its runs have shown so far, so that a search that was stopped goes on
where it was, and its results directory holds the runs as that of a sweep does.

A load is sustained if its run is steady and the network accepts what is offered. If a window is too short to
tell, or something drifts in it, the load is run again with a longer one, which takes the place of the run
before, up to `LONGEST` times as long as the first; what cannot be told then, or drifts still, is not
sustained.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from hopsim.document.estimate import is_fabric
from hopsim.document.experiment import Experiment, Point, Source
from hopsim.document.links_warning import warn_of_differing_defaults
from hopsim.document.placement_warning import warn_of_settled_placements
from hopsim.errors import ConfigError, SweepError
from hopsim.files.reading import path_of
from hopsim.metrics.series import SEED
from hopsim.metrics.verdict import NOT_CONVERGED, STEADY, TOO_FEW_SAMPLES
from hopsim.results.result import Result, Results
from hopsim.results.store import Store, write_table
from hopsim.runs.sweeps import document_of, simulate, threads

UNCLEAR = (TOO_FEW_SAMPLES, NOT_CONVERGED)
"""Verdicts that a longer window may change: what drifts in a short one may do so by chance."""
LONGEST = 16
"""So many times as long as `measure.cycles` may the window become with which a load is tried."""
NEGLIGIBLE = 0.005
"""A load that is short of what is offered by no more than this share of it is not."""
CYCLES = "measure.cycles"
OF_FABRIC = "a fabric has no load in phits/(node·cycle)"
OF_LIST = "packets that are given one by one come when the list says"
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
    "saturation_load": "middle between saturation_load_low and saturation_load_high, but no more than any "
    "run accepts of its nodes that send [phits/(node·cycle)]",
    "saturation_load_low": "greatest offered load found that is sustained; 0 if there is none",
    "saturation_load_high": "least offered load found that is not; null if all are",
    "verdict_high": "the verdict at saturation_load_high; steady if less is accepted than offered",
    "undecided": f"loads of which a window of {LONGEST} times measure.cycles cannot tell whether they are "
    "sustained; they count as not sustained",
    "accepted_load_max": "greatest accepted load of any run [phits/(node·cycle)]",
    "load_full": "greatest load tried [phits/(node·cycle)]",
    "accepted_load_full": "accepted at load_full [phits/(node·cycle)]",
    "accepted_load_halfway": "accepted half-way from load_full to saturation [phits/(node·cycle)]; null if "
    "that is not above saturation_load_high",
    "plateau_load": f"accepted_load_full if the two differ by {STABLE:.0%} at most, else null",
    "runs": "simulations, those with windows that were too short included",
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
            configs = _as_they_are(document)
            if any(is_fabric(config) for config in configs):
                raise _without_load(document, OF_FABRIC) from None
            if any("packet_list" in job.get("traffic", {}) for config in configs for job in config["jobs"]):
                raise _without_load(document, OF_LIST) from None
            raise
        reason = str(error).removeprefix(f"{document.name}: ")
        raise ConfigError(
            f"{document.name}: sweep.saturate.key = {wanted.key!r}: takes no load ({reason}); "
            "valid: load, or the path of the load of a job"
        ) from None


def _as_they_are(document: Experiment) -> list[dict[str, Any]]:
    """The configurations of a document as it is; none if it is wrong."""
    try:
        return [json.loads(point.config) for point in document.points()]
    except ConfigError:
        return []


def runs_of_search(document: Experiment, points: Sequence[Point]) -> int:
    """About how many runs it takes to find where a point of a document saturates, with all seeds."""
    swept = any(SEED in point.axes for point in points)
    return RUNS * (1 if swept else Wanted.of(document).seeds)


@dataclass(frozen=True)
class Try:
    """A run of a load.

    Attributes:
        window: its `measure.cycles`.
        result: what it has shown.
        index: number of its point.
    """

    window: int
    result: Result
    index: int = 0


def is_short(summary: Mapping[str, Any]) -> bool:
    """Whether less is accepted than is offered, and drawn, by more than is chance or negligible."""
    offered = min(summary["offered_load"], summary["generated_load"])
    return offered - summary["accepted_load"] > max(
        summary["accepted_load_ci95"] or 0.0, NEGLIGIBLE * summary["offered_load"]
    )


def share_of_senders(summary: Mapping[str, Any]) -> float:
    """The share of the nodes of a record that send: others offer nothing, and count where loads are means."""
    mean, of_senders = summary["injected_load"], summary["node_injection_mean"]
    if not of_senders:
        return 1.0
    nodes = summary["nodes"]
    return max(round(nodes * mean / of_senders), 1) / nodes


@dataclass
class Search:
    """The search for one configuration and seed.

    Attributes:
        axes: sweep assignments, the seed among them, the load not.
        labels: names of their values.
        wanted: what is searched for.
        windows: shortest and longest window of a run [cycles].
        tried: what runs have shown so far, by offered load; of several windows the longest.
        runs: how many there were.
    """

    axes: dict[str, Any]
    labels: dict[str, str]
    wanted: Wanted
    windows: tuple[int, int]
    tried: dict[float, Try] = field(default_factory=dict[float, "Try"])
    runs: int = 0

    def add(self, load: float, tried: Try) -> None:
        """Take what another run has shown, which stands for those of this load with shorter windows."""
        self.tried[load] = tried
        self.runs += 1

    def keeps_up(self, load: float) -> bool:
        """Whether a load that was tried is sustained: it is steady, and accepted as it is offered."""
        shown = self._shown(load)
        return shown["verdict"] == STEADY and not is_short(shown)

    def longer(self, load: float) -> int | None:
        """The window with which to try a load again [cycles]; None if nothing is unclear, or at the limit."""
        shown, window = self._shown(load), self.tried[load].window
        first, longest = self.windows
        if shown["verdict"] not in UNCLEAR or window >= longest:
            return None
        missing = shown["missing_cycles"]
        # Nobody knows how many if there are no samples at all.
        wanted = longest if missing is None else max(window + missing, 2 * window)
        return min(math.ceil(wanted / first) * first, longest)

    @property
    def undecided(self) -> list[float]:
        """Loads of which the longest window does not tell whether they are sustained."""
        unclear = [load for load in self.tried if self._shown(load)["verdict"] == TOO_FEW_SAMPLES]
        return [load for load in unclear if self.longer(load) is None]

    def _shown(self, load: float) -> dict[str, Any]:
        """What the run with a load that was tried has shown of the job that it is the load of, or of all."""
        result = self.tried[load].result
        return result.summary if self.wanted.job is None else result.jobs[self.wanted.job]

    @property
    def low(self) -> float:
        """The greatest load found below the next one at which sources keep up."""
        high = self.high
        below = [load for load in self.tried if high is None or load < high]
        return max(filter(self.keeps_up, below), default=0.0)

    @property
    def high(self) -> float | None:
        """The least load found at which they do not."""
        return min((load for load in self.tried if not self.keeps_up(load)), default=None)

    def next(self) -> tuple[float, int] | None:
        """The load to try next, and with which window [cycles]; None if all is known."""
        for load in self.tried:
            if (window := self.longer(load)) is not None:
                return load, window
        load = self._next_load()
        return None if load is None else (load, self.windows[0])

    def _next_load(self) -> float | None:
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
    def halfway(self) -> float | None:
        """A load half-way between saturation and the greatest one; None if it may be sustained itself."""
        load = _rounded((self.saturation + self.wanted.most) / 2)
        return None if self.high is None or load <= self.high else load

    @property
    def saturation(self) -> float:
        """Up to which load sources keep up."""
        return self.low if self.high is None else (self.low + self.high) / 2

    @property
    def found(self) -> float:
        """The same, but no more than any run accepts of the nodes that send: there is no such load."""
        if self.high is None:
            return self.low
        return min(self.saturation, max(map(self._sustainable, self.tried)))

    def _sustainable(self, load: float) -> float:
        """The load that those nodes offered which send if all of it was accepted."""
        shown = self._shown(load)
        # Of all nodes together offered is what the others have of it, too, whose load is not searched.
        offered = shown["offered_load"] / load * share_of_senders(shown)
        return shown["accepted_load"] / offered if offered else load

    def accepted(self, load: float) -> float:
        """The accepted load at an offered one that was tried."""
        return self._shown(load)["accepted_load"]

    def result(self) -> Result:
        """What was found: `METRICS` in the summary."""
        full = self.accepted(self.wanted.most)
        halfway = None if self.halfway is None else self.accepted(self.halfway)
        stable = halfway is not None and abs(halfway - full) <= STABLE * max(halfway, full)
        verdict = None if self.high is None else self._shown(self.high)["verdict"]
        accepted = max(map(self.accepted, self.tried))
        sustained = (self.found, self.low, self.high, verdict, len(self.undecided))
        beyond = (accepted, self.wanted.most, full, halfway, full if stable else None)
        found = dict(zip(METRICS, (*sustained, *beyond, self.runs), strict=True))
        some = self.tried[self.wanted.most].result
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
    highest = points_of(document)
    warn_of_differing_defaults(document, highest)
    warn_of_settled_placements(document, highest)
    searches = _searches(document, highest)
    store: Store | None = None
    count = 0
    while steps := _steps(document, searches, count):
        count = max(count, 1 + max(step.point.index for step in steps))
        listed = [step.point for step in steps]
        if store is not None:
            store = store.with_more(listed)
        elif out is not None:
            store = Store.claim(out, document, listed, force=force)
        results, outcome = simulate(listed, workers, progress=progress, store=store)
        if outcome.failures:
            raise SweepError(results, outcome.failures)
        for step in steps:
            step.search.add(
                step.load, Try(step.window, results.by_number(step.point.index), step.point.index)
            )
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
        return [
            Search(point.axes, point.labels, wanted, _windows(config))
            for point, config in zip(points, configs, strict=True)
        ]
    first = configs[0]["measure"]["seed"]
    seeds = range(first, first + wanted.seeds)
    return [
        Search({**point.axes, SEED: seed}, point.labels, wanted, _windows(config))
        for point, config in zip(points, configs, strict=True)
        for seed in seeds
    ]


def _windows(config: Mapping[str, Any]) -> tuple[int, int]:
    """Shortest and longest window of the runs of a configuration [cycles]."""
    measure = config["measure"]
    stop = measure.get("stop") or measure.get("end")
    longest = LONGEST * measure["cycles"]
    return measure["cycles"], longest if stop is None else min(longest, stop["max_cycles"])


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
        "valid: nothing but jobs that draw packets, in a network other than a fabric"
    )


@dataclass(frozen=True)
class _Step:
    """A run that a search asks for."""

    search: Search
    load: float
    window: int
    point: Point


def _steps(document: Experiment, searches: Sequence[Search], count: int) -> list[_Step]:
    """The next run of every search that is not over.

    New loads have numbers from `count` on; a run with a longer window has that of the run it stands for.
    """
    steps: list[_Step] = []
    for search in searches:
        if (following := search.next()) is None:
            continue
        load, window = following
        axes = {**search.axes, search.wanted.key: load}
        longer = {CYCLES: window} if window > search.windows[0] else {}
        (point,) = document.replacing({**axes, **longer}).points()
        before = search.tried.get(load)
        index = count if before is None else before.index
        count += before is None
        steps.append(
            _Step(search, load, window, replace(point, index=index, axes=axes, labels=search.labels))
        )
    return steps
