"""How the tests are run: a worker that dies is a test that fails."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]

# The other worker has something to do until the death is noticed: by then nothing is asked of the dead one.
TESTS = """
import os
import time
import pytest

@pytest.mark.parametrize("number", range(10))
def test_passes(number):
    time.sleep(0.05)

@pytest.mark.parametrize("number", range(3))
@pytest.mark.xdist_group("group")
def test_dies(number):
    if number == 1:
        os._exit(1)
"""


def test_a_worker_that_dies_fails_the_run_instead_of_stopping_it(tmp_path: Path) -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    (distribution,) = re.findall(r"--dist \w+", makefile)
    (tmp_path / "test_some.py").write_text(TESTS, "utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "--numprocesses", "2", *distribution.split()]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    assert "1 failed, 12 passed" in done.stdout
