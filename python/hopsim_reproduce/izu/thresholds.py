"""§4.1: what SAT's threshold l is worth, under full load and to bursts that all nodes begin together.

Such bursts are the simplest picture of an application, which the statements on figure 11 are about; the
figure itself is made in `application_thresholds`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hopsim_reproduce.claims import at_place, number, ratio
from hopsim_reproduce.figure import Claim, Figure, Number
from hopsim_reproduce.izu.system import (
    ADAPTIVE,
    FULL_LOAD,
    IZU,
    LENGTHS,
    MESH,
    NODES,
    OPEN,
    PACKET_LENGTH,
    SEEDS,
    TORUS,
    Network,
    notes,
    sat,
)
from hopsim_reproduce.model import Document, Entry, Scale, slug
from hopsim_reproduce.panels import ACCEPTED, BURST, Case, Line, Panel

THRESHOLDS: Mapping[Scale, Sequence[int]] = {
    "quick": (1, 2, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96),
    "full": (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 20, 24, 28, 32, 40, 48, 56, 64, 80, 96),
}
SUPPORTED = (2, 4, 6, 8)
"""Thresholds up to which the signal is what limits a load of 1."""
BURST_LENGTH = 200
"""Packets of a node between two barriers: some rounds of the signal."""
BURSTY: Document = {"synchronised_bursts": {"packets": BURST_LENGTH}}
UNIFORM, NEIGHBOUR = "mesh, uniform", "torus, neighbour"
CASES: Mapping[str, tuple[Network, Any]] = {
    UNIFORM: (MESH, "uniform"),
    NEIGHBOUR: (TORUS, {"permutation": "neighbour"}),
}
"""Line -> network and pattern: with and without congestion."""
STEADY, BURSTS = "full load", f"bursts of {BURST_LENGTH} packets"


def _line(name: str, process: Document, scale: Scale) -> Line:
    network, pattern = CASES[name]
    traffic = {"pattern": pattern, **({"process": process} if process else {})}
    return {
        least: Case(
            slug(name, *process, str(least)),
            network.document(ADAPTIVE, sat(least, least), traffic, LENGTHS[scale]),
            None if process else FULL_LOAD,
        )
        for least in THRESHOLDS[scale]
    }


def _panels(scale: Scale) -> list[Panel]:
    return [
        Panel(title, {name: _line(name, process, scale) for name in CASES}, "l = k [packets]")
        for title, process in ((STEADY, {}), (BURSTS, BURSTY))
    ]


def _numbers() -> Iterator[Number]:
    """Without congestion a round takes a link and a look at each node: A = l L / (H + N)."""
    for least in SUPPORTED:
        value = at_place(STEADY, NEIGHBOUR, least, ACCEPTED)
        load = least * PACKET_LENGTH / (2 * NODES)
        yield number(f"l = {least}", "load without congestion, l L / (H + N)", value, load)


def _claims() -> Iterator[Claim]:
    for name in CASES:
        times = {least: at_place(BURSTS, name, least, BURST) for least in (4, 6, 12, 16, 24, 32, 64)}
        for least in (4, 6):
            statement = f"{name}: l = {least}, below 8, takes longer than 12"
            yield ratio(statement, times[least], times[12], 1.02)
        statement = f"{name}: from l = 12 to 24 the time is relatively flat"
        yield ratio(statement, times[24], times[12], 0.97, 1.03)
        for least in (32, 64):
            statement = f"{name}: from about 32 on the time grows with l: {least}"
            yield ratio(statement, times[least], times[16], 1.02)
    yield ratio(
        f"{UNIFORM}: a large l means longer bursts and waits, and costs throughput",
        at_place(STEADY, UNIFORM, 64, ACCEPTED),
        at_place(STEADY, UNIFORM, 12, ACCEPTED),
        None,
        0.99,
    )


def _notes(scale: Scale) -> list[str]:
    return [
        *notes(scale, LENGTHS[scale]),
        OPEN,
        "l = k, adaptive routing. Neighbour: every node of a torus sends to the next one in both dimensions, "
        "without congestion.",
        f"Bursts: all nodes send {BURST_LENGTH} packets, the next ones when the last packet has arrived. The "
        "statements on them are the paper's on applications (izu-figure-11).",
    ]


def entries() -> list[Entry]:
    """The figure."""
    return [
        Figure(
            name="izu-section-4.1",
            title="Throughput and time of bursts by SAT's threshold l = k, 64 nodes",
            source=f"{IZU}, §4.1",
            panels=_panels,
            notes=_notes,
            seeds=SEEDS,
            claims=tuple(_claims()),
            trimmed=True,
            numbers=tuple(_numbers()),
            quantities=(ACCEPTED, BURST),
        ).entry()
    ]
