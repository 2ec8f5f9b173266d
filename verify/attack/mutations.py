"""Changes of documents and files, drawn: what is wrong in them, and what is only unusual."""

from __future__ import annotations

import contextlib
import copy
import itertools
import random
import re
from collections.abc import Iterable
from typing import Any

from hopsim.kinds import is_list, is_table
from hopsim.vocabulary.catalogue import Catalogue

Path = tuple[str | int, ...]

NUMBERS: list[Any] = [
    *(-1, 0, 1, 2, 3, 7, 64, 65, 300, 60_001, 65_535, 65_536, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**53 + 1),
    *(2**63 - 1, -(2**63), 2**63, 10**30, 10**400, 0.5, 1.0, -0.0, 5e-324, 1e-9, 0.999_999_999, 1.5, 1e308),
    *(float("inf"), float("-inf"), float("nan")),
]
TEXTS = [
    *(
        "",
        " ",
        "x",
        "é",
        "\u202e",
        "\x1b[31m",
        "a\0b",
        "𝔘" * 40,
        "x" * 5000,
        "a\nb",
        "-",
        "..",
        "../a",
        "/",
        ".",
    ),
    *(
        "/dev/zero",
        "/dev/stdin",
        "/dev/null",
        "a.toml",
        "ADV+99999999999",
        "1 us",
        "0 ns",
        "1e400 ns",
        "-1 B",
    ),
    *(
        "1.6 ns",
        "4 B",
        "1 MTU",
        "auto",
        "none",
        "all",
        "minimal",
        "uniform",
        "true",
        "1",
        "=1+2",
        "[red]x[/red]",
    ),
]
VALUES: list[Any] = [*NUMBERS, *TEXTS, True, False, [], {}, [1], [0.5, 2], ["x"], [{}], {"x": 1}, [[1, 2]]]
WORDS = sorted({part for path in Catalogue().nodes for part in path.split(".")})
PATHS = [
    [int(part) if part.isdecimal() else part for part in path.replace("jobs.", "jobs.0.").split(".")]
    for path in sorted(Catalogue().nodes)
]

_NUMBER = re.compile(rb"-?\d+(\.\d+)?")
_NUMBERS_IN_FILES = [
    b"0",
    b"-1",
    b"1",
    b"2",
    b"3",
    b"65536",
    b"4294967295",
    b"4294967296",
    b"1e3",
    b"1e400",
    *(
        b"18446744073709551615",
        b"18446744073709551616",
        b"9" * 400,
        b"9" * 5000,
        b"0.5",
        b"-0",
        b"nan",
        b"inf",
    ),
]
_PIECES = [
    b"\0",
    b"\n",
    b"\r",
    b" ",
    b"\t",
    b",",
    b"\xff",
    b"\xc3\xa9",
    b"\x1b[31m",
    b"{",
    b"}",
    b'"',
    b"#",
    b"=1",
]


def places(node: Any, above: Path = ()) -> list[Path]:
    """The paths of all values."""
    items: Iterable[tuple[str | int, Any]] = ()
    if is_table(node):
        items = node.items()
    elif is_list(node):
        items = enumerate(node)
    return [path for key, value in items for path in [(*above, key), *places(value, (*above, key))]]


def at(node: Any, path: Path) -> Any:
    """The value at a path."""
    for part in path:
        node = node[part]
    return node


def changed(document: Any, others: list[Any], draw: random.Random) -> Any:
    """The document with some changes; pieces of others may be put in."""
    document = copy.deepcopy(document)
    for _ in range(draw.choice([1, 1, 1, 1, 2, 3])):
        draw.choice(_CHANGES)(document, others, draw)
    return document


def value(before: Any, draw: random.Random) -> Any:
    """Something in the place of a value: like it, of its kind, or anything."""
    kind = draw.random()
    if isinstance(before, int | float) and kind < 0.8:
        near = [
            before + 1,
            before - 1,
            before * 2,
            before // 2,
            before * 0.5 if abs(before) < 2**53 else 0.5,
            -before,
            before * 1000,
        ]
        return draw.choice(near if kind < 0.5 else NUMBERS)
    if isinstance(before, str) and kind < 0.6:
        return draw.choice([before + "x", before.upper(), draw.choice(WORDS), draw.choice(TEXTS)])
    if is_list(before) and before and kind < 0.7:
        return draw.choice([before * 2, before[:-1], before[::-1], [before], before * 300])
    return copy.deepcopy(draw.choice(VALUES))


def _replace(document: Any, _others: list[Any], draw: random.Random) -> None:
    if path := _drawn(document, draw):
        at(document, path[:-1])[path[-1]] = value(at(document, path), draw)


def _remove(document: Any, _others: list[Any], draw: random.Random) -> None:
    if path := _drawn(document, draw):
        del at(document, path[:-1])[path[-1]]


def _rename(document: Any, _others: list[Any], draw: random.Random) -> None:
    path = _drawn(document, draw)
    if path and isinstance(path[-1], str):
        node = at(document, path[:-1])
        name = draw.choice(
            [f"{path[-1]}x", path[-1][:-1], path[-1].upper(), draw.choice(WORDS), "", "a.b", "é"]
        )
        node[name] = node.pop(path[-1])


