"""Why figure 4 is unfair: the distance of the thresholds, and the point at which packets are marked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from hopsim.results.result import Result
from hopsim_reproduce.gran.measured import in_every_seed, runs
from hopsim_reproduce.gran.system import (
    GRAN,
    HIGH,
    NOTES,
    ONE_SWITCH,
    ONE_THRESHOLD,
    TWO_THRESHOLDS,
    UNTOLD,
    control,
    document,
)
from hopsim_reproduce.model import Entry, Experiment, Fact, Measured, Outcome, Results, Scale, at, slug

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DISTANCES = (0.0, 0.5, 0.95, 1.0, 1.1, 1.5, 2.0, 3.1)
"""Of the thresholds [packets]."""
LOW = "router.infiniband.congestion_control.thresholds.low"
POINT = "router.infiniband.congestion_control.mark_point"
POINTS = ("wire", "tail", "grant", "enqueue")
SWITCHING = ("store_and_forward", "cut_through")
SEEDS: Mapping[Scale, int] = {"quick": 2, "full": 8}
STAGE: Mapping[Scale, float] = {"quick": 0.2, "full": 1.0}
THREE = 3
"""Stage that is judged: that with three contributors."""
UNFAIR, FAIR = 1.5, 1.15
"""Greatest over least share from which shares are unfair, and up to which they are fair."""


def _low(distance: float) -> str:
    return f"{HIGH - distance:g} MTU"


def _ratios(results: Sequence[Result], scale: Scale) -> list[float]:
    return [run.ratio(THREE) for run in runs(results, STAGE[scale])]


def _distances(scale: Scale, seeds: int) -> list[Experiment]:
    base = document(ONE_SWITCH, STAGE[scale], control(TWO_THRESHOLDS))
    return [Experiment("main", base, [_low(distance) for distance in DISTANCES], seeds, axis=LOW)]


def _of_distance(scale: Scale, results: Results) -> dict[float, list[float]]:
    return {distance: _ratios(at(results["main"], _low(distance), LOW), scale) for distance in DISTANCES}


def _conclude_distances(scale: Scale, results: Results) -> Outcome:
    return Outcome(facts=list(_facts_of_distances(_of_distance(scale, results))))


def _facts_of_distances(ratios: Mapping[float, list[float]]) -> Iterator[Fact]:
    criterion = "greatest over least of three contributors"
    for distance in DISTANCES:
        if distance < 1:
            statement = f"{distance:g} packets apart: no more than one threshold"
            yield in_every_seed(statement, criterion, ratios[distance], UNFAIR)
        elif distance > 1:
            statement = f"{distance:g} packets apart: fairness is restored"
            yield in_every_seed(statement, criterion, ratios[distance], None, FAIR)
    same = [ratios[distance] for distance in DISTANCES if distance < 1]
    yield Fact(
        "less than a packet apart nothing changes at all",
        "the same rates for every distance below 1, seed by seed",
        "the same" if all(each == same[0] for each in same) else "they differ",
        all(each == same[0] for each in same),
    )


def _draw_distances(scale: Scale, results: Results) -> Figure:
    from hopsim_reproduce import drawing

    ratios = {place: Measured.of(values) for place, values in _of_distance(scale, results).items()}
    labels = [f"{distance:g}" for distance in DISTANCES]
    return drawing.bars(
        "Fairness by the distance of the thresholds",
        ("high minus low threshold [packets]", "greatest over least share"),
        labels,
        {"three contributors": list(ratios.values())},
    )


def _points(scale: Scale, seeds: int) -> list[Experiment]:
    return [
        Experiment(
            slug(switching, name),
            document(ONE_SWITCH, STAGE[scale], control(thresholds), switching=switching),
            POINTS,
            seeds,
            axis=POINT,
        )
        for switching in SWITCHING
        for name, thresholds in (("one", ONE_THRESHOLD), ("two", TWO_THRESHOLDS))
    ]


def _of_point(scale: Scale, results: Results) -> dict[str, dict[str, list[float]]]:
    """Series -> mark point -> ratios over seeds."""
    names = {
        f"{number} threshold{'s' if number == 'two' else ''}, {switching.replace('_', '-')}": slug(
            switching, number
        )
        for switching in SWITCHING
        for number in ("one", "two")
    }
    return {
        label: {point: _ratios(at(results[name], point, POINT), scale) for point in POINTS}
        for label, name in names.items()
    }


def _conclude_points(scale: Scale, results: Results) -> Outcome:
    return Outcome(facts=list(_facts_of_points(_of_point(scale, results))))


def _facts_of_points(ratios: Mapping[str, Mapping[str, list[float]]]) -> Iterator[Fact]:
    criterion = "greatest over least of three contributors"
    for label, points in ratios.items():
        for point, values in points.items():
            if label.startswith("one threshold") and point == "wire":
                yield in_every_seed(f"{label}, {point}: unfair", criterion, values, UNFAIR)
            else:
                yield in_every_seed(f"{label}, {point}: fair", criterion, values, None, FAIR)


def _draw_points(scale: Scale, results: Results) -> Figure:
    from hopsim_reproduce import drawing

    series = {
        label: [Measured.of(values) for values in points.values()]
        for label, points in _of_point(scale, results).items()
    }
    return drawing.bars(
        "Fairness by the point at which packets are marked",
        ("mark point", "greatest over least share, three contributors"),
        POINTS,
        series,
    )


def _notes(scale: Scale) -> list[str]:
    return [*NOTES, UNTOLD, f"Topology of figure 2; a flow is added every {STAGE[scale]:g} s."]


def entries() -> list[Entry]:
    """Both studies; the second one is ours."""
    return [
        Entry(
            name="gran-one-mtu",
            title="Fairness by the distance of the thresholds",
            source=f"{GRAN}, §IV.B: a hysteresis of more than one MTU is needed",
            notes=_notes,
            seeds=SEEDS,
            experiments=_distances,
            conclude=_conclude_distances,
            draw=_draw_distances,
        ),
        Entry(
            name="gran-mark-points",
            title="Fairness by the point at which packets are marked",
            source=f"a study of ours; {GRAN}, §IV.A, leaves it open",
            notes=_notes,
            seeds=SEEDS,
            experiments=_points,
            conclude=_conclude_points,
            draw=_draw_points,
        ),
    ]
