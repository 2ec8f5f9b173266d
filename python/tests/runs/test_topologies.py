"""`hopsim.topology` and `hopsim.check`: the commands of the same names, from Python."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path
from typing import Any

import networkx as nx
import pytest
from click.testing import CliRunner

import hopsim as hs
from hopsim.cli import cli

RING = {"topology": {"graph": {"edges": [{"between": [0, 1]}, {"between": [1, 2]}, {"between": [2, 0]}]}}}


def _printed(*arguments: str) -> str:
    return CliRunner().invoke(cli, arguments, catch_exceptions=False).output


def _shown(network: hs.Topology) -> str:
    return network._repr_html_()  # pyright: ignore[reportPrivateUsage]


def test_the_numbers_and_links_of_a_topology_are_those_that_the_commands_print(tmp_path: Path) -> None:
    network = hs.topology("graph_file")
    assert network.info == json.loads(_printed("topology", "info", "graph_file", "--json"))
    assert list(network.lines()) == _printed("topology", "info", "graph_file").splitlines()
    assert network.text() == _printed("topology", "export", "graph_file")
    written = network.export(tmp_path / "links.graphml")
    assert nx.is_isomorphic(nx.read_graphml(written), nx.Graph(network.to_networkx()))


def test_a_topology_as_a_graph_has_every_link_with_its_class() -> None:
    graph = hs.topology({"topology": {"dragonfly": {"p": 1, "a": 2, "h": 1}}}).to_networkx()
    kinds: list[tuple[int, int, str]] = list(graph.edges(data="kind"))
    assert sorted(kind for _, _, kind in kinds) == ["global"] * 3 + ["local"] * 3
    assert sorted(graph) == list(range(6))
    assert nx.diameter(nx.Graph(graph)) == 3


def test_values_and_keys_replace_those_of_the_document() -> None:
    assert hs.topology(RING, {"topology": {"slim_fly": {"q": 4}}}).info["routers"] == 32
    assert hs.topology(RING, topology={"slim_fly": {"q": 5}}).info["routers"] == 50


def test_a_notebook_shows_a_topology_as_numbers_and_a_drawing_unless_it_is_large() -> None:
    small = hs.topology(RING)
    assert repr(small) == "Topology(graph: 3 routers, 3 nodes, 3 links, diameter 1)"
    shown = _shown(small)
    assert all(line in shown for line in small.lines())
    (image,) = re.findall(r'src="data:image/png;base64,([^"]+)"', shown)
    assert base64.b64decode(image).startswith(b"\x89PNG")
    large = _shown(hs.topology({"topology": {"mesh": {"sides": [45, 45]}}}))
    assert "2,025 routers" in large
    assert "img" not in large


def test_what_has_no_one_network_is_refused() -> None:
    with pytest.raises(hs.ConfigError, match=r"the sweep has 2 networks \(polarfly\)"):
        hs.topology({"sweep": {"product": {"topology": [{"polarfly": {"q": 2}}, {"polarfly": {"q": 3}}]}}})
    with pytest.raises(hs.ConfigError, match=r"topology\.slim_fly\.q = 6"):
        hs.topology(topology={"slim_fly": {"q": 6}}, experiment=RING)
    wrong: Any = ["load"]
    with pytest.raises(hs.ConfigError, match=r"values = \['load'\]: is not a dictionary"):
        hs.topology(RING, wrong)


def test_check_says_what_the_command_prints() -> None:
    assert hs.check("first_run").splitlines() == _printed("check", "first_run").splitlines()
    said = hs.check(RING, load=0.1)
    assert "free of deadlock" in said
    assert said.endswith("OK")
    assert hs.check(RING, load=[0.1, 0.2], routing=["minimal", "valiant"]).startswith("points: 4\n")
    with pytest.raises(hs.ConfigError, match="need 2 VCs"):
        hs.check({**RING, "load": 0.1}, {"router.cioq.vcs.network": 1, "topology.graph.edges": _circle(6)})


def _circle(routers: int) -> list[dict[str, list[int]]]:
    return [{"between": [router, (router + 1) % routers]} for router in range(routers)]
