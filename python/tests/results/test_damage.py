"""Damaged results, endless files, poor terminals, closed outputs: a message or a new run, no trace."""

from __future__ import annotations

import io
import json
import os
import pickle
import re
import subprocess
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import forked
import hopsim as hs
from conftest import TINY, Command, arguments
from hopsim.cli.encoding import degrade, encodable
from hopsim.errors import Cancelled
from hopsim.results.sealed import seal

GARBAGE = [b"", b"[]", b"null", b"{}", b"3", b'"text"', b"\xff\xfe\x00garbage", b'{"points": 5}']


@pytest.fixture
def stored(hopsim: Command, sweep: Path, tmp_path: Path) -> tuple[Path, str]:
    """A results directory with tables, and what its run printed."""
    return tmp_path / "d", hopsim("run", sweep, "--json", "-", "--out", "d").stdout


@pytest.mark.parametrize("garbage", GARBAGE)
def test_a_damaged_point_is_run_again(
    hopsim: Command, sweep: Path, stored: tuple[Path, str], garbage: bytes
) -> None:
    folder, whole = stored
    one, other, *_ = sorted((folder / "points").glob("*.json"))
    one.write_bytes(garbage)
    other.with_suffix(".links.parquet").write_bytes(garbage)
    with pytest.warns(
        hs.HopsimWarning, match="2 of the points are damaged and left out, such as points/"
    ) as warned:
        assert len(hs.load(folder)) == 10
    assert [each.filename for each in warned] == [__file__], "it is told of the line that loads them"
    assert hopsim("run", sweep, "--json", "-", "--out", "d").stdout == whole
    assert len(hs.load(folder)) == 12


@pytest.mark.parametrize("key", ["config", "result", "jobs", "tables"])
def test_a_point_without_one_of_its_parts_is_run_again(
    hopsim: Command, tiny: Path, tmp_path: Path, key: str
) -> None:
    whole = hopsim("run", tiny, "--json", "-", "--out", "d").stdout
    (file,) = (tmp_path / "d" / "points").glob("*.json")
    file.write_text(json.dumps(seal(json.loads(file.read_text()) | {key: 1})))
    assert hopsim("run", tiny, "--json", "-", "--out", "d").stdout == whole


@pytest.mark.parametrize("garbage", GARBAGE)
def test_a_damaged_manifest_is_written_again_and_without_it_nothing_is_drawn(
    hopsim: Command, sweep: Path, stored: tuple[Path, str], garbage: bytes
) -> None:
    folder, whole = stored
    points = {file.name: file.stat().st_mtime_ns for file in (folder / "points").iterdir()}
    (folder / "manifest.json").write_bytes(garbage)
    refused = hopsim("plot", "d", status=2).stderr
    assert re.fullmatch(
        r"hopsim: d: manifest.json is damaged \(.+\); give a directory that `hopsim run --out` has written\n",
        refused,
    )
    assert hopsim("run", sweep, "--json", "-", "--out", "d").stdout == whole
    assert points == {file.name: file.stat().st_mtime_ns for file in (folder / "points").iterdir()}
    assert len(hs.load(folder)) == 12


def test_a_manifest_of_something_else_is_left_alone(hopsim: Command, tiny: Path, tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "manifest.json").write_text('{"name": "a web page"}')
    for more in ([], ["--force"]):
        refused = hopsim("run", tiny, "--out", "site", *more, status=2).stderr
        assert "site: is not a results directory (its manifest.json is none of hopsim)" in refused
    assert (tmp_path / "site" / "manifest.json").read_text() == '{"name": "a web page"}'


def test_a_table_damaged_inside_names_its_file(stored: tuple[Path, str]) -> None:
    folder, _ = stored
    path = min((folder / "points").glob("*.links.parquet"))
    content = bytearray(path.read_bytes())
    content[4:80] = bytes(76)  # the end, which says what the file holds, is whole
    path.write_bytes(content)
    damaged = [result for result in hs.load(folder) if path.name.startswith(_digest(folder, result))]
    with pytest.raises(
        hs.ConfigError, match=r"links.parquet: is damaged \(its checksum differs\); the command"
    ):
        _ = damaged[0].links


