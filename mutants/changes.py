"""Changes that a tool makes, and those of them that change nothing: `equivalent.toml`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from mutants.scratch import MutantsError

EQUIVALENT = Path(__file__).parent / "equivalent.toml"

_MARK = re.compile(r"/\* ~ changed by cargo-mutants ~ \*/")
_KEYS = ("file", "before", "after", "why")


@dataclass(frozen=True)
class Change:
    """Lines of a file, and what they are replaced by; without indentation."""

    file: str
    before: str
    after: str

    @classmethod
    def of_diff(cls, file: str, diff: str) -> Change:
        """The change that a unified diff makes."""
        lines = [line for line in diff.splitlines() if not line.startswith(("--- ", "+++ "))]
        return cls(
            file,
            _plain(line[1:] for line in lines if line.startswith("-")),
            _plain(line[1:] for line in lines if line.startswith("+")),
        )

    def text(self) -> str:
        """The change as a short diff."""
        before = "".join(f"    - {line}\n" for line in self.before.splitlines())
        return before + "".join(f"    + {line}\n" for line in self.after.splitlines())


def _plain(lines: Iterable[str]) -> str:
    stripped = (_MARK.sub("", line).strip() for line in lines)
    return "\n".join(line for line in stripped if line)


def equivalent(path: Path = EQUIVALENT) -> dict[Change, str]:
    """The changes that change nothing: why. Raises `MutantsError`."""
    try:
        document = tomllib.loads(path.read_text("utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise MutantsError(f"{path.name}: {error}") from None
    found: dict[Change, str] = {}
    for entry in document.get("mutant", []):
        if set(entry) != set(_KEYS) or not all(isinstance(value, str) for value in entry.values()):
            has, must = ", ".join(entry), ", ".join(_KEYS)
            raise MutantsError(f"{path.name}: an entry has {has}; it must have {must}")
        before, after = (_plain(entry[key].splitlines()) for key in ("before", "after"))
        found[Change(entry["file"], before, after)] = entry["why"]
    return found
