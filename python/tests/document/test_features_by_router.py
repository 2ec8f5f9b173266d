"""What each router has: the table in docs/model.md says which routers take a feature, and they do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hopsim.document.experiment import Experiment
from hopsim.errors import ConfigError

PAGE = Path(__file__).parents[3] / "docs" / "model.md"
HEADING = "## What each router has"
ROUTERS = ("cioq", "input_queued", "virtual_channel")

MESH: dict[str, Any] = {"topology": {"mesh": {"sides": [4, 4]}}}
TORUS: dict[str, Any] = {"topology": {"torus": {"sides": [5, 4]}}}
DRAGONFLY: dict[str, Any] = {"topology": {"dragonfly": {"p": 2, "a": 4, "h": 2}}}
HYPERX: dict[str, Any] = {"topology": {"hyperx": {"sides": [3, 3]}}}
GRAPH: dict[str, Any] = {
    "topology": {"graph": {"nodes": [1, 1, 1], "edges": [{"between": [0, 1]}, {"between": [1, 2]}]}}
}
PROGRAM: dict[str, Any] = {
    "jobs": [{"program": {"collective": {"kind": "alltoall", "bytes": 64}}}],
    "units": {"cycle": "1 ns", "phit": "4 B"},
}


def _traffic(traffic: dict[str, Any]) -> dict[str, Any]:
    return {"jobs": [{"traffic": traffic}]}


def _router(router: dict[str, Any], flits: dict[str, Any] | None = None) -> dict[str, Any]:
    """What stands in the table of the router; `flits`: in that of a virtual-channel router, if other keys."""
    return {"router": {"KIND": router, "virtual_channel": router if flits is None else flits}}


def _streams(*streams: str) -> dict[str, Any]:
    return {"measure": {"streams": list(streams), "interval": 100}}


FEATURES: dict[str, dict[str, Any]] = {
    "mesh, `minimal`": MESH,
    "mesh, `adaptive`": {**MESH, "routing": {"adaptive": {}}},
    "mesh, `valiant`, `ugal`": {**MESH, "routing": {"ugal": {}}},
    "mesh, `o1turn`": {**MESH, "routing": {"o1turn": {}}},
    "torus with bubbles": {**TORUS, **_router({"vcs": {"rings": "bubble"}})},
    "torus with datelines, `minimal`": {**TORUS, **_router({"vcs": {"rings": "dateline", "network": 2}})},
    "torus, `adaptive`": {**TORUS, "routing": {"adaptive": {}}},
    "torus, `valiant`, `ugal`": {**TORUS, "routing": {"valiant": {}}},
    "HyperX, fat tree": HYPERX,
    "graph, `minimal`": GRAPH,
    "graph, dragonfly, `up_down`": {**GRAPH, "routing": {"up_down": {}}},
    "graph, dragonfly, torus, `nue`": {**TORUS, "routing": {"nue": {"vcs": 2}}},
    "graph, `adaptive`": {**GRAPH, "routing": {"adaptive": {}}},
    "graph, HyperX, fat tree, `ecmp`": {**HYPERX, "routing": {"ecmp": {}}},
    "graph, `k_shortest_paths`": {**GRAPH, "routing": {"k_shortest_paths": {}}},
    "graph, `fat_paths`": {**GRAPH, "routing": {"fat_paths": {}}},
    "graph, HyperX, `polarized`": {**HYPERX, "routing": {"polarized": {}}},
    "`table`": {
        "topology": {"mesh": {"sides": [2]}},
        "routing": {"table": {"hops": [[0, 1, 2, 0], [1, 0, 1, 0]]}},
    },
    "`function`": {**MESH, "routing": {"function": {}}},
    "graph, `valiant`, `ugal`": {**GRAPH, "routing": {"ugal": {}}},
    "slim fly, PolarFly, jellyfish, Xpander, XGFT": {"topology": {"slim_fly": {"q": 4}}},
    "product of two topologies (chiplets)": {
        "topology": {"product": {"inner": MESH["topology"], "outer": {"ring": {"routers": 3}}}},
    },
    "planes (a port of every node into each of several networks), `minimal`, `adaptive`, `ecmp`": {
        "topology": {"planes": {"count": 2, "of": MESH["topology"]}},
        "routing": {"adaptive": {}},
    },
    "dragonfly+": {
        "topology": {"dragonfly_plus": {"leaves": 2}},
        "routing": {"ugal": {}},
    },
    "links out of order (`faults`; of fabrics, too: "
    "[Links out of order](infiniband.md#links-out-of-order))": {
        "topology": {"slim_fly": {"q": 4}},
        "faults": [{"links": {"fraction": 0.05}}],
    },
    "routers out of order (`faults.routers`)": {
        "topology": {"xgft": {"children": [2, 2], "parents": [1, 2]}},
        "faults": [{"routers": [2]}],
    },
    "networks that fall apart (`faults.unreachable`)": {
        "topology": {"slim_fly": {"q": 4}},
        "faults": [{"routers": [2, 3], "unreachable": "drop"}],
    },
    "links and routers that fail in the middle of a run (`faults.at`, `until`)": {
        "topology": {"xgft": {"children": [2, 2], "parents": [1, 2]}},
        "faults": [
            {"at": 100, "until": 1000, "links": {"between": [[0, 2]]}},
            {"at": 1200, "routers": [3]},
        ],
    },
    "links that become slower (`faults.slowdown`)": {
        "topology": {"mesh": {"sides": [2, 2]}},
        "faults": [{"at": 100, "links": {"between": [[0, 1]]}, "slowdown": 4}],
    },
    "packets that are lost and sent again (`faults.reaction.retransmit`)": {
        "topology": {"xgft": {"children": [2, 2], "parents": [1, 2]}},
        "faults": [
            {
                "at": 100,
                "links": {"between": [[0, 2]]},
                "reaction": {"retransmit": {"timeout": 500, "most": 3}},
            },
        ],
    },
    "dragonfly, `minimal`, `valiant`, `ugal`": {**DRAGONFLY, "routing": {"ugal": {}}},
    "`piggyback`, `source_adaptive`": {**DRAGONFLY, "routing": {"piggyback": {}}},
    "`olm`, `par` in a dragonfly": {**DRAGONFLY, "routing": {"olm": {}}},
    "graph, HyperX, `par`": {**HYPERX, "routing": {"par": {}}},
    "dragonfly+, `fpar`": {
        "topology": {"dragonfly_plus": {"leaves": 2, "nodes_per_leaf": 2}},
        "routing": {"fpar": {}},
    },
    "FlexVC": {**DRAGONFLY, **_router({"vcs": {"management": "flexvc"}})},
    "graph, HyperX, FlexVC where VCs are by hop": {
        **HYPERX,
        "routing": {"ecmp": {}},
        **_router({"vcs": {"management": "flexvc", "network": 4}}),
    },
    "DAMQ": {
        **DRAGONFLY,
        **_router(
            {"buffers": {"damq": {"local_reserve": 1, "global_reserve": 1}}},
            flits={"buffers": {"damq": {"reserve": 1}}},
        ),
    },
    "on/off flow control": {
        **DRAGONFLY,
        **_router({"flow_control": "on_off", "buffers": {"local": 200, "global": 600}}),
    },
    "buffers shorter than a packet": {**MESH, **_router({"buffers": {"network": 4}})},
    "input speedup (`crossbar_inputs`)": {**MESH, **_router({"crossbar_inputs": 2})},
    "output speedup (`crossbar_outputs`)": {**MESH, **_router({"crossbar_outputs": 2})},
    "routers faster than their links (`speedup`)": {**MESH, **_router({"speedup": 2.0})},
    "allocators by name, iSLIP, PIM, wavefront, lonely output": {
        **MESH,
        **_router({"switch_allocator": "wavefront", "vc_allocator": "lonely_output"}),
    },
    "speculation, held switches": {**MESH, **_router({"speculation": "equal", "hold_switch": True})},
    "ejection VCs (`vcs.ejection`), buffers at nodes (`buffers.ejection`)": {
        **MESH,
        **_router({"vcs": {"ejection": 2}, "buffers": {"ejection": 300}}),
    },
    "order of ports, batches (`semantics.port_order`, `stages`)": {
        **MESH,
        "semantics": {"port_order": "booksim", "stages": "batched"},
    },
    "age arbitration": {
        **MESH,
        **_router({"allocator": {"output_arbiter": "age"}}, flits={"arbiter": "age"}),
    },
    "random arbiters, transit priority": {**MESH, **_router({"allocator": {"transit_priority": True}})},
    "priority classes (`jobs.priority`)": {
        **MESH,
        "jobs": [{"priority": 1}],
        **_router({}, flits={"arbiter": "priority"}),
    },
    "credit delay, VCs granted again with all credits": {**MESH, **_router({"vc_reuse": "credits"})},
    "uniform traffic, permutations, listed destinations, hot spots": {
        **MESH,
        **_traffic({"pattern": "uniform"}),
    },
    "bursts in step": {
        **MESH,
        **_traffic({"process": {"synchronised_bursts": {"packets": 4}}}),
        "load": None,
    },
    "packets of several lengths": {
        **MESH,
        **_traffic({"packet_lengths": [{"length": 1, "weight": 3}, {"length": 5, "weight": 1}]}),
    },
    "packets given one by one (`packet_list`)": {
        **MESH,
        **_traffic({"packet_list": [{"cycle": 3, "source": 0, "destination": 5, "length": 4}]}),
        "load": None,
    },
    "requests and replies": {**DRAGONFLY, **_traffic({"request_reply": {"outstanding": 4}})},
    "programs: traces, collectives, Graph500": {**MESH, **PROGRAM, "load": None},
    "SAT": {**MESH, "nic": {"control": {"sat": {"l": 8, "k": 8}}}},
    "LBR, IPR": {**MESH, "routing": {"adaptive": {}}, "nic": {"control": "lbr"}},
    "bounded source queues": {**MESH, "nic": {"source_queue": {"packets": 4}}},
    "streams `nodes`, `routers`, `links`, `generation`, `injection_waits`": {
        **MESH,
        **_streams("nodes", "routers", "links", "generation", "injection_waits"),
    },
    "streams `occupancy`, `link_series`, `waits`": {**MESH, **_streams("occupancy", "link_series", "waits")},
    "streams `congestion_trees`, `packet_hops`": {**MESH, **_streams("congestion_trees", "packet_hops")},
    "stream `flit_hops`": {**MESH, **_streams("flit_hops")},
    "stream `allocation`": {**MESH, **_streams("allocation")},
    "stream `output_queues`": {**MESH, **_streams("output_queues")},
    '`compat = "fogsim"`': {**DRAGONFLY, "compat": "fogsim"},
    '`compat = "booksim"`': {**MESH, "compat": "booksim"},
}
"""What a document has of each feature."""


def _document(feature: str, router: str) -> dict[str, Any]:
    document: dict[str, Any] = {"load": 0.1, **FEATURES[feature]}
    tables = document.get("router", {})
    document["router"] = {router: tables.get(router, tables.get("KIND", {}))}
    return {key: value for key, value in document.items() if value is not None}


def _refusal(feature: str, router: str) -> str:
    """Why a router does not take a feature; empty if it does."""
    try:
        Experiment.of(_document(feature, router)).points()
    except ConfigError as error:
        return str(error)
    return ""


def _table() -> dict[str, list[str]]:
    """The cells of the table by feature."""
    text = PAGE.read_text("utf-8").partition(HEADING)[2].partition("\n## ")[0]
    rows = [line.strip("|").split("|") for line in text.splitlines() if line.startswith("| ")]
    return {cells[0].strip(): [cell.strip() for cell in cells[1:]] for cells in rows}


def test_the_table_has_the_features_that_are_tried() -> None:
    head, *features = _table().items()
    assert head == ("feature", [f"`{router}`" for router in ROUTERS])
    assert [name for name, _ in features] == list(FEATURES)


@pytest.mark.parametrize("feature", FEATURES)
def test_a_feature_is_there_where_the_table_says_so(feature: str) -> None:
    found = ["no" if _refusal(feature, router) else "yes" for router in ROUTERS]
    assert _table()[feature] == found


@pytest.mark.parametrize("router", ROUTERS)
@pytest.mark.parametrize("feature", FEATURES)
def test_no_refusal_is_about_a_key_that_no_router_has(feature: str, router: str) -> None:
    refusal = _refusal(feature, router)
    own = _document(feature, router)["router"][router]
    assert "unknown key" not in refusal or any(f"{router}.{key}" in refusal for key in own)
