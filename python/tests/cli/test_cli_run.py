"""The contract of `hopsim run`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pyarrow.csv
import pyarrow.parquet
import pytest

from conftest import Command

SUMMARY = {
    "offered_load",
    "accepted_load",
    "packet_latency_mean",
    "packet_latency_min",
    "packet_latency_p50",
    "packet_latency_p99",
    "packet_latency_max",
    "injection_latency_mean",
    "network_latency_mean",
    "base_latency_mean",
    "hops_mean",
    "local_hops_mean",
    "global_hops_mean",
    "misrouted_fraction",
    "misrouted_at_injection_fraction",
    "misrouted_in_source_group_fraction",
    "misrouted_in_intermediate_group_fraction",
    "misrouted_in_destination_group_fraction",
    "misrouted_over_local_fraction",
    "misrouted_over_global_fraction",
    "misrouted_over_local_and_global_fraction",
    "router_injection_min",
    "router_injection_max",
    "router_injection_max_min_ratio",
    "router_injection_cov",
    "node_injection_min",
    "node_injection_mean",
    "node_injection_max",
    "jain_index",
    "packets_generated",
    "packets_injected",
    "packets_delivered",
    "cycles",
    "seed",
}


def test_json_holds_config_and_the_whole_summary(hopsim: Command, tiny: Path) -> None:
    done = hopsim("run", tiny, "--json", "-")
    (line,) = done.stdout.splitlines()
    record = json.loads(line)
    assert list(record) == ["config", "result"]
    assert set(record["result"]) >= SUMMARY
    assert record["result"]["seed"] == record["config"]["measure"]["seed"] == 1


def test_json_is_the_same_bytes_for_any_number_of_threads(hopsim: Command, sweep: Path) -> None:
    outputs = {hopsim("run", sweep, "--json", "-", "-j", threads).stdout for threads in (1, 2, 2, 5)}
    assert len(outputs) == 1
    assert len(outputs.pop().splitlines()) == 12


def test_json_lines_are_in_point_order(hopsim: Command, sweep: Path) -> None:
    lines = hopsim("run", sweep, "--json", "-", "-j", 2).stdout.splitlines()
    configs = [json.loads(line)["config"] for line in lines]
    order = [(next(iter(config["routing"])), config["measure"]["seed"]) for config in configs]
    assert order == [
        (routing, seed) for routing in ("minimal", "valiant") for _ in range(3) for seed in (1, 2)
    ]


def test_json_goes_to_a_file_and_nothing_to_standard_output(
    hopsim: Command, tiny: Path, tmp_path: Path
) -> None:
    assert hopsim("run", tiny, "--json", "a.json").stdout == ""
    assert (tmp_path / "a.json").read_text() == hopsim("run", tiny, "--json", "-").stdout
    assert not (tmp_path / "results").exists()


def test_json_is_the_same_whether_points_are_stored_or_read_back(
    hopsim: Command, sweep: Path, tmp_path: Path
) -> None:
    plain = hopsim("run", sweep, "--json", "-").stdout
    assert hopsim("run", sweep, "--json", "-", "--out", "d").stdout == plain
    before = sorted((file.name, file.stat().st_mtime_ns) for file in (tmp_path / "d" / "points").iterdir())
    assert hopsim("run", sweep, "--json", "-", "--out", "d").stdout == plain
    assert before == sorted(
        (file.name, file.stat().st_mtime_ns) for file in (tmp_path / "d" / "points").iterdir()
    )


def test_streams_do_not_change_the_result(hopsim: Command, tiny: Path) -> None:
    def results(*more: str) -> object:
        return json.loads(hopsim("run", tiny, "--json", "-", *more).stdout)["result"]

    assert results() == results("--set", 'measure.streams=["nodes", "routers", "links", "latency_histogram"]')
    assert results() == results("--set", "measure.interval=10")


def test_several_jobs_each_have_a_record(hopsim: Command, tmp_path: Path) -> None:
    (tmp_path / "two.toml").write_text(
        "load = 0.2\n"
        "topology.dragonfly = { p = 2, a = 4, h = 2 }\n"
        "measure = { warmup = 100, cycles = 500 }\n"
        '[[jobs]]\nname = "left"\nplacement = { nodes = { first = 0, count = 36 } }\n'
        '[[jobs]]\nname = "right"\nplacement = { nodes = { first = 36, count = 36 } }\n'
    )
    record = json.loads(hopsim("run", "two.toml", "--json", "-").stdout)
    assert [job["job"] for job in record["jobs"]] == ["left", "right"]
    delivered = sum(job["packets_delivered"] for job in record["jobs"])
    assert delivered == record["result"]["packets_delivered"]
    hopsim("run", "two.toml", "--out", "d")
    assert pyarrow.parquet.read_table(tmp_path / "d" / "jobs.parquet").num_rows == 2


def test_set_replaces_values_from_left_to_right(hopsim: Command, tiny: Path) -> None:
    done = hopsim("run", tiny, "--json", "-", "--set", "measure.seed=2", "--set", "measure.seed=7")
    assert json.loads(done.stdout)["result"]["seed"] == 7


def test_without_json_a_table_says_what_came_out_and_where_it_is(
    hopsim: Command, sweep: Path, tmp_path: Path
) -> None:
    done = hopsim("run", sweep)
    assert "accepted" in done.stdout
    assert "±" in done.stdout
    assert "over 2 seeds" in done.stdout
    rows = [
        line.split() for line in done.stdout.splitlines() if line.split()[:1] in (["minimal"], ["valiant"])
    ]
    assert [row[:2] for row in rows] == [
        [routing, load] for routing in ("minimal", "valiant") for load in ("0.1", "0.3", "0.5")
    ]
    directory = tmp_path / done.stdout.splitlines()[-1].removeprefix("Results: ")
    assert (directory / "manifest.json").exists()


def test_results_directory_holds_everything(hopsim: Command, sweep: Path, tmp_path: Path) -> None:
    hopsim("run", sweep, "--out", "d", "--csv")
    folder = tmp_path / "d"
    summary = pyarrow.parquet.read_table(folder / "summary.parquet")
    assert summary.num_rows == 12
    assert summary.column_names[:4] == ["point", "routing", "load", "measure.seed"]
    assert pyarrow.csv.read_csv(folder / "summary.csv").num_rows == 12
    for name in ("nodes", "routers", "links", "latency_histogram", "timeseries", "batches"):
        table = pyarrow.parquet.read_table(folder / "streams" / f"{name}.parquet")
        assert table.column_names[0] == "point"
        assert set(table.column("point").to_pylist()) == set(range(12))
    manifest = json.loads((folder / "manifest.json").read_text())
    assert (manifest["finished"], manifest["total"]) == (12, 12)
    assert manifest["seeds"] == [1, 2]
    assert manifest["peak_memory_bytes"] > 1_000_000
    assert manifest["config"]["topology"]["dragonfly"]["a"] == 2


def test_a_preset_is_run_by_its_name(hopsim: Command) -> None:
    done = hopsim(
        "run", "dragonfly1056", "--json", "-", "--set", "measure.cycles=20", "--set", "measure.warmup=0"
    )
    assert json.loads(done.stdout)["config"]["topology"]["dragonfly"]["groups"] == 33


def test_progress_is_silent_when_nobody_watches(hopsim: Command, sweep: Path) -> None:
    assert hopsim("run", sweep, "--json", "-").stderr == ""


@pytest.mark.parametrize(
    "arguments", [["--help"], ["run", "--help"], ["check", "--help"], ["plot", "--help"]]
)
def test_help_is_help(hopsim: Command, arguments: list[str]) -> None:
    assert hopsim(*arguments).stdout.startswith("Usage: hopsim")


def test_check_counts_points_and_network(hopsim: Command, sweep: Path) -> None:
    counted, network, *deadlocks, _, last = hopsim("check", sweep).stdout.splitlines()
    assert (counted, last) == ("points: 12", "OK")
    assert network.startswith("network: 6 nodes, 6 routers, ")
    starts = [line.partition(": free of deadlock: ")[0] for line in deadlocks]
    assert starts == ["minimal", "valiant"]


def test_a_state_that_is_refused_takes_no_results_directory(
    hopsim: Command, tiny: Path, tmp_path: Path
) -> None:
    state, out, new = tmp_path / "state", tmp_path / "out", tmp_path / "new"
    hopsim("run", tiny, "--json", "-", "--save-state", state, "--save-at", 200)
    refused: list[list[object]] = [
        ["--from-state", state, "--set", "load=0.6"],
        ["--from-state", tmp_path / "none", "--set", "load=0.7"],
        ["--save-state", new, "--save-at", 501, "--set", "load=0.8"],
        ["--save-state", new, "--set", 'measure.streams=["waits"]'],
        ["--save-state", tmp_path / "none" / "state", "--set", "load=0.9"],
    ]
    for options in refused:
        hopsim("run", tiny, "--out", out, *options, status=2)
        assert not out.exists()
        assert not new.exists()
    hopsim("run", tiny, "--out", out, "--from-state", state)


def test_a_process_may_run_any_command_after_list() -> None:
    script = (
        "import contextlib\n"
        "from hopsim.cli import main\n"
        "for command in ['list'], ['--help'], ['list']:\n"
        "    with contextlib.suppress(SystemExit):\n"
        "        main(command)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert [done.returncode, done.stderr] == [0, ""]
    assert done.stdout.count("Usage: ") == 1
