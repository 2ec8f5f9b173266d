"""`hopsim trace run`: every program in a folder on the network of one document."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

import chakra
import hopsim as hs
from conftest import Command
from hopsim.document.experiment import Experiment
from hopsim.runs.program_folder import ProgramFolder, programs

NETWORK = """
units = { cycle = "1 ns", phit = "4 B" }
topology.torus.sides = [4, 4]
[[jobs]]
traffic.process.bernoulli.load = 0.1
placement.list = [12, 13]
[[jobs]]
name = "programs"
placement.nodes = { first = 0, count = 12 }
program.collective = { kind = "barrier" }
"""


def _goal(ranks: int, sent: int, received: int) -> str:
    """Messages from the first rank to the last, in GOAL."""
    sends = "".join(f"s{number}: send 400b to {ranks - 1} tag 1\n" for number in range(sent))
    receives = "".join(f"r{number}: recv 400b from 0 tag 1\n" for number in range(received))
    middle = "".join(f"rank {rank} {{\n}}\n" for rank in range(1, ranks - 1))
    return f"num_ranks {ranks}\n\nrank 0 {{\n{sends}}}\n{middle}rank {ranks - 1} {{\n{receives}}}\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "programs"
    made.mkdir()
    (made / "b.goal").write_text(_goal(2, 1, 1), "utf-8")
    (made / "c.goal.gz").write_bytes(gzip.compress(_goal(12, 3, 3).encode()))
    for rank in (0, 1):
        kind, partner = (chakra.SEND, "comm_dst") if rank == 0 else (chakra.RECV, "comm_src")
        attributes = {"comm_size": 4000, partner: 1 - rank, "comm_tag": 1}
        chakra.write(made / f"a.{rank}.et", chakra.node(1, kind, attributes=attributes))
    (made / "README.md").write_text("Programs.", "utf-8")
    (tmp_path / "net.toml").write_text(NETWORK, "utf-8")
    return made


def test_programs_are_known_by_how_their_names_end(folder: Path) -> None:
    assert [file.name for file in programs(folder)] == ["a", "b.goal", "c.goal.gz"]
    (folder / "d.et").write_text("no rank")
    assert [file.name for file in programs(folder)] == ["a", "b.goal", "c.goal.gz"]


def test_every_program_runs_as_it_would_alone(folder: Path, hopsim: Command, tmp_path: Path) -> None:
    done = hopsim("trace", "run", "net.toml", "programs", "--job", "1", "--out", "results")
    rows = {line.split()[0]: line.split()[1:] for line in done.stdout.splitlines()[1:4]}
    for name, kind, ranks in [("a", "chakra", "2"), ("b.goal", "goal", "2"), ("c.goal.gz", "goal", "12")]:
        alone = hs.run(
            tmp_path / "net.toml", {"jobs.1.program": {kind: {"file": f"programs/{name}"}}}, progress=False
        ).summary
        expected = [f"{alone[key]:,.10g}" for key in ("execution_time", "messages", "message_bytes")]
        assert rows[name][:4] == [ranks, *expected]
    results = hs.load(tmp_path / "results")
    assert [result.labels["jobs.1.program"] for result in results] == ["a", "b.goal", "c.goal.gz"]
    # Nothing is run again.
    written = {file: file.stat().st_mtime_ns for file in (tmp_path / "results" / "points").iterdir()}
    assert len(list((tmp_path / "results" / "points").glob("*.json"))) == 3
    again = hopsim("trace", "run", "net.toml", "programs", "--job", "1", "--out", "results")
    assert again.stdout == done.stdout
    assert all(file.stat().st_mtime_ns == at for file, at in written.items())


def test_of_programs_without_a_result_it_is_said_why(folder: Path, hopsim: Command, tmp_path: Path) -> None:
    (folder / "broken.goal").write_text("nonsense", "utf-8")
    (folder / "large.goal").write_text(_goal(13, 1, 1), "utf-8")
    (folder / "open.goal").write_text(_goal(2, 1, 2), "utf-8")
    arguments = ("trace", "run", "net.toml", "programs", "--job", "1", "--set", "measure.max_cycles=700")
    done = hopsim(*arguments, status=1)
    said = {line.split(": ")[1]: line for line in done.stderr.splitlines()}
    assert "expected `mpt 1` as first line" in said["broken.goal"]
    assert "the program has 13 ranks, and the placement 12 nodes" in said["large.goal"]
    assert "1 are sent and 2 received" in said["open.goal"]
    # 4,000 bytes need more than 700 cycles.
    assert "700" in said["a"]
    assert done.stderr.splitlines()[-1] == "hopsim: 4 of 6 programs have no result"
    assert [line.split()[0] for line in done.stdout.splitlines() if " - " in line] == [
        "a",
        "broken.goal",
        "large.goal",
        "open.goal",
    ]


@pytest.mark.parametrize(
    ("job", "document", "part"),
    [
        (0, NETWORK, "job = 0: is no job of net.toml that runs a program; valid: 1"),
        (2, NETWORK, "job = 2: is no job of net.toml that runs a program; valid: 1"),
        (1, NETWORK + '[sweep.product]\n"measure.seed" = [1, 2]\n', "has a sweep; valid: none"),
        (
            0,
            "topology.torus.sides = [4, 4]\nload = 0.1\n",
            "valid: a document with a job that runs a program",
        ),
    ],
)
def test_documents_that_take_no_program_are_refused(folder: Path, job: int, document: str, part: str) -> None:
    (folder.parent / "net.toml").write_text(document, "utf-8")
    with pytest.raises(hs.ConfigError) as error:
        ProgramFolder(Experiment.open(str(folder.parent / "net.toml")), folder, job)
    assert part.replace("net.toml", str(folder.parent / "net.toml")) in str(error.value)


def test_folders_without_programs_that_can_run_are_refused(folder: Path, tmp_path: Path) -> None:
    document = Experiment.open(str(tmp_path / "net.toml"))
    with pytest.raises(hs.ConfigError, match=r"nowhere: is no folder; valid: a folder with programs"):
        ProgramFolder(document, tmp_path / "nowhere", 1)
    with pytest.raises(hs.ConfigError, match=r"has no programs; valid: files that end with \.mpt, \.dim"):
        ProgramFolder(document, tmp_path, 1)
    for file in programs(folder)[1:]:
        file.write_text("nonsense", "utf-8")
    for file in folder.glob("*.et"):
        file.unlink()
    with pytest.raises(
        hs.ConfigError, match=r"none of 2 programs can run here; the first, b\.goal: .*nonsense"
    ):
        ProgramFolder(document, folder, 1).document()
