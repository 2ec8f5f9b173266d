"""The keys of a resolved document, of which every one is to be carried over, told of, or refused."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from hopsim.errors import ConfigError
from hopsim.export.differences import MOST_SHOWN, shown
from hopsim.kinds import is_sequence, is_table


class Keys:
    """A resolved document that remembers which of its keys somebody has asked for."""

    def __init__(self, config: str, simulator: str) -> None:
        """Of a resolved configuration, JSON text; `simulator` is what messages call the other one."""
        self.theirs: dict[str, Any] = json.loads(config)
        """The document with what the other simulator has of the keys that it has told of."""
        self.remarks: list[str] = []
        self._ours: dict[str, Any] = json.loads(config)
        self._left = [*_leaves(self._ours)]
        self._simulator = simulator

    def look(self, path: str) -> Any:
        """The value of a key, or a table of keys; None if it is not there. It is not carried over by that."""
        value: Any = self._ours
        for name in path.split("."):
            if is_sequence(value):
                value = value[int(name)] if int(name) < len(value) else None
            else:
                value = value.get(name) if is_table(value) else None
        return value

    def take(self, path: str) -> Any:
        """The same of what is carried over."""
        self._left = [leaf for leaf in self._left if leaf != path and not leaf.startswith(f"{path}.")]
        return self.look(path)

    def chosen(self, path: str, valid: Iterable[str], reason: str) -> str:
        """What a table of one key chooses, of what is valid. Raises `ConfigError` if it is something else."""
        value = self.look(path)
        for name in valid:
            if is_table(value) and name in value:
                return name
        raise self.refused(path, reason, ", ".join(valid))

    def only(self, path: str, valid: Any) -> None:
        """Takes a key that has to have a value. Raises `ConfigError` if it has another one."""
        value = self.take(path)
        if value is not None and value != valid:
            raise self.refused(path, f"is not carried over to {self._simulator}", shown(valid))

    def tell(self, path: str, theirs: Any, reason: str) -> None:
        """Takes a key that has one value in the other simulator, and says so if it has another one here."""
        ours = self.take(path)
        if ours == theirs:
            return
        place: Any = self.theirs
        *way, last = path.split(".")
        for name in way:
            place = place[int(name)] if is_sequence(place) else place[name]
        place[last] = theirs
        self.remarks.append(f"{self._shown(path, ours)}: {self._simulator} has {shown(theirs)}; {reason}.")

    def drop(self, path: str, usual: Any, reason: str) -> None:
        """Takes a key that is of no effect in the other simulator, and says so if it is not as usual."""
        if (value := self.take(path)) != usual:
            self.remarks.append(f"{self._shown(path, value)}: {reason}.")

    def refused(self, path: str, reason: str, valid: str) -> ConfigError:
        """The refusal of a key."""
        return ConfigError(f"{self._shown(path, self.look(path))}: {reason}; valid: {valid}")

    def finish(self) -> None:
        """Refuses the first key that nobody has asked for."""
        for path in self._left:
            raise self.refused(path, f"is not carried over to {self._simulator}", f"without {path}")

    @staticmethod
    def _shown(path: str, value: Any) -> str:
        if is_table(value) and len(value) == 1:
            (chosen,) = value
            value = chosen if len(shown(value)) > MOST_SHOWN // 2 or value[chosen] == {} else value
        return f"{path} is not stated" if value is None else f"{path} = {shown(value)}"


def _leaves(value: Any, path: str = "") -> Iterator[str]:
    """The paths of all values that are no tables, and of tables that are empty."""
    pairs: list[tuple[str, Any]] = []
    if is_table(value):
        pairs = [*value.items()]
    elif is_sequence(value) and any(is_table(each) for each in value):
        pairs = [(str(place), each) for place, each in enumerate(value)]
    if not pairs:
        yield path
    for name, each in pairs:
        yield from _leaves(each, f"{path}.{name}" if path else name)
