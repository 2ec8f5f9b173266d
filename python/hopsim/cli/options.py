"""Arguments and options that several sub-commands take."""

from __future__ import annotations

import click

experiment = click.argument("experiment", metavar="FILE")
assignments = click.option(
    "--set",
    "assignments",
    multiple=True,
    metavar="path=value",
    help="Replace a value of the document, such as load=0.4 or measure.seed=2. May be repeated.",
)
