"""Arrow tables from the buffers of the simulator and from records, cell by cell."""

from __future__ import annotations

import math
import struct
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from hopsim.metrics import tables


def test_numbers_are_read_as_little_endian_and_nan_does_not_exist() -> None:
    table = tables.from_buffers(
        {
            "count": ("u4", struct.pack("<3I", 1, 2**31, 7)),
            "mean": ("f8", struct.pack("<3d", 0.5, math.nan, -1e300)),
            "small": ("f4", struct.pack("<3f", math.nan, 0.25, math.inf)),
            "job": ("str", ["a", "", "ü"]),
        }
    )
    assert table.to_pydict() == {
        "count": [1, 2**31, 7],
        "mean": [0.5, None, -1e300],
        "small": [None, 0.25, math.inf],
        "job": ["a", "", "ü"],
    }
    assert table.schema.types == [pa.uint32(), pa.float64(), pa.float32(), pa.string()]
    assert [column.null_count for column in table.columns] == [0, 1, 1, 0]


def test_a_link_to_a_node_has_no_router_at_its_other_end() -> None:
    most = 2**32 - 1
    columns: tables.Buffers = {
        "peer_router": ("u4", struct.pack("<3I", 7, most, 0)),
        "phits": ("u4", struct.pack("<3I", 1, most, 2)),
    }
    table = tables.from_buffers(columns)
    assert table.to_pydict() == {"peer_router": [7, None, 0], "phits": [1, most, 2]}
    assert table.schema.types == [pa.uint32(), pa.uint32()]
    assert tables.peers(table).tolist() == [7, most, 0]
    # Differences of them can be less than nothing.
    assert tables.peers(table).dtype == np.int64


def test_a_column_of_strings_without_rows_is_still_one_of_strings() -> None:
    table = tables.from_buffers({"job": ("str", []), "count": ("u8", b"")})
    assert table.schema.types == [pa.string(), pa.uint64()]
    assert table.num_rows == 0


def test_a_column_of_few_names_is_the_names_and_the_place_of_each_rows_among_them() -> None:
    for kind, code in (("u1", "5B"), ("u4", "5I")):
        places = struct.pack(f"<{code}", 2, 0, 0, 1, 2)
        table = tables.from_buffers({"job": (kind, (["b", "ü", "a"], places))})
        assert table["job"].to_pylist() == ["a", "b", "b", "ü", "a"]
        assert table.schema.field("job").type == pa.string()
    empty = tables.from_buffers({"job": ("u4", ([], b""))})
    assert (empty.schema.field("job").type, empty.num_rows) == (pa.string(), 0)


def test_texts_of_a_column_are_told_once_and_where_each_row_has_its_own() -> None:
    column = pa.chunked_array([["b", "a"], [], ["b", "c", "a"]])
    texts, places = tables.coded(column)
    assert texts == ["b", "a", "c"]
    assert places.tolist() == [0, 1, 0, 2, 1]
    assert [texts[place] for place in places] == column.to_pylist()


def test_rows_are_taken_in_the_order_of_their_places() -> None:
    table = pa.table({"x": [1, 2, 3], "y": ["a", "b", "c"]})
    assert tables.rows(table, np.array([2, 0, 2])).to_pydict() == {"x": [3, 1, 3], "y": ["c", "a", "c"]}
    assert tables.rows(table, np.array([], np.int64)).num_rows == 0


@pytest.mark.parametrize(
    ("values", "kind", "cells"),
    [
        ([1, 2, None], pa.int64(), [1, 2, None]),
        ([1, 0.5, None], pa.float64(), [1.0, 0.5, None]),
        ([2**53 + 1, 0], pa.int64(), [2**53 + 1, 0]),
        ([None, None], pa.float64(), [None, None]),
        ([True, None, False], pa.bool_(), [True, None, False]),
        (["b", None, "a"], pa.string(), ["b", None, "a"]),
        ([True, 1], pa.string(), ["true", "1"]),
        ([0.5, "text"], pa.string(), ["0.5", "text"]),
        ([{"a": [1, 2]}, None, "minimal"], pa.string(), ['{"a":[1,2]}', None, "minimal"]),
    ],
)
def test_a_column_of_records_has_the_narrowest_type_that_holds_them(
    values: list[Any], kind: pa.DataType, cells: list[Any]
) -> None:
    table = tables.from_records([{"row": row, "x": value} for row, value in enumerate(values)])
    assert table.schema.field("x").type == kind
    found = table.column("x").to_pylist()
    assert found == cells
    assert [type(cell) for cell in found] == [type(cell) for cell in cells]


def test_columns_are_in_the_order_in_which_records_first_have_them() -> None:
    table = tables.from_records([{"b": 1, "a": 2}, {"c": 3, "a": 4}, {"b": 5}])
    assert table.column_names == ["b", "a", "c"]
    assert table.to_pylist() == [
        {"b": 1, "a": 2, "c": None},
        {"b": None, "a": 4, "c": 3},
        {"b": 5, "a": None, "c": None},
    ]


def test_the_number_of_the_point_is_the_first_column() -> None:
    table = tables.with_point(pa.table({"x": [0.5, 1.5]}), 41)
    assert table.to_pydict() == {"point": [41, 41], "x": [0.5, 1.5]}
    assert table.column_names == ["point", "x"]
    assert table.schema.field("point").type == pa.uint32()


def test_tables_of_unlike_points_have_one_schema_with_types_that_hold_all_values() -> None:
    parts = [pa.table({"a": pa.array([1], pa.uint32()), "b": ["x"]}), pa.table({"c": [2], "a": [0.5]})]
    schema = tables.common_schema(part.schema for part in parts)
    assert schema.names == ["point", "a", "b", "c"]
    assert schema.types == [pa.uint32(), pa.float64(), pa.string(), pa.int64()]
    found = [tables.with_schema(tables.with_point(part, number), schema) for number, part in enumerate(parts)]
    assert all(table.schema == schema for table in found)
    assert [table.to_pylist() for table in found] == [
        [{"point": 0, "a": 1.0, "b": "x", "c": None}],
        [{"point": 1, "a": 0.5, "b": None, "c": 2}],
    ]
