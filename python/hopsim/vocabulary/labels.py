"""Short names for sweep axes and their values: what tables, legends and titles say.

The name of a value is the one that `[sweep.labels]` or `--label` gives; without one it is made from
the value: in full where that is short, else what tells it apart from the other values of its axis.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from hopsim.kinds import is_list, is_table
from hopsim.vocabulary.units import abbreviation_of

FULL = 32
"""Characters up to which all values of an axis are shown in full."""
LONGEST = 60
"""Characters of the longest label; what is longer is cut and numbered."""

_ABSENT = object()
"""A part that a value does not have."""
_SAME = object()
"""What is left of a value when all that it shares with the others is taken away: nothing."""


def value_label(value: Any) -> str:
    """A value of the document as short text: `valiant (policy=crg)` for a choice with parameters."""
    if is_table(value):
        return _table(value) if value else "default"
    if is_list(value):
        return _list(value)
    if isinstance(value, str):
        return value
    return f"{value:g}" if isinstance(value, float) else json.dumps(value)


def labels_of(path: str, values: Sequence[Any]) -> list[str]:
    """A label for each value of an axis, all of them different: `value_label` where that is short."""
    values = [_in_short(path, value) for value in values]
    labels = [value_label(value) for value in values]
    if max(map(len, labels), default=0) > FULL:
        labels = _by_difference(path, values)
    if not are_unique(labels):
        pairs = zip(values, labels, strict=True)
        labels = [repr(value) if isinstance(value, float) else label for value, label in pairs]
    filled = [
        label if label.strip() else json.dumps(value) for value, label in zip(values, labels, strict=True)
    ]
    return numbered([label if len(label) <= LONGEST else f"{label[: LONGEST - 1]}…" for label in filled])


def _in_short(path: str, value: Any) -> Any:
    """A traffic pattern by the name that papers have for it, where ours is of several words: `ADVc`."""
    name = value if isinstance(value, str) else next(iter(value), "") if is_table(value) else ""
    if not path.endswith("traffic.pattern") or "_" not in name:
        return value
    short = abbreviation_of(f"jobs.traffic.pattern.{name}") or name
    return short if isinstance(value, str) else {short: value[name]}


def numbered(labels: Sequence[str]) -> list[str]:
    """The labels, with their number behind those that occur more than once."""
    count = Counter(labels)
    seen: Counter[str] = Counter()
    result: list[str] = []
    for label in labels:
        seen[label] += 1
        result.append(f"{label} ({seen[label]})" if count[label] > 1 else label)
    return result if are_unique(result) else numbered(result)


def are_unique(labels: Sequence[str]) -> bool:
    """Whether no label occurs twice."""
    return len(set(labels)) == len(labels)


def axis_labels(paths: Sequence[str]) -> list[str]:
    """The shortest ends of the paths that still tell them apart; `load` alone is an offered load."""
    return [_shortest(path, paths) for path in paths]


def is_load(path: str) -> bool:
    """Whether a path of the document is the offered load of all jobs or of one."""
    below = path.split(".")[2:]
    of_job = job_of(path) is not None and below[:2] == ["traffic", "process"] and below[3:] == ["load"]
    return path == "load" or of_job or (job_of(path) is not None and below == ["messages", "rate"])


def job_of(path: str) -> int | None:
    """The number of the job that a path of the document lies in; None if it lies in none."""
    parts = path.split(".")
    return int(parts[1]) if parts[0] == "jobs" and len(parts) > 2 and parts[1].isdecimal() else None


def _table(value: Mapping[str, Any]) -> str:
    """A choice as `name (parameters)`, any other table as its fields."""
    name, inner = next(iter(value.items()))
    if len(value) > 1:
        return ", ".join(_field(*field) for field in value.items())
    if not is_table(inner):
        return _field(name, inner)
    fields = ", ".join(_field(*field) for field in inner.items())
    return f"{name} ({fields})" if fields else name


def _field(name: str, value: Any) -> str:
    if not is_table(value):
        return f"{name}={value_label(value)}"
    if not value:
        return name
    is_choice = len(value) == 1 and is_table(next(iter(value.values())))
    return f"{name}={_table(value)}" if is_choice else f"{name} ({_table(value)})"


def _list(value: Sequence[Any]) -> str:
    if _has_tables(value):
        return " + ".join(map(_item, value))
    return f"[{', '.join(map(value_label, value))}]" if value else "none"


def _has_tables(value: Any) -> bool:
    return is_list(value) and value != [] and all(is_table(item) for item in value)


def _item(value: Mapping[str, Any]) -> str:
    """A table in a list: by its name if it has one, else the values of its fields, and when it happens."""
    name = value.get("name")
    if isinstance(name, str):
        return name
    fields = " ".join(value_label(field) for key, field in value.items() if key != "cycle") or "default"
    return f"{fields} at {value_label(value['cycle'])}" if "cycle" in value else fields


def _by_difference(path: str, values: Sequence[Any]) -> list[str]:
    """Labels of what tells the values apart."""
    lengths = [len(value) if is_list(value) else -1 for value in values]
    if min(lengths) >= 0 and are_unique([str(length) for length in lengths]):
        noun = path.rpartition(".")[2]
        return [f"{length} {noun.removesuffix('s') if length == 1 else noun}" for length in lengths]
    parts = _without_common(values)
    lacking = {name for part in parts if is_table(part) for name in part}
    return [
        f"no {' and no '.join(sorted(lacking))}" if part is _SAME else value_label(part) for part in parts
    ]


def _without_common(values: Sequence[Any]) -> list[Any]:
    """The values without the parts that all of them share; the name of a choice stays."""
    present = [value for value in values if value is not _ABSENT]
    if len(present) == len(values) and all(value == values[0] for value in values):
        return [_SAME] * len(values)
    if any(_is_choice(value) for value in present):
        values = [{value: {}} if isinstance(value, str) else value for value in values]
        present = [value for value in values if value is not _ABSENT]
    if all(is_table(value) for value in present):
        return _tables_without_common(values)
    if all(_has_tables(value) and len(value) == len(present[0]) for value in present):
        return _lists_without_common(values)
    return list(values)


def _tables_without_common(values: Sequence[Any]) -> list[Any]:
    names = list(dict.fromkeys(name for value in values if value is not _ABSENT for name in value))
    kept: list[Any] = [value if value is _ABSENT else {} for value in values]
    are_choices = all(_is_choice(value) for value in values)
    for name in names:
        having = [number for number, value in enumerate(values) if value is not _ABSENT and name in value]
        compared = having if are_choices else range(len(values))
        column = [values[number][name] if number in having else _ABSENT for number in compared]
        for number, part in zip(compared, _without_common(column), strict=True):
            if part is _SAME and are_choices:
                kept[number][name] = {}
            elif part is not _SAME and part is not _ABSENT:
                kept[number][name] = part
    return [_SAME if part == {} and values[number] != {} else part for number, part in enumerate(kept)]


def _is_choice(value: Any) -> bool:
    return is_table(value) and len(value) == 1 and is_table(next(iter(value.values())))


def _lists_without_common(values: Sequence[Any]) -> list[Any]:
    """Element by element; elements that all share go."""
    lists = [value for value in values if value is not _ABSENT]
    columns = [_without_common(column) for column in zip(*lists, strict=True)]
    kept = iter([[part for part in row if part is not _SAME] for row in zip(*columns, strict=True)])
    return [value if value is _ABSENT else next(kept) for value in values]


def _shortest(path: str, paths: Sequence[str]) -> str:
    parts = path.split(".")
    for count in range(1, len(parts)):
        end = ".".join(parts[-count:])
        if end == "load" and not is_load(path):
            continue
        if not end[0].isdigit() and sum(other == end or other.endswith(f".{end}") for other in paths) == 1:
            return end
    return path
