"""What takes long before a simulation begins is ended by a signal, or when the simulation is cancelled."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from hopsim import _core
from hopsim.document.experiment import Experiment

# Forwarding tables of 10,000 switches: seconds.
SLOW = """
topology.mesh.sides = [100, 100]
router.infiniband = { forwarding = "min_hop", lanes = { allow_deadlock = true } }
jobs = [{ flows = [{ source = 0, destination = 1 }] }]
"""

BEGUN_S = 0.4
"""By then it is on its way."""
PATIENCE_S = 0.3
"""Time of the processor, as others may be busy with the machine."""


def test_a_signal_ends_the_check_of_a_document() -> None:
    sent: list[float] = []

    def interrupt() -> None:
        sent.append(time.process_time())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(BEGUN_S, interrupt)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        Experiment.of(SLOW).points()
    assert time.process_time() - sent[0] < PATIENCE_S
    timer.join()


def test_a_simulation_that_is_cancelled_is_not_set_up() -> None:
    config = (
        '{"topology": {"mesh": {"sides": [100, 100]}},'
        ' "router": {"infiniband": {"forwarding": "min_hop", "lanes": {"allow_deadlock": true}}},'
        ' "jobs": [{"flows": [{"source": 0, "destination": 1}]}]}'
    )
    monitor, sent = _core.Monitor(), list[float]()

    def cancel() -> None:
        sent.append(time.process_time())
        monitor.cancel()

    timer = threading.Timer(BEGUN_S, cancel)
    timer.start()
    with pytest.raises(_core.Cancelled):
        _core.run(config, monitor)
    assert time.process_time() - sent[0] < PATIENCE_S
    timer.join()


SCRIPT = f"""
import os, signal, sys, threading, time
import hopsim.cli.run, hopsim.cli.check
from hopsim.cli import main

def interrupt():
    global sent
    sent = time.process_time()
    os.kill(os.getpid(), signal.SIGINT)

threading.Timer({BEGUN_S}, interrupt).start()
try:
    main([sys.argv[1], "slow.toml"])
except SystemExit as end:
    took = time.process_time() - sent
    sys.exit(end.code if took < {PATIENCE_S} else f"only after {{took}} s")
"""


@pytest.mark.parametrize("command", ["run", "check"])
def test_a_command_is_interrupted_before_anything_runs(tmp_path: Path, command: str) -> None:
    (tmp_path / "slow.toml").write_text(SLOW)
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, command],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.stderr.strip(), done.returncode) == ("hopsim: interrupted", 130)
    assert list(tmp_path.iterdir()) == [tmp_path / "slow.toml"]
