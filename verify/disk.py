"""A disk that fails: what hopsim asks of files is recorded, and may fail, call by call.

Python's functions for files are replaced while a command runs in this process. What happened is kept as a
list of operations, from which follows what a loss of power at any moment may leave: of a file what was there
when it was brought to the disk last, and of what was written since nothing, all, a part, or zeros and garbage
in its place; of the names in a folder those that were there when it was brought to the disk last, and of what
was done to them since any part, in any order that the single operations leave.
"""

from __future__ import annotations

import builtins
import errno
import io
import os
import random
import threading
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from enum import Enum
from functools import partial
from pathlib import Path
from typing import Any, Protocol

CALLS = ("open", "write", "sync", "close", "rename", "link", "unlink", "mkdir", "rmdir")
"""What is asked of files by who writes."""


class Kind(Enum):
    """How a call fails."""

    ERROR = "fails"
    """It, and no other."""
    ERRORS = "fails, as all after it"
    """The disk is full or has gone; names can be removed still."""
    SHORT = "writes a part"
    """The next one into the same file fails. What does not write fails as with `ERROR`."""


@dataclass(frozen=True)
class Fault:
    """What goes wrong: the call with a number, from 0 on, in this way and with this error of the system."""

    number: int
    kind: Kind
    reason: int = errno.EIO


@dataclass(frozen=True)
class Step:
    """A call that has changed something.

    Attributes:
        call: one of `CALLS`.
        path: the file or folder.
        file: number of the file; files are numbered in the order in which they appear. None of a folder.
        other: the new name of one that is renamed or linked.
        at: where it was written [bytes].
        data: what was written.
        new: whether opening has made the file; if not, it has emptied it.
    """

    call: str
    path: Path
    file: int | None = None
    other: Path | None = None
    at: int = 0
    data: bytes = b""
    new: bool = False


Tree = tuple[dict[Path, bytes], set[Path]]
"""Files with their contents, and folders, by their place below the root."""


class Draw(Protocol):
    """What is left of what was not brought to the disk."""

    def keeps(self, step: Step) -> bool:
        """Whether a name is as a step has left it."""
        ...

    def content(self, before: bytes, after: bytes) -> bytes:
        """What a file holds that held the one and was to hold the other."""
        ...


@dataclass(frozen=True)
class Plain:
    """All of the names or none, all of the contents or none."""

    names: bool
    contents: bool

    def keeps(self, step: Step) -> bool:
        """All or none."""
        return self.names

    def content(self, before: bytes, after: bytes) -> bytes:
        """All or nothing."""
        return after if self.contents else before


@dataclass(frozen=True)
class Torn:
    """Any of the names, and of the contents all, nothing, a part, or a part before zeros or garbage."""

    random: random.Random

    def keeps(self, step: Step) -> bool:
        """One half of them."""
        return self.random.random() < 0.5

    def content(self, before: bytes, after: bytes) -> bytes:
        """One of the five."""
        kept = after[: self.random.randrange(len(after) + 1)]
        rest = len(after) - len(kept)
        forms = (before, after, kept, kept + bytes(rest), kept + self.random.randbytes(rest))
        return self.random.choice(forms)


