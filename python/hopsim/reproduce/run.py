"""Runs the experiments of an entry through the sweep runner, which resumes what was stopped."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from hopsim.reproduce.model import Experiment, Results
from hopsim.sweep import sweep


def run(experiments: Sequence[Experiment], directory: Path, workers: int | None) -> Results:
    """Results by experiment name; each experiment has its own results directory below `directory`."""
    return {
        experiment.name: sweep(
            experiment.sweep(),
            out=directory / f"{experiment.name}-{experiment.seeds}-seeds",
            workers=workers,
        )
        for experiment in experiments
    }
