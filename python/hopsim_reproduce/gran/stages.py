"""Figures 3, 4, 7, 9, 11, 12 and 13: throughput of five flows that begin one after the other."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hopsim_reproduce.gran.measured import (
    Run,
    active,
    in_every_seed,
    in_most_seeds,
    near,
    runs,
    share,
    span,
)
from hopsim_reproduce.gran.system import (
    CAPACITY,
    COMMON,
    DISTANCE,
    FLOWS,
    GRAN,
    NOTES,
    ONE_SWITCH,
    ONE_THRESHOLD,
    SEEDS,
    STAGE,
    TWO_SWITCHES,
    TWO_THRESHOLDS,
    UNTOLD,
    VICTIM,
    Topology,
    control,
    document,
)
from hopsim_reproduce.model import Document, Entry, Experiment, Fact, Outcome, Results, Scale

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Facts = Callable[[Sequence[Run]], Iterator[Fact]]
STAGES = range(len(FLOWS))
PERIOD = 150 * 1.024e-6
"""Between two lowerings of the index [s]."""
INDEX: Mapping[int, int] = {2: 53, 3: 75, 4: 92}
"""Contributors -> index at which each of them gets its share: 13 Gb/s over 1 + its delay in packets."""
TIMES = 10
"""Marking rate and timer of figure 12 over those of figure 11."""
HOT_SPOT = ("switch 1", "node 5")
"""The port of S2 to H5 in figure 8."""
NEWCOMER = 0.1
"""For so long a newcomer is compared [s]."""


def steady(value: float, tolerance: float) -> Facts:
    """The flow that shares nothing keeps its rate."""

    def facts(found: Sequence[Run]) -> Iterator[Fact]:
        values = [run.late(VICTIM, stage) for run in found for stage in STAGES]
        bounds = near(value, tolerance)
        yield in_every_seed(f"{VICTIM} is not disturbed", "Gb/s in every stage", values, *bounds)

    return facts


def equal_shares(tolerance: float) -> Facts:
    """Round robin is fair: each contributor gets its part."""

    def facts(found: Sequence[Run]) -> Iterator[Fact]:
        for stage in STAGES[1:]:
            values = [rate for run in found for rate in run.contributors(stage)]
            statement = f"{stage} contributors share the output evenly"
            yield in_every_seed(statement, "Gb/s of each", values, *near(share(stage), tolerance))

    return facts


def one_threshold(found: Sequence[Run]) -> Iterator[Fact]:
    """Figure 4."""
    rates = [run.late("f3", 2) for run in found]
    yield in_every_seed("of two contributors f3 gets a little more than 7 Gb/s", "Gb/s", rates, 7.0, 7.6)
    leads = [run.late("f3", 2) - run.late("f2", 2) for run in found]
    yield in_every_seed("that is about 1 Gb/s more than f2 gets", "f3 - f2 in Gb/s", leads, 0.5, 1.5)
    for stage in STAGES[2:]:
        newest = active(stage)[-1]
        wins = [max(active(stage), key=lambda flow: run.late(flow, stage)) == newest for run in found]
        yield in_most_seeds(f"the last flow added, {newest}, has the largest share", "largest", wins)
    shares = [_over(run, "f6", "f3", 3) for run in found]
    yield in_every_seed("f6 gets twice what f3 gets", "f6/f3", shares, *near(2, 0.15))
    middle = [run.late("f3", 3) < run.late("f2", 3) < run.late("f6", 3) for run in found]
    yield in_most_seeds("f2 settles between f3 and f6", "f3 < f2 < f6", middle)
    rates = [run.late("f2", 3) for run in found]
    yield in_every_seed("of three contributors f2 gets a little less than 5 Gb/s", "Gb/s", rates, 4.5, 5.0)
    ratios = [run.ratio(4) for run in found]
    yield in_every_seed(
        "with 4 contributors the unfairness is still there", "greatest over least", ratios, 1.2
    )
    yield from used(0.95)(found)


def _over(run: Run, flow: str, other: str, stage: int) -> float:
    return _quotient(run.late(flow, stage), run.late(other, stage))


def _quotient(over: float, under: float) -> float:
    """Without limit where there is nothing below: a flow that starves makes a statement false."""
    return over / under if under else math.inf


def used(least: float) -> Facts:
    """The output to the hot spot is not left idle."""

    def facts(found: Sequence[Run]) -> Iterator[Fact]:
        values = [sum(run.contributors(stage)) / CAPACITY for run in found for stage in STAGES[1:]]
        yield in_every_seed("the bottleneck is used", "all contributors over 13 Gb/s", values, least)

    return facts


def equalised(tolerance: float) -> Facts:
    """All contributors get about the same."""

    def facts(found: Sequence[Run]) -> Iterator[Fact]:
        for stage in STAGES[2:]:
            rates = [(run.contributors(stage), sum(run.contributors(stage)) / stage) for run in found]
            values = [rate / mean for run, mean in rates for rate in run]
            statement = f"{stage} contributors settle for equal shares"
            yield in_every_seed(
                statement, "rate over the mean of the contributors", values, *near(1, tolerance)
            )

    return facts


def settled(run: Run) -> float:
    """How long the slowest stage takes until all rates are within 20 % of each other's mean [s]."""
    return max(run.convergence(stage, 0.2) for stage in STAGES[2:])


