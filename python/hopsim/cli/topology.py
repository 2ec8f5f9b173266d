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
from hopsim.files import atomic, graph_file

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
    mean distance that of all ordered pairs of different routers, whether they have nodes or not, that reach
    each other (routers of different planes do not, as adapters forward nothing). Links and
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
    """Write the links of the network of FILE as a list that topology.graph.file reads.

    It has a link per line, and what else belongs into the document in comments before; in a file whose name
    ends in .graphml it is GraphML, with that as attributes of the graph. A graph, and a topology that is one
    (slim_fly, polarfly, jellyfish, xpander, oft, xgft), gives the same results when it is read again, apart
    from oft and xgft with valiant and ugal, whose detours need fewer virtual channels. Of other networks the
    routers and links are the same, but a graph has its own ports, paths and virtual channels, and links of
    one class: so local and global links have their latencies in the list, and links of planes and rails
    their latencies and paces. The routers of a graph all forward packets, and adapters of planes do not: as
    long as no link fails no shortest path leads through one.
    """
    config = _one_network(_points(experiment, assignments))
    if out is None:
        click.echo("".join(_text(config)), nl=False)
        return
    content = _graphml(config) if out.suffix == ".graphml" else "".join(_text(config)).encode()
    try:
        atomic.write(out, lambda file: file.write(content))
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


def _text(config: Mapping[str, Any]) -> Iterator[str]:
    """The lines of a list of links."""
    ((name, _),) = config["topology"].items()
    found = json.loads(_core.topology_info(json.dumps(config)))
    yield f"# {name}: {found['routers']} routers, {found['links']} links. A document reads it by\n"
    yield "# [topology.graph]\n"
    yield '# file = "this file"\n'
    yield from (f"# {key} = {value}\n" for key, value in _settings(config, found).items())
    for one, other, attributes in _edges(config, found):
        yield " ".join(map(str, (one, other, *attributes.values()))) + "\n"


def _graphml(config: Mapping[str, Any]) -> bytes:
    found = json.loads(_core.topology_info(json.dumps(config)))
    return graph_file.as_graphml(found["routers"], _edges(config, found), _settings(config, found))


def _settings(config: Mapping[str, Any], found: Mapping[str, Any]) -> dict[str, str]:
    """What a document says of a graph besides its links: nodes of routers, and which paths packets take."""
    ((name, keys),) = config["topology"].items()
    settings: dict[str, str] = {}
    if name == "graph" and keys.get("nodes"):
        settings["nodes"] = str(keys["nodes"])
    else:
        settings["nodes_per_router"] = str(found["nodes"] // found["routers_with_nodes"])
        if found["routers_with_nodes"] != found["routers"]:
            settings["routers_with_nodes"] = str(found["routers_with_nodes"])
    if "ties" in keys:
        settings["ties"] = f'"{keys["ties"]}"'
    return settings


def _edges(
    config: Mapping[str, Any], found: Mapping[str, Any]
) -> Iterator[tuple[int, int, Mapping[str, int]]]:
    """The links: their two routers, and their latencies and paces if they have some of their own."""
    ((name, keys),) = config["topology"].items()
    if name == "graph":
        for edge in keys["edges"]:
            own = {"latency": edge.get("latency"), "cycles_per_phit": edge.get("cycles_per_phit", 1)}
            if own["cycles_per_phit"] == 1:
                del own["cycles_per_phit"]
            yield *edge["between"], {} if own["latency"] is None else own
        return
    latencies: dict[str, Any] = config.get("links", {}) if len(found["links_by_class"]) > 1 else {}
    slow = {"cycles_per_phit": keys["cycles_per_phit"]} if keys.get("cycles_per_phit", 1) > 1 else {}
    for one, other, kind in _core.topology_links(json.dumps(config)):
        yield one, other, {"latency": latencies[kind]["latency"], **slow} if kind in latencies else {}
