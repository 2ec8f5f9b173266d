"""Files that users give, read no further than any of them can reasonably go: a device has no end."""

from __future__ import annotations

import errno
import io
import os
import re
import stat
from os import PathLike
from pathlib import Path
from typing import IO, Any, BinaryIO

from hopsim.errors import ConfigError

MOST_MB = 64
"""Largest file that is read [MB of 2^20 bytes]."""

CHUNK = 1 << 20
"""How much of a file is read or decompressed at once [bytes]."""

MOST_DIGITS = 1000
"""Most digits of a number in a file: none is nearly as long, and Python takes no more than some thousand."""

_ENDLESS = re.compile(rf"\d{{{MOST_DIGITS + 1}}}")

MOST_RECORD_MB = 1024
"""Largest manifest, or record of a point, that is read [MB of 2^20 bytes]; a manifest has some 300 bytes for
each point."""


def read_bytes(file: BinaryIO, valid: str) -> bytes:
    """The rest of an open file; `valid`: what it should be. Raises `ConfigError` if it is too large."""
    data = read_up_to(file, MOST_MB << 20)
    if data is None:
        raise ConfigError(f"is larger than {MOST_MB} MB; valid: {valid}")
    return data


def read_up_to(file: IO[bytes], most: int) -> bytes | None:
    """The rest of a file; None if it has more bytes than `most`, and it is read no further than that.

    It takes no more memory than what is there, and a part more while it grows.
    """
    read = io.BytesIO()
    while chunk := file.read(CHUNK):
        if read.tell() + len(chunk) > most:
            return None
        read.write(chunk)
    # Not a copy.
    return read.getvalue()


def read_text(file: BinaryIO, valid: str) -> str:
    """The same as text. Raises `ConfigError` if it is not UTF-8 either."""
    try:
        text = read_bytes(file, valid).decode("utf-8")
    except UnicodeDecodeError as error:
        raise ConfigError(f"byte {error.start} is not UTF-8; valid: {valid}") from None
    endless = _ENDLESS.search(text)
    if endless:
        line = text.count("\n", 0, endless.start()) + 1
        raise ConfigError(f"line {line}: a number has more than {MOST_DIGITS} digits; valid: {valid}")
    return text


def text_of(path: str | PathLike[str], valid: str) -> str:
    """The text of the file at `path`, likewise."""
    with Path(path).open("rb") as file:
        return read_text(file, valid)


def path_of(given: Any, name: str) -> Path:
    """The path that the argument `name` gives, of whatever type. Raises `ConfigError` if it is none."""
    if not isinstance(given, str | PathLike):
        raise ConfigError(f"{name} = {given!r}: is not a path; valid: a text or a pathlib.Path")
    path = Path(os.fspath(given))  # pyright: ignore[reportUnknownArgumentType]
    if "\0" in str(path):
        raise ConfigError(f"{name} = {str(path)!r}: has a zero byte; valid: the path of a file or directory")
    return path


def check_name(path: Path) -> None:
    """Refuse names whose bytes are not UTF-8, which Parquet files cannot have. Raises `ConfigError`."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        shown = os.fsencode(path).decode(errors="replace")
        raise ConfigError(f"{shown}: the name is not UTF-8; valid: a directory whose name is") from None


def open_stored(path: Path) -> BinaryIO:
    """Open a file that hopsim has written, a regular one: a device has no end, a FIFO may never begin.

    Raises `ConfigError` if it is something else or may not be read, `OSError` if it is not there.
    """
    # Neither waits for a FIFO nor changes what a device is doing.
    descriptor = _descriptor(path)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise ConfigError(f"{path}: is not a regular file; valid: one that hopsim has written")
    return os.fdopen(descriptor, "rb")


def _descriptor(path: Path) -> int:
    flags = (
        os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_BINARY", 0)
    )
    try:
        return os.open(path, flags)
    except PermissionError as error:
        raise ConfigError(
            f"{path}: cannot be read: {error.strerror}; valid: a file that you may read"
        ) from None
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise ConfigError(f"{path}: leads to itself ({error.strerror}); valid: a regular file") from None
        raise


def stored_bytes(path: Path) -> bytes:
    """What is in a file that hopsim has written. Raises what `open_stored` does, or if memory has no room."""
    with open_stored(path) as file:
        try:
            return file.read()
        except MemoryError:
            size = os.fstat(file.fileno()).st_size
            raise ConfigError(
                f"{path}: has {size:,} bytes, more than memory has room for; "
                "valid: a file that hopsim has written"
            ) from None


def stored_record(path: Path) -> bytes:
    """What is in a record that hopsim has written. Raises what `open_stored` does, or if it is too large."""
    with open_stored(path) as file:
        data = read_up_to(file, MOST_RECORD_MB << 20)
    if data is None:
        raise ConfigError(
            f"{path}: is larger than {MOST_RECORD_MB} MB; valid: a file that hopsim has written"
        )
    return data