def two_thresholds(found: Sequence[Run]) -> Iterator[Fact]:
    """Figure 7."""
    yield from equalised(0.1)(found)
    fairness = [run.fairness(stage) for run in found for stage in STAGES[2:]]
    yield in_every_seed("fairness is restored", "Jain's index of the contributors", fairness, 0.99)
    statement = "each time a contributor is added, all quickly settle"
    yield in_every_seed(
        statement, "seconds until within 20 % of equal", [settled(run) for run in found], None, 0.1
    )
    yield from used(0.9)(found)


def loop(found: Sequence[Run]) -> Iterator[Fact]:
    """What must hold of the control loop whatever its parameters (spec checks CC.1 and CC.2)."""
    rates = [
        run.notifications_per_second(flow, stage) * PERIOD
        for run in found
        for stage in STAGES[2:]
        for flow in active(stage)
    ]
    statement = "a throttled flow is notified as often as its timer runs"
    yield in_every_seed(statement, "notifications per period", rates, *near(1, 0.05))
    for stage, index in INDEX.items():
        values = [run.ccti(flow, stage) for run in found for flow in active(stage)]
        statement = f"the index of {stage} contributors is that of their share"
        yield in_every_seed(statement, "CCTI", values, index - 3, index + 15)


def parking_lot(found: Sequence[Run]) -> Iterator[Fact]:
    """Figure 9."""
    expected = {
        1: {"f2": 13.0},
        2: {"f2": 6.5, "f3": 6.5},
        3: {"f2": 3.25, "f3": 3.25, "f6": 6.5},
        4: {"f2": 13 / 6, "f3": 13 / 6, "f6": 13 / 3, "f7": 13 / 3},
    }
    for stage, rates in expected.items():
        values = [run.late(flow, stage) / rate for run in found for flow, rate in rates.items()]
        statement = (
            f"{stage} contributors: every input of the second switch gets the same, its flows share that"
        )
        yield in_every_seed(statement, "rate over that of the closed form", values, *near(1, 0.005))
    values = [_quotient(run.late("f6", 3), run.late("f2", 3) + run.late("f3", 3)) for run in found]
    yield in_every_seed("f6 gets as much as f2 and f3 combined", "f6/(f2 + f3)", values, *near(1, 0.03))
    pairs = (("f6", "f2"), ("f7", "f3"))
    values = [_over(run, over, under, 4) for run in found for over, under in pairs]
    yield in_every_seed("f6 and f7 get twice what f2 and f3 get", "f6/f2 and f7/f3", values, *near(2, 0.03))
    values = [_over(run, VICTIM, "f2", stage) for run in found for stage in STAGES[2:]]
    yield in_every_seed("f1 gets no further than f2 (head-of-line blocking)", "f1/f2", values, *near(1, 0.05))
    held_up = len(STAGES[2:]) / len(STAGES)
    values = [run.lost_to(VICTIM).get(HOT_SPOT, 0.0) / held_up for run in found]
    statement = "f1 is a victim of the congestion at the port of S2 to H5"
    yield in_every_seed(statement, "held up, share of the time from f3 on", values, 0.95)


def freed(tolerance: float) -> Facts:
    """Head-of-line blocking is gone."""

    def facts(found: Sequence[Run]) -> Iterator[Fact]:
        values = [run.late(VICTIM, stage) for run in found for stage in STAGES]
        yield in_every_seed("the victim f1 is freed", "Gb/s", values, *near(CAPACITY, tolerance))
        values = [sum(run.lost_to(VICTIM).values()) for run in found]
        yield in_every_seed("f1 is a victim no more", "held up, share of the time", values, None, 0.02)

    return facts


def solved(tolerance: float) -> Facts:
    """The parking lot problem is solved."""

    def facts(found: Sequence[Run]) -> Iterator[Fact]:
        yield from equalised(tolerance)(found)
        yield from freed(tolerance / 4)(found)

    return facts


def slow(found: Sequence[Run]) -> Iterator[Fact]:
    """Figure 12, but for its comparison with figure 11."""
    for newest, least, stage in (("f6", 1.25, 3), ("f7", 1.15, 4)):
        statement = f"when {newest} is added, it gets more than the others"
        criterion = f"{newest} over the mean of the others in the first {NEWCOMER:g} s"
        yield in_every_seed(statement, criterion, [_lead(run, stage) for run in found], least)
    values = [run.ratio(stage) for run in found for stage in STAGES[2:]]
    yield in_every_seed("later the parking lot is mostly solved", "greatest over least", values, None, 1.4)


def _lead(run: Run, stage: int) -> float:
    """What the newest contributor gets at first, over the mean of the others."""
    begin = stage * run.stage
    *others, newest = (run.mean(flow, begin, begin + NEWCOMER) for flow in active(stage))
    return newest * len(others) / sum(others)


