"""A point of a results directory that a sub-command is about."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import click

from hopsim.errors import ConfigError, NotRecordedError
from hopsim.results.result import Result, Results
from hopsim.results.store import load

option = click.option(
    "--point", type=click.IntRange(0), metavar="N", help="The point; may be left out if there is one only."
)


def chosen(
    directory: Path, point: int | None, refuse: Callable[[Result], None] = lambda _: None
) -> tuple[Results, int]:
    """The results in a directory, and the number of the point that is asked for.

    Where nobody says which point, `refuse` raises what is wrong with each of them, as no choice would help.
    Raises `ConfigError`.
    """
    results = load(directory)
    if not len(results):
        raise ConfigError(f"{directory}: no point has finished; run the experiment first")
    total = results.origin.total if results.origin else len(results)
    if point is None and total > 1:
        _refuse_if_all_are(results, refuse)
        missing = "" if len(results) == total else f", {len(results)} of {total} have finished"
        raise ConfigError(
            f"{directory} has several points{missing}; valid: --point with one of these\n{results.listed}"
        )
    return results, results.points[0] if point is None else point


def _refuse_if_all_are(results: Results, refuse: Callable[[Result], None]) -> None:
    refused: NotRecordedError | None = None
    for result in results:
        try:
            refuse(result)
        except NotRecordedError as error:
            refused = refused or error
        else:
            return
    if refused is not None:
        raise refused
