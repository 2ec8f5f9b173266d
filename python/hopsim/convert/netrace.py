"""Lists of packets made of netraces: what `jobs.traffic.packet_list.file` reads."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from hopsim.errors import ConfigError
from hopsim.files import netrace, packets_file, reading
from hopsim.files.netrace import TYPES, Block, Header

_LAST = 2**32 - 1
"""Greatest cycle that a list of packets may have [cycles]."""
_LAST_IN_TRACE = 2**64 - 1
"""Greatest cycle that a trace may have [cycles]."""


@dataclass(frozen=True)
class Part:
    """What of a trace is taken.

    Attributes:
        region: the region, or None for the whole trace.
        begin: first cycle, counted from where the region or the trace begins [cycles].
        cycles: how many cycles, or None for all that follow [cycles].
    """

    region: int | None = None
    begin: int = 0
    cycles: int | None = None


@dataclass(frozen=True)
class Converted:
    """A list of packets made of a trace.

    Attributes:
        table: a table of comma-separated values, with the names of its columns; cycles are counted from the
            first that was taken [cycles], lengths are in phits.
        remarks: what was left out, and what a document with the list needs, a sentence for each.
    """

    table: str
    remarks: list[str]


def convert(file: Path, part: Part, phit: int) -> Converted:
    """The packets of a part of a trace, for links that carry `phit` bytes per cycle. Raises `ConfigError`."""
    try:
        with netrace.opened(file) as (header, blocks):
            first = part.begin + _start(header, part.region)
            made = _Made(first, netrace.phits(phit))
            for packets in _taken(blocks, part, first):
                made.add(packets)
        if made.packets == 0:
            raise ConfigError(f"no packet is in these cycles; valid: others, of {header.cycles} in all")
    except ConfigError as error:
        raise ConfigError(f"{file}: {error}") from None
    return Converted("".join(made.pieces), made.remarks(phit))


def _start(header: Header, region: int | None) -> int:
    """Cycle in which a region begins, or the trace."""
    if region is None:
        return 0
    if region >= len(header.regions):
        most = len(header.regions) - 1
        valid = f"0 … {most}" if header.regions else "no --region, as the trace has none"
        raise ConfigError(f"--region {region}: there is no such region; valid: {valid}")
    return header.regions[region].start


def _taken(blocks: Iterator[Block], part: Part, first: int) -> Iterator[NDArray[np.void]]:
    """The packets from a cycle on that are taken; no more of the trace is read than that takes."""
    last = _LAST_IN_TRACE if part.cycles is None else first + part.cycles - 1
    for block in blocks:
        cycles, regions = block.packets["cycle"], block.regions
        which = (cycles >= first) & (cycles <= last)
        if part.region is not None:
            which &= regions == part.region
        yield block.packets[which]
        if cycles[-1] > last or (part.region is not None and regions[-1] > part.region):
            return


class _Made:
    """The list, as far as it is made."""

    def __init__(self, first: int, phits: NDArray[np.int64]) -> None:
        self._first = first
        self._phits = phits
        self.pieces = [",".join(packets_file.COLUMNS.names) + "\n"]
        self.packets = 0
        self._bytes = len(self.pieces[0])
        self._dependents = 0
        self._to_self = 0
        self._cycle = 0

    def add(self, packets: NDArray[np.void]) -> None:
        """Add packets. Raises `ConfigError` if no list can have them."""
        if packets.size == 0:
            return
        self._cycle = int(packets["cycle"][-1]) - self._first
        if self._cycle > _LAST:
            raise ConfigError(f"is longer than {_LAST} cycles; valid: a --region, --begin or --cycles")
        columns = (
            packets["cycle"] - np.uint64(self._first),
            packets["source"],
            packets["destination"],
            self._phits[packets["type"]],
        )
        rows = zip(*(column.tolist() for column in columns), strict=True)
        self.pieces.append("".join(f"{c},{s},{d},{n}\n" for c, s, d, n in rows))
        self._bytes += len(self.pieces[-1])
        if self._bytes > reading.MOST_MB << 20:
            raise ConfigError(
                f"makes a list of more than {reading.MOST_MB} MB, which no document reads; "
                "valid: a --region, or fewer --cycles"
            )
        self.packets += packets.size
        self._dependents += int(packets["dependents"].sum(dtype=np.int64))
        self._to_self += int((packets["source"] == packets["destination"]).sum())

    def remarks(self, phit: int) -> list[str]:
        """What was left out, and what a document with the list needs."""
        sizes = {TYPES[code].size: int(self._phits[code]) for code in TYPES}
        lengths = ", ".join(f"{size} bytes are {length}" for size, length in sorted(sizes.items()))
        found = [
            f"packets: {self.packets}, with lengths in phits of {phit} bytes: {lengths}",
            f"dependencies: {self._dependents} are left out: each packet is generated in its cycle, "
            "whether those that it depends on have arrived or not",
            "addresses, and types of packets and nodes: are left out",
            f"cycles: the last packet is generated in cycle {self._cycle} of the job, and a run is longer",
        ]
        if self._to_self:
            own = f"to itself: {self._to_self} of the packets go to the node that sends them"
            found.append(f'{own}, for which a document needs semantics.self_traffic = "router"')
        return found
