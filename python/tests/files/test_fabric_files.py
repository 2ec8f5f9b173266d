"""Fabrics and forwarding tables as administrators have them: what the files say, and what is refused."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from conftest import Command
from hopsim.document.experiment import Experiment, example_names, shipped_text
from hopsim.errors import ConfigError
from hopsim.files import fabric_file, forwarding_file, graph_file

EXAMPLES = Path(__file__).parents[2] / "hopsim" / "experiments"
NETWORK = (EXAMPLES / "cluster_net.txt").read_text("utf-8")
TABLES = (EXAMPLES / "cluster_lfts.txt").read_text("utf-8")
DOCUMENT = """
topology.graph.file = "net.txt"
[router.infiniband]
forwarding.file = "lfts.txt"
[[jobs]]
flows = [{ source = 0, destination = 8 }]
"""

LEAF1, LEAF2, SPINE1 = (
    "S-0002c90200400000 'leaf1'",
    "S-0002c90200400010 'leaf2'",
    "S-0002c90200400030 'spine1'",
)
NODE1, NODE5 = "H-0002c90300100000[1] 'node01 HCA-1'", "H-0002c90300100040[1] 'node05 HCA-1'"


def tables(directory: Path, *, network: str = NETWORK, text: str = TABLES) -> list[list[int]]:
    (directory / "net.txt").write_text(network, "utf-8")
    (directory / "lfts.txt").write_text(text, "utf-8")
    return forwarding_file.tables(directory / "lfts.txt", directory / "net.txt")


def changed(text: str, old: str, new: str) -> str:
    """A text with the first of its lines that match another one; nothing for `new` takes it away."""
    assert re.search(old, text, re.MULTILINE), old
    return re.sub(rf"^.*{old}.*\n", new and f"{new}\n", text, count=1, flags=re.MULTILINE)


def test_switches_with_nodes_are_the_first_routers_and_ports_of_adapters_are_nodes() -> None:
    fabric = fabric_file.read(NETWORK)
    called = [switch.called for switch in fabric.switches]
    assert called == ["leaf1", "leaf2", "leaf3", "spine1", "spine2"]
    assert fabric.nodes_of_switches() == [4, 3, 2]
    assert [fabric.devices[node.device].called[:6] for node in fabric.nodes] == [
        f"node{n:02}" for n in range(1, 10)
    ]
    assert fabric.numbered() == [(0, 3), (0, 4), (1, 3), (1, 4), (2, 3), (2, 4)]


def test_a_graph_has_the_links_and_nodes_of_the_fabric(tmp_path: Path) -> None:
    (tmp_path / "net.txt").write_text(NETWORK, "utf-8")
    network = graph_file.network(tmp_path / "net.txt")
    assert network["nodes"] == [4, 3, 2]
    assert network["edges"][1] == {"between": [0, 4]}


def test_tables_are_outputs_by_switch_and_node(tmp_path: Path) -> None:
    """Leaf switches have their nodes first, then the two spines, of which all use the first one."""
    spine = [0, 0, 0, 0, 1, 1, 1, 2, 2]
    leaves = [[0, 1, 2, 3, 4, 4, 4, 4, 4], [3, 3, 3, 3, 0, 1, 2, 3, 3], [2, 2, 2, 2, 2, 2, 2, 0, 1]]
    assert tables(tmp_path) == [*leaves, spine, spine]
    by_second = changed(TABLES, "0x000a 033", "0x000a 034 : (Channel Adapter portguid 0x1: 'node05')")
    assert tables(tmp_path, text=by_second)[0] == [0, 1, 2, 3, 5, 4, 4, 4, 4]


def test_a_node_is_reached_by_its_first_lid(tmp_path: Path) -> None:
    """Node 5 has LIDs 16 to 19, of which the tables use the second spine for all but the first."""
    network = NETWORK.replace("# lid 10 lmc 0", "# lid 16 lmc 2")
    text = re.sub(r"\[0x0-0xe\]", "[0x0-0x13]", TABLES)
    text = re.sub(
        r"^0x000a (\d+) .*\n",
        lambda entry: "".join(
            f"0x{lid:04x} {port} : (path #{lid - 15} out of 4: portguid 0x0002c90300100041)\n"
            for lid, port in zip(
                range(16, 20), [entry[1], *[entry[1].replace("033", "034")] * 3], strict=True
            )
        ),
        text,
        flags=re.MULTILINE,
    )
    assert tables(tmp_path, network=network, text=text.replace("14 valid", "17 valid")) == tables(tmp_path)


def test_other_forms_of_the_same_tables(tmp_path: Path) -> None:
    """Of direct paths, of `ibroute --all` and `--no_dests`, and of OpenSM itself."""
    expected = tables(tmp_path)
    direct = re.sub(r"switch Lid (\d+) guid", r"switch DR path slid 0; dlid 0; 0,1,\1 guid", TABLES)
    whole = TABLES.replace("0x0001 000", "0x0000 255 : (illegal port)\n0x0001 000").replace(
        "14 valid lids", "15 lids"
    )
    brief = re.sub(r" : \(.*\)$", " ", TABLES, flags=re.MULTILINE)
    manager = re.sub(r"(\d{3}) : (.*)$", r"\1 # \2", TABLES, flags=re.MULTILINE).replace("14 valid", "14")
    for text in (direct, whole, brief, manager):
        assert tables(tmp_path, text=text) == expected


# A line of the network that is replaced, by what, and what is said about it.
REFUSED_NETWORKS = [
    (
        r'^\[1\]\t"H-0002c90300100000"',
        "[1] node 1",
        "line 29: '[1] node 1' is not what ibnetdiscover prints; valid: ",
    ),
    (
        r'^\[2\]\t"H-0002c90300100010"',
        '[2]\t"H-0002c90300100090"[1] # "node" lid 7 4xQDR',
        "line 30: S-0002c90200400000[2] is linked with H-0002c90300100090, which has no block; ",
    ),
    (
        r'^\[2\]\t"H-0002c90300100010"',
        '[2]\t"H-0002c90300100010"[2] # "node" lid 7 4xQDR',
        "line 30: S-0002c90200400000[2] is linked with H-0002c90300100010[2], but that not with it; ",
    ),
    (
        r'^\[2\]\t"H-0002c90300100010"',
        '[40]\t"H-0002c90300100010"[1] # "node" lid 7 4xQDR',
        f"line 30: {LEAF1} has no port 40; valid: 1 … 36",
    ),
    (
        r'^\[2\]\t"H-0002c90300100010"',
        '[1]\t"H-0002c90300100010"[1] # "node" lid 7 4xQDR',
        "line 30: port 1 is linked in line 29; valid: one link for a port",
    ),
    (
        "^# Initiated",
        '[1]\t"H-0002c90300100010"[1]',
        "line 4: belongs to no device; valid: port lines below Switch",
    ),
    (
        "^Switch.*spine2",
        'Switch 36 "S-0002c90200400030" # "twin" base port 0 lid 5 lmc 0',
        "line 19: S-0002c90200400030 has a block in line 10; valid: one of each",
    ),
]


@pytest.mark.parametrize(("old", "new", "said"), REFUSED_NETWORKS)
def test_a_network_is_refused_with_line_and_reason(tmp_path: Path, old: str, new: str, said: str) -> None:
    (tmp_path / "net.txt").write_text(changed(NETWORK, old, new), "utf-8")
    with pytest.raises(ConfigError) as refused:
        graph_file.network(tmp_path / "net.txt")
    assert str(refused.value).startswith(said)


def test_networks_that_are_none(tmp_path: Path) -> None:
    loop = '[1]\t"S-0002c90200400030"[2]\n[2]\t"S-0002c90200400030"[1]\n'
    one, other = "H-0002c90300100000", "H-0002c90300100010"
    back = f'Ca 1 "{one}"\n[1]\t"{other}"[1]\nCa 1 "{other}"\n[1]\t"{one}"[1]\n'
    for text, said in [
        (
            f'Switch 36 "S-0002c90200400030"\n{loop}',
            "line 2: S-0002c90200400030[1] is linked with its own switch",
        ),
        (back, "line 2: H-0002c90300100000[1] is linked with another adapter; valid: a switch"),
        (
            'Switch 36 "S-0002c90200400030" # "alone" base port 0 lid 1 lmc 0\n',
            "no channel adapter is linked with",
        ),
    ]:
        (tmp_path / "net.txt").write_text(text, "utf-8")
        with pytest.raises(ConfigError, match=re.escape(said)):
            graph_file.network(tmp_path / "net.txt")


# The same of the tables.
REFUSED_TABLES = [
    (
        "^0x000a 033",
        "0x000a",
        "line 13: '0x000a' is not what ibroute prints; valid: Unicast lids [0x0-0x9] of switch",
    ),
    (
        "^0x000a 033",
        "0x000f 033 : (unknown node and type)",
        f"line 13: LID 0x000f is outside the table of {LEAF1}; valid: 0x0000 … 0x000e",
    ),
    (
        "^0x000a 033",
        "0x0000 033 : (unknown node and type)",
        f"line 13: LID 0x0000 in the table of {LEAF1} belongs to nobody; valid: LIDs that ",
    ),
    ("^0x000a 033", "0x0009 004 : ()", "line 13: LID 0x0009 has an entry in line 12; valid: one of each"),
    (
        "^0x000a 033",
        "0x000a 030 : ()",
        f"line 13: LID 0x000a in the table of {LEAF1}, of node {NODE5}, has port 30, which has no link; "
        "valid: ports 1, 2, 3, 4, 33, 34",
    ),
    (
        "^0x000a 033",
        "0x000a 001 : ()",
        f"line 13: LID 0x000a in the table of {LEAF1}, of node {NODE5}, has port 1, where node {NODE1} is; ",
    ),
    (
        "^0x000a 033",
        "",
        f"line 17: the table of {LEAF1} should have 14 LIDs, and has 13; valid: a whole table",
    ),
    ("^14 valid", "", f"line 1: the table of {LEAF1} has no end; valid: … lids dumped"),
    (
        "^Unicast.*leaf1",
        "Unicast lids [0x0-0xe] of switch Lid 1 guid 0x0002c90200400090 (leaf1):",
        f"line 1: net.txt has no switch S-0002c90200400090; valid: one of its switches, as {LEAF1}, {LEAF2}",
    ),
    (
        "^Unicast.*leaf2",
        "Unicast lids [0x0-0xe] of switch Lid 1 guid 0x0002c90200400000 (leaf1):",
        f"line 19: {LEAF1} has a table in line 1; valid: one of each",
    ),
]


@pytest.mark.parametrize(("old", "new", "said"), REFUSED_TABLES)
def test_tables_are_refused_with_line_switch_and_lid(tmp_path: Path, old: str, new: str, said: str) -> None:
    with pytest.raises(ConfigError) as refused:
        tables(tmp_path, text=changed(TABLES, old, new))
    assert str(refused.value).startswith(said)


def test_switches_and_nodes_without_an_entry_are_named(tmp_path: Path) -> None:
    with pytest.raises(
        ConfigError, match=re.escape(f"has no table of {LEAF1}; valid: one of every switch in net.txt")
    ):
        tables(tmp_path, text=TABLES.partition("dumped \n")[2])
    hole = changed(TABLES, "^0x000a 033", "").replace("14 valid", "13 valid", 1)
    said = f"the table of {LEAF1} (line 1) has no entry for LID 0x000a, of node {NODE5}; "
    with pytest.raises(ConfigError, match=re.escape(said)):
        tables(tmp_path, text=hole)


def test_lids_of_two_nodes_must_not_overlap(tmp_path: Path) -> None:
    said = (
        "net.txt: line 69: node H-0002c90300100010[1] 'node02 HCA-1' and "
        f"node {NODE1} (line 62) both have LID 7, 0x0007; valid: 2 to the power of lmc LIDs for each alone"
    )
    with pytest.raises(ConfigError, match=re.escape(said)):
        tables(tmp_path, network=NETWORK.replace("# lid 6 lmc 0", "# lid 6 lmc 1"))
    said = f"net.txt: line 62: node {NODE1} has no LID; valid: # lid 1 … 49151 lmc 0 … 7"
    with pytest.raises(ConfigError, match=re.escape(said)):
        tables(tmp_path, network=NETWORK.replace("# lid 6 lmc 0", "# lid 0 lmc 0"))
    with pytest.raises(
        ConfigError, match=re.escape(f"line 62: node {NODE1} has LID 49152; valid: 1 … 49151")
    ):
        tables(tmp_path, network=NETWORK.replace("# lid 6 lmc 0", "# lid 49152 lmc 0"))


def test_packets_that_go_round_are_shown_with_the_switches(tmp_path: Path) -> None:
    """The first spine sends what is for node 5 back to the first leaf switch."""
    head, spine, rest = TABLES.partition("(spine1)")
    text = head + spine + changed(rest, "^0x000a 002", "0x000a 001 : ()")
    said = f"packets for LID 0x000a, of node {NODE5}, go round: {LEAF1} → {SPINE1} → {LEAF1}; "
    with pytest.raises(ConfigError, match=re.escape(said)):
        tables(tmp_path, text=text)


@pytest.mark.parametrize(
    ("net", "lfts", "said"),
    [
        (
            NETWORK,
            None,
            '"lfts.txt": cannot read lfts.txt: No such',
        ),
        (
            "a b\n",
            TABLES,
            "net.txt: says neither LIDs nor ports; valid: topology.graph.file = …, what ibnetdiscover",
        ),
        (NETWORK, "0 1", "line 1: '0 1' is not what ibroute prints"),
    ],
)
def test_the_command_line_names_document_key_and_reason(
    hopsim: Command, tmp_path: Path, net: str, lfts: str | None, said: str
) -> None:
    (tmp_path / "net.toml").write_text(DOCUMENT, "utf-8")
    (tmp_path / "net.txt").write_text(net, "utf-8")
    if lfts is not None:
        (tmp_path / "lfts.txt").write_text(lfts, "utf-8")
    refused = hopsim("run", "net.toml", status=2).stderr
    assert refused.startswith("hopsim: net.toml: line 4, column 12: router.infiniband.forwarding.file")
    assert said in refused


def test_a_resolved_configuration_needs_no_files() -> None:
    assert "infiniband_cluster" in example_names()
    config = json.loads(Experiment.open("infiniband_cluster").points()[0].config)
    assert config["topology"]["graph"]["nodes"] == [4, 3, 2]
    forwarding = config["router"]["infiniband"]["forwarding"]
    assert len(forwarding["tables"]) == 5
    assert json.loads(Experiment.of(config).points()[0].config) == config
    assert "cluster_lfts.txt" in shipped_text("infiniband_cluster")
