"""Thresholds of source-adaptive routing that the thesis does not print, tried on one row of table 3.2."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hopsim.reproduce.model import Entry, Experiment, Outcome, Results, Scale, slug
from hopsim.reproduce.thesis import behaviour, fairness
from hopsim.reproduce.thesis.network import FAIRNESS, FAIRNESS_SEEDS, THESIS, notes
from hopsim.reproduce.thesis.published import JUDGED, published
from hopsim.reproduce.thesis.routing import T_GLOBAL, T_LOCAL, source_adaptive
from hopsim.reproduce.thesis.system import ROUND_ROBIN
from hopsim.reproduce.thesis.tables import compare
from hopsim.reproduce.thesis.traffic import advc

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MECHANISM = "Src-RRG"
ROW = next(row for row in published("3.2") if row.mechanism == MECHANISM)
CANDIDATES = ((5, 3), (4, 3), (3, 3), (3, 5))
"""T_local and T_global [packets]."""


def _notes(scale: Scale) -> list[str]:
    return [
        *notes(scale, FAIRNESS[scale]),
        *behaviour.PUBLISHED.notes,
        "T_local: packets in the comparison with the detour; T_global: packets above twice the mean "
        f"at which a global link is saturated. The other entries have {T_LOCAL} and {T_GLOBAL}.",
    ]


def _title(pair: tuple[int, int]) -> str:
    return f"T_local {pair[0]}, T_global {pair[1]}"


def _experiment(pair: tuple[int, int], scale: Scale, seeds: int) -> Experiment:
    local, saturated = pair
    routing = source_adaptive("rrg", threshold=local, saturation_threshold=saturated)
    system = fairness.systems(ROUND_ROBIN)[MECHANISM].with_(routing=routing)
    return Experiment(slug(_title(pair)), system.document(FAIRNESS[scale], advc()), [ROW.load], seeds)


def _experiments(scale: Scale, seeds: int) -> list[Experiment]:
    return [_experiment(pair, scale, seeds) for pair in CANDIDATES]


def _conclude(scale: Scale, results: Results) -> Outcome:
    comparisons = [
        replace(each, row=_title(pair))
        for pair in CANDIDATES
        for each in compare(ROW, results[slug(_title(pair))], FAIRNESS[scale], scale == "full")
    ]
    return Outcome(comparisons)


def _draw(scale: Scale, results: Results) -> Figure:
    from hopsim.reproduce import drawing

    title = f"{MECHANISM} at {ROW.load:g} under ADVc, by threshold"
    quantities = [each.title for each in JUDGED.values()]
    return drawing.beside(title, _conclude(scale, results).comparisons, quantities)


def entries() -> list[Entry]:
    """The row with every pair of thresholds."""
    return [
        Entry(
            name="thesis-table-3.2-calibration",
            title=f"{MECHANISM} at {ROW.load:g} with several thresholds",
            source=f"{THESIS}, table 3.2",
            notes=_notes,
            seeds=FAIRNESS_SEEDS,
            experiments=_experiments,
            conclude=_conclude,
            draw=_draw,
        )
    ]
