"""`hopsim topology`: what the network of a document is like, and its links as a file."""

from __future__ import annotations

import json
from pathlib import Path

import click

from hopsim.cli import options
from hopsim.errors import ConfigError
from hopsim.runs.topologies import Topology, topology_of

FORMATS = (".png", ".pdf", ".svg")
"""How the names of figures end."""


@click.group("topology")
def command() -> None:
    """Say what the network of FILE is like, write its links, or draw it.

    FILE is a document, of which the topology is taken, or the name of a preset or example.
    """


@command.command("info", short_help="Count the routers and links of a network and measure its distances.")
@options.experiment
@options.assignments
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object instead, for programs.")
def info(experiment: str, assignments: tuple[str, ...], as_json: bool) -> None:
    """Count the routers and links of the network of FILE and measure its distances.

    The diameter is the number of links between the two routers that are farthest from each other, and the
    mean distance that of all ordered pairs of different routers, whether they have nodes or not, that reach
    each other (routers of different planes do not, as adapters forward nothing). Links and
    degrees are those between routers: links to nodes do not count. Of the bisection, the least number of
    links between two halves of the nodes, the best cut that is found is an upper bound.

    With --json the keys are routers, nodes, diameter, mean_distance, degree_min, degree_max, links, and with
    them topology, routers_with_nodes, groups, links_by_class, diameter_with_nodes and bisection_upper_bound.
    A sweep over several topologies needs --set, by which one is chosen.
    """
    network = _network(experiment, assignments)
    if as_json:
        click.echo(json.dumps(network.info))
        return
    for line in network.lines():
        click.echo(line)


@command.command("export", short_help="Write the links of a network as a list that topology.graph reads.")
@options.experiment
@options.assignments
@click.option(
    "--out", type=click.Path(path_type=Path), metavar="FILE", help="Where to; default standard output."
)
def export(experiment: str, assignments: tuple[str, ...], out: Path | None) -> None:
    """Write the links of the network of FILE as a list that topology.graph.file reads.

    It has a link per line, and what else belongs into the document in comments before; in a file whose name
    ends in .graphml it is GraphML, with that as attributes of the graph. If the name ends in .infragraph.json
    it is a description of InfraGraph, which hopsim convert infragraph reads.

    A graph, and a topology that is one (slim_fly, polarfly, jellyfish, xpander, oft, xgft), gives the same
    results when its list or GraphML is read again, apart from oft and xgft with valiant and ugal, whose
    detours need fewer virtual channels. Of other networks the routers and links are the same, but a graph has
    its own ports, paths and virtual channels, and links of one class: so local and global links have their
    latencies in the list, and links of planes and rails their latencies and paces. The routers of a graph all
    forward packets, and adapters of planes do not: as long as no link fails no shortest path leads through
    one.
    """
    network = _network(experiment, assignments)
    if out is None:
        click.echo(network.text(), nl=False)
        return
    try:
        network.export(out)
    except ConfigError as error:
        raise ConfigError(f"--out {error}") from None


@command.command("draw", short_help="Draw a network.")
@options.experiment
@options.assignments
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="FILE",
    default="topology.png",
    show_default=True,
    help="Where to; the name ends in .png, .pdf or .svg.",
)
def draw(experiment: str, assignments: tuple[str, ...], out: Path) -> None:
    """Draw the network of FILE: its routers, links by class, and nodes if there are not too many routers.

    Groups of a dragonfly are circles, meshes and tori grids, trees and networks in which some routers have
    no nodes levels; any other network is laid out by its links, or where it has more than 400 routers as a
    circle.
    """
    if out.suffix not in FORMATS:
        valid = f"a name that ends in {', '.join(FORMATS[:-1])} or {FORMATS[-1]}"
        raise ConfigError(f"--out {out}: is no kind of figure; valid: {valid}")
    network = _network(experiment, assignments)
    # Figures take as long to import as all the rest.
    from hopsim.plot import style

    figure = network.draw()
    try:
        click.echo(style.save(figure, out))
    except OSError as error:
        raise ConfigError(f"--out {out}: {error.strerror or error}") from None


def _network(experiment: str, assignments: tuple[str, ...]) -> Topology:
    return topology_of(options.document(experiment, assignments))
