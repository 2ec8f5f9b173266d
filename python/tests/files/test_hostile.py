"""Files, names and values that are made to do harm: each is refused with a message, and in bounded time."""

from __future__ import annotations

import csv
import gzip
import lzma
import os
import shutil
import stat
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import hopsim as hs
from conftest import Command
from hopsim import starting
from hopsim.cli.encoding import visible
from hopsim.files import csv_file, program_file, reading

TINY: dict[str, Any] = {
    "topology": {"torus": {"sides": [4, 4]}},
    "load": 0.1,
    "measure": {"warmup": 10, "cycles": 50},
}
HUGE = 10**5000


def _nested(depth: int) -> dict[str, Any]:
    node: dict[str, Any] = {}
    for _ in range(depth):
        node = {"a": node}
    return node


def _of_itself() -> dict[str, Any]:
    node: dict[str, Any] = {}
    node["a"] = node
    return node


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    hs.sweep(TINY, load=[0.1, 0.2], out=tmp_path / "d", values={"measure.streams": ["nodes"]}, progress=False)
    return tmp_path / "d"


REFUSED_BY_PYTHON: dict[str, tuple[Callable[[], object], str]] = {
    "deep": (lambda: hs.run(_nested(3000)), "more than 64 deep"),
    "of itself": (lambda: hs.run(_of_itself()), "one holds itself"),
    "a huge value": (lambda: hs.run(TINY, load=HUGE), "an integer of 16610 bits is too large"),
    "a huge axis": (lambda: hs.sweep(TINY, load=[HUGE]), "valid: integers of 64 bits"),
    "a number as results": (lambda: hs.load(3), "root = 3: is not a path"),  # pyright: ignore[reportArgumentType]
    "none as results": (lambda: hs.load(None), "root = None"),  # pyright: ignore[reportArgumentType]
    "a zero byte": (lambda: hs.load("a\0b"), "has a zero byte"),
    "bytes as results": (lambda: hs.load("a\udcff"), "the name is not UTF-8"),
    "a number as directory": (
        lambda: hs.sweep(TINY, load=[0.1], out=3),  # pyright: ignore[reportArgumentType]
        "out = 3: is not a path",
    ),
    "bytes as directory": (lambda: hs.sweep(TINY, load=[0.1], out="a\udcff"), "the name is not UTF-8"),
    "a number as state": (
        lambda: hs.run(TINY, save_state=3),  # pyright: ignore[reportArgumentType]
        "save_state = 3: is not a path",
    ),
    "a number as key": (
        lambda: hs.run(TINY, {3: 4}),  # pyright: ignore[reportArgumentType]
        "3: is not a dotted path",
    ),
}


@pytest.mark.parametrize("name", REFUSED_BY_PYTHON)
def test_wrong_values_from_python_are_refused(name: str, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    call, expected = REFUSED_BY_PYTHON[name]
    with pytest.raises(hs.ConfigError, match=expected):
        call()
    assert not list(tmp_path.iterdir())


def test_the_deepest_value_that_is_allowed_reaches_the_core() -> None:
    with pytest.raises(hs.ConfigError, match="unknown key"):
        hs.run(_nested(30))


@pytest.mark.parametrize("command", ["run", "plot", "report", "why"])
@pytest.mark.parametrize("kind", ["fifo", "device", "directory", "loop"])
@pytest.mark.parametrize("name", ["manifest.json", "points/*.json", "points/*.nodes.parquet"])
def test_names_in_results_that_lead_elsewhere_are_refused_at_once(
    hopsim: Command, stored: Path, tmp_path: Path, name: str, kind: str, command: str
) -> None:
    file = next(iter(stored.glob(name)))
    file.unlink()
    if kind == "fifo":
        os.mkfifo(file)
    elif kind == "device":
        file.symlink_to("/dev/zero")
    elif kind == "loop":
        file.symlink_to(file.name)
    else:
        file.mkdir()
    (tmp_path / "a.toml").write_text(hs.Experiment.of(TINY).text + "[sweep.product]\nload = [0.1, 0.2]\n")
    given = ("run", "a.toml", "--set", 'measure.streams=["nodes"]', "--out", stored)
    done = hopsim(*(given if command == "run" else (command, stored)), status=2)
    reason = "leads to itself (Too many levels" if kind == "loop" else "is not a regular file"
    assert f"{file}: {reason}" in done.stderr, done.stderr


@pytest.mark.parametrize("kind", ["fifo", "device", "loop"])
@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("points", "run"),
        ("streams", "run"),
        ("summary.parquet", "run"),
        ("streams/nodes.parquet", "run"),
        ("plots", "plot"),
        ("report.html", "report"),
    ],
)
def test_names_in_results_that_lead_elsewhere_are_not_written_to(
    hopsim: Command, stored: Path, tmp_path: Path, name: str, command: str, kind: str
) -> None:
    file = stored / name
    if file.is_dir():
        shutil.rmtree(file)
    file.unlink(missing_ok=True)
    if kind == "fifo":
        os.mkfifo(file)
    else:
        file.symlink_to("/dev/zero" if kind == "device" else file.name)
    (tmp_path / "a.toml").write_text(hs.Experiment.of(TINY).text + "[sweep.product]\nload = [0.1, 0.2]\n")
    given = ("run", "a.toml", "--set", 'measure.streams=["nodes"]', "--out", stored)
    done = hopsim(*(given if command == "run" else (command, stored)), status=2)
    assert str(file) in done.stderr
    assert file.is_symlink() or stat.S_ISFIFO(file.stat().st_mode)


