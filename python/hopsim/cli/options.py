"""Arguments and options that several sub-commands take."""

from __future__ import annotations

from typing import Any

import click

from hopsim.document.experiment import Experiment
from hopsim.suggestion import suggestion

experiment = click.argument("experiment", metavar="FILE")
assignments = click.option(
    "--set",
    "assignments",
    multiple=True,
    metavar="path=value",
    help="Replace a value of the document, such as load=0.4 or measure.seed=2. May be repeated.",
)
phit = click.option(
    "--phit",
    type=click.IntRange(min=1),
    metavar="BYTES",
    help="Bytes of a phit, for the packets of a netrace; default 8, of which they have 1 or 9.",
)


class Named(click.Choice[str]):
    """One of some names; one that is not among them is answered with what was perhaps meant."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The name as it is written among them."""
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter as error:
            hint = suggestion(str(value), self.choices)
            self.fail(f"{error.message.removesuffix('.')}{hint or '.'}", param, ctx)


def document(name: str, assignments: tuple[str, ...]) -> Experiment:
    """What FILE and `--set` say; `-` is standard input."""
    document = Experiment.from_standard_input() if name == "-" else Experiment.open(name)
    return document.setting(assignments)
