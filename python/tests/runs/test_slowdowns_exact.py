"""Interference of programs, from times that are written down here."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow.csv
import pytest

import hopsim as hs
from hopsim.document.experiment import Experiment
from hopsim.errors import ConfigError
from hopsim.results.result import Result, Results
from hopsim.runs import slowdowns

Times = Mapping[str, int | None]
"""Job -> execution time [cycles]."""

BARRIER: dict[str, Any] = {"collective": {"kind": "barrier"}}


def point(times: Times, axes: Mapping[str, Any] | None = None, seed: int = 7) -> Result:
    record = {
        "config": {"jobs": [{"name": job} for job in times]},
        "result": {"seed": seed},
        "jobs": [{"job": job, "execution_time": time} for job, time in times.items()],
    }
    return Result(record, axes or {}, {}, {path: f"<{value}>" for path, value in (axes or {}).items()})


def test_slowdowns_are_quotients_of_the_times() -> None:
    axes = {"routing": "minimal"}
    found = slowdowns.compare(
        {
            "together": Results({3: point({"a": 600, "b c": 90, "noise": None}, axes)}),
            "alone-a": Results({3: point({"a": 400})}),
            "alone-b_c": Results({3: point({"b c": 60})}),
            "contention-free": Results({3: point({"a": 320, "b c": 60})}),
        }
    )
    assert [result.summary for result in found] == [
        {
            "execution_time": 600,
            "execution_time_alone": 400,
            "execution_time_contention_free": 320,
            "slowdown_interference": 1.5,
            "slowdown_contention": 1.25,
            "seed": 7,
        },
        {
            "execution_time": 90,
            "execution_time_alone": 60,
            "execution_time_contention_free": 60,
            "slowdown_interference": 1.5,
            "slowdown_contention": 1.0,
            "seed": 7,
        },
    ]
    assert [result.axes for result in found] == [{**axes, "job": job} for job in ("a", "b c")]
    assert [result.labels for result in found] == [{"routing": "<minimal>"}] * 2
    assert [len(result.config["jobs"]) for result in found] == [3, 3]
    assert [dict(result.tables) for result in found] == [{}, {}]
    assert found.points == [0, 1]


def test_without_a_run_free_of_contention_its_time_and_quotient_do_not_exist() -> None:
    (found,) = slowdowns.compare(
        {"together": Results({0: point({"a": 600})}), "alone-a": Results({0: point({"a": 400})})}
    )
    assert found.summary == {
        "execution_time": 600,
        "execution_time_alone": 400,
        "execution_time_contention_free": None,
        "slowdown_interference": 1.5,
        "slowdown_contention": None,
        "seed": 7,
    }


def test_a_program_that_takes_no_time_has_no_slowdown() -> None:
    runs = {"together": 5, "alone-a": 0, "contention-free": 0}
    (found,) = slowdowns.compare({name: Results({0: point({"a": time})}) for name, time in runs.items()})
    assert (found.summary["slowdown_interference"], found.summary["slowdown_contention"]) == (None, None)
    runs = {"together": 0, "alone-a": 5, "contention-free": 1}
    (found,) = slowdowns.compare({name: Results({0: point({"a": time})}) for name, time in runs.items()})
    assert (found.summary["slowdown_interference"], found.summary["slowdown_contention"]) == (0, 5)


def test_a_point_that_some_run_did_not_finish_is_left_out() -> None:
    def runs(factor: int, *points: int) -> Results:
        return Results({each: point({"a": factor * (each + 1)}, {"load": each}, each) for each in points})

    found = slowdowns.compare(
        {
            "together": runs(8, 0, 1, 2, 4),
            "alone-a": runs(4, 0, 2, 3, 4),
            "contention-free": runs(2, 1, 2, 4),
        }
    )
    assert [(result.axes["load"], result.summary["seed"]) for result in found] == [(2, 2), (4, 4)]
    assert [result.summary["execution_time"] for result in found] == [24, 40]
    assert [result.summary["execution_time_alone"] for result in found] == [12, 20]
    assert [result.summary["execution_time_contention_free"] for result in found] == [6, 10]


def document(*jobs: dict[str, Any], **more: Any) -> Experiment:
    return Experiment.of(
        {
            "units": {"cycle": "1 ns", "phit": "4 B"},
            "topology": {"ring": {"routers": 6}},
            "jobs": [{"placement": {"list": [2 * at, 2 * at + 1]}, **job} for at, job in enumerate(jobs)],
            **more,
        }
    )


PROGRAM = {"name": "my solver", "program": BARRIER}
OTHER = {"name": "b.2-x", "program": BARRIER}
NOISE = {"name": "noise", "traffic": {"process": {"bernoulli": {"load": 0.1}}}}
ENDLESS = {"name": "endless", "program": BARRIER, "repeat": "forever"}


def test_the_runs_are_all_jobs_each_program_alone_and_all_programs_without_contention() -> None:
    one = document(PROGRAM, NOISE, OTHER)
    found = slowdowns.variants(one)
    assert list(found) == ["together", "alone-my_solver", "alone-b.2-x", "contention-free"]
    assert found["together"] is one
    stated = [found[name].overrides for name in list(found)[1:]]
    assert stated == [
        one.replacing({"only": ["my solver"]}).overrides,
        one.replacing({"only": ["b.2-x"]}).overrides,
        one.replacing({"only": ["my solver", "b.2-x"], "contention": "none"}).overrides,
    ]


def test_a_program_without_an_end_is_none_to_compare() -> None:
    assert list(slowdowns.variants(document(ENDLESS, PROGRAM))) == [
        "together",
        "alone-my_solver",
        "contention-free",
    ]


def test_a_fabric_has_no_run_without_contention() -> None:
    job = {"name": "a", "program": BARRIER}
    fabric = Experiment.of(
        {"topology": {"fat_tree": {"k": 2, "levels": 2}}, "router": "infiniband", "jobs": [job]}
    )
    assert list(slowdowns.variants(fabric)) == ["together", "alone-a"]


@pytest.mark.parametrize(
    ("experiment", "message"),
    [
        (document(NOISE), "^<dict>: jobs: no job has a program that ends; valid: at least one job"),
        (
            document(PROGRAM).with_axes({"jobs.0.name": ["a", "b"]}),
            r"jobs: points differ in the jobs with a program that ends, \['a'\] and \['b'\]; valid: .*",
        ),
        (document(PROGRAM, OTHER, only=["b.2-x"]), "^<dict>: only: is what differs between the runs"),
        (document(PROGRAM, contention="none"), "^<dict>: contention: is what differs between the runs"),
    ],
)
def test_what_has_nothing_to_compare_is_refused(experiment: Experiment, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        slowdowns.variants(experiment)


def test_the_table_of_interference_is_stored_beside_the_runs(tmp_path: Path) -> None:
    out = tmp_path / "out"
    found = hs.interference(document(PROGRAM, NOISE).text, out=out, progress=False, workers=1)
    assert sorted(path.name for path in out.iterdir()) == [
        "alone-my_solver",
        "contention-free",
        "interference.csv",
        "interference.parquet",
        "together",
    ]
    (row,) = pyarrow.csv.read_csv(out / "interference.csv").to_pylist()
    (result,) = found
    assert {name: row[name] for name in slowdowns.METRICS} == {
        name: pytest.approx(result.summary[name]) for name in slowdowns.METRICS
    }
    assert row["job"] == "my solver"
    stored = {name: hs.load(out / name)[0] for name in ("together", "alone-my_solver", "contention-free")}
    times = [each.jobs[0]["execution_time"] for each in stored.values()]
    assert [result.summary[name] for name in list(slowdowns.METRICS)[:3]] == times
    assert [len(each.jobs) for each in stored.values()] == [2, 1, 1]


def test_values_product_and_keys_vary_the_experiment_as_those_of_a_sweep() -> None:
    found = hs.interference(
        document(PROGRAM).text,
        {"jobs.0.program.collective.repeat": 3},
        product={"measure.seed": [4, 5]},
        progress=False,
        router={"cioq": {"crossbar_latency": 7}},
    )
    assert [result.axes for result in found] == [
        {"measure.seed": seed, "job": "my solver"} for seed in (4, 5)
    ]
    assert [result.summary["seed"] for result in found] == [4, 5]
    for result in found:
        assert result.config["jobs"][0]["program"]["collective"]["repeat"] == 3
        assert result.config["router"]["cioq"]["crossbar_latency"] == 7