def test_a_link_to_a_regular_file_is_followed(stored: Path, tmp_path: Path) -> None:
    (stored / "manifest.json").rename(tmp_path / "elsewhere.json")
    (stored / "manifest.json").symlink_to(tmp_path / "elsewhere.json")
    assert hs.load(stored).points == [0, 1]


@pytest.mark.parametrize("name", ["manifest.json", "points/*.json", "points/*.nodes.parquet"])
def test_a_file_that_may_not_be_read_is_not_called_damaged(stored: Path, name: str, monkeypatch: Any) -> None:
    file = next(iter(stored.glob(name)))
    plain = os.open

    def refusing(path: Any, *given: Any) -> int:
        if Path(path) == file:
            raise PermissionError(13, "Permission denied", str(path))
        return plain(path, *given)

    monkeypatch.setattr(reading.os, "open", refusing)
    with pytest.raises(hs.ConfigError, match="cannot be read: Permission denied; valid: a file that you may"):
        hs.load(stored)


def test_a_record_without_end_is_refused(stored: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(reading, "MOST_RECORD_MB", 1)
    with (stored / "manifest.json").open("ab") as file:
        file.truncate(2 << 20)
    with pytest.raises(hs.ConfigError, match="is larger than 1 MB"):
        hs.load(stored)


def test_a_state_is_a_regular_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "state")
    with pytest.raises(hs.ConfigError, match="is not a regular file"):
        hs.run(TINY, from_state=tmp_path / "state")


@pytest.mark.parametrize("opener", [gzip.open, lzma.open], ids=["gz", "xz"])
def test_a_compressed_program_is_decompressed_up_to_a_limit(
    tmp_path: Path, opener: Any, monkeypatch: Any
) -> None:
    monkeypatch.setattr(program_file, "MOST_MB", 1)
    path = tmp_path / f"bomb.{'gz' if opener is gzip.open else 'xz'}"
    with opener(path, "wb") as file:
        file.write(bytes(8 << 20))
    with pytest.raises(hs.ConfigError, match="is larger than 1 MB, decompressed"):
        program_file.contents(path)


