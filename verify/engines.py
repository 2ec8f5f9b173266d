"""What runs the points of a sweep in `verify clusters`: pools of processes, Dask, MPI; who may be killed."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path

SCRIPT = """
import sys
from pathlib import Path
{imports}
import hopsim

if __name__ == "__main__":
    document, out = map(Path, sys.argv[-2:])
    with {pool} as pool:
        hopsim.sweep(document, out=out, executor=pool)
"""

POOL = "from concurrent.futures import ProcessPoolExecutor\nfrom multiprocessing import get_context"
MAIN, WORKER, SCHEDULER = "main process", "worker", "scheduler"
TICK_S = 0.02
MPI = ("mpiexec", "-n", "3", sys.executable, "-m", "mpi4py.futures")
# Open MPI asks whether it may; others know nothing of it.
MPI_MAY = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
}


@dataclass
class Run:
    """A sweep that runs.

    Attributes:
        main: the process that was begun.
        others: what was begun beside it: (victim, process).
    """

    main: subprocess.Popen[bytes]
    others: list[tuple[str, subprocess.Popen[bytes]]]

    def kill(self, victim: str, chance: random.Random) -> None:
        """End a process of that kind by SIGKILL, as soon as there is one, unless the sweep has ended."""
        while not (found := self._begun(victim)) and self.main.poll() is None:
            time.sleep(TICK_S)
        if found:
            with contextlib.suppress(ProcessLookupError):
                os.kill(chance.choice(found), signal.SIGKILL)

    def _begun(self, victim: str) -> list[int]:
        if victim == MAIN:
            return [self.main.pid]
        beside = [process.pid for kind, process in self.others if kind == victim]
        return beside or _workers(self.main.pid)

    def ends_within(self, seconds: float) -> bool:
        """Whether the main process ends in time."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.main.wait(seconds)
        return self.main.returncode is not None

    @property
    def status(self) -> int | None:
        """The exit status of the main process; None if it still runs."""
        return self.main.returncode


@dataclass(frozen=True)
class Engine:
    """What runs points.

    Attributes:
        name: what the report calls it.
        needs: the Python package that must be installed.
        script: a program that takes the document and the results directory; empty for Dask.
        launcher: what starts it.
        victims: who is killed in turn.
        duration_s: how long a run takes, about [s].
        may_hang: whether it waits for ever when a worker dies while it hands over a result: the workers of a
            pool of processes share one pipe.
    """

    name: str
    needs: str
    script: str = ""
    launcher: tuple[str, ...] = (sys.executable,)
    victims: tuple[str, ...] = (WORKER, MAIN)
    duration_s: float = 2.0
    may_hang: bool = False

    def is_there(self) -> bool:
        """Whether it can be tried here."""
        is_installed = importlib.util.find_spec(self.needs) is not None
        return is_installed and shutil.which(self.launcher[0]) is not None

    @contextlib.contextmanager
    def start(self, document: Path, directory: Path) -> Generator[Run]:
        """Begin a sweep; what is left of it at the end is killed."""
        with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
            if not self.script:
                yield _dask(stack, Path(folder), document, directory)
                return
            script = Path(folder) / "script.py"
            script.write_text(self.script, "utf-8")
            yield Run(_begin(stack, [*self.launcher, script, document, directory]), [])


def _dask(stack: contextlib.ExitStack, folder: Path, document: Path, directory: Path) -> Run:
    """A scheduler and two workers, one of which can do without the other, and the command line."""
    file = folder / "scheduler.json"
    dask = [sys.executable, "-m", "dask"]
    common = ["--no-dashboard", "--scheduler-file", file]
    own = ["--no-nanny", "--nthreads", "1", "--local-directory", folder]
    scheduler = _begin(stack, [*dask, "scheduler", *common, "--host", "127.0.0.1", "--port", "0"])
    workers = [_begin(stack, [*dask, "worker", *common, *own]) for _ in range(2)]
    while not file.exists() and scheduler.poll() is None:
        time.sleep(TICK_S)
    main = _begin(
        stack, [sys.executable, "-m", "hopsim", "run", document, "--out", directory, "--dask", file]
    )
    return Run(main, [(SCHEDULER, scheduler), *((WORKER, worker) for worker in workers)])


def _begin(stack: contextlib.ExitStack, command: list[str | Path]) -> subprocess.Popen[bytes]:
    """A process in a session of its own, which ends with the stack, as does all that it has begun."""
    environment = os.environ | MPI_MAY
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment, start_new_session=True
    )
    stack.callback(_end, process)
    return process


def _end(process: subprocess.Popen[bytes]) -> None:
    for pid in [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]:
        with contextlib.suppress(ProcessLookupError):
            if os.getsid(pid) == process.pid:
                os.kill(pid, signal.SIGKILL)
    process.wait()


def _workers(pid: int) -> list[int]:
    """What a process has begun, but for those that tidy up after all."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text("utf-8").split()
        return [int(child) for child in children if not _is_tracker(child)]
    except OSError:
        return []


def _is_tracker(pid: str) -> bool:
    return b"resource_tracker" in Path(f"/proc/{pid}/cmdline").read_bytes()


def _script(imports: str, pool: str) -> str:
    return SCRIPT.format(imports=imports, pool=pool)


def _processes(how: str) -> Engine:
    script = _script(POOL, f"ProcessPoolExecutor(2, get_context('{how}'))")
    return Engine(f"processes ({how})", "multiprocessing", script, may_hang=True)


ENGINES = [
    _processes("fork"),
    _processes("spawn"),
    Engine("loky", "loky", _script("import loky", "loky.ProcessPoolExecutor(2)"), may_hang=True),
    Engine("MPI", "mpi4py", _script("from mpi4py.futures import MPIPoolExecutor", "MPIPoolExecutor()"), MPI),
    Engine("Dask", "distributed", victims=(WORKER, SCHEDULER, MAIN)),
]
"""All that are tried."""
