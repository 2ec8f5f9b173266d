"""Running experiments from Python: `run` for one point, `sweep` for many."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, cast

from hopsim import _core
from hopsim.document.estimate import is_fabric
from hopsim.document.experiment import Experiment, Point, Source
from hopsim.document.links_warning import warn_of_differing_defaults
from hopsim.document.placement_warning import warn_of_settled_placements
from hopsim.document.recovery_warning import warn_of_no_recovery
from hopsim.errors import ConfigError, RunError, SweepError
from hopsim.files.reading import path_of
from hopsim.kinds import is_sequence, is_table
from hopsim.results.outcome import Outcome
from hopsim.results.result import Result, Results
from hopsim.results.store import Store
from hopsim.runs import progress as progress_module
from hopsim.runs.branches import run_of
from hopsim.runs.dask_executor import lasting
from hopsim.runs.function import Answers, RoutingFunction
from hopsim.runs.runner import Hooks, all_cores, run_points
from hopsim.runs.snapshots import Saving
from hopsim.runs.workers import Elsewhere, Run

TIMESERIES_ROWS = 100


def run(
    experiment: Source,
    values: Mapping[str, Any] | None = None,
    *,
    workers: int | None = None,
    progress: bool = True,
    from_state: str | os.PathLike[str] | None = None,
    save_state: str | os.PathLike[str] | None = None,
    save_every: float | None = None,
    save_at: int | None = None,
    **shorthand: Any,
) -> Result:
    """Simulate a single point.

    Args:
        experiment: path of a TOML file, name of a preset, TOML text, or a dictionary.
        values: {dotted path: value} that replace values of the document,
            such as `{"measure.seed": 2}`.
        workers: most threads of the simulation; all cores when not given. Results do not depend on it.
        progress: show a bar when in a terminal or notebook.
        from_state: file with a state of this experiment, which the run goes on with.
        save_state: file for the state of the run; if it is there already, the run goes on with it. It is
            written whole or not at all.
        save_every: time between two states [minutes, > 0]; 10 when not given.
        save_at: the only cycle whose state is saved, instead.
        shorthand: the same for top-level keys, such as `load=0.4`. A function as `routing` is asked for the
            output of every packet in every attempt, see `Head` and `hopsim explain routing.function`.

    Returns:
        The result. Unless the experiment states `measure.streams`, the tables `nodes`, `routers`
        and `latency_histogram` are recorded, and `ranks` where programs run; unless it states
        `measure.interval` or runs programs, a time series with 100 rows in the measurement window.

    Raises:
        ConfigError: bad input, the experiment is a sweep, or a state is of another experiment or version.
        RunError: the simulation could not finish.
        Exception: what a routing function raises.
    """
    start, shorthand = _with_function(shorthand)
    document = _recording(Experiment.of(experiment).replacing(together(values=values) | shorthand))
    points = document.points()
    if len(points) != 1:
        raise ConfigError(f"{document.name}: has a sweep of {len(points)} points; use hopsim.sweep()")
    warn_of_no_recovery(document, points)
    warn_of_settled_placements(document, points)
    saving = Saving.of(from_state, save_state, save_every, save_at)
    start = start if saving is None else saving.simulate
    results, outcome = simulate(points, threads(workers), progress=progress, start=start)
    if outcome.failures:
        raise RunError(outcome.failures[0])
    return results[0]


def sweep(
    experiment: Source,
    values: Mapping[str, Any] | None = None,
    *,
    product: Mapping[str, Sequence[Any]] | None = None,
    out: str | os.PathLike[str] | None = None,
    workers: int | None = None,
    executor: Executor | None = None,
    progress: bool = True,
    **shorthand: Any,
) -> Results:
    """Simulate every point of an experiment.

    Args:
        experiment: path of a TOML file, name of a preset, TOML text, or a dictionary.
        values: {dotted path: value} that replace values of the document.
        product: more sweep axes {dotted path: values}; the first varies slowest, and all of them
            faster than the axes of the document.
        out: results directory. Finished points found there are not run again.
        workers: threads; all cores when not given. Points run side by side first, and what is left over
            goes to the threads of a point. Results do not depend on it.
        executor: what runs the points instead of threads: any `concurrent.futures.Executor`, such as a
            process pool or that of a Dask client, here or on machines that have the same version of hopsim.
            It stays open. Results are the same, bit for bit. An interrupt takes back what has not begun.
        progress: show a bar when in a terminal or notebook.
        shorthand: top-level keys; a list, range or array is a sweep axis (`load=[0.1, 0.2]`).

    Raises:
        ConfigError: bad input, `out` holds something else, or the executor has another version of hopsim.
        SweepError: some points could not finish; `.results` has the others.
    """
    count = threads(workers)
    document = document_of(experiment, values, product, shorthand)
    where = count if executor is None else _elsewhere(executor, workers, document)
    return sweep_of(document, None if out is None else path_of(out, "out"), workers=where, progress=progress)


def document_of(
    experiment: Source,
    values: Mapping[str, Any] | None,
    product: Mapping[str, Sequence[Any]] | None,
    shorthand: Mapping[str, Any],
) -> Experiment:
    """The document that the arguments of `sweep` ask for. Raises `ConfigError`."""
    if callable(shorthand.get("routing")):
        raise ConfigError("routing: a function routes the packets of one run; use hopsim.run()")
    axes = {name: list(item) for name, item in shorthand.items() if _is_axis(item)}
    plain = {name: item for name, item in shorthand.items() if name not in axes}
    document = Experiment.of(experiment).replacing(together(values=values) | plain)
    return document.with_axes(together(product=product) | axes)


def sweep_of(document: Experiment, out: Path | None, *, workers: int | Elsewhere, progress: bool) -> Results:
    """Simulate every point of a document on so many threads or by an executor, see `sweep`."""
    points = document.points()
    warn_of_differing_defaults(document, points)
    warn_of_no_recovery(document, points)
    warn_of_settled_placements(document, points)
    store = None if out is None else Store.claim(out, document, points, force=False)
    results, outcome = simulate(
        points, workers, progress=progress, store=store, start=run_of(document, points)
    )
    if outcome.failures:
        raise SweepError(results, outcome.failures)
    return results


def simulate(
    points: Sequence[Point],
    workers: int | Elsewhere,
    *,
    progress: bool,
    store: Store | None = None,
    start: Run = _core.run,
) -> tuple[Results, Outcome]:
    """Simulate points, those apart that `store` has; returns what finished, and how the others failed."""
    found: dict[int, Result] = {}
    hooks = Hooks(
        report=lambda point, result: found.update({point.index: result}),
        watch=progress_module.for_python() if progress else progress_module.Silent(),
        run=start,
    )
    if store is not None:
        hooks = replace(hooks, finish=store.save)
    outcome = run_points(points, workers, hooks, store.finished(thoroughly=True) if store else {})
    if store is not None:
        store.assemble(outcome, with_csv=False)
    if outcome.interrupted:
        raise KeyboardInterrupt
    return Results(found), outcome


def _recording(document: Experiment) -> Experiment:
    if document.states("measure.streams") and document.states("measure.interval"):
        return document
    config = json.loads(document.points()[0].config)
    if is_fabric(config):
        stated = document.states("measure.streams")
        return document if stated else document.replacing({"measure.streams": ["flows"]})
    programs = any("program" in job for job in config["jobs"])
    packets = "ideal" not in config["topology"] and "contention" not in config
    if not document.states("measure.streams"):
        of_packets = ["nodes", "routers", "latency_histogram"] if packets else []
        # Driven by another simulator, they have no ranks of their own.
        ranks = any(job.get("program", {}).keys() - {"external"} for job in config["jobs"])
        document = document.replacing({"measure.streams": of_packets + (["ranks"] if ranks else [])})
    # Nobody knows beforehand how long programs take.
    if not document.states("measure.interval") and not programs:
        interval = max(1, config["measure"]["cycles"] // TIMESERIES_ROWS)
        document = document.replacing({"measure.interval": interval})
    return document


def together(**given: Any) -> dict[str, Any]:
    """The one argument that is given by its name, as a dictionary."""
    ((name, values),) = given.items()
    if values is not None and not is_table(values):
        raise ConfigError(f"{name} = {values!r}: is not a dictionary; valid: {{path: value}}")
    return dict(values or {})


def threads(workers: Any) -> int:
    """A number of threads as given, all cores if none is. Raises `ConfigError`."""
    if workers is None:
        return all_cores()
    if isinstance(workers, bool) or not isinstance(workers, int) or workers < 1:
        raise ConfigError(
            f"workers = {workers!r}: is not a number of threads; valid: 1 …, or None for all cores"
        )
    return workers


def _elsewhere(executor: Any, workers: int | None, document: Experiment) -> Elsewhere:
    if workers is not None:
        raise ConfigError(f"workers = {workers}: says nothing of an executor; valid: executor or workers")
    if not isinstance(executor, Executor):
        raise ConfigError(
            f"executor = {executor!r}: is no concurrent.futures.Executor; valid: a process pool, "
            "Client(…).get_executor() of Dask, …"
        )
    return Elsewhere(lasting(executor), document.directory)


def _with_function(shorthand: dict[str, Any]) -> tuple[Run, dict[str, Any]]:
    """What simulates, and the shorthand as a document has it."""
    function = shorthand.get("routing")
    if not callable(function):
        return _core.run, shorthand
    # Only one thread at a time can ask it.
    start = partial(_core.run, routing=Answers(cast("RoutingFunction", function)))
    return lambda config, monitor, _: start(config, monitor, 1), shorthand | {"routing": {"function": {}}}


def _is_axis(item: Any) -> bool:
    return is_sequence(item) or getattr(item, "ndim", 0) == 1
