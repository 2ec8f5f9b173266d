"""Micro-benchmarks of §4.3: phases of LU and CG alone, with local buffer restriction and without."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from hopsim_reproduce.model import (
    AGREES,
    Comparison,
    Entry,
    Experiment,
    Fact,
    Measured,
    Outcome,
    Results,
    Scale,
    slug,
)
from hopsim_reproduce.panels import EXECUTION_TIME
from hopsim_reproduce.ridruejo.system import CHOSEN, CONTROLS, HOSTS, NOTE, RIDRUEJO, RING, relative, running

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SIDE = 8
"""Of the square of ranks: rank 8 y + x is at (x, y)."""
RANKS = SIDE * SIDE
PLANES = 62
"""Of the grid of class A, each of which goes through the ranks as a cascade of its own."""
CASCADED, EXCHANGED, TRANSPOSED, SUMMED = 320, 40_960, 14_000, 8
"""Bytes of the messages of LU.A.64: of a cascade and of phases 4 and 6; of CG.A.64: long and short ones."""
GAIN, DROP = 40, 20
"""Published: what LBR gains in phase 6 at least, and what it costs in phases 1 and 2 [% of the time]."""
SAME = 0.01
"""Largest relative change of a time that does not change."""
SEEDS: Mapping[Scale, int] = {"quick": 2, "full": 10}
Records = list[str]
"""What a rank does, in format mpt 1."""


def exchange(rank: int, step: int) -> Records:
    """Phase 4 or 6 of LU: messages to the ranks `step` further and back, while others come from there."""
    place = rank % SIDE if step == 1 else rank // SIDE
    below = rank - step if place > 0 else None
    above = rank + step if place < SIDE - 1 else None
    records: Records = []
    for tag, (source, destination) in enumerate(((below, above), (above, below))):
        if source is not None:
            records.append(f"j 0 {source} {tag} {EXCHANGED} 0")
        if destination is not None:
            records.append(f"s {destination} {tag} {EXCHANGED} 0")
        if source is not None:
            records.append("w 0")
    return records


def cascades(rank: int) -> Records:
    """Phases 1 and 2 of LU: each plane goes from rank 0 to the last one, then each goes back."""
    places = ((1, rank % SIDE), (SIDE, rank // SIDE))
    records: Records = []
    for direction in (1, -1):
        sources = [rank - direction * step for step, place in places if 0 <= place - direction < SIDE]
        destinations = [rank + direction * step for step, place in places if 0 <= place + direction < SIDE]
        plane = [f"r {source} 0 {CASCADED} 0" for source in sources]
        plane += [f"s {destination} 0 {CASCADED} 0" for destination in destinations]
        records += PLANES * plane
    return records


def chain(rank: int) -> Records:
    """Phase 1 of CG: seven exchanges, each of which waits for the one before."""
    transposed = rank % SIDE * SIDE + rank // SIDE
    near = [rank ^ 1, rank ^ 2, rank ^ 4]
    long = [(other, TRANSPOSED) for other in (*near, transposed)]
    short = [(other, SUMMED) for other in reversed(near)]
    records: Records = []
    for tag, (other, size) in enumerate([*long, *short]):
        if other != rank:
            records += [f"j 0 {other} {tag} {size} 0", f"s {other} {tag} {size} 0", "w 0"]
    return records


LU_6, LU_4, LU_CASCADES, CG_CHAIN = "LU, phase 6", "LU, phase 4", "LU, phases 1 and 2", "CG, phase 1"
PHASES: Mapping[str, Sequence[Records]] = {
    LU_6: [exchange(rank, SIDE) for rank in range(RANKS)],
    LU_4: [exchange(rank, 1) for rank in range(RANKS)],
    LU_CASCADES: [cascades(rank) for rank in range(RANKS)],
    CG_CHAIN: [chain(rank) for rank in range(RANKS)],
}
"""Name -> what each rank does."""


def program(name: str) -> str:
    """A phase as a program in format mpt 1."""
    everyone = " ".join(map(str, range(RANKS)))
    lines = ["mpt 1", f"name {slug(name)}", f"ranks {RANKS}", f"comm 0 {RANKS} {everyone}"]
    for rank, records in enumerate(PHASES[name]):
        lines += [f"rank {rank} {len(records)}", *records]
    return "\n".join([*lines, "end", ""])


def _experiments(scale: Scale, seeds: int) -> list[Experiment]:
    return [
        Experiment(slug(name, control), running(RING, control, {"list": {"mpt": program(name)}}), (), seeds)
        for name in PHASES
        for control in CONTROLS
    ]


def _relative(results: Results) -> dict[str, Measured]:
    """Phase -> time with local buffer restriction over that without, with the same seed."""
    return {
        name: relative(results[slug(name, "LBR")], results[slug(name, "base")], EXECUTION_TIME)
        for name in PHASES
    }


def _conclude(scale: Scale, results: Results) -> Outcome:
    times = _relative(results)
    drop = Comparison(
        LU_CASCADES,
        "change of the time with LBR [%]",
        times[LU_CASCADES].change(),
        DROP,
        1,
        allowed=AGREES * DROP,
    )
    return Outcome([drop], list(_facts(times)))


def _facts(times: Mapping[str, Measured]) -> Iterator[Fact]:
    yield _limits("LU, phase 6: LBR is very effective", times[LU_6], None, 1 - AGREES)
    yield _limits("LU, phase 6: LBR gains more than 40 %", times[LU_6], None, 1 - GAIN / 100)
    yield _limits("LU, phase 4: LBR changes nothing", times[LU_4], 1 - SAME, 1 + SAME)
    yield _limits("LU, phases 1 and 2: LBR is harmful", times[LU_CASCADES], 1 + SAME, None)
    yield _limits("CG, phase 1: LBR delays the chains", times[CG_CHAIN], 1 + SAME, None)


def _limits(statement: str, time: Measured, low: float | None, high: float | None) -> Fact:
    limits, holds = [], True
    if low is not None:
        limits, holds = [f"at least {low:g}"], time.mean >= low
    if high is not None:
        limits, holds = [*limits, f"at most {high:g}"], holds and time.mean <= high
    found = f"{time.mean:.4f} ± {time.std:.4f}"
    return Fact(statement, f"{' and '.join(limits)} of the base case", found, holds)


def _notes(scale: Scale) -> list[str]:
    return [
        f"64-ring. {NOTE}",
        f"{HOSTS} {CHOSEN}.",
        f"Phases 4 and 6 of LU: one exchange in both directions, messages of {EXCHANGED:,} B. Phases 1 "
        f"and 2: {PLANES} planes down and up, messages of {CASCADED} B. Phase 1 of CG: four messages of "
        f"{TRANSPOSED:,} B and three of {SUMMED} B. Partners, order and sizes are those of the traces.",
        "The paper says neither how often its micro-benchmarks repeat a phase, nor whether a gain is one of "
        "time or of speed: here it is one of time, as in figure 3.",
    ]


def _draw(scale: Scale, results: Results) -> Figure:
    from hopsim_reproduce import drawing

    times = _relative(results)
    return drawing.panels_of_bars(
        "Phases of LU and CG alone with LBR",
        "change of the time against\nthe base case [%]",
        list(times),
        {"64-ring, B = 3": {"LBR": [time.change() for time in times.values()]}},
    )


def entries() -> list[Entry]:
    """The micro-benchmarks."""
    return [
        Entry(
            name="ridruejo-micro-benchmarks",
            title="Phases of LU and CG alone with local buffer restriction, 64-ring",
            source=f"{RIDRUEJO}, §4.3",
            notes=_notes,
            seeds=SEEDS,
            experiments=_experiments,
            conclude=_conclude,
            draw=_draw,
        )
    ]