def _digest(folder: Path, result: hs.Result) -> str:
    points = json.loads((folder / "manifest.json").read_text())["points"]
    return next(point["digest"] for point in points if point["axes"] == result.axes)


@pytest.mark.parametrize("command", ["run", "check"])
def test_an_endless_file_is_refused_by_its_size(hopsim: Command, tmp_path: Path, command: str) -> None:
    refused = hopsim(command, "/dev/zero", status=2).stderr
    assert refused == "hopsim: /dev/zero: is larger than 64 MB; valid: a TOML text file\n"
    for name in ("endless.txt", "endless.graphml"):
        (tmp_path / name).symlink_to("/dev/zero")
        (tmp_path / "net.toml").write_text(f'load = 0.1\n[topology.graph]\nfile = "{name}"\n')
        refused = hopsim(command, "net.toml", status=2).stderr
        assert f'topology.graph.file = "{name}": is larger than 64 MB; valid: GraphML, what ibnet' in refused


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_every_terminal_can_show_everything(sweep: Path, tmp_path: Path, encoding: str) -> None:
    plus_minus = {"ascii": "+-", "latin-1": "±", "utf-8": "±"}[encoding]
    for given in (
        ["run", sweep, "--out", "d"],
        ["list"],
        ["explain", "olm"],
        ["explain", "jain_index"],
        ["run", "nö"],
    ):
        done = forked.run([str(each) for each in given], tmp_path, NO_COLOR="1", PYTHONIOENCODING=encoding)
        assert done.returncode == (2 if "nö" in given else 0), done.stderr
        shown = done.stdout
        if sweep in given:
            rows = [line for line in shown.splitlines() if plus_minus in line and "0." in line]
            assert len(rows) == 6
            assert len({line.index(plus_minus) for line in rows}) == 1, "columns stay in line"
            assert len({len(line) for line in shown.splitlines()[1:8]}) == 1, shown


def test_characters_that_are_lacking_have_stand_ins() -> None:
    assert encodable("± 5·x García ≤ 3 … 漢", "ascii") == "+- 5*x Garcia <= 3 ... ?"
    assert encodable("± García …", "latin-1") == "± García ..."
    assert encodable("± García …", "utf-8") == "± García …"
    assert encodable("± x", "no-such-encoding") == "+- x"


def test_streams_write_the_stand_ins() -> None:
    written = io.BytesIO()
    stream = io.TextIOWrapper(written, "ascii")
    degrade(stream, None)
    stream.write("1 ± 0.5 …")
    stream.flush()
    assert written.getvalue() == b"1 +- 0.5 ..."


def _results() -> hs.Results:
    return hs.Results({0: hs.run(TINY, progress=False)})


@pytest.mark.parametrize(
    "error",
    [
        hs.ConfigError("bad"),
        hs.RunError("deadlock"),
        Cancelled("stopped"),
        hs.NotRecordedError("no links"),
        hs.SweepError(_results(), {3: "deadlock", 5: "deadlock too"}),
    ],
    ids=lambda error: type(error).__name__,
)
def test_exceptions_come_back_from_process_pools(error: Exception) -> None:
    back = pickle.loads(pickle.dumps(error))
    assert type(back) is type(error)
    assert str(back) == str(error)
    if isinstance(error, hs.SweepError) and isinstance(back, hs.SweepError):
        assert back.failures == error.failures
        assert back.results[0].summary == error.results[0].summary
        assert isinstance(back.results[0].nodes, pa.Table)


@pytest.mark.parametrize("workers", [0, -1, 1.5, True, "2"])
def test_a_number_of_threads_that_is_none_is_refused(workers: Any) -> None:
    with pytest.raises(hs.ConfigError, match=r"workers = .*: is not a number of threads; valid: 1 …"):
        hs.sweep(TINY, load=[0.1], workers=workers)


