"""Flows in files: a table of comma-separated values, read as the list `jobs.flows`."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

from hopsim.errors import ConfigError
from hopsim.files import reading
from hopsim.suggestion import suggestion

REQUIRED = ("source", "destination")
WHOLE = {"source": 2**32, "destination": 2**32, "bytes": 2**64, "service_level": 16}
"""Columns of whole numbers, and what these are less than."""
TEXTS = ("name", "start", "end", "rate")
COLUMNS = (*WHOLE, *TEXTS)

KIND = f"a table whose first line names the columns: {', '.join(COLUMNS)}"


def flows(path: Path) -> list[dict[str, Any]]:
    """The flows in a file, in the order of its lines; empty fields are left out. Raises `ConfigError`."""
    try:
        text = reading.text_of(path, KIND)
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {error.strerror or error}") from None
    lines = enumerate(csv.reader(text.splitlines(), skipinitialspace=True), 1)
    rows = [(line, [field.strip() for field in fields]) for line, fields in lines if any(fields)]
    if not rows:
        raise ConfigError(f"is empty; valid: {KIND}")
    (line, columns), *rows = rows
    _check_columns(line, columns)
    if not rows:
        raise ConfigError("names no flow; valid: a line for each, below the names of the columns")
    return [_flow(line, columns, fields) for line, fields in rows]


def _check_columns(line: int, columns: list[str]) -> None:
    for column in columns:
        if column not in COLUMNS:
            hint = suggestion(column, COLUMNS) or ";"
            raise ConfigError(f"line {line}: unknown column {column!r}{hint} valid: {', '.join(COLUMNS)}")
        if columns.count(column) > 1:
            raise ConfigError(f"line {line}: the column {column} is there twice; valid: every column once")
    for column in REQUIRED:
        if column not in columns:
            raise ConfigError(f"line {line}: the column {column} is missing; valid: {KIND}")


def _flow(line: int, columns: list[str], fields: list[str]) -> dict[str, Any]:
    if len(fields) != len(columns):
        raise ConfigError(f"line {line}: {len(fields)} fields; valid: {len(columns)}, one for each column")
    flow = {name: _value(line, name, text) for name, text in zip(columns, fields, strict=True) if text}
    for column in REQUIRED:
        if column not in flow:
            raise ConfigError(f"line {line}: {column} is empty; valid: the number of a node")
    return flow


def _value(line: int, column: str, text: str) -> int | str:
    if column in TEXTS:
        return text
    if not (text.isascii() and text.isdecimal() and int(text) < WHOLE[column]):
        raise ConfigError(f"line {line}: {column} = {text!r}; valid: 0 … {WHOLE[column] - 1}")
    return int(text)
