"""In what one resolved document is another experiment than another one, key by key."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from hopsim.files import toml
from hopsim.kinds import is_sequence, is_table

MOST_SHOWN = 60
"""Characters of a value in a message."""


@dataclass(frozen=True)
class Difference:
    """A key with other values in two documents.

    Attributes:
        path: of the key.
        ours: its value in the first; None if it is not there.
        theirs: its value in the second, likewise.
    """

    path: str
    ours: Any
    theirs: Any

    def __str__(self) -> str:
        """The key and its value in the first document."""
        return f"{self.path} is not stated" if self.ours is None else f"{self.path} = {shown(self.ours)}"


def shown(value: Any) -> str:
    """A value as TOML, cut short if it is long."""
    text = toml.value(value)
    return text if len(text) <= MOST_SHOWN else f"{text[: MOST_SHOWN - 1]}…"


def differences(ours: Any, theirs: Any, path: str = "") -> Iterator[Difference]:
    """Every key that is not the same; a choice of something else is one difference, whatever it is of."""
    if is_table(ours) and is_table(theirs) and not _are_choices(ours, theirs):
        for name in [*ours, *(name for name in theirs if name not in ours)]:
            below = f"{path}.{name}" if path else name
            yield from differences(ours.get(name), theirs.get(name), below)
    elif is_sequence(ours) and is_sequence(theirs) and len(ours) == len(theirs):
        for place, pair in enumerate(zip(ours, theirs, strict=True)):
            yield from differences(*pair, f"{path}.{place}")
    elif ours != theirs:
        yield Difference(path, ours, theirs)


def _are_choices(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> bool:
    """Whether they choose two different things, as `{ mesh = … }` and `{ torus = … }` do."""
    return len(ours) == len(theirs) == 1 and [*ours] != [*theirs]
