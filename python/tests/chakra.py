"""Chakra execution traces for tests, written byte by byte from the field numbers of the schema."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

METADATA, COMP, SEND, RECV, COLL = 1, 4, 5, 6, 7
"""Types of nodes."""


def node(
    number: int,
    kind: int,
    after: Iterable[int] = (),
    duration: int = 0,
    attributes: Mapping[str, int | bool | str] | None = None,
) -> bytes:
    """A node; durations are in µs."""
    listed = b"".join(_varint(other) for other in after)
    fields = _number(1, number) + _long(2, f"n{number}".encode()) + _number(3, kind) + _long(5, listed)
    if duration:
        fields += _number(7, duration)
    for name, value in (attributes or {}).items():
        fields += _long(10, _long(1, name.encode()) + _value(value))
    return fields


def write(path: Path, *nodes: bytes) -> None:
    """A file of nodes behind the metadata."""
    messages = [_long(1, b"0.0.4"), *nodes]
    path.write_bytes(b"".join(_varint(len(message)) + message for message in messages))


def _value(value: int | bool | str) -> bytes:
    if isinstance(value, str):
        return _long(29, value.encode())
    return _number(27 if isinstance(value, bool) else 9, int(value))


def _varint(number: int) -> bytes:
    if number < 128:
        return bytes([number])
    return bytes([number & 127 | 128]) + _varint(number >> 7)


def _number(field: int, number: int) -> bytes:
    return _varint(field << 3) + _varint(number)


def _long(field: int, contents: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(contents)) + contents
