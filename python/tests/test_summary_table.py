"""The table in the terminal: every figure stands under its own heading."""

from __future__ import annotations

from typing import Any

import hopsim as hs
from hopsim.summary_table import summary_table

SUMMARY = {
    "offered_load": 0.25,
    "accepted_load": 0.2,
    "accepted_load_ci95": 0.0125,
    "packet_latency_mean": 150.25,
    "packet_latency_mean_ci95": 1.5,
    "packet_latency_p50": 111.0,
    "packet_latency_p99": 999.0,
    "packet_latency_max": 2222.0,
    "hops_mean": 3.25,
    "router_injection_max_min_ratio": 1.75,
    "jain_index": 0.875,
    "seed": 1,
}


def cells(*points: tuple[dict[str, Any], dict[str, Any]]) -> list[dict[str, str]]:
    """The table as a dictionary per row: heading -> text."""
    results = {
        number: hs.Result({"config": {}, "result": summary}, axes, {})
        for number, (axes, summary) in enumerate(points)
    }
    table = summary_table(hs.Results(results))
    columns = {str(column.header): [str(cell) for cell in column.cells] for column in table.columns}
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def test_each_column_shows_the_key_that_its_heading_names() -> None:
    (row,) = cells(({}, SUMMARY))
    assert row == {
        "offered": "0.250",
        "accepted": "0.2000 ± 0.0125",
        "latency": "150.2 ± 1.5",
        "p99": "999",
        "hops": "3.25",
        "max/min": "1.75",
        "Jain": "0.875",
    }


def test_points_that_differ_in_their_seed_are_one_row_of_means() -> None:
    other = {**SUMMARY, "accepted_load": 0.22, "packet_latency_p99": 1001.0, "seed": 2}
    rows = cells(
        ({"load": 0.25, "measure.seed": 1}, SUMMARY),
        ({"load": 0.25, "measure.seed": 2}, other),
        ({"load": 0.5, "measure.seed": 1}, {**SUMMARY, "packet_latency_p99": None}),
    )
    assert [(row["load"], row["p99"]) for row in rows] == [("0.25", "1,000"), ("0.5", "–")]
    # Half the difference times Student's 12.7062 with one degree of freedom.
    assert rows[0]["accepted"] == "0.2100 ± 0.1271"


def test_bursts_are_headed_by_their_time() -> None:
    (row,) = cells(
        ({}, {**SUMMARY, "offered_load": None, "cycles_per_burst": 5000.25, "cycles_per_burst_ci95": 10.0})
    )
    assert row["cycles/burst"] == "5,000.2 ± 10.0"
    assert "offered" not in row


def test_programs_are_told_by_their_times_with_the_spread_of_seeds() -> None:
    program = {"execution_time": 1000, "compute_time_mean": 600.0, "wait_time_mean": 400.0}
    (row,) = cells(
        ({"measure.seed": 1}, {**SUMMARY, **program}),
        ({"measure.seed": 2}, {**SUMMARY, **program, "execution_time": 1100, "seed": 2}),
    )
    assert row["execution"].startswith("1,050 ± ")
    assert row["compute"] == "600"
    assert "accepted" not in row
