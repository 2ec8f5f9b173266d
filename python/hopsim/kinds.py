"""What kind of value stands in a document or a record, which type checkers do not know."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeGuard


def is_table(value: Any) -> TypeGuard[Mapping[str, Any]]:
    """Whether it is a table."""
    return isinstance(value, Mapping)


def is_list(value: Any) -> TypeGuard[list[Any]]:
    """Whether it is a list."""
    return isinstance(value, list)


def is_sequence(value: Any) -> TypeGuard[Sequence[Any]]:
    """Whether it is what Python has for lists, too."""
    return isinstance(value, list | tuple | range)
