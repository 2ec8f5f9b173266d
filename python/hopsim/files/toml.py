"""Python values written as TOML, on one line each: what overrides and dictionaries need."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any

from hopsim.errors import ConfigError
from hopsim.kinds import is_sequence, is_table

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


DEEPEST = 64
"""How many dictionaries and lists may stand one in the other: no document has more than a few."""


def value(item: Any, depth: int = 0) -> str:
    """`item` as a TOML value, inside so many others; numpy scalars and arrays are accepted.

    Raises `ConfigError` for what TOML cannot hold (None, complex numbers, objects, what holds itself).
    """
    if depth > DEEPEST:
        raise ConfigError(
            f"dictionaries and lists stand one in the other more than {DEEPEST} deep, or one holds itself; "
            f"valid: at most {DEEPEST}"
        )
    if hasattr(item, "tolist"):
        item = item.tolist()
    if isinstance(item, bool):
        return "true" if item else "false"
    if isinstance(item, int):
        return _integer(item)
    if isinstance(item, float):
        return _float(item)
    if isinstance(item, str):
        return json.dumps(item, ensure_ascii=False).replace("\x7f", "\\u007F")
    if is_table(item):
        fields = [f"{key(name)} = {value(field, depth + 1)}" for name, field in item.items()]
        return "{ " + ", ".join(fields) + " }" if fields else "{}"
    if is_sequence(item):
        return "[" + ", ".join(value(element, depth + 1) for element in item) + "]"
    raise ConfigError(
        f"a value of type {type(item).__name__} cannot stand in an experiment: {item!r}; "
        "valid are numbers, strings, booleans, lists and dictionaries"
    )


def key(name: object) -> str:
    """`name` as a TOML key, quoted when it must be."""
    text = str(name)
    return text if _BARE_KEY.fullmatch(text) else value(text)


def document(fields: Mapping[str, Any]) -> str:
    """A whole TOML document, one line per top-level key."""
    return "".join(f"{key(name)} = {value(field)}\n" for name, field in fields.items())


def _integer(number: int) -> str:
    # Python writes no numbers of more than some thousand digits.
    if number.bit_length() > 1000:
        raise ConfigError(
            f"an integer of {number.bit_length()} bits is too large; valid: integers of 64 bits"
        )
    return str(int(number))


def _float(number: float) -> str:
    if math.isnan(number):
        return "nan"
    if math.isinf(number):
        return "inf" if number > 0 else "-inf"
    text = repr(number)
    return text if any(mark in text for mark in ".e") else f"{text}.0"
