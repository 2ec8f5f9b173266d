"""Every example is valid, and small ones run."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from conftest import ROOT, Command
from hopsim.document.experiment import Experiment
from hopsim.runs.sweeps import simulate

MOST = 4
"""About so many points of an example are run, from its first to its last."""
EXAMPLES = sorted((ROOT / "experiments").glob("*.toml"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_is_found_by_its_name_from_anywhere_and_passes_check(hopsim: Command, path: Path) -> None:
    assert hopsim("check", path.stem).stdout.endswith("OK\n")


def test_an_example_is_found_by_its_path(hopsim: Command) -> None:
    assert hopsim("check", ROOT / "experiments" / "first_run.toml").stdout.endswith("OK\n")


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_begins_with_what_it_shows(path: Path) -> None:
    assert path.read_text("utf-8").startswith("# ")


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs(path: Path) -> None:
    short: dict[str, Any] = {"measure.warmup": 50, "measure.cycles": 200}
    if re.search(r"\bprogram\b.* = ", path.read_text("utf-8")):
        short = {}  # it ends when its programs are done
    elif re.search("infiniband|ethernet", path.read_text("utf-8")):
        interval = {"interval": "50 us"} if "interval = " in path.read_text("utf-8") else {}
        short = {"measure.time": {"window": "100 us", **interval}}
    if "changes = " in path.read_text("utf-8"):
        short["jobs.0.traffic.changes.0.cycle"] = 100
    if "[[faults]]" in path.read_text("utf-8") and "infiniband" in path.read_text("utf-8"):
        short |= {"faults.0.time.at": "60 us", "faults.0.time.until": "80 us"}
    elif "[[faults]]" in path.read_text("utf-8"):
        short |= {"faults.0.at": 60, "faults.0.until": 120, "measure.interval": 50}
    points = Experiment.open(path).replacing(short).points()
    # Programs take their time: of those the first and the last.
    some = len(points) // MOST if short else len(points) - 1
    results, outcome = simulate(points[:: max(1, some)], 1, progress=False)
    assert not outcome.failures
    assert all(result.summary.get("messages") or result.summary["packets_delivered"] for result in results)
