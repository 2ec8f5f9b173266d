"""A run for which there is no memory ends with a message, never with the process."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hopsim import _core, memory
from hopsim.errors import RunError
from hopsim.experiment import Experiment
from hopsim.workers import Threads, simulate_elsewhere

UNDER_A_LIMIT = """
import json, re, resource, sys
import hopsim as hs
from hopsim.sweeps import simulate  # what a run imports takes address space, too
taken = 1024 * int(re.search(r"VmSize:\\s+(\\d+)", open("/proc/self/status").read())[1])
resource.setrlimit(resource.RLIMIT_AS, (taken + int(sys.argv[1]) * 2**20,) * 2)
try:
    hs.run(json.loads(sys.argv[2]), workers=1, progress=False)
    print("done")
except (hs.RunError, hs.ConfigError) as error:
    print(error)
"""

OUT_OF_MEMORY = r"out of memory: \d+ MB \(\d+ bytes\) more are not there, or not allowed \(ulimit -v"

linux = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads /proc")


def run_under_a_limit(megabytes: int, document: dict[str, Any]) -> str:
    """What a run says in a process that may take so much more than it has taken when it begins."""
    command = [sys.executable, "-c", UNDER_A_LIMIT, str(megabytes), json.dumps(document)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


NO_CYCLES = {"warmup": 0, "cycles": 10, "streams": [], "interval": 0}
MICROSECOND = {"time": {"warmup": "0 us", "window": "1 us"}, "streams": []}


def torus(side: int, load: float = 0.1, **measure: Any) -> dict[str, Any]:
    return {"topology": {"torus": {"sides": [side] * 2}}, "load": load, "measure": {**NO_CYCLES, **measure}}


def fabric(k: int, messages: dict[str, Any] | None = None) -> dict[str, Any]:
    job = {"flows": [{"source": 1, "destination": 0}]} if messages is None else {"messages": messages}
    return {
        "topology": {"fat_tree": {"k": k, "levels": 3}},
        "router": {"infiniband": {}},
        "jobs": [{"name": "all", **job}],
        "measure": MICROSECOND,
    }


@linux
@pytest.mark.parametrize(
    ("megabytes", "document"),
    [
        (600, torus(1000)),
        (2000, torus(1000)),
        *((megabytes, fabric(24)) for megabytes in (70, 90, 120, 160, 220)),
    ],
)
def test_a_network_for_which_there_is_no_room_is_refused(megabytes: int, document: dict[str, Any]) -> None:
    found = run_under_a_limit(megabytes, document)
    assert re.match(rf"(<dict>: topology: |topology: )?{OUT_OF_MEMORY}", found), found


@linux
def test_a_run_takes_no_more_than_it_is_allowed() -> None:
    (point,) = Experiment.of({"topology": {"torus": {"sides": [8, 8]}}, "load": 0.1}).points()
    monitor = _core.Monitor()
    monitor.allow_memory(100_000)
    with pytest.raises(RunError, match=OUT_OF_MEMORY):
        _core.run(point.config, monitor)
    monitor.allow_memory(1_000_000)
    _core.run(point.config, monitor)


def test_points_side_by_side_share_what_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    (point,) = Experiment.of({"topology": {"torus": {"sides": [8, 8]}}, "load": 0.1}).points()
    monkeypatch.setattr(memory, "available", lambda: 1_000_000)
    for points, fits in ((1, True), (4, False)):
        workers = Threads(4, points, lambda _, result: result, _core.run)
        future = workers.submit(point)
        assert (future.exception() is None) is fits
        workers.stop([future])


def test_a_point_of_an_executor_takes_no_more_than_is_free_where_it_runs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (point,) = Experiment.of({"topology": {"torus": {"sides": [8, 8]}}, "load": 0.1}).points()
    monkeypatch.setattr(memory, "available", lambda: 100_000)
    with pytest.raises(RunError, match=OUT_OF_MEMORY):
        simulate_elsewhere(point.config, ".", _core.version())


def write(root: Path, **files: str) -> Path:
    for name, text in files.items():
        path = root / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return root


def test_the_least_of_machine_and_control_groups_counts(tmp_path: Path) -> None:
    assert memory.available(tmp_path) is None
    write(tmp_path, proc__meminfo="MemTotal: 9000 kB\nMemAvailable:    8000 kB\nSwapFree:  100 kB\n")
    assert memory.available(tmp_path) == 8100 * 1024
    write(tmp_path, proc__self__cgroup="0::/jobs/mine\n")
    groups = tmp_path / "sys" / "fs" / "cgroup"
    for folder, limit, used in ((groups / "jobs", "5000000", "1000000"), (groups / "jobs/mine", "max", "7")):
        folder.mkdir(parents=True)
        (folder / "memory.max").write_text(f"{limit}\n", "utf-8")
        (folder / "memory.current").write_text(f"{used}\n", "utf-8")
    assert memory.available(tmp_path) == 4_000_000
    (groups / "jobs" / "memory.stat").write_text("anon 5\ninactive_file 250000\n", "utf-8")
    assert memory.available(tmp_path) == 4_250_000


def test_control_groups_of_the_first_version_count_too(tmp_path: Path) -> None:
    write(tmp_path, proc__self__cgroup="5:cpu,cpuacct:/\n4:memory:/docker/abc\n")
    # In a container its own group is the topmost one there is.
    top = tmp_path / "sys" / "fs" / "cgroup" / "memory"
    top.mkdir(parents=True)
    (top / "memory.limit_in_bytes").write_text("3000000\n", "utf-8")
    (top / "memory.usage_in_bytes").write_text("3500000\n", "utf-8")
    assert memory.available(tmp_path) == 0
