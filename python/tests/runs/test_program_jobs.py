"""Jobs with programs: which node runs which rank, how often, and beside whom."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import pytest

import hopsim as hs
from conftest import Command
from hopsim.document.experiment import Experiment
from hopsim.document.placement_warning import warn_of_settled_placements
from hopsim.runs.slowdowns import METRICS

UNITS = {"cycle": "1 ns", "phit": "4 B"}
MESH = {"mesh": {"sides": [4, 2]}}
EXCHANGE = {"collective": {"kind": "alltoall", "bytes": 256}}


def document(*jobs: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"units": UNITS, "topology": MESH, "jobs": list(jobs), **more}


def time_of(*jobs: dict[str, Any], **more: Any) -> int:
    return hs.run(document(*jobs, **more), progress=False).jobs[0]["execution_time"]


def nodes_by_rank(job: dict[str, Any], folder: Path, **more: Any) -> list[int]:
    experiment = Experiment.of(document(job | {"program": EXCHANGE}, **more))
    stored = folder / "nodes.toml"
    stored.write_text(experiment.text)
    table = hs.run(stored, {"measure.streams": ["ranks"]}, progress=False).tables["ranks"]
    return [int(node) for node in table["node"].to_numpy()]


def test_ranks_take_nodes_in_the_order_that_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "nodes.txt").write_text("# node rank\n7 1\n2 0\n")
    cases: list[tuple[dict[str, Any], str | None, list[int]]] = [
        ({"nodes": {"first": 2, "count": 3}}, None, [2, 3, 4]),
        ({"list": [5, 1, 3]}, None, [5, 1, 3]),
        ({"list": [5, 1, 3]}, "ascending", [1, 3, 5]),
        ({"all": {}}, "column", [0, 4, 1, 5, 2, 6, 3, 7]),
        ({"file": "nodes.txt"}, None, [2, 7]),
    ]
    for placement, order, nodes in cases:
        job = {"placement": placement} | ({"rank_order": order} if order else {})
        assert nodes_by_rank(job, tmp_path) == nodes


def test_a_random_order_follows_the_seed(tmp_path: Path) -> None:
    orders = [nodes_by_rank({"rank_order": "random"}, tmp_path, measure={"seed": seed}) for seed in (1, 1, 2)]
    assert orders[0] == orders[1] != orders[2]
    assert sorted(orders[2]) == list(range(8))


def test_a_barrier_run_twice_is_three_barriers() -> None:
    barrier = {"collective": {"kind": "barrier"}}
    thrice = {"collective": {"kind": "barrier", "repeat": 3}}
    assert time_of({"program": barrier, "repeat": 2}) == time_of({"program": thrice})


def test_a_job_without_an_end_goes_on_until_the_others_are_done() -> None:
    halves: list[dict[str, Any]] = [{"nodes": {"first": first, "count": 4}} for first in (0, 4)]
    long = {"placement": halves[0], "program": {"collective": {"kind": "alltoall", "bytes": 9000}}}
    short = {"placement": halves[1], "program": {"collective": {"kind": "barrier"}}, "repeat": "forever"}
    for more in ({}, {"contention": "none"}):
        result = hs.run(document(long, short, **more), progress=False)
        first, second = result.jobs
        assert second["execution_time"] is None
        assert second["messages"] > 10 * 8
        assert first["execution_time"] == time_of(long, **more), "they share no link"


def test_jobs_left_out_change_nothing_else() -> None:
    jobs = [
        {"name": "a", "placement": {"random_nodes": {"count": 3}}, "program": EXCHANGE},
        {"name": "b", "placement": {"random_nodes": {"count": 3}}, "program": EXCHANGE},
    ]
    together = hs.run(document(*jobs), progress=False).tables["ranks"]
    alone = hs.run(document(*jobs, only=["b"]), progress=False)
    assert [job["job"] for job in alone.jobs] == ["b"]
    of_b = [row["node"] for row in together.to_pylist() if row["job"] == "b"]
    assert alone.tables["ranks"]["node"].to_pylist() == of_b


def test_traffic_begins_at_its_start() -> None:
    job = {"start": 150, "traffic": {"process": {"bernoulli": {"load": 0.5}}}}
    measure = {"warmup": 0, "cycles": 300, "batches": 1, "interval": 50}
    result = hs.run({"topology": MESH, "jobs": [job], "measure": measure}, progress=False)
    generated = result.timeseries["generated"].to_numpy()
    assert generated[:3].tolist() == [0, 0, 0]
    assert generated[3:].min() > 10
    assert result.summary["offered_load"] == pytest.approx(0.25)


TWO: dict[str, Any] = document(
    {"name": "a", "placement": {"list": [0, 2]}, "program": EXCHANGE, "host": {"packet_length": 8}},
    {"name": "b", "placement": {"list": [1, 3]}, "program": EXCHANGE, "host": {"packet_length": 8}},
    {"name": "noise", "placement": {"list": [4, 5]}, "traffic": {"process": {"bernoulli": {"load": 0.1}}}},
)


def test_interference_compares_programs_with_themselves_alone(tmp_path: Path) -> None:
    results = hs.interference(TWO, out=tmp_path / "out", progress=False)
    assert [result.axes["job"] for result in results] == ["a", "b"]
    for result in results:
        together, alone, free, by_others, by_itself = (result.summary[key] for key in METRICS)
        assert together > alone >= free, "both cross the links between routers 1 and 2"
        assert (by_others, by_itself) == (together / alone, alone / free)
        name = result.axes["job"]
        own = hs.run(TWO, only=[name], progress=False)
        assert alone == own.jobs[0]["execution_time"]
    stored = hs.load(tmp_path / "out" / "together")
    assert stored[0].jobs[0]["execution_time"] == results[0].summary["execution_time"]


def test_interference_from_the_command_line_is_resumed(hopsim: Command, tmp_path: Path) -> None:
    (tmp_path / "two.toml").write_text(Experiment.of(TWO).text)
    first = hopsim("interference", "two.toml", "--out", "out").stdout
    assert hopsim("interference", "two.toml", "--out", "out").stdout == first
    assert "together/alone" in first
    assert (tmp_path / "out" / "interference.csv").read_text().count("\n") == 3
    refused = hopsim("interference", "two.toml", "--set", 'only=["a"]', status=2).stderr
    assert "only" in refused


def test_interference_needs_a_program(hopsim: Command, tmp_path: Path) -> None:
    (tmp_path / "none.toml").write_text("load = 0.1\ntopology.ring.routers = 4\n")
    assert "one job with a program that ends" in hopsim("interference", "none.toml", status=2).stderr


def test_resolved_programs_are_documents() -> None:
    for more in ({}, {"topology": {"ideal": {"nodes": 8, "latency": 5}}}):
        point = Experiment.of(document({"program": EXCHANGE}) | more).points()[0]
        again = Experiment.of(json.loads(point.config)).points()[0]
        assert again.digest == point.digest


@pytest.mark.filterwarnings("ignore::hopsim.HopsimWarning")
def test_drawn_nodes_are_a_random_mapping_even_if_all_are_drawn(tmp_path: Path) -> None:
    """A linear and a random mapping of the ranks are two mappings."""
    for drawn in ({"random_nodes": {"count": 8}}, {"random_groups": {"count": 1}}):
        orders = [nodes_by_rank({"placement": drawn}, tmp_path, measure={"seed": seed}) for seed in (1, 1, 2)]
        assert orders[0] == orders[1]
        assert (orders[0] != orders[2]) == ("random_nodes" in drawn), "a group's nodes are ascending"
        linear = nodes_by_rank({"placement": drawn, "rank_order": "ascending"}, tmp_path)
        assert linear == list(range(8))


SPREAD: dict[str, Any] = {"random_nodes": {"count": 8}}
TRAFFIC: dict[str, Any] = {"traffic": {"process": {"bernoulli": {"load": 0.1}}}}


PLACED: list[tuple[list[dict[str, Any]], bool]] = [
    ([TRAFFIC | {"placement": SPREAD}], True),
    ([TRAFFIC | {"placement": {"random_groups": {"count": 1}}}], True),
    ([{"program": EXCHANGE, "placement": SPREAD, "rank_order": "ascending"}], True),
    ([{"program": EXCHANGE, "placement": SPREAD}], False),
    ([{"program": EXCHANGE, "placement": SPREAD, "rank_order": "random"}], False),
    ([TRAFFIC | {"placement": {"random_nodes": {"count": 7}}}], False),
    ([TRAFFIC | {"placement": {"all": {}}}], False),
    (
        [
            TRAFFIC | {"placement": {"list": [1, 3]}},
            TRAFFIC | {"placement": {"random_nodes": {"count": 6}}},
        ],
        True,
    ),
    (
        [
            TRAFFIC | {"placement": {"random_nodes": {"count": 2}}},
            TRAFFIC | {"placement": {"random_nodes": {"count": 6}}},
        ],
        False,
    ),
]


@pytest.mark.parametrize(("jobs", "warned"), PLACED)
def test_a_draw_that_decides_nothing_is_warned_of(jobs: list[dict[str, Any]], warned: bool) -> None:
    experiment = Experiment.of(document(*jobs)).with_axes({"measure.seed": [1, 2]})
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn_of_settled_placements(experiment, experiment.points())
    assert [f"jobs.{len(jobs) - 1}.placement" in str(warning.message) for warning in caught] == [
        True
    ] * warned


def test_all_other_nodes_are_no_reason_to_warn() -> None:
    experiment = Experiment.of(
        document(
            TRAFFIC | {"placement": {"list": [1, 3]}}, TRAFFIC | {"placement": {"random_nodes": {"count": 6}}}
        )
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_settled_placements(experiment, experiment.points())
