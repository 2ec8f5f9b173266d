"""Flits one by one: when each passed the stages of a virtual-channel router.

All of it is read from the stream `flit_hops`; `docs/model.md`, Measurement, says what it holds.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import pyarrow as pa

STAGES = {
    "arrived": "arrives",
    "routed": "RC",
    "vc_allocated": "VA",
    "granted": "SA",
    "departed": "leaves",
}
"""Columns of the stream, with what they are called on the screen."""


@dataclass(frozen=True)
class FlitPassage:
    """What became of a flit in a router; all times are in cycles.

    Attributes:
        flit: its number in its packet, from 0, the head.
        arrived: when it arrived in the input buffer.
        routed: last cycle of the route computation; None but for heads.
        vc_allocated: last cycle of the VC allocation; None but for heads.
        granted: when it was granted the switch.
        departed: when it leaves the router.
    """

    flit: int
    arrived: int
    routed: int | None
    vc_allocated: int | None
    granted: int
    departed: int


class Stage(NamedTuple):
    """Cycles that a flit spent in a stage of a router, or waiting for it.

    Attributes:
        name: the stage.
        first: its first cycle.
        end: the cycle after its last one.
    """

    name: str
    first: int
    end: int


Place = tuple[int, int, int]
"""Source and number of a packet, and the number of a router on its way."""


def by_router(table: pa.Table) -> Mapping[Place, tuple[FlitPassage, ...]]:
    """The flits of the stream `flit_hops`, router by router, in the order in which they passed it."""
    found: dict[Place, list[FlitPassage]] = defaultdict(list)
    for row in table.to_pylist():
        routed, vc_allocated = _cycle(row["routed"]), _cycle(row["vc_allocated"])
        flit = FlitPassage(row["flit"], row["arrived"], routed, vc_allocated, row["granted"], row["departed"])
        found[row["source"], row["serial"], row["hop"]].append(flit)
    return {place: tuple(flits) for place, flits in found.items()}


def stages(flit: FlitPassage, before: FlitPassage | None, route_computation: int) -> Iterator[Stage]:
    """What a flit did in a router from the cycle of its arrival to that of its departure.

    A stage begins when the one before it has ended, and so includes the cycles in which the flit waited for
    what the stage grants. A stage that ends in the same cycle as the one before it, as with speculation, has
    that cycle.

    Args:
        flit: the flit.
        before: the flit before it in its packet, in the same router; None for a head.
        route_computation: cycles of the route computation; 0 with lookahead.
    """
    passed: list[tuple[str, int]] = []
    ready = _ready(flit, before, route_computation)
    if ready > flit.arrived:
        passed.append(("buffered", ready - 1))
    if flit.routed is not None and route_computation:
        passed.append(("RC", flit.routed))
    if flit.vc_allocated is not None:
        passed.append(("VA", flit.vc_allocated))
    passed.append(("SA", flit.granted))
    if flit.departed > flit.granted:
        passed.append(("ST", flit.departed))
    begin = flit.arrived
    for name, last in passed:
        yield Stage(name, min(begin, last), last + 1)
        begin = last + 1


def _ready(flit: FlitPassage, before: FlitPassage | None, route_computation: int) -> int:
    """The first cycle in which no flit before it in its input VC keeps it from its first stage."""
    if flit.routed is not None:
        return flit.routed - max(route_computation - 1, 0)
    return flit.arrived if before is None else min(before.granted + 1, flit.granted)


def lines(flits: tuple[FlitPassage, ...]) -> list[str]:
    """A line of text per flit, below the names of the stages; none without flits."""
    if not flits:
        return []
    rows = [("flit", *STAGES.values())]
    for flit in flits:
        cycles = (getattr(flit, stage) for stage in STAGES)
        rows.append((str(flit.flit), *("" if cycle is None else f"{cycle:,}" for cycle in cycles)))
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return ["  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]


def _cycle(value: Any) -> int | None:
    """A cycle of the table, in which nothing may be a number that is none."""
    return None if value is None or value != value else int(value)
