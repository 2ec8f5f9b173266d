"""Tables 3.1 to 3.3 of the thesis: fairness below and above saturation, rows MIN and oblivious.

`Average saturation load` is not defined in the thesis. Here it is the load accepted at the larger
of the row's two offered loads, which lies above saturation for every mechanism.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import resources
from typing import TYPE_CHECKING

from hopsim.reproduce import thesis
from hopsim.reproduce.model import Comparison, Entry, Experiment, Measured, Outcome, Results, Scale, at, load
from hopsim.reproduce.thesis import MECHANISMS, NETWORKS, PACKET_LENGTH, SEEDS, Arbitration, Network
from hopsim.results import Result

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PUBLISHED = "thesis-tables-3.1-3.3.csv"
SATURATION = "avg. saturation load"
QUANTITIES: Mapping[str, tuple[str, int]] = {
    "router_injection_min_load": ("min inj. load", 4),
    "router_injection_min_percent_of_offered": ("min inj., % of offered", 1),
    "router_injection_max_min_ratio": ("max/min", 3),
    "router_injection_cov": ("CoV", 4),
}
"""Column of the published table -> its title and the decimals to print."""


@dataclass(frozen=True)
class PublishedRow:
    """One line of a published table."""

    mechanism: str
    saturation: float
    load: float
    values: Mapping[str, float]


def published(number: str) -> list[PublishedRow]:
    """The rows of one table that belong to mechanisms of this entry."""
    file = resources.files("hopsim.reproduce") / "data" / PUBLISHED
    names = {mechanism.name for mechanism in MECHANISMS}
    lines = file.read_text("utf-8").splitlines()
    return [
        PublishedRow(
            mechanism=record["mechanism"],
            saturation=float(record["average_saturation_load"]),
            load=float(record["offered_load"]),
            values={key: float(record[key]) for key in QUANTITIES},
        )
        for record in csv.DictReader(lines)
        if record["table"].startswith(f"thesis-{number} ") and record["mechanism"] in names
    ]


def table(number: str, arbitration: Arbitration) -> Entry:
    """The entry of one table."""
    rows = published(number)
    return Entry(
        name=f"thesis-table-{number}",
        title=f"Fairness under ADVc, {arbitration.title}",
        source=f"{thesis.THESIS}, table {number}",
        notes={scale: _notes(scale, arbitration) for scale in NETWORKS},
        seeds=SEEDS,
        experiments=partial(_experiments, arbitration, rows),
        conclude=partial(_conclude, rows),
        draw=partial(_draw, number, rows),
    )


def _notes(scale: Scale, arbitration: Arbitration) -> list[str]:
    return [
        *thesis.notes(scale, arbitration),
        "Average saturation load: the load accepted at the larger offered load of the row; the "
        "thesis does not define it and prints two decimals.",
    ]


def _experiments(
    arbitration: Arbitration, rows: Sequence[PublishedRow], scale: Scale, seeds: int
) -> list[Experiment]:
    loads: dict[str, list[float]] = {}
    for row in rows:
        loads.setdefault(row.mechanism, []).append(row.load)
    return thesis.experiments(scale, seeds, arbitration, loads)


def _conclude(rows: Sequence[PublishedRow], scale: Scale, results: Results) -> Outcome:
    network = NETWORKS[scale]
    comparisons: list[Comparison] = []
    for mechanism in MECHANISMS:
        own = [row for row in rows if row.mechanism == mechanism.name]
        points = results[mechanism.slug]
        comparisons.append(_saturation(own[-1], at(points, own[-1].load), network))
        for row in own:
            comparisons += _fairness(row, at(points, row.load), network)
    return Outcome(comparisons)


def _saturation(row: PublishedRow, replicas: Sequence[Result], network: Network) -> Comparison:
    expected = f"at most {network.minimal_bound:.4f} = (h-1)/(a p)" if row.mechanism == "MIN" else ""
    accepted = _accepted(replicas)
    return Comparison(row.mechanism, SATURATION, accepted, row.saturation, 3, expected)


def _accepted(replicas: Sequence[Result]) -> Measured:
    return Measured.of([result.summary["accepted_load"] for result in replicas])


def _fairness(row: PublishedRow, replicas: Sequence[Result], network: Network) -> list[Comparison]:
    saturated = _accepted(replicas).mean < 0.97 * row.load
    chance = "" if saturated else f"{sampling_cov(row.load, network):.4f} by chance alone"
    comparisons = []
    for key, (title, decimals) in QUANTITIES.items():
        values = [_value(key, result) for result in replicas]
        numbers = [value for value in values if value is not None]
        ours = Measured.of(numbers) if len(numbers) == len(values) else None
        expected = chance if key == "router_injection_cov" else ""
        label = f"{row.mechanism} at {row.load:g}"
        comparisons.append(Comparison(label, title, ours, row.values[key], decimals, expected))
    return comparisons


def _value(key: str, result: Result) -> float | None:
    if key == "router_injection_min_load":
        return result.summary["router_injection_min"]
    if key == "router_injection_min_percent_of_offered":
        return 100 * result.summary["router_injection_min"] / load(result)
    return result.summary[key]


def sampling_cov(load: float, network: Network) -> float:
    """CoV of the packets per router if every node injects by chance and nothing else differs."""
    chance = load / PACKET_LENGTH
    return math.sqrt((1 - chance) / (network.h * network.cycles * chance))


def _draw(number: str, rows: Sequence[PublishedRow], scale: Scale, results: Results) -> Figure:
    from hopsim.reproduce import drawing

    outcome = _conclude(rows, scale, results)
    network = NETWORKS[scale]
    title = f"Thesis table {number}: published (16,512 nodes) and hopsim ({network.nodes:,} nodes)"
    titles = (SATURATION, *(title for title, _ in QUANTITIES.values()))
    return drawing.beside(
        title,
        [
            (quantity, [c for c in outcome.comparisons if c.quantity == quantity])
            for quantity in titles
            if "%" not in quantity
        ],
    )
