"""Arrow tables: made from the buffers of the simulator and from lists of records."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

import numpy as np
import pyarrow as pa

Data = bytes | list[str] | tuple[list[str], bytes]
Buffers = Mapping[str, tuple[str, Data]]


PEER = "peer_router"
"""The column with the router at the other end of a link; null for a node."""
NODE = 2**32 - 1
"""What the simulator has in that column for a node."""


def from_buffers(columns: Buffers) -> pa.Table:
    """A table from {column: (numpy type or "str", little-endian bytes or strings)}; NaN becomes null.

    A column of few names in many rows is the names and, as bytes, the place of each row's among them.
    """
    table = {name: _column(kind, data) for name, (kind, data) in columns.items()}
    if PEER in table:
        peers = table[PEER].to_numpy()
        table[PEER] = pa.array(peers, mask=peers == NODE)
    return pa.table(table)


def peers(table: pa.Table) -> np.ndarray:
    """The router at the other end of each row's link; `NODE` for a node."""
    return table.column(PEER).fill_null(cast("Any", NODE)).to_numpy().astype(np.int64)


def from_records(records: Sequence[Mapping[str, Any]]) -> pa.Table:
    """One row per record; the columns are those of all records, in order of first appearance."""
    names = list(dict.fromkeys(name for record in records for name in record))
    return pa.table({name: _values([record.get(name) for record in records]) for name in names})


def with_point(table: pa.Table, point: int) -> pa.Table:
    """`table` with a first column `point` that holds the point's number."""
    numbers = pa.array(np.full(table.num_rows, point, dtype=np.uint32))
    return table.add_column(0, "point", numbers)


def coded(column: pa.ChunkedArray[Any]) -> tuple[list[str], np.ndarray]:
    """The texts of a column, each once, and for each row the place of its own among them."""
    encoded = cast("pa.DictionaryArray[Any, Any]", column.combine_chunks().dictionary_encode())
    return [str(text) for text in encoded.dictionary.to_pylist()], encoded.indices.to_numpy()


def rows(table: pa.Table, places: np.ndarray) -> pa.Table:
    """The rows at some places."""
    return table.take(cast("Any", pa.array(places)))


def common_schema(schemas: Iterable[pa.Schema]) -> pa.Schema:
    """A column `point` and those of all schemas, in order of first appearance; types that hold all values."""
    point = pa.schema([("point", pa.uint32())])
    return pa.unify_schemas([point, *schemas], promote_options="permissive")


def with_schema(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """`table` with the columns of a schema that holds its own; those it lacks are null."""
    return pa.concat_tables([schema.empty_table(), table], promote_options="permissive")


def _column(kind: str, data: Data) -> pa.Array[Any]:
    if isinstance(data, tuple):
        names, places = data
        return pa.array(names, type=pa.string()).take(_column(kind, places))
    if isinstance(data, list):
        return pa.array(data, type=pa.string())
    return pa.array(np.frombuffer(data, dtype=np.dtype(kind).newbyteorder("<")), from_pandas=True)


def _values(column: list[Any]) -> pa.Array[Any]:
    present = [value for value in column if value is not None]
    if not present:
        return pa.array(column, type=pa.float64())
    if all(isinstance(value, bool) for value in present):
        return pa.array(column)
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in present):
        return pa.array(_same_type(column, present))
    return pa.array([_text(value) for value in column], type=pa.string())


def _same_type(column: list[Any], present: list[Any]) -> list[Any]:
    if any(isinstance(value, float) for value in present):
        return [None if value is None else float(value) for value in column]
    return column


def _text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, separators=(",", ":"))
