"""Arguments and options that several sub-commands take."""

from __future__ import annotations

import click

from hopsim.experiment import Experiment

experiment = click.argument("experiment", metavar="FILE")
assignments = click.option(
    "--set",
    "assignments",
    multiple=True,
    metavar="path=value",
    help="Replace a value of the document, such as load=0.4 or measure.seed=2. May be repeated.",
)


def document(name: str, assignments: tuple[str, ...]) -> Experiment:
    """What FILE and `--set` say; `-` is standard input."""
    document = Experiment.from_standard_input() if name == "-" else Experiment.open(name)
    return document.setting(assignments)
