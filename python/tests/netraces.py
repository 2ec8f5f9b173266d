"""Netraces, written number by number as Netrace 1.0 lays them out."""

from __future__ import annotations

import bz2
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Packet:
    """A packet; `dependents` are the numbers of those that wait for it."""

    cycle: int
    number: int
    type: int
    source: int
    destination: int
    dependents: Sequence[int] = ()
    address: int = 0x4300
    node_types: int = 0x02

    def written(self) -> bytes:
        fixed = struct.pack(
            "<QIIBBBBB",
            *(self.cycle, self.number, self.address, self.type, self.source, self.destination),
            *(self.node_types, len(self.dependents)),
        )
        return fixed + b"".join(struct.pack("<I", number) for number in self.dependents)


READ, READ_DONE, UPGRADE, WRITEBACK = 1, 2, 13, 6

# Two regions, of 10 and 30 cycles. Packets 3 and 4 wait for others, 5 is named by one behind it.
PACKETS = (
    Packet(0, 0, READ, 0, 1, (3,)),
    Packet(2, 1, READ, 1, 1, (3, 4)),
    Packet(9, 2, WRITEBACK, 3, 1),
    Packet(12, 3, READ_DONE, 1, 0, (9,)),
    Packet(12, 4, UPGRADE, 1, 2),
    Packet(31, 5, READ_DONE, 1, 3),
    Packet(40, 6, READ, 2, 0, (5,)),
)
REGIONS = ((3, 10), (4, 30))


@dataclass(frozen=True)
class Trace:
    """What is written of a trace; `regions` are numbers of packets with numbers of cycles."""

    packets: Sequence[Packet] = PACKETS
    regions: Sequence[tuple[int, int]] = REGIONS
    magic: int = 0x484A5455
    version: float = 1.0
    nodes: int = 4
    cycles: int = 40
    count: int | None = None
    notes: bytes = b"two regions\0"
    notes_length: int | None = None
    region_count: int | None = None

    def written(self) -> bytes:
        head = struct.pack(
            "<If30sBBQQII8s",
            *(self.magic, self.version, b"made up", self.nodes, 0xFF, self.cycles),
            len(self.packets) if self.count is None else self.count,
            len(self.notes) if self.notes_length is None else self.notes_length,
            len(self.regions) if self.region_count is None else self.region_count,
            b"\x88\xc0\x04\x08" * 2,
        )
        bodies = [packet.written() for packet in self.packets]
        first, regions = 0, b""
        for count, cycles in self.regions:
            regions += struct.pack("<QQQ", sum(map(len, bodies[:first])), cycles, count)
            first += count
        return head + self.notes + regions + b"".join(bodies)


def write(path: Path, trace: Trace | None = None) -> Path:
    """Write a trace, compressed by bzip2."""
    path.write_bytes(bz2.compress((trace or Trace()).written()))
    return path
