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
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from subprocess import CompletedProcess, TimeoutExpired
from tempfile import TemporaryDirectory

from hopsim.cli import main

MOST = 120
"""Time after which a command is given up [s]."""

_SERVER = multiprocessing.get_context("forkserver")
_SERVER.set_forkserver_preload(
    ["matplotlib.pyplot", "hopsim.cli.plot", "hopsim.cli.run", "hopsim.cli.saturate", "hopsim.report"]
)


def run(
    given: Sequence[str], folder: Path, *, stdin: Path | None = None, **environment: str
) -> CompletedProcess[str]:
    """Run `hopsim` in a folder, with warnings as errors; PYTHONIOENCODING is that of its streams."""
    # mutmut sees only what runs in the process of the test.
    if "MUTANT_UNDER_TEST" in os.environ:
        return _run_here(given, folder, environment)
    return _started(_be_the_command, (given, stdin), ["hopsim", *given], folder, environment)


def execute(text: str, folder: Path, **environment: str) -> CompletedProcess[str]:
    """Run a text in Python in a folder, with warnings as errors."""
    return _started(_be_a_script, text, ["python", "-c", text], folder, environment)


def _started(
    target: Callable[..., None], given: object, shown: list[str], folder: Path, environment: Mapping[str, str]
) -> CompletedProcess[str]:
    with TemporaryDirectory() as place:
        outputs = Path(place, "output"), Path(place, "messages")
        arguments = (given, folder, {**os.environ, **environment}, outputs)
        process = _SERVER.Process(target=target, args=arguments)
        process.start()
        process.join(MOST)
        if process.exitcode is None:
            process.kill()
            raise TimeoutExpired(shown, MOST, *(path.read_bytes() for path in outputs))
        texts = [path.read_text(environment.get("PYTHONIOENCODING", "utf-8")) for path in outputs]
    return CompletedProcess(shown, process.exitcode, *texts)


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
    command: tuple[Sequence[str], Path | None],
    folder: Path,
    environment: Mapping[str, str],
    outputs: tuple[Path, Path],
) -> None:
    given, stdin = command
    _begin(folder, environment, outputs)
    if stdin is not None:
        os.dup2(os.open(stdin, os.O_RDONLY), 0)
        sys.stdin = os.fdopen(0, encoding="utf-8")
    sys.argv = ["hopsim", *given]
    main(given)


def _be_a_script(text: str, folder: Path, environment: Mapping[str, str], outputs: tuple[Path, Path]) -> None:
    _begin(folder, environment, outputs)
    sys.argv = ["-c"]
    exec(compile(text, "<string>", "exec"), {"__name__": "__main__"})


def _begin(folder: Path, environment: Mapping[str, str], outputs: tuple[Path, Path]) -> None:
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    _redirect(outputs, environment.get("PYTHONIOENCODING", "utf-8"))
    warnings.resetwarnings()
    warnings.simplefilter("error")


def _redirect(outputs: tuple[Path, Path], encoding: str) -> None:
    for number, path in enumerate(outputs, start=1):
        file = os.open(path, os.O_WRONLY | os.O_CREAT)
        os.dup2(file, number)
        os.close(file)
    sys.stdout = os.fdopen(1, "w", encoding=encoding)
    sys.stderr = os.fdopen(2, "w", buffering=1, encoding=encoding, errors="backslashreplace")
