"""Files of programs: traces and graphs of operations, which may be compressed."""

from __future__ import annotations

import gzip
import lzma
import zlib
from pathlib import Path

from hopsim.errors import ConfigError

MOST_MB = 4096
"""Largest program that is read, decompressed [MB of 2^20 bytes]."""

KIND = "a trace in format mpt 1 or Dimemas, or a GOAL file; compressed as .xz or .gz, or not"


def contents(path: Path) -> bytes:
    """What is in the file, decompressed. Raises `ConfigError`."""
    opener = {".xz": lzma.open, ".gz": gzip.open}.get(path.suffix, open)
    try:
        with opener(path, "rb") as file:
            data = file.read((MOST_MB << 20) + 1)
    except (lzma.LZMAError, zlib.error, EOFError, gzip.BadGzipFile) as error:
        raise ConfigError(f"cannot be decompressed: {error}; valid: {KIND}") from None
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {error.strerror or error}") from None
    if len(data) > MOST_MB << 20:
        raise ConfigError(f"is larger than {MOST_MB} MB; valid: {KIND}")
    return data
