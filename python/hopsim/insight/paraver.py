"""What the ranks of a program did in a run, as a trace for Paraver of the Barcelona Supercomputing Center.

The format: *Paraver, Trace file description* (BSC, 2001). The core writes it, and reads it as a program. A
task is a rank, its node and processor are the node of the network that it runs on, times are in ns.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from hopsim import _core
from hopsim.document.estimate import fabric
from hopsim.errors import ConfigError
from hopsim.files.atomic import write, write_text
from hopsim.files.quantities import nanoseconds

if TYPE_CHECKING:
    from hopsim.results.result import Result

SUFFIX = ".prv"
"""How the file with the records ends."""


def write_paraver(result: Result, path: str | os.PathLike[str], *, job: str | None = None) -> Path:
    """Write what the ranks of a program did as a trace for Paraver; its path.

    It needs the stream `operations`. The file has the calls of MPI with the time that each took, computations
    between them, and a line for each message outside of collective operations; beside it are `.pcf`, what the
    numbers mean, and `.row`, the nodes of the ranks. A program in a file must have been read by this process,
    as `hopsim.run` and `Experiment.points` do.

    Args:
        result: the point.
        path: of the file with the records, which ends with `.prv`.
        job: the name of the job whose program it is; may be left out if there is one only.

    Raises:
        NotRecordedError: the stream `operations` was not recorded.
        ConfigError: there is no such job, its program has no calls of MPI, or a file cannot be written.
    """
    target = Path(path)
    if target.suffix != SUFFIX:
        raise ConfigError(f"{target}: the extension is that of no trace for Paraver; valid: {SUFFIX}")
    name = _job(result.operations, job)
    is_of_job = [other == name for other in result.operations["job"].to_pylist()]
    rows = result.operations.filter(pa.array(is_of_job))
    columns = tuple(rows[column].to_pylist() for column in ("rank", "activity", "record", "begin", "end"))
    text, labels, names = _core.paraver_files(json.dumps(result.config), name, _cycle(result.config), columns)
    _put(target, lambda: write(target, lambda file: file.write(text)))
    for suffix, content in ((".pcf", labels), (".row", names)):
        beside = target.with_suffix(suffix)
        _put(beside, lambda beside=beside, content=content: write_text(beside, content))
    return target


def _job(operations: pa.Table, job: str | None) -> str:
    """The job that is meant, of those that ran a program to its end."""
    names = list(dict.fromkeys(str(name) for name in operations["job"].to_pylist()))
    if job is None and len(names) == 1:
        return names[0]
    if job in names:
        return str(job)
    valid = ", ".join(names) or "a job whose ranks did something"
    if job is None:
        raise ConfigError(f"job: {len(names)} jobs ran programs; valid: one of {valid}")
    raise ConfigError(f"job = {job!r}: no program of that name ran to its end; valid: {valid}")


def _cycle(config: dict[str, Any]) -> float:
    """What a cycle of the programs takes [ns]; where nothing says so, 1."""
    found = fabric(config)
    text = config.get("units", {}).get("cycle", "1 ns") if found is None else found["host"]["cycle"]
    return float(nanoseconds(str(text)))


def _put(path: Path, put: Callable[[], object]) -> None:
    """Writes a file, and says which one could not be written."""
    try:
        put()
    except OSError as error:
        raise ConfigError(f"{path}: cannot write: {error.strerror}; choose a writable path") from None