WRITING = [["list"], ["--help"], ["check", "tiny.toml"], ["run", "tiny.toml", "--json", "-"], ["schema"]]


@pytest.mark.parametrize("given", WRITING, ids=" ".join)
@pytest.mark.parametrize("target", ["/dev/full", "closed"])
def test_lost_output_is_an_error(tiny: Path, tmp_path: Path, given: list[str], target: str) -> None:
    redirection = ">&-" if target == "closed" else ">/dev/full"
    done = _shell(f'"$@" {redirection}', given, tmp_path)
    reason = "standard output is closed; valid: " if target == "closed" else "No space left on device"
    assert done.returncode == 1
    assert reason in done.stderr.decode()
    assert done.stderr.count(b"\n") == 1, done.stderr


def test_results_that_cannot_be_written_to_their_end_name_the_file(tiny: Path, tmp_path: Path) -> None:
    # Files of at most 1,024 bytes; the signal about larger ones is ignored, as on a full disk there is none.
    done = _shell("trap '' XFSZ; ulimit -f 1; \"$@\" 2>message", ["run", "tiny.toml", "--out", "d"], tmp_path)
    assert done.returncode == 1
    message = (tmp_path / "message").read_text()
    assert re.fullmatch(r"hopsim: d/.*\.(json|parquet): File too large\n", message), message
    assert not list((tmp_path / "d").rglob(".*")), "nothing is left half-written"


@pytest.mark.parametrize("given", [["list"], ["schema"], ["run", "tiny.toml", "--json", "-"]], ids=" ".join)
def test_a_reader_that_stops_ends_the_command_quietly(tiny: Path, tmp_path: Path, given: list[str]) -> None:
    # The reader is gone before anything is written.
    done = _shell('{ sleep 0.5; "$@"; echo $? >status; } | true', given, tmp_path)
    assert done.stderr == b""
    assert (tmp_path / "status").read_text() == "1\n"


@pytest.mark.parametrize("redirection", ["2>&-", "2>/dev/full"])
@pytest.mark.usefixtures("tiny")
def test_lost_messages_leave_result_and_status(hopsim: Command, tmp_path: Path, redirection: str) -> None:
    whole = hopsim("run", "tiny.toml", "--json", "-").stdout
    quiet = _shell(f'"$@" {redirection}', ["run", "tiny.toml", "--json", "-"], tmp_path)
    assert (quiet.returncode, quiet.stdout.decode()) == (0, whole)
    assert _shell(f'"$@" {redirection}', ["run", "none.toml"], tmp_path).returncode == 2


def _shell(script: str, given: list[str], folder: Path) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        ["bash", "-c", script, "bash", *arguments(*given)],
        cwd=folder,
        env={**os.environ, "NO_COLOR": "1"},
        capture_output=True,
        timeout=120,
        check=False,
    )


def test_a_document_comes_from_standard_input(hopsim: Command, tiny: Path, tmp_path: Path) -> None:
    whole = hopsim("run", tiny, "--json", "-").stdout
    piped = _shell('cat tiny.toml | "$@"', ["run", "-", "--json", "-"], tmp_path)
    assert piped.stdout.decode() == whole

    def given(file: Path, *command: str) -> subprocess.CompletedProcess[str]:
        return forked.run(command, tmp_path, stdin=file)

    assert "OK" in given(tiny, "check", "-").stdout
    assert given(tiny, "run", "-").returncode == 0
    assert [path.name.partition("-")[0] for path in (tmp_path / "results").iterdir()] == ["stdin"]
    (tmp_path / "wrong.toml").write_text("lode = 1\n")
    refused = given(tmp_path / "wrong.toml", "run", "-")
    assert refused.returncode == 2
    assert refused.stderr.startswith(
        "hopsim: <stdin>: line 1, column 1: lode = 1: unknown key; did you mean `load`?"
    )
    assert "<stdin>: is larger than 64 MB" in given(Path("/dev/zero"), "check", "-").stderr
    assert b"<stdin>: is closed" in _shell('"$@" <&-', ["check", "-"], tmp_path).stderr


