"""Files that are written whole or not at all, by any number of processes on any machines at the same time.

A file is written beside its place, brought to the disk, and renamed: after a loss of power it is there with
its whole content, or not at all. Only regular files are replaced; symbolic links are followed. What a killed
process has left beside a file is removed by who writes that file a day later.

All that hopsim writes goes through Python's files, which `python -m verify power` lets fail one by one.
"""

from __future__ import annotations

import contextlib
import errno
import glob
import os
import stat
import time
import uuid
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO, BinaryIO

WINDOWS = os.name == "nt"
"""Whether folders cannot be opened, and only what may be written be brought to the disk."""
SUFFIX = ".part"
"""How the names of files end that are being written."""
TOGETHER = 32
"""Files that are brought to the disk at the same time."""
LEFT_S = 24 * 3600
"""Nobody writes any more to a file that has not changed for so long [s]."""


def write(target: Path, put: Callable[[BinaryIO], object], *, synced: bool = True) -> None:
    """Write a file beside its place and rename it; `put` writes what is to be in it.

    What is not `synced` may be lost or torn by a loss of power until `sync` has brought it to the disk.
    Raises `OSError` that names the file.
    """
    _write(target, put, Path.replace, synced=synced)


def write_text(target: Path, text: str, *, synced: bool = True) -> None:
    """The same with a text."""
    write(target, lambda file: file.write(text.encode()), synced=synced)


def create_text(target: Path, text: str) -> None:
    """The same unless the file is there: of several processes one writes it."""
    _write(target, lambda file: file.write(text.encode()), _link, synced=True)


def make_folder(folder: Path) -> None:
    """Make a folder, and those it is in, unless they are there, on the disk, too. Raises `OSError`."""
    new = [each for each in (folder, *folder.parents) if not each.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    for each in reversed(new):
        _sync(each.parent)


def finish(file: IO[str]) -> None:
    """Bring what was written into an open file to the disk, as far as it is a file. Raises `OSError`."""
    file.flush()
    _sync_descriptor(file.fileno())


def sync(folder: Path) -> None:
    """Bring a folder and the finished files in it to the disk, many at a time, as disks like it."""
    with ThreadPoolExecutor(TOGETHER) as threads:
        finished = [path for path in folder.iterdir() if not is_unfinished(path.name) and path.is_file()]
        for synced in [threads.submit(_sync, path) for path in finished]:
            # Another process may have removed it.
            with contextlib.suppress(FileNotFoundError):
                synced.result()
    _sync(folder)


def sync_folder(folder: Path) -> None:
    """Bring to the disk which files are in a folder, not what is in them. Raises `OSError`."""
    _sync(folder)


def probe(folder: Path) -> None:
    """See that files can be written into a folder. Raises `OSError`."""
    _probe(folder / "probe")


def probe_file(target: Path) -> None:
    """See that a file can be written. Raises `OSError`."""
    place = _place_of(target)
    _probe(place)
    _remove_left(place)


def is_unfinished(name: str) -> bool:
    """Whether this is the name of a file that is being written, or was when its process was killed."""
    return name.startswith(".") and name.endswith(SUFFIX)


def remove_unfinished(folders: Iterable[Path]) -> None:
    """Remove what killed processes left, from folders that have every file which anybody could write."""
    for folder in folders:
        for path in folder.iterdir():
            if is_unfinished(path.name):
                path.unlink(missing_ok=True)


def _write(
    target: Path, put: Callable[[BinaryIO], object], place: Callable[[Path, Path], object], *, synced: bool
) -> None:
    target = _place_of(target)
    temporary = _beside(target)
    try:
        try:
            with temporary.open("xb") as file:
                put(file)
                if synced:
                    file.flush()
                    _sync_descriptor(file.fileno())
            try:
                place(temporary, target)
            except FileNotFoundError:
                # Who has found all results has removed it, as left by a killed process: what it was to be is
                # there.
                if not target.exists():
                    raise
        finally:
            # What cannot be removed now is removed later.
            with contextlib.suppress(OSError):
                temporary.unlink()
        if synced:
            _sync(target.parent)
            _remove_left(target)
    except OSError as error:
        # It names the file beside, or none when the disk is full.
        raise OSError(error.errno, error.strerror or str(error), str(target)) from None


def _probe(target: Path) -> None:
    temporary = _beside(target)
    temporary.touch()
    temporary.unlink(missing_ok=True)


def _remove_left(target: Path) -> None:
    """Remove what killed processes have left beside a file. It is in nobody's way if it cannot be removed."""
    with contextlib.suppress(OSError):
        for path in target.parent.glob(f".{glob.escape(target.name)}.*{SUFFIX}"):
            if time.time() - path.stat().st_mtime > LEFT_S:
                path.unlink()


def _place_of(target: Path) -> Path:
    """The file that a name leads to. Raises `OSError` where it is neither a regular file nor a new one."""
    try:
        mode = target.stat().st_mode
    except FileNotFoundError:
        mode = stat.S_IFREG
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(target))
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, "Is a device, a FIFO or a socket, not a regular file", str(target))
    return Path(os.path.realpath(target)) if target.is_symlink() else target


def _sync(path: Path) -> None:
    """Bring a file or a folder to the disk."""
    if WINDOWS and path.is_dir():
        return
    descriptor = os.open(path, os.O_RDWR if WINDOWS else os.O_RDONLY)
    try:
        _sync_descriptor(descriptor)
    finally:
        os.close(descriptor)


def _sync_descriptor(descriptor: int) -> None:
    try:
        os.fsync(descriptor)
    except OSError as error:
        # Some file systems cannot do it for folders, and pipes have no disk.
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise


def _link(temporary: Path, target: Path) -> None:
    # On a file system without hard links the first one is not told from others.
    with contextlib.suppress(OSError):
        os.link(temporary, target)


def _beside(target: Path) -> Path:
    """A name that no other process has, on no machine: numbers of processes repeat."""
    return target.with_name(f".{target.name}.{uuid.uuid4().hex}{SUFFIX}")
