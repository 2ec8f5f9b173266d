"""Files that users give, read no further than any of them can reasonably go: a device has no end."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import BinaryIO

from hopsim.errors import ConfigError

MOST_MB = 64
"""Largest file that is read [MB of 2^20 bytes]."""


def read_bytes(file: BinaryIO, valid: str) -> bytes:
    """The rest of an open file; `valid`: what it should be. Raises `ConfigError` if it is too large."""
    data = file.read((MOST_MB << 20) + 1)
    if len(data) > MOST_MB << 20:
        raise ConfigError(f"is larger than {MOST_MB} MB; valid: {valid}")
    return data


def read_text(file: BinaryIO, valid: str) -> str:
    """The same as text. Raises `ConfigError` if it is not UTF-8 either."""
    try:
        return read_bytes(file, valid).decode("utf-8")
    except UnicodeDecodeError as error:
        raise ConfigError(f"byte {error.start} is not UTF-8; valid: {valid}") from None


def text_of(path: str | PathLike[str], valid: str) -> str:
    """The text of the file at `path`, likewise."""
    with Path(path).open("rb") as file:
        return read_text(file, valid)
