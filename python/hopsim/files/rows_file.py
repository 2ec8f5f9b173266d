"""Lists in files: tables of comma-separated values, a line for each element."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hopsim.errors import ConfigError
from hopsim.files import reading
from hopsim.suggestion import suggestion


@dataclass(frozen=True)
class Columns:
    """What a table may have.

    Attributes:
        element: what a line is, such as `flow`.
        required: columns that must be there, and filled in every line, with what stands in them.
        whole: columns of whole numbers, and what these are less than.
        texts: columns of text.
    """

    element: str
    required: Mapping[str, str]
    whole: Mapping[str, int]
    texts: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all columns."""
        return (*self.whole, *self.texts)

    @property
    def kind(self) -> str:
        """What such a file is, for messages."""
        return f"a table whose first line names the columns: {', '.join(self.names)}"


def rows(path: Path, allowed: Columns) -> list[dict[str, Any]]:
    """The elements in a file, in the order of its lines; empty fields are left out. Raises `ConfigError`."""
    try:
        text = reading.text_of(path, allowed.kind)
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {error.strerror or error}") from None
    lines = enumerate(csv.reader(text.splitlines(), skipinitialspace=True), 1)
    found = [(line, [field.strip() for field in fields]) for line, fields in lines if any(fields)]
    if not found:
        raise ConfigError(f"is empty; valid: {allowed.kind}")
    (line, columns), *found = found
    _check_columns(allowed, line, columns)
    if not found:
        raise ConfigError(
            f"names no {allowed.element}; valid: a line for each, below the names of the columns"
        )
    return [_row(allowed, line, columns, fields) for line, fields in found]


def _check_columns(allowed: Columns, line: int, columns: list[str]) -> None:
    for column in columns:
        if column not in allowed.names:
            hint = suggestion(column, allowed.names) or ";"
            valid = ", ".join(allowed.names)
            raise ConfigError(f"line {line}: unknown column {column!r}{hint} valid: {valid}")
        if columns.count(column) > 1:
            raise ConfigError(f"line {line}: the column {column} is there twice; valid: every column once")
    for column in allowed.required:
        if column not in columns:
            raise ConfigError(f"line {line}: the column {column} is missing; valid: {allowed.kind}")


def _row(allowed: Columns, line: int, columns: list[str], fields: list[str]) -> dict[str, Any]:
    if len(fields) != len(columns):
        raise ConfigError(f"line {line}: {len(fields)} fields; valid: {len(columns)}, one for each column")
    pairs = zip(columns, fields, strict=True)
    row = {name: _value(allowed, line, name, text) for name, text in pairs if text}
    for column, what in allowed.required.items():
        if column not in row:
            raise ConfigError(f"line {line}: {column} is empty; valid: {what}")
    return row


def _value(allowed: Columns, line: int, column: str, text: str) -> int | str:
    if column in allowed.texts:
        return text
    if not (text.isascii() and text.isdecimal() and int(text) < allowed.whole[column]):
        raise ConfigError(f"line {line}: {column} = {text!r}; valid: 0 … {allowed.whole[column] - 1}")
    return int(text)
