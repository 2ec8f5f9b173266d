"""Records that say whether they are as they were written: JSON with a checksum of its own contents."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hopsim.errors import ConfigError
from hopsim.files import stored_record
from hopsim.kinds import is_table

CHECKSUM = "checksum"
"""The key of the checksum, SHA-256 of all other keys in canonical JSON."""


def seal(record: Mapping[str, Any]) -> dict[str, Any]:
    """A record with its checksum as the last key."""
    contents = {key: value for key, value in record.items() if key != CHECKSUM}
    return {**contents, CHECKSUM: _checksum(contents)}


def read(path: Path) -> dict[str, Any] | None:
    """A record from a file; None if there is none, or if it is not as it was written.

    Raises `ConfigError` for what is no regular file, may not be read, or is too large.
    """
    try:
        record = json.loads(stored_record(path))
    except ConfigError:
        raise
    except (OSError, ValueError, RecursionError):
        return None
    if not is_table(record):
        return None
    contents = dict(record)
    checksum = contents.pop(CHECKSUM, None)
    return contents if checksum == _checksum(contents) else None


def checksum_of(content: bytes) -> str:
    """The checksum of the content of a file, SHA-256 in hexadecimal digits."""
    return hashlib.sha256(content).hexdigest()


def _checksum(contents: Mapping[str, Any]) -> str:
    return checksum_of(json.dumps(contents, sort_keys=True, separators=(",", ":")).encode())
