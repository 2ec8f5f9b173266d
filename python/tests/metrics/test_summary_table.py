"""The table in the terminal: every figure stands under its own heading, and every kind of run has its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from rich import box
from rich.table import Table

import hopsim as hs
from hopsim.metrics.summary_table import summary_table

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
TRAFFIC = ["offered", "accepted", "latency", "p99", "hops", "max/min", "Jain"]
"""Headings of the figures of synthetic traffic."""
PROGRAM = {
    "execution_time": 1000,
    "execution_time_ci95": 12.0,
    "compute_time_mean": 600.0,
    "wait_time_mean": 400.5,
    "message_latency_mean": 77.25,
    "message_latency_p99": 123.0,
    "hops_mean": 2.5,
    "seed": 1,
}
FABRIC = {
    "throughput_gbps": 12.5,
    "throughput_gbps_ci95": 0.25,
    "flow_throughput_min_gbps": 1.125,
    "flow_throughput_max_gbps": 3.5,
    "jain_index": 0.75,
    "packet_latency_mean_ns": 4321.4,
    "packet_latency_p99_ns": 98765.0,
    "packets_marked": 4096,
    "seed": 1,
}

Point = tuple[Mapping[str, Any], Mapping[str, Any]]
"""Axes and summary."""


def table(*points: Point | hs.Result) -> Table:
    results = {
        number: each
        if isinstance(each, hs.Result)
        else hs.Result({"config": {}, "result": dict(each[1])}, each[0], {})
        for number, each in enumerate(points)
    }
    return summary_table(hs.Results(results))


def headings(*points: Point | hs.Result) -> list[str]:
    return [str(column.header) for column in table(*points).columns]


def cells(*points: Point | hs.Result) -> list[dict[str, str]]:
    """The table as a dictionary per row: heading -> text."""
    columns = {str(column.header): [str(cell) for cell in column.cells] for column in table(*points).columns}
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def shared(summary: Mapping[str, Any], jobs: Sequence[Mapping[str, Any]], **axes: Any) -> hs.Result:
    """A point whose network several jobs share."""
    config = {"jobs": [{"name": job["job"]} for job in jobs]}
    return hs.Result({"config": config, "result": dict(summary), "jobs": [*map(dict, jobs)]}, axes, {})


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
    bursts = {**SUMMARY, "offered_load": None, "cycles_per_burst": 5000.25, "cycles_per_burst_ci95": 10.0}
    (row,) = cells(({}, bursts))
    assert row["cycles/burst"] == "5,000.2 ± 10.0"
    assert list(row) == ["cycles/burst", *TRAFFIC[1:]]
    # Beside bursts others may offer a load.
    assert headings(({"routing": "a"}, bursts), ({"routing": "b"}, SUMMARY)) == [
        "routing",
        "cycles/burst",
        *TRAFFIC,
    ]


def test_programs_are_told_by_their_times_with_the_spread_of_seeds() -> None:
    program = {"execution_time": 1000, "compute_time_mean": 600.0, "wait_time_mean": 400.0}
    (row,) = cells(
        ({"measure.seed": 1}, {**SUMMARY, **program}),
        ({"measure.seed": 2}, {**SUMMARY, **program, "execution_time": 1100, "seed": 2}),
    )
    assert row["execution"].startswith("1,050 ± ")
    assert row["compute"] == "600"
    assert "accepted" not in row


def test_a_program_is_told_by_its_times_and_those_of_its_messages() -> None:
    (row,) = cells(({}, PROGRAM))
    assert row == {
        "execution": "1,000 ± 12",
        "compute": "600",
        "wait": "400",
        "message latency": "77.2",
        "p99": "123",
        "hops": "2.50",
    }


def test_a_search_is_told_with_the_edges_that_it_traverses_in_a_second() -> None:
    search = {**PROGRAM, "job": "search", "traversed_edges_per_second": 123456789.4}
    first, second = cells(shared(PROGRAM, [search, {**PROGRAM, "job": "solver"}]))
    assert list(first)[:3] == ["job", "execution", "TEPS"]
    assert (first["TEPS"], second["TEPS"]) == ("123,456,789", "–")


def test_a_program_beside_traffic_is_told_with_its_load() -> None:
    noise = {**SUMMARY, "job": "noise", "accepted_load_ci95": None}
    results = shared(SUMMARY, [{**PROGRAM, "job": "solver"}, noise])
    program, traffic = cells(results)
    assert program == {
        "job": "solver",
        "execution": "1,000 ± 12",
        "compute": "600",
        "wait": "400",
        "message latency": "77.2",
        "accepted": "–",
        "latency": "–",
        "hops": "2.50",
    }
    assert traffic == {
        **dict.fromkeys(program, "–"),
        "job": "noise",
        "accepted": "0.2000",
        "latency": "150.2",
        "hops": "3.25",
    }


def test_a_fabric_is_told_by_throughput_of_all_flows_and_of_the_extreme_ones() -> None:
    (row,) = cells(({}, FABRIC))
    assert row == {
        "Gb/s": "12.500 ± 0.250",
        "least flow": "1.125",
        "greatest": "3.500",
        "Jain": "0.750",
        "latency": "4,321",
        "p99": "98,765",
        "marked": "4,096",
    }


def test_a_program_on_a_fabric_is_told_by_its_times_and_the_throughput() -> None:
    (row,) = cells(({}, FABRIC | PROGRAM))
    assert row == {
        "execution": "1,000 ± 12",
        "compute": "600",
        "wait": "400",
        "message latency": "77.2",
        "p99": "123",
        "Gb/s": "12.500 ± 0.250",
        "marked": "4,096",
    }


def test_an_axis_that_is_the_offered_load_stands_for_it() -> None:
    job = "jobs.0.traffic.process.bernoulli.load"
    assert headings(({"load": 0.25}, SUMMARY)) == ["load", *TRAFFIC[1:]]
    assert headings(({job: 0.25}, SUMMARY)) == ["load", *TRAFFIC[1:]]
    # An axis that is the load of one job says nothing of the load of the others.
    jobs = [{**SUMMARY, "job": name} for name in ("a", "b")]
    assert headings(shared(SUMMARY, jobs, **{job: 0.25})) == ["load of a", "job", *TRAFFIC]
    assert headings(shared(SUMMARY, jobs, load=0.25)) == ["load", "job", *TRAFFIC[1:]]
    assert headings(({"routing": "minimal"}, SUMMARY)) == ["routing", *TRAFFIC]
    # One point with a load is enough.
    none = {**SUMMARY, "offered_load": None}
    assert headings(({"routing": "a"}, none), ({"routing": "b"}, SUMMARY)) == ["routing", *TRAFFIC]
    assert headings(({}, none)) == TRAFFIC[1:]


def test_the_seed_is_no_column() -> None:
    assert headings(({"measure.seed": 1, "load": 0.25}, SUMMARY)) == ["load", *TRAFFIC[1:]]


def test_runs_that_find_their_length_say_so_beside_the_verdict() -> None:
    found = {
        **SUMMARY,
        "warmup_cycles": 12_000,
        "warmup_found": "latency",
        "cycles": 40_000,
        "verdict": "not converged",
        "stop": "max cycles",
    }
    (row,) = cells(({}, found))
    assert list(row) == [*TRAFFIC, "warm-up", "window", "verdict", "stop"]
    assert list(row.values())[-4:] == ["12,000", "40,000", "not converged", "max cycles"]
    without = {**found, "stop": None}
    (row,) = cells(({}, without))
    assert list(row) == [*TRAFFIC, "warm-up", "verdict"]
    (row,) = cells(({}, {**found, "warmup_found": None, "verdict": None}))
    assert list(row) == [*TRAFFIC, "window", "stop"]
    assert (row["window"], row["stop"]) == ("40,000", "max cycles")
    assert headings(({}, {**without, "warmup_found": None})) == [*TRAFFIC, "verdict"]


def named(*names: str | None) -> list[hs.Result]:
    """A point for each name of a value of the axis `routing`; None: it has none of its own."""
    return [
        hs.Result(
            {"config": {}, "result": SUMMARY},
            {"routing": f"r{number}", "vcs": number},
            {},
            {} if name is None else {"routing": name},
        )
        for number, name in enumerate(names)
    ]


def test_a_cell_has_the_name_of_a_value_or_the_value_where_that_is_empty() -> None:
    assert [row["routing"] for row in cells(*named("MIN", None, ""))] == ["MIN", "r1", "r2"]
    # Brackets are no style of the terminal.
    (row,) = cells(({"a[bold]": "[red]"}, SUMMARY))
    assert next(iter(row.items())) == ("a\\[bold]", "\\[red]")


def test_an_axis_whose_names_are_all_empty_is_no_column() -> None:
    assert headings(*named("", ""))[:2] == ["vcs", "offered"]
    assert headings(*named("", "VAL"))[:2] == ["routing", "vcs"]
    assert headings(*named("", None))[:2] == ["routing", "vcs"]
    # Of a single point nothing else would tell what it is.
    assert headings(*named(""))[:2] == ["routing", "vcs"]


def test_an_axis_that_a_point_lacks_is_a_dash() -> None:
    rows = cells(({"size": 4}, SUMMARY), ({"ways": 2}, SUMMARY))
    assert [(row["size"], row["ways"]) for row in rows] == [("4", "–"), ("–", "2")]


LOADS = (
    "Loads in phits/(node·cycle), latencies in cycles; max/min: injected packets per router; "
    "Jain: injected packets per node; ± 95 % confidence interval over "
)
OVER_SEEDS = "; ± 95 % confidence interval over 2 seeds."
TIMES = "Times in cycles: computation and waiting of a rank on average, latency of messages"
FLOWS = "Throughput in Gb/s: all flows, and the extreme ones; latencies in ns"


@pytest.mark.parametrize(
    ("summary", "one", "two"),
    [
        (SUMMARY, f"{LOADS}the batches of the run.", f"{LOADS}2 seeds."),
        (PROGRAM, f"{TIMES}.", f"{TIMES}{OVER_SEEDS}"),
        (FABRIC, f"{FLOWS}.", f"{FLOWS}{OVER_SEEDS}"),
        (
            FABRIC | PROGRAM,
            f"{TIMES}; throughput in Gb/s.",
            f"{TIMES}; throughput in Gb/s{OVER_SEEDS}",
        ),
    ],
)
def test_below_stand_the_units_and_what_the_intervals_are_over(
    summary: Mapping[str, Any], one: str, two: str
) -> None:
    assert table(({}, summary)).caption == one
    seeds: list[Point] = [({"measure.seed": seed}, {**summary, "seed": seed}) for seed in (1, 2)]
    assert table(*seeds).caption == two


def test_below_programs_beside_traffic_stands_the_unit_of_its_load() -> None:
    results = shared(SUMMARY | PROGRAM, [{**PROGRAM, "job": "solver"}, {**SUMMARY, "job": "noise"}])
    beside = "; accepted load in phits/(node·cycle), latency of packets"
    assert table(results).caption == f"{TIMES}{beside}."


def test_figures_stand_at_the_right_and_are_never_broken() -> None:
    shown = table(({"load": 0.25}, {**SUMMARY, "verdict": "steady", "stop": "reached"}))
    axis, *figures, verdict, stop = shown.columns
    assert (axis.justify, axis.overflow, axis.min_width, axis.no_wrap) == ("left", "fold", 4, False)
    assert {(column.justify, column.no_wrap) for column in figures} == {("right", True)}
    assert {(column.justify, column.no_wrap) for column in (verdict, stop)} == {("left", True)}
    assert (shown.caption_justify, shown.box, shown.padding) == ("left", box.SIMPLE_HEAD, (0, 1, 0, 0))
