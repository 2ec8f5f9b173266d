"""Lists of packets made of netraces."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import hopsim as hs
from conftest import Command
from hopsim.convert import netrace
from hopsim.convert.netrace import Part
from hopsim.files import reading
from netraces import READ, Packet, Trace, write

HEAD = "cycle,source,destination,length\n"
FIRST = "0,0,1,1\n2,1,1,1\n9,3,1,9\n"
SECOND = "2,1,0,9\n2,1,2,1\n21,1,3,9\n30,2,0,1\n"

DOCUMENT = """
topology.mesh.sides = [2, 2]
router.virtual_channel.vcs.network = 2
semantics.self_traffic = "router"
jobs = [{ traffic.packet_list.file = "packets.csv" }]
measure = { warmup = 0, cycles = 200, streams = ["packet_hops"] }
"""


def table(path: Path, part: Part, phit: int = 8) -> str:
    text = netrace.convert(path, part, phit).table
    assert text.startswith(HEAD)
    return text.removeprefix(HEAD)


@pytest.mark.parametrize("chunk", [30, 1 << 20])
def test_a_list_has_the_packets_of_a_part_with_cycles_from_where_it_begins(
    chunk: int, tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.setattr(reading, "CHUNK", chunk)
    path = write(tmp_path / "a.tra.bz2")
    assert table(path, Part(region=0)) == FIRST
    assert table(path, Part(region=1)) == SECOND
    assert table(path, Part()) == FIRST + "12,1,0,9\n12,1,2,1\n31,1,3,9\n40,2,0,1\n"
    assert table(path, Part(begin=9, cycles=4)) == "0,3,1,9\n3,1,0,9\n3,1,2,1\n"
    assert table(path, Part(begin=9, cycles=3)) == "0,3,1,9\n"
    assert table(path, Part(region=1, begin=21)) == "0,1,3,9\n9,2,0,1\n"
    assert table(path, Part(region=0, begin=1, cycles=100)) == "1,1,1,1\n8,3,1,9\n"


@pytest.mark.parametrize("part", [Part(region=0), Part(cycles=10)])
def test_no_more_of_a_trace_is_read_than_a_part_takes(part: Part, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(reading, "CHUNK", 1)
    path = tmp_path / "a.tra"
    whole = Trace().written()
    path.write_bytes(whole[:-30])
    assert table(path, part) == FIRST
    with pytest.raises(hs.ConfigError, match="the file ends in it"):
        table(path, Part(begin=10))


def test_lengths_are_whole_phits(tmp_path: Path) -> None:
    path = write(tmp_path / "a.tra.bz2")
    for phit, lengths in ((1, "8 72"), (16, "1 5"), (64, "1 2"), (100, "1 1")):
        rows = table(path, Part(region=0), phit).splitlines()
        assert [rows[0].split(",")[3], rows[2].split(",")[3]] == lengths.split(), phit


def test_what_is_left_out_is_said(hopsim: Command, tmp_path: Path) -> None:
    write(tmp_path / "a.tra.bz2")
    done = hopsim("convert", "netrace", "a.tra.bz2", "--region", "0", "--phit", "16")
    assert done.stdout == HEAD + FIRST.replace(",9\n", ",5\n")
    assert done.stderr.splitlines() == [
        "packets: 3, with lengths in phits of 16 bytes: 8 bytes are 1, 72 bytes are 5",
        "dependencies: 3 are left out: each packet is generated in its cycle, whether those that it "
        "depends on have arrived or not",
        "addresses, and types of packets and nodes: are left out",
        "cycles: the last packet is generated in cycle 9 of the job, and a run is longer",
        "to itself: 1 of the packets go to the node that sends them, for which a document needs "
        'semantics.self_traffic = "router"',
    ]
    rest = hopsim("convert", "netrace", "a.tra.bz2", "--begin", "9", "--cycles", "4")
    assert rest.stdout == HEAD + "0,3,1,9\n3,1,0,9\n3,1,2,1\n"
    assert "to itself" not in rest.stderr


def test_packets_of_a_trace_set_out_in_their_cycles(hopsim: Command, tmp_path: Path) -> None:
    write(tmp_path / "a.tra.bz2")
    text = hopsim("convert", "netrace", "a.tra.bz2").stdout
    (tmp_path / "packets.csv").write_text(text)
    (tmp_path / "a.toml").write_text(DOCUMENT)
    result = hs.run(hs.Experiment.open(tmp_path / "a.toml"))
    columns = ("generated", "source", "destination", "length")
    first = [row for row in result.packet_hops.to_pylist() if row["hop"] == 0]
    assert sorted(tuple(row[name] for name in columns) for row in first) == sorted(
        tuple(map(int, line.split(","))) for line in text.splitlines()[1:]
    )


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        (Part(region=2), "--region 2: there is no such region; valid: 0 … 1"),
        (Part(begin=41), "no packet is in these cycles; valid: others, of 40 in all"),
        (Part(region=0, begin=10), "no packet is in these cycles"),
        (Part(begin=3, cycles=6), "no packet is in these cycles"),
        (Part(begin=2**70), "no packet is in these cycles"),
    ],
)
def test_a_part_without_packets_is_refused(part: Part, expected: str, tmp_path: Path) -> None:
    path = write(tmp_path / "a.tra.bz2")
    with pytest.raises(hs.ConfigError) as refused:
        netrace.convert(path, part, 8)
    assert str(refused.value).startswith(f"{path}: {expected}")


def test_what_no_document_reads_is_refused(tmp_path: Path, monkeypatch: Any) -> None:
    path = write(tmp_path / "a.tra.bz2", Trace(regions=()))
    with pytest.raises(hs.ConfigError, match="valid: no --region, as the trace has none"):
        netrace.convert(path, Part(region=0), 8)
    late = [Packet(5, 0, READ, 0, 1), Packet(2**32 + 5, 1, READ, 0, 1)]
    write(path, Trace(late, (), cycles=2**33))
    assert table(path, Part(begin=6)) == "4294967295,0,1,1\n"
    with pytest.raises(
        hs.ConfigError, match="is longer than 4294967295 cycles; valid: a --region, --begin or"
    ):
        netrace.convert(path, Part(begin=5), 8)
    monkeypatch.setattr(reading, "MOST_MB", 0)
    with pytest.raises(
        hs.ConfigError, match=f"{path}: makes a list of more than 0 MB, which no document reads"
    ):
        netrace.convert(path, Part(cycles=10), 8)


def test_a_wrong_trace_is_refused_with_its_name_once(tmp_path: Path) -> None:
    path = write(tmp_path / "a.tra.bz2", Trace(nodes=3))
    with pytest.raises(hs.ConfigError) as refused:
        netrace.convert(path, Part(), 8)
    assert str(refused.value).count(str(path)) == 1
    assert "source = 3; valid: 0 … 2, a node" in str(refused.value)


def test_a_trace_may_come_through_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with ThreadPoolExecutor() as pool:
        pool.submit(pipe.write_bytes, Trace().written())
        assert table(pipe, Part(region=1)) == SECOND
