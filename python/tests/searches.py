"""Runs that were made up, for searches for saturation."""

from __future__ import annotations

from typing import Any

from hopsim.results.result import Result
from hopsim.runs.saturation import LONGEST

WINDOWS = (1000, 1000 * LONGEST)
"""Shortest and longest window of a run [cycles]."""


def run_of(verdict: str, accepted: float, offered: float = 1.0, **others: Any) -> Result:
    """What a run shows whose nodes all send what is offered, or less where `others` say so."""
    summary = {
        "verdict": verdict,
        "missing_cycles": None,
        "offered_load": offered,
        "generated_load": offered,
        "accepted_load": accepted,
        "accepted_load_ci95": 0.0,
        "injected_load": accepted,
        "node_injection_mean": accepted,
        "nodes": 8,
        "seed": 1,
    }
    return Result({"config": {"of": offered}, "result": {**summary, **others}}, {}, {})
