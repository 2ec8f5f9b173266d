"""Thresholds for each queue of an output, and one for all of them together (§IV.C)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from hopsim_reproduce.gran.measured import Run, active, runs, span
from hopsim_reproduce.gran.system import (
    COMMON,
    FLOWS,
    GRAN,
    NOTES,
    ONE_SWITCH,
    STAGE,
    TWO_THRESHOLDS,
    UNTOLD,
    control,
    document,
)
from hopsim_reproduce.model import AGREES, Entry, Experiment, Fact, Measured, Outcome, Results, Scale

if TYPE_CHECKING:
    from matplotlib.figure import Figure

APPROACHES = {"per VoQ": TWO_THRESHOLDS, "common": COMMON}
NAMES = {"per VoQ": "per-voq", "common": "common"}
STAGES = range(1, len(FLOWS))


def _experiments(scale: Scale, seeds: int) -> list[Experiment]:
    return [
        Experiment(NAMES[name], document(ONE_SWITCH, STAGE[scale], control(thresholds)), (), seeds)
        for name, thresholds in APPROACHES.items()
    ]


def _runs(scale: Scale, results: Results) -> dict[str, list[Run]]:
    return {name: runs(results[key], STAGE[scale]) for name, key in NAMES.items()}


def _mean(found: list[Run], flow: str, stage: int) -> Measured:
    return Measured.of([run.late(flow, stage) for run in found])


def _facts(found: dict[str, list[Run]]) -> Iterator[Fact]:
    for stage in STAGES:
        ratios = [
            _mean(found["common"], flow, stage).mean / _mean(found["per VoQ"], flow, stage).mean
            for flow in active(stage)
        ]
        yield Fact(
            f"{stage} contributors: both approaches behave alike",
            f"mean throughput of each with a common threshold over that with one per VoQ within {AGREES:.0%}",
            span(ratios),
            all(abs(ratio - 1) <= AGREES for ratio in ratios),
        )


def _conclude(scale: Scale, results: Results) -> Outcome:
    return Outcome(facts=list(_facts(_runs(scale, results))))


def _draw(scale: Scale, results: Results) -> Figure:
    from hopsim_reproduce import drawing

    found = _runs(scale, results)
    places = [f"{flow}, stage {stage}" for stage in STAGES for flow in active(stage)]
    series = {
        name: [_mean(each, flow, stage) for stage in STAGES for flow in active(stage)]
        for name, each in found.items()
    }
    return drawing.bars("Thresholds per VoQ and in common", ("flow", "throughput [Gb/s]"), places, series)


def _notes(scale: Scale) -> list[str]:
    return [*NOTES, UNTOLD, "The network of figure 7, with its two thresholds, in both approaches."]


def entries() -> list[Entry]:
    """The comparison."""
    return [
        Entry(
            name="gran-common-threshold",
            title="Thresholds per VoQ and in common, one switch",
            source=f"{GRAN}, §IV.C",
            notes=_notes,
            seeds={"quick": 3, "full": 8},
            experiments=_experiments,
            conclude=_conclude,
            draw=_draw,
        )
    ]
