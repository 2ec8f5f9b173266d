"""The fairness tables as they are printed."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources

from hopsim_reproduce.thesis.study import Study


@dataclass(frozen=True)
class Quantity:
    """A column of the tables."""

    title: str
    decimals: int
    tolerance: float | None
    """Relative difference that agrees; None if another column says the same."""


QUANTITIES: Mapping[str, Quantity] = {
    "router_injection_min_load": Quantity("min inj. load", 4, 0.05),
    "router_injection_min_percent_of_offered": Quantity("min inj., % of offered", 1, None),
    "router_injection_max_min_ratio": Quantity("max/min", 3, 0.10),
    "router_injection_cov": Quantity("CoV", 4, 0.15),
}
"""Column of the published table -> what it is."""
AVERAGE_ALLOWED = 0.02
"""Largest difference of the average saturation load that agrees [phits/(node·cycle)]."""
JUDGED = {key: quantity for key, quantity in QUANTITIES.items() if quantity.tolerance is not None}


@dataclass(frozen=True)
class PublishedRow:
    """One line of a published table."""

    mechanism: str
    saturation: float
    load: float
    values: Mapping[str, float]


def published(study: Study, label: str) -> list[PublishedRow]:
    """The rows of one table: two per mechanism, below and above saturation."""
    file = resources.files("hopsim_reproduce") / "data" / study.values
    return [
        PublishedRow(
            mechanism=record["mechanism"],
            saturation=float(record["average_saturation_load"]),
            load=float(record["offered_load"]),
            values={key: float(record[key]) for key in QUANTITIES},
        )
        for record in csv.DictReader(file.read_text("utf-8").splitlines())
        if record["table"].startswith(f"{study.name}-{label} ")
    ]


def published_row(study: Study, label: str, mechanism: str, load: float) -> PublishedRow:
    """The row of one table for a mechanism at an offered load."""
    (row,) = (each for each in published(study, label) if (each.mechanism, each.load) == (mechanism, load))
    return row
