"""A point of a results directory that a sub-command is about."""

from __future__ import annotations

from pathlib import Path

import click

from hopsim.errors import ConfigError
from hopsim.results import Results
from hopsim.store import load

option = click.option(
    "--point", type=click.IntRange(0), metavar="N", help="The point; may be left out if there is one only."
)


def chosen(directory: Path, point: int | None) -> tuple[Results, int]:
    """The results in a directory, and the number of the point that is asked for. Raises `ConfigError`."""
    results = load(directory)
    if not len(results):
        raise ConfigError(f"{directory}: no point has finished; run the experiment first")
    total = results.origin.total if results.origin else len(results)
    if point is None and total > 1:
        missing = "" if len(results) == total else f", {len(results)} of {total} have finished"
        raise ConfigError(
            f"{directory} has several points{missing}; valid: --point with one of these\n{results.listed}"
        )
    return results, results.points[0] if point is None else point
