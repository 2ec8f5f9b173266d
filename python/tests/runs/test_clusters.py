"""Sweeps by executors, on Dask and in shards: the same results, and what is refused."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Generator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest
from verify.clusters import contents
from verify.engines import ENGINES

import hopsim as hs
from conftest import SWEEP, TINY, Command
from hopsim import _core
from hopsim.cli.cluster import Shard
from hopsim.document.experiment import Experiment
from hopsim.files.atomic import write_text
from hopsim.results.sealed import seal
from hopsim.runs.runner import Hooks, run_points
from hopsim.runs.workers import Elsewhere, simulate_elsewhere

needs_dask = pytest.mark.skipif(not importlib.util.find_spec("distributed"), reason="needs Dask")
TRACE = Path(hs.__file__).parent / "experiments" / "traces" / "CG.A.16.it2.mpt.xz"
PROGRAM = """
units = { cycle = "1 ns", phit = "4 B" }
topology.torus.sides = [4, 4]
jobs = [{ program.trace.file = "cg.mpt.xz" }]
measure.streams = ["ranks"]
sweep.product = { "measure.seed" = [1, 2] }
"""


def threads() -> Executor:
    return ThreadPoolExecutor(2)


def processes(count: int = 2) -> Executor:
    return ProcessPoolExecutor(count, get_context("spawn"))


def loky() -> Executor:
    return pytest.importorskip("loky").ProcessPoolExecutor(2)


@pytest.mark.parametrize("executor", [threads, processes, loky])
def test_a_sweep_by_an_executor_leaves_the_same_directory(
    tmp_path: Path, executor: Callable[[], Executor]
) -> None:
    with executor() as pool:
        swept = hs.sweep(SWEEP, out=tmp_path / "there", executor=pool)
    assert swept.table.equals(hs.sweep(SWEEP, out=tmp_path / "here").table)
    assert contents(tmp_path / "there") == contents(tmp_path / "here")


def test_what_a_document_names_is_read_by_the_process_that_runs_it(tmp_path: Path) -> None:
    """By its path, wherever that process works."""
    shutil.copy(TRACE, tmp_path / "cg.mpt.xz")
    (tmp_path / "program.toml").write_text(PROGRAM, "utf-8")
    one: dict[str, dict[str, list[Any]]] = {"sweep": {}}
    with processes(1) as pool:
        swept = hs.sweep(tmp_path / "program.toml", one, executor=pool)
    assert swept.table.equals(hs.sweep(tmp_path / "program.toml", one).table)


@pytest.mark.skipif(
    not (shutil.which("mpiexec") and importlib.util.find_spec("mpi4py")), reason="needs mpiexec and mpi4py"
)
def test_a_sweep_on_mpi_leaves_the_same_directory(tmp_path: Path) -> None:
    (engine,) = [engine for engine in ENGINES if engine.name == "MPI"]
    (tmp_path / "sweep.toml").write_text(SWEEP, "utf-8")
    with engine.start(tmp_path / "sweep.toml", tmp_path / "d") as run:
        assert run.ends_within(60)
        assert run.status == 0
    hs.sweep(tmp_path / "sweep.toml", out=tmp_path / "here")
    assert contents(tmp_path / "d") == contents(tmp_path / "here")


class Direct(Executor):
    """Runs a function when it is submitted, in whatever world `patch` makes."""

    def __init__(self, patch: Callable[[], contextlib.AbstractContextManager[Any]]) -> None:
        self.patch = patch
        self.submitted = 0

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.submitted += 1
        future: Future[Any] = Future()
        try:
            with self.patch():
                result = fn(*args, **kwargs)
            future.set_result(result)
        except BaseException as error:
            future.set_exception(error)
        return future


def test_workers_of_another_version_are_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    @contextlib.contextmanager
    def other() -> Generator[None]:
        with monkeypatch.context() as patch:
            patch.setattr(_core, "version", lambda: "0.0.1")
            yield

    with pytest.raises(hs.ConfigError) as refused:
        hs.sweep(TINY, load=[0.1, 0.2], executor=Direct(other), out=tmp_path / "d")
    assert str(refused.value) == (
        f"executor: hopsim 0.0.1 on {socket.gethostname()}, {hs.__version__} here; "
        "valid: the same version on all machines"
    )
    assert hs.load(tmp_path / "d").points == []


def test_workers_without_hopsim_are_refused_before_they_are_sent_what_only_hopsim_can_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    @contextlib.contextmanager
    def none() -> Generator[None]:
        with monkeypatch.context() as patch:
            patch.delitem(sys.modules, "hopsim")
            patch.setattr(sys, "path", [])
            yield

    executor = Direct(none)
    with pytest.raises(hs.ConfigError) as refused:
        hs.sweep(TINY, load=[0.1, 0.2], executor=executor)
    assert str(refused.value) == (
        f"executor: its workers have no hopsim; valid: hopsim {hs.__version__}, as here"
    )
    assert executor.submitted == 1


def test_a_file_that_a_worker_does_not_see_is_named(tmp_path: Path) -> None:
    shutil.copy(TRACE, tmp_path / "cg.mpt.xz")
    (tmp_path / "program.toml").write_text(PROGRAM, "utf-8")
    (point, _) = Experiment.open(tmp_path / "program.toml").points()
    elsewhere = tmp_path / "elsewhere"
    with pytest.raises(hs.ConfigError) as refused:
        simulate_elsewhere(point.config, str(elsewhere), hs.__version__)
    assert f'jobs.0.program.trace.file = "cg.mpt.xz": cannot read {elsewhere}/cg.mpt.xz' in str(refused.value)
    assert str(refused.value).endswith("; valid: the same file under this path on all machines")
    elsewhere.mkdir()
    (elsewhere / "cg.mpt.xz").write_bytes(b"something else")
    with pytest.raises(hs.ConfigError, match=r"cg\.mpt\.xz"):
        simulate_elsewhere(point.config, str(elsewhere), hs.__version__)


@pytest.mark.parametrize("executor", [3, "tcp://localhost:8786", ThreadPoolExecutor])
def test_what_is_no_executor_is_refused(executor: Any) -> None:
    with pytest.raises(hs.ConfigError, match=r"^executor = .*: is no concurrent\.futures\.Executor; valid: "):
        hs.sweep(TINY, load=[0.1], executor=executor)


def test_an_executor_and_a_number_of_threads_are_refused() -> None:
    with threads() as pool, pytest.raises(hs.ConfigError, match=r"^workers = 2: says nothing of an executor"):
        hs.sweep(TINY, load=[0.1], executor=pool, workers=2)


def test_points_that_an_executor_loses_fail_and_the_others_are_kept(tmp_path: Path) -> None:
    """A pool whose worker has died takes nothing more."""
    broken = BrokenProcessPool("a process died")

    class Dying(Direct):
        def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
            if self.submitted == 4:
                raise broken
            if self.submitted == 3:
                self.submitted += 1
                lost: Future[Any] = Future()
                lost.set_exception(broken)
                return lost
            return super().submit(fn, *args, **kwargs)

    with pytest.raises(hs.SweepError) as failed:
        hs.sweep(
            TINY,
            load=[0.1, 0.2, 0.3, 0.4],
            executor=Dying(contextlib.nullcontext),
            out=tmp_path / "d",
        )
    assert failed.value.results.points == [0, 1]
    lost = "the executor lost it: BrokenProcessPool('a process died')"
    assert failed.value.failures == {2: lost, 3: lost}
    assert hs.load(tmp_path / "d").points == [0, 1]


def test_an_interrupt_takes_back_what_has_not_begun_and_waits_for_nothing() -> None:
    class Stuck(Executor):
        """The first point is done, the second one runs for ever, others wait for their turn."""

        def __init__(self) -> None:
            self.futures: list[Future[Any]] = []

        def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
            future: Future[Any] = Future()
            if len(args) == 1 or not self.futures:
                future.set_result(fn(*args, **kwargs))
            if len(args) > 1:
                self.futures.append(future)
                if len(self.futures) == 2:
                    future.set_running_or_notify_cancel()
            return future

    class Interrupting:
        def start(self, total: int, stored: int, *, lengths_known: bool) -> None: ...

        def tick(self, finished: int, monitors: object) -> None:
            assert list(monitors) == []  # pyright: ignore[reportArgumentType, reportUnknownVariableType]
            if finished == 1:
                raise KeyboardInterrupt

        def stop(self) -> None: ...

    executor = Stuck()
    points = Experiment.of(TINY).with_axes({"load": [0.1, 0.2, 0.3, 0.4]}).points()
    kept: list[int] = []
    hooks = Hooks(report=lambda point, _: kept.append(point.index), watch=Interrupting())
    outcome = run_points(points, Elsewhere(executor, Path()), hooks, {})
    assert (outcome.interrupted, outcome.finished, outcome.failures, kept) == (True, 1, {}, [0])
    assert [future.cancelled() for future in executor.futures] == [False, False, True, True]


@contextlib.contextmanager
def scheduler(before: str = "") -> Generator[str]:
    """A scheduler of Dask with two workers in one process, which first runs something; its address."""
    script = (
        "from distributed import LocalCluster\n"
        f"{before}\n"
        "with LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None,\n"
        "                  protocol='tcp://', host='127.0.0.1') as cluster:\n"
        "    print(cluster.scheduler_address, flush=True)\n"
        "    input()\n"
    )
    command = [sys.executable, "-c", script]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        process.communicate("\n", timeout=30)


@needs_dask
def test_a_run_on_dask_leaves_the_same_directory(hopsim: Command, sweep: Path, tmp_path: Path) -> None:
    hopsim("run", sweep, "--out", "here")
    with scheduler() as address:
        (tmp_path / "scheduler.json").write_text(f'{{"address": "{address}"}}')
        hopsim("run", sweep, "--out", "there", "--dask", address)
        lines = hopsim("run", sweep, "--json", "-", "--dask", "scheduler.json").stdout
    assert contents(tmp_path / "here") == contents(tmp_path / "there")
    assert lines == hopsim("run", sweep, "--json", "-").stdout


@needs_dask
def test_dask_workers_of_another_version_are_refused(hopsim: Command, sweep: Path, tmp_path: Path) -> None:
    with scheduler("from hopsim import _core; _core.version = lambda: '0.0.1'") as address:
        refused = hopsim("run", sweep, "--out", "d", "--dask", address, status=2)
    assert refused.stderr == (
        f"hopsim: executor: hopsim 0.0.1 on {socket.gethostname()}, {hs.__version__} here; "
        "valid: the same version on all machines\n"
    )


@needs_dask
def test_a_connection_that_is_lost_while_a_result_is_fetched_loses_that_point(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As when the scheduler dies: before, the sweep waited for ever."""
    distributed: Any = importlib.import_module("distributed")
    fetch, lost = distributed.Client._gather_remote, 2

    async def failing(client: Any, *given: Any) -> Any:
        nonlocal lost
        if lost:
            lost -= 1
            raise OSError("Stream is closed")
        return await fetch(client, *given)

    def swept(executor: Any, failures: list[dict[int, str]]) -> None:
        try:
            hs.sweep(TINY, load=[0.1, 0.2, 0.3], executor=executor, progress=False)
        except hs.SweepError as error:
            failures.append(error.failures)

    failures: list[dict[int, str]] = []
    with scheduler() as address, distributed.Client(address, set_as_default=False) as client:
        monkeypatch.setattr(distributed.Client, "_gather_remote", failing)
        thread = threading.Thread(target=swept, args=(client.get_executor(), failures), daemon=True)
        thread.start()
        thread.join(30)
        monkeypatch.undo()
    assert not thread.is_alive()
    assert failures
    assert all(each == "the executor lost it: OSError('Stream is closed')" for each in failures[0].values())


