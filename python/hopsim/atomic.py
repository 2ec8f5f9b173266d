"""Files that are written whole or not at all, by any number of processes on any machines at the same time.

A file is written beside its place, brought to the disk, and renamed: after a loss of power it is there with
its whole content, or not at all. Only regular files are replaced; symbolic links are followed.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import uuid
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

SUFFIX = ".part"
"""How the names of files end that are being written."""
TOGETHER = 32
"""Files that are brought to the disk at the same time."""


def write(target: Path, put: Callable[[Path], object], *, synced: bool = True) -> None:
    """Write a file beside its place and rename it; `put` writes the file at a path.

    What is not `synced` may be lost or torn by a loss of power until `sync` has brought it to the disk.
    """
    _write(target, put, Path.replace, synced=synced)


def write_text(target: Path, text: str, *, synced: bool = True) -> None:
    """The same with a text."""
    write(target, lambda path: path.write_bytes(text.encode()), synced=synced)


def create_text(target: Path, text: str) -> None:
    """The same unless the file is there: of several processes one writes it."""
    _write(target, lambda path: path.write_bytes(text.encode()), _link, synced=True)


def sync(folder: Path) -> None:
    """Bring a folder and the finished files in it to the disk, many at a time, as disks like it."""
    with ThreadPoolExecutor(TOGETHER) as threads:
        finished = [path for path in folder.iterdir() if not is_unfinished(path.name) and path.is_file()]
        for synced in [threads.submit(_sync, path) for path in finished]:
            # Another process may have removed it.
            with contextlib.suppress(FileNotFoundError):
                synced.result()
    _sync(folder)


def probe(folder: Path) -> None:
    """See that files can be written into a folder. Raises `OSError`."""
    temporary = _beside(folder / "probe")
    temporary.touch()
    temporary.unlink(missing_ok=True)


def probe_file(target: Path) -> None:
    """See that a file can be written. Raises `OSError`."""
    probe(_place_of(target).parent)


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
    target: Path, put: Callable[[Path], object], place: Callable[[Path, Path], object], *, synced: bool
) -> None:
    target = _place_of(target)
    temporary = _beside(target)
    try:
        put(temporary)
        if synced:
            _sync(temporary)
        place(temporary, target)
        if synced:
            _sync(target.parent)
    except OSError as error:
        # Who has found all results has removed it, as left by a killed process: what it was to be is there.
        if isinstance(error, FileNotFoundError) and target.exists():
            return
        # It names the file beside, or none when the disk is full.
        raise OSError(error.errno, error.strerror or str(error), str(target)) from None
    finally:
        temporary.unlink(missing_ok=True)


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
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        # Some file systems cannot do it for folders.
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(descriptor)


def _link(temporary: Path, target: Path) -> None:
    # On a file system without hard links the first one is not told from others.
    with contextlib.suppress(OSError):
        os.link(temporary, target)


def _beside(target: Path) -> Path:
    """A name that no other process has, on no machine: numbers of processes repeat."""
    return target.with_name(f".{target.name}.{uuid.uuid4().hex}{SUFFIX}")
