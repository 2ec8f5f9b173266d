"""Figures 8, 10 and 12: load injected per router of group 0 under ADVc at 0.4."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from hopsim_reproduce.jsc.study import AGE_AND_PRIORITY, JSC, LEAST_RECENTLY_SERVED, PRIORITY, ROUTERS
from hopsim_reproduce.model import Entry, Fact
from hopsim_reproduce.thesis import behaviour
from hopsim_reproduce.thesis.fairness import IN_TRANSIT, OBLIVIOUS
from hopsim_reproduce.thesis.per_router import (
    BEST_LAST,
    FIRST,
    LAST,
    LOW_ENDS,
    LOW_FIRST,
    InjectionFigure,
    OneRouter,
    Profiles,
    alike,
    mean,
)
from hopsim_reproduce.thesis.system import AGE


@dataclass(frozen=True)
class SimilarLast:
    """The last routers inject a similar load under these mechanisms."""

    text: str
    mechanisms: Sequence[str]

    def fact(self, profiles: Profiles) -> Fact:
        """Whether it holds."""
        names = ", ".join(self.mechanisms)
        return alike(f"{names}: {self.text}", [profiles[name][LAST] for name in self.mechanisms])


@dataclass(frozen=True)
class LessVariation:
    """First, middle and last routers differ less than under another mechanism."""

    text: str
    mechanism: str
    than: str

    def fact(self, profiles: Profiles) -> Fact:
        """Whether it holds."""
        ours, theirs = (_variation(profiles[name]) for name in (self.mechanism, self.than))
        return Fact(
            statement=f"{self.mechanism}: {self.text}",
            criterion=f"largest/smallest of first, middle and last router below that of {self.than}",
            found=f"{ours:.3f} ({self.than} {theirs:.3f})",
            holds=ours < theirs,
        )


@dataclass(frozen=True)
class LessLoad:
    """The group injects at most a share of what it does under another mechanism."""

    text: str
    mechanism: str
    than: str
    share: float

    def fact(self, profiles: Profiles) -> Fact:
        """Whether it holds."""
        ours, theirs = (mean(profiles[name]) for name in (self.mechanism, self.than))
        return Fact(
            statement=f"{self.mechanism}: {self.text}",
            criterion=f"mean of the routers at most {self.share:g} times that of {self.than}",
            found=f"{ours:.4f} ({self.than} {theirs:.4f})",
            holds=ours <= self.share * theirs,
        )


def _variation(loads: Sequence[float]) -> float:
    sets = loads[FIRST], mean(loads[1:-1]), loads[LAST]
    return max(sets) / min(sets) if min(sets) > 0 else math.inf


STARVED = 0.1
"""The text says several orders of magnitude less than the other routers. That is true of the worst of the 73
groups; with the CoV of table 2 the last router of a group injects 5 % of the others on average."""
STARVING = tuple(OneRouter("the last router starves", name, LAST, high=STARVED) for name in IN_TRANSIT)
WITH_PRIORITY = (
    LOW_FIRST,
    OneRouter("the last router injects more", "Src-RRG", LAST, low=1.0),
    *LOW_ENDS,
    *STARVING,
)
WITHOUT_PRIORITY = (
    LOW_FIRST,
    OneRouter("the last router injects more than twice as much", "Src-CRG", LAST, low=2.0),
    *(OneRouter("the last router does not starve", name, LAST, low=0.4) for name in IN_TRANSIT),
    SimilarLast("the last router gains alike from the lack of priority", IN_TRANSIT),
)
BY_AGE = (
    LOW_FIRST,
    BEST_LAST,
    LessVariation("the variation is reduced", "Src-CRG", "Src-RRG"),
    LessLoad("the throughput is so low that it cannot compete", "Src-CRG", "In-Trns-MM", share=0.6),
)


def entries() -> list[Entry]:
    """The three figures, and age with priority, whose results the text leaves out."""
    figures = [
        InjectionFigure(JSC, label, arbitration, statements, similar, behaviour.PUBLISHED, ROUTERS).entry()
        for label, arbitration, statements, similar in (
            ("8", PRIORITY, WITH_PRIORITY, OBLIVIOUS),
            ("10", LEAST_RECENTLY_SERVED, WITHOUT_PRIORITY, OBLIVIOUS),
            ("12", AGE, BY_AGE, (*OBLIVIOUS, *IN_TRANSIT)),
        )
    ]
    left_out = InjectionFigure(
        JSC, "12-priority", AGE_AND_PRIORITY, STARVING, (), behaviour.PUBLISHED, ROUTERS
    )
    return [*figures, replace(left_out.entry(), source=f"{JSC.source}, §6, results left out there")]
