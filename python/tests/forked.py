"""The command line in a process of its own, as for a user, without the half second in which Python starts.

A server that has imported everything and done nothing else forks the processes. The test process does not: it
has threads, and a fork that finds one of them in the middle of something may wait for it for ever.
"""

from __future__ import annotations

import contextlib
import io
import multiprocessing
import os
import signal
import sys
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from subprocess import CompletedProcess, TimeoutExpired
from tempfile import TemporaryDirectory

from hopsim.cli import main

MOST = 120
"""Time after which a command is given up [s]."""

_SERVER = multiprocessing.get_context("forkserver")
_SERVER.set_forkserver_preload(
    ["matplotlib.pyplot", "hopsim.cli.plot", "hopsim.cli.run", "hopsim.cli.saturate"]
)


def run(given: Sequence[str], folder: Path, **environment: str) -> CompletedProcess[str]:
    """Run `hopsim` in a folder, with warnings as errors."""
    # mutmut sees only what runs in the process of the test.
    if "MUTANT_UNDER_TEST" in os.environ:
        return _run_here(given, folder, environment)
    with TemporaryDirectory() as place:
        outputs = Path(place, "output"), Path(place, "messages")
        command = _SERVER.Process(
            target=_be_the_command, args=(given, folder, {**os.environ, **environment}, outputs)
        )
        command.start()
        command.join(MOST)
        if command.exitcode is None:
            command.kill()
            raise TimeoutExpired(["hopsim", *given], MOST, *(path.read_bytes() for path in outputs))
        texts = [path.read_text("utf-8") for path in outputs]
    return CompletedProcess(["hopsim", *given], command.exitcode, *texts)


def _run_here(given: Sequence[str], folder: Path, environment: Mapping[str, str]) -> CompletedProcess[str]:
    output, messages = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
    before, sys.argv = sys.argv, ["hopsim", *given]
    handler = signal.getsignal(signal.SIGTERM)
    kept = {name: os.environ.get(name) for name in environment}
    os.environ.update(environment)
    status: str | int | None = 0
    with (
        contextlib.chdir(folder),
        contextlib.redirect_stdout(output),
        contextlib.redirect_stderr(messages),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("error")
        try:
            main(given)
        except SystemExit as end:
            status = end.code
    signal.signal(signal.SIGTERM, handler)
    sys.argv = before
    for name, value in kept.items():
        if value is None:
            del os.environ[name]
        else:
            os.environ[name] = value
    texts = [stream.buffer.getvalue().decode("utf-8") for stream in (output, messages)]
    return CompletedProcess(["hopsim", *given], int(status or 0), *texts)


def _be_the_command(
    given: Sequence[str], folder: Path, environment: Mapping[str, str], outputs: tuple[Path, Path]
) -> None:
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    _redirect(outputs)
    sys.argv = ["hopsim", *given]
    warnings.resetwarnings()
    warnings.simplefilter("error")
    main(given)


def _redirect(outputs: tuple[Path, Path]) -> None:
    for number, path in enumerate(outputs, start=1):
        file = os.open(path, os.O_WRONLY | os.O_CREAT)
        os.dup2(file, number)
        os.close(file)
    sys.stdout = os.fdopen(1, "w", encoding="utf-8")
    sys.stderr = os.fdopen(2, "w", buffering=1, encoding="utf-8", errors="backslashreplace")
