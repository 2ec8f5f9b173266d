"""Flits, from rows of the stream `flit_hops` that are written down here."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from hopsim.insight import flits
from hopsim.insight.flits import FlitPassage


def row(place: tuple[int, int, int], flit: int, *cycles: float | None) -> dict[str, Any]:
    """A row; `cycles` are those of arrival, RC, VA, SA and departure."""
    source, serial, hop = place
    stages = dict(zip(("arrived", "routed", "vc_allocated", "granted", "departed"), cycles, strict=True))
    return {"source": source, "serial": serial, "hop": hop, "flit": flit, **stages}


ROWS = [
    row((3, 5, 0), 0, 1012, 1013.0, 1014.0, 1015, 1016),
    row((3, 5, 0), 1, 1013, float("nan"), None, 1016, 1017),
    row((3, 5, 1), 0, 1018, 1019.0, 1020.0, 1029, 1030),
    row((3, 6, 0), 0, 99, 99.0, 99.0, 99, 100),
    row((4, 5, 0), 0, 7, 8.0, 9.0, 10, 11),
]


def test_flits_are_found_by_packet_and_router() -> None:
    found = flits.by_router(pa.Table.from_pylist(ROWS))
    assert found == {
        (3, 5, 0): (
            FlitPassage(0, 1012, 1013, 1014, 1015, 1016),
            FlitPassage(1, 1013, None, None, 1016, 1017),
        ),
        (3, 5, 1): (FlitPassage(0, 1018, 1019, 1020, 1029, 1030),),
        (3, 6, 0): (FlitPassage(0, 99, 99, 99, 99, 100),),
        (4, 5, 0): (FlitPassage(0, 7, 8, 9, 10, 11),),
    }
    assert type(found[3, 5, 0][0].routed) is int


def of_head(flit: FlitPassage, route_computation: int) -> list[tuple[str, int, int]]:
    return list(flits.stages(flit, None, route_computation))


def test_a_head_passes_the_stages_one_after_the_other() -> None:
    lone = FlitPassage(0, 10, 10, 11, 12, 13)
    assert of_head(lone, 1) == [("RC", 10, 11), ("VA", 11, 12), ("SA", 12, 13), ("ST", 13, 14)]
    held_up = FlitPassage(0, 10, 16, 20, 27, 31)
    assert of_head(held_up, 3) == [
        ("buffered", 10, 14),
        ("RC", 14, 17),
        ("VA", 17, 21),
        ("SA", 21, 28),
        ("ST", 28, 32),
    ]


def test_with_lookahead_a_head_has_no_route_computation() -> None:
    assert of_head(FlitPassage(0, 10, 10, 11, 12, 13), 0) == [("VA", 10, 12), ("SA", 12, 13), ("ST", 13, 14)]
    behind_another = FlitPassage(0, 10, 15, 15, 16, 17)
    assert of_head(behind_another, 0) == [
        ("buffered", 10, 15),
        ("VA", 15, 16),
        ("SA", 16, 17),
        ("ST", 17, 18),
    ]


def test_stages_that_end_in_the_same_cycle_share_it() -> None:
    speculative = FlitPassage(0, 10, 10, 10, 10, 11)
    assert of_head(speculative, 0) == [("VA", 10, 11), ("SA", 10, 11), ("ST", 11, 12)]
    two_steps_a_cycle = FlitPassage(0, 10, 11, 11, 12, 12)
    assert of_head(two_steps_a_cycle, 2) == [("RC", 10, 12), ("VA", 11, 12), ("SA", 12, 13)]


def test_a_flit_behind_the_head_is_buffered_until_the_one_before_it_has_crossed() -> None:
    before = FlitPassage(1, 11, None, None, 15, 16)
    behind = FlitPassage(2, 12, None, None, 18, 19)
    assert list(flits.stages(behind, before, 1)) == [("buffered", 12, 16), ("SA", 16, 19), ("ST", 19, 20)]
    late = FlitPassage(2, 17, None, None, 18, 19)
    assert list(flits.stages(late, before, 1)) == [("SA", 17, 19), ("ST", 19, 20)]
    next_step = FlitPassage(2, 12, None, None, 15, 17)
    assert list(flits.stages(next_step, before, 1)) == [("buffered", 12, 15), ("SA", 15, 16), ("ST", 16, 18)]


def test_flits_are_told_line_by_line() -> None:
    passed = flits.by_router(pa.Table.from_pylist(ROWS))[3, 5, 0]
    assert flits.lines(passed) == [
        "flit  arrives     RC     VA     SA  leaves",
        "   0    1,012  1,013  1,014  1,015   1,016",
        "   1    1,013                1,016   1,017",
    ]
    assert flits.lines(()) == []
