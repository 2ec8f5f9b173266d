"""What the file of a program consists of, in numbers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hopsim import _core
from hopsim.files import program_file
from hopsim.files.program_file import Source

HEADINGS = [
    *("trace", "ranks", "steps", "records", "p2p msgs", "(to self)", "p2p bytes", "colls"),
    *("compute/rank", "ideal time", "file"),
]
"""Of `TraceInfo.row`."""


@dataclass(frozen=True)
class TraceInfo:
    """Totals of the program in a file."""

    file: Path
    totals: Mapping[str, Any]
    """See `_core.program_info`."""

    size: int
    """Of the file, as it is [bytes]."""

    @classmethod
    def of(cls, source: Source) -> TraceInfo:
        """Read and verify a program. Raises `ConfigError`."""
        totals = source.ask(_core.program_info)
        return cls(source.path, json.loads(totals), source.size)

    @property
    def name(self) -> str:
        """That of the trace, or of the file without its extensions."""
        return self.totals["name"] or program_file.name_of(self.file)

    def lines(self) -> list[tuple[str, str]]:
        """What there is to say, with names."""
        totals, own = self.totals, self.totals["messages_to_self"]
        return [
            ("format", totals["format"]),
            ("name", self.name),
            *((f"info {key}", text) for key, text in totals["info"].items()),
            ("ranks", str(totals["ranks"])),
            ("records", f"{totals['records']} of all ranks"),
            ("messages", f"{totals['messages']}, {own} of them of a rank to itself"),
            ("bytes", f"{totals['bytes']} of these messages"),
            ("collectives", f"{totals['collectives']}, each counted once per communicator"),
            ("alltoall bytes", f"{totals['alltoall_bytes']} that leave their rank"),
            ("compute", f"{self._time('compute_mean')} per rank, the mean"),
            ("ideal time", self._time("least_time")),
            ("verified", "yes"),
        ]

    def row(self) -> list[str]:
        """The same in short, a row of a table of traces."""
        totals = self.totals
        return [
            self.name,
            str(totals["ranks"]),
            totals["info"].get("steps", "?"),
            *(str(totals[key]) for key in ("records", "messages", "messages_to_self")),
            _size(int(totals["bytes"])),
            str(totals["collectives"]),
            self._time("compute_mean"),
            self._time("least_time"),
            _size(self.size),
        ]

    def _time(self, key: str) -> str:
        nanoseconds = self.totals[key]
        return "-" if nanoseconds is None else f"{nanoseconds / 1e6:.3f} ms"


def _size(count: int) -> str:
    """So many bytes, in MB or kB of 10^6 and 10^3."""
    return f"{count / 1e6:.1f} MB" if count >= 1_000_000 else f"{count / 1e3:.1f} kB"
