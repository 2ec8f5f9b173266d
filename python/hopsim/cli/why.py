"""`hopsim why`: where it hurts, and why."""

from __future__ import annotations

from pathlib import Path

import click

from hopsim.cli.point import chosen, option
from hopsim.insight.why import refuse_unrecorded


@click.command("why")
@click.argument("directory", metavar="DIR", type=click.Path(path_type=Path))
@option
def command(directory: Path, point: int | None) -> None:
    """Say in ten lines why a point of the results in DIR is as slow as it is.

    Which links are the bottleneck, since when, what stands still behind them, who are victims, standing in
    the way of others without using the bottleneck, and how much all that costs. It needs the streams
    link_series and congestion_trees; of a fabric it needs victims, and names the outputs at which
    congestion begins and the flows that it holds up, with queue_series also what waits there. Where links of
    a fabric fail it says what is lost, and from when to when nodes have no way to each other.
    """
    results, number = chosen(directory, point, refuse_unrecorded)
    for line in results.why(number):
        click.echo(line)
