"""Records that say whether they are as they were written: JSON with a checksum of its own contents."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hopsim.files.reading import stored_record
from hopsim.kinds import is_table

CHECKSUM = "checksum"
"""The key of the checksum, SHA-256 of all other keys in canonical JSON."""


def seal(record: Mapping[str, Any]) -> dict[str, Any]:
    """A record with its checksum as the last key."""
    contents = {key: value for key, value in record.items() if key != CHECKSUM}
    return {**contents, CHECKSUM: _checksum(contents)}


class DamagedError(Exception):
    """A file is not as hopsim has written it; the text says what is wrong."""


def read(path: Path) -> dict[str, Any] | None:
    """A record from a file; None if there is none.

    Raises `DamagedError` if it is not as it was written, and `ConfigError` for what is no regular file, may
    not be read, or is too large.
    """
    try:
        data = stored_record(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise DamagedError(error.strerror or str(error)) from None
    try:
        record = json.loads(data, parse_constant=_refuse_constant)
        if not is_table(record):
            raise DamagedError("is no table")
        contents = dict(record)
        checksum = contents.pop(CHECKSUM, None)
        if checksum == _checksum(contents):
            return contents
    except RecursionError:
        raise DamagedError("is nested too deeply") from None
    except ValueError as error:
        raise DamagedError(f"is no JSON: {str(error).partition(': ')[0]}") from None
    raise DamagedError("its checksum differs")


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no number")


def checksum_of(content: bytes) -> str:
    """The checksum of the content of a file, SHA-256 in hexadecimal digits."""
    return hashlib.sha256(content).hexdigest()


def _checksum(contents: Mapping[str, Any]) -> str:
    return checksum_of(json.dumps(contents, sort_keys=True, separators=(",", ":")).encode())
