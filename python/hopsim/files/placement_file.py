"""Placements in files: the node of every rank."""

from __future__ import annotations

from pathlib import Path

from hopsim.errors import ConfigError
from hopsim.files import reading

KIND = "a text with a node per line, or with a node and its rank"


def nodes(path: Path) -> list[int]:
    """The nodes in a file by rank: in the order of the lines, or by the ranks beside them.

    Raises `ConfigError`.
    """
    try:
        text = reading.text_of(path, KIND)
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {error.strerror or error}") from None
    lines = [(number, line.partition("#")[0].split()) for number, line in enumerate(text.splitlines(), 1)]
    rows = [(number, [_whole(number, part) for part in parts]) for number, parts in lines if parts]
    if not rows:
        raise ConfigError(f"names no node; valid: {KIND}")
    width = len(rows[0][1])
    for number, row in rows:
        if len(row) != width or width > 2:
            raise ConfigError(f"line {number}: {len(row)} numbers; valid: {KIND}, the same in all lines")
    if width == 1:
        return [row[0] for _, row in rows]
    return _by_rank(rows)


def _whole(line: int, text: str) -> int:
    if not (text.isascii() and text.isdecimal() and int(text) < 2**32):
        raise ConfigError(f"line {line}: {text!r} is no number of a node or rank; valid: 0 … {2**32 - 1}")
    return int(text)


def _by_rank(rows: list[tuple[int, list[int]]]) -> list[int]:
    nodes: dict[int, int] = {}
    for number, (node, rank) in rows:
        if rank in nodes:
            raise ConfigError(f"line {number}: rank {rank} has a node already; valid: every rank once")
        if rank >= len(rows):
            raise ConfigError(f"line {number}: rank {rank}; valid: 0 … {len(rows) - 1}, a line for each")
        nodes[rank] = node
    return [nodes[rank] for rank in range(len(nodes))]
