"""What is told of the file of a program, from totals that are written down here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hopsim.files.program_file import Source
from hopsim.files.trace_info import HEADINGS, TraceInfo

TOTALS: dict[str, Any] = {
    "format": "mpt 1",
    "name": "CG.A.16",
    "info": {"steps": "2 of 15", "machine": "a cluster"},
    "ranks": 16,
    "records": 35228,
    "messages": 5888,
    "messages_to_self": 208,
    "bytes": "69949999",
    "collectives": 3,
    "alltoall_bytes": 4096,
    "compute_mean": 7_731_500.0,
    "least_time": 9_235_499,
}
"""Times in ns; bytes may be more than a float counts."""


def info(size: int = 32_651, file: str = "a/CG.mpt.xz", **totals: Any) -> TraceInfo:
    return TraceInfo(Path(file), {**TOTALS, **totals}, size)


def test_all_totals_are_told_with_their_names() -> None:
    assert info().lines() == [
        ("format", "mpt 1"),
        ("name", "CG.A.16"),
        ("info steps", "2 of 15"),
        ("info machine", "a cluster"),
        ("ranks", "16"),
        ("records", "35228 of all ranks"),
        ("messages", "5888, 208 of them of a rank to itself"),
        ("bytes", "69949999 of these messages"),
        ("collectives", "3, each counted once per communicator"),
        ("alltoall bytes", "4096 that leave their rank"),
        ("compute", "7.731 ms per rank, the mean"),
        ("ideal time", "9.235 ms"),
        ("verified", "yes"),
    ]


def test_a_row_has_the_same_in_short_under_its_headings() -> None:
    assert dict(zip(HEADINGS, info().row(), strict=True)) == {
        "trace": "CG.A.16",
        "ranks": "16",
        "steps": "2 of 15",
        "records": "35228",
        "p2p msgs": "5888",
        "(to self)": "208",
        "p2p bytes": "69.9 MB",
        "colls": "3",
        "compute/rank": "7.731 ms",
        "ideal time": "9.235 ms",
        "file": "32.7 kB",
    }
    assert info(info={}).row()[2] == "?"


def test_a_trace_without_a_name_has_that_of_its_file() -> None:
    assert info(name="").name == "CG"
    assert info(name=None, file="x/a.b.goal").row()[0] == "a.b"


@pytest.mark.parametrize(
    ("nanoseconds", "text"),
    [(None, "-"), (0, "0.000 ms"), (499, "0.000 ms"), (1501, "0.002 ms"), (1_234_567_890, "1234.568 ms")],
)
def test_times_are_told_in_milliseconds(nanoseconds: float | None, text: str) -> None:
    assert info(least_time=nanoseconds).row()[-2] == text
    assert dict(info(compute_mean=nanoseconds).lines())["compute"] == f"{text} per rank, the mean"


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0.0 kB"),
        (149, "0.1 kB"),
        (999_949, "999.9 kB"),
        (1_000_000, "1.0 MB"),
        (2_560_000_000, "2560.0 MB"),
    ],
)
def test_sizes_are_told_in_thousands_or_millions_of_bytes(size: int, text: str) -> None:
    assert info(size).row()[-1] == text
    assert info(bytes=str(size)).row()[6] == text


def test_the_totals_of_a_table_by_hand(tmp_path: Path) -> None:
    """Two messages, one of them of a rank to itself; the later one is sent after 5 us."""
    path = tmp_path / "table.csv"
    text = "source,destination,bytes,time_ns\n0,1,80,5000\n1,1,8,2\n"
    path.write_text(text, "utf-8")
    found = TraceInfo.of(Source(path))
    assert (found.file, found.size, found.name) == (path, len(text), "table")
    totals = {name: found.totals[name] for name in ("ranks", "messages", "messages_to_self", "bytes")}
    assert totals == {"ranks": 2, "messages": 2, "messages_to_self": 1, "bytes": "88"}
    assert found.row()[-2:] == ["0.005 ms", "0.1 kB"]
