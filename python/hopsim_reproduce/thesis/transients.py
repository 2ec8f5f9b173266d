"""Figures 4.8 to 4.10: latency and misrouted packets after a change from UN to ADV+1 at load 0.2.

The publication gives the times in which mechanisms settle or react. Ours are `hopsim.reaction.reaction_time`
of the mean over all seeds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from hopsim.reaction import merge, oscillation_period, reaction_time
from hopsim_reproduce.model import Document, Entry, Experiment, Fact, Outcome, Results, Scale, slug
from hopsim_reproduce.thesis.contention import chosen, explanation
from hopsim_reproduce.thesis.network import Network
from hopsim_reproduce.thesis.study import THESIS
from hopsim_reproduce.thesis.system import TABLE_1_2, Buffers, System
from hopsim_reproduce.thesis.traffic import UN

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from hopsim_reproduce import drawing

LOAD = 0.2
BEFORE = 100
"""Cycles shown before the change."""
LATENCY, MISROUTED = "latency_mean", "misrouted_fraction"
LARGE = Buffers(local=256, global_=2048)
TOLERANCE = 0.02
"""Share of the step that may be missing when a mechanism counts as settled: the 2 % of settling times."""
REACTED = 0.1
"""The same when it counts as having reacted: the 90 % of rise times."""
HOLD = 100
"""Cycles for which it stays so."""
NETWORKS: Mapping[Scale, Network] = {"quick": Network(4, 5_000, 6_000), "full": Network(8, 10_000, 12_000)}
"""The run goes on after the change until the packets shown have arrived. The change is at a multiple
of 100 cycles, right after a broadcast of ECtN, as in the thesis."""
SEEDS: Mapping[Scale, int] = {"quick": 5, "full": 5}
INTERVALS: Mapping[Scale, int] = {"quick": 10, "full": 5}
"""Generation cycles per point."""

Series = Sequence[pa.Table]


@dataclass(frozen=True)
class Transients:
    """The series of a figure by mechanism."""

    network: Network
    series: Mapping[str, Series]
    shown: int
    """Cycles after the change that the figure shows."""

    def cut(self, name: str, end: int | None = None) -> list[pa.Table]:
        """The series of a mechanism up to `end` cycles after the change."""
        last = self.network.warmup + (self.shown if end is None else end)
        return [
            table.filter(pa.array(table.column("cycle").to_numpy() < last)) for table in self.series[name]
        ]


Claim = Callable[[Transients], Fact]


def settles(name: str, low: int, high: int, statement: str, end: int | None = None) -> Claim:
    """The latency of a mechanism settles between `low` and `high` cycles after the change."""
    criterion = f"latency settles {low} to {high} cycles after the change"
    return _arrives(name, (statement, criterion), TOLERANCE, (low, high), end)


def reacts(name: str, high: int, statement: str) -> Claim:
    """The latency of a mechanism makes most of the step at most `high` cycles after the change."""
    criterion = f"{100 * (1 - REACTED):g} % of the step at most {high} cycles after the change"
    return _arrives(name, (statement, criterion), REACTED, (0, high))


def _arrives(
    name: str,
    texts: tuple[str, str],
    tolerance: float,
    bounds: tuple[int, int],
    end: int | None = None,
) -> Claim:
    """The latency comes within a share of the step between two times; `texts`: statement and criterion."""
    statement, criterion = texts
    low, high = bounds

    def check(transients: Transients) -> Fact:
        found = reaction_time(
            transients.cut(name, end), transients.network.warmup, tolerance=tolerance, hold=HOLD
        )
        return Fact(
            statement=f"{name}: {statement}",
            criterion=criterion,
            found="does not settle" if found is None else f"{found} cycles",
            holds=found is not None and low <= found <= high,
        )

    return check


def oscillates(name: str, low: int, high: int, statement: str) -> Claim:
    """The latency of a mechanism oscillates with a period between `low` and `high` cycles."""

    def check(transients: Transients) -> Fact:
        found = oscillation_period(transients.cut(name), transients.network.warmup + HOLD)
        return Fact(
            statement=f"{name}: {statement}",
            criterion=f"period {low} to {high} cycles",
            found="no oscillation" if found is None else f"{found} cycles",
            holds=found is not None and low <= found <= high,
        )

    return check


def is_flat(name: str, after: int, statement: str) -> Claim:
    """The latency of a mechanism no longer changes from some cycle on: it is settled there, for good."""

    def check(transients: Transients) -> Fact:
        found = reaction_time(transients.cut(name), transients.network.warmup, tolerance=TOLERANCE)
        return Fact(
            statement=f"{name}: {statement}",
            criterion=f"latency stays settled from at most {after} cycles after the change",
            found="does not settle" if found is None else f"from {found} cycles",
            holds=found is not None and found <= after,
        )

    return check


@dataclass(frozen=True)
class TransientFigure:
    """One of the figures."""

    label: str
    title: str
    names: Sequence[str]
    claims: Sequence[Claim]
    shown: int = 1000
    buffers: Buffers = TABLE_1_2
    misrouted: bool = True
    """Whether it shows the misrouted share too."""

    def entry(self) -> Entry:
        """The figure as an entry of the registry."""
        return Entry(
            name=f"thesis-figure-{self.label}",
            title=self.title,
            source=THESIS.place("figure", self.label),
            notes=self._notes,
            seeds=SEEDS,
            experiments=self._experiments,
            conclude=self._conclude,
            draw=self._draw,
        )

    def _notes(self, scale: Scale) -> list[str]:
        network = NETWORKS[scale]
        return [
            f"{network.title}, load {LOAD}, UN until cycle {network.warmup:,}, then ADV+1; "
            f"intervals of {INTERVALS[scale]} generation cycles.",
            *explanation(scale)[1:],
            f"Settled: within {100 * TOLERANCE:g} % of the step and the noise from the new level, for "
            f"{HOLD} cycles (hopsim.reaction).",
        ]

    def _experiments(self, scale: Scale, seeds: int) -> list[Experiment]:
        return [
            Experiment(slug(system.name), self._document(scale, system), [LOAD], seeds)
            for system in chosen(scale, self.names)
        ]

    def _document(self, scale: Scale, system: System) -> Document:
        network = NETWORKS[scale]
        document = system.with_(buffers=self.buffers).document(network, UN, ["generation"])
        document["jobs"][0]["traffic"]["changes"] = [{"cycle": network.warmup, "pattern": "ADV+1"}]
        document["measure"]["interval"] = INTERVALS[scale]
        return document

    def _conclude(self, scale: Scale, results: Results) -> Outcome:
        transients = self._read(scale, results)
        return Outcome(facts=[claim(transients) for claim in self.claims])

    def _read(self, scale: Scale, results: Results) -> Transients:
        series = {name: [result.generation_series for result in results[slug(name)]] for name in self.names}
        return Transients(NETWORKS[scale], series, self.shown)

    def _draw(self, scale: Scale, results: Results) -> Figure:
        from hopsim_reproduce import drawing

        transients = self._read(scale, results)
        panels = {"latency [cycles]": self._lines(transients, LATENCY, 1)}
        if self.misrouted:
            panels["misrouted packets [%]"] = self._lines(transients, MISROUTED, 100)
        return drawing.over_time(f"Thesis figure {self.label}: {self.title}", panels)

    def _lines(self, transients: Transients, column: str, scale: float) -> dict[str, drawing.TimeLine]:
        change = transients.network.warmup
        lines: dict[str, drawing.TimeLine] = {}
        for name in self.names:
            merged = merge(transients.cut(name), column)
            shown = merged.cycles >= change - BEFORE
            lines[name] = (merged.cycles[shown] - change, scale * merged.values[shown])
        return lines


COUNTERS = ("Base", "Filtered")
AT_ONCE = tuple(settles(name, 0, 30, "reacts within about 10 cycles") for name in COUNTERS)
REACTION = tuple(reacts(name, 20, "has a reaction time of about 10 cycles") for name in COUNTERS)
ECTN = settles("ECtN", 80, 150, "settles after the next broadcast, about 110 cycles")
PB_PERIOD = oscillates("PB", 450, 750, "oscillates about every 600 cycles")


def entries() -> list[Entry]:
    """The three figures."""
    change = "UN to ADV+1 at load 0.2"
    mechanisms = ("PB", "OLM", *COUNTERS, "ECtN")
    figures = (
        TransientFigure(
            "4.8",
            f"Latency and misrouted packets from {change}",
            mechanisms,
            (
                *AT_ONCE,
                *REACTION,
                ECTN,
                settles("OLM", 50, 150, "settles in about 100 cycles"),
                settles("PB", 50, 150, "first settles in about 100 cycles", end=400),
            ),
        ),
        TransientFigure(
            "4.9",
            f"Latency from {change}, longer",
            ("PB", "ECtN"),
            (PB_PERIOD, is_flat("ECtN", 150, "is flat once the counters have been updated")),
            shown=5000,
            misrouted=False,
        ),
        TransientFigure(
            "4.10",
            f"Latency from {change}, buffers of {LARGE.local} and {LARGE.global_} phits",
            mechanisms,
            (
                *AT_ONCE,
                *REACTION,
                ECTN,
                settles("OLM", 525, 875, "needs about 700 cycles with large buffers", end=2000),
            ),
            shown=2000,
            buffers=LARGE,
            misrouted=False,
        ),
    )
    return [figure.entry() for figure in figures]
