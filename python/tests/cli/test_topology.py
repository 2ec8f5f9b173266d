"""`hopsim topology`: the numbers of a network, and its links as a list that gives the same network again."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from click.testing import CliRunner
from matplotlib.collections import LineCollection

import hopsim as hs
from hopsim import _core
from hopsim.cli import cli
from hopsim.document.experiment import Experiment
from hopsim.errors import ConfigError
from hopsim.files import toml
from hopsim.report import drawing
from hopsim.vocabulary.catalogue import Catalogue

TRAFFIC = {
    "load": 0.3,
    "measure": {"warmup": 200, "cycles": 600, "batches": 1},
}

EXAMPLES: list[dict[str, Any]] = [
    {node.name: example}
    for node in Catalogue().choices("topology")
    for example in node.schema.get("examples", [])
]
"""Small networks of every family of graphs."""

DRAGONFLY_PLUS = {"dragonfly_plus": {"leaves": 3, "spines": 2}}


def _named(topology: dict[str, Any]) -> str:
    return next(iter(topology))


def document(topology: dict[str, Any], **more: Any) -> str:
    return toml.document({**TRAFFIC, "topology": topology, **more})


def command(*arguments: str, text: str) -> str:
    done = CliRunner().invoke(cli, ["topology", *arguments[:1], "-", *arguments[1:]], input=text)
    if done.exception is not None:
        raise done.exception
    return done.output


def refused(*arguments: str, text: str) -> str:
    with pytest.raises(ConfigError) as error:
        command(*arguments, text=text)
    return str(error.value)


def info(topology: dict[str, Any], **more: Any) -> dict[str, Any]:
    return json.loads(command("info", "--json", text=document(topology, **more)))


def graph(topology: dict[str, Any]) -> nx.MultiGraph[int]:
    """The network as it is exported."""
    exported = command("export", text=document(topology))
    lines = [line.split() for line in exported.splitlines() if not line.startswith("#")]
    graph: nx.MultiGraph[int] = nx.MultiGraph()
    graph.add_edges_from((int(one), int(other)) for one, other, *_ in lines)
    return graph


@pytest.mark.parametrize(
    "topology",
    [
        *EXAMPLES,
        DRAGONFLY_PLUS,
        {"dragonfly": {"p": 2, "a": 4, "h": 2, "groups": 5}},
        {"torus": {"sides": [4, 3]}},
        {"fat_tree": {"k": 3, "levels": 2}},
        {"graph": {"edges": [{"between": [0, 1]}, {"between": [1, 0]}, {"between": [1, 2]}]}},
    ],
    ids=_named,
)
def test_the_numbers_are_those_that_networkx_finds(topology: dict[str, Any]) -> None:
    found, network = info(topology), graph(topology)
    degrees = [degree for _, degree in network.degree()]
    simple = nx.Graph(network)
    assert found["topology"] == next(iter(topology))
    assert found["routers"] == network.number_of_nodes()
    assert found["links"] == network.number_of_edges() == sum(found["links_by_class"].values())
    assert (found["degree_min"], found["degree_max"]) == (min(degrees), max(degrees))
    distances = list(_distances(simple, found["routers_with_nodes"] if "planes" in topology else 0))
    assert found["diameter"] == max(distances)
    assert found["mean_distance"] == pytest.approx(sum(distances) / len(distances), rel=1e-12)


def test_the_keys_are_those_that_are_promised() -> None:
    found = info({"slim_fly": {"q": 19}})
    expected = {"routers": 722, "nodes": 10_830, "diameter": 2, "degree_min": 29, "degree_max": 29}
    assert expected.items() <= found.items()
    assert found["links"] == 10_469
    assert found["mean_distance"] == pytest.approx(1.959778086, abs=1e-9)


def test_a_slim_fly_of_five_is_the_graph_of_hoffman_and_singleton() -> None:
    network = nx.Graph(graph({"slim_fly": {"q": 5}}))
    assert nx.is_isomorphic(network, nx.hoffman_singleton_graph())
    assert nx.girth(network) == 5


def test_small_networks_are_known_graphs() -> None:
    # The points of the plane over two elements, without the loops of those that are orthogonal to themselves.
    polarity: list[tuple[int, int]] = [
        *((0, 1), (1, 2), (2, 0)),
        *((0, 3), (1, 4), (2, 5)),
        *((3, 6), (4, 6), (5, 6)),
    ]
    known: list[tuple[dict[str, Any], Any]] = [
        ({"polarfly": {"q": 2}}, nx.Graph(polarity)),
        ({"xgft": {"children": [4, 4], "parents": [1, 4]}}, nx.complete_bipartite_graph(4, 4)),
        ({"xgft": {"children": [1, 2, 2], "parents": [1, 1, 1]}}, nx.balanced_tree(2, 2)),
        ({"jellyfish": {"routers": 7, "degree": 6}}, nx.complete_graph(7)),
        ({"xpander": {"routers": 7, "degree": 6}}, nx.complete_graph(7)),
    ]
    for topology, expected in known:
        assert nx.is_isomorphic(nx.Graph(graph(topology)), expected), topology
    # The points and lines of the plane of order 2, without the second column.
    plane = graph({"oft": {"q": 2}})
    plane.remove_nodes_from(range(7, 14))
    assert nx.is_isomorphic(nx.Graph(plane), nx.heawood_graph())
    # What a network of more than half of all links leaves out is regular, too.
    left_out = nx.complement(nx.Graph(graph({"jellyfish": {"routers": 7, "degree": 4}})))
    assert {degree for _, degree in left_out.degree()} == {2}


@pytest.mark.parametrize("name", ["jellyfish", "xpander"])
def test_random_networks_expand(name: str) -> None:
    """The second eigenvalue is close to 2 sqrt(d - 1), which Alon and Boppana show to be about the least."""
    for routers, degree in [(120, 5), (180, 8), (340, 16)]:
        topology = {name: {"routers": routers - routers % (degree + 1), "degree": degree}}
        values = np.sort(np.abs(np.linalg.eigvalsh(nx.to_numpy_array(nx.Graph(graph(topology))))))
        assert values[-1] == pytest.approx(degree)
        assert values[-2] < 1.12 * 2 * math.sqrt(degree - 1)


def _distances(network: Any, adapters: int) -> Iterator[int]:
    """Links between all that reach each other, where the first so many routers forward nothing."""
    for one, other in itertools.permutations(network, 2):
        inside = network.subgraph(set(network) - set(range(adapters)) | {one, other})
        if nx.has_path(inside, one, other):
            yield nx.shortest_path_length(inside, one, other)


def test_every_family_has_examples() -> None:
    assert len({_named(example) for example in EXAMPLES}) >= 6


OF_ONE_CLASS = [example for example in EXAMPLES if not {"dragonfly_plus", "product", "planes"} & {*example}]


@pytest.mark.parametrize("topology", OF_ONE_CLASS, ids=_named)
@pytest.mark.parametrize("routing", ["minimal", "ugal"])
def test_exported_links_give_the_same_results(topology: dict[str, Any], routing: str, tmp_path: Path) -> None:
    more: dict[str, Any] = {"routing": routing, "links": {"network": {"latency": 3}}}
    text = document(topology, **more)
    (point,) = Experiment.of(text).points()
    if routing == "ugal" and json.loads(point.config)["router"]["cioq"]["vcs"]["network"] == 2:
        pytest.skip("a graph does not know that its paths go up and down, and has a VC for every link")
    exported = command("export", text=text)
    (tmp_path / "this file").write_text(exported, "utf-8")
    said = [line.removeprefix("# ") for line in exported.splitlines() if line.startswith("# ")][1:]
    again = tmp_path / "again.toml"
    again.write_text("\n".join([toml.document({**TRAFFIC, **more}), *said]), "utf-8")
    first, second = hs.run(text), hs.run(again)
    assert first.summary["packets_delivered"] > 50
    assert first.summary == second.summary


def test_graphml_gives_the_links_in_their_order_with_what_belongs_to_them(tmp_path: Path) -> None:
    written = "4 1 5\n0 3 5\n3 1 7 2\n1 0 1\n0 3 9\n2 1 4\n2 1 4\n"
    (tmp_path / "links.txt").write_text(written, "utf-8")
    of_file = {"graph": {"file": "links.txt", "routers_with_nodes": 3, "ties": "first"}}
    first, out = tmp_path / "graph.toml", tmp_path / "out.graphml"
    first.write_text(document(of_file, links={"network": {"latency": 2}}), "utf-8")
    CliRunner().invoke(cli, ["topology", "export", str(first), "--out", str(out)], catch_exceptions=False)
    graph = nx.read_graphml(out, force_multigraph=True)
    assert graph.graph == {"nodes_per_router": "1", "routers_with_nodes": "3", "ties": '"first"'} | {
        name: value for name, value in graph.graph.items() if name.endswith("_default")
    }
    again = tmp_path / "again.toml"
    of_graphml = {"graph": {"file": "out.graphml", "routers_with_nodes": 3, "ties": "first"}}
    again.write_text(document(of_graphml, links={"network": {"latency": 2}}), "utf-8")
    before, after = (
        json.loads(Experiment.of(path).points()[0].config)["topology"]["graph"] for path in (first, again)
    )
    for network in (before, after):
        for edge in network["edges"]:
            edge["between"].sort()
    assert before["edges"] == after["edges"]
    assert hs.run(first).summary == hs.run(again).summary


def test_links_of_two_classes_have_their_latencies_in_the_list() -> None:
    links = {"local": {"latency": 4}, "global": {"latency": 30}}
    exported = command("export", text=document(DRAGONFLY_PLUS, links=links))
    latencies = [int(line.split()[2]) for line in exported.splitlines() if not line.startswith("#")]
    # 7 groups of 3 leaves and 2 spines, 21 pairs of groups.
    assert latencies == [4] * 42 + [30] * 21
    assert "# nodes_per_router = 2\n# routers_with_nodes = 21\n" in exported


def test_planes_have_the_latencies_and_paces_of_their_classes_in_the_list() -> None:
    planes = {"planes": {"count": 2, "of": {"mesh": {"sides": [3]}}, "cycles_per_phit": 4}}
    links = {"network": {"latency": 9}, "rail": {"latency": 2}}
    exported = command("export", text=document(planes, links=links))
    found = [line for line in exported.splitlines() if not line.startswith("#")]
    assert found == ["3 4 9 4", "4 5 9 4", "6 7 9 4", "7 8 9 4"] + [
        f"{adapter} {3 + 3 * plane + adapter} 2 4" for adapter in range(3) for plane in range(2)
    ]
    assert "# nodes_per_router = 1\n# routers_with_nodes = 3\n" in exported
    # Nobody goes from one plane to the other.
    assert info(planes)["diameter"] == info(planes)["diameter_with_nodes"] == 4


def test_a_graph_is_exported_as_it_is_written(tmp_path: Path) -> None:
    written = "0 3 5\n3 1 7 2\n1 0 1\n0 3 9\n2 1 4\n"
    (tmp_path / "links.txt").write_text(written, "utf-8")
    path = tmp_path / "graph.toml"
    path.write_text(document({"graph": {"file": "links.txt", "routers_with_nodes": 3}}), "utf-8")
    out = tmp_path / "out.txt"
    CliRunner().invoke(cli, ["topology", "export", str(path), "--out", str(out)], catch_exceptions=False)
    exported = out.read_text("utf-8")
    assert exported.endswith(written)
    assert "# nodes_per_router = 1\n# routers_with_nodes = 3\n" in exported


def test_people_are_told_in_sentences() -> None:
    said, found = command("info", text=document(DRAGONFLY_PLUS)), info(DRAGONFLY_PLUS)
    assert said.splitlines() == [
        "dragonfly_plus: 35 routers in 7 groups, 42 nodes at 21 of them",
        "links between routers: 63 (42 local, 21 global)",
        "links of a router: 2 to 6",
        "diameter: 4 links, 3 between routers with nodes",
        f"mean distance: {found['mean_distance']:.4f} links",
        f"bisection: at most {found['bisection_upper_bound']} links, those of the best cut found",
    ]


def test_what_has_no_one_network_is_refused() -> None:
    sweep = {"sweep": {"product": {"topology": [{"polarfly": {"q": 2}}, {"polarfly": {"q": 3}}]}}}
    text = toml.document({**TRAFFIC, **sweep})
    assert refused("info", "--json", text=text) == (
        "topology: the sweep has 2 networks (polarfly); valid: one, which --set topology=… or another --set "
        "chooses"
    )
    assert json.loads(
        command("info", "--json", "--set", "sweep={}", "--set", "topology={polarfly={q=3}}", text=text)
    )
    ideal = toml.document(
        {
            "topology": {"ideal": {"nodes": 4, "latency": 5}},
            "jobs": [{"program": {"collective": {"kind": "barrier"}}}],
            "units": {"cycle": "1 ns", "phit": "4 B"},
        }
    )
    assert refused("info", text=ideal).startswith("topology = ideal: it has no routers")
    assert "topology.slim_fly.q = 6" in refused("info", text=document({"slim_fly": {"q": 6}}))


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    out = tmp_path / "missing" / "links.txt"
    assert refused("export", "--out", str(out), text=document(DRAGONFLY_PLUS)) == (
        f"--out {out}: No such file or directory"
    )


def test_a_document_need_not_say_of_any_traffic() -> None:
    text = toml.document({"topology": {"polarfly": {"q": 3}}})
    assert json.loads(command("info", "--json", text=text))["routers"] == 13
    assert len(command("export", text=text).splitlines()) > 24


def test_links_out_of_order_are_not_counted_and_not_exported() -> None:
    topology = {"slim_fly": {"q": 4, "nodes_per_router": 2}}
    whole = info(topology)
    first = list(next(iter(graph(topology).edges))[:2])
    less = info(topology, faults=[{"links": {"between": [first], "fraction": 0.1}}])
    drawn = round(0.1 * whole["links"])
    assert less["links"] == whole["links"] - 1 - drawn
    assert less["mean_distance"] > whole["mean_distance"]
    text = document(topology, faults=[{"links": {"fraction": 0.1}}])
    exported = [line for line in command("export", text=text).splitlines() if not line.startswith("#")]
    assert len(exported) == whole["links"] - drawn


DRAWN: dict[str, dict[str, Any]] = {
    **{name: keys for example in EXAMPLES for name, keys in example.items()},
    "dragonfly": {"p": 1, "a": 4, "h": 2},
    "mesh": {"sides": [3, 4]},
    "torus": {"sides": [3, 4, 3]},
    "ring": {"routers": 5},
    "hyperx": {"sides": [3, 4]},
    "fat_tree": {"k": 2, "levels": 3},
}


@pytest.mark.parametrize("name", DRAWN)
def test_a_drawing_has_every_link_once_and_every_router_and_node(name: str) -> None:
    """Of links whose middle is left out both ends are drawn."""
    config = json.loads(Experiment.of({**TRAFFIC, "topology": {name: DRAWN[name]}}).points()[0].config)
    found = json.loads(_core.topology_info(json.dumps(config)))
    links = _core.topology_links(json.dumps(config))
    figure = drawing.draw(config["topology"], found, links)
    (ax,) = figure.axes
    lines = [collection for collection in ax.collections if isinstance(collection, LineCollection)]
    points = [
        len(np.asarray(collection.get_offsets())) for collection in ax.collections if collection not in lines
    ]
    assert points == [found["nodes"], found["routers"]]
    to_nodes, *between = [collection.get_segments() for collection in lines]
    assert len(to_nodes) == found["nodes"]
    segments = [segment for segments in between for segment in segments]
    short = [line for line in segments if len(line) == 2 and np.hypot(*(line[1] - line[0])) < 0.36]
    assert len(segments) - len(short) / 2 == found["links"] == len(links)
    assert (len(short) > 0) == (name == "torus")
    texts = [text.get_text() for text in figure.legends[0].get_texts()]
    assert sum(int(text.split()[0]) for text in texts) == found["links"]


def test_a_network_is_drawn_into_a_file_of_the_kind_that_its_name_says(tmp_path: Path) -> None:
    text = document({"ring": {"routers": 4}})
    for name, begins in {"a.png": b"\x89PNG", "b.pdf": b"%PDF", "c.svg": b"<?xml"}.items():
        assert command("draw", "--out", str(tmp_path / name), text=text) == f"{tmp_path / name}\n"
        assert (tmp_path / name).read_bytes().startswith(begins)
    assert refused("draw", "--out", "d.jpg", text=text) == (
        "--out d.jpg: is no kind of figure; valid: a name that ends in .png, .pdf or .svg"
    )
    assert "No such file" in refused("draw", "--out", str(tmp_path / "none" / "e.png"), text=text)
