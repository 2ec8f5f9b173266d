"""Load injected per router of group 0 under ADVc at 0.4: figures 3.5, 3.9 and 3.12 of the thesis.

Figures 8, 10 and 12 of the journal version are made here too. No numbers are printed for these
figures; the statements of the text are checked instead. The first router of the group receives its
traffic, the last one has the links that all of it wants.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from hopsim.results.result import Result
from hopsim_reproduce.model import Entry, Experiment, Fact, Outcome, Results, Scale, slug
from hopsim_reproduce.thesis import behaviour, fairness
from hopsim_reproduce.thesis.behaviour import Behaviour
from hopsim_reproduce.thesis.fairness import IN_TRANSIT, OBLIVIOUS
from hopsim_reproduce.thesis.network import FEWER_ROUTERS, ROUTERS, Network
from hopsim_reproduce.thesis.study import THESIS, Study
from hopsim_reproduce.thesis.system import AGE, PRIORITY, ROUND_ROBIN, Arbitration
from hopsim_reproduce.thesis.traffic import advc

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LOAD = 0.4
GROUP = 0
SIMILAR = 1.1
"""Largest over smallest load of routers that inject `a similar amount`."""
FIRST, LAST = 0, -1
VIRTUAL_EXIT = (
    "The low first router of source-adaptive routing is one of group 0: with the path lengths of the "
    "consecutive arrangement another router is low in other groups."
)


Profiles = Mapping[str, Sequence[float]]
"""Mechanism -> load of each router of the group."""


class Statement(Protocol):
    """Something that the text says of the figure."""

    def fact(self, profiles: Profiles) -> Fact:
        """Whether it holds."""
        ...


@dataclass(frozen=True)
class OneRouter:
    """What the text says of one router against the mean of the middle ones."""

    text: str
    mechanism: str
    router: int
    low: float = 0.0
    high: float = float("inf")

    def fact(self, profiles: Profiles) -> Fact:
        """Whether it holds."""
        loads = profiles[self.mechanism]
        middle = mean(loads[1:-1])
        found = loads[self.router] / middle if middle > 0 else 0.0
        name = "first" if self.router == FIRST else "last"
        if self.low == 0:
            limits = f"at most {self.high:g}"
        else:
            limits = (
                f"at least {self.low:g}" if self.high == float("inf") else f"{self.low:g} to {self.high:g}"
            )
        return Fact(
            statement=f"{self.mechanism}: {self.text}",
            criterion=f"{name} router / mean of the middle ones {limits}",
            found=f"{found:.3f} ({loads[self.router]:.4f} / {middle:.4f})",
            holds=middle > 0 and self.low <= found <= self.high,
        )


@dataclass(frozen=True)
class InjectionFigure:
    """One of the figures, run with the behaviour of the published one or of the text."""

    study: Study
    label: str
    arbitration: Arbitration
    statements: Sequence[Statement]
    similar: Sequence[str]
    """Mechanisms under which all routers of the group inject a similar load."""
    behaviour: Behaviour
    networks: Mapping[Scale, Network]

    def entry(self) -> Entry:
        """The figure as an entry of the registry."""
        title = f"Injected load per router of group {GROUP} under ADVc at {LOAD}, {self.arbitration.title}"
        return Entry(
            name=self.behaviour.entry_name(self.study.entry_name("figure", self.label)),
            title=self.behaviour.entry_title(title),
            source=self.study.place("figure", self.label),
            notes=self._notes,
            seeds=self.study.routers_seeds,
            experiments=self._experiments,
            conclude=self._conclude,
            draw=self._draw,
        )

    def _notes(self, scale: Scale) -> list[str]:
        more = [VIRTUAL_EXIT] if self.behaviour is behaviour.PUBLISHED else []
        chapter = fairness.explanation(self.arbitration, self.behaviour)
        return [*self.study.notes(scale, self.networks[scale]), *chapter, *more]

    def _experiments(self, scale: Scale, seeds: int) -> list[Experiment]:
        systems = fairness.systems(self.arbitration, self.behaviour, self.study.injection)
        traffic = advc(self.behaviour)
        network = self.networks[scale]
        return [
            Experiment(slug(name), system.document(network, traffic, ["routers"]), [LOAD], seeds)
            for name, system in systems.items()
        ]

    def _conclude(self, scale: Scale, results: Results) -> Outcome:
        profiles = {name: means(runs) for name, runs in self._runs(results).items()}
        facts = [
            alike(f"{name}: all routers of the group inject a similar load", profiles[name])
            for name in self.similar
        ]
        facts += [
            alike(f"{name}: the routers between the first and the last are very similar", loads[1:-1])
            for name, loads in profiles.items()
            if name not in self.similar
        ]
        return Outcome(facts=[*facts, *(each.fact(profiles) for each in self.statements)])

    def _runs(self, results: Results) -> dict[str, list[list[float]]]:
        return {name: loads_by_run(results[slug(name)]) for name in fairness.systems(self.arbitration)}

    def _draw(self, scale: Scale, results: Results) -> Figure:
        from hopsim_reproduce import drawing

        title = (
            f"{self.study.title} figure {self.label} ({self.arbitration.title}): injected load per router, "
            f"group {GROUP}, ADVc at {LOAD}, {self.networks[scale].nodes:,} nodes"
        )
        return drawing.per_router(title, self._runs(results))


def loads_by_run(results: Sequence[Result]) -> list[list[float]]:
    """Injected load of each router of the group, a list for each seed."""
    runs: list[list[float]] = []
    for result in results:
        columns = result.routers.select(["group", "injection_load"]).to_pydict()
        pairs = zip(columns["group"], columns["injection_load"], strict=True)
        runs.append([load for group, load in pairs if group == GROUP])
    return runs


def means(runs: Sequence[Sequence[float]]) -> list[float]:
    """Mean injected load of each router of the group, over the seeds."""
    return [mean(loads) for loads in zip(*runs, strict=True)]


def mean(loads: Sequence[float]) -> float:
    """Of routers or runs."""
    return sum(loads) / len(loads)


def alike(statement: str, loads: Sequence[float]) -> Fact:
    """Whether loads differ by less than `SIMILAR`."""
    low, high = min(loads), max(loads)
    return Fact(
        statement=statement,
        criterion=f"largest/smallest below {SIMILAR:g}",
        found=f"{high / low:.3f} ({low:.4f} to {high:.4f})" if low > 0 else "a router injects nothing",
        holds=low > 0 and high / low < SIMILAR,
    )


LOW_FIRST = OneRouter("the first router injects significantly less", "Src-RRG", FIRST, high=0.95)
LOW_ENDS = (
    OneRouter("the first router injects less", "Src-CRG", FIRST, high=0.97),
    OneRouter("the last router injects less", "Src-CRG", LAST, high=0.97),
)
BEST_LAST = OneRouter("the last router has the best injection rate", "Src-RRG", LAST, low=1.0)
WITH_PRIORITY = (
    LOW_FIRST,
    OneRouter("the last router injects more than the average", "Src-RRG", LAST, low=1.0),
    *LOW_ENDS,
    *(OneRouter("the last router starves", name, LAST, high=0.1) for name in IN_TRANSIT),
)
WITHOUT_PRIORITY = (
    LOW_FIRST,
    OneRouter("the last router injects about three times as much", "Src-CRG", LAST, 2.25, 3.75),
    *(OneRouter("the last router injects about 30 % less", name, LAST, 0.6, 0.8) for name in IN_TRANSIT),
)
BY_AGE = (LOW_FIRST, BEST_LAST)


def entries() -> list[Entry]:
    """The three figures of the thesis, as published and by the text."""
    return [
        InjectionFigure(THESIS, label, arbitration, statements, similar, way, networks).entry()
        for way in (behaviour.PUBLISHED, behaviour.TEXTBOOK)
        for label, arbitration, statements, similar, networks in (
            ("3.5", PRIORITY, WITH_PRIORITY, OBLIVIOUS, ROUTERS),
            ("3.9", ROUND_ROBIN, WITHOUT_PRIORITY, OBLIVIOUS, FEWER_ROUTERS),
            ("3.12", AGE, BY_AGE, (*OBLIVIOUS, *IN_TRANSIT), ROUTERS),
        )
    ]
