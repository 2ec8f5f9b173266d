"""`hopsim trace paraver` and `hopsim.write_paraver`: what ranks did in a run, for Paraver, and read again."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import hopsim as hs
from conftest import ROOT, Command
from hopsim import _core
from hopsim.files import program_file

PROGRAM = """mpt 1
name paraver
ranks 3
comm 0 3 0 1 2
comm 1 2 2 0
rank 0 10
c 1000
i 0 1 7 4096 0
j 1 1 7 9000 0
c 400
w 1
w 0
g bcast 0 2 0 8
g allgather 1 -1 500 500
s 2 1 4 0
c 70
rank 1 6
r 0 7 4096 0
c 300
s 0 7 9000 0
g bcast 0 2 0 8
j 0 2 3 6 0
w 0
rank 2 6
g bcast 0 2 8 0
c 90
g allgather 1 -1 500 500
r 0 1 4 0
i 0 1 3 6 0
w 0
end
"""
HOSTS: list[dict[str, Any]] = [
    {},
    {"send_overhead": 30, "receive_overhead": 50},
    {"eager_limit": 1000, "send_overhead": 3, "packet_length": 16, "header_length": 1},
]


def document(host: dict[str, Any], program: dict[str, Any] | None = None) -> dict[str, Any]:
    return {
        "units": {"cycle": "1 ns", "phit": "4 B"},
        "topology": {"mesh": {"sides": [2, 2]}},
        "jobs": [{"name": "app", "program": program or {"list": {"mpt": PROGRAM}}, "host": host}],
        "measure": {"streams": ["operations"]},
    }


def as_mpt(path: Path) -> str:
    return _core.convert_program([path.read_bytes()], ("mpt", "paraver"), []).decode()


@pytest.mark.parametrize("host", HOSTS)
def test_a_program_that_ran_is_read_from_its_trace(host: dict[str, Any], tmp_path: Path) -> None:
    result = hs.run(document(host))
    path = hs.write_paraver(result, tmp_path / "app.prv")
    assert as_mpt(path) == PROGRAM
    # Nothing ends after the run, and the last rank ends with it.
    end = re.match(r"#Paraver \(01/01/1970 at 00:00\):(\d+)_ns:3\(1,1,1\):1:3\(", path.read_text("utf-8"))
    assert end is not None
    assert int(end[1]) == max(row["end"] for row in result.operations.to_pylist())
    assert "\n7    MPI_Bcast\n" in (tmp_path / "app.pcf").read_text("utf-8")
    names = (tmp_path / "app.row").read_text("utf-8")
    assert names.endswith(
        "LEVEL NODE SIZE 3\nnode 0\nnode 1\nnode 2\n\nLEVEL THREAD SIZE 3\nrank 0\nrank 1\nrank 2\n"
    )


def test_a_trace_runs_like_the_program_that_it_is_of(tmp_path: Path) -> None:
    first = hs.run(document({}))
    path = hs.write_paraver(first, tmp_path / "app.prv")
    again = hs.run(document({}, {"trace": {"file": str(path)}}))
    assert again.jobs[0]["execution_time"] == first.jobs[0]["execution_time"]
    assert again.operations.to_pydict() == first.operations.to_pydict()


@pytest.mark.parametrize("speed", [1.0, 4.0])
def test_a_recorded_program_comes_back(speed: float, tmp_path: Path) -> None:
    trace = ROOT / "experiments" / "traces" / "CG.A.16.it2.mpt.xz"
    wanted = document({"cpu_speed": speed}, {"trace": {"file": str(trace)}})
    wanted["topology"] = {"mesh": {"sides": [4, 4]}}
    result = hs.run(wanted)
    found = as_mpt(hs.write_paraver(result, tmp_path / "cg.prv"))
    before = _core.convert_program([program_file.contents(trace)], ("mpt", ""), []).decode()
    # Requests are numbered anew, communicators of messages are lost, computations have the speed of the run.
    assert calls(found) == calls(before)
    computed = [
        sum(int(ns) for ns in re.findall(r"^c (\d+)$", text, re.MULTILINE)) for text in (found, before)
    ]
    assert computed[0] == pytest.approx(computed[1] / speed, rel=1e-3)


def calls(text: str) -> list[str]:
    """Sends, receives and collective operations by rank, without requests, sources and communicators."""
    found: list[str] = []
    for line in text.splitlines():
        kind, *fields = line.rstrip(" *").split(" ")
        if kind in ("i", "j"):
            fields = fields[1:]
        if kind in ("s", "r", "i", "j"):
            found.append(f"{kind} {' '.join(fields[:3])}")
        elif kind in ("rank", "g"):
            found.append(f"{kind} {fields[0]}")
    return found


def test_the_command_writes_a_point_of_a_directory(tmp_path: Path, hopsim: Command) -> None:
    (tmp_path / "app.mpt").write_text(PROGRAM, "utf-8")
    text = (
        'units = { cycle = "1 ns", phit = "4 B" }\ntopology.mesh.sides = [2, 2]\n'
        'jobs = [{ name = "app", program.trace.file = "app.mpt" }]\n'
    )
    (tmp_path / "app.toml").write_text(text, "utf-8")
    hopsim(
        "run",
        str(tmp_path / "app.toml"),
        "--set",
        'measure.streams=["operations"]',
        "--out",
        str(tmp_path / "out"),
    )
    target = tmp_path / "app.prv"
    done = hopsim("trace", "paraver", str(tmp_path / "out"), str(target))
    assert "with .pcf and .row beside it" in done.stdout
    assert as_mpt(target) == PROGRAM
    again = hopsim("trace", "paraver", str(tmp_path / "out"), str(target), status=2)
    assert "exists; valid: another name, or --force to replace it" in again.stderr
    hopsim("trace", "paraver", str(tmp_path / "out"), str(target), "--force")
    info = hopsim("trace", "info", str(target))
    assert "paraver" in info.stdout


def test_what_cannot_be_written_is_refused(tmp_path: Path) -> None:
    result = hs.run(document({}))
    with pytest.raises(hs.ConfigError, match=r"app\.txt: the extension is that of no trace .* valid: \.prv"):
        hs.write_paraver(result, tmp_path / "app.txt")
    with pytest.raises(hs.ConfigError, match=r"job = 'other': no program of that name .* valid: app"):
        hs.write_paraver(result, tmp_path / "app.prv", job="other")
    with pytest.raises(hs.ConfigError, match=r"app\.prv: cannot write: .*; choose a writable path"):
        hs.write_paraver(result, tmp_path / "none" / "app.prv")
    graph = {"graph500": {"scale": 6, "query_time": 10.0}}
    searched = hs.run({**document({}, graph)})
    with pytest.raises(
        hs.ConfigError, match=r"jobs\.program = \"app\": is no sequence of calls of MPI; valid: a job"
    ):
        hs.write_paraver(searched, tmp_path / "app.prv")
    silent = document({})
    del silent["measure"]
    with pytest.raises(hs.NotRecordedError, match="operations was not recorded"):
        hs.write_paraver(hs.run(silent), tmp_path / "app.prv")
    target = ("paraver", "x")
    with pytest.raises(hs.ConfigError, match="has the times of a run, and a program has none; expected mpt"):
        _core.convert_program([PROGRAM.encode()], target, [])
