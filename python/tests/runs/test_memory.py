"""A run for which there is no memory ends with a message, never with the process."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hopsim import _core
from hopsim.document.experiment import Experiment
from hopsim.errors import RunError
from hopsim.runs import memory
from hopsim.runs.workers import Threads, simulate_elsewhere

UNDER_A_LIMIT = """
import json, re, resource, sys
import hopsim as hs
from hopsim.runs.sweeps import simulate  # what a run imports takes address space, too
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


STATE_OF_A_FABRIC = """
import json, re, sys
from hopsim import _core
from hopsim.document.experiment import Experiment
from hopsim.runs.sweeps import simulate  # what a run imports
def taken(what):
    return 1024 * int(re.search(what + r":\\s+(\\d+)", open("/proc/self/status").read())[1])
(point,) = Experiment.of(json.loads(sys.argv[1])).points()
survey = json.loads(_core.survey(point.config))
before = taken("VmRSS")
_core.run(point.config, _core.Monitor())
print(survey["state_bytes"] - survey["nodes"] * survey["routers"], taken("VmHWM") - before)
"""

NO_CYCLES: dict[str, Any] = {"warmup": 0, "cycles": 10, "streams": [], "interval": 0}
MICROSECOND: dict[str, Any] = {"time": {"warmup": "0 us", "window": "1 us"}, "streams": []}


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


@linux
@pytest.mark.parametrize("lanes", [1, 2])
def test_the_state_of_a_fabric_takes_what_is_asked_for(lanes: int) -> None:
    """A byte for each switch and node are its forwarding tables, which are there before the run."""
    # Large enough for the system's pages of 2 MiB not to matter.
    document = fabric(24)
    document["router"] = {"infiniband": {"lanes": {"count": lanes}}}
    command = [sys.executable, "-c", STATE_OF_A_FABRIC, json.dumps(document)]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    asked, took = map(int, said.split())
    assert took == pytest.approx(asked, rel=0.1)


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


MACHINE = "MemTotal: 9000 kB\nMemAvailable:    8000 kB\nSwapFree:  100 kB\nHugePages_Total:  3\n"


def group(
    folder: Path, limit: str, used: str, names: tuple[str, str] = ("memory.max", "memory.current")
) -> None:
    """A control group that may take so many bytes and has taken others."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in zip(names, (limit, used), strict=True):
        (folder / name).write_text(f"{text}\n", "utf-8")


def test_of_a_machine_what_it_has_left_counts_and_what_it_may_swap_out(tmp_path: Path) -> None:
    meminfo = tmp_path / "proc" / "meminfo"
    write(tmp_path, proc__meminfo=MACHINE)
    assert memory.available(tmp_path) == 8100 * 1024
    write(tmp_path, proc__meminfo="MemAvailable: 8000 kB\n")
    assert memory.available(tmp_path) == 8000 * 1024
    # Old systems tell only what is free, of which more could be freed.
    write(tmp_path, proc__meminfo="MemTotal: 9000 kB\nMemFree: 8000 kB\nSwapFree: 5 kB\n")
    assert memory.available(tmp_path) is None
    meminfo.write_bytes(b"\xff\xfe\nMemAvailable: 7 kB\n")
    assert memory.available(tmp_path) == 7 * 1024


@pytest.mark.parametrize(
    ("own", "above", "top", "left"),
    [
        # Each may take its limit less what it has taken: the least counts.
        (("900", "100"), ("max", "0"), ("max", "0"), 800),
        (("max", "100"), ("900", "300"), ("max", "0"), 600),
        (("max", "100"), ("max", "0"), ("900", "500"), 400),
        (("900", "100"), ("900", "300"), ("900", "500"), 400),
        (("900", "100"), ("900", "300"), ("2000", "500"), 600),
        (("900", "901"), ("max", "0"), ("max", "0"), 0),
        (("900", "900"), ("max", "0"), ("max", "0"), 0),
        (("900", "899"), ("max", "0"), ("max", "0"), 1),
        (("900", "some"), ("max", "0"), ("max", "0"), None),
        (("max", "100"), ("max", "0"), ("max", "0"), None),
    ],
)
def test_a_control_group_and_all_that_it_is_in_limit_it(
    tmp_path: Path, own: tuple[str, str], above: tuple[str, str], top: tuple[str, str], left: int | None
) -> None:
    write(tmp_path, proc__self__cgroup="0::/jobs/mine\n")
    root = tmp_path / "sys" / "fs" / "cgroup"
    for folder, (limit, used) in ((root / "jobs" / "mine", own), (root / "jobs", above), (root, top)):
        group(folder, limit, used)
    # What is above the topmost group is none.
    group(root.parent, "1", "0")
    assert memory.available(tmp_path) == left


def test_of_a_group_that_is_not_to_be_seen_those_above_count(tmp_path: Path) -> None:
    write(tmp_path, proc__self__cgroup="0::/of/the/machine\n")
    group(tmp_path / "sys" / "fs" / "cgroup", "900", "200")
    assert memory.available(tmp_path) == 700


def test_files_that_were_read_give_way(tmp_path: Path) -> None:
    write(tmp_path, proc__self__cgroup="0::/\n")
    root = tmp_path / "sys" / "fs" / "cgroup"
    group(root, "900", "1000")
    for text, left in (
        ("anon 5\ninactive_file 250\nactive_file 70\n", 150),
        ("inactive_file 50\n", 0),
        ("slab_inactive_file 800\n", 0),
        ("total_inactive_file 101\n", 1),
        ("inactive_file 300 kB\n", 0),
    ):
        (root / "memory.stat").write_text(text, "utf-8")
        assert memory.available(tmp_path) == left


@pytest.mark.parametrize(
    ("line", "left"),
    [
        ("4:memory:/docker/abc", 700),
        ("4:cpu,memory:/docker/abc", 700),
        ("4:memory,cpu:/docker/abc:d", 800),
        # Others limit no memory.
        ("4:cpu:/docker/abc", None),
        ("4:memory_hugetlb:/docker/abc", None),
        ("1:name=systemd:/docker/abc", None),
    ],
)
def test_of_the_first_version_the_group_of_memory_counts(tmp_path: Path, line: str, left: int | None) -> None:
    write(tmp_path, proc__self__cgroup=f"{line}\n")
    names = ("memory.limit_in_bytes", "memory.usage_in_bytes")
    for folder, used in (("docker/abc", "200"), ("docker/abc:d", "100")):
        group(tmp_path / "sys" / "fs" / "cgroup" / "memory" / folder, "900", used, names)
    assert memory.available(tmp_path) == left


def test_the_least_of_all_that_tells_counts(tmp_path: Path) -> None:
    write(tmp_path, proc__meminfo="MemAvailable: 1 kB\n", proc__self__cgroup="4:memory:/a\n0::/b\n")
    root = tmp_path / "sys" / "fs" / "cgroup"
    group(root / "b", "1000", "0")
    group(root / "memory" / "a", "999", "0", ("memory.limit_in_bytes", "memory.usage_in_bytes"))
    assert memory.available(tmp_path) == 999
    group(root / "b", "998", "0")
    assert memory.available(tmp_path) == 998
