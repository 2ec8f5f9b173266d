"""All keys of resolved documents, and documents with another value of one of them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from hopsim.kinds import is_list, is_table


def paths(value: Any, path: str = "") -> Iterator[str]:
    """The keys of a document, and the choices that it makes."""
    if is_table(value):
        if path and [is_table(each) for each in value.values()] == [True]:
            yield path
        for name in value:
            yield from paths(value[name], f"{path}.{name}" if path else name)
    elif is_list(value) and value and is_table(value[0]):
        for place, each in enumerate(value):
            yield from paths(each, f"{path}.{place}")
    else:
        yield path


def changed(point: str, path: str, others: Mapping[str, Any]) -> str:
    """A configuration with another value of a key, whether that would be valid or not.

    `others` has the values of keys of which it matters which other one it is.
    """
    document = json.loads(point)
    *way, last = [int(name) if name.isdecimal() else name for name in path.split(".")]
    place = document
    for name in way:
        place = place[name]
    value = place[last]
    if path in others:
        place[last] = others[path]
    elif isinstance(value, bool):
        place[last] = not value
    elif isinstance(value, int | float):
        place[last] = value + 1
    elif isinstance(value, str):
        place[last] = "other"
    else:
        place[last] = ["other"] if isinstance(value, list) else {"other": {}}
    return json.dumps(document)
