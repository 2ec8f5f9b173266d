"""The network of a document by itself: its numbers, its links, and a drawing of it."""

from __future__ import annotations

import base64
import html
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hopsim import _core
from hopsim.document.experiment import Experiment, Point, Source
from hopsim.errors import ConfigError
from hopsim.files import atomic, graph_file, infragraph_file
from hopsim.files.quantities import nanoseconds, size
from hopsim.runs.sweeps import document_of

if TYPE_CHECKING:
    import networkx as nx
    from matplotlib.figure import Figure

LOAD_IS_MISSING = "load: is missing"
"""Of the message that refuses a document because it states no load."""
MOST_SHOWN = 2_000
"""Most routers of a network that a notebook draws without being asked [routers]."""


class Topology:
    """The network of a document: routers, and the links between them.

    A notebook shows its numbers and, of up to 2,000 routers, a drawing.

    Attributes:
        config: the resolved configuration.
        info: the numbers of the network, as `hopsim topology info --json` prints them: `routers`, `nodes`,
            `links`, `diameter`, `mean_distance`, `bisection_upper_bound` [links] and others.
    """

    def __init__(self, config: Mapping[str, Any]) -> None:
        """`config` is a resolved configuration, whose topology has routers."""
        self.config = dict(config)
        self._text = json.dumps(config)
        self.info: dict[str, Any] = json.loads(_core.topology_info(self._text))

    @property
    def links(self) -> list[tuple[int, int, str]]:
        """The links between routers, each once: two routers and the class, such as `local`."""
        return _core.topology_links(self._text)

    def lines(self) -> Iterator[str]:
        """The numbers in sentences."""
        found = self.info
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

    def to_networkx(self) -> nx.MultiGraph[int]:
        """The routers and links as a graph of networkx; `kind` of an edge is the class of the link."""
        import networkx as nx

        graph: nx.MultiGraph[int] = nx.MultiGraph()
        graph.add_nodes_from(range(self.info["routers"]))
        graph.add_edges_from((one, other, {"kind": kind}) for one, other, kind in self.links)
        return graph

    def draw(self) -> Figure:
        """A drawing: routers, links by class, and nodes if there are not too many routers."""
        # Figures take as long to import as all the rest.
        from hopsim.report import drawing

        return drawing.draw(self.config["topology"], self.info, self.links)

    def text(self) -> str:
        """The links as a list that `topology.graph.file` reads, as `hopsim topology export` prints it."""
        return "".join(self._listed())

    def export(self, path: str | os.PathLike[str]) -> Path:
        """Write the links as `text` has them; as GraphML if the name ends in .graphml, and as a description
        of InfraGraph if it ends in .infragraph.json. Returns the path.

        Raises:
            ConfigError: the file cannot be written.
        """
        out = Path(path)
        if out.name.endswith(infragraph_file.EXTENSION):
            content = self._infragraph()
        else:
            content = self._graphml() if out.suffix == ".graphml" else self.text().encode()
        try:
            atomic.write(out, lambda file: file.write(content))
        except OSError as error:
            raise ConfigError(f"{out}: {error.strerror or error}") from None
        return out

    def __repr__(self) -> str:
        numbers = ", ".join(f"{self.info[key]:,} {key}" for key in ("routers", "nodes", "links"))
        return f"Topology({self.info['topology']}: {numbers}, diameter {self.info['diameter']})"

    def _repr_html_(self) -> str:
        text = "<br>".join(map(html.escape, self.lines()))
        if self.info["routers"] > MOST_SHOWN:
            return f"<p>{text}</p>"
        image = BytesIO()
        self.draw().savefig(image, format="png", dpi=60)
        data = base64.b64encode(image.getvalue()).decode()
        name = html.escape(self.info["topology"])
        return f'<p>{text}</p><img alt="Drawing of the network: {name}" src="data:image/png;base64,{data}">'

    def _listed(self) -> Iterator[str]:
        name, routers, links = (self.info[key] for key in ("topology", "routers", "links"))
        yield f"# {name}: {routers} routers, {links} links. A document reads it by\n"
        yield "# [topology.graph]\n"
        yield '# file = "this file"\n'
        yield from (f"# {key} = {value}\n" for key, value in self._settings().items())
        for one, other, attributes in self._edges():
            yield " ".join(map(str, (one, other, *attributes.values()))) + "\n"

    def _graphml(self) -> bytes:
        return graph_file.as_graphml(self.info["routers"], self._edges(), self._settings())

    def _infragraph(self) -> bytes:
        ((name, keys),) = self.config["topology"].items()
        with_nodes = self.info["routers_with_nodes"]
        nodes = keys.get("nodes") or [self.info["nodes"] // with_nodes] * with_nodes
        nodes = [*nodes, *[0] * (self.info["routers"] - len(nodes))]
        given, links = self.config.get("units"), self.config.get("links", {})
        units = None
        if given is not None:
            units = infragraph_file.Units(nanoseconds(given["cycle"]), size(given["phit"]))
        latencies = (links.get("injection", {}).get("latency", 1), links.get("network", {}).get("latency", 1))
        return infragraph_file.as_infragraph(name, nodes, self._edges(), latencies, units)

    def _settings(self) -> dict[str, str]:
        """What a document says of a graph besides its links: nodes of routers, and paths of packets."""
        ((name, keys),) = self.config["topology"].items()
        settings: dict[str, str] = {}
        if name == "graph" and keys.get("nodes"):
            settings["nodes"] = str(keys["nodes"])
        else:
            settings["nodes_per_router"] = str(self.info["nodes"] // self.info["routers_with_nodes"])
            if self.info["routers_with_nodes"] != self.info["routers"]:
                settings["routers_with_nodes"] = str(self.info["routers_with_nodes"])
        if "ties" in keys:
            settings["ties"] = f'"{keys["ties"]}"'
        return settings

    def _edges(self) -> Iterator[tuple[int, int, Mapping[str, int]]]:
        """The links: their two routers, and their latencies and paces if they have some of their own."""
        ((name, keys),) = self.config["topology"].items()
        if name == "graph":
            for edge in keys["edges"]:
                own = {"latency": edge.get("latency"), "cycles_per_phit": edge.get("cycles_per_phit", 1)}
                if own["cycles_per_phit"] == 1:
                    del own["cycles_per_phit"]
                yield *edge["between"], {} if own["latency"] is None else own
            return
        several = len(self.info["links_by_class"]) > 1
        latencies: dict[str, Any] = self.config.get("links", {}) if several else {}
        slow = {"cycles_per_phit": keys["cycles_per_phit"]} if keys.get("cycles_per_phit", 1) > 1 else {}
        for one, other, kind in self.links:
            yield one, other, {"latency": latencies[kind]["latency"], **slow} if kind in latencies else {}


def topology(experiment: Source, values: Mapping[str, Any] | None = None, **shorthand: Any) -> Topology:
    """The network of an experiment, which need not say of any traffic.

    Args:
        experiment: path of a TOML file, name of a preset, TOML text, or a dictionary.
        values: {dotted path: value} that replace values of the document.
        shorthand: the same for top-level keys, such as `topology={"slim_fly": {"q": 5}}`.

    Raises:
        ConfigError: bad input, a sweep over several networks, or an ideal one, which has no routers.
    """
    return topology_of(document_of(experiment, values, None, shorthand))


def topology_of(document: Experiment) -> Topology:
    """The network that all points of a document have. Raises `ConfigError`."""
    return Topology(_one_network(_points(document)))


def _points(document: Experiment) -> Sequence[Point]:
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
