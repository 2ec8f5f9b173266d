"""Helpers of the tests: a small experiment, and the command line as a user calls it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

import forked

ROOT = next(folder for folder in Path(__file__).parents if (folder / "Cargo.toml").exists())
"""Of the checkout, also where `mutants` has copied the tests deeper into it."""

TINY = """
load = 0.3
[topology.dragonfly]
p = 1
a = 2
h = 1
[measure]
warmup = 100
cycles = 400
"""

SWEEP = (
    TINY
    + """
streams = ["nodes", "routers", "links", "latency_histogram"]
interval = 50
[sweep.product]
"routing" = ["minimal", "valiant"]
"load" = [0.1, 0.3, 0.5]
"measure.seed" = [1, 2]
"""
)

Command = Callable[..., subprocess.CompletedProcess[str]]

# On a busy machine any example may take long: that is no fault of what is tested.
settings.register_profile("any-machine", deadline=None)
settings.load_profile("any-machine")

# What runs in the background of a script is handed down that interrupts are ignored: tests that interrupt
# something would wait for ever.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Test processes that run side by side have a core each. A simulation takes all cores that it may use, and its
# threads wait for each other awake: where another process is at work there, that takes longer than what is
# simulated.
if (worker := os.environ.get("PYTEST_XDIST_WORKER", "")) and hasattr(os, "sched_setaffinity"):
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {cores[int(worker.removeprefix("gw")) % len(cores)]})


def arguments(*given: object) -> list[str]:
    """The command line of `hopsim`, warnings as errors."""
    return [sys.executable, "-W", "error", "-m", "hopsim", *map(str, given)]


@pytest.fixture
def hopsim(tmp_path: Path) -> Command:
    """Runs `hopsim` in an empty directory; `status` is the expected exit status."""

    def run(*given: object, status: int = 0) -> subprocess.CompletedProcess[str]:
        done = forked.run([str(argument) for argument in given], tmp_path, NO_COLOR="1")
        assert done.returncode == status, done.stderr
        assert "Traceback" not in done.stderr
        return done

    return run


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    """A file with one point."""
    return _write(tmp_path / "tiny.toml", TINY)


@pytest.fixture
def sweep(tmp_path: Path) -> Path:
    """A file with twelve points and all tables."""
    return _write(tmp_path / "sweep.toml", SWEEP)


def _write(path: Path, text: str) -> Path:
    path.write_text(text, "utf-8")
    return path
