"""Every example is valid, and small ones run."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import hopsim as hs
from conftest import ROOT, Command

EXAMPLES = sorted((ROOT / "experiments").glob("*.toml"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_passes_check(hopsim: Command, path: Path) -> None:
    assert hopsim("check", path).stdout.endswith("OK\n")


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_begins_with_what_it_shows(path: Path) -> None:
    assert path.read_text("utf-8").startswith("# ")


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs(path: Path) -> None:
    short: dict[str, Any] = {"measure.warmup": 50, "measure.cycles": 200}
    if re.search(r"\bprogram\b.* = ", path.read_text("utf-8")):
        short = {}  # it ends when its programs are done
    elif "infiniband" in path.read_text("utf-8"):
        interval = {"interval": "50 us"} if "interval = " in path.read_text("utf-8") else {}
        short = {"measure.time": {"window": "100 us", **interval}}
    if "changes = " in path.read_text("utf-8"):
        short["jobs.0.traffic.changes.0.cycle"] = 100
    results = hs.sweep(path, short)
    assert all(result.summary.get("messages") or result.summary["packets_delivered"] for result in results)
