"""Netraces: what is read of them, what is told of them, and what is refused."""

from __future__ import annotations

import bz2
import gzip
import lzma
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hopsim as hs
from conftest import ROOT, Command
from hopsim.files import netrace, reading
from hopsim.files.netrace import Region
from hopsim.files.netrace_info import REGION_HEADINGS, TYPE_HEADINGS, NetraceInfo
from netraces import PACKETS, READ, Packet, Trace, write

# A header with one region, and a packet that two others wait for.
BYTES = bytes.fromhex(
    "55544a48 0000803f"
    + b"shrt".hex()
    + 26 * "00"
    + "40 00 dd00000000000000 0100000000000000 03000000 01000000 88c00408b0c00408"
    + "686900"
    + "0000000000000000 dd00000000000000 0100000000000000"
    + "d700000000010000 04000000 00cf021d 0f 0a 2a 02 02 05000000 09000001"
)

SIZES = {
    **dict.fromkeys(("ReadReq", "WriteResp", "UpgradeReq", "UpgradeResp", "ReadExReq", "BadAddressError"), 8),
    **dict.fromkeys(("InvalidateReq", "InvalidateResp", "DowngradeReq"), 8),
    **dict.fromkeys(("ReadResp", "ReadRespWithInvalidate", "WriteReq", "Writeback", "ReadExResp"), 72),
    "DowngradeResp": 72,
}


def info(path: Path, phit: int = 8) -> NetraceInfo:
    return NetraceInfo.of(path, phit)


def told(path: Path) -> object:
    found = info(path)
    return [line for line in found.lines() if line[0] != "file"], found.types(), found.regions()


def test_every_number_of_a_file_is_where_the_format_has_it(tmp_path: Path) -> None:
    path = tmp_path / "one.tra"
    # The cycle needs more than four bytes.
    path.write_bytes(BYTES.replace(b"\xdd" + bytes(7), b"\xdd\0\0\0\0\1\0\0"))
    with netrace.opened(path) as (head, blocks):
        (block,) = blocks
    assert (head.benchmark, head.notes, head.nodes, head.packets) == ("shrt", "hi", 64, 1)
    assert head.cycles == 0x100000000DD
    assert head.regions == (Region(offset=0, start=0, cycles=0x100000000DD, packets=1),)
    assert block.packets.tolist() == [(0x100000000D7, 4, 0x1D02CF00, 15, 10, 42, 2, 2)]
    assert block.dependents.tolist() == [5, 0x1000009]
    assert (block.first, block.offsets.tolist(), block.regions.tolist()) == (0, [0], [0])
    assert block.named_by.tolist() == [4, 4]


def test_packets_have_the_sizes_of_their_types(tmp_path: Path) -> None:
    known = {kind.name: kind.size for kind in netrace.TYPES.values()}
    assert known == SIZES
    packets = [Packet(0, number, code, 0, 1) for number, code in enumerate(netrace.TYPES)]
    path = write(tmp_path / "a.tra.bz2", Trace(packets, regions=()))
    assert {row[0]: int(row[1]) for row in info(path).types()} == SIZES
    assert netrace.phits(16)[[1, 2]].tolist() == [1, 5]
    assert netrace.phits(72)[[1, 2]].tolist() == [1, 1]


