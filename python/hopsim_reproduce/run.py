"""Runs the experiments of an entry through the sweep runner, which resumes what was stopped."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import hopsim
from hopsim.document.experiment import Experiment as Source
from hopsim.errors import SweepError
from hopsim.files import toml
from hopsim.results.result import Result
from hopsim.runs.sweeps import sweep
from hopsim_reproduce.model import Experiment, Results

EXAMPLES = Path(hopsim.__file__).parent / "experiments"
"""Where the traces of programs are."""


def run(experiments: Sequence[Experiment], directory: Path, workers: int | None) -> Results:
    """Results by experiment name; each experiment has its own results directory below `directory`."""
    return {
        experiment.name: _run(experiment, directory / f"{experiment.name}-{experiment.seeds}-seeds", workers)
        for experiment in experiments
    }


def source(experiment: Experiment) -> Source:
    """The document of an experiment, which may name files of the shipped examples."""
    return Source(toml.document(experiment.sweep()), experiment.name, directory=EXAMPLES)


def _run(experiment: Experiment, directory: Path, workers: int | None) -> Sequence[Result]:
    try:
        return sweep(source(experiment), out=directory, workers=workers)
    except SweepError as error:
        if experiment.may_deadlock and all("deadlock" in text for text in error.failures.values()):
            return error.results
        raise
