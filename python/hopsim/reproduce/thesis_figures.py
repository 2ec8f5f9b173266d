"""Figures 3.5, 3.9 and 3.12 of the thesis: load injected per router of group 0 under ADVc at 0.4.

The thesis prints no numbers for these figures. Its statements on the mechanisms we have are checked
instead: oblivious routing lets every router of the group inject a similar load, and the routers
between the first (which receives the group's traffic) and the last (which sends it) are alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from hopsim.reproduce import thesis
from hopsim.reproduce.model import Entry, Experiment, Fact, Outcome, Results, Scale
from hopsim.reproduce.thesis import MECHANISMS, NETWORKS, SEEDS, Arbitration
from hopsim.results import Result

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LOAD = 0.4
GROUP = 0
SIMILAR = 1.1
"""Largest over smallest load of routers that inject `a similar amount`."""


def figure(number: str, arbitration: Arbitration) -> Entry:
    """The entry of one figure."""
    return Entry(
        name=f"thesis-figure-{number}",
        title=f"Injected load per router of group {GROUP} under ADVc at {LOAD}, {arbitration.title}",
        source=f"{thesis.THESIS}, figure {number}",
        notes={scale: thesis.notes(scale, arbitration) for scale in NETWORKS},
        seeds=SEEDS,
        experiments=partial(_experiments, arbitration),
        conclude=_conclude,
        draw=partial(_draw, number, arbitration),
    )


def _experiments(arbitration: Arbitration, scale: Scale, seeds: int) -> list[Experiment]:
    loads = {mechanism.name: [LOAD] for mechanism in MECHANISMS}
    return thesis.experiments(scale, seeds, arbitration, loads, ["routers"])


def profile(results: Sequence[Result]) -> list[float]:
    """Mean injected load of each router of the group, over the seeds."""
    runs = []
    for result in results:
        columns = result.routers.select(["group", "injection_load"]).to_pydict()
        pairs = zip(columns["group"], columns["injection_load"], strict=True)
        runs.append([load for group, load in pairs if group == GROUP])
    return [sum(loads) / len(loads) for loads in zip(*runs, strict=True)]


def _profiles(results: Results) -> dict[str, list[float]]:
    return {mechanism.name: profile(results[mechanism.slug]) for mechanism in MECHANISMS}


def _conclude(scale: Scale, results: Results) -> Outcome:
    profiles = _profiles(results)
    facts = []
    for name, loads in profiles.items():
        if name.startswith("Obl"):
            facts.append(_alike(f"{name}: all routers of the group inject a similar load", loads))
        facts.append(
            _alike(f"{name}: the routers between the first and the last are very similar", loads[1:-1])
        )
    return Outcome(facts=facts)


def _alike(statement: str, loads: Sequence[float]) -> Fact:
    low, high = min(loads), max(loads)
    return Fact(
        statement=statement,
        criterion=f"largest/smallest below {SIMILAR:g}",
        found=f"{high / low:.3f} ({low:.4f} to {high:.4f})" if low > 0 else "a router injects nothing",
        holds=low > 0 and high / low < SIMILAR,
    )


def _draw(number: str, arbitration: Arbitration, scale: Scale, results: Results) -> Figure:
    from hopsim.reproduce import drawing

    network = NETWORKS[scale]
    title = (
        f"Thesis figure {number} ({arbitration.title}): injected load per router, group {GROUP}, "
        f"ADVc at {LOAD}, {network.nodes:,} nodes"
    )
    return drawing.per_router(title, _profiles(results))
