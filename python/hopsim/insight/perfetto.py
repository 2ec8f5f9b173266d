"""Lives of packets as a trace in the Trace Event Format, which ui.perfetto.dev and chrome://tracing show.

The format: https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU. A node is a
process there and a packet a thread, and so is each of its flits that is known. A cycle is a microsecond, the
unit of time of the format.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
from collections.abc import Generator, Iterator, Sequence
from pathlib import Path
from typing import Any

from hopsim.errors import ConfigError
from hopsim.files.atomic import probe_file, write_text
from hopsim.insight import flits
from hopsim.insight.causes import CAUSES
from hopsim.insight.flits import FlitPassage
from hopsim.insight.packets import Packet, Passage
from hopsim.kinds import is_sequence

MOST_TRACKS = 20_000
"""More make a file of hundreds of megabytes, which the viewers open with difficulty or not at all."""

Event = dict[str, Any]


def write_perfetto(packets: Sequence[Packet], path: str | os.PathLike[str]) -> Path:
    """Write packets as a trace for ui.perfetto.dev; its path.

    A track per packet has what happened to it: at its node, in the routers with what it waited for, on
    links, and until its tail followed. Packets whose flits are known (`flits=True`) have a track per flit
    below it, with the stages of each router and the links. A cycle is shown as a microsecond.

    Raises:
        ConfigError: they are no packets, or with their flits too many, or the file cannot be written.
    """
    # A caller may check no types.
    if not is_sequence(packets) or not all(isinstance(packet, Packet) for packet in packets):
        raise ConfigError(
            f"packets: is {type(packets).__name__}; valid: a list of packets, as of hopsim.trace_packets"
        )
    tracked = sum(_flits(packet) for packet in packets)
    if len(packets) + tracked > MOST_TRACKS:
        both = f" and {tracked} flits" if tracked else ""
        raise ConfigError(
            f"{path}: a trace of {len(packets)} packets{both} is more than viewers open; "
            f"valid: {MOST_TRACKS} at most, such as every so many-th of each node"
        )
    target = Path(path)
    with _told(target):
        write_text(target, json.dumps(trace(packets), separators=(",", ":")))
    return target


def refuse_unwritable(path: Path) -> None:
    """Raises `ConfigError` if no trace can be written there."""
    with _told(path):
        probe_file(path)


@contextlib.contextmanager
def _told(path: Path) -> Generator[None]:
    """What goes wrong with a file, told to who named it."""
    try:
        yield
    except OSError as error:
        raise ConfigError(f"{path}: cannot write: {error.strerror}; choose a writable path") from None


def trace(packets: Sequence[Packet]) -> dict[str, Any]:
    """The same as a dictionary, to be written as JSON."""
    events: list[Event] = []
    for source in dict.fromkeys(packet.source for packet in packets):
        events.append(_name("process_name", _process(source), 0, f"node {source}"))
    threads = itertools.count(1)
    for packet in packets:
        thread = next(threads)
        name = f"packet {packet.serial} to node {packet.destination}"
        events.append(_name("thread_name", _process(packet.source), thread, name))
        events.extend(_events(packet, thread))
        for flit in range(_flits(packet)):
            thread = next(threads)
            name = f"packet {packet.serial}, flit {flit}"
            events.append(_name("thread_name", _process(packet.source), thread, name))
            events.extend(_flit_events(packet, flit, thread))
    return {
        "traceEvents": events,
        "displayTimeUnit": "ms",
        "otherData": {"simulator": "hopsim", "time": "a cycle is shown as 1 us"},
    }


def _process(source: int) -> int:
    """Viewers take process 0 for the idle one."""
    return source + 1


def _name(kind: str, process: int, thread: int, name: str) -> Event:
    return {"name": kind, "ph": "M", "ts": 0, "pid": process, "tid": thread, "args": {"name": name}}


def _events(packet: Packet, thread: int) -> Iterator[Event]:
    """The slices of a packet, each before those inside it."""
    place = {"pid": _process(packet.source), "tid": thread}
    last = packet.passages[-1]
    end = last.departed if packet.delivered is None else packet.delivered
    facts = {"job": packet.job, "length": packet.length, "source": packet.source, "serial": packet.serial}
    parts = packet.parts()
    title = f"packet {packet.serial}: node {packet.source} to node {packet.destination}"
    yield _slice(title, "packet", (packet.generated, end), place, {**facts, **parts})
    yield from _slices("at its node", "node", (packet.generated, packet.passages[0].arrived), place)
    for passage, after in zip(packet.passages, [*packet.passages[1:], None], strict=True):
        yield from _router(passage, place)
        if after is not None:
            name = f"{passage.port_class} link to {passage.target}"
            yield from _slices(name, "link", (passage.departed, after.arrived), place)
    if packet.delivered is not None:
        name = f"tail to node {packet.destination}"
        yield from _slices(name, "node", (last.departed, packet.delivered), place)


def _router(passage: Passage, place: Event) -> Iterator[Event]:
    """The time in a router, and inside it what it went to, one behind the other."""
    facts = {name: getattr(passage, name) for name in ("input_port", "input_vc", "port", "vc", "misrouted")}
    yield from _slices(
        f"router {passage.router}", "router", (passage.arrived, passage.departed), place, facts
    )
    at = passage.arrived
    waited = [(f"waits {name}", "waiting", passage.waited[cause]) for cause, name in CAUSES.items()]
    moving = [
        ("crosses", "moving", passage.crossing),
        ("output queue", "waiting", passage.at_output),
    ]
    for name, kind, cycles in [("pipeline", "moving", passage.pipeline), *waited, *moving]:
        yield from _slices(name, kind, (at, at + cycles), place)
        at += cycles


def _flits(packet: Packet) -> int:
    """The flits of a packet that are known to have crossed a router."""
    return len(packet.passages[0].flits)


def _flit_events(packet: Packet, number: int, thread: int) -> Iterator[Event]:
    """The slices of a flit: the routers that it has crossed with their stages, and the links between them."""
    place = {"pid": _process(packet.source), "tid": thread}
    passed = [passage for passage in packet.passages if number < len(passage.flits)]
    for passage, after in zip(passed, [*passed[1:], None], strict=True):
        flit = passage.flits[number]
        yield from _flit_router(passage, number, place)
        arrives = _at_node(packet, flit) if after is None else after.flits[number].arrived
        if arrives is not None:
            target = passage.target if after is not None else f"node {packet.destination}"
            name = f"{passage.port_class} link to {target}"
            facts = {"departed": flit.departed, "arrives": arrives}
            yield from _slices(name, "link", (flit.departed + 1, arrives), place, facts)


def _at_node(packet: Packet, flit: FlitPassage) -> int | None:
    """When a flit that has departed from its last router is at its node: it takes as long as the tail."""
    if packet.delivered is None:
        return None
    return flit.departed + packet.delivered - packet.passages[-1].flits[-1].departed


def _flit_router(passage: Passage, number: int, place: Event) -> Iterator[Event]:
    """The cycles of a flit in a router, up to that in which it departs, and inside them its stages."""
    flit = passage.flits[number]
    known = {name: getattr(flit, name) for name in flits.STAGES}
    facts = {name: cycle for name, cycle in known.items() if cycle is not None}
    span = (flit.arrived, flit.departed + 1)
    yield _slice(f"router {passage.router}", "router", span, place, facts)
    before = passage.flits[number - 1] if number else None
    for name, first, end in flits.stages(flit, before, passage.route_computation):
        yield _slice(name, "waiting" if name == "buffered" else "stage", (first, end), place, {})


def _slices(
    name: str, kind: str, span: tuple[int, int], place: Event, facts: Event | None = None
) -> Iterator[Event]:
    """A slice, unless it takes no time."""
    if span[1] > span[0]:
        yield _slice(name, kind, span, place, facts or {})


def _slice(name: str, kind: str, span: tuple[int, int], place: Event, facts: Event) -> Event:
    first, end = span
    return {"name": name, "cat": kind, "ph": "X", "ts": first, "dur": end - first, **place, "args": facts}
