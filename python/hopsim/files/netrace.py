"""Packets of networks on chip as Netrace has recorded them: files `.tra.bz2`.

The format is that of Netrace 1.0 (J. Hestness, B. Grot, S. W. Keckler, "Netrace: Dependency-Driven,
Trace-Based Network-on-Chip Simulation", NoCArc 2010; Hestness, Keckler, TR-10-11, University of Texas
at Austin), as its own reader has it: `nt_read_trheader`, `nt_read_packet`, `nt_packet_sizes` in netrace.c of
https://github.com/booksim/netrace (commit bf30293). All numbers are little-endian, and nothing is aligned.

- A header (`HEADER`), then the notes, a text that ends with a zero byte, then a region (`REGION`) for each.
- Packets (`PACKET`) by cycle, each followed by the numbers (u32) of the packets that depend on it. A packet
  may be injected from its cycle on, and when all packets that name it have arrived.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import math
import zlib
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from hopsim.errors import ConfigError
from hopsim.files import reading

MAGIC = b"UTJH"
"""What a file begins with, decompressed: the number 0x484A5455."""
VERSION = 1.0
"""The only version that there is."""
NAME_BYTES = 30
"""Of the name of the benchmark, which ends with a zero byte [bytes]."""
NOTES = range(8192)
"""Lengths of notes that Netrace reads [bytes]."""
REGIONS = range(101)
"""Numbers of regions that Netrace reads."""

HEADER = np.dtype(
    {
        "names": ["magic", "version", "benchmark", "nodes", "cycles", "packets", "notes", "regions"],
        "formats": ["S4", "<f4", f"S{NAME_BYTES}", "u1", "<u8", "<u8", "<u4", "<u4"],
        "offsets": [0, 4, 8, 38, 40, 48, 56, 60],
        "itemsize": 72,
    }
)
"""What a file begins with; `notes` is their length with the zero byte [bytes]. The byte before `cycles` and
the last eight hold nothing."""
REGION = np.dtype([("offset", "<u8"), ("cycles", "<u8"), ("packets", "<u8")])
"""Part of a trace: where its packets begin, behind all headers [bytes], and its cycles and packets."""
PACKET = np.dtype(
    [
        *(("cycle", "<u8"), ("number", "<u4"), ("address", "<u4"), ("type", "u1"), ("source", "u1")),
        *(("destination", "u1"), ("node_types", "u1"), ("dependents", "u1")),
    ]
)
"""A packet; `node_types` is 16 · that of the source + that of the destination, and `dependents` the number of
packets that depend on it, whose numbers follow."""
DEPENDENT = np.dtype("<u4")
"""The number of a packet that depends on another one."""


@dataclass(frozen=True)
class PacketType:
    """What packets carry.

    Attributes:
        name: of the message of the cache coherence protocol.
        size: of the packet, 8 without and 72 with a cache line [bytes].
    """

    name: str
    size: int


TYPES: Mapping[int, PacketType] = {
    1: PacketType("ReadReq", 8),
    2: PacketType("ReadResp", 72),
    3: PacketType("ReadRespWithInvalidate", 72),
    4: PacketType("WriteReq", 72),
    5: PacketType("WriteResp", 8),
    6: PacketType("Writeback", 72),
    13: PacketType("UpgradeReq", 8),
    14: PacketType("UpgradeResp", 8),
    15: PacketType("ReadExReq", 8),
    16: PacketType("ReadExResp", 72),
    25: PacketType("BadAddressError", 8),
    27: PacketType("InvalidateReq", 8),
    28: PacketType("InvalidateResp", 8),
    29: PacketType("DowngradeReq", 8),
    30: PacketType("DowngradeResp", 72),
}
"""The types that packets have."""

MOST_TYPES = 32
"""All types are below."""
SIZES = np.array([TYPES[code].size if code in TYPES else 0 for code in range(MOST_TYPES)])
"""Sizes of packets by type, 0 where there is no such type [bytes]."""

PHIT = 8
"""Width of links where none is given, the greatest of which both sizes of packets are multiples [bytes]."""

_KIND = "a netrace, compressed by bzip2"
_OPENERS: Mapping[bytes, Callable[..., Any]] = {
    b"BZh": bz2.open,
    b"\x1f\x8b": gzip.open,
    b"\xfd7zXZ": lzma.open,
}
"""How files are opened that are compressed, by what they begin with."""
_BROKEN = (lzma.LZMAError, zlib.error, EOFError)
"""What readers of compressed files raise, besides an `OSError` without a number."""

_FAR = 1 << 62
"""No trace comes as far, in cycles or bytes."""
_LENGTHS = [PACKET.itemsize + DEPENDENT.itemsize * count for count in range(256)]
"""Of a packet in a file, with the numbers behind it, by their number [bytes]."""
_COUNT_AT = PACKET.itemsize - 1
"""Where in a packet the number of its dependents is [bytes]."""


def phits(width: int) -> NDArray[np.int64]:
    """Lengths of packets by type with phits of `width` bytes, (`MOST_TYPES`,) [phits]."""
    return np.array([math.ceil(size / width) for size in SIZES.tolist()], np.int64)


@dataclass(frozen=True)
class Region:
    """A part of a trace.

    Attributes:
        offset: where its packets begin, behind all headers [bytes].
        start: cycle in which it begins, the sum of those of the regions before it [cycles].
        cycles: how long it is [cycles].
        packets: how many packets it has.
    """

    offset: int
    start: int
    cycles: int
    packets: int


@dataclass(frozen=True)
class Header:
    """What a file says before its packets."""

    benchmark: str
    notes: str
    nodes: int
    cycles: int
    packets: int
    regions: tuple[Region, ...]


@dataclass(frozen=True)
class Block:
    """Consecutive packets.

    Attributes:
        first: number of packets in the file before them.
        packets: the packets, (n,) of `PACKET`.
        offsets: where each begins, behind all headers, (n,) [bytes].
        regions: the region that each is in, -1 before all of them, (n,).
        dependents: the numbers of packets that depend on these, (m,), in the order of the file.
        named_by: the number of the packet that each of them depends on, (m,).
    """

    first: int
    packets: NDArray[np.void]
    offsets: NDArray[np.int64]
    regions: NDArray[np.int64]
    dependents: NDArray[np.uint32]
    named_by: NDArray[np.uint32]


def is_netrace(path: Path) -> bool:
    """Whether a regular file begins as a netrace, decompressed; by bzip2 nothing else is compressed."""
    if not path.is_file():
        return False
    try:
        with path.open("rb") as file:
            if _opener(file) is bz2.open:
                return True
            return _decompressed(file).read(len(MAGIC)) == MAGIC
    except (OSError, *_BROKEN):
        return False


@contextmanager
def opened(path: Path) -> Generator[tuple[Header, Iterator[Block]], None, None]:
    """What a file says before its packets, and these, as many at a time as are in a megabyte.

    Raises `ConfigError`, which does not name the file, when it comes to what is wrong: at the end, if packets
    are missing.
    """
    with _reading(path) as file:
        head = _header(file)
        yield head, _checked(_blocks(file, head.regions), head)


def _checked(blocks: Iterator[Block], head: Header) -> Iterator[Block]:
    check = _Check(head)
    for block in blocks:
        check.block(block)
        yield block
    check.end()


@contextmanager
def _reading(path: Path) -> Generator[IO[bytes], None, None]:
    """A file, decompressed. Raises `ConfigError`, also while it is read."""
    try:
        with path.open("rb") as file:
            yield _decompressed(file)
    except (OSError, *_BROKEN) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise ConfigError(f"cannot be read: {error.strerror}; valid: {_KIND}") from None
        raise ConfigError(f"cannot be decompressed: {error}; valid: {_KIND}") from None


def _opener(file: io.BufferedReader) -> Callable[..., Any] | None:
    begins = file.peek(8)
    return next((opener for magic, opener in _OPENERS.items() if begins.startswith(magic)), None)


def _decompressed(file: io.BufferedReader) -> IO[bytes]:
    """The contents of a file, decompressed if it is compressed."""
    opener = _opener(file)
    return file if opener is None else opener(file, "rb")


def _header(file: IO[bytes]) -> Header:
    data = _exactly(file, HEADER.itemsize, "header")
    if data[: len(MAGIC)] != MAGIC:
        raise ConfigError(
            f"begins with the bytes {data[: len(MAGIC)].hex(' ')}; valid: {MAGIC.hex(' ')}, a netrace"
        )
    plain = np.frombuffer(data, HEADER)[0]
    version, nodes = float(plain["version"]), int(plain["nodes"])
    if version != VERSION:
        raise ConfigError(f"header: version = {version:g}; valid: {VERSION:.1f}")
    if nodes == 0:
        raise ConfigError("header: nodes = 0; valid: 1 … 255")
    lengths = {"length of the notes": ("notes", NOTES), "number of regions": ("regions", REGIONS)}
    for name, (field, allowed) in lengths.items():
        if int(plain[field]) not in allowed:
            raise ConfigError(f"header: {name} = {plain[field]}; valid: 0 … {allowed[-1]}")
    notes = _exactly(file, int(plain["notes"]), "notes")
    regions = _exactly(file, int(plain["regions"]) * REGION.itemsize, "regions")
    return Header(
        _text(bytes(plain["benchmark"])),
        _text(notes),
        nodes,
        int(plain["cycles"]),
        int(plain["packets"]),
        _regions(np.frombuffer(regions, REGION)),
    )


def _exactly(file: IO[bytes], count: int, part: str) -> bytes:
    data = file.read(count)
    if len(data) < count:
        raise ConfigError(f"ends in its {part}, after {len(data)} of {count} bytes; valid: {_KIND}")
    return data


def _text(data: bytes) -> str:
    """What is before the first zero byte."""
    return data.partition(b"\0")[0].decode(errors="replace")


def _regions(plain: NDArray[np.void]) -> tuple[Region, ...]:
    found: list[Region] = []
    start = 0
    for offset, cycles, packets in plain.tolist():
        if found and offset < found[-1].offset:
            raise ConfigError(
                f"region {len(found)}: begins at byte {offset}; valid: none before {found[-1].offset}, "
                "where the region before it does"
            )
        found.append(Region(offset, start, cycles, packets))
        start += cycles
    return tuple(found)


def _blocks(file: IO[bytes], regions: Sequence[Region]) -> Iterator[Block]:
    first, offset, left = 0, 0, b""
    begins = np.array([min(region.offset, _FAR) for region in regions], np.int64)
    while chunk := file.read(reading.CHUNK):
        data = left + chunk
        places, end = _places(data)
        if places.size:
            yield _block(data, places, begins, first, offset)
        first += places.size
        offset += end
        left = data[end:]
    if left:
        raise ConfigError(f"packet {first}: the file ends in it, after {len(left)} bytes; valid: {_KIND}")


def _places(data: bytes) -> tuple[NDArray[np.int64], int]:
    """Where the packets begin that are whole, and where the last of them ends [bytes]."""
    places: list[int] = []
    at, last = 0, len(data) - PACKET.itemsize
    while at <= last:
        end = at + _LENGTHS[data[at + _COUNT_AT]]
        if end > len(data):
            break
        places.append(at)
        at = end
    return np.array(places, np.int64), at


def _block(
    data: bytes, places: NDArray[np.int64], begins: NDArray[np.int64], first: int, offset: int
) -> Block:
    """The packets that begin at these places of the bytes from `offset` on; `begins`: where regions do."""
    plain = np.frombuffer(data, np.uint8)
    packets = _gathered(plain, places, PACKET)
    counts = packets["dependents"].astype(np.int64)
    ends: NDArray[np.int64] = np.cumsum(counts)
    begins_at = np.repeat(ends - counts, counts)
    within = np.arange(begins_at.size, dtype=np.int64) - begins_at
    behind = np.repeat(places, counts) + PACKET.itemsize + DEPENDENT.itemsize * within
    offsets = places + offset
    return Block(
        first=first,
        packets=packets,
        offsets=offsets,
        regions=np.searchsorted(begins, offsets, side="right") - 1,
        dependents=_gathered(plain, behind, DEPENDENT),
        named_by=np.repeat(packets["number"], counts),
    )


def _gathered(plain: NDArray[np.uint8], places: NDArray[np.int64], kind: np.dtype[Any]) -> NDArray[Any]:
    """What stands at some places."""
    return sliding_window_view(plain, kind.itemsize)[places].reshape(-1).view(kind)


class _Check:
    """Refuses packets that no netrace has, block by block."""

    def __init__(self, header: Header) -> None:
        self._header = header
        self._packets = 0
        self._of_regions = np.zeros(len(header.regions) + 1, np.int64)
        # Cycles in which regions begin, and before all of them the first.
        self._starts = np.array([0, *(min(region.start, _FAR) for region in header.regions)], np.uint64)
        self._cycle = 0
        self._number = -1

    def block(self, block: Block) -> None:
        """Raises `ConfigError` for a wrong packet, and for one more than there should be."""
        packets, head = block.packets, self._header
        cycles, numbers = packets["cycle"], packets["number"].astype(np.int64)
        before = np.concatenate([np.array([self._cycle], np.uint64), cycles[:-1]])
        _refuse(block, ~np.isin(packets["type"], list(TYPES)), "type", f"one of {_known()}")
        for field in ("source", "destination"):
            _refuse(block, packets[field] >= head.nodes, field, f"0 … {head.nodes - 1}, a node")
        _refuse(block, cycles < before, "cycle", "none before that of the packet before it")
        early = cycles < self._starts[block.regions + 1]
        _refuse(block, early, "cycle", "none before its region, which begins when those before it have ended")
        _refuse(block, cycles > head.cycles, "cycle", f"up to {head.cycles}, the cycles of the header")
        ascends = np.diff(numbers, prepend=self._number) > 0
        _refuse(block, ~ascends, "number", "above that of the packet before it")
        self._packets += packets.size
        self._of_regions += np.bincount(block.regions + 1, minlength=self._of_regions.size)
        self._cycle, self._number = int(cycles[-1]), int(numbers[-1])
        if self._packets > head.packets:
            raise ConfigError(f"packet {head.packets}: is one more than its header says; valid: {_KIND}")

    def end(self) -> None:
        """Raises `ConfigError` if there are fewer packets than there should be."""
        head = self._header
        if self._packets < head.packets:
            raise ConfigError(
                f"ends after {self._packets} packets; valid: {head.packets}, as its header says"
            )
        for number, region in enumerate(head.regions):
            found = int(self._of_regions[number + 1])
            if found != region.packets:
                raise ConfigError(
                    f"region {number}: has {found} packets; valid: {region.packets}, as its header says"
                )


def _refuse(block: Block, wrong: NDArray[np.bool_], field: str, valid: str) -> None:
    if wrong.any():
        index = int(wrong.argmax())
        place = f"packet {block.first + index} (byte {block.offsets[index]} behind the header)"
        raise ConfigError(f"{place}: {field} = {block.packets[field][index]}; valid: {valid}")


def _known() -> str:
    return ", ".join(f"{code} ({kind.name})" for code, kind in TYPES.items())