@dataclass(frozen=True)
class StageFigure:
    """One of the figures."""

    number: str
    title: str
    topology: Topology
    congestion_control: Document | None
    facts: Sequence[Facts]
    where: str
    notes: Sequence[str] = ()
    stage: Mapping[Scale, float] = field(default_factory=lambda: STAGE)
    compared: Document | None = None
    """Congestion control of a second experiment, whose convergence is compared."""

    def entry(self) -> Entry:
        """The figure as an entry of the registry."""
        return Entry(
            name=f"gran-figure-{self.number}",
            title=self.title,
            source=f"{GRAN}, figure {self.number} and {self.where}",
            notes=self._notes,
            seeds=SEEDS,
            experiments=self._experiments,
            conclude=self._conclude,
            draw=self._draw,
        )

    def _notes(self, scale: Scale) -> list[str]:
        stage = self.stage[scale]
        told = [*NOTES, *([UNTOLD] if self.congestion_control else []), *self.notes]
        judged = f"A flow is added every {stage:g} s; rates are those of the second half of a stage."
        return [*told, judged, *(["Stages of 1 s as in the paper: --scale full."] if stage < 1 else [])]

    def _experiments(self, scale: Scale, seeds: int) -> list[Experiment]:
        stage = self.stage[scale]
        main = Experiment("main", document(self.topology, stage, self.congestion_control), (), seeds)
        if self.compared is None:
            return [main]
        return [main, Experiment("compared", document(self.topology, stage, self.compared), (), seeds)]

    def _conclude(self, scale: Scale, results: Results) -> Outcome:
        found = runs(results["main"], self.stage[scale])
        facts = [fact for each in self.facts for fact in each(found)]
        if self.compared is not None:
            facts.append(_slower(found, runs(results["compared"], self.stage[scale])))
        return Outcome(facts=facts)

    def _draw(self, scale: Scale, results: Results) -> Figure:
        from hopsim.plot import Canvas, View
        from hopsim.plot.flows import over_time
        from hopsim.plot.view import Shown

        seed = results["main"][0].summary["seed"]
        title = f"Figure {self.number}: {self.title} (seed {seed})"
        table = results["main"][0].flow_series
        about = Shown("", title, [])
        return over_time(table, about, Canvas(View()), with_index=self.congestion_control is not None)


def _slower(found: Sequence[Run], others: Sequence[Run]) -> Fact:
    times = [settled(run) / max(settled(other), 0.01) for run, other in zip(found, others, strict=True)]
    statement = "unfairness lasts for an extended time each time a contributor is added"
    criterion = "time until within 20 % of equal, over that of figure 11, at least 5"
    return Fact(statement, criterion, span(times), min(times) >= 5)


def entries() -> list[Entry]:
    """The figures."""
    slow_loop = control(TWO_THRESHOLDS, marking_rate=TIMES, ccti_timer=TIMES * 150)
    fast_loop = control(TWO_THRESHOLDS)
    figures = [
        StageFigure(
            "3",
            "Throughput without congestion control",
            ONE_SWITCH,
            None,
            (steady(CAPACITY, 0.005), equal_shares(0.005)),
            "§IV",
        ),
        StageFigure(
            "4",
            "Throughput with one threshold",
            ONE_SWITCH,
            control(ONE_THRESHOLD),
            (steady(CAPACITY, 0.02), one_threshold),
            "§IV.A",
            [
                "No threshold was found with which all that the text says of this figure holds. With 4 to 9 "
                "packets the shares of three contributors are as published and those of two lie too far "
                "apart; with 24 to 30 it is the other way round. A shorter timer makes all shares equal."
            ],
        ),
        StageFigure(
            "7",
            "Throughput with two thresholds",
            ONE_SWITCH,
            fast_loop,
            (steady(CAPACITY, 0.02), two_thresholds, loop),
            "§IV.B",
            [f"The thresholds are {DISTANCE:g} packets apart. Which distances do is in gran-one-mtu."],
        ),
        StageFigure(
            "9",
            "Throughput of a parking lot without congestion control",
            TWO_SWITCHES,
            None,
            (parking_lot,),
            "§V",
        ),
        StageFigure(
            "11",
            "Throughput of a parking lot with congestion control",
            TWO_SWITCHES,
            fast_loop,
            (solved(0.12), loop),
            "§V",
        ),
        StageFigure(
            "12",
            "Throughput of a parking lot, marking rate 10",
            TWO_SWITCHES,
            slow_loop,
            (slow,),
            "§V",
            [f"Marking rate 10 and {TIMES} times the timer of figure 11, which the last statement compares."],
            {"quick": 0.5, "full": 1.0},
            fast_loop,
        ),
        StageFigure(
            "13",
            "Throughput of a parking lot with common thresholds (hardware in the paper)",
            TWO_SWITCHES,
            control(COMMON),
            (solved(0.12),),
            "§VI",
            ["The paper's figure is of hardware, which it calls strongly correlated with figure 11."],
        ),
    ]
    return [figure.entry() for figure in figures]
