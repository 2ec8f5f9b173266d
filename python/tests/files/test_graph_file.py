"""Graphs from files: what they say, what is refused, and that a document finds them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import hopsim as hs
from conftest import Command
from hopsim.document.experiment import Experiment
from hopsim.files import graph_file

DOCUMENT = """
load = 0.3
[topology.graph]
file = "net.txt"
[measure]
warmup = 100
cycles = 400
"""

GRAPHML = """<?xml version="1.0"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key id="d0" for="edge" attr.name="latency" attr.type="double"/>
  <key id="d1" for="edge" attr.name="cycles_per_phit" attr.type="int"/>
  <key id="d2" for="edge" attr.name="colour" attr.type="string"/>
  <graph edgedefault="undirected">
    <node id="z"/><node id="y"/><node id="x"/>
    <edge source="x" target="y"><data key="d0">4.0</data></edge>
    <edge source="z" target="y"><data key="d1">2</data><data key="d2">red</data></edge>
    <edge source="y" target="z"/>
  </graph>
</graphml>
"""

# What a file holds -> what is said about it.
REFUSED = {
    "": "holds no links; valid: at least one",
    "# only this\n\n": "holds no links",
    "a b\na\n": "line 2: 'a' is not a link; valid: router router [latency [cycles_per_phit]]",
    "a b 1 2 3": "line 1: 'a b 1 2 3' is not a link",
    "a b 1 65": "line 1: cycles_per_phit = 65; valid: 1 … 64",
    "a b fast": "line 1: latency = fast; valid: 1 … 60000",
    "a b 0": "line 1: latency = 0; valid: 1 … 60000",
    "a b 1.5": "line 1: latency = 1.5; valid: 1 … 60000",
    "a b\n\nb b # itself": "line 3: router b is linked with itself; valid: two different routers",
    "a b\nc d\nd e": "routers c, d, e cannot reach routers a, b; valid: links that join all routers",
    "a b\n" + "".join(f"c {i}\n" for i in range(9)): "routers c, 0, 1, 2, 3, 4, 5, 6 and 2 more cannot reach",
}

REFUSED_GRAPHML = {
    "<x>": "is not GraphML: ",
    GRAPHML.replace(
        "undirected", "directed"
    ): 'its edges are directed, and links go both ways; valid: edgedefault="undirected"',
    GRAPHML.replace("4.0", "4.5"): "the link between y and x: latency = 4.5; valid: 1 … 60000",
    GRAPHML.replace("<edge", '<node id="w"/><edge', 1): "router w cannot reach routers z, y, x",
    GRAPHML.replace(
        'source="x"', 'source="w"'
    ): "the link between w and y: source = w is not a node of the file; valid: the id of a <node>",
    GRAPHML.replace(
        'target="z"', ""
    ): "the link between y and None: target = None is not a node of the file; valid: the id of a <node>",
    GRAPHML.replace('<edge source="z"', '<edge id="1" source="z"').replace(
        '<edge source="y"', '<edge id="1" source="y"'
    ): "has 3 edges, of which 2 can be read; valid: one graph, without graphs inside it",
    GRAPHML.replace(
        "</graph>", '</graph><graph edgedefault="undirected"><edge source="x" target="z"/></graph>'
    ): "has 4 edges, of which 3 can be read",
}


def links(path: Path, text: str) -> list[tuple[int, int, dict[str, int]]]:
    path.write_text(text, "utf-8")
    return [(*edge.pop("between"), edge) for edge in graph_file.network(path)["edges"]]


def test_numbers_keep_their_order_and_other_names_are_numbered_as_they_appear(tmp_path: Path) -> None:
    assert links(tmp_path / "net.txt", "10 2\n2 7 3 # long\n") == [(2, 0, {}), (0, 1, {"latency": 3})]
    slow = {"latency": 1, "cycles_per_phit": 4}
    assert links(tmp_path / "net.txt", "b 10\n10 a 1 4\n") == [(0, 1, {}), (1, 2, slow)]


def test_graphml_keeps_parallel_links_and_the_order_of_its_nodes(tmp_path: Path) -> None:
    found = sorted(links(tmp_path / "net.graphml", GRAPHML), key=str)
    assert found == [(0, 1, {"cycles_per_phit": 2}), (0, 1, {}), (1, 2, {"latency": 4})]


@pytest.mark.parametrize("text", REFUSED)
def test_a_text_is_refused_with_line_and_reason(tmp_path: Path, text: str) -> None:
    with pytest.raises(hs.ConfigError) as refused:
        links(tmp_path / "net.txt", text)
    assert str(refused.value).startswith(REFUSED[text])


@pytest.mark.parametrize("text", REFUSED_GRAPHML)
def test_graphml_is_refused_with_link_and_reason(tmp_path: Path, text: str) -> None:
    with pytest.raises(hs.ConfigError) as refused:
        links(tmp_path / "net.graphml", text)
    assert str(refused.value).startswith(REFUSED_GRAPHML[text])


def test_a_file_is_found_beside_the_document_and_its_links_stand_in_the_configuration(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "net.txt").write_text("0 1\n1 2 5\n")
    (tmp_path / "mine" / "net.toml").write_text(DOCUMENT)
    (point,) = Experiment.open(tmp_path / "mine" / "net.toml").points()
    edges = [
        {"between": [0, 1], "latency": 1, "cycles_per_phit": 1},
        {"between": [1, 2], "latency": 5, "cycles_per_phit": 1},
    ]
    graph = {"edges": edges, "nodes_per_router": 1, "ties": "spread"}
    assert json.loads(point.config)["topology"] == {"graph": graph}


def test_a_sweep_may_go_over_files(hopsim: Command, tmp_path: Path) -> None:
    (tmp_path / "net.txt").write_text("0 1\n1 2\n2 0\n")
    (tmp_path / "net.toml").write_text(DOCUMENT)
    (tmp_path / "other.graphml").write_text(GRAPHML)
    swept = '"topology.graph.file"=["net.txt", "other.graphml"], "routing"=["minimal", "up_down"]'
    lines = hopsim(
        "run", "net.toml", "--json", "-", "--set", f"sweep.product={{{swept}}}"
    ).stdout.splitlines()
    hops = [json.loads(line)["result"]["hops_mean"] for line in lines]
    assert len(hops) == 4
    assert hops[0] == 1, "a triangle"
    assert hops[2] == hops[3] > 1, "a chain, where both routings are one"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "cannot read net.txt: No such file or directory"),
        ("0 1\n2 3\n", "routers 2, 3 cannot reach routers 0, 1"),
        ("0 0\n", "line 1: router 0 is linked with itself"),
    ],
)
def test_the_command_line_names_document_key_and_reason(
    hopsim: Command, tmp_path: Path, text: str | None, said: str
) -> None:
    (tmp_path / "net.toml").write_text(DOCUMENT)
    if text is not None:
        (tmp_path / "net.txt").write_text(text)
    refused = hopsim("run", "net.toml", status=2).stderr
    assert refused.startswith(f'hopsim: net.toml: line 4, column 1: topology.graph.file = "net.txt": {said}')
    assert refused.count("\n") == 1
