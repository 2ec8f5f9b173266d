"""Interference: what programs take together, each alone, and without contention at all.

The runs differ in the keys `only` and `contention` of the document and in nothing else: placements, seeds
and streams of random numbers are the same. They are stored as experiments of their own, side by side in a
directory:

    DIR/together            all jobs
    DIR/alone-<job>         one job with a program, the others away
    DIR/contention-free     all jobs with a program, no packet in the way of another;
                            not of fabrics
    DIR/interference.parquet, .csv  a row per point and job
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from hopsim.document.estimate import is_fabric
from hopsim.document.experiment import Experiment, Source
from hopsim.errors import ConfigError
from hopsim.files.reading import path_of
from hopsim.metrics.series import JOB
from hopsim.results.result import Result, Results
from hopsim.results.store import write_table
from hopsim.runs.sweeps import document_of, sweep_of, threads

TOGETHER = "together"
ALONE = "alone"
FREE = "contention-free"

METRICS = {
    "execution_time": "of the job beside all others [cycles]",
    "execution_time_alone": "of the job without the others, on the same nodes [cycles]",
    "execution_time_contention_free": "of the job if no packet met another [cycles]",
    "slowdown_interference": "execution_time / execution_time_alone",
    "slowdown_contention": "execution_time_alone / execution_time_contention_free",
}
"""What is found of every job with a program, and what it means."""


def variants(document: Experiment) -> dict[str, Experiment]:
    """The experiments to run, by the name of their directory. Raises `ConfigError`."""
    points = _points(document)
    programs = _programs(document, points)
    alone = {f"{ALONE}-{_file_name(name)}": document.replacing({"only": [name]}) for name in programs}
    if any(is_fabric(config) for config in points):
        return {TOGETHER: document, **alone}
    free = document.replacing({"only": programs, "contention": "none"})
    return {TOGETHER: document, **alone, FREE: free}


def _points(document: Experiment) -> list[dict[str, Any]]:
    """The resolved configurations of a document that says nothing of what differs between the runs."""
    for key in ("only", "contention"):
        if document.states(key):
            raise ConfigError(f"{document.name}: {key}: is what differs between the runs; valid: no such key")
    return [json.loads(point.config) for point in document.points()]


def _programs(document: Experiment, points: Sequence[Mapping[str, Any]]) -> list[str]:
    """Names of the jobs with a program that ends."""
    names = [[job["name"] for job in config["jobs"] if _ends(job)] for config in points]
    different = next((other for other in names if other != names[0]), None)
    if not names[0] or different is not None:
        reason = "no job has a program that ends"
        if different is not None:
            reason = f"points differ in the jobs with a program that ends, {names[0]} and {different}"
        raise ConfigError(
            f"{document.name}: jobs: {reason}; "
            "valid: at least one job with a program that ends, the same in all points"
        )
    return names[0]


def _ends(job: Mapping[str, Any]) -> bool:
    return "program" in job and job.get("repeat") != "forever"


def _file_name(job: str) -> str:
    return "".join(letter if letter.isalnum() or letter in "._-" else "_" for letter in job)


def compare(results: Mapping[str, Results]) -> Results:
    """A result for every point and job with a program, `METRICS` in its summary.

    `results` are those of the runs by the name of their directory. A point that did not finish in some
    run is left out.
    """
    found: list[Result] = []
    first, *others = results.values()
    for point in first.points:
        if not all(point in each.points for each in others):
            continue
        at = {name: each[each.points.index(point)] for name, each in results.items()}
        alone = [name for name in at if name.startswith(ALONE)]
        found.extend(_compared(at, job["job"]) for name in alone for job in at[name].jobs)
    return Results(dict(enumerate(found)))


def _compared(at: Mapping[str, Result], job: str) -> Result:
    together = at[TOGETHER]
    runs = (TOGETHER, f"{ALONE}-{_file_name(job)}", FREE)
    times = [_time(at[name], job) if name in at else None for name in runs]
    ratios = [_ratio(*pair) for pair in pairwise(times)]
    values = dict(zip(METRICS, [*times, *ratios], strict=True))
    record = {"config": together.config, "result": {**values, "seed": together.summary["seed"]}}
    return Result(record, {**together.axes, JOB: job}, {}, together.labels)


def _ratio(time: int | None, other: int | None) -> float | None:
    return None if time is None or not other else time / other


def _time(result: Result, job: str) -> int:
    return next(record["execution_time"] for record in result.jobs if record["job"] == job)


def interference(
    experiment: Source,
    values: Mapping[str, Any] | None = None,
    *,
    product: Mapping[str, Sequence[Any]] | None = None,
    out: str | os.PathLike[str] | None = None,
    workers: int | None = None,
    progress: bool = True,
    **shorthand: Any,
) -> Results:
    """Run the programs of an experiment together, each alone, and without contention.

    Arguments as of `sweep`; what `out` names becomes a directory with a results directory for each run.

    Returns:
        A result for every point and job with a program, whose summary has `METRICS`.

    Raises:
        ConfigError: bad input, no job with a program that ends, or `out` holds something else.
        SweepError: some points could not finish.
    """
    count = threads(workers)
    document = document_of(experiment, values, product, shorthand)
    return interference_of(document, None if out is None else path_of(out, "out"), count, progress=progress)


def interference_of(document: Experiment, out: Path | None, workers: int, *, progress: bool) -> Results:
    """The same of a document on so many threads."""
    found: dict[str, Results] = {}
    for name, variant in variants(document).items():
        folder = None if out is None else out / name
        found[name] = sweep_of(variant, folder, workers=workers, progress=progress)
    results = compare(found)
    if out is not None:
        write_table(out, "interference", results.table, with_csv=True)
    return results
