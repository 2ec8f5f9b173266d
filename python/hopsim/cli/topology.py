"""`hopsim topology`: what the network of a document is like, and its links as a file."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from hopsim import _core
from hopsim.cli import options
from hopsim.document.experiment import Point
from hopsim.errors import ConfigError
from hopsim.files import atomic

LOAD_IS_MISSING = "load: is missing"
"""Of the message that refuses a document because it states no load."""
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
    mean distance that of all ordered pairs of different routers, whether they have nodes or not. Links and
    degrees are those between routers: links to nodes do not count. Of the bisection, the least number of
    links between two halves of the nodes, the best cut that is found is an upper bound.

    With --json the keys are routers, nodes, diameter, mean_distance, degree_min, degree_max, links, and with
    them topology, routers_with_nodes, groups, links_by_class, diameter_with_nodes and bisection_upper_bound.
    A sweep over several topologies needs --set, by which one is chosen.
    """
    config = _one_network(_points(experiment, assignments))
    found = json.loads(_core.topology_info(json.dumps(config)))
    if as_json:
        click.echo(json.dumps(found))
        return
    for line in _lines(found):
        click.echo(line)


@command.command("export", short_help="Write the links of a network as a list that topology.graph reads.")
@options.experiment
@options.assignments
@click.option(
    "--out", type=click.Path(path_type=Path), metavar="FILE", help="Where to; default standard output."
)
def export(experiment: str, assignments: tuple[str, ...], out: Path | None) -> None:
    """Write the links of the network of FILE as a list, a link per line, that topology.graph.file reads.

    What else belongs into the document stands in comments before it. A graph, and a topology that is one
    (slim_fly, polarfly, jellyfish, xpander, xgft), gives the same results when it is read again, apart from
    xgft with valiant and ugal, whose detours need fewer virtual channels. Of other networks the routers and
    links are the same, but a graph has its own ports, paths and virtual channels, and links of one class: so
    local and global links have their latencies in the list.
    """
    config = _one_network(_points(experiment, assignments))
    text = "".join(f"{line}\n" for line in _exported(config))
    if out is None:
        click.echo(text, nl=False)
        return
    try:
        atomic.write(out, lambda file: file.write(text.encode()))
    except OSError as error:
        raise ConfigError(f"--out {out}: {error.strerror or error}") from None


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
    config = _one_network(_points(experiment, assignments))
    text = json.dumps(config)
    # Figures take as long to import as all the rest.
    from hopsim.plot import style
    from hopsim.report import drawing

    found = json.loads(_core.topology_info(text))
    figure = drawing.draw(config["topology"], found, _core.topology_links(text))
    try:
        click.echo(style.save(figure, out))
    except OSError as error:
        raise ConfigError(f"--out {out}: {error.strerror or error}") from None


def _points(experiment: str, assignments: tuple[str, ...]) -> Sequence[Point]:
    """The points of a document, which need not say of any traffic."""
    document = options.document(experiment, assignments)
    try:
        return document.points()
    except ConfigError as error:
        if LOAD_IS_MISSING not in str(error):
            raise
    return document.setting(("load=0",)).points()


def _one_network(points: Sequence[Point]) -> dict[str, Any]:
    """The configuration of the first point, whose network all points have."""
    networks: dict[str, dict[str, Any]] = {}
    for point in points:
        config = json.loads(point.config)
        key = json.dumps([config["topology"], config.get("links")], sort_keys=True)
        networks.setdefault(key, config)
    first, *others = networks.values()
    if "ideal" in first["topology"]:
        raise ConfigError("topology = ideal: it has no routers and no links; valid: another topology")
    if others:
        names = ", ".join(dict.fromkeys(next(iter(config["topology"])) for config in networks.values()))
        raise ConfigError(
            f"topology: the sweep has {len(networks)} networks ({names}); valid: one, which --set topology=… "
            "or another --set chooses"
        )
    return first


def _lines(found: Mapping[str, Any]) -> Iterator[str]:
    nodes, routers, with_nodes = (found[key] for key in ("nodes", "routers", "routers_with_nodes"))
    of = "" if with_nodes == routers else f" at {with_nodes:,} of them"
    groups = f" in {found['groups']:,} groups" if found["groups"] > 1 else ""
    yield f"{found['topology']}: {routers:,} routers{groups}, {nodes:,} nodes{of}"
    classes = ", ".join(f"{count:,} {name}" for name, count in found["links_by_class"].items())
    yield f"links between routers: {found['links']:,} ({classes})"
    least, most = found["degree_min"], found["degree_max"]
    yield f"links of a router: {least}" + ("" if least == most else f" to {most}")
    apart = found["diameter_with_nodes"]
    between = "" if apart == found["diameter"] else f", {apart} between routers with nodes"
    yield f"diameter: {found['diameter']} links{between}"
    yield f"mean distance: {found['mean_distance']:.4f} links"
    yield f"bisection: at most {found['bisection_upper_bound']:,} links, those of the best cut found"


def _exported(config: Mapping[str, Any]) -> Iterator[str]:
    ((name, keys),) = config["topology"].items()
    found = json.loads(_core.topology_info(json.dumps(config)))
    yield f"# {name}: {found['routers']} routers, {found['links']} links. A document reads it by"
    yield "# [topology.graph]"
    yield '# file = "this file"'
    yield from (f"# {line}" for line in _nodes(name, keys, found))
    if "ties" in keys:
        yield f'# ties = "{keys["ties"]}"'
    if name == "graph":
        yield from map(_edge, keys["edges"])
        return
    classes = found["links_by_class"]
    latencies: dict[str, Any] = config.get("links", {}) if len(classes) > 1 else {}
    for one, other, kind in _core.topology_links(json.dumps(config)):
        yield f"{one} {other}" + (f" {latencies[kind]['latency']}" if kind in latencies else "")


def _nodes(name: str, keys: Mapping[str, Any], found: Mapping[str, Any]) -> Iterator[str]:
    """How many nodes the routers have, as the document says it."""
    if name == "graph" and keys.get("nodes"):
        yield f"nodes = {keys['nodes']}"
        return
    yield f"nodes_per_router = {found['nodes'] // found['routers_with_nodes']}"
    if found["routers_with_nodes"] != found["routers"]:
        yield f"routers_with_nodes = {found['routers_with_nodes']}"


def _edge(edge: Mapping[str, Any]) -> str:
    values: Sequence[Any] = edge["between"]
    pace = edge.get("cycles_per_phit", 1)
    if edge.get("latency") is not None:
        values = [*values, edge["latency"], *([pace] if pace != 1 else [])]
    return " ".join(map(str, values))
