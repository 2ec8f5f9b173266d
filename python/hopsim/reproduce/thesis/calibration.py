"""What source-adaptive routing was set to in the thesis, tried on one row of table 3.2."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from hopsim.reproduce.model import Entry, Experiment, Outcome, Results, Scale, slug
from hopsim.reproduce.thesis import behaviour, fairness
from hopsim.reproduce.thesis.network import FAIRNESS, FAIRNESS_SEEDS, notes
from hopsim.reproduce.thesis.published import JUDGED, published
from hopsim.reproduce.thesis.routing import FACTOR, T_GLOBAL, T_LOCAL, source_adaptive
from hopsim.reproduce.thesis.study import THESIS
from hopsim.reproduce.thesis.system import ROUND_ROBIN
from hopsim.reproduce.thesis.tables import compare
from hopsim.reproduce.thesis.traffic import advc

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MECHANISM = "Src-RRG"
ROW = next(row for row in published(THESIS, "3.2") if row.mechanism == MECHANISM)


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


CANDIDATES = (
    Setting(5, 3, 2.0),
    Setting(5, 3, 1.5),
    Setting(T_LOCAL, T_GLOBAL, FACTOR),
    Setting(5, 3, 1.25),
    Setting(3, 5, 2.0),
)
"""The printed thresholds with the factor of the text and less; the other way round with that of the text."""


def _notes(scale: Scale) -> list[str]:
    return [
        *notes(scale, FAIRNESS[scale]),
        *behaviour.PUBLISHED.notes,
        "T_local: packets in the comparison with the detour; T_global: packets above F times the mean at "
        f"which a global link is saturated. The other entries have {T_LOCAL}, {T_GLOBAL} and {FACTOR:g}.",
    ]


def _experiment(setting: Setting, scale: Scale, seeds: int) -> Experiment:
    routing = source_adaptive(
        "rrg",
        threshold=setting.local,
        saturation_threshold=setting.saturated,
        factor=setting.factor,
    )
    system = fairness.systems(ROUND_ROBIN)[MECHANISM].with_(routing=routing)
    return Experiment(slug(setting.title), system.document(FAIRNESS[scale], advc()), [ROW.load], seeds)


def _experiments(scale: Scale, seeds: int) -> list[Experiment]:
    return [_experiment(setting, scale, seeds) for setting in CANDIDATES]


def _conclude(scale: Scale, results: Results) -> Outcome:
    comparisons = [
        replace(each, row=setting.title)
        for setting in CANDIDATES
        for each in compare(ROW, results[slug(setting.title)], FAIRNESS[scale], scale == "full")
    ]
    return Outcome(comparisons)


def _draw(scale: Scale, results: Results) -> Figure:
    from hopsim.reproduce import drawing

    title = f"{MECHANISM} at {ROW.load:g} under ADVc, by setting"
    quantities = [each.title for each in JUDGED.values()]
    return drawing.beside(title, _conclude(scale, results).comparisons, quantities)


def entries() -> list[Entry]:
    """The row with every setting."""
    return [
        Entry(
            name="thesis-table-3.2-calibration",
            title=f"{MECHANISM} at {ROW.load:g} with several settings",
            source=THESIS.place("table", "3.2"),
            notes=_notes,
            seeds=FAIRNESS_SEEDS,
            experiments=_experiments,
            conclude=_conclude,
            draw=_draw,
        )
    ]
