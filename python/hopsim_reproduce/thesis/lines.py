"""Figures of the thesis: their panels from networks, traffic and systems, and their entries."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from hopsim_reproduce.figure import Claim, Figure, Number
from hopsim_reproduce.model import Entry, Scale, slug
from hopsim_reproduce.panels import ACCEPTED, LATENCY, Case, Line, Panel
from hopsim_reproduce.thesis.network import Network
from hopsim_reproduce.thesis.study import THESIS
from hopsim_reproduce.thesis.system import System
from hopsim_reproduce.thesis.traffic import Traffic

UNIFORM_LOADS: Mapping[Scale, Sequence[float]] = {
    "quick": (0.3, 0.7, 0.8, 1.0),
    "full": tuple(step / 20 for step in range(1, 21)),
}
ADVERSARIAL_LOADS: Mapping[Scale, Sequence[float]] = {
    "quick": (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6),
    "full": (0.01, *(step / 20 for step in range(1, 13))),
}
"""Offered loads of the curves [phits/(node·cycle)]. The quick ones are those of which statements speak, and
some about saturation, where peaks are."""


def case(network: Network, traffic: Traffic, system: System, load: float, *more: str) -> Case:
    """One point; `more` names what tells its experiment apart beside traffic and system."""
    return Case(
        experiment=slug(traffic.title, system.name, *more),
        document=system.document(network, traffic),
        value=load,
        may_deadlock=system.buffers.reserve is not None and not all(system.buffers.reserve),
    )


def over_load(
    network: Network,
    traffic: Traffic,
    systems: Iterable[System],
    loads: Sequence[float],
    title: str = "",
) -> Panel:
    """A line over the offered load for each system; `title` tells panels of the same traffic apart."""
    more = (title,) if title else ()
    lines: dict[str, Line] = {
        system.name: {load: case(network, traffic, system, load, *more) for load in loads}
        for system in systems
    }
    return Panel(title or traffic.title, lines)


def figure(
    label: str,
    title: str,
    panels: Callable[[Scale], Sequence[Panel]],
    notes: Callable[[Scale], Sequence[str]],
    claims: Sequence[Claim],
    numbers: Sequence[Number] = (),
    *,
    seeds: Mapping[Scale, int] = THESIS.curves_seeds,
    quantities: Sequence[str] = (LATENCY, ACCEPTED),
) -> Entry:
    """The entry of a figure of curves."""
    return Figure(
        name=THESIS.entry_name("figure", label),
        title=title,
        source=THESIS.place("figure", label),
        panels=panels,
        notes=notes,
        seeds=seeds,
        claims=claims,
        numbers=numbers,
        quantities=quantities,
        trimmed=True,
    ).entry()