@needs_dask
@pytest.mark.parametrize("address", ["localhost", "foo://x:1", "", "tiny.toml"])
def test_an_address_without_a_scheduler_is_refused_before_anything_is_written(
    hopsim: Command, tiny: Path, tmp_path: Path, address: str
) -> None:
    refused = hopsim("run", tiny, "--out", "d", "--dask", address, status=2)
    assert refused.stderr.startswith(f"hopsim: --dask {address}: no scheduler answers (")
    assert refused.stderr.endswith(
        "); valid: the address that `dask scheduler` prints, such as tcp://host:8786, or the file it has "
        "written with --scheduler-file\n"
    )
    assert not (tmp_path / "d").exists()


def test_without_dask_the_message_says_what_to_install(hopsim: Command, tiny: Path, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("import sys\nsys.modules['distributed'] = None\n")
    environment = {"PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
    done = subprocess.run(
        [sys.executable, "-m", "hopsim", "run", str(tiny), "--dask", "tcp://host:8786"],
        env={**os.environ, **environment},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (
        2,
        "hopsim: --dask tcp://host:8786: needs Dask; pip install 'hopsim[dask]' installs it\n",
    )


@pytest.mark.parametrize("count", [1, 2, 3, 5, 20])
@pytest.mark.parametrize("first", [0, 1])
def test_every_point_is_in_one_shard_however_they_are_counted(count: int, first: int) -> None:
    points = Experiment.of(SWEEP).points()
    shards = [Shard(number, count) for number in range(first, first + count)]
    assert [sum(shard.has(point) for shard in shards) for point in points] == [1] * 12


def test_shards_and_the_run_after_them_leave_the_same_directory(
    hopsim: Command, sweep: Path, tmp_path: Path
) -> None:
    whole = hopsim("run", sweep, "--out", "whole").stdout
    for number in (3, 1):
        done = hopsim("run", sweep, "--out", "d", "--shard", f"{number}/3")
        assert done.stdout == f"Shard {number}/3: 4 of 12 points in d\n"
    assert hs.load(tmp_path / "d").points == [0, 1, 3, 4, 6, 7, 9, 10]
    assert not (tmp_path / "d" / "summary.parquet").exists()
    assert hopsim("run", sweep, "--out", "d").stdout == whole.replace("Results: whole", "Results: d")
    assert contents(tmp_path / "d") == contents(tmp_path / "whole")


def test_a_shard_without_points_is_none_the_worse(hopsim: Command, tiny: Path) -> None:
    assert hopsim("run", tiny, "--out", "d", "--shard", "3/4").stdout == "Shard 3/4: 0 of 1 points in d\n"


@pytest.mark.parametrize("shard", ["3", "5/4", "0/0", "-1/4", "1/4/4", "", "a/b", "1/1000000000", "¹/4"])
def test_a_shard_that_is_none_is_refused(hopsim: Command, tiny: Path, shard: str) -> None:
    refused = hopsim("run", tiny, "--out", "d", f"--shard={shard}", status=2)
    assert refused.stderr == (
        f"hopsim: Invalid value for '--shard': {shard!r} is no part of a sweep; valid: I/N, such as 3/64, "
        "with N from 1 and I from 0 to N, where N is the same as 0. `hopsim run --help` tells more.\n"
    )


@pytest.mark.parametrize("option", ["--csv", "--force", "--json"])
def test_options_that_concern_all_points_are_refused_with_a_shard(
    hopsim: Command, tiny: Path, tmp_path: Path, option: str
) -> None:
    given = [option, "-"] if option == "--json" else [option]
    refused = hopsim("run", tiny, "--out", "d", "--shard", "1/4", *given, status=2)
    assert refused.stderr == (
        f"hopsim: {option}: concerns all points, and --shard 1/4 runs some of them; "
        f"valid: {option} without --shard, before or after the shards\n"
    )
    assert not (tmp_path / "d").exists()


def test_threads_are_refused_with_dask(hopsim: Command, tiny: Path) -> None:
    refused = hopsim("run", tiny, "--dask", "tcp://h:1", "-j", 2, status=2)
    assert refused.stderr == "hopsim: -j 2: are threads of this machine; valid: -j without --dask tcp://h:1\n"


def test_a_shard_of_another_document_or_version_is_refused(
    hopsim: Command, sweep: Path, tmp_path: Path
) -> None:
    hopsim("run", sweep, "--out", "d", "--shard", "0/2")
    refused = hopsim("run", sweep, "--out", "d", "--shard", "1/2", "--set", "measure.cycles=500", status=2)
    assert "d: holds results of another experiment (measure.cycles: 400 there, 500 here)" in refused.stderr
    manifest = tmp_path / "d" / "manifest.json"
    manifest.write_text(json.dumps(seal({**json.loads(manifest.read_text()), "hopsim": "0.0.1"})))
    refused = hopsim("run", sweep, "--out", "d", "--shard", "1/2", status=2)
    assert f"hopsim 0.0.1 there, {hs.__version__} here" in refused.stderr


def test_what_killed_processes_left_is_removed_when_all_points_are_there(tmp_path: Path) -> None:
    hs.sweep(TINY, load=[0.1, 0.2], out=tmp_path / "whole")
    points = tmp_path / "d" / "points"
    points.mkdir(parents=True)
    # As a process leaves it that was killed while it claimed the directory, or stored a point.
    left = [tmp_path / "d" / ".manifest.json.0.part", points / ".a.json.0.part"]
    for path in left:
        path.write_text("{")
    hs.sweep(TINY, load=[0.1, 0.2], out=tmp_path / "d")
    assert contents(tmp_path / "d") == contents(tmp_path / "whole")


def test_a_file_that_was_removed_while_it_was_written_is_no_error_if_another_process_wrote_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace = Path.replace

    def removed(path: Path, target: Path) -> Path:
        path.unlink()
        return replace(path, target)

    monkeypatch.setattr(Path, "replace", removed)
    with pytest.raises(FileNotFoundError, match=r"a\.json"):
        write_text(tmp_path / "a.json", "mine")
    (tmp_path / "a.json").write_bytes(b"theirs")
    write_text(tmp_path / "a.json", "mine")
    assert (tmp_path / "a.json").read_text() == "theirs"
