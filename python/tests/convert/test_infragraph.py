"""Descriptions of InfraGraph as documents, beside the graphs that its own package makes of them."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Any

import networkx as nx
import pytest

import hopsim as hs
from conftest import Command
from hopsim.convert import infragraph

JOBS: dict[str, Any] = {"jobs": [{"traffic": {"process": {"bernoulli": {"load": 0.2}}}}]}


def _blueprint(module: str, name: str, *arguments: object) -> Any:
    return getattr(importlib.import_module(f"infragraph.blueprints.{module}"), name)(*arguments)


def _device(module: str, name: str, *arguments: object) -> Any:
    return _blueprint(f"devices.generic.{module}", name, *arguments)


def _dragonfly() -> dict[str, Any]:
    """36 routers of four groups' size, two hosts each of one port."""
    switch, server = _device("generic_switch", "Switch", 7), _device("server", "Server", 1)
    return json.loads(
        _blueprint("fabrics.dragonfly_fabric", "DragonflyFabric", switch, server, 4, 2, 2).serialize("json")
    )


def _clos(*gigabits: int) -> dict[str, Any]:
    """Four leaves with a host of two ports each, and two spines."""
    switch, server = _device("generic_switch", "Switch", 4), _device("server", "Server")
    fabric = _blueprint("fabrics.clos_fat_tree_fabric", "ClosFatTreeFabric", switch, server, 2, [*gigabits])
    return json.loads(fabric.serialize("json"))


def _expanded(description: dict[str, Any]) -> Any:
    service = importlib.import_module("infragraph.infragraph_service").InfraGraphService()
    service.set_graph(json.dumps(description))
    return service.get_networkx_graph()