def test_totals_are_those_of_the_packets(tmp_path: Path) -> None:
    found = info(write(tmp_path / "a.tra.bz2"), phit=16)
    # Three packets of 8 bytes, one upgrade, and three of 72: over 4 nodes and 40 cycles.
    assert found.lines() == [
        ("format", "netrace 1.0"),
        ("benchmark", "made up"),
        ("notes", "two regions"),
        ("nodes", "4"),
        ("cycles", "40"),
        ("packets", "7, 1 of them of a node to itself"),
        ("bytes", "248 of these packets"),
        ("injected", "0.04375 packets/(node·cycle), 1.55 bytes/(node·cycle)"),
        ("load", "0.1187 phits/(node·cycle), of 16 bytes"),
        ("dependencies", "0.7143 per packet, the mean; 71.4 % of the packets depend on none"),
        ("most loaded source", "node 1: 4 packets, 64.5 % of the bytes"),
        ("most loaded destination", "node 1: 3 packets, 35.5 % of the bytes"),
        ("file", f"{(tmp_path / 'a.tra.bz2').stat().st_size} bytes"),
        ("verified", "yes"),
    ]
    assert [dict(zip(TYPE_HEADINGS, row, strict=True)) for row in found.types()][1] == {
        "type": "ReadResp",
        "bytes": "72",
        "packets": "2",
        "share of packets": "28.6 %",
        "share of bytes": "58.1 %",
    }
    assert [row[0] for row in found.types()] == ["ReadReq", "ReadResp", "Writeback", "UpgradeReq"]
    assert [dict(zip(REGION_HEADINGS, row, strict=True)) for row in found.regions()] == [
        {
            "region": "0",
            "start": "0",
            "cycles": "10",
            "packets": "3",
            "bytes": "88",
            "packets/(node·cycle)": "0.075",
            "bytes/(node·cycle)": "2.2",
            "phits/(node·cycle)": "0.175",
        },
        {
            "region": "1",
            "start": "10",
            "cycles": "30",
            "packets": "4",
            "bytes": "160",
            "packets/(node·cycle)": "0.03333",
            "bytes/(node·cycle)": "1.333",
            "phits/(node·cycle)": "0.1",
        },
    ]


def test_a_region_without_packets_is_where_the_next_one_is(tmp_path: Path) -> None:
    regions = ((3, 10), (0, 1), (0, 0), (4, 30))
    rows = info(write(tmp_path / "a.tra.bz2", Trace(regions=regions, cycles=41))).regions()
    assert [(row[1], row[3], row[5]) for row in rows] == [
        ("0", "3", "0.075"),
        ("10", "0", "0"),
        ("11", "0", "-"),
        ("11", "4", "0.03333"),
    ]


def test_a_trace_without_packets_notes_and_regions_is_one(tmp_path: Path) -> None:
    found = info(write(tmp_path / "a.tra.bz2", Trace((), (), cycles=0, notes=b"")))
    lines = dict(found.lines())
    assert "notes" not in lines
    assert lines["load"].startswith("- ")
    assert lines["dependencies"] == "- per packet, the mean; - of the packets depend on none"
    assert (found.types(), found.regions()) == ([], [])


@pytest.mark.parametrize("chunk", [1, 20, 21, 22, 64])
def test_it_makes_no_difference_where_reading_stops_for_a_while(
    chunk: int, tmp_path: Path, monkeypatch: Any
) -> None:
    path = write(tmp_path / "a.tra.bz2")
    expected = told(path)
    monkeypatch.setattr(reading, "CHUNK", chunk)
    with netrace.opened(path) as (_, read):
        blocks = list(read)
    assert len(blocks) > 1
    assert sum(block.packets.size for block in blocks) == len(PACKETS)
    assert [block.first for block in blocks] == np.cumsum(
        [0, *(b.packets.size for b in blocks[:-1])]
    ).tolist()
    assert told(path) == expected


OPENED: dict[str, Callable[[bytes], bytes]] = {
    "a.tra": bytes,
    "a.tra.bz2": bz2.compress,
    "two streams": lambda data: bz2.compress(data[:150]) + bz2.compress(data[150:]),
    "a.tra.gz": gzip.compress,
    "a.tra.xz": lzma.compress,
}


