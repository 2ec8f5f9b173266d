"""Tables of routes in files: comma-separated values, read as `hops` or `paths` of `routing.table`."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

from hopsim.errors import ConfigError
from hopsim.files import reading
from hopsim.files.rows_file import Columns, rows

ROUTER = "the number of a router"

HOPS = Columns(
    element="row",
    required={"router": ROUTER, "destination": ROUTER, "port": "the number of a port", "vc": "a VC"},
    whole={"router": 2**32, "destination": 2**32, "port": 2**32, "vc": 2**32},
)

PATHS = Columns(
    element="path",
    required={
        "source": ROUTER,
        "destination": ROUTER,
        "ports": "numbers of ports with spaces between them",
        "vcs": "a VC for every port, with spaces between them",
    },
    whole={"source": 2**32, "destination": 2**32},
    texts=("ports", "vcs"),
)


def routes(path: Path) -> dict[str, Any]:
    """The table in a file, as next hops or as whole paths. Raises `ConfigError`."""
    if {"ports", "vcs"} & set(_columns(path)):
        return {"paths": [_path(number, row) for number, row in enumerate(rows(path, PATHS), 1)]}
    return {"hops": [[row["router"], row["destination"], row["port"], row["vc"]] for row in rows(path, HOPS)]}


def _columns(path: Path) -> list[str]:
    """The names in the first line that is not empty."""
    try:
        text = reading.text_of(path, f"{HOPS.kind}, or {', '.join(PATHS.names)}")
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {error.strerror or error}") from None
    for fields in csv.reader(text.splitlines(), skipinitialspace=True):
        if any(fields):
            return [field.strip() for field in fields]
    return []


def _path(number: int, row: dict[str, Any]) -> dict[str, Any]:
    between = [row["source"], row["destination"]]
    return {
        "between": between,
        "ports": _numbers(number, "ports", row["ports"]),
        "vcs": _numbers(number, "vcs", row["vcs"]),
    }


def _numbers(number: int, column: str, text: str) -> list[int]:
    words = text.split()
    wrong = [word for word in words if not (word.isascii() and word.isdecimal() and int(word) < 2**32)]
    if wrong:
        raise ConfigError(
            f"path {number}: {column} = {text!r}: {wrong[0]!r} is no number; valid: {PATHS.required[column]}"
        )
    return [int(word) for word in words]
