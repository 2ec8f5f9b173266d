"""What a netrace consists of, in numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from hopsim.errors import ConfigError
from hopsim.files import netrace
from hopsim.files.netrace import MOST_TYPES, SIZES, TYPES, Block, Header

TYPE_HEADINGS = ["type", "bytes", "packets", "share of packets", "share of bytes"]
"""Of `NetraceInfo.types`."""
REGION_HEADINGS = [
    *("region", "start", "cycles", "packets", "bytes", "packets/(node·cycle)", "bytes/(node·cycle)"),
    "phits/(node·cycle)",
]
"""Of `NetraceInfo.regions`."""


def _table(rows: int) -> NDArray[np.int64]:
    """Packets by some number and by type."""
    return np.zeros((rows, MOST_TYPES), np.int64)


@dataclass
class _Counts:
    """What is counted of the packets of a trace."""

    header: Header
    sources: NDArray[np.int64] = field(init=False)
    """Packets by source and type, (nodes, `MOST_TYPES`)."""
    destinations: NDArray[np.int64] = field(init=False)
    """Packets by destination and type, (nodes, `MOST_TYPES`)."""
    regions: NDArray[np.int64] = field(init=False)
    """Packets by region and type, (regions + 1, `MOST_TYPES`); the first row is before all regions."""
    to_self: int = 0
    dependents: int = 0
    waiting: int = 0
    """Packets that depend on another one before them."""
    _named: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    """Numbers of packets that were named and have not come yet, ascending."""

    def __post_init__(self) -> None:
        self.sources = _table(self.header.nodes)
        self.destinations = _table(self.header.nodes)
        self.regions = _table(len(self.header.regions) + 1)

    def add(self, block: Block) -> None:
        """Count packets."""
        packets = block.packets
        for table, rows in (
            (self.sources, packets["source"]),
            (self.destinations, packets["destination"]),
            (self.regions, block.regions + 1),
        ):
            places = rows.astype(np.int64) * MOST_TYPES + packets["type"]
            table += np.bincount(places, minlength=table.size).reshape(table.shape)
        self.to_self += int((packets["source"] == packets["destination"]).sum())
        self.dependents += block.dependents.size
        self._wait(block)

    def _wait(self, block: Block) -> None:
        """Count the packets of a block that were named before; numbers ascend in a trace."""
        numbers = block.packets["number"].astype(np.int64)
        ahead = block.dependents[block.dependents > block.named_by].astype(np.int64)
        named = np.union1d(self._named, ahead)
        self.waiting += int(np.isin(numbers, named).sum())
        self._named = named[named > numbers[-1]]


@dataclass(frozen=True)
class NetraceInfo:
    """Totals of a trace."""

    file: Path
    header: Header
    counts: _Counts
    phit: int
    """Width of a link [bytes]."""
    size: int
    """Of the file, as it is [bytes]."""

    @classmethod
    def of(cls, file: Path, phit: int) -> NetraceInfo:
        """Read and verify a trace, with links that carry `phit` bytes per cycle. Raises `ConfigError`."""
        try:
            with netrace.opened(file) as (header, blocks):
                counts = _Counts(header)
                for block in blocks:
                    counts.add(block)
        except ConfigError as error:
            raise ConfigError(f"{file}: {error}") from None
        return cls(file, header, counts, phit, file.stat().st_size)

    def lines(self) -> list[tuple[str, str]]:
        """What there is to say of the whole trace, with names."""
        header, counts = self.header, self.counts
        rates = self._rates(counts.sources.sum(axis=0), header.cycles)
        return [
            ("format", f"netrace {netrace.VERSION:.1f}"),
            ("benchmark", header.benchmark),
            *([("notes", header.notes)] if header.notes else []),
            ("nodes", str(header.nodes)),
            ("cycles", str(header.cycles)),
            ("packets", f"{header.packets}, {counts.to_self} of them of a node to itself"),
            ("bytes", f"{self._bytes(counts.sources)} of these packets"),
            ("injected", f"{rates[0]} packets/(node·cycle), {rates[1]} bytes/(node·cycle)"),
            ("load", f"{rates[2]} phits/(node·cycle), of {self.phit} bytes"),
            (
                "dependencies",
                f"{_ratio(counts.dependents, header.packets)} per packet, the mean; "
                f"{_share(header.packets - counts.waiting, header.packets)} of the packets depend on none",
            ),
            ("most loaded source", self._most(counts.sources)),
            ("most loaded destination", self._most(counts.destinations)),
            ("file", f"{self.size} bytes"),
            ("verified", "yes"),
        ]

    def types(self) -> list[list[str]]:
        """A row for each type that packets of the trace have."""
        packets = self.counts.sources.sum(axis=0)
        total = self._bytes(self.counts.sources)
        return [
            [
                TYPES[code].name,
                str(TYPES[code].size),
                str(packets[code]),
                _share(int(packets[code]), self.header.packets),
                _share(int(packets[code]) * TYPES[code].size, total),
            ]
            for code in np.flatnonzero(packets).tolist()
        ]

    def regions(self) -> list[list[str]]:
        """A row for each region."""
        return [
            [
                *(str(each) for each in (number, region.start, region.cycles, region.packets)),
                str(self._bytes(self.counts.regions[number + 1])),
                *self._rates(self.counts.regions[number + 1], region.cycles),
            ]
            for number, region in enumerate(self.header.regions)
        ]

    def _rates(self, packets: NDArray[np.int64], cycles: int) -> Sequence[str]:
        """Packets, bytes and phits per node and cycle, of packets by type."""
        of = self.header.nodes * cycles
        phits = int(packets @ netrace.phits(self.phit))
        return [_ratio(count, of) for count in (int(packets.sum()), self._bytes(packets), phits)]

    def _most(self, packets: NDArray[np.int64]) -> str:
        """The node with most bytes, of packets by node and type."""
        sizes = packets @ SIZES
        node = int(sizes.argmax())
        share = _share(int(sizes[node]), int(sizes.sum()))
        return f"node {node}: {packets[node].sum()} packets, {share} of the bytes"

    @staticmethod
    def _bytes(packets: NDArray[np.int64]) -> int:
        return int((packets @ SIZES).sum())


def _ratio(count: int, of: int) -> str:
    return f"{count / of:.4g}" if of else "-"


def _share(count: int, of: int) -> str:
    return f"{100 * count / of:.1f} %" if of else "-"
