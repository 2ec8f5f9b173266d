"""Runs the experiments of an entry through the sweep runner, which resumes what was stopped."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from hopsim.errors import SweepError
from hopsim.reproduce.model import Experiment, Results
from hopsim.results import Result
from hopsim.sweep import sweep


def run(experiments: Sequence[Experiment], directory: Path, workers: int | None) -> Results:
    """Results by experiment name; each experiment has its own results directory below `directory`."""
    return {
        experiment.name: _run(experiment, directory / f"{experiment.name}-{experiment.seeds}-seeds", workers)
        for experiment in experiments
    }


def _run(experiment: Experiment, directory: Path, workers: int | None) -> Sequence[Result]:
    try:
        return sweep(experiment.sweep(), out=directory, workers=workers)
    except SweepError as error:
        if experiment.may_deadlock and all("deadlock" in text for text in error.failures.values()):
            return error.results
        raise