@pytest.mark.parametrize("name", OPENED)
def test_a_trace_is_the_same_however_it_is_compressed(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(OPENED[name](Trace().written()))
    assert netrace.is_netrace(path)
    assert told(path) == told(write(tmp_path / "plain"))


def test_other_files_are_no_netraces(tmp_path: Path) -> None:
    (tmp_path / "odd.mpt").write_text("mpt 1\n")
    (tmp_path / "broken.gz").write_bytes(b"\x1f\x8b\x08 and so on")
    (tmp_path / "empty").touch()
    for path in (*tmp_path.iterdir(), tmp_path, tmp_path / "none", Path("/dev/zero")):
        assert not netrace.is_netrace(path), path


def _with(index: int, packet: Packet) -> Trace:
    packets = list(PACKETS)
    packets[index] = packet
    return Trace(packets)


WHOLE = Trace().written()
HEADERS = 72 + 12 + 2 * 24

REFUSED: dict[str, tuple[Trace | bytes, str]] = {
    "magic": (Trace(magic=0x55544A48), "begins with the bytes 48 4a 54 55; valid: 55 54 4a 48, a netrace"),
    "version": (Trace(version=1.5), "header: version = 1.5; valid: 1.0"),
    "nodes": (Trace(nodes=0), "header: nodes = 0; valid: 1 … 255"),
    "long notes": (Trace(notes_length=8192), "header: length of the notes = 8192; valid: 0 … 8191"),
    "many regions": (Trace(region_count=101), "header: number of regions = 101; valid: 0 … 100"),
    "short header": (WHOLE[:71], "ends in its header, after 71 of 72 bytes; valid: a netrace, compressed by"),
    "short notes": (WHOLE[:80], "ends in its notes, after 8 of 12 bytes"),
    "short regions": (WHOLE[: HEADERS - 1], "ends in its regions, after 47 of 48 bytes"),
    "short packet": (WHOLE[:-1], "packet 6: the file ends in it, after 24 bytes; valid: a netrace"),
    "fewer packets": (Trace(count=8), "ends after 7 packets; valid: 8, as its header says"),
    "more packets": (Trace(count=6), "packet 6: is one more than its header says"),
    "fewer in a region": (Trace(regions=((3, 10), (5, 30))), "region 1: has 4 packets; valid: 5, as its"),
    "type": (
        _with(2, Packet(9, 2, 7, 3, 1)),
        "packet 2 (byte 54 behind the header): type = 7; valid: one of 1 (ReadReq), 2 (ReadResp), 3 (",
    ),
    "type too large": (_with(2, Packet(9, 2, 255, 3, 1)), "type = 255; valid: one of 1 (ReadReq)"),
    "source": (_with(1, Packet(2, 1, READ, 4, 1)), "): source = 4; valid: 0 … 3, a node"),
    "destination": (_with(1, Packet(2, 1, READ, 0, 9)), "): destination = 9; valid: 0 … 3, a node"),
    "cycle back": (
        _with(2, Packet(1, 2, READ, 3, 1)),
        "packet 2 (byte 54 behind the header): cycle = 1; valid: none before that of the packet before it",
    ),
    "cycle before its region": (
        _with(3, Packet(9, 3, READ, 1, 0)),
        "cycle = 9; valid: none before its region, which begins when those before it have ended",
    ),
    "cycle behind the end": (Trace(cycles=39), "cycle = 40; valid: up to 39, the cycles of the header"),
    "number twice": (
        _with(2, Packet(9, 1, READ, 3, 1)),
        "number = 1; valid: above that of the packet before",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_wrong_trace_is_refused(name: str, tmp_path: Path) -> None:
    trace, expected = REFUSED[name]
    path = tmp_path / "a.tra.bz2"
    path.write_bytes(bz2.compress(trace if isinstance(trace, bytes) else trace.written()))
    with pytest.raises(hs.ConfigError) as refused:
        info(path)
    assert str(refused.value).startswith(f"{path}: ")
    assert expected in str(refused.value)


@pytest.mark.parametrize("name", ["cycle back", "number twice", "more packets", "short packet"])
def test_a_wrong_trace_is_refused_wherever_reading_stops_for_a_while(
    name: str, tmp_path: Path, monkeypatch: Any
) -> None:
    trace, expected = REFUSED[name]
    path = tmp_path / "a.tra"
    path.write_bytes(trace if isinstance(trace, bytes) else trace.written())
    monkeypatch.setattr(reading, "CHUNK", 1)
    with pytest.raises(hs.ConfigError) as refused:
        info(path)
    assert expected in str(refused.value)


def test_regions_begin_in_their_order(tmp_path: Path) -> None:
    data = bytearray(WHOLE)
    data[84:92] = (30).to_bytes(8, "little")
    data[108:116] = (29).to_bytes(8, "little")
    (tmp_path / "a.tra").write_bytes(data)
    expected = "region 1: begins at byte 29; valid: none before 30, where the region before it does"
    with pytest.raises(hs.ConfigError, match=expected):
        info(tmp_path / "a.tra")


@pytest.mark.parametrize("compress", [bz2.compress, gzip.compress, lzma.compress])
def test_a_file_that_is_cut_off_or_damaged_is_refused(
    compress: Callable[[bytes], bytes], tmp_path: Path
) -> None:
    path = tmp_path / "a.tra"
    data = compress(WHOLE)
    for damaged in (data[:-10], data[:40] + bytes(20) + data[60:]):
        path.write_bytes(damaged)
        with pytest.raises(hs.ConfigError, match=f"{path}: cannot be decompressed: .*; valid: a netrace"):
            info(path)


def test_whatever_byte_is_wrong_is_refused_or_makes_another_trace(tmp_path: Path) -> None:
    path = tmp_path / "a.tra"
    messages: list[str] = []
    for place in range(len(WHOLE)):
        for value in (0, 0x7F, 0xFF):
            path.write_bytes(WHOLE[:place] + bytes([value]) + WHOLE[place + 1 :])
            try:
                told(path)
            except hs.ConfigError as error:
                messages.append(str(error))
    assert len(messages) > 300
    assert all(message.startswith(f"{path}: ") for message in messages)


def test_a_long_trace_is_read_a_part_at_a_time(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(reading, "CHUNK", 1 << 14)
    packets = [Packet(0, number, READ, 0, 1, (number + 1,)) for number in range(100_000)]
    path = tmp_path / "a.tra.xz"
    path.write_bytes(lzma.compress(Trace(packets, (), count=100_000).written(), preset=0))
    del packets
    tracemalloc.start()
    try:
        found = info(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert found.counts.waiting == 99_999
    assert peak < 1 << 20, "as the 2.5 MB of its packets are not"


def test_info_tells_of_a_netrace(hopsim: Command, tmp_path: Path) -> None:
    write(tmp_path / "a.tra.bz2")
    lines = hopsim("trace", "info", "a.tra.bz2", "--phit", "16").stdout.splitlines()
    assert lines[0].split() == ["format", "netrace", "1.0"]
    assert "| ReadReq | 8 | 3 | 42.9 % | 9.7 % |" in lines
    assert lines[-1] == "| 1 | 10 | 30 | 4 | 160 | 0.03333 | 1.333 | 0.1 |"
    plain = hopsim("trace", "info", "a.tra.bz2").stdout
    assert "of 8 bytes" in plain


def test_options_of_other_formats_are_refused(hopsim: Command, tmp_path: Path) -> None:
    write(tmp_path / "a.tra.bz2")
    trace = ROOT / "experiments" / "traces" / "CG.A.16.it2.mpt.xz"
    for arguments, expected in (
        (("info", "a.tra.bz2", "--flops", "1"), "a.tra.bz2: is a netrace; valid: no --flops"),
        (("info", trace, "--phit", "8"), "is no netrace; valid: no --phit"),
        (("info", "a.tra.bz2", "--phit", "0"), "Invalid value for '--phit'"),
        (
            ("convert", "a.tra.bz2", "a.goal"),
            "a.tra.bz2: is a netrace, packets and no program; valid: a prog",
        ),
    ):
        assert expected in hopsim("trace", *arguments, status=2).stderr
