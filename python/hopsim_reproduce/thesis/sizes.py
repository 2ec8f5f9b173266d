"""Throughput and fairness under ADVc at 0.4 by the size of the network: figures 3.10 and 3.13 of the thesis.

Figure 13 of the journal version is made by `size_figure` too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial

from hopsim_reproduce.claims import at_end, at_start, between, ratio
from hopsim_reproduce.figure import Claim, Figure
from hopsim_reproduce.model import Entry, Scale
from hopsim_reproduce.panels import ACCEPTED, COV, RATIO, Line, Panel
from hopsim_reproduce.thesis import behaviour, fairness
from hopsim_reproduce.thesis.fairness import AT_SOURCE, IN_TRANSIT, OBLIVIOUS
from hopsim_reproduce.thesis.lines import case
from hopsim_reproduce.thesis.study import THESIS, Study
from hopsim_reproduce.thesis.system import AGE, ROUND_ROBIN, Arbitration
from hopsim_reproduce.thesis.traffic import advc

LOAD = 0.4
STEADY = (*OBLIVIOUS, *IN_TRANSIT)
"""Mechanisms that the size should not matter to."""


def _panel(study: Study, arbitration: Arbitration, scale: Scale) -> Panel:
    found = fairness.systems(arbitration, injection=study.injection)
    systems = {name: system for name, system in found.items() if name != "MIN"}
    lines: dict[str, Line] = {
        name: {
            network.nodes: case(network, advc(), system, LOAD, arbitration.title, f"h{network.h}")
            for network in study.sizes[scale]
        }
        for name, system in systems.items()
    }
    return Panel(arbitration.title, lines, "nodes")


def _panels(study: Study, arbitrations: Sequence[Arbitration], scale: Scale) -> list[Panel]:
    return [_panel(study, arbitration, scale) for arbitration in arbitrations]


def _notes(study: Study, arbitrations: Sequence[Arbitration], scale: Scale) -> list[str]:
    networks = study.sizes[scale]
    sizes = ", ".join(f"{network.nodes:,}" for network in networks)
    lengths = f"{networks[0].warmup:,} + {networks[0].cycles:,} cycles"
    return [
        f"Dragonflies of {sizes} nodes (p = h, a = 2h), {lengths}.",
        *study.settings,
        f"Arbitration: {'; '.join(each.title for each in arbitrations)}.",
        *behaviour.PUBLISHED.notes,
    ]


def _over_sizes(
    arbitration: Arbitration, line: str, statement: str, key: str, limits: tuple[float | None, float | None]
) -> Claim:
    """The largest network against the smallest."""
    panel = arbitration.title
    text = f"{line}, {panel}: {statement}"
    return ratio(text, at_end(panel, line, key), at_start(panel, line, key), *limits)


def similar_throughput(arbitration: Arbitration) -> list[Claim]:
    """Of oblivious and in-transit routing."""
    statement = "throughput remains similar with size"
    return [_over_sizes(arbitration, name, statement, ACCEPTED, (0.92, 1.08)) for name in STEADY]


def less_throughput_at_source(arbitration: Arbitration) -> list[Claim]:
    """Of source-adaptive routing."""
    statement = "throughput decreases slightly with size"
    return [_over_sizes(arbitration, name, statement, ACCEPTED, (None, 1.0)) for name in AT_SOURCE]


def same_unfairness(arbitration: Arbitration) -> list[Claim]:
    """Of oblivious and in-transit routing."""
    return [
        _over_sizes(arbitration, name, "unfairness remains with size", RATIO, (0.7, 1.4)) for name in STEADY
    ]


def more_unfairness(arbitration: Arbitration, names: Iterable[str]) -> list[Claim]:
    """Of source-adaptive routing."""
    return [
        _over_sizes(arbitration, name, "unfairness grows with size", RATIO, (1.0, None)) for name in names
    ]


def fair_in_transit(arbitration: Arbitration) -> list[Claim]:
    """Whatever the size."""
    panel = arbitration.title
    return [
        between(f"{name}, {panel}: fair at any size", at_end(panel, name, RATIO), None, 1.2)
        for name in IN_TRANSIT
    ]


def size_figure(
    study: Study, label: str, arbitrations: Sequence[Arbitration], claims: Sequence[Claim]
) -> Entry:
    """The entry of a figure with a panel for each arbitration."""
    titles = " and ".join(arbitration.title for arbitration in arbitrations)
    return Figure(
        name=study.entry_name("figure", label),
        title=f"Throughput and fairness under ADVc at {LOAD} by network size, {titles}",
        source=study.place("figure", label),
        panels=partial(_panels, study, arbitrations),
        notes=partial(_notes, study, arbitrations),
        seeds=study.sizes_seeds,
        claims=claims,
        quantities=(ACCEPTED, RATIO, COV),
    ).entry()


def entries() -> list[Entry]:
    """Both figures of the thesis."""
    without_priority = (
        *similar_throughput(ROUND_ROBIN),
        *less_throughput_at_source(ROUND_ROBIN),
        *same_unfairness(ROUND_ROBIN),
        *more_unfairness(ROUND_ROBIN, ["Src-CRG"]),
    )
    by_age = (*similar_throughput(AGE), *fair_in_transit(AGE), *more_unfairness(AGE, ["Src-CRG"]))
    return [
        size_figure(THESIS, "3.10", [ROUND_ROBIN], without_priority),
        size_figure(THESIS, "3.13", [AGE], by_age),
    ]
