"""A small version of `verify power`: commands on a disk that fails, and after a loss of power."""

from __future__ import annotations

import os
import random
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from verify import power
from verify.disk import Disk, Fault, Kind, Plain, Torn, plant, tree
from verify.power import CASES, Case, Place

from hopsim.files import atomic

TRIED = {"saturate": 5, "plot": 8, "interference": 8}
"""Of what can go wrong with a case, by its name, so much is tried."""
OTHERS = 16
"""Of each of the others."""


@pytest.mark.parametrize("name", CASES)
def test_errors_and_losses_of_power_leave_what_the_next_command_goes_on_with(
    name: str, tmp_path: Path
) -> None:
    place = Place(tmp_path, CASES[name])
    tried = power.faults(place)
    for fault in random.Random(name).sample(tried, min(len(tried), TRIED.get(name, OTHERS))):
        assert fault() == ""
    last = [Plain(names, contents) for names in (False, True) for contents in (False, True)]
    for draw in last:
        assert place.without_power(place.steps, draw) == ""


def _nothing(*_: object) -> None:
    pass


def _straight(target: Path, put: Callable[[Any], object], *, synced: bool = True) -> None:
    with target.open("wb") as file:
        put(file)
        file.flush()
        os.fsync(file.fileno())


def _made(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)


BROKEN: list[tuple[str, str, Any]] = [
    ("run", "_sync_descriptor", _nothing),
    ("run", "sync", _nothing),
    ("run", "remove_unfinished", _nothing),
    ("run --shard", "sync", _nothing),
    ("run --json", "finish", _nothing),
    ("run --force", "sync_folder", _nothing),
    ("report", "write", _straight),
    ("trace convert", "write", _straight),
    ("plot", "write", _straight),
    ("plot", "make_folder", _made),
    ("plot", "_remove_left", _nothing),
    ("trace-packet", "_sync", _nothing),
]


@pytest.mark.parametrize(("name", "function", "instead"), BROKEN)
def test_what_is_not_done_is_noticed(
    name: str, function: str, instead: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(atomic, function, instead)
    place = Place(tmp_path, CASES[name])
    tried = power.faults(place)
    random.Random(1).shuffle(tried)
    assert any(fault() for fault in [lambda: place.without_power(place.steps, power.PLAIN[0]), *tried])


def test_what_goes_past_the_calls_that_are_watched_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def past(target: Path, *_: object, **__: object) -> None:
        subprocess.run(["cp", "two.goal", str(target)], check=True)

    monkeypatch.setattr(atomic, "write", past)
    with pytest.raises(AssertionError, match="went past"):
        Place(tmp_path, Case(("trace", "convert", "two.goal", "b.goal")))


def _used(root: Path) -> Disk:
    """A file that was there is replaced by a new one, in the way that keeps it."""
    plant(root, ({Path("a"): b"before"}, set()))
    disk = Disk(root)
    with disk.watched():
        (root / "b").mkdir()
        with (root / "new").open("wb") as file:
            file.write(b"after")
            file.flush()
            os.fsync(file.fileno())
        (root / "new").replace(root / "a")
        folder = os.open(root, os.O_RDONLY)
        os.fsync(folder)
        os.close(folder)
        with (root / "b" / "c").open("w") as text:
            text.write("unsafe")
    return disk


def test_a_loss_of_power_leaves_what_was_brought_to_the_disk_and_any_part_of_the_rest(tmp_path: Path) -> None:
    disk = _used(tmp_path / "d")
    calls = ["mkdir", "open", "write", "sync", "close", "rename", "sync", "open", "write", "close"]
    assert disk.calls == calls
    nothing, everything = (Plain(names=kept, contents=kept) for kept in (False, True))
    before = ({Path("a"): b"before"}, set[Path]())
    done = ({Path("a"): b"after"}, {Path("b")})
    assert disk.after(0, everything) == before
    assert disk.after(4, nothing) == before
    assert disk.after(3, everything) == ({Path("a"): b"before", Path("new"): b"after"}, {Path("b")})
    assert disk.after(5, nothing) == before, "its folder is not on the disk"
    assert disk.after(5, everything) == done
    assert disk.after(6, nothing) == done
    whole = ({**done[0], Path("b/c"): b"unsafe"}, done[1])
    assert disk.after(8, nothing) == done
    assert disk.after(8, Plain(names=True, contents=False)) == ({**done[0], Path("b/c"): b""}, done[1])
    assert disk.after(8, everything) == whole == tree(tmp_path / "d")
    torn = [disk.after(8, Torn(random.Random(seed)))[0] for seed in range(60)]
    contents = {found.get(Path("b/c")) for found in torn}
    assert {None, b"", b"unsafe"} < contents
    assert any(content and len(content) < 6 for content in contents)
    assert any(content and len(content) == 6 and content.endswith(b"\0") for content in contents)
    assert all(found[Path("a")] == b"after" for found in torn)


def test_calls_fail_as_they_are_told_to(tmp_path: Path) -> None:
    def wrote(fault: Fault) -> tuple[str, bytes]:
        root = tmp_path / f"{fault.number} {fault.kind.name}"
        root.mkdir()
        told = ""
        with Disk(root, fault).watched():
            for name in ("a", "b"):
                try:
                    with (root / name).open("wb") as file:
                        file.write(b"12345678")
                except OSError as error:
                    told += f"{name}: {error.strerror}; "
        return told, b" ".join(path.read_bytes() for path in sorted(root.iterdir()))

    failed = os.strerror(5)
    assert wrote(Fault(99, Kind.ERROR)) == ("", b"12345678 12345678")
    assert wrote(Fault(0, Kind.ERROR)) == (f"a: {failed}; ", b"12345678")
    assert wrote(Fault(1, Kind.SHORT)) == (f"a: {failed}; ", b"1234 12345678")
    assert wrote(Fault(2, Kind.ERROR)) == (f"a: {failed}; ", b"12345678 12345678")
    assert wrote(Fault(3, Kind.ERRORS)) == (f"b: {failed}; ", b"12345678")
    assert wrote(Fault(1, Kind.ERRORS)) == (f"a: {failed}; b: {failed}; ", b"")
