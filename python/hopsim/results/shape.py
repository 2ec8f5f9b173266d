"""What the records and tables of a results directory look like: the one place that looks when they are read.

A checksum tells that a record is as it was written, not who has written it. Whoever reads results counts on
what is found right here: the kind of every value, numbers that floats can hold, tables with their columns.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from hopsim.document.estimate import AUTO, is_fabric
from hopsim.kinds import is_list, is_table
from hopsim.metrics import tables, verdict
from hopsim.vocabulary import columns
from hopsim.vocabulary.labels import is_load

DEEPEST = 64
"""Tables and lists in each other, as in documents."""
GREATEST = 2**64
"""Beyond all whole numbers."""
GREATEST_REAL = 1e60
"""Beyond all others; products of some of them are still numbers."""
MOST_POINTS_DIGITS = 12
"""Of the number of a point."""

_DIGEST = re.compile(r"[0-9a-f]{64}")
_VERSION = re.compile(r"\d+\.\d+")

Check = Callable[[Any], str]
"""What is wrong with a value; empty if nothing is."""


def manifest_fault(manifest: Mapping[str, Any]) -> str:
    """What is wrong with a manifest, with the path of the key; empty if nothing is."""
    return next(_faults(manifest, _MANIFEST), "") or next(_digests(manifest), "")


def point_fault(record: Mapping[str, Any], digest: str, version: str) -> str:
    """The same of the file of a point that has this digest, and that this version of hopsim has written."""
    fault = next(_faults(record, _POINT), "")
    if not fault and not _is_of(record["config"], version, digest):
        fault = "config: is not the one that the digest is of"
    if not fault:
        missing = [name for name in _needed(record["config"]) if name not in record["result"]]
        fault = "".join(f"result.{name}: is missing" for name in missing[:1])
    if not fault:
        measured = _measured_by_all(record["config"])
        lost = [name for name in measured if record["result"].get(name) is None]
        fault = "".join(f"result.{name}: must be a number" for name in lost[:1])
    return fault


def _measured_by_all(config: Mapping[str, Any]) -> tuple[str, ...]:
    """Columns of the summary that have a number in every run of such a kind."""
    if is_fabric(config):
        return ("throughput_gbps", "time_s")
    return ("warmup_cycles",) if config["measure"].get("warmup") == AUTO else ()


def _needed(config: Mapping[str, Any]) -> list[str]:
    """Columns of the summary that tell what kind of simulation it was, or that all have."""
    kinds = {
        "throughput_gbps": is_fabric(config),
        "execution_time": any(job.get("program", {}).keys() - {"external"} for job in config["jobs"]),
    }
    return ["accepted_load", "seed", *(name for name, has_it in kinds.items() if has_it)]


def described(table: pa.Table) -> dict[str, Any]:
    """What the record of a point says of a table: how many rows it has, and the types of its columns."""
    return {"rows": table.num_rows, "columns": _types(table.schema)}


def table_fault(name: str, file: parquet.ParquetFile, written: Mapping[str, Any]) -> str:
    """What is wrong with the file of a table of which the record of the point says what is `described`."""
    if file.metadata.num_rows != written["rows"]:
        return f"has {file.metadata.num_rows} rows, not {written['rows']}"
    expected, found = written["columns"], _types(file.schema_arrow)
    names = file.schema_arrow.names
    for column in {**expected, **found}:
        if column not in found:
            return f"has no column {column}"
        if column not in expected:
            return f"has a column {column}"
        if names.count(column) > 1:
            return f"has the column {column} twice"
        if found[column] != expected[column]:
            return f"column {column}: is {found[column]}, not {expected[column]}"
        if not _may_be(name, column, found[column]):
            return f"column {column}: must not be {found[column]}"
        may_lack = found[column] in ("double", "float") or column == tables.PEER
        if not may_lack and _nulls(file, list(found).index(column)):
            return f"column {column}: lacks values"
    return ""


def _faults(record: Mapping[str, Any], checks: Mapping[str, Check]) -> Iterator[str]:
    """What is wrong with the values of a record."""
    for key, check in checks.items():
        if key not in record:
            yield f"{key}: is missing"
        elif fault := check(record[key]):
            yield f"{key}{fault}"


def _kind(told: str, holds: Callable[[Any], bool]) -> Check:
    return lambda value: "" if holds(value) else f": must be {told}"


def _is_number(value: Any) -> bool:
    if isinstance(value, bool):
        return False
    if isinstance(value, int):
        return abs(value) <= GREATEST
    return isinstance(value, float) and abs(value) <= GREATEST_REAL


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= GREATEST


def _is_plain(value: Any, depth: int = DEEPEST) -> bool:
    """Whether it is a value as documents have them."""
    if is_table(value):
        return depth > 0 and all(_is_plain(each, depth - 1) for each in value.values())
    if is_list(value):
        return depth > 0 and all(_is_plain(each, depth - 1) for each in value)
    return value is None or isinstance(value, bool | str) or _is_number(value)


def _all(check: Check) -> Check:
    """Of a list, each of whose items must be right."""

    def fault(value: Any) -> str:
        if not is_list(value):
            return ": must be a list"
        return next((f".{number}{wrong}" for number, each in enumerate(value) if (wrong := check(each))), "")

    return fault


def _each(check: Callable[[str], Check], names: Callable[[str], bool] = lambda _: True) -> Check:
    """Of a table, each of whose values must be right as its key says, and each key."""

    def fault(value: Any) -> str:
        if not is_table(value):
            return ": must be a table"
        strange = (f": {key!r} is no key" for key in value if not names(key))
        wrong = (f".{key}{wrong}" for key, each in value.items() if (wrong := check(key)(each)))
        return next(strange, "") or next(wrong, "")

    return fault


def _table(checks: Mapping[str, Check], more: Check = lambda _: "") -> Check:
    """Of a table with these keys."""

    def fault(value: Any) -> str:
        if not is_table(value):
            return ": must be a table"
        wrong = next(_faults(value, checks), "")
        return f".{wrong}" if wrong else more(value)

    return fault


_TEXT = _kind("a text", lambda value: isinstance(value, str))
_COUNT = _kind("a whole number", _is_count)
_NUMBER = _kind("a number", _is_number)
_PLAIN = _kind(f"a value of a document, no more than {DEEPEST} deep", _is_plain)
_DIGEST_TEXT = _kind("a digest", lambda value: isinstance(value, str) and bool(_DIGEST.fullmatch(value)))
_VERDICT = _kind("a verdict", lambda value: value is None or value in verdict.WORST_FIRST)
_TEXT_OR_NOTHING = _kind("a text or null", lambda value: value is None or isinstance(value, str))
_NUMBER_OR_NOTHING = _kind("a number or null", lambda value: value is None or _is_number(value))
_UNKNOWN = _kind(
    "a number, a text or null",
    lambda value: value is None or isinstance(value, bool | str) or _is_number(value),
)

_NEVER_NULL = frozenset(
    {
        "seed",
        "nodes",
        "cycles",
        "packets_generated",
        "packets_dropped",
        "packets_lost",
        "packets_lost_on_links",
        "packets_discarded",
        "packets_spoiled",
        "messages_lost",
        "retransmissions",
        "packets_injected",
        "packets_delivered",
    }
)
"""Columns of the summary that are counted."""
_LOADS = ("accepted_load", "generated_load", "injected_load")
"""Columns of the summary that are null in a window without cycles only."""


def _of_column(name: str) -> Check:
    """What a value of the summary is, by its column."""
    if name == verdict.KEY:
        return _VERDICT
    if name == "job":
        return _TEXT
    if name in _NEVER_NULL:
        return _COUNT
    if name in columns.TEXTS:
        return _TEXT_OR_NOTHING
    return _NUMBER_OR_NOTHING if name in _summary_columns() else _UNKNOWN


def _measured(value: Mapping[str, Any]) -> str:
    """What is wrong with a summary whose values are of the right kinds."""
    if value.get("cycles", 1):
        missing = [f".{name}: must be a number" for name in _LOADS if value.get(name, 0) is None]
        return next(iter(missing), "")
    return ""


def _summary(value: Any) -> str:
    return _each(_of_column)(value) or _measured(value)


def _axis(path: str) -> Check:
    """What the value of a sweep axis is; the rate of messages is a number with its unit."""
    return _NUMBER if is_load(path) and not path.endswith(".rate") else _PLAIN


def _is_point_number(text: str) -> bool:
    return text.isdecimal() and len(text) <= MOST_POINTS_DIGITS


_STORED_POINT: Mapping[str, Check] = {"digest": _DIGEST_TEXT, "axes": _each(_axis)}
_MANIFEST: Mapping[str, Check] = {
    "hopsim": _kind("a version", lambda value: isinstance(value, str) and bool(_VERSION.match(value))),
    "experiment": _TEXT,
    "overrides": _all(_TEXT),
    "document": _TEXT,
    "hashes": _table({"document": _DIGEST_TEXT, "experiment": _DIGEST_TEXT}),
    "seeds": _all(_COUNT),
    "first": _COUNT,
    "total": _COUNT,
    "finished": _COUNT,
    "failures": _each(lambda _: _TEXT, _is_point_number),
    "wall_time_s": _NUMBER,
    "peak_memory_bytes": _COUNT,
    "written": _TEXT,
    "platform": _TEXT,
    "config": lambda value: _PLAIN(value) if is_table(value) else ": must be a table",
    "points": _all(
        _table(_STORED_POINT, lambda point: _stands_for(point) or _labels(point.get("labels", {})))
    ),
}
_POINT: Mapping[str, Check] = {
    "digest": _DIGEST_TEXT,
    "config": lambda value: "" if is_table(value) else ": must be a table",
    "result": _summary,
    "jobs": _all(lambda value: _table({"job": _TEXT})(value) or _summary(value)),
    "tables": _each(
        lambda _: _table(
            {"bytes": _COUNT, "sha256": _DIGEST_TEXT, "rows": _COUNT, "columns": _each(lambda _: _TEXT)}
        )
    ),
}


def _stands_for(point: Mapping[str, Any]) -> str:
    fault = _DIGEST_TEXT(point.get("stands_for", point["digest"]))
    return f".stands_for{fault}" if fault else ""


def _labels(value: Any) -> str:
    fault = _each(lambda _: _TEXT)(value)
    return f".labels{fault}" if fault else ""


def _digests(manifest: Mapping[str, Any]) -> Iterator[str]:
    """What does not belong together in a manifest whose values are of the right kinds."""
    hashes, points = manifest["hashes"], manifest["points"]
    if hashes["document"] != _sha256(manifest["document"]):
        yield "document: is not the one that its hash is of"
    first = [point.get("stands_for", point["digest"]) for point in points[: manifest["first"]]]
    if len(points) != manifest["total"] or len(first) != manifest["first"]:
        yield f"points: are {len(points)}, not {manifest['total']}"
    if hashes["experiment"] != _sha256("\n".join(first)):
        yield "points: are not those that the hash of the experiment is of"


def _is_of(config: Any, version: str, digest: str) -> bool:
    """Whether a configuration is the one that a digest is of: of its text as the simulator writes it."""
    try:
        text = json.dumps(config, separators=(",", ":"), ensure_ascii=False)
        return digest in (_sha256(f"{version}\n{text}"), _sha256(f"{version}\n{_text(config)}"))
    except (RecursionError, ValueError):
        return False


def _text(value: Any) -> str:
    """A value as the simulator writes it: numbers otherwise than Python where they have an exponent."""
    if is_table(value):
        return f"{{{','.join(f'{_text(key)}:{_text(each)}' for key, each in value.items())}}}"
    if is_list(value):
        return f"[{','.join(map(_text, value))}]"
    text = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, float) or "e" not in text:
        return text
    mantissa, exponent = text.split("e")
    if int(exponent) == -5:
        sign, digits = "-" * (value < 0), mantissa.lstrip("-").replace(".", "")
        return f"{sign}0.0000{digits}"
    return f"{mantissa}e{int(exponent)}"


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _may_be(table: str, column: str, kind: str) -> bool:
    """Whether a column that hopsim knows may have this type."""
    is_text = kind in ("string", "large_string")
    if (table, column) in _table_columns():
        return is_text == (column in columns.TEXTS)
    return True


def _nulls(file: parquet.ParquetFile, column: int) -> bool:
    """Whether a column has rows without a value, as far as the file says how many."""
    groups = (
        file.metadata.row_group(number).column(column) for number in range(file.metadata.num_row_groups)
    )
    return any(group.statistics is not None and group.statistics.null_count for group in groups)


def _types(schema: pa.Schema) -> dict[str, str]:
    """The types of columns."""
    fields: list[Any] = list(schema)
    return {field.name: str(field.type) for field in fields}


@cache
def _summary_columns() -> frozenset[str]:
    return frozenset(each.name for each in columns.result_columns() if each.table == columns.SUMMARY)


@cache
def _table_columns() -> frozenset[tuple[str, str]]:
    return frozenset((each.table, each.name) for each in columns.result_columns())
