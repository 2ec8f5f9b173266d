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


def test_flits_are_told_line_by_line() -> None:
    passed = flits.by_router(pa.Table.from_pylist(ROWS))[3, 5, 0]
    assert flits.lines(passed) == [
        "flit  arrives     RC     VA     SA  leaves",
        "   0    1,012  1,013  1,014  1,015   1,016",
        "   1    1,013                1,016   1,017",
    ]
    assert flits.lines(()) == []
