"""Sweeps over unlike points: networks, jobs, processes and records that differ."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hopsim as hs
from conftest import ROOT, TINY, Command
from hopsim.document.experiment import Experiment, preset_names
from hopsim.files import toml
from hopsim.kinds import is_list, is_table
from hopsim.plot import View, draw_all
from hopsim.runs.sweeps import sweep

# The networks that are compared here need not have links of the same latency.
pytestmark = pytest.mark.filterwarnings("ignore::hopsim.HopsimWarning")

STREAMS = ["nodes", "routers", "links", "occupancy", "generation", "latency_histogram", "injection_waits"]
MEASURE = {"warmup": 50, "cycles": 200, "batches": 5}
DRAGONFLY = {"dragonfly": {"p": 1, "a": 2, "h": 1}}
HALVES: list[dict[str, Any]] = [
    {"name": "left", "placement": {"nodes": {"first": 0, "count": 3}}, "traffic": {"request_reply": {}}},
    {"name": "right", "placement": {"nodes": {"first": 3, "count": 3}}},
]
TINY_ONES: dict[str, dict[str, Any]] = {
    "dragonfly": {
        "topology": DRAGONFLY,
        "load": 0.3,
        "measure": {**MEASURE, "interval": 20, "streams": STREAMS},
    },
    "idle": {"topology": DRAGONFLY, "load": 0, "measure": {**MEASURE, "interval": 50}},
    "two jobs": {
        "topology": DRAGONFLY,
        "load": 0.2,
        "jobs": HALVES,
        "router": {"cioq": {"vcs": {"local": 4, "global": 2}}},
        "measure": {**MEASURE, "interval": 40, "streams": ["nodes", "latency_histogram"]},
    },
    "torus": {
        "topology": {"torus": {"sides": [4, 3]}},
        "load": 1,
        "routing": "adaptive",
        "router": {"input_queued": {"vcs": {"network": 3, "injection": 1}}},
        "measure": {**MEASURE, "interval": 100, "streams": STREAMS},
    },
    "bursts": {
        "topology": {"mesh": {"sides": [3, 3]}},
        "jobs": [{"traffic": {"process": {"synchronised_bursts": {"packets": 3}}}}],
        "measure": {**MEASURE, "streams": ["nodes", "routers"]},
    },
    "tree": {
        "topology": {"fat_tree": {"k": 2, "levels": 2}},
        "load": 0.5,
        "measure": {**MEASURE, "batches": 10, "seed": 5, "streams": ["links", "occupancy"]},
    },
    "graph": {
        "topology": {"graph": {"edges": [{"between": [0, 1]}, {"between": [1, 2]}], "nodes_per_router": 2}},
        "load": 0.4,
        "routing": "up_down",
        "measure": {**MEASURE, "streams": ["routers", "latency_histogram"]},
    },
    "valiant": {
        "topology": {"dragonfly": {"p": 2, "a": 2, "h": 1}},
        "load": 0.9,
        "routing": {"valiant": {"policy": "crg"}},
        "jobs": [{"traffic": {"pattern": "ADV+1", "packet_length": 4}}],
        "measure": {**MEASURE, "interval": 25, "streams": ["generation"]},
    },
}


def without_nothing(value: Any) -> Any:
    """A resolved configuration as a document: TOML has no null."""
    if is_table(value):
        return {key: without_nothing(field) for key, field in value.items() if field is not None}
    return [without_nothing(item) for item in value] if is_list(value) else value


def resolved(experiment: Experiment) -> dict[str, Any]:
    """The first point as a document that says everything; `compat` has done its work."""
    config = without_nothing(json.loads(experiment.points()[0].config))
    config.pop("compat", None)
    return config


# Programs need a section of their own, `units`, fabrics lack some; a sweep has the same ones at all points.
EXAMPLES = [
    path
    for path in sorted((ROOT / "experiments").glob("*.toml"))
    if not re.search(
        r"\nprogram = |router\.(infiniband|ethernet)|\{ (infiniband|ethernet) = ", path.read_text("utf-8")
    )
]

EVERYTHING = {
    **{path.stem: resolved(Experiment.open(path)) for path in EXAMPLES},
    **{name: resolved(Experiment.open(name)) for name in preset_names()},
    **{name: resolved(Experiment.of(document)) for name, document in TINY_ONES.items()},
}


def side_by_side(*documents: Mapping[str, Any]) -> dict[str, Any]:
    """A sweep whose points are these documents, every section of which is varied."""
    # Most networks are in order, and say nothing of faults.
    whole: list[dict[str, Any]] = [{"faults": [], **document} for document in documents]
    assert len({tuple(sorted(document)) for document in whole}) == 1
    return {"sweep": {"zip": {key: [document[key] for document in whole] for key in whole[0]}}}


@settings(max_examples=60)
@given(st.lists(st.sampled_from(sorted(EVERYTHING)), min_size=2, max_size=2))
def test_any_two_documents_that_are_valid_alone_are_valid_as_a_sweep(names: list[str]) -> None:
    documents = [EVERYTHING[name] for name in names]
    alone = [Experiment.of(document).points()[0] for document in documents]
    together = Experiment.of(side_by_side(*documents)).points()
    assert [point.digest for point in together] == [point.digest for point in alone]


@settings(max_examples=3)
@given(st.permutations(sorted(TINY_ONES)).map(lambda names: names[:2]))
def test_any_two_documents_run_as_they_do_alone_into_one_table(names: list[str]) -> None:
    documents = [EVERYTHING[name] for name in names]
    alone = [sweep(document)[0] for document in documents]
    with tempfile.TemporaryDirectory() as folder:
        results = sweep(side_by_side(*documents), out=folder)
        assert [result.record for result in results] == [result.record for result in alone]
        assert_one_table(results, alone)
        for name in results.recorded:
            stored = pyarrow.parquet.read_table(Path(folder) / "streams" / f"{name}.parquet")
            assert stored.equals(results.stream(name))
            assert_stacked(
                stored, {i: point.tables[name] for i, point in enumerate(alone) if name in point.tables}
            )
        again = sweep(side_by_side(*documents), out=folder)
        assert again.table.equals(results.table)
        assert draw_all(hs.load(folder), Path(folder) / "plots", View(), formats=["svg"])


def assert_one_table(results: hs.Results, alone: list[hs.Result]) -> None:
    for row, result in zip(results.to_pylist(), alone, strict=True):
        summary = {name: value for name, value in row.items() if name not in ("point", *results.axes)}
        assert {name: value for name, value in summary.items() if name in result.summary} == result.summary
        assert {summary[name] for name in summary if name not in result.summary} <= {None}


def assert_stacked(table: pa.Table, parts: Mapping[int, pa.Table]) -> None:
    """A table is those of the points, below one another, with null in the columns that a point lacks."""
    columns = ["point", *dict.fromkeys(name for part in parts.values() for name in part.column_names)]
    assert table.column_names == columns
    rows = [{"point": point, **row} for point, part in parts.items() for row in part.to_pylist()]
    assert table.to_pylist() == [{name: row.get(name) for name in columns} for row in rows]
    for part in parts.values():
        assert [table.schema.field(name).type for name in part.column_names] == part.schema.types


def test_topologies_and_jobs_are_swept_from_the_command_line_and_resumed(
    hopsim: Command, tmp_path: Path
) -> None:
    document = side_by_side(*(EVERYTHING[name] for name in ("torus", "two jobs", "dragonfly", "bursts")))
    (tmp_path / "unlike.toml").write_text(toml.document(document))
    lines = hopsim("run", "unlike.toml", "--out", "d", "--json", "-", "--csv").stdout
    assert len(lines.splitlines()) == 4
    for name in ("batches", "links", "nodes"):
        table = pyarrow.csv.read_csv(tmp_path / "d" / "streams" / f"{name}.csv")
        assert (
            table.num_rows
            == pyarrow.parquet.read_table(tmp_path / "d" / "streams" / f"{name}.parquet").num_rows
        )
    assert pyarrow.parquet.read_table(tmp_path / "d" / "jobs.parquet").num_rows == 5
    whole = {path.name: path.read_bytes() for path in (tmp_path / "d" / "streams").glob("*.parquet")}
    sorted((tmp_path / "d" / "points").glob("*.json"))[1].unlink()
    assert hopsim("run", "unlike.toml", "--out", "d", "--json", "-").stdout == lines
    assert whole == {path.name: path.read_bytes() for path in (tmp_path / "d" / "streams").glob("*.parquet")}


def test_part_of_a_sweep_has_the_columns_and_types_of_the_whole() -> None:
    results = sweep(TINY, load=[0, 1, 0.5], product={"measure.seed": [1, 2]})
    whole = results.table.schema
    assert whole.field("load").type == pa.float64()
    assert whole.field("measure.seed").type == pa.int64()
    assert whole.field("packets_delivered").type == pa.int64()
    assert whole.field("packet_latency_mean").type == pa.float64()
    assert results["packet_latency_mean"].to_pylist()[0] is None
    for part in (results[:1], results[:3], results[3:]):
        assert part.table.schema == whole


def test_a_column_of_some_points_only_is_null_in_the_others_and_keeps_its_type() -> None:
    results = sweep(side_by_side(EVERYTHING["dragonfly"], EVERYTHING["bursts"]))
    table = results.table
    assert table.schema.field("bursts_completed").type == pa.int64()
    assert table.schema.field("cycles_per_burst").type == pa.float64()
    assert table.column("bursts_completed").to_pylist()[0] is None
    assert table.column("global_hops_mean").to_pylist()[1] is None


def test_jobs_of_unlike_points_share_a_table() -> None:
    jobs = sweep(side_by_side(EVERYTHING["torus"], EVERYTHING["two jobs"])).jobs
    assert jobs.column("point").to_pylist() == [0, 1, 1]
    assert jobs.column("job").to_pylist()[1:] == ["left", "right"]
    responses = jobs.column("response_latency_mean").to_pylist()
    assert [value is None for value in responses] == [True, False, True]


def test_a_point_that_occurs_twice_is_no_second_seed(hopsim: Command, tmp_path: Path) -> None:
    (tmp_path / "twice.toml").write_text(TINY + "[sweep.product]\nload = [0.3, 0.3]\n")
    once, twice = (
        hopsim("run", "twice.toml", "--out", f"d{len(more)}", *more).stdout.splitlines()
        for more in (["--set", "load=0.3"], [])
    )
    (row,) = [line for line in twice if line.split()[:1] == ["0.3"]]
    (alone,) = [line for line in once if line.split()[:1] == ["0.300"]]
    assert row.split()[1:] == alone.split()[1:]


TWO_JOBS = """
topology.dragonfly = { p = 1, a = 2, h = 1 }
measure = { warmup = 50, cycles = 200 }
[[jobs]]
name = "victim"
placement = { nodes = { first = 0, count = 3 } }
traffic = { process = { bernoulli = { load = 0.25 } } }
[[jobs]]
name = "aggressor"
placement = { nodes = { first = 3, count = 3 } }
[sweep.product]
"jobs.1.traffic.process.bernoulli.load" = [0.125, 0.5]
"""


def test_two_jobs_are_two_rows_each_with_its_own_load(hopsim: Command, tmp_path: Path) -> None:
    (tmp_path / "two.toml").write_text(TWO_JOBS)
    lines = hopsim("run", "two.toml", "--out", "d").stdout.splitlines()
    (head,) = [line for line in lines if "accepted" in line]
    assert head.split()[:6] == ["load", "of", "aggressor", "job", "offered", "accepted"]
    rows = [line.split() for line in lines if "victim" in line or "aggressor" in line][1:]
    assert [row[:3] for row in rows] == [
        ["0.125", "victim", "0.250"],
        ["0.125", "aggressor", "0.125"],
        ["0.5", "victim", "0.250"],
        ["0.5", "aggressor", "0.500"],
    ]
    jobs = hs.load(tmp_path / "d").jobs.to_pylist()
    assert [row[3] for row in rows] == [f"{job['accepted_load']:.4f}" for job in jobs]


def test_lists_are_whole_in_the_table(hopsim: Command, tmp_path: Path) -> None:
    (tmp_path / "lists.toml").write_text(
        TINY + '[sweep.product]\n"measure.streams" = [["nodes"], [], ["links", "routers"]]\n'
    )
    lines = hopsim("run", "lists.toml", "--out", "d").stdout.splitlines()
    assert [line.split("  ")[0].strip() for line in lines if "0.300" in line] == [
        "[nodes]",
        "none",
        "[links, routers]",
    ]


LABELS = """
[sweep.labels]
routing = ["MIN", "VAL"]
"""


def test_names_of_values_in_the_document_stand_in_table_and_manifest(hopsim: Command, sweep: Path) -> None:
    plain = sweep.read_text()
    hopsim("run", sweep, "--out", "d")
    sweep.write_text(plain + LABELS)
    table = hopsim("run", sweep, "--out", "d").stdout
    assert [line.split()[0] for line in table.splitlines() if "±" in line][:6] == ["MIN"] * 3 + ["VAL"] * 3
    results = hs.load(sweep.parent / "d")
    assert [result.labels for result in results[5:7]] == [{"routing": "MIN"}, {"routing": "VAL"}]
    assert results["routing"].to_pylist()[0] == "minimal"


def test_a_value_with_an_empty_name_is_no_blank_cell(hopsim: Command, sweep: Path) -> None:
    table = hopsim("run", sweep, "--set", 'sweep.labels.routing=["", "VAL"]', "--out", "d").stdout
    assert [line.split()[0] for line in table.splitlines() if "±" in line][:6] == ["minimal"] * 3 + [
        "VAL"
    ] * 3


def test_names_that_do_not_fit_are_refused(hopsim: Command, sweep: Path) -> None:
    refused = hopsim("run", sweep, "--set", 'sweep.labels.routing=["A"]', status=2)
    assert "sweep.labels.routing" in refused.stderr
    assert "has length 2" in refused.stderr


def test_labelled_names_values_of_results() -> None:
    results = sweep(TINY, load=[0.1, 0.2]).labelled({"load": ["low", "high"]})
    assert [result.labels for result in results] == [{"load": "low"}, {"load": "high"}]
    for names in (["low"], ["low", "low"]):
        with pytest.raises(
            hs.ConfigError, match=r"--label load=.*: must be 2 different names, for .* 0\.1, 0\.2"
        ):
            results.labelled({"load": names})
    with pytest.raises(
        hs.ConfigError, match=r"--label lod: is not an axis of the sweep; axes: load; did you mean"
    ):
        results.labelled({"lod": ["a", "b"]})
