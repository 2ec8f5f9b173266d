"""`hopsim run`: simulate a file's point or sweep."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Generator
from pathlib import Path
from typing import TextIO

import click

from hopsim import starting
from hopsim.cli import cluster, options
from hopsim.cli.cluster import Shard, dask_workers, refuse_with_shard
from hopsim.cli.console import print_table, stdout
from hopsim.cli.saturate import search
from hopsim.document.experiment import Point
from hopsim.document.links_warning import warn_of_differing_defaults
from hopsim.document.placement_warning import warn_of_settled_placements
from hopsim.document.recovery_warning import warn_of_no_recovery
from hopsim.errors import ConfigError
from hopsim.files import atomic
from hopsim.insight import limit_note
from hopsim.metrics import verdict
from hopsim.metrics.summary_table import summary_table
from hopsim.results.outcome import Outcome
from hopsim.results.result import Result, Results
from hopsim.results.store import Store, default_directory
from hopsim.runs import progress
from hopsim.runs.branches import run_of
from hopsim.runs.runner import Hooks, all_cores, run_points
from hopsim.runs.snapshots import Saving
from hopsim.runs.workers import Elsewhere, Run
from hopsim.spelling import of_command

OF_SEARCHES = ("assignments", "out", "force", "workers")
"""Names of the options that a search for saturation takes, too."""
WORTH_TELLING_S = 1.0
"""Of shorter runs nobody asks how threads were used."""


@click.command("run")
@options.experiment
@options.assignments
@click.option(
    "--json", "json_path", metavar="PATH", help="Write one JSON line per point; - is standard output."
)
@click.option(
    "--out", metavar="DIR", type=click.Path(path_type=Path), help="Results directory; resumed if it exists."
)
@click.option("-j", "workers", metavar="N", type=click.IntRange(1), help="Threads; default: all cores.")
@click.option("--csv", "with_csv", is_flag=True, help="Write the tables of the results directory as CSV too.")
@click.option("--force", is_flag=True, help="Empty the results directory of what another experiment left.")
@click.option(
    "--save-state",
    metavar="PATH",
    type=click.Path(path_type=Path),
    help="Save the state of the run there; go on with it if it is there.",
)
@click.option(
    "--save-every",
    metavar="MINUTES",
    type=click.FloatRange(0, min_open=True),
    help="How often to save it; default: 10.",
)
@click.option(
    "--save-at", metavar="CYCLE", type=click.IntRange(1), help="The only cycle to save it, instead."
)
@click.option(
    "--from-state",
    metavar="PATH",
    type=click.Path(path_type=Path),
    help="Go on with a state that --save-state has saved.",
)
@cluster.shard
@cluster.dask
def command(  # noqa: PLR0913 (an option each)
    experiment: str,
    assignments: tuple[str, ...],
    json_path: str | None,
    out: Path | None,
    workers: int | None,
    with_csv: bool,
    force: bool,
    save_state: Path | None,
    save_every: float | None,
    save_at: int | None,
    from_state: Path | None,
    shard: Shard | None,
    dask: str | None,
) -> None:
    """Simulate FILE, or every point of its sweep. FILE may be the name of a preset, or - for standard input.

    Results go to the directory given with --out, or to results/<name>-<digest>; with --json alone
    nothing is stored. The same command run again resumes where it stopped.
    """
    if shard is not None:
        refuse_with_shard(shard, {"--json": json_path, "--csv": with_csv, "--force": force})
    if dask is not None and workers is not None:
        raise ConfigError(f"-j {workers}: are threads of this machine; valid: -j without --dask {dask}")
    document = options.document(experiment, assignments)
    if document.saturate is not None:
        _refuse_with_search(click.get_current_context())
        search(document, out, workers, force=force)
        return
    points = document.points()
    saving = Saving.of(from_state, save_state, save_every, save_at, of_command)
    if saving is not None:
        saving.check(document, points)
        if dask is not None:
            raise ConfigError(
                f"--dask {dask}: runs the points elsewhere, and a state is a file here; valid: no --dask"
            )
    start = run_of(document, points) if saving is None else saving.simulate
    warn_of_differing_defaults(document, points)
    warn_of_no_recovery(document, points)
    warn_of_settled_placements(document, points)
    if out is None and json_path is None:
        out = default_directory(document, points)
    with contextlib.ExitStack() as stack:
        where = workers or all_cores()
        if dask is not None:
            where = stack.enter_context(dask_workers(dask, document.directory))
        # What cannot be written is said before a results directory is claimed.
        lines = stack.enter_context(_json_lines(json_path, len(points)))
        store = None if out is None else Store.claim(out, document, points, force=force)
        chosen = points if shard is None else list(filter(shard.has, points))
        outcome = _run(chosen, where, store, lines, start)
    if store is not None and shard is None:
        _conclude(store, outcome, with_csv=with_csv, table=json_path is None)
    _finish(outcome, store)
    if store is not None and shard is not None:
        store.sync()
        stdout().print(
            f"Shard {shard}: {len(chosen)} of {len(points)} points in {store.root}",
            soft_wrap=True,
            highlight=False,
        )


def _refuse_with_search(context: click.Context) -> None:
    """Of the options of a sweep a search takes some."""
    for option in context.command.params:
        if isinstance(option, click.Option) and option.name not in OF_SEARCHES:
            value = context.params.get(option.name or "")
            if value not in (None, False):
                raise ConfigError(
                    f"{option.opts[0]}: not with sweep.saturate; valid: --set, --out, --force, -j"
                )


class _JsonLines:
    """Writes the points in order, each as soon as those before it are written."""

    def __init__(self, stream: TextIO | None, total: int) -> None:
        self._stream = stream
        self._waiting: dict[int, str | None] = {}
        self._next = 0
        self._total = total

    def add(self, point: Point, result: Result) -> None:
        """Take a finished point."""
        if self._stream is not None:
            self._waiting[point.index] = result.json()
            self._write_ready()

    def _write_ready(self) -> None:
        while self._next in self._waiting:
            self._write(self._next)
            self._next += 1

    def close(self) -> None:
        """Write what is left, after points that never finished."""
        for index in sorted(self._waiting):
            self._write(index)

    def _write(self, index: int) -> None:
        if self._stream is not None:
            self._stream.write(f"{self._waiting.pop(index)}\n")
            self._stream.flush()


@contextlib.contextmanager
def _json_lines(path: str | None, total: int) -> Generator[_JsonLines]:
    with contextlib.ExitStack() as stack:
        stream = None
        if path == "-":
            stream = sys.stdout
        elif path is not None:
            stream = stack.enter_context(_open(path))
            stack.callback(atomic.finish, stream)
        lines = _JsonLines(stream, total)
        stack.callback(lines.close)
        yield lines


def _open(path: str) -> TextIO:
    try:
        return Path(path).open("w", encoding="utf-8", newline="\n")
    except OSError as error:
        raise ConfigError(
            f"--json {path}: cannot write: {error.strerror}; choose a writable path or -"
        ) from None


def _run(
    points: list[Point], workers: int | Elsewhere, store: Store | None, lines: _JsonLines, start: Run
) -> Outcome:
    def keep(point: Point, result: Result) -> Result:
        return result if store is None else store.save(point, result)

    hooks = Hooks(finish=keep, report=lines.add, watch=progress.for_terminal(), run=start)
    return run_points(points, workers, hooks, store.finished(thoroughly=True) if store else {})


def _conclude(store: Store, outcome: Outcome, *, with_csv: bool, table: bool) -> None:
    results: Results = store.assemble(outcome, with_csv=with_csv)
    if table and len(results):
        console = stdout()
        print_table(console, summary_table(results))
        if advised := verdict.advice(results):
            console.print(advised, soft_wrap=True, highlight=False)
        if noted := limit_note.note(results):
            console.print(noted, soft_wrap=True, highlight=False)
        if outcome.threads_used > 1 and outcome.wall_time_s >= WORTH_TELLING_S:
            waited = f"{outcome.waited:.0%} of their time waiting for each other"
            console.print(f"Threads: up to {outcome.threads_used} for a point, {waited}", highlight=False)
        console.print(f"Results: {store.root}", soft_wrap=True, highlight=False)


def _finish(outcome: Outcome, store: Store | None) -> None:
    for point, message in sorted(outcome.failures.items()):
        sys.stderr.write(f"hopsim: point {point}: {message}\n")
    if outcome.interrupted:
        how = f"; run the same command with --out {store.root} to resume" if store else ""
        sys.stderr.write(f"hopsim: interrupted, {outcome.finished} of {outcome.total} points finished{how}\n")
        sys.exit(starting.status())
    if outcome.failures:
        sys.exit(1)