@pytest.mark.parametrize(
    ("made", "routers", "nodes", "links", "diameter"),
    [(_dragonfly, 36, 72, 90, 3), (lambda: _clos(100, 100), 6, 8, 8, 2)],
)
def test_routers_are_as_far_apart_as_in_the_graph_of_components(
    made: Any, routers: int, nodes: int, links: int, diameter: int
) -> None:
    description = made()
    converted = infragraph.convert(json.dumps(description), 8)
    network = hs.topology(converted.document | JOBS)
    numbers = network.info
    assert (numbers["routers"], numbers["nodes"], numbers["diameter"]) == (routers, nodes, diameter)
    assert len(network.links) == links
    # Links between instances count, what is inside of one does not; no path leads through a host.
    graph = _expanded(description)
    instance = {name: (data["instance"], data["instance_idx"]) for name, data in graph.nodes(data=True)}
    walk: nx.Graph[str] = nx.Graph()
    for one, other in graph.edges:
        if "server" not in (instance[one][0], instance[other][0]):
            walk.add_edge(one, other, weight=int(instance[one] != instance[other]))
    expected = dict(nx.all_pairs_dijkstra_path_length(walk))
    asic = [f"{name}.asic.0" for name in converted.routers]
    found = dict(
        nx.all_pairs_shortest_path_length(nx.Graph((one, other) for one, other, *_ in network.links))
    )
    for one in range(routers):
        for other in range(routers):
            assert found[one][other] == expected[asic[one]][asic[other]]
    # A node is at the router that its component is linked to.
    per_router = converted.document["topology"]["graph"]["nodes_per_router"]
    router_of = [node // per_router for node in range(nodes)]
    for node, name in enumerate(converted.nodes):
        (peer,) = [other for other in graph[name] if instance[other] != instance[name]]
        assert f"{instance[peer][0]}.{instance[peer][1]}" == converted.routers[router_of[node]]


def test_a_cycle_is_a_phit_on_the_link_of_a_host() -> None:
    description = _clos(400, 100)
    for link in description["links"]:
        link["physical"]["latency"] = {"choice": "ns", "ns": 300 if "tier_0" in link["name"] else 500}
    converted = infragraph.convert(json.dumps(description), 64)
    # 64 bytes at 400 Gb/s; 300 and 500 ns of 1.28 ns are 234.4 and 390.6 cycles.
    assert converted.document["units"] == {"cycle": "1.28 ns", "phit": "64 B"}
    assert converted.document["links"] == {"injection": {"latency": 235}}
    edges = converted.document["topology"]["graph"]["edges"]
    assert {(edge["latency"], edge["cycles_per_phit"]) for edge in edges} == {(391, 4)}
    assert (
        hs.run(converted.document | JOBS, {"measure.cycles": 500}, progress=False).summary["accepted_load"]
        > 0
    )


def _set(description: dict[str, Any], link: int, **physical: Any) -> dict[str, Any]:
    description["links"][link]["physical"] = {
        name: {"choice": unit, unit: value} for name, (unit, value) in physical.items()
    }
    return description


@pytest.mark.parametrize(
    ("description", "options", "part"),
    [
        (lambda: _clos(100, 200), {}, "has 200 Gbps, and links of hosts 100; valid: as much, or a half"),
        (lambda: _clos(100, 30), {}, "has 30 Gbps, and links of hosts 100"),
        (
            lambda: _set(_clos(100, 100), 1),
            {},
            "states no bandwidth; valid: one for each link, or none at all",
        ),
        (
            lambda: _set(_clos(100, 100), 0, bandwidth=("gigatransfers_per_second", 1)),
            {},
            "1 GT/s is in GT/s; valid: Gbps, GBps",
        ),
        (_dragonfly, {"hosts": ["hots"]}, "--hosts hots: there are no such instances"),
        (_dragonfly, {"hosts": ["server", "router"]}, "joins two hosts"),
        (_dragonfly, {"hosts": ["router"]}, "joins two hosts"),
    ],
)
def test_what_a_network_here_cannot_be_is_refused(description: Any, options: Any, part: str) -> None:
    with pytest.raises(hs.ConfigError) as error:
        infragraph.convert(json.dumps(description()), 8, **options)
    assert part in str(error.value)


def test_hosts_without_accelerators_are_named() -> None:
    description = _dragonfly()
    for device in description["devices"]:
        for component in device["components"]:
            component["choice"] = "cpu" if component["choice"] == "xpu" else component["choice"]
    with pytest.raises(
        hs.ConfigError, match=r"no instance has an accelerator \(xpu\).*valid: --hosts NAME, of server"
    ):
        infragraph.convert(json.dumps(description), 8)
    assert len(infragraph.convert(json.dumps(description), 8, ["server"]).nodes) == 72


def test_the_command_writes_a_document_and_a_table_of_names(hopsim: Command, tmp_path: Path) -> None:
    (tmp_path / "clos.json").write_text(json.dumps(_clos(100, 100)), "utf-8")
    done = hopsim("convert", "infragraph", "clos.json", "--names", "names.csv")
    assert done.stderr == "What is inside of hosts and routers is left out.\n"
    (tmp_path / "clos.toml").write_text(
        done.stdout + '[[jobs]]\nprogram.collective = { kind = "barrier" }\n', "utf-8"
    )
    assert "free of deadlock" in hopsim("check", "clos.toml").stdout
    rows = (tmp_path / "names.csv").read_text("utf-8").splitlines()
    assert rows[:2] == ["kind,number,name", "node,0,server.0.nic.0"]
    assert rows[-1] == "router,5,tier_1.1"
    (tmp_path / "wrong.json").write_text("{", "utf-8")
    assert (
        "valid: a description of InfraGraph" in hopsim("convert", "infragraph", "wrong.json", status=2).stderr
    )


@pytest.mark.parametrize(
    "topology",
    [
        "slim_fly.q = 5",
        "dragonfly = { p = 2, a = 4, h = 2 }",
        "xgft = { children = [3, 4], parents = [1, 2] }",
        "graph.edges = [{ between = [0, 1], cycles_per_phit = 3, latency = 7 }, { between = [1, 2] }]",
    ],
)
@pytest.mark.parametrize(
    ("units", "phit"),
    [('{ cycle = "0.3 ns", phit = "4 B" }', 4), ('{ cycle = "1 ns", phit = "7 B" }', 7), ("", 8)],
)
def test_networks_that_are_written_are_read_again(
    topology: str, units: str, phit: int, tmp_path: Path
) -> None:
    text = f"topology.{topology}\nlinks.injection.latency = 5\n"
    if units:
        text += f"units = {units}\n"
    if "dragonfly" not in topology:
        text += "links.network.latency = 11\n"
    network = hs.topology(text + '[[jobs]]\nprogram = "external"\n')
    file = network.export(tmp_path / "net.infragraph.json")
    again = infragraph.convert(file.read_text("utf-8"), phit).document
    found = hs.topology(again | {"jobs": [{"program": "external"}]})
    ends = [sorted((one, other) for one, other, _ in each.links) for each in (found, network)]
    assert ends[0] == ends[1]
    assert found.info["nodes"] == network.info["nodes"]
    if not units:
        assert again.keys() == {"topology"}
        return
    assert again["units"] == network.config["units"]
    assert again["links"] == {"injection": {"latency": 5}}
    edges = again["topology"]["graph"]["edges"]
    latencies = sorted((*edge["between"], edge["latency"]) for edge in edges)
    if "graph" in topology:
        assert edges[0] == {"between": [0, 1], "latency": 7, "cycles_per_phit": 3}
        assert latencies == [(0, 1, 7), (1, 2, 11)]
    else:
        classes = {"local": 10, "global": 100, "network": 11}
        assert latencies == sorted((one, other, classes[kind]) for one, other, kind in network.links)
