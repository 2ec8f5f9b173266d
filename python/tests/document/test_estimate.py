"""What `hopsim check` expects of a run, against runs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from hopsim import _core
from hopsim.cli.check import command
from hopsim.document import estimate
from hopsim.document.estimate import (
    cut_off,
    expected,
    hop_rows,
    packet_hops,
    runs_programs,
    series_rows,
    survey,
)
from hopsim.document.experiment import Experiment, Point
from hopsim.runs.sweeps import run

DRAGONFLY = {"dragonfly": {"p": 2, "a": 4, "h": 2}}
TORUS = {"torus": {"sides": [6, 6]}}

# Networks below saturation, whose expected and true hops are compared.
CASES: dict[str, dict[str, Any]] = {
    "minimal": {"topology": DRAGONFLY},
    "valiant": {"topology": DRAGONFLY, "routing": "valiant", "jobs": [{"traffic": {"pattern": "ADV+1"}}]},
    "olm": {"topology": DRAGONFLY, "routing": "olm", "jobs": [{"traffic": {"pattern": "ADVc"}}]},
    "ugal": {"topology": DRAGONFLY, "routing": "ugal"},
    "torus": {"topology": TORUS},
    "torus, adaptive": {"topology": TORUS, "routing": "adaptive"},
    "mesh": {"topology": {"mesh": {"sides": [4, 6]}}},
    "tree": {"topology": {"fat_tree": {"k": 2, "levels": 4}}},
    "graph": {
        "topology": {"graph": {"edges": [{"between": [0, 1]}, {"between": [1, 2]}, {"between": [2, 0]}]}}
    },
    "replies": {"topology": DRAGONFLY, "jobs": [{"traffic": {"request_reply": {}}}]},
}


def point(document: dict[str, Any], **measure: int) -> Point:
    (only,) = Experiment.of(
        {"load": 0.15, **document, "measure": {"warmup": 200, "cycles": 2000, **measure}}
    ).points()
    return only


@pytest.mark.parametrize("name", CASES)
def test_expected_hops_are_right_within_a_factor_of_two(name: str) -> None:
    monitor = _core.Monitor()
    one = point(CASES[name])
    _core.run(one.config, monitor)
    assert 0.5 < packet_hops(one) / monitor.packet_hops < 2.0


def test_time_grows_with_the_points_and_memory_with_those_that_run_at_once() -> None:
    one, longer = point(CASES["minimal"]), point(CASES["minimal"], cycles=4200)
    alone = expected([one], 1)
    assert expected([longer], 1).cpu_s == pytest.approx(2 * alone.cpu_s)
    assert expected([one] * 5, 2).cpu_s == pytest.approx(5 * alone.cpu_s)
    assert expected([one] * 5, 1).peak_mb == alone.peak_mb < expected([one] * 5, 2).peak_mb
    assert expected([one] * 5, 2).peak_mb == expected([one] * 2, 8).peak_mb


def test_a_survey_depends_on_the_network_alone() -> None:
    one, other = point(CASES["minimal"]), point(CASES["minimal"] | {"load": 0.3}, cycles=100)
    assert survey(one) is survey(other)
    assert survey(point(CASES["olm"])).decides
    assert not survey(one).decides


@pytest.mark.parametrize("topology", [TORUS, {"ideal": {"nodes": 36, "latency": 10}}])
def test_how_long_programs_take_is_not_known(topology: dict[str, Any]) -> None:
    document = {
        "topology": topology,
        "units": {"cycle": "1 ns", "phit": "4 B"},
        "jobs": [{"program": {"collective": {"kind": "barrier"}}}],
    }
    (one,) = Experiment.of(document).points()
    assert runs_programs(one)
    assert survey(one).nodes == 36
    assert expected([one], 1).cpu_s == 0
    assert not runs_programs(point(CASES["torus"]))


def fabrics(**swept: list[Any]) -> list[Point]:
    document = {
        "topology": {"fat_tree": {"k": 4, "levels": 2}},
        "router": "infiniband",
        "jobs": [{"messages": {"rate": "1 Gb/s"}}],
        "sweep": {"product": {path.replace("__", "."): values for path, values in swept.items()}},
    }
    return Experiment.of(document).points()


def test_a_fabric_is_set_up_once_for_all_points_that_have_it() -> None:
    one = fabrics(measure__seed=[1])
    alone = expected(one, 1).set_up_s
    # Each of 16 nodes has an entry in each of 8 switches.
    assert survey(one[0]).set_up_steps >= 16 * 8
    assert alone > 0
    assert expected(fabrics(router__infiniband__mtu=[1024, 2048]), 1).set_up_s == pytest.approx(alone)
    # Fabrics in turn are set up when they are checked and when they run.
    other = expected(fabrics(topology__fat_tree__k=[5]), 1).set_up_s
    both = fabrics(topology__fat_tree__k=[4, 5], measure__seed=[1, 2])
    assert expected(both, 1).set_up_s == pytest.approx(2 * (alone + other))
    assert expected([point(CASES["torus"])], 1).set_up_s == 0


@pytest.mark.parametrize(
    "document",
    [
        {
            "topology": {"mesh": {"sides": [3, 2]}},
            "load": 0.1,
            "measure": {"warmup": 100, "cycles": 300, "interval": 40, "streams": ["link_series"]},
        },
        {
            "topology": {"fat_tree": {"k": 3, "levels": 2}},
            "router": "infiniband",
            "jobs": [{"flows": [{"source": 0, "destination": 8}, {"source": 1, "destination": 5}]}],
            "measure": {
                "time": {"warmup": "10 us", "window": "20 us", "interval": "2 us"},
                "streams": ["flow_series", "link_series", "queue_series"],
            },
        },
    ],
)
def test_series_have_the_rows_that_are_expected(document: dict[str, Any]) -> None:
    (one,) = Experiment.of(document).points()
    result = run(document)
    recorded = sum(result.tables[name].num_rows for name in document["measure"]["streams"])
    assert recorded > 100
    assert series_rows(one) == recorded


def test_hops_of_packets_and_flits_have_about_the_rows_that_are_expected() -> None:
    document = {
        "topology": {"mesh": {"sides": [4, 4]}},
        "router": "virtual_channel",
        "load": 0.2,
        "jobs": [{"traffic": {"packet_length": 3}}],
        "measure": {
            "warmup": 200,
            "cycles": 1800,
            "streams": ["packet_hops", "flit_hops"],
            "packets": {"every": 2, "from": 500},
        },
    }
    (one,) = Experiment.of(document).points()
    recorded = sum(table.num_rows for table in run(document).tables.values())
    assert recorded > 1000
    assert hop_rows(one) == pytest.approx(recorded, rel=0.15)


def test_check_says_how_much_of_the_time_is_setting_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = "topology.ring.routers = 4\njobs = [{ flows = [{ source = 0, destination = 1 }] }]\n"
    (tmp_path / "fabric.toml").write_text(f"router = 'infiniband'\n{document}")
    check = [str(tmp_path / "fabric.toml")]
    assert "to set up" not in CliRunner().invoke(command, check).output
    (one,) = Experiment.open(tmp_path / "fabric.toml").points()
    monkeypatch.setattr(estimate, "SET_UP_STEP_NS", 20e9 / survey(one).set_up_steps)
    output = CliRunner().invoke(command, check).output
    assert re.search(r"expected: about 20 s on \S+ cores? \(about 20 s to set up fabrics\), about", output)


def test_check_says_which_nodes_are_cut_off_and_when(tmp_path: Path) -> None:
    edges = ", ".join(f"{{ between = [{router}, {router + 1}] }}" for router in range(4))
    fault = "at = 2000, until = 4000, links = { between = [[2, 3]] }, unreachable = 'drop'"
    document = (
        f"load = 0.1\nmeasure.cycles = 20000\ntopology.graph.edges = [{edges}]\nfaults = [{{ {fault} }}]\n"
    )
    (tmp_path / "parted.toml").write_text(document)
    (parted,) = Experiment.open(tmp_path / "parted.toml").points()
    said = "cut off from cycle 7,500 to 9,499: 2 of 5 nodes, 3, 4"
    assert cut_off(parted) == (said,)
    assert cut_off(point(CASES["graph"])) == ()
    assert said in CliRunner().invoke(command, [str(tmp_path / "parted.toml")]).output.splitlines()


def test_check_says_when_nodes_of_a_fabric_have_no_way_to_others(tmp_path: Path) -> None:
    fault = "links.between = [[0, 2]], time = { at = '20 us', reroute = '9 us', table_write = '500 ns' }"
    document = (
        "router = 'infiniband'\ntopology.xgft = { children = [2, 2], parents = [1, 2] }\n"
        f"measure.time.window = '60 us'\njobs = [{{ messages.rate = '1 Gb/s' }}]\nfaults = [{{ {fault} }}]\n"
    )
    (tmp_path / "failing.toml").write_text(document)
    (failing,) = Experiment.open(tmp_path / "failing.toml").points()
    (said,) = cut_off(failing)
    assert said.startswith(
        "cut off from 20 us to 30.5 us: up to 8 of 12 ways between nodes at once, first 0 to 2"
    )
    assert said in CliRunner().invoke(command, [str(tmp_path / "failing.toml")]).output.splitlines()
