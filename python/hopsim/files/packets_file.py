"""Packets in files: a table of comma-separated values, read as the list `jobs.traffic.packet_list`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hopsim.files.rows_file import Columns, rows

NODE = "the number of a node"

COLUMNS = Columns(
    element="packet",
    required={"cycle": "a cycle", "source": NODE, "destination": NODE},
    whole={"cycle": 2**32, "source": 2**32, "destination": 2**32, "length": 2**32},
)


def packets(path: Path) -> list[dict[str, Any]]:
    """The packets in a file, in the order of its lines; empty fields are left out. Raises `ConfigError`."""
    return rows(path, COLUMNS)
