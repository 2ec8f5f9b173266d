"""A publication of the fairness study: chapter 3 of the thesis, or the journal version of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hopsim_reproduce.model import Scale
from hopsim_reproduce.thesis.network import (
    CURVES,
    CURVES_SEEDS,
    ROUTERS_SEEDS,
    Network,
    notes,
)
from hopsim_reproduce.thesis.routing import FACTOR
from hopsim_reproduce.thesis.system import TABLE_1_2


@dataclass(frozen=True)
class Study:
    """What it ran, and how the entries of its tables and figures are called."""

    name: str
    """First word of the names of its entries."""
    title: str
    """What titles of figures call it."""
    source: str
    values: str
    """File of its tables' values, in `data/`."""
    judges_saturated: bool
    """Whether rows above saturation are judged as well; the order of the mechanisms is compared anyway."""
    routers_seeds: Mapping[Scale, int]
    """For figures of single routers."""
    curves: Mapping[Scale, Network]
    """For curves over load, and for tables."""
    curves_seeds: Mapping[Scale, int]
    sizes: Mapping[Scale, Sequence[Network]]
    """For figures by the size of the network."""
    sizes_seeds: Mapping[Scale, int]
    injection: int = TABLE_1_2.injection
    """Injection buffer [phits per VC]."""
    settings: Sequence[str] = ()
    """What the notes of every entry say of settings that the publication does not print."""
    table_settings: Sequence[str] = ()
    """The same in the notes of tables."""

    @property
    def published(self) -> Network:
        """The network of its tables."""
        return self.curves["full"]

    def entry_name(self, kind: str, label: str) -> str:
        """The name of the entry of a table or figure."""
        return f"{self.name}-{kind}-{label}"

    def place(self, kind: str, label: str) -> str:
        """Where the table or figure is printed."""
        return f"{self.source}, {kind} {label}"

    def notes(self, scale: Scale, network: Network) -> list[str]:
        """What is run, and what a smaller network means."""
        return [*notes(scale, network, self.published), *self.settings]


THESIS = Study(
    name="thesis",
    title="Thesis",
    source="P. Fuentes, PhD thesis, Universidad de Cantabria, 2017",
    values="thesis-tables-3.1-3.3.csv",
    judges_saturated=False,
    routers_seeds=ROUTERS_SEEDS,
    curves=CURVES,
    curves_seeds=CURVES_SEEDS,
    sizes={
        "quick": tuple(Network(h, 3_000, 4_000) for h in (2, 3, 4)),
        "full": tuple(Network(h, 60_000, 60_000) for h in (4, 5, 6, 7, 8, 9, 10)),
    },
    sizes_seeds={"quick": 1, "full": 5},
    table_settings=(
        "The thresholds of source-adaptive and in-transit routing are not in the thesis: these are the "
        f"journal version's. The factor of saturated links, {FACTOR:g}, is printed nowhere: it fits "
        "Src-RRG at 0.30 of table 3.2 (thesis-table-3.2-calibration); the other rows are predictions.",
    ),
)
