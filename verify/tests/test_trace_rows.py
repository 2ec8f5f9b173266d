"""Totals of traces: those that the package has are told as they were recorded, and differences are seen."""

import pytest
from verify import trace_rows

SHIPPED = [row for row in trace_rows.rows() if trace_rows.find(row["trace"], None)]


@pytest.mark.parametrize("row", SHIPPED, ids=lambda row: row["trace"])
def test_a_trace_of_the_package_is_told_as_it_was_recorded(row: dict[str, str]) -> None:
    file = trace_rows.find(row["trace"], None)
    assert file is not None
    assert trace_rows.differences(row, file) == []


def test_a_difference_is_seen() -> None:
    (own,) = (row for row in SHIPPED if row["trace"] == "CG.A.16.it2")
    row = {**own, "records": "7"}
    file = trace_rows.find(row["trace"], None)
    assert file is not None
    assert trace_rows.differences(row, file) == ["records is 35228, not 7"]
