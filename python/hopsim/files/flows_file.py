"""Flows in files: a table of comma-separated values, read as the list `jobs.flows`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hopsim.files.rows_file import Columns, rows

NODE = "the number of a node"

COLUMNS = Columns(
    element="flow",
    required={"source": NODE, "destination": NODE},
    whole={"source": 2**32, "destination": 2**32, "bytes": 2**64, "service_level": 16},
    texts=("name", "start", "end", "rate"),
)


def flows(path: Path) -> list[dict[str, Any]]:
    """The flows in a file, in the order of its lines; empty fields are left out. Raises `ConfigError`."""
    return rows(path, COLUMNS)
