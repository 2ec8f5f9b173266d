"""What the figures of chapter 5 share: FlexVC against increasing VCs and DAMQ buffers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from hopsim_reproduce.model import Scale
from hopsim_reproduce.panels import Panel
from hopsim_reproduce.thesis.lines import ADVERSARIAL_LOADS, UNIFORM_LOADS, over_load
from hopsim_reproduce.thesis.network import CURVES, notes
from hopsim_reproduce.thesis.routing import oblivious
from hopsim_reproduce.thesis.system import Channels, System, flexvc
from hopsim_reproduce.thesis.traffic import ADV1, BURSTY_UN, UN, Traffic

Split = tuple[int, int, int, int]
"""Local and global VCs for requests, then for replies alone."""
VALIANT = oblivious("rrg", recompute=True)
UNIFORM = (UN, BURSTY_UN)
PATTERNS = (*UNIFORM, ADV1)
FLEXVC_NOTE = (
    "FlexVC by its definition in the text: the highest VC of a hop leaves a safe path. The simulator of the "
    "thesis had a table that differs in the source group."
)
RECOMPUTE_NOTE = (
    "VAL and PB draw the intermediate router anew at every attempt while a packet waits to be injected."
)


def explanation(*more: str) -> Callable[[Scale], Sequence[str]]:
    """The notes of an entry of the chapter; `more` are its own."""
    return lambda scale: [*notes(scale, CURVES[scale]), *more]


ADVERSARIAL: Mapping[Scale, Sequence[float]] = {
    "quick": (0.2, 0.4, 0.5, 0.6),
    "full": ADVERSARIAL_LOADS["full"],
}
"""Offered loads under ADV+1."""


def loads(traffic: Traffic, scale: Scale) -> Sequence[float]:
    """Offered loads of the curves under a pattern."""
    return ADVERSARIAL[scale] if traffic.title == ADV1.title else UNIFORM_LOADS[scale]


def split_name(split: Split) -> str:
    """As the figures write it: `2/1+2/1`."""
    return "{}/{}+{}/{}".format(*split)


def splitting(split: Split, selection: str = "shortest") -> Channels:
    """FlexVC with VCs for requests and for replies alone."""
    return flexvc(split[0], split[1], (split[2], split[3]), selection)


def panel(traffic: Traffic, systems: Iterable[System], scale: Scale) -> Panel:
    """Systems under a pattern, or under requests of that pattern."""
    return over_load(CURVES[scale], traffic, systems, loads(traffic, scale))
