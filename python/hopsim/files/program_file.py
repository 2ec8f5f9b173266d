"""Files of programs: traces and graphs of operations, which may be compressed."""

from __future__ import annotations

import glob
import gzip
import io
import lzma
import re
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, BinaryIO, TypeVar

from hopsim.errors import ConfigError
from hopsim.files import atomic, reading

T = TypeVar("T")

MOST_MB = 1024
"""Largest program that is read, all its files together, decompressed [MB of 2^20 bytes]."""
MOST_RATIO = 400
"""Above `ANY_RATIO_MB` what is decompressed has at most so many times the bytes that it was read from."""
ANY_RATIO_MB = 256
"""Up to this size a file may have been compressed by any ratio, decompressed [MB of 2^20 bytes]."""

KIND = (
    "a trace in format mpt 1, Dimemas or Paraver, a GOAL file or a table of traffic; "
    "compressed as .xz or .gz, or not"
)

OPENERS: Mapping[str, Callable[..., Any]] = {".xz": lzma.open, ".gz": gzip.open}
"""How files are opened that are compressed, by extension."""

_BROKEN = (lzma.LZMAError, zlib.error, EOFError, gzip.BadGzipFile)
"""What readers of compressed files raise."""

_RANK = re.compile(r"\.\d+\.et$")


def contents(path: Path) -> bytes:
    """What is in the file, decompressed. Raises `ConfigError`."""
    try:
        with path.open("rb") as file:
            return _decompressed(file, OPENERS.get(path.suffix), MOST_MB << 20, KIND)
    except _BROKEN as error:
        raise ConfigError(f"cannot be decompressed: {error}; valid: {KIND}") from None
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {error.strerror or error}") from None


class _Counted(io.RawIOBase):
    """A file that is read, and how much of it was."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.count = 0

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read into a buffer; returns how much."""
        data = self._file.read(len(buffer))
        buffer[: len(data)] = data
        self.count += len(data)
        return len(data)


def _decompressed(file: IO[bytes], opener: Callable[..., Any] | None, left: int, valid: str) -> bytes:
    """The rest of a file, decompressed no further than the `left` bytes that may be, and in memory once.

    Raises `ConfigError` for more, and as soon as it has grown more than programs do.
    """
    counted = _Counted(file)
    opened: IO[bytes] = file if opener is None else opener(counted, "rb")
    read = io.BytesIO()
    while chunk := opened.read(reading.CHUNK):
        size = read.tell() + len(chunk)
        if size > left:
            raise ConfigError(f"is larger than {MOST_MB} MB, decompressed; valid: {valid}")
        if opener is not None and size > max(ANY_RATIO_MB << 20, MOST_RATIO * counted.count):
            raise ConfigError(
                f"decompresses to more than {MOST_RATIO} times its size, as no program does; valid: {valid}"
            )
        read.write(chunk)
    # Not a copy.
    return read.getvalue()


def chakra(path: Path) -> list[bytes]:
    """What is in the files `PATH.0.et`, `PATH.1.et` and so on, decompressed. Raises `ConfigError`."""
    ranks = [Path(f"{path}.{rank}.et") for rank in range(sum(1 for _ in _ranks(path)))]
    if not ranks:
        raise ConfigError(
            f"cannot read {path}.0.et; valid: what the names of all files begin with: FILE.0.et, …"
        )
    found: list[bytes] = []
    left = MOST_MB << 20
    for rank in ranks:
        found.append(_of_rank(rank, left))
        left -= len(found[-1])
    return found


def is_chakra(path: Path) -> bool:
    """Whether there is no such file, and files with this beginning are."""
    return not path.exists() and any(_ranks(path))


def _ranks(path: Path) -> Iterator[Path]:
    """The files of the ranks."""
    return (file for file in path.parent.glob(f"{glob.escape(path.name)}.*.et") if _RANK.search(file.name))


def _of_rank(path: Path, left: int) -> bytes:
    """What is in the file of a rank, which may be compressed, of at most so many bytes."""
    valid = "Chakra execution traces"
    try:
        with path.open("rb") as file:
            is_compressed = file.peek(2).startswith(b"\x1f\x8b")
            return _decompressed(file, gzip.open if is_compressed else None, left, valid)
    except _BROKEN as error:
        raise ConfigError(f"{path}: cannot be decompressed: {error}; valid: {valid}") from None
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {error.strerror or error}") from None


def name_of(path: Path) -> str:
    """The name of a file without its extensions."""
    return Path(path.stem if path.suffix in OPENERS else path.name).stem


def write(path: Path, data: bytes) -> None:
    """Write a file that `contents` reads, compressed as its extension says. Raises `ConfigError`."""

    def put(file: BinaryIO) -> None:
        compressor = OPENERS.get(path.suffix)
        if compressor is None:
            file.write(data)
        else:
            with compressor(file, "wb") as compressed:
                compressed.write(data)

    try:
        atomic.write(path, put)
    except OSError as error:
        reason = error.strerror or str(error)
        raise ConfigError(f"{path}: cannot write: {reason}; choose a writable path") from None


@dataclass(frozen=True)
class Source:
    """Where a program comes from."""

    path: Path
    """A file, or what the files of a Chakra trace begin with."""
    groups: Path | None = None
    """File of the process groups of a Chakra trace."""
    flops: float | None = None
    """Operations per second of a rank of a Chakra trace."""

    @property
    def size(self) -> int:
        """Of all files, as they are [bytes]."""
        files = _ranks(self.path) if is_chakra(self.path) else [self.path]
        return sum(file.stat().st_size for file in files)

    def ask(self, question: Callable[..., T], *details: Any) -> T:
        """What a function of `_core` says of the contents of the files. Raises `ConfigError`."""
        try:
            if is_chakra(self.path):
                groups = None if self.groups is None else contents(self.groups)
                return question(chakra(self.path), *details, (groups, self.flops))
            if self.groups is not None or self.flops is not None:
                raise ConfigError("is no Chakra trace; valid: no --groups and no --flops")
            return question([contents(self.path)], *details)
        except ConfigError as error:
            raise ConfigError(f"{self.path}: {error}") from None
