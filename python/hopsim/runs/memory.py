"""How much memory this process may still take: what the machine has, what a container or job is allowed.

A limit of the address space (`ulimit -v`) is not among it: to ask for memory beyond it fails, and so tells.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path("/")


def available(root: Path = ROOT) -> int | None:
    """The least of all that limits it [bytes]; None where nothing tells."""
    return min(_limits(root), default=None)


def _limits(root: Path) -> Iterator[int]:
    machine = {
        name: 1024 * int(size) for name, size in re.findall(r"(\w+): +(\d+) kB", _text(root / "proc/meminfo"))
    }
    if "MemAvailable" in machine:
        yield machine["MemAvailable"] + machine.get("SwapFree", 0)
    for line in _text(root / "proc/self/cgroup").splitlines():
        _, controllers, place = line.split(":", 2)
        if not controllers:
            yield from _of_groups(root / "sys/fs/cgroup", place, ("memory.max", "memory.current"))
        elif "memory" in controllers.split(","):
            names = ("memory.limit_in_bytes", "memory.usage_in_bytes")
            yield from _of_groups(root / "sys/fs/cgroup/memory", place, names)


def _of_groups(top: Path, place: str, names: tuple[str, str]) -> Iterator[int]:
    """What is left in a control group and in those it is part of."""
    group = top / place.lstrip("/")
    # In a container the path may be that of the machine, of which nothing is to be seen.
    for folder in (group, *group.parents):
        limit, used = (_text(folder / name).strip() for name in names)
        if limit.isdecimal() and used.isdecimal():
            # Files that were read count as used, and give way.
            yield max(int(limit) - int(used) + _reclaimable(folder), 0)
        if folder == top:
            return


def _reclaimable(folder: Path) -> int:
    found = re.search(r"^(?:total_)?inactive_file (\d+)$", _text(folder / "memory.stat"), re.MULTILINE)
    return int(found[1]) if found else 0


def _text(path: Path) -> str:
    """The text of a file; nothing if it cannot be read, as on other systems."""
    try:
        return path.read_text("utf-8", errors="replace")
    except OSError:
        return ""
