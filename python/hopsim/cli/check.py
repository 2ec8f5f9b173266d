"""`hopsim check`: validate a file without running it."""

from __future__ import annotations

import click

from hopsim import _core
from hopsim.cli import options
from hopsim.experiment import Experiment


@click.command("check", short_help="Validate FILE without running it.")
@options.experiment
@options.assignments
def command(experiment: str, assignments: tuple[str, ...]) -> None:
    """Validate FILE without running it: every point of its sweep, the network, the routing."""
    points = Experiment.open(experiment).setting(assignments).points()
    sizes = sorted({_core.size(point.config) for point in points})
    click.echo(f"points: {len(points)}")
    for nodes, routers in sizes:
        click.echo(f"network: {nodes:,} nodes, {routers:,} routers")
    click.echo("OK")
