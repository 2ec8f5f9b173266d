"""The command line in a child of the test process, which has imported everything already.

It is a process of its own, as for a user, but without the half second that Python takes to start.
"""

from __future__ import annotations

import importlib
import os
import signal
import sys
import traceback
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from subprocess import CompletedProcess
from tempfile import TemporaryFile
from typing import BinaryIO, NoReturn

from hopsim.cli import main

MOST = 120
"""Time after which a command is given up [s]."""

for heavy in ("matplotlib.pyplot", "hopsim.cli.plot", "hopsim.cli.run", "hopsim.cli.saturate"):
    importlib.import_module(heavy)


def run(given: Sequence[str], folder: Path, **environment: str) -> CompletedProcess[str]:
    """Run `hopsim` in a folder, with warnings as errors."""
    with TemporaryFile() as output, TemporaryFile() as messages:
        child = _fork()
        if child == 0:
            _be_the_command(given, folder, environment, (output, messages))
        _, status = os.waitpid(child, 0)
        texts = [_text(file) for file in (output, messages)]
    return CompletedProcess(["hopsim", *given], os.waitstatus_to_exitcode(status), *texts)


def _fork() -> int:
    with warnings.catch_warnings():
        # Later versions of Python warn of threads, which the child has not: those of the runner of the tests.
        warnings.simplefilter("ignore", DeprecationWarning)
        return os.fork()


def _be_the_command(
    given: Sequence[str], folder: Path, environment: Mapping[str, str], files: tuple[BinaryIO, BinaryIO]
) -> NoReturn:
    status = 1
    try:
        signal.alarm(MOST)
        os.chdir(folder)
        os.environ.update(environment)
        _redirect(files)
        sys.argv = ["hopsim", *given]
        warnings.resetwarnings()
        warnings.simplefilter("error")
        main(given)
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
    finally:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        # Not the end of the test process: what that would do when it ends is its own.
        os._exit(status)


def _redirect(files: tuple[BinaryIO, BinaryIO]) -> None:
    with Path(os.devnull).open("rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    for number, file in enumerate(files, start=1):
        os.dup2(file.fileno(), number)
    sys.stdin = os.fdopen(0, "r", encoding="utf-8")
    sys.stdout = os.fdopen(1, "w", encoding="utf-8")
    sys.stderr = os.fdopen(2, "w", buffering=1, encoding="utf-8", errors="backslashreplace")


def _text(file: BinaryIO) -> str:
    file.seek(0)
    return file.read().decode("utf-8")
