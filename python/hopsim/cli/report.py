"""`hopsim report`: the results of a directory as one HTML file."""

from __future__ import annotations

import warnings
from pathlib import Path

import click

from hopsim.errors import HopsimWarning
from hopsim.results.store import REPORT, load


@click.command("report")
@click.argument("directory", metavar="DIR", type=click.Path(path_type=Path))
@click.option(
    "--out", type=click.Path(path_type=Path), metavar="FILE", help=f"The file; default DIR/{REPORT}."
)
def command(directory: Path, out: Path | None) -> None:
    """Write the results in DIR as one HTML file that needs nothing else, also of a run that is not complete.

    It has the main metrics of all points, curves over load, and, as far as they were recorded, the network
    with the load of its links (streams `links`, `link_series`) and what the ranks of programs do (stream
    `operations`); and the document, to run it again.
    """
    from hopsim.report import write

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", HopsimWarning)
        results = load(directory)
    texts = [str(warning.message) for warning in caught]
    for text in texts:
        warnings.warn(text, HopsimWarning, stacklevel=2)
    click.echo(write(results, out or directory / REPORT, texts))
