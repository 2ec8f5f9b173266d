"""Figures 3.5, 3.9 and 3.12 of the thesis: load injected per router of group 0 under ADVc at 0.4.

The thesis prints no numbers for these figures; its statements are checked instead. The first
router of the group receives its traffic, the last one has the links that all of it wants.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hopsim.reproduce.model import Entry, Experiment, Fact, Outcome, Results, Scale, slug
from hopsim.reproduce.thesis import behaviour, fairness
from hopsim.reproduce.thesis.behaviour import Behaviour
from hopsim.reproduce.thesis.network import FAIRNESS, FAIRNESS_SEEDS, THESIS, notes
from hopsim.reproduce.thesis.system import AGE, PRIORITY, ROUND_ROBIN, Arbitration
from hopsim.reproduce.thesis.traffic import advc
from hopsim.results import Result

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LOAD = 0.4
GROUP = 0
SIMILAR = 1.1
"""Largest over smallest load of routers that inject `a similar amount`."""
FIRST, LAST = 0, -1
IN_TRANSIT = ("In-Trns-RRG", "In-Trns-CRG", "In-Trns-MM")
VIRTUAL_EXIT = (
    "The low first router of source-adaptive routing is one of group 0: with the path lengths of the "
    "consecutive arrangement another router is low in other groups."
)


@dataclass(frozen=True)
class Statement:
    """What the thesis says of one router against the mean of the middle ones."""

    text: str
    mechanism: str
    router: int
    low: float = 0.0
    high: float = float("inf")

    def fact(self, loads: Sequence[float]) -> Fact:
        """Whether it holds for the loads of the group's routers."""
        middle = sum(loads[1:-1]) / len(loads[1:-1])
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

    label: str
    arbitration: Arbitration
    statements: Sequence[Statement]
    similar: Sequence[str]
    """Mechanisms under which all routers of the group inject a similar load."""
    behaviour: Behaviour

    def entry(self) -> Entry:
        """The figure as an entry of the registry."""
        title = f"Injected load per router of group {GROUP} under ADVc at {LOAD}, {self.arbitration.title}"
        return Entry(
            name=self.behaviour.entry_name(f"thesis-figure-{self.label}"),
            title=self.behaviour.entry_title(title),
            source=f"{THESIS}, figure {self.label}",
            notes=self._notes,
            seeds=FAIRNESS_SEEDS,
            experiments=self._experiments,
            conclude=self._conclude,
            draw=self._draw,
        )

    def _notes(self, scale: Scale) -> list[str]:
        more = [VIRTUAL_EXIT] if self.behaviour is behaviour.PUBLISHED else []
        chapter = fairness.explanation(self.arbitration, self.behaviour)
        return [*notes(scale, FAIRNESS[scale]), *chapter, *more]

    def _experiments(self, scale: Scale, seeds: int) -> list[Experiment]:
        systems = fairness.systems(self.arbitration, self.behaviour)
        traffic = advc(self.behaviour)
        return [
            Experiment(slug(name), system.document(FAIRNESS[scale], traffic, ["routers"]), [LOAD], seeds)
            for name, system in systems.items()
        ]

    def _conclude(self, scale: Scale, results: Results) -> Outcome:
        profiles = self._profiles(results)
        facts = [
            _alike(f"{name}: all routers of the group inject a similar load", profiles[name])
            for name in self.similar
        ]
        facts += [
            _alike(f"{name}: the routers between the first and the last are very similar", loads[1:-1])
            for name, loads in profiles.items()
            if name not in self.similar
        ]
        return Outcome(facts=[*facts, *(each.fact(profiles[each.mechanism]) for each in self.statements)])

    def _profiles(self, results: Results) -> Mapping[str, list[float]]:
        return {name: profile(results[slug(name)]) for name in fairness.systems(self.arbitration)}

    def _draw(self, scale: Scale, results: Results) -> Figure:
        from hopsim.reproduce import drawing

        title = (
            f"Thesis figure {self.label} ({self.arbitration.title}): injected load per router, "
            f"group {GROUP}, ADVc at {LOAD}, {FAIRNESS[scale].nodes:,} nodes"
        )
        return drawing.per_router(title, self._profiles(results))


def profile(results: Sequence[Result]) -> list[float]:
    """Mean injected load of each router of the group, over the seeds."""
    runs = []
    for result in results:
        columns = result.routers.select(["group", "injection_load"]).to_pydict()
        pairs = zip(columns["group"], columns["injection_load"], strict=True)
        runs.append([load for group, load in pairs if group == GROUP])
    return [sum(loads) / len(loads) for loads in zip(*runs, strict=True)]


def _alike(statement: str, loads: Sequence[float]) -> Fact:
    low, high = min(loads), max(loads)
    return Fact(
        statement=statement,
        criterion=f"largest/smallest below {SIMILAR:g}",
        found=f"{high / low:.3f} ({low:.4f} to {high:.4f})" if low > 0 else "a router injects nothing",
        holds=low > 0 and high / low < SIMILAR,
    )


LOW_FIRST = Statement("the first router injects significantly less", "Src-RRG", FIRST, high=0.95)
WITH_PRIORITY = (
    LOW_FIRST,
    Statement("the last router injects more than the average", "Src-RRG", LAST, low=1.0),
    Statement("the first router injects less", "Src-CRG", FIRST, high=0.97),
    Statement("the last router injects less", "Src-CRG", LAST, high=0.97),
    *(Statement("the last router starves", name, LAST, high=0.1) for name in IN_TRANSIT),
)
WITHOUT_PRIORITY = (
    LOW_FIRST,
    Statement("the last router injects about three times as much", "Src-CRG", LAST, 2.0, 4.5),
    *(Statement("the last router injects about 30 % less", name, LAST, 0.5, 0.85) for name in IN_TRANSIT),
)
BY_AGE = (
    LOW_FIRST,
    Statement("the last router has the best injection rate", "Src-RRG", LAST, low=1.0),
)


def entries() -> list[Entry]:
    """The three figures, as published and by the text."""
    oblivious = ("Obl-RRG", "Obl-CRG")
    return [
        InjectionFigure(label, arbitration, statements, similar, way).entry()
        for way in (behaviour.PUBLISHED, behaviour.TEXTBOOK)
        for label, arbitration, statements, similar in (
            ("3.5", PRIORITY, WITH_PRIORITY, oblivious),
            ("3.9", ROUND_ROBIN, WITHOUT_PRIORITY, oblivious),
            ("3.12", AGE, BY_AGE, (*oblivious, *IN_TRANSIT)),
        )
    ]