def test_names_of_files_may_be_anything(hopsim: Command, tmp_path: Path) -> None:
    undecodable = os.fsdecode(b"odd\xff.toml")
    (tmp_path / undecodable).write_text(TINY)
    assert "OK" in hopsim("check", undecodable).stdout
    assert "Results: results/odd" in hopsim("run", undecodable).stdout


def test_text_that_is_none_and_arguments_of_the_wrong_kind_are_refused() -> None:
    wrong: Any = [("load", 0.1)]
    with pytest.raises(hs.ConfigError, match=r"<text>: '.udc80' is no character; valid: Unicode text"):
        hs.run(f"{TINY}\n# \udc80")
    with pytest.raises(hs.ConfigError, match=r"values = \[\('load', 0.1\)\]: is not a dictionary"):
        hs.run(TINY, wrong)
    with pytest.raises(hs.ConfigError, match=r"product = \[\('load', 0.1\)\]: is not a dictionary"):
        hs.sweep(TINY, product=wrong)


FABRIC = """\
topology.ring.routers = 3
router = "infiniband"
jobs = [{ flows = [{ source = 0, destination = 1 }] }]
measure.time.window = "10 us"
"""
FOUND = """\
topology.mesh.sides = [2, 2]
load = 0.1
measure = { warmup = "auto", cycles = 500 }
"""


@pytest.mark.parametrize("is_null", [True, False])
@pytest.mark.parametrize(
    ("document", "name"), [(FABRIC, "time_s"), (FABRIC, "throughput_gbps"), (FOUND, "warmup_cycles")]
)
def test_a_record_without_what_all_such_runs_measure_is_run_again(
    hopsim: Command, tmp_path: Path, document: str, name: str, is_null: bool
) -> None:
    path = tmp_path / "a.toml"
    path.write_text(document, "utf-8")
    whole = hopsim("run", path, "--json", "-", "--out", "d").stdout
    (file,) = (tmp_path / "d" / "points").glob("*.json")
    record = json.loads(file.read_text())
    result = {key: value for key, value in record["result"].items() if key != name}
    file.write_text(json.dumps(seal(record | {"result": result | ({name: None} if is_null else {})})))
    with pytest.warns(hs.HopsimWarning, match=rf"result\.{name}: (must be a number|is missing)"):
        assert len(hs.load(tmp_path / "d")) == 0
    assert hopsim("run", path, "--json", "-", "--out", "d").stdout == whole


def test_the_warm_up_of_a_program_that_tells_none_is_none(hopsim: Command, tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    path.write_text(
        'topology.ring.routers = 3\nunits = { cycle = "1 ns", phit = "4 B" }\n'
        'jobs = [{ program.collective.kind = "barrier" }]\n'
        'measure = { interval = 5, streams = ["link_series", "congestion_trees"] }\n',
        "utf-8",
    )
    hopsim("run", path, "--out", "d")
    (file,) = (tmp_path / "d" / "points").glob("*.json")
    record = json.loads(file.read_text())
    file.write_text(json.dumps(seal(record | {"result": record["result"] | {"warmup_cycles": None}})))
    (result,) = hs.load(tmp_path / "d")
    assert result.why()


def test_a_manifest_without_a_version_is_told(hopsim: Command, tiny: Path, tmp_path: Path) -> None:
    hopsim("run", tiny, "--out", "d")
    manifest = tmp_path / "d" / "manifest.json"
    manifest.write_text(json.dumps(seal(json.loads(manifest.read_text()) | {"hopsim": ""})))
    with pytest.raises(hs.ConfigError, match=r"manifest\.json is damaged \(hopsim: must be a version"):
        hs.load(tmp_path / "d")
