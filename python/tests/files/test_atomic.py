"""Files that are written whole or not at all: what is replaced, and when it is on the disk."""

from __future__ import annotations

import errno
import fcntl
import os
import stat
from pathlib import Path

import pytest

from conftest import Command
from hopsim.files import atomic


def test_a_link_is_followed_and_stays(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    real = tmp_path / "there" / "real.txt"
    link = tmp_path / "link.txt"
    link.symlink_to(real)
    for text in ("new", "again"):
        atomic.write_text(link, text)
        assert link.is_symlink()
        assert real.read_text() == text
    assert [path.name for path in (tmp_path / "there").iterdir()] == ["real.txt"]


def test_links_in_a_circle_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(OSError, match=r"."):
        atomic.write_text(tmp_path / "a", "text")
    assert (tmp_path / "a").is_symlink()


def test_devices_fifos_and_links_to_them_are_refused_and_stay(tmp_path: Path) -> None:
    fifo, link = tmp_path / "fifo", tmp_path / "null"
    os.mkfifo(fifo)
    link.symlink_to("/dev/null")
    for target in (fifo, link, Path("/dev/null")):
        mode = target.stat().st_mode
        with pytest.raises(OSError, match="Is a device, a FIFO or a socket") as refused:
            atomic.write_text(target, "text")
        assert refused.value.errno == errno.EINVAL
        with pytest.raises(OSError, match="Is a device, a FIFO or a socket"):
            atomic.probe_file(target)
        assert stat.S_IFMT(target.stat().st_mode) == stat.S_IFMT(mode)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["fifo", "null"]


@pytest.mark.parametrize("given", [["report", "d", "--out"], ["trace-packet", "tiny.toml", "--perfetto"]])
def test_commands_replace_regular_files_only(
    hopsim: Command, tiny: Path, tmp_path: Path, given: list[str]
) -> None:
    hopsim("run", tiny, "--out", "d")
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "null").symlink_to("/dev/null")
    for name in ("fifo", "null"):
        message = hopsim(*given, name, status=2).stderr
        assert "Is a device, a FIFO or a socket, not a regular file" in message
    assert stat.S_ISFIFO((tmp_path / "fifo").stat().st_mode)
    assert (tmp_path / "null").is_symlink()
    (tmp_path / "link").symlink_to("real")
    hopsim(*given, "link")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").stat().st_size > 100


def test_a_file_is_on_the_disk_before_its_name_and_the_name_before_it_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []

    def note(descriptor: int) -> None:
        name = Path(f"/proc/self/fd/{descriptor}").readlink()
        done.append(f"sync {'folder' if name == tmp_path else 'file'}")

    real = Path.replace

    def replace(one: Path, other: Path) -> Path:
        done.append("rename")
        return real(one, other)

    monkeypatch.setattr(os, "fsync", note)
    monkeypatch.setattr(Path, "replace", replace)
    atomic.write_text(tmp_path / "a", "text")
    assert done == ["sync file", "rename", "sync folder"]
    done.clear()
    atomic.write_text(tmp_path / "b", "text", synced=False)
    assert done == ["rename"]
    done.clear()
    atomic.sync(tmp_path)
    assert done == ["sync file", "sync file", "sync folder"]


def test_windows_opens_no_folder_and_brings_what_may_be_written_to_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_, synced = os.open, list[str]()

    def open_file(path: Path, flags: int, mode: int = 0o777) -> int:
        if Path(path).is_dir():
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return open_(path, flags, mode)

    def sync(descriptor: int) -> None:
        if fcntl.fcntl(descriptor, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        synced.append(Path(f"/proc/self/fd/{descriptor}").readlink().suffix)

    monkeypatch.setattr(atomic, "WINDOWS", True)
    monkeypatch.setattr(os, "open", open_file)
    monkeypatch.setattr(os, "fsync", sync)
    atomic.make_folder(tmp_path / "new")
    atomic.write_text(tmp_path / "new" / "a.txt", "text")
    atomic.sync(tmp_path / "new")
    assert synced == [atomic.SUFFIX, ".txt"]


@pytest.mark.parametrize("call", ["fsync", "replace"])
@pytest.mark.parametrize("reason", [errno.EIO, errno.ENOSPC, errno.EDQUOT])
def test_an_error_of_the_disk_names_the_file_and_leaves_the_one_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, reason: int
) -> None:
    target = tmp_path / "a"
    atomic.write_text(target, "before")

    def fail(*_: object) -> None:
        raise OSError(reason, os.strerror(reason))

    monkeypatch.setattr(os if call == "fsync" else Path, call, fail)
    with pytest.raises(OSError, match=os.strerror(reason)) as failed:
        atomic.write_text(target, "after")
    assert failed.value.filename == str(target)
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
    assert target.read_text() == "before"


def test_a_file_that_cannot_be_begun_is_an_error_where_another_one_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only what has got lost before it was renamed may be what another process has finished."""
    target = tmp_path / "a"
    target.write_text("before")

    def none(path: Path, *_: object) -> None:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))

    with monkeypatch.context() as patch:
        patch.setattr(Path, "open", none)
        with pytest.raises(FileNotFoundError) as failed:
            atomic.write_text(target, "after")
    assert failed.value.filename == str(target)
