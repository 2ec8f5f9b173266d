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


def value(item: Any) -> str:
    """`item` as a TOML value; numpy scalars and arrays are accepted.

    Raises `ConfigError` for what TOML cannot hold (None, complex numbers, objects).
    """
    if hasattr(item, "tolist"):
        item = item.tolist()
    if isinstance(item, bool):
        return "true" if item else "false"
    if isinstance(item, int):
        return str(item)
    if isinstance(item, float):
        return _float(item)
    if isinstance(item, str):
        return json.dumps(item, ensure_ascii=False).replace("\x7f", "\\u007F")
    if is_table(item):
        fields = [f"{key(name)} = {value(field)}" for name, field in item.items()]
        return "{ " + ", ".join(fields) + " }" if fields else "{}"
    if is_sequence(item):
        return "[" + ", ".join(value(element) for element in item) + "]"
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


def _float(number: float) -> str:
    if math.isnan(number):
        return "nan"
    if math.isinf(number):
        return "inf" if number > 0 else "-inf"
    text = repr(number)
    return text if any(mark in text for mark in ".e") else f"{text}.0"
