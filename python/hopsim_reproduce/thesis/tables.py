"""Fairness of all mechanisms below and above saturation under ADVc: tables 3.1 to 3.3 of the thesis.

Tables 2 to 4 of the journal version are made here too. `Average saturation load` is defined in neither.
Here it is the load accepted at the larger of the row's two offered loads, which lies above saturation for
every mechanism.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hopsim.results.result import Result
from hopsim_reproduce.model import (
    SATURATION,
    Comparison,
    Entry,
    Experiment,
    Fact,
    Measured,
    Outcome,
    Results,
    Scale,
    at,
    load,
    slug,
)
from hopsim_reproduce.order import swapped
from hopsim_reproduce.thesis import behaviour, fairness
from hopsim_reproduce.thesis.behaviour import Behaviour
from hopsim_reproduce.thesis.network import PACKET_LENGTH, Network
from hopsim_reproduce.thesis.published import (
    AVERAGE_ALLOWED,
    JUDGED,
    QUANTITIES,
    PublishedRow,
    Quantity,
    published,
)
from hopsim_reproduce.thesis.study import THESIS, Study
from hopsim_reproduce.thesis.system import AGE, PRIORITY, ROUND_ROBIN, Arbitration
from hopsim_reproduce.thesis.traffic import advc

if TYPE_CHECKING:
    from matplotlib.figure import Figure

AVERAGE = "avg. saturation load"
SAYS_THE_SAME = "the column of the least load says the same"
ABOVE = "of rows above saturation the order of the mechanisms is judged"
TEXT = "the published numbers were not made with the behaviour of the text"


MIN_AT_AGE = (
    "The last MIN row of table 3.3 prints a percentage that does not fit its load; the load is right."
)


@dataclass(frozen=True)
class FairnessTable:
    """A table, run with the behaviour of the published one or of the text."""

    study: Study
    label: str
    arbitration: Arbitration
    behaviour: Behaviour
    remarks: Sequence[str] = ()
    """What its notes say of this table alone."""

    @property
    def rows(self) -> Mapping[str, Sequence[PublishedRow]]:
        """Mechanism -> its row below and its row above saturation."""
        found: dict[str, list[PublishedRow]] = {}
        for row in published(self.study, self.label):
            found.setdefault(row.mechanism, []).append(row)
        return found

    @property
    def reproduces(self) -> bool:
        """Whether its numbers should be the published ones."""
        return self.behaviour is behaviour.PUBLISHED

    def entry(self) -> Entry:
        """The table as an entry of the registry."""
        return Entry(
            name=self.behaviour.entry_name(self.study.entry_name("table", self.label)),
            title=self.behaviour.entry_title(f"Fairness under ADVc, {self.arbitration.title}"),
            source=self.study.place("table", self.label),
            notes=self._notes,
            seeds=self.study.curves_seeds,
            experiments=self._experiments,
            conclude=self._conclude,
            draw=self._draw,
        )

    def _notes(self, scale: Scale) -> list[str]:
        return [
            *self.study.notes(scale, self.study.curves[scale]),
            *fairness.explanation(self.arbitration, self.behaviour),
            "Average saturation load: the load accepted at the larger offered load of the row; the "
            "publication does not define it and prints two decimals.",
            *self.study.table_settings,
            *self.remarks,
        ]

    def _experiments(self, scale: Scale, seeds: int) -> list[Experiment]:
        systems = fairness.systems(self.arbitration, self.behaviour, self.study.injection)
        traffic = advc(self.behaviour)
        return [
            Experiment(
                slug(name),
                systems[name].document(self.study.curves[scale], traffic),
                [row.load for row in rows],
                seeds,
            )
            for name, rows in self.rows.items()
        ]

    def _conclude(self, scale: Scale, results: Results) -> Outcome:
        network = self.study.curves[scale]
        only = "" if self.reproduces else TEXT
        comparisons: list[Comparison] = []
        for name, rows in self.rows.items():
            points = results[slug(name)]
            bound = self._bound(network) if name == "MIN" else ""
            comparisons.append(_average(rows[-1], at(points, rows[-1].load), bound, scale, only))
            for index, row in enumerate(rows):
                above = "" if index == 0 or self.study.judges_saturated else ABOVE
                comparisons += compare(row, at(points, row.load), network, scale, only or above)
        return Outcome(comparisons, list(self._orders(results)))

    def _bound(self, network: Network) -> str:
        groups = self.behaviour.advc_groups(network.h)
        return f"at most {groups / (network.a * network.h):.4f} = {groups}/(a p)"

    def _orders(self, results: Results) -> Iterator[Fact]:
        """The order of the mechanisms above saturation."""
        for key, quantity in JUDGED.items():
            theirs = {name: rows[-1].values[key] for name, rows in self.rows.items()}
            ours = {name: self._above(key, name, results) for name in theirs}
            yield order(quantity, theirs, ours)

    def _above(self, key: str, name: str, results: Results) -> float:
        measured = _measured(key, at(results[slug(name)], self.rows[name][-1].load))
        return math.inf if measured is None else measured.mean

    def _draw(self, scale: Scale, results: Results) -> Figure:
        from hopsim_reproduce import drawing

        published_nodes, nodes = self.study.published.nodes, self.study.curves[scale].nodes
        title = (
            f"{self.study.title} table {self.label}: published ({published_nodes:,} nodes) and hopsim "
            f"({nodes:,} nodes)"
        )
        quantities = (AVERAGE, *(each.title for each in JUDGED.values()))
        return drawing.beside(title, self._conclude(scale, results).comparisons, quantities)


def order(quantity: Quantity, published: Mapping[str, float], ours: Mapping[str, float]) -> Fact:
    """Whether ours has the published order; rows that are closer than the tolerance may swap."""
    tolerance = quantity.tolerance or 0.0
    wrong = swapped(published, ours, tolerance)
    return Fact(
        statement=f"order of the mechanisms above saturation by {quantity.title}",
        criterion=f"the published one; rows within {100 * tolerance:g} % may swap",
        found=f"swapped: {', '.join(wrong)}" if wrong else "the same",
        holds=not wrong,
    )


def _average(
    row: PublishedRow, replicas: Sequence[Result], bound: str, scale: Scale, only: str
) -> Comparison:
    return Comparison(
        row.mechanism,
        AVERAGE,
        _accepted(replicas),
        row.saturation,
        3,
        bound,
        allowed=AVERAGE_ALLOWED if scale == "full" and not only else None,
        only=only,
    )


def _accepted(replicas: Sequence[Result]) -> Measured:
    return Measured.of([result.summary["accepted_load"] for result in replicas])


def compare(
    row: PublishedRow, replicas: Sequence[Result], network: Network, scale: Scale, only: str = ""
) -> Iterator[Comparison]:
    """The quantities of a row beside ours, judged at full scale unless `only` says why not."""
    saturated = _accepted(replicas).mean < SATURATION * row.load
    chance = "" if saturated else f"{sampling_cov(row.load, network):.4f} by chance alone"
    for key, quantity in QUANTITIES.items():
        value, tolerance = row.values[key], quantity.tolerance
        shown = only or (SAYS_THE_SAME if tolerance is None else "")
        yield Comparison(
            row=f"{row.mechanism} at {row.load:g}",
            quantity=quantity.title,
            ours=_measured(key, replicas),
            published=value,
            decimals=quantity.decimals,
            expected=chance if key == "router_injection_cov" else "",
            missing="a router injects nothing",
            allowed=None if shown or scale != "full" else (tolerance or 0.0) * value,
            only=shown,
        )


def _measured(key: str, replicas: Sequence[Result]) -> Measured | None:
    """Mean over the seeds; None if it does not exist for one of them."""
    return Measured.of_known([_value(key, result) for result in replicas])


def _value(key: str, result: Result) -> float | None:
    if key == "router_injection_min_load":
        return result.summary["router_injection_min"]
    if key == "router_injection_min_percent_of_offered":
        return 100 * result.summary["router_injection_min"] / load(result)
    return result.summary[key]


def sampling_cov(offered: float, network: Network) -> float:
    """CoV of the packets per router if every node injects by chance and nothing else differs."""
    chance = offered / PACKET_LENGTH
    return math.sqrt((1 - chance) / (network.h * network.cycles * chance))


def entries() -> list[Entry]:
    """The three tables, as published and by the text."""
    return [
        FairnessTable(THESIS, label, arbitration, way, remarks).entry()
        for way in (behaviour.PUBLISHED, behaviour.TEXTBOOK)
        for label, arbitration, remarks in (
            ("3.1", PRIORITY, ()),
            ("3.2", ROUND_ROBIN, ()),
            ("3.3", AGE, (MIN_AT_AGE,)),
        )
    ]
