"""A copy of the checkout in which sources may be broken."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

CHECKOUT = Path(__file__).parents[1]
TREE = CHECKOUT / "target" / "mutants" / "tree"

PROFILE = "mutants"
"""Of Cargo: not optimised, so that a changed rule of the engine is compiled in seconds instead of minutes."""

WOVEN_PROFILE = "test"
"""Of Cargo, for many mutants in one build: compiled once, so what counts is that the tests are fast."""

STACK = 64 * 2**20
"""Of a thread [bytes]: without optimisation the frames of the tests do not fit into the usual 2 MiB."""

_LEFT_OUT = (".*", "__pycache__")
_LEFT_OUT_OF_ROOT = (*_LEFT_OUT, "target", "build", "dist", "results", "*-results")
"""What is not part of the sources, anywhere and beside them; names of files and directories."""


class MutantsError(Exception):
    """Something that the user can mend; the message says what."""


@dataclass(frozen=True)
class Run:
    """How a command ended."""

    status: int | None
    """Exit status; None if it was stopped at its time limit."""
    output: str
    seconds: float


@dataclass(frozen=True)
class Scratch:
    """A directory with the sources of the checkout, and with what is compiled of them."""

    root: Path
    lock: IO[str] | None = None
    """Held open while the directory is in use."""

    @classmethod
    def of_checkout(cls, root: Path = TREE) -> Scratch:
        """The copy, brought up to date. Raises `MutantsError` while another process breaks sources in it."""
        root.mkdir(parents=True, exist_ok=True)
        lock = root.with_suffix(".lock").open("w")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            lock.close()
            raise MutantsError(f"{root}: another command is at work there; wait until it has ended") from None
        _follow(CHECKOUT, root, _LEFT_OUT_OF_ROOT)
        return cls(root, lock)

    @contextlib.contextmanager
    def with_content(self, file: str, content: bytes) -> Generator[None]:
        """`file` holds `content`; afterwards again what it held, or it is gone again."""
        path = self.root / file
        before = path.read_bytes() if path.exists() else None
        try:
            path.write_bytes(content)
            yield
        finally:
            if before is None:
                path.unlink(missing_ok=True)
            else:
                # The new time of change makes Cargo compile it again.
                path.write_bytes(before)

    def run(
        self,
        command: Sequence[str],
        limit_s: float,
        folder: str = ".",
        variables: Mapping[str, str] | None = None,
    ) -> Run:
        """Run a command in a folder of the copy, with these variables added; `python` is this interpreter."""
        words = [sys.executable, *command[1:]] if command[0] == "python" else list(command)
        began = time.monotonic()
        with subprocess.Popen(
            words,
            cwd=self.root / folder,
            env={**os.environ, **self._environment(), **(variables or {})},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        ) as process:
            try:
                output, _ = process.communicate(timeout=limit_s)
                status = process.returncode
            except BaseException as error:
                # The command's own children too: test programs that no longer end.
                os.killpg(process.pid, signal.SIGKILL)
                output, _ = process.communicate()
                if not isinstance(error, subprocess.TimeoutExpired):
                    raise
                status = None
        return Run(status, output, time.monotonic() - began)

    def _environment(self) -> dict[str, str]:
        return {
            "PYTHONPATH": os.pathsep.join([str(self.root / "python"), str(self.root)]),
            # Compiled Python is recognised by size and second of its source: too coarse here.
            "PYTHONDONTWRITEBYTECODE": "1",
            "CARGO_TARGET_DIR": str(self.root / "target"),
            # As maturin tells Cargo: for this interpreter, and without linking libpython.
            "PYO3_PYTHON": sys.executable,
            "PYO3_BUILD_EXTENSION_MODULE": "1",
            "RUST_MIN_STACK": str(STACK),
            # That a test fails is all that is asked: the smallest document on which it does costs minutes.
            "PROPTEST_MAX_SHRINK_ITERS": "0",
        }


def _follow(source: Path, target: Path, patterns: Sequence[str] = _LEFT_OUT) -> None:
    """Make `target` hold the sources that `source` holds, and leave alone what is equal."""
    left_out = shutil.ignore_patterns(*patterns)
    names = [entry.name for entry in source.iterdir()]
    kept = set(names) - left_out(str(source), names)
    for name in kept:
        here, there = source / name, target / name
        if here.is_dir():
            there.mkdir(exist_ok=True)
            _follow(here, there)
        elif not there.exists():
            shutil.copy2(here, there)
        elif here.read_bytes() != there.read_bytes():
            there.write_bytes(here.read_bytes())
    gone = [entry for entry in target.iterdir() if entry.name not in names]
    for entry in gone:
        if entry.name not in left_out(str(target), [entry.name]):
            shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
