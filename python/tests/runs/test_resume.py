"""What survives an interrupt, and what a results directory refuses."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow.compute as pc
import pyarrow.parquet
import pytest

import hopsim as hs
from conftest import TINY, Command, arguments
from hopsim.results.sealed import seal

SLOW_LAST = (
    TINY.replace("p = 1\na = 2\nh = 1", "p = 2\na = 4\nh = 2")
    + """
[sweep.product]
"measure.cycles" = [100, 200, 4_000_000]
"""
)


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_loses_no_finished_point_and_the_rest_is_resumed(
    hopsim: Command, tmp_path: Path, stop: signal.Signals
) -> None:
    (tmp_path / "slow.toml").write_text(SLOW_LAST)
    command = arguments("run", "slow.toml", "--json", "a.json", "--out", "d", "-j", 1)
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as process:
        _wait_for_points(tmp_path / "d" / "points", 2)
        os.kill(process.pid, stop)
        _, message = process.communicate(timeout=60)
    assert process.returncode == {signal.SIGINT: 130, signal.SIGTERM: 143}[stop]
    assert (
        message
        == "hopsim: interrupted, 2 of 3 points finished; run the same command with --out d to resume\n"
    )
    assert len((tmp_path / "a.json").read_text().splitlines()) == 2
    assert hs.load(tmp_path / "d").points == [0, 1]
    assert json.loads((tmp_path / "d" / "manifest.json").read_text())["finished"] == 2
    kept = _points(tmp_path / "d" / "points")
    assert len(hopsim("run", "slow.toml", "--json", "-", "--out", "d").stdout.splitlines()) == 3
    assert kept.items() <= _points(tmp_path / "d" / "points").items()


UNLIKE_SLOW_LAST = """
load = 0.3
[measure]
warmup = 100
streams = ["links"]
[sweep.zip]
topology = [{ mesh = { sides = [3] } }, { dragonfly = { p = 1, a = 2, h = 1 } }, { ring = { routers = 4 } }]
"measure.cycles" = [200, 300, 4_000_000]
"""


def test_an_interrupted_sweep_over_unlike_networks_has_its_tables_and_figures_and_is_resumed(
    hopsim: Command, tmp_path: Path
) -> None:
    (tmp_path / "unlike.toml").write_text(UNLIKE_SLOW_LAST)
    command = arguments("run", "unlike.toml", "--out", "d", "-j", 1)
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        _wait_for_points(tmp_path / "d" / "points", 2)
        os.kill(process.pid, signal.SIGINT)
        process.communicate(timeout=60)
    assert process.returncode == 130
    batches = pyarrow.parquet.read_table(tmp_path / "d" / "streams" / "batches.parquet")
    assert set(batches.column("point").to_pylist()) == {0, 1}
    assert batches.filter(pc.field("point") == 0).column("global_hops_mean").null_count == 10
    assert "d/plots/latency_load.svg" in hopsim("plot", "d", "--format", "svg").stdout
    kept = _points(tmp_path / "d" / "points")
    hopsim("run", "unlike.toml", "--out", "d")
    assert hs.load(tmp_path / "d").points == [0, 1, 2]
    assert kept.items() <= _points(tmp_path / "d" / "points").items()


def _wait_for_points(folder: Path, count: int) -> None:
    end = time.monotonic() + 60
    while len(list(folder.glob("[!.]*.json"))) < count:
        assert time.monotonic() < end
        time.sleep(0.01)


def _points(folder: Path) -> dict[str, int]:
    return {file.name: file.stat().st_mtime_ns for file in folder.glob("*.json")}


def test_a_broken_point_file_is_run_again(hopsim: Command, sweep: Path, tmp_path: Path) -> None:
    whole = hopsim("run", sweep, "--json", "-", "--out", "d").stdout
    broken = sorted((tmp_path / "d" / "points").glob("*.json"))[3]
    broken.write_text(broken.read_text()[:100])
    assert hopsim("run", sweep, "--json", "-", "--out", "d").stdout == whole


def test_a_directory_of_another_experiment_is_refused(hopsim: Command, tiny: Path) -> None:
    hopsim("run", tiny, "--out", "d")
    refused = hopsim("run", tiny, "--out", "d", "--set", "measure.cycles=500", status=2)
    assert refused.stderr == (
        "hopsim: d: holds results of another experiment (measure.cycles: 400 there, 500 here); "
        "choose another directory, or empty this one with --force\n"
    )
    hopsim("run", tiny, "--out", "d", "--set", "measure.cycles=500", "--force")


def test_a_directory_with_another_sweep_is_refused(hopsim: Command, tiny: Path) -> None:
    hopsim("run", tiny, "--out", "d")
    refused = hopsim(
        "run", tiny, "--out", "d", "--set", 'sweep.product={ "measure.seed" = [1, 2] }', status=2
    )
    assert "1 points there, 2 here" in refused.stderr


def test_a_directory_of_another_version_is_refused(hopsim: Command, tiny: Path, tmp_path: Path) -> None:
    hopsim("run", tiny, "--out", "d")
    manifest = tmp_path / "d" / "manifest.json"
    manifest.write_text(json.dumps(seal({**json.loads(manifest.read_text()), "hopsim": "0.0.1"})))
    refused = hopsim("run", tiny, "--out", "d", status=2)
    assert f"hopsim 0.0.1 there, {hs.__version__} here" in refused.stderr


def test_force_removes_results_and_nothing_else(hopsim: Command, tiny: Path, tmp_path: Path) -> None:
    hopsim("run", tiny, "--out", "d")
    (tmp_path / "d" / "notes.txt").write_text("mine")
    hopsim("run", tiny, "--out", "d", "--set", "measure.seed=2", "--force")
    assert (tmp_path / "d" / "notes.txt").read_text() == "mine"
    assert len(hs.load(tmp_path / "d")) == 1


@pytest.mark.parametrize("more", [[], ["--force"]])
def test_a_directory_of_something_else_is_never_touched(
    hopsim: Command, tiny: Path, tmp_path: Path, more: list[str]
) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "thesis.tex").write_text("mine")
    refused = hopsim("run", tiny, "--out", "d", *more, status=2)
    assert "d: is not a results directory (no manifest.json) and not empty (thesis.tex" in refused.stderr
    assert [file.name for file in (tmp_path / "d").iterdir()] == ["thesis.tex"]


def test_an_unwritable_directory_is_refused(hopsim: Command, tiny: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    refused = hopsim("run", tiny, "--out", "file/d", status=2)
    assert refused.stderr == (
        "hopsim: file/d: cannot write results there: Not a directory; choose a directory you may write to\n"
    )


def test_an_unwritable_json_file_is_refused_before_anything_runs(hopsim: Command, tiny: Path) -> None:
    refused = hopsim("run", tiny, "--json", "none/a.json", status=2)
    assert refused.stderr.startswith("hopsim: --json none/a.json: cannot write: No such file or directory")


def test_an_interrupt_while_modules_are_imported_is_one_message(tmp_path: Path) -> None:
    slow = "import os, signal, time\nos.kill(os.getpid(), signal.SIGINT)\ntime.sleep(60)\n"
    (tmp_path / "pyarrow.py").write_text(slow, "utf-8")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}

    def interrupted(*command: str) -> subprocess.CompletedProcess[str]:
        command_line = [sys.executable, *command]
        return subprocess.run(
            command_line, env=environment, capture_output=True, text=True, check=False, timeout=30
        )

    done = interrupted("-m", "hopsim", "check", "dragonfly1056")
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "hopsim: interrupted\n")
    # Who uses it as a library decides that alone.
    assert "KeyboardInterrupt" in interrupted("-c", "import hopsim; hopsim.run").stderr