def _double(document: Any, _others: list[Any], draw: random.Random) -> None:
    """An element of a list twice, or a table inside itself."""
    if path := _drawn(document, draw):
        node, found = at(document, path[:-1]), copy.deepcopy(at(document, path))
        if is_list(node):
            node.append(found)
        else:
            node[path[-1]] = {path[-1]: found}


def _graft(document: Any, others: list[Any], draw: random.Random) -> None:
    """A piece of another document in its own place, or in that of something else."""
    other = draw.choice(others)
    path = _drawn(other, draw)
    if not path:
        return
    piece = copy.deepcopy(at(other, path))
    here = path if draw.random() < 0.8 else _drawn(document, draw) or path
    _put(document, here, piece)


def _add(document: Any, _others: list[Any], draw: random.Random) -> None:
    """A value at a key that documents may have."""
    before: list[Any] = [1, 0.5, "x", {}]
    _put(document, tuple(draw.choice(PATHS)), value(draw.choice(before), draw))


def _sweep(document: Any, _others: list[Any], draw: random.Random) -> None:
    """An axis over some key."""
    path = _drawn(document, draw) if draw.random() < 0.7 else tuple(draw.choice(PATHS))
    if not path or path[0] == "sweep":
        return
    key = ".".join(map(str, path))
    before: Any = None
    with contextlib.suppress(KeyError, IndexError, TypeError):
        before = at(document, path)
    values = [value(before, draw) for _ in range(draw.choice([0, 1, 2, 3]))]
    if before is not None:
        values.append(copy.deepcopy(before))
    _put(document, ("sweep", draw.choice(["product", "product", "zip", "labels"]), key), values)


_CHANGES = [
    _replace,
    _replace,
    _replace,
    _replace,
    _remove,
    _rename,
    _double,
    _graft,
    _graft,
    _add,
    _add,
    _sweep,
]


def _drawn(document: Any, draw: random.Random) -> Path:
    found = places(document)
    return draw.choice(found) if found else ()


def _put(document: Any, path: Path, piece: Any) -> None:
    """Put something at a path, with what is missing above it; nothing where the path goes through a value."""
    node: Any = document
    for part, after in itertools.pairwise(path):
        if not _has(node, part):
            return
        if isinstance(node, dict):
            node.setdefault(part, [{}] if isinstance(after, int) else {})  # pyright: ignore[reportUnknownMemberType]
        node = at(node, (part,))
    if _has(node, path[-1]):
        node[path[-1]] = piece


def _has(node: Any, part: str | int) -> bool:
    """Whether there may be something of that name or number."""
    if is_table(node):
        return isinstance(part, str)
    return is_list(node) and isinstance(part, int) and part < len(node)


def damaged(content: bytes, draw: random.Random) -> bytes:
    """The content of a file with some of its bytes changed, or of its lines, or of its numbers."""
    for _ in range(draw.choice([1, 1, 1, 2, 4])):
        content = draw.choice(_DAMAGES)(content, draw)
    return content


def _flip(content: bytes, draw: random.Random) -> bytes:
    if not content:
        return b"\0"
    found = bytearray(content)
    for _ in range(draw.choice([1, 1, 3])):
        found[draw.randrange(len(found))] ^= 1 << draw.randrange(8)
    return bytes(found)


def _cut(content: bytes, draw: random.Random) -> bytes:
    return content[: draw.randrange(len(content) + 1)]


def _take(content: bytes, draw: random.Random) -> bytes:
    start = draw.randrange(len(content) + 1)
    return content[:start] + content[start + draw.choice([1, 2, 5, 50, 500]) :]


def _insert(content: bytes, draw: random.Random) -> bytes:
    start = draw.randrange(len(content) + 1)
    again = content[start : start + draw.choice([1, 4, 40])]
    piece = draw.choice([*_PIECES, draw.randbytes(4), again, again * 50, b"\0" * 1000])
    return content[:start] + piece + content[start:]


def _number(content: bytes, draw: random.Random) -> bytes:
    found = [*_NUMBER.finditer(content[:200_000])]
    if not found:
        return _byte(content, draw)
    one = draw.choice(found)
    near: list[bytes] = []
    if one[0].lstrip(b"-").isdigit() and len(one[0]) < 20:
        near = [b"%d" % (int(one[0]) + step) for step in (-1, 1, 7)]
    return content[: one.start()] + draw.choice([*near, *_NUMBERS_IN_FILES]) + content[one.end() :]


def _byte(content: bytes, draw: random.Random) -> bytes:
    if not content:
        return b"\xff"
    start = draw.randrange(len(content))
    return content[:start] + bytes([draw.choice([0, 1, 127, 128, 255])]) + content[start + 1 :]


def _lines(content: bytes, draw: random.Random) -> bytes:
    lines = content.splitlines(keepends=True)
    if len(lines) < 2:
        return _byte(content, draw)
    one, other = draw.randrange(len(lines)), draw.randrange(len(lines))
    kind = draw.randrange(4)
    if kind == 0:
        del lines[one]
    elif kind == 1:
        lines[one], lines[other] = lines[other], lines[one]
    elif kind == 2:
        lines.insert(other, lines[one] * draw.choice([1, 1, 100]))
    else:
        words, others = lines[one].split(b" "), lines[other].split(b" ")
        words[draw.randrange(len(words))] = draw.choice(others).strip()
        lines[one] = b" ".join(words)
    return b"".join(lines)


_DAMAGES = [_flip, _cut, _take, _insert, _number, _number, _byte, _lines, _lines]
