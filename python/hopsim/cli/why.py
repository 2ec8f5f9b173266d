"""`hopsim why`: where it hurts, and why."""

from __future__ import annotations

from pathlib import Path

import click

from hopsim.errors import ConfigError
from hopsim.results import Results
from hopsim.store import load


@click.command("why", short_help="Say where packets wait, because of which link, and who suffers.")
@click.argument("directory", metavar="DIR", type=click.Path(path_type=Path))
@click.option(
    "--point", type=click.IntRange(0), metavar="N", help="The point; may be left out if there is one only."
)
def command(directory: Path, point: int | None) -> None:
    """Say in ten lines why a point of the results in DIR is as slow as it is.

    Which links are the bottleneck, since when, what stands still behind them, who are victims, standing in
    the way of others without using the bottleneck, and how much all that costs. It needs the streams
    link_series and congestion_trees.
    """
    results = load(directory)
    if not len(results):
        raise ConfigError(f"{directory}: no point has finished; run the experiment first")
    if point is None and len(results) > 1:
        raise ConfigError(
            f"{directory} has several points; valid: --point with one of these\n{_points(results)}"
        )
    for line in results.why(results.points[0] if point is None else point):
        click.echo(line)


def _points(results: Results) -> str:
    """A line for each point."""
    rows = zip(results.points, results, strict=True)
    return "\n".join(
        f"  {point}: {', '.join(f'{path} = {value}' for path, value in result.axes.items())}"
        for point, result in rows
    )