class Disk:
    """The files below a folder while a command uses them.

    Attributes:
        root: the folder.
        fault: what goes wrong; None if nothing.
        calls: the calls so far.
        steps: what they have changed.
    """

    def __init__(self, root: Path, fault: Fault | None = None) -> None:
        self.root = root.resolve()
        self.fault = fault
        self.calls: list[str] = []
        self.steps: list[Step] = []
        self._before = tree(self.root)
        self._numbers = {self.root / path: number for number, path in enumerate(sorted(self._before[0]))}
        self._files = len(self._numbers)
        self._open: dict[int, Path] = {}
        self._lock = threading.RLock()

    @contextmanager
    def watched(self) -> Generator[None]:
        """While this lasts all calls go through it."""
        with ExitStack() as stack:
            for place, name, function in (
                *((os, name, function) for name, function in self._of_os.items()),
                (io, "open", self._io_open),
                (builtins, "open", self._io_open),
            ):
                stack.callback(setattr, place, name, getattr(place, name))
                setattr(place, name, function)
            yield

    def after(self, steps: int, draw: Draw) -> Tree:
        """What is there after a loss of power that has come after so many steps."""
        return _after(self._before, self.root, self.steps[:steps], draw)

    def placed(self) -> set[tuple[Path, bytes]]:
        """Every file that has got its name after it was written, with what is in it, by place."""
        found: set[tuple[Path, bytes]] = set()
        for number, step in enumerate(self.steps):
            if step.other is not None and step.file is not None:
                content = _content(b"", step.file, self.steps[:number], Plain(names=True, contents=True))
                found.add((step.other.relative_to(self.root), content))
        return found

    @property
    def _of_os(self) -> Mapping[str, Callable[..., Any]]:
        return {
            "open": self._os_open,
            "close": self._os_close,
            "fsync": self._fsync,
            "replace": partial(self._move, "rename", os.replace),
            "rename": partial(self._move, "rename", os.rename),
            "link": partial(self._move, "link", os.link),
            "unlink": partial(self._change, "unlink", os.unlink),
            "remove": partial(self._change, "unlink", os.remove),
            "mkdir": partial(self._change, "mkdir", os.mkdir),
            "rmdir": partial(self._change, "rmdir", os.rmdir),
        }

    def call(self, call: str, path: Path) -> bool:
        """Count a call, which may fail; whether it is one that writes only a part."""
        number = len(self.calls)
        self.calls.append(call)
        fault = self.fault
        if fault is None or number < fault.number:
            return False
        if number == fault.number:
            if fault.kind is Kind.SHORT and call == "write":
                return True
            raise self.error(path)
        if fault.kind is Kind.ERRORS and call not in ("unlink", "rmdir", "close"):
            raise self.error(path)
        return False

    def error(self, path: Path) -> OSError:
        """What a call raises that fails."""
        reason = errno.EIO if self.fault is None else self.fault.reason
        return OSError(reason, os.strerror(reason), str(path))

    def add(self, step: Step) -> None:
        """Keep what was changed."""
        self.steps.append(step)

    def opened(self, descriptor: int, path: Path) -> Step:
        """Note that a file was opened to be written, and emptied if it was there."""
        self._open[descriptor] = path
        new = path not in self._numbers
        if new:
            self._numbers[path] = self._files
            self._files += 1
        self.add(Step("open", path, self._numbers[path], new=new))
        return self.steps[-1]

    def _place(self, path: Any, folder: int | None = None) -> Path | None:
        """The root, or the path below it, that is meant; None of what is elsewhere."""
        if isinstance(path, int):
            return self._open.get(path)
        named = Path(os.fsdecode(path))
        if folder is not None:
            named = self._open.get(folder, Path("/")) / named
        named = Path(os.path.abspath(named))  # noqa: PTH100 (links are followed in folders only)
        named = Path(os.path.realpath(named.parent)) / named.name
        return named if named.is_relative_to(self.root) else None

    def _os_open(self, path: Any, flags: int, *given: Any, dir_fd: int | None = None) -> int:
        with self._lock:
            place = self._place(path, dir_fd)
            writes = flags & (os.O_WRONLY | os.O_RDWR)
            if place is not None and writes:
                self.call("open", place)
            descriptor = _OPEN(path, flags, *given, dir_fd=dir_fd)
            if place is not None and writes:
                self.opened(descriptor, place)
            elif place is not None:
                self._open[descriptor] = place
            return descriptor

    def _os_close(self, descriptor: int) -> None:
        with self._lock:
            self._open.pop(descriptor, None)
            _CLOSE(descriptor)

    def _fsync(self, descriptor: int) -> None:
        with self._lock:
            place = self._open.get(descriptor)
            if place is not None:
                self.call("sync", place)
                # The real disk need not know.
                self.add(Step("sync", place, self._numbers.get(place)))

    def _move(self, call: str, function: Callable[..., None], source: Any, target: Any) -> None:
        with self._lock:
            one, other = self._place(source), self._place(target)
            if one is None or other is None or one.parent != other.parent:
                raise AssertionError(
                    f"{source} is moved from folder to folder, of which nothing is known here"
                )
            self.call(call, other)
            function(source, target)
            number = self._numbers[one]
            if call == "rename":
                del self._numbers[one]
            self._numbers[other] = number
            self.add(Step(call, one, number, other))

    def _change(
        self,
        call: str,
        function: Callable[..., None],
        path: Any,
        *given: Any,
        dir_fd: int | None = None,
    ) -> None:
        with self._lock:
            place = self._place(path, dir_fd)
            if place is not None:
                self.call(call, place)
            function(path, *given, dir_fd=dir_fd)
            if place is not None:
                self._numbers.pop(place, None)
                self.add(Step(call, place))

    def _io_open(self, file: Any, mode: str = "r", buffering: int = -1, *given: Any, **more: Any) -> Any:
        with self._lock:
            place = None if isinstance(file, int) else self._place(file)
            if place is None or not set(mode) & set("wxa+"):
                return _IO_OPEN(file, mode, buffering, *given, **more)
            if "a" in mode or "+" in mode:
                raise AssertionError(f"{file} is opened with mode {mode}, of which nothing is known here")
            self.call("open", place)
            flags = os.O_WRONLY | os.O_CREAT | (os.O_EXCL if "x" in mode else os.O_TRUNC)
            descriptor = _OPEN(place, flags | os.O_CLOEXEC, 0o666)
            raw = _Raw(self, descriptor, self.opened(descriptor, place))
            buffered = io.BufferedWriter(raw)
            return buffered if "b" in mode else io.TextIOWrapper(buffered, *given, **more)

    def close(self, descriptor: int, path: Path) -> None:
        """Close a file, which may fail, and is closed nevertheless."""
        with self._lock:
            self._os_close(descriptor)
            self.call("close", path)

    def write(self, descriptor: int, opened: Step, at: int, data: bytes) -> int:
        """Write into a file, perhaps less; returns how much."""
        with self._lock:
            written = data[: max(len(data) // 2, 1)] if self.call("write", opened.path) else data
            count = os.write(descriptor, written)
            self.add(Step("write", opened.path, opened.file, at=at, data=written[:count]))
            return count


class _Raw(io.RawIOBase):
    """A file that is written."""

    def __init__(self, disk: Disk, descriptor: int, opened: Step) -> None:
        self._disk = disk
        self._descriptor = descriptor
        self._opened = opened
        self._at = 0
        self._fails = False

    def writable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = 0) -> int:
        self._at = os.lseek(self._descriptor, offset, whence)
        return self._at

    def tell(self) -> int:
        return self._at

    def fileno(self) -> int:
        return self._descriptor

    def write(self, data: Any) -> int:
        if self._fails:
            raise self._disk.error(self._opened.path)
        whole = bytes(data)
        count = self._disk.write(self._descriptor, self._opened, self._at, whole)
        self._at += count
        self._fails = count < len(whole)
        return count

    def close(self) -> None:
        if not self.closed:
            super().close()
            self._disk.close(self._descriptor, self._opened.path)


def tree(root: Path) -> Tree:
    """What is below a folder."""
    paths = list(root.rglob("*"))
    files = {path.relative_to(root): path.read_bytes() for path in paths if path.is_file()}
    return files, {path.relative_to(root) for path in paths if path.is_dir()}


def plant(root: Path, found: Tree) -> None:
    """Make a folder with this in it."""
    root.mkdir(parents=True)
    for path in sorted(found[1]):
        (root / path).mkdir()
    for path, content in found[0].items():
        (root / path).write_bytes(content)


_OPEN, _CLOSE, _IO_OPEN = os.open, os.close, io.open
"""The real ones."""


def _after(before: Tree, root: Path, steps: Sequence[Step], draw: Draw) -> Tree:
    names = {root / path: number for number, path in enumerate(sorted(before[0]))}
    folders = {root, *(root / path for path in before[1])}
    certain = set(_certain(steps))
    for number, step in enumerate(steps):
        if step.call in ("write", "sync") or not (number in certain or draw.keeps(step)):
            continue
        if step.call == "open" and step.file is not None and step.new:
            names[step.path] = step.file
        elif step.other is not None and step.file is not None:
            if step.call == "rename" and names.get(step.path) == step.file:
                del names[step.path]
            names[step.other] = step.file
        elif step.call == "unlink":
            names.pop(step.path, None)
        elif step.call == "mkdir":
            folders.add(step.path)
        elif step.call == "rmdir":
            folders = {each for each in folders if not each.is_relative_to(step.path)}
            names = {each: file for each, file in names.items() if not each.is_relative_to(step.path)}
    there = {each for each in folders if all(above in folders for above in _above(each, root))}
    contents = dict(enumerate(before[0][path] for path in sorted(before[0])))
    left = {path: _content(contents.get(file, b""), file, steps, draw) for path, file in names.items()}
    files = {path.relative_to(root): data for path, data in left.items() if path.parent in there}
    return files, {each.relative_to(root) for each in there if each != root}


def _above(path: Path, root: Path) -> Iterable[Path]:
    return (each for each in path.parents if each.is_relative_to(root))


def _certain(steps: Sequence[Step]) -> Iterable[int]:
    """Numbers of the steps that have changed names in folders that were brought to the disk afterwards."""
    waiting: dict[Path, list[int]] = {}
    for number, step in enumerate(steps):
        if step.call == "sync" and step.file is None:
            yield from waiting.pop(step.path, [])
        elif step.call not in ("sync", "write"):
            waiting.setdefault(step.path.parent, []).append(number)


def _content(before: bytes, file: int, steps: Sequence[Step], draw: Draw) -> bytes:
    certain = latest = before
    for step in steps:
        if step.file != file:
            continue
        if step.call == "open":
            latest = b""
        elif step.call == "write":
            latest = latest[: step.at].ljust(step.at, b"\0") + step.data + latest[step.at + len(step.data) :]
        elif step.call == "sync":
            certain = latest
    return latest if latest == certain else draw.content(certain, latest)