def _bomb(path: Path, megabytes: int) -> Path:
    """A file of zeros, compressed member by member."""
    module = lzma if path.suffix == ".xz" else gzip
    path.write_bytes(module.compress(bytes(16 << 20)) * (megabytes // 16))
    return path


def _peak(call: Callable[[], object]) -> int:
    """Greatest memory that Python takes meanwhile [bytes]."""
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


BOMBS: dict[str, Callable[[Path], object]] = {
    "t.gz": program_file.contents,
    "t.xz": program_file.contents,
    "t.0.et": lambda path: program_file.chakra(path.with_name("t")),
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_refused_before_much_of_it_is_there(name: str, tmp_path: Path) -> None:
    path = _bomb(tmp_path / name, 1280)
    began = time.process_time()

    def read() -> None:
        with pytest.raises(hs.ConfigError, match="decompresses to more than 400 times its"):
            BOMBS[name](path)

    assert _peak(read) < 1.2 * (program_file.ANY_RATIO_MB << 20)
    assert time.process_time() - began < 2


@pytest.mark.parametrize("name", BOMBS)
def test_what_is_read_is_in_memory_once(name: str, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(program_file, "MOST_MB", 64)
    whole, larger = _bomb(tmp_path / name, 64), 96
    assert _peak(lambda: BOMBS[name](whole)) < 96 << 20
    path = _bomb(whole, larger)

    def read() -> None:
        with pytest.raises(hs.ConfigError, match="is larger than 64 MB, decompressed"):
            BOMBS[name](path)

    assert _peak(read) < 96 << 20


def test_a_small_record_takes_little_memory(stored: Path) -> None:
    assert _peak(lambda: hs.load(stored)) < 8 << 20
    (stored / "a").write_bytes(b"x")
    assert _peak(lambda: reading.text_of(stored / "a", "a text")) < 4 << 20


def test_a_table_that_memory_has_no_room_for_is_named(stored: Path) -> None:
    file = next(stored.glob("points/*.nodes.parquet"))
    with file.open("r+b") as sparse:
        sparse.truncate(1 << 43)
    with pytest.raises(hs.ConfigError, match="has 8,796,093,022,208 bytes, more than memory has room for"):
        reading.stored_bytes(file)


def test_the_ranks_of_a_chakra_trace_share_one_limit(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(program_file, "MOST_MB", 1)
    monkeypatch.setattr(gzip, "decompress", None)
    for rank in range(2):
        (tmp_path / f"t.{rank}.et").write_bytes(gzip.compress(bytes(600 << 10)))
    with pytest.raises(hs.ConfigError, match="is larger than 1 MB, decompressed"):
        program_file.chakra(tmp_path / "t")
    (tmp_path / "t.1.et").write_bytes(bytes(400 << 10))
    assert [len(data) for data in program_file.chakra(tmp_path / "t")] == [600 << 10, 400 << 10]


def test_a_number_of_thousands_of_digits_names_its_line(tmp_path: Path) -> None:
    (tmp_path / "a").write_text(f"0 1\n1 {'2' * 5000}\n")
    with pytest.raises(hs.ConfigError, match="line 2: a number has more than 1000 digits"):
        reading.text_of(tmp_path / "a", "a network")


def test_a_directory_whose_name_is_not_text_is_refused_before_anything_is_made(
    hopsim: Command, tmp_path: Path
) -> None:
    (tmp_path / "a.toml").write_text(hs.Experiment.of(TINY).text)
    done = hopsim("run", "a.toml", "--out", os.fsdecode(b"x\xff"), status=2)
    assert "the name is not UTF-8; valid: " in done.stderr
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.toml"]


def test_names_do_nothing_to_a_terminal(hopsim: Command, tmp_path: Path) -> None:
    assert visible("a\x1b[31m\x07\r\u202e\u009b ± é\n") == "a\\x1b[31m\\x07\\r\\u202e\\x9b ± é\n"
    path = tmp_path / "t\x1b[31m.goal"
    ranks = ("send 8b to 1", "recv 8b from 0")
    bodies = (f"rank {rank} {{\nl1: {call} tag 0\n}}\n" for rank, call in enumerate(ranks))
    path.write_text("num_ranks 2\n" + "".join(bodies))
    done = hopsim("trace", "info", path)
    assert "\x1b" not in done.stdout
    assert "t\\x1b[31m" in done.stdout
    done = hopsim("check", "no\x1b[31m.toml", status=2)
    assert "\x1b" not in done.stderr


FORMULAS = ["=1+2", "+1", "-cmd", "@x", "\tx"]


def test_cells_that_begin_like_formulas_are_text(tmp_path: Path) -> None:
    csv_file.write(tmp_path / "a.csv", ["name", "x"], [[text, -1.5] for text in FORMULAS])
    table = pa.table({"name": [*FORMULAS, "plain", None], "x": [-1.5] * 7})
    with (tmp_path / "b.csv").open("wb") as file:
        csv_file.write_table(file, table)
    for name in ("a.csv", "b.csv"):
        with (tmp_path / name).open(newline="") as file:
            _, *rows = csv.reader(file)
        # A text that is a number is one.
        cells = [text if name == "a.csv" and text == "+1" else f"'{text}" for text in FORMULAS]
        assert [row[0] for row in rows][: len(cells)] == cells
        assert {row[1] for row in rows} == {"-1.5"}


def test_a_termination_has_the_status_of_one(monkeypatch: Any) -> None:
    monkeypatch.setattr(starting, "_status", starting.INTERRUPTED)
    with pytest.raises(KeyboardInterrupt):
        starting.terminate(15, None)
    assert starting.status() == 143
