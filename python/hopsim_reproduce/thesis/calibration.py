"""Rows of the fairness tables with several settings that the publication does not print.

The entry here is what source-adaptive routing was set to in the thesis, tried on one row of table 3.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from hopsim_reproduce.model import Entry, Experiment, Outcome, Results, Scale, slug
from hopsim_reproduce.thesis import behaviour, fairness
from hopsim_reproduce.thesis.network import Network
from hopsim_reproduce.thesis.published import JUDGED, PublishedRow, published
from hopsim_reproduce.thesis.routing import FACTOR, T_GLOBAL, T_LOCAL, source_adaptive
from hopsim_reproduce.thesis.study import THESIS, Study
from hopsim_reproduce.thesis.system import ROUND_ROBIN, System
from hopsim_reproduce.thesis.tables import compare
from hopsim_reproduce.thesis.traffic import advc

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Trial:
    """A row with one setting."""

    title: str
    """Unique; names its experiment."""
    row: PublishedRow
    system: System
    warmup: int | None = None
    """[cycles]; None: that of the tables."""

    def experiment(self, network: Network, seeds: int) -> Experiment:
        """What is run."""
        warmed = network if self.warmup is None else replace(network, warmup=self.warmup)
        return Experiment(slug(self.title), self.system.document(warmed, advc()), [self.row.load], seeds)


@dataclass(frozen=True)
class Trials:
    """Rows with all their settings."""

    study: Study
    name: str
    title: str
    source: str
    trials: Sequence[Trial]
    explanation: Sequence[str]

    def entry(self) -> Entry:
        """As an entry of the registry."""
        return Entry(
            name=self.name,
            title=self.title,
            source=self.source,
            notes=self._notes,
            seeds=self.study.curves_seeds,
            experiments=self._experiments,
            conclude=self._conclude,
            draw=self._draw,
        )

    def _notes(self, scale: Scale) -> list[str]:
        network = self.study.notes(scale, self.study.curves[scale])
        return [*network, *behaviour.PUBLISHED.notes, *self.explanation]

    def _experiments(self, scale: Scale, seeds: int) -> list[Experiment]:
        return [trial.experiment(self.study.curves[scale], seeds) for trial in self.trials]

    def _conclude(self, scale: Scale, results: Results) -> Outcome:
        network = self.study.curves[scale]
        comparisons = [
            replace(each, row=trial.title)
            for trial in self.trials
            for each in compare(trial.row, results[slug(trial.title)], network, scale)
        ]
        return Outcome(comparisons)

    def _draw(self, scale: Scale, results: Results) -> Figure:
        from hopsim_reproduce import drawing

        quantities = [each.title for each in JUDGED.values()]
        title = f"{self.title}, {self.study.curves[scale].nodes:,} nodes"
        return drawing.beside(title, self._conclude(scale, results).comparisons, quantities)


@dataclass(frozen=True)
class Setting:
    """Thresholds [packets] and the factor of the mean at which a global link is saturated."""

    local: int
    saturated: int
    factor: float

    @property
    def title(self) -> str:
        """As it is printed."""
        return f"T_local {self.local}, T_global {self.saturated}, F {self.factor:g}"

    def trial(self, row: PublishedRow) -> Trial:
        """The row with this setting."""
        routing = source_adaptive(
            "rrg",
            threshold=self.local,
            saturation_threshold=self.saturated,
            factor=self.factor,
        )
        return Trial(self.title, row, fairness.systems(ROUND_ROBIN)[row.mechanism].with_(routing=routing))


CANDIDATES = (
    Setting(5, 3, 2.0),
    Setting(5, 3, 1.5),
    Setting(T_LOCAL, T_GLOBAL, FACTOR),
    Setting(5, 3, 1.25),
    Setting(3, 5, 2.0),
)
"""The printed thresholds with the factor of the text and less; the other way round with that of the text."""


def entries() -> list[Entry]:
    """The row of the thesis with every setting."""
    row = next(row for row in published(THESIS, "3.2") if row.mechanism == "Src-RRG")
    trials = Trials(
        study=THESIS,
        name="thesis-table-3.2-calibration",
        title=f"{row.mechanism} at {row.load:g} with several settings",
        source=THESIS.place("table", "3.2"),
        trials=[setting.trial(row) for setting in CANDIDATES],
        explanation=[
            "T_local: packets in the comparison with the detour; T_global: packets above F times the mean at "
            f"which a global link is saturated. The other entries have {T_LOCAL}, {T_GLOBAL} and {FACTOR:g}."
        ],
    )
    return [trials.entry()]
