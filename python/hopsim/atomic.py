"""Files that are written whole or not at all, by any number of processes on any machines at the same time."""

from __future__ import annotations

import contextlib
import errno
import os
import uuid
from collections.abc import Callable, Iterable
from pathlib import Path

SUFFIX = ".part"
"""How the names of files end that are being written."""


def write(target: Path, put: Callable[[Path], object]) -> None:
    """Write a file beside its place and rename it; `put` writes the file at a path."""
    _write(target, put, lambda temporary: temporary.replace(target))


def write_text(target: Path, text: str) -> None:
    """The same with a text."""
    write(target, lambda path: path.write_bytes(text.encode()))


def create_text(target: Path, text: str) -> None:
    """The same unless the file is there: of several processes one writes it."""
    _write(target, lambda path: path.write_bytes(text.encode()), lambda temporary: _link(temporary, target))


def probe(folder: Path) -> None:
    """See that files can be written into a folder. Raises `OSError`."""
    temporary = _beside(folder / "probe")
    temporary.touch()
    temporary.unlink(missing_ok=True)


def probe_file(target: Path) -> None:
    """See that a file can be written. Raises `OSError`."""
    _refuse_directory(target)
    probe(target.parent)


def is_unfinished(name: str) -> bool:
    """Whether this is the name of a file that is being written, or was when its process was killed."""
    return name.startswith(".") and name.endswith(SUFFIX)


def remove_unfinished(folders: Iterable[Path]) -> None:
    """Remove what killed processes left, from folders that have every file which anybody could write."""
    for folder in folders:
        for path in folder.iterdir():
            if is_unfinished(path.name):
                path.unlink(missing_ok=True)


def _write(target: Path, put: Callable[[Path], object], place: Callable[[Path], object]) -> None:
    _refuse_directory(target)
    temporary = _beside(target)
    try:
        put(temporary)
        place(temporary)
    except OSError as error:
        # Who has found all results has removed it, as left by a killed process: what it was to be is there.
        if isinstance(error, FileNotFoundError) and target.exists():
            return
        # It names the file beside, or none when the disk is full.
        raise OSError(error.errno, error.strerror or str(error), str(target)) from None
    finally:
        temporary.unlink(missing_ok=True)


def _refuse_directory(target: Path) -> None:
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(target))


def _link(temporary: Path, target: Path) -> None:
    # On a file system without hard links the first one is not told from others.
    with contextlib.suppress(OSError):
        os.link(temporary, target)


def _beside(target: Path) -> Path:
    """A name that no other process has, on no machine: numbers of processes repeat."""
    return target.with_name(f".{target.name}.{uuid.uuid4().hex}{SUFFIX}")
