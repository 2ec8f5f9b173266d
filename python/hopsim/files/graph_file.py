"""Graphs in files: GraphML, what `ibnetdiscover` prints, or text with a link per line.

They are read as the lists `topology.graph.edges` and, of `ibnetdiscover`, `topology.graph.nodes`.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import ParseError, fromstring

from hopsim.errors import ConfigError
from hopsim.files import fabric_file, reading

# Greatest values of the attributes of a link, in the order in which a text has them.
ATTRIBUTES = {"latency": 60_000, "cycles_per_phit": 64}

NUMBER = "number"
"""Attribute of the edges of GraphML by which links are in order, if all have it."""

KIND = "GraphML, what ibnetdiscover prints, or a text with a link per line"


@dataclass(frozen=True)
class Link:
    """A link of a file.

    Attributes:
        place: where it stands, for messages.
        ends: the names of its routers.
        attributes: those it has, as written.
    """

    place: str
    ends: tuple[str, str]
    attributes: dict[str, Any]


# networkx is imported where it is used: it takes as long to import as all the rest, for few experiments.


def network(path: Path) -> dict[str, Any]:
    """The network in a file: its links, routers numbered, and its nodes if it names them.

    Raises `ConfigError`.
    """
    try:
        if path.suffix == ".graphml":
            return {"edges": _edges(*_graphml(path))}
        text = reading.text_of(path, KIND)
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {error.strerror or error}") from None
    if not fabric_file.is_fabric(text):
        return {"edges": _edges(*_text(text))}
    fabric = fabric_file.read(text)
    links = [(one.device, other.device) for one, other in fabric.edges]
    _check_connected([switch.name for switch in fabric.switches], links)
    edges = [{"between": list(ends)} for ends in fabric.numbered()]
    return {"edges": edges, "nodes": fabric.nodes_of_switches()}


def _edges(names: list[str], found: list[Link]) -> list[dict[str, Any]]:
    if not found:
        raise ConfigError("holds no links; valid: at least one")
    numbers = _numbered(names)
    edges = [_edge(link, numbers) for link in found]
    _check_connected(names, [link.ends for link in found])
    return edges


def _edge(link: Link, numbers: dict[str, int]) -> dict[str, Any]:
    one, other = link.ends
    if one == other:
        raise ConfigError(f"{link.place}: router {one} is linked with itself; valid: two different routers")
    values = {key: _whole(link, key, value) for key, value in link.attributes.items()}
    return {"between": [numbers[one], numbers[other]], **values}


def _whole(link: Link, key: str, value: Any) -> int:
    """The value of an attribute; GraphML may have it as a decimal number."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = 0.0
    if not (number.is_integer() and 1 <= number <= ATTRIBUTES[key]):
        raise ConfigError(f"{link.place}: {key} = {value}; valid: 1 … {ATTRIBUTES[key]}")
    return int(number)


def _numbered(names: Iterable[str]) -> dict[str, int]:
    """Numbers of the routers: names that are all numbers in their order, others as they first appear."""
    ordered = list(dict.fromkeys(names))
    if all(name.isdecimal() and len(name) <= reading.MOST_DIGITS for name in ordered):
        ordered.sort(key=int)
    return {name: number for number, name in enumerate(ordered)}


def _text(text: str) -> tuple[list[str], list[Link]]:
    found = list(_lines(text))
    return [name for link in found for name in link.ends], found


def _lines(text: str) -> Iterator[Link]:
    for number, line in enumerate(text.splitlines(), 1):
        match line.partition("#")[0].split():
            case []:
                continue
            case [one, other, *values] if len(values) <= len(ATTRIBUTES):
                yield Link(f"line {number}", (one, other), dict(zip(ATTRIBUTES, values, strict=False)))
            case fields:
                valid = f"router router [{' ['.join(ATTRIBUTES)}{']' * len(ATTRIBUTES)}"
                raise ConfigError(f"line {number}: {' '.join(fields)!r} is not a link; valid: {valid}")


def _graphml(path: Path) -> tuple[list[str], list[Link]]:
    import networkx

    with path.open("rb") as file:
        content = reading.read_bytes(file, KIND)
    try:
        with warnings.catch_warnings(action="ignore"):
            graph = networkx.read_graphml(BytesIO(content), force_multigraph=True)
    except (networkx.NetworkXError, ParseError, ValueError, LookupError, AttributeError, TypeError) as error:
        raise ConfigError(f"is not GraphML: {error}; valid: one graph with its nodes and edges") from None
    if graph.is_directed():
        raise ConfigError('its edges are directed, and links go both ways; valid: edgedefault="undirected"')
    rows: list[tuple[str, str, dict[str, Any]]] = list(graph.edges(data=True))
    if all(isinstance(data.get(NUMBER), int | float) for _, _, data in rows):
        rows.sort(key=lambda row: row[2][NUMBER])
    found = [
        Link(f"the link between {one} and {other}", (one, other), _known(data)) for one, other, data in rows
    ]
    _check_whole(content, len(found))
    return list(graph.nodes), found


def as_graphml(
    routers: int, edges: Iterable[tuple[int, int, Mapping[str, int]]], settings: Mapping[str, str]
) -> bytes:
    """A network in GraphML that reads back to the same links in the same order.

    `edges` have the attributes that hopsim knows; `settings` are for whoever reads the file.
    """
    import networkx

    graph: networkx.MultiGraph[int] = networkx.MultiGraph()
    graph.graph.update(settings)
    graph.add_nodes_from(range(routers))
    for number, (one, other, attributes) in enumerate(edges):
        graph.add_edge(one, other, **attributes, **{NUMBER: number})
    return "\n".join(networkx.generate_graphml(graph)).encode() + b"\n"


def _check_whole(content: bytes, read: int) -> None:
    """Refuse what the reader of GraphML makes up or leaves out: nodes that only edges name, and edges."""
    elements = [(element.tag.rpartition("}")[2], element) for element in fromstring(content).iter()]
    declared = {element.get("id") for tag, element in elements if tag == "node"} - {None}
    edges = [element for tag, element in elements if tag == "edge"]
    for edge in edges:
        ends = {key: edge.get(key) for key in ("source", "target")}
        for key, name in ends.items():
            if name not in declared:
                link = f"the link between {ends['source']} and {ends['target']}"
                raise ConfigError(
                    f"{link}: {key} = {name} is not a node of the file; valid: the id of a <node>"
                )
    if read != len(edges):
        raise ConfigError(
            f"has {len(edges)} edges, of which {read} can be read; valid: one graph, without graphs inside "
            "it, whose edges have an id each or none"
        )


def _known(data: dict[str, Any]) -> dict[str, Any]:
    """What hopsim knows of the attributes of an edge: a file may be made for other tools too."""
    return {key: data[key] for key in ATTRIBUTES if key in data}


def _check_connected(names: list[str], pairs: list[tuple[str, str]]) -> None:
    """Refuse a graph of several parts, in the words of the file."""
    import networkx

    graph = networkx.Graph(pairs)
    # Also routers without links; in the order of the file.
    routers = list(dict.fromkeys(names))
    graph.add_nodes_from(routers)
    reached = networkx.node_connected_component(graph, routers[0])
    unreached = [name for name in routers if name not in reached]
    if unreached:
        others = _listed([name for name in routers if name in reached])
        raise ConfigError(f"{_listed(unreached)} cannot reach {others}; valid: links that join all routers")


def _listed(names: list[str]) -> str:
    shown = ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
    return f"{'router' if len(names) == 1 else 'routers'} {shown}"
