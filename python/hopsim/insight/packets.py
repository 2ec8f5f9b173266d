"""Packets one by one: which routers they passed, and what they waited for in each.

All of it is read from the stream `packet_hops`, and of their flits from `flit_hops`; `docs/model.md`,
Measurement, says what they hold.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from hopsim.errors import ConfigError
from hopsim.insight import flits
from hopsim.insight.causes import CAUSES
from hopsim.insight.flits import FlitPassage
from hopsim.spelling import Spelling, of_python

if TYPE_CHECKING:
    from hopsim.results.result import Result

NAMED = 8
"""Numbers of packets that a message names."""


@dataclass(frozen=True)
class Passage:
    """A router that a packet passed; all times are in cycles.

    Attributes:
        router: its number.
        input_port: the port by which the packet entered.
        input_vc: the VC of that port in whose buffer it waited.
        port: the output port by which it left.
        port_class: class of the link there: terminal (to a node), local, global, network or rail.
        vc: the VC that it was granted.
        peer_router: the router at the other end of that link; None for a node.
        arrived: when its head arrived in the input buffer.
        granted: when it was granted the output.
        departed: when its head leaves the router.
        waited: cause -> cycles that it waited, in the order in which it did.
        pipeline: from the arrival until it could have been granted something at the earliest; with
            speculation or several steps a cycle less than the delays of a virtual-channel router.
        crossing: from the grant to where it queues at the output.
        misrouted: whether it has left its minimal path, with this hop or before.
        route_computation: cycles that the steps of the route computation in a virtual-channel router take at
            least; 0 with lookahead, and in other routers.
        flits: its flits there, if these are asked for.
    """

    router: int
    input_port: int
    input_vc: int
    port: int
    port_class: str
    vc: int
    peer_router: int | None
    arrived: int
    granted: int
    departed: int
    waited: Mapping[str, int]
    pipeline: int
    crossing: int
    misrouted: bool
    route_computation: int = 0
    flits: tuple[FlitPassage, ...] = ()

    @property
    def at_output(self) -> int:
        """Time in the output queue, behind packets that leave by the same link."""
        return self.departed - self.granted - self.crossing

    @property
    def target(self) -> str:
        """Where the link leads."""
        return "its node" if self.peer_router is None else f"router {self.peer_router}"

    def reasons(self) -> dict[str, int]:
        """What it waited for there, in words, with the cycles: only what took any."""
        names = {**CAUSES, "room": f"for room in the buffer of {self.target}"}
        told = {name: self.waited[cause] for cause, name in names.items()}
        told["in the output queue"] = self.at_output
        return {name: cycles for name, cycles in told.items() if cycles}


@dataclass(frozen=True)
class Packet:
    """The life of a packet; all times are in cycles.

    Attributes:
        source: the node that generated it.
        serial: its number among the packets of that node, from 0.
        destination: the node that it is for.
        job: name of its job.
        length: its length [phits].
        generated: when it was generated.
        delivered: when its tail is at its node; None if it was still inside at the end of the run.
        passages: the routers that it passed, that of its source first.
    """

    source: int
    serial: int
    destination: int
    job: str
    length: int
    generated: int
    delivered: int | None
    passages: tuple[Passage, ...]

    @property
    def latency(self) -> int | None:
        """From its generation to the delivery of its tail; None if it was not delivered."""
        return None if self.delivered is None else self.delivered - self.generated

    def parts(self) -> dict[str, int]:
        """What its time went to, in words, with the cycles; of a delivered packet the sum is its latency."""
        passages = self.passages
        waited = {
            f"waiting {name}": sum(passage.waited[cause] for passage in passages)
            for cause, name in CAUSES.items()
        }
        links = sum(two.arrived - one.departed for one, two in pairwise(passages))
        told = {
            "at its node": passages[0].arrived - self.generated,
            **waited,
            "in output queues": sum(passage.at_output for passage in passages),
            "crossing routers": sum(passage.pipeline + passage.crossing for passage in passages),
            "on links": links,
            "until its tail followed its head": 0 if self.delivered is None else self.length,
            "on the link to its node": self._late,
        }
        return {name: cycles for name, cycles in told.items() if cycles}

    @property
    def _late(self) -> int:
        """What the link to its node took beyond a cycle."""
        if self.delivered is None:
            return 0
        return self.delivered - self.passages[-1].departed - self.length

    def lines(self) -> list[str]:
        """Lines of text: a line per router, and the sum."""
        end = "still inside at the end of the run"
        if self.delivered is not None:
            end = f"delivered in cycle {self.delivered:,}, {self.latency:,} cycles later"
        title = (
            f"Packet {self.serial} of node {self.source}, for node {self.destination}, {self.length} phits, "
            f"{self.job}: generated in cycle {self.generated:,}, {end}."
        )
        rows: list[tuple[str, ...]] = [("router", "arrives", "granted", "leaves", "")]
        strayed = False
        for passage in self.passages:
            times = (passage.arrived, passage.granted, passage.departed)
            told = _told(passage, detour=passage.misrouted and not strayed)
            rows.append((str(passage.router), *(f"{cycle:,}" for cycle in times), told))
            strayed = passage.misrouted
        widths = [max(len(row[column]) for row in rows) for column in range(4)]
        aligned = [
            "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=False)) + f"  {row[4]}"
            for row in rows
        ]
        told_of_flits = [[], *(flits.lines(passage.flits) for passage in self.passages)]
        indent = " " * (widths[0] + 4)
        whole = [
            line
            for row, of_flits in zip(aligned, told_of_flits, strict=True)
            for line in (f"  {row}".rstrip(), *(indent + each for each in of_flits))
        ]
        return [title, *whole, self._sum()]

    def _sum(self) -> str:
        parts = self.parts()
        told = " + ".join(f"{cycles:,} {name}" for name, cycles in parts.items())
        if self.delivered is not None:
            return f"In all {sum(parts.values()):,} cycles: {told}."
        last = self.passages[-1]
        return f"So far {told}; then it is on its way to {last.target} or waits there."


def _told(passage: Passage, *, detour: bool) -> str:
    """What happens to a packet in a router, in a line."""
    reasons = passage.reasons()
    total = sum(reasons.values())
    told = ", ".join(
        reason if len(reasons) == 1 else f"{cycles:,} {reason}" for reason, cycles in reasons.items()
    )
    if len(reasons) > 1:
        told = f": {told}"
    waited = f"waits {total:,} {'cycle' if total == 1 else 'cycles'}{'' if len(reasons) > 1 else ' '}{told}; "
    link = f"{passage.port_class} link" if passage.peer_router is not None else "link"
    text = f"by port {passage.port}, VC {passage.vc}, the {link} to {passage.target}"
    return (waited if total else "") + text + (", a detour" if detour else "")


@dataclass(frozen=True)
class Choice:
    """Which packets to look at; None of what any will do.

    Attributes:
        source: the node that sends them.
        destination: the node that they are for.
        serial: their number among the packets of their source.
        every: their number is a multiple of this.
        after: they were generated in this cycle or later.
        slowest: so many of the delivered ones with the greatest latency.
        spelled: what these are called in messages.
    """

    source: int | None = None
    destination: int | None = None
    serial: int | None = None
    every: int | None = None
    after: int | None = None
    slowest: int | None = None
    spelled: Spelling = of_python

    def __post_init__(self) -> None:
        for name, least in (("every", 1), ("slowest", 1), ("serial", 0), ("after", 0)):
            value = getattr(self, name)
            if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < least):
                given = self.spelled(name, repr(value))
                raise ConfigError(f"{given}: is not a whole number from {least} on; valid: {least} …")
        if self.source is not None and self.source == self.destination:
            given = self.spelled("destination", self.destination)
            raise ConfigError(
                f"{given}: is the source, and a node sends nothing to itself; valid: another node"
            )


def of(result: Result, choice: Choice, most: int | None = None, *, with_flits: bool = False) -> list[Packet]:
    """The chosen packets that a point recorded, in order of generation, or of slowness if that is asked for.

    Args:
        result: the point.
        choice: which of its packets.
        most: only so many of them, the first; None for all.
        with_flits: whether to tell of their flits, too.

    Raises:
        NotRecordedError: the stream `packet_hops` was not recorded, or with flits `flit_hops`.
        ConfigError: none of the packets is of the choice.
    """
    table = result.packet_hops
    starts = np.flatnonzero(_numbers(table, "hop") == 0)
    ends = np.append(starts[1:], table.num_rows)
    keys = {name: _numbers(table, name)[starts] for name in ("source", "destination", "serial", "generated")}
    chosen = np.ones(len(starts), bool)
    for name in ("source", "destination"):
        if (wanted := getattr(choice, name)) is not None:
            chosen &= keys[name] == wanted
    if choice.after is not None:
        chosen &= keys["generated"] >= choice.after
    if choice.every is not None:
        chosen &= keys["serial"] % choice.every == 0
    if not chosen.any():
        raise ConfigError(f"{_asked(choice)}: no such packet has entered the network; {_there(keys)}")
    if choice.serial is not None:
        numbered = chosen & (keys["serial"] == choice.serial)
        if not numbered.any():
            valid = choice.spelled("serial", _some(np.unique(keys["serial"][chosen])))
            raise ConfigError(f"{_asked(choice)}: no such packet has entered the network; valid: {valid}")
        chosen = numbered
    numbers = np.flatnonzero(chosen)
    if choice.slowest is not None:
        delivered = table.column("delivered").to_numpy().astype(float)[starts]
        latency = np.where(np.isnan(delivered), -1, delivered - keys["generated"])
        numbers = numbers[np.argsort(-latency[numbers], kind="stable")]
        numbers = numbers[latency[numbers] >= 0][: choice.slowest]
        if not len(numbers):
            raise ConfigError(f"{_asked(choice)}: none of these packets was delivered; valid: a longer run")
    delays = _delays(result.config["router"])
    none: Mapping[flits.Place, tuple[FlitPassage, ...]] = {}
    passed = flits.by_router(result.flit_hops) if with_flits else none
    return [
        _packet(table.slice(int(starts[number]), int(ends[number] - starts[number])), delays, passed)
        for number in numbers[:most]
    ]


def _delays(router: Mapping[str, Mapping[str, Any]]) -> tuple[int, int]:
    """Cycles of the route computation, and those that a head takes through the crossbar."""
    ((kind, parts),) = router.items()
    if kind == "virtual_channel":
        return ceil(parts["routing_delay"] / parts["speedup"]), parts["switch_traversal_delay"]
    return 0, int(parts.get("crossbar_latency", 0))


def _packet(
    rows: pa.Table, delays: tuple[int, int], of_flits: Mapping[flits.Place, tuple[FlitPassage, ...]]
) -> Packet:
    passed = rows.to_pylist()
    first, (route_computation, crossing) = passed[0], delays
    passages = tuple(
        Passage(
            **{name: row[name] for name in ("router", "input_port", "input_vc", "port", "port_class", "vc")},
            peer_router=row["peer_router"],
            **{name: row[name] for name in ("arrived", "granted", "departed")},
            waited={cause: row[cause] for cause in CAUSES},
            # What was not waited for. Where a router is faster than its links, a head may cross in no cycle.
            pipeline=row["granted"] - row["arrived"] - sum(row[cause] for cause in CAUSES),
            crossing=min(crossing, row["departed"] - row["granted"]),
            misrouted=bool(row["misrouted"]),
            route_computation=route_computation,
            flits=of_flits.get((row["source"], row["serial"], row["hop"]), ()),
        )
        for row in passed
    )
    delivered = first["delivered"]
    names = ("source", "serial", "destination", "job", "length", "generated")
    return Packet(
        **{name: first[name] for name in names},
        delivered=None if delivered is None or np.isnan(delivered) else int(delivered),
        passages=passages,
    )


def _numbers(table: pa.Table, name: str) -> np.ndarray[Any, np.dtype[np.int64]]:
    return table.column(name).to_numpy().astype(np.int64)


def _asked(choice: Choice) -> str:
    """The choice, as given."""
    names = ("source", "destination", "serial", "every", "after")
    given = {name: getattr(choice, name) for name in names}
    told = (choice.spelled(name, value) for name, value in given.items() if value is not None)
    return ", ".join(told) or "packets"


def _there(keys: Mapping[str, np.ndarray[Any, np.dtype[np.int64]]]) -> str:
    """Which packets were recorded."""
    if not len(keys["source"]):
        return "none was recorded; valid: another choice, or a longer run"
    generated = keys["generated"]
    parts = [f"{name} {_some(np.unique(keys[name]))}" for name in ("source", "destination")]
    return f"recorded: {'; '.join(parts)}; generated in cycles {generated.min()} … {generated.max()}"


def _some(numbers: Sequence[int] | np.ndarray[Any, np.dtype[np.int64]]) -> str:
    """Ascending numbers, shortened."""
    first, last = int(numbers[0]), int(numbers[-1])
    if len(numbers) > 2 and last - first == len(numbers) - 1:
        return f"{first} … {last}"
    listed = ", ".join(str(number) for number in numbers[:NAMED])
    return listed if len(numbers) <= NAMED else f"{listed}, … {last}"
