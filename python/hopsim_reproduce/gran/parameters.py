"""Marking rate against timer: a map of fairness and of use of the bottleneck."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from hopsim_reproduce.gran.measured import Run, runs
from hopsim_reproduce.gran.system import (
    CAPACITY,
    GRAN,
    NOTES,
    TWO_SWITCHES,
    TWO_THRESHOLDS,
    UNTOLD,
    control,
    document,
)
from hopsim_reproduce.model import Entry, Experiment, Fact, Outcome, Results, Scale, at

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RATES = (0, 1, 3, 10, 30)
TIMERS = (15, 50, 150, 500, 1500)
TIMER = "router.infiniband.congestion_control.ccti_timer"
STAGE: Mapping[Scale, float] = {"quick": 0.2, "full": 1.0}
SEEDS: Mapping[Scale, int] = {"quick": 1, "full": 4}
LAST = 4
"""Stage that is judged: that with four contributors."""


def _experiments(scale: Scale, seeds: int) -> list[Experiment]:
    return [
        Experiment(
            f"rate-{rate}",
            document(TWO_SWITCHES, STAGE[scale], control(TWO_THRESHOLDS, marking_rate=rate)),
            TIMERS,
            seeds,
            axis=TIMER,
        )
        for rate in RATES
    ]


def _map(scale: Scale, results: Results, value: Callable[[Run], float]) -> np.ndarray:
    """By rate and timer, the mean of a value over seeds."""
    return np.array(
        [
            [
                np.mean([value(run) for run in runs(at(results[f"rate-{rate}"], timer, TIMER), STAGE[scale])])
                for timer in TIMERS
            ]
            for rate in RATES
        ]
    )


def _fairness(run: Run) -> float:
    return run.fairness(LAST)


def _use(run: Run) -> float:
    return sum(run.contributors(LAST)) / CAPACITY


def _conclude(scale: Scale, results: Results) -> Outcome:
    maps = (_map(scale, results, _fairness), _map(scale, results, _use))
    return Outcome(facts=list(_facts(*maps)))


def _facts(fairness: np.ndarray, use: np.ndarray) -> Iterator[Fact]:
    one, timer = RATES.index(1), TIMERS.index(150)
    found = f"Jain's index {fairness[one, timer]:.4f}, use {use[one, timer]:.3f}"
    yield Fact(
        "a marking rate of 1 gives fairness and high use",
        "with timer 150 Jain's index at least 0.99, use at least 0.9",
        found,
        bool(fairness[one, timer] >= 0.99 and use[one, timer] >= 0.9),
    )
    both = np.minimum(fairness, use)
    best = both.max(axis=1)
    found = ", ".join(f"{rate}: {value:.3f}" for rate, value in zip(RATES, best, strict=True))
    yield Fact(
        "the marking rate should be kept low, preferably at 1",
        "the smaller of fairness and use, with the best timer, is greatest at a rate of at most 1",
        found,
        int(best.argmax()) <= one,
    )


def _draw(scale: Scale, results: Results) -> Figure:
    from matplotlib.figure import Figure as Drawing

    figure = Drawing(figsize=(10, 4.4), layout="constrained")
    figure.suptitle("Four contributors of a parking lot")
    panels = {"Jain's index of fairness": _fairness, "use of the bottleneck": _use}
    for axes, (title, value) in zip(figure.subplots(1, 2), panels.items(), strict=True):
        values = _map(scale, results, value)
        image = axes.imshow(values, origin="lower", vmin=0.5, vmax=1, cmap="viridis", aspect="auto")
        for (row, column), number in np.ndenumerate(values):
            colour = "black" if number > 0.8 else "white"
            axes.text(column, row, f"{number:.3f}", ha="center", va="center", color=colour, fontsize=9)
        axes.set_xticks(range(len(TIMERS)), [str(timer) for timer in TIMERS])
        axes.set_yticks(range(len(RATES)), [str(rate) for rate in RATES])
        axes.set(title=title, xlabel="CCTI_Timer [1.024 µs]", ylabel="Marking_Rate")
        figure.colorbar(image, ax=axes)
    return figure


def _notes(scale: Scale) -> list[str]:
    return [
        *NOTES,
        UNTOLD,
        f"Topology of figure 8, two thresholds; a flow is added every {STAGE[scale]:g} s. The second half "
        "of the last stage is judged, in which slow timers may not have settled.",
    ]


def entries() -> list[Entry]:
    """The map."""
    return [
        Entry(
            name="gran-parameters",
            title="Fairness and use by marking rate and timer",
            source=f"{GRAN}, §V: the marking rate should be kept low",
            notes=_notes,
            seeds=SEEDS,
            experiments=_experiments,
            conclude=_conclude,
            draw=_draw,
        )
    ]
