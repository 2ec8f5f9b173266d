"""Cases of several threads: sweeps whose points run side by side, and single simulations."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator

from hopsim.bench import scale
from hopsim.bench.cases import Case, Measure
from hopsim.bench.figures import Figure
from hopsim.bench.measure import Bench, Document, NotMeasuredError, Usage, document
from hopsim.files import toml
from hopsim.runs.runner import all_cores

SECTION = "several threads"
MB = 1e6
# Two processes that take more than this, relative to one after the other, do not have a core each.
BUSY = 0.53
# Greatest wall time of a sweep on two threads over that on one, and of simulations that name no speed-up.
SWEEP_RATIO = 0.55
NO_SLOWER = 1.05
# Greatest CPU time on two threads over that on one: the busier of two equal ones takes 0.55 of it.
CPU_RATIO = 1.1
# Greatest time on eight threads over that on two, on two cores.
CROWD_RATIO = 1.3
PEAK_MB = {1: 1_300.0, 16: 1_600.0}


def cases() -> Iterator[Case]:
    """All cases."""
    yield Case(SECTION, "sweep of 40 points", _sweep)
    for each in scale.scaled():
        yield Case(SECTION, f"threads, {each.name}", _simulation(each))
        if each.name == scale.MIDDLE:
            yield Case(SECTION, f"crowd, {each.name}", _crowd(each.experiment))
        if each.name == scale.LARGEST:
            yield Case(SECTION, f"memory, {each.name}", _memory(each.experiment))


def _free(case: Case, bench: Bench) -> tuple[Figure, bool]:
    """How long two runs at once take, and whether each has a core."""
    if all_cores() < 2:
        raise NotMeasuredError("needs two cores")
    free = bench.two_at_once(document(0.5, (2_000, 18_000)))
    quantity = "two native runs at once over one by one"
    return Figure(case.name, quantity, "", free, note="0.5 on free cores"), free <= BUSY


def _wall(case: Case, quantity: str, ratio: tuple[float, float], free: bool, note: str) -> Figure:
    """A ratio of wall times and its target, which only holds on free cores."""
    value, target = ratio
    note = note if free else f"no verdict, cores are busy; {note}"
    return Figure(case.name, quantity, "", value, target if free else None, note)


def _sweep(case: Case, bench: Bench) -> Iterator[Figure]:
    """Wall time of the command line with two threads over one; the best of pairs run in turn."""
    figure, free = _free(case, bench)
    yield figure
    one, two = _sweep_usages(bench)
    note = f"wall {two.wall_s:.1f} s / {one.wall_s:.1f} s, CPU {two.cpu_s:.1f} s / {one.cpu_s:.1f} s"
    ratio = two.wall_s / one.wall_s
    yield _wall(case, "wall time, 2 threads over 1", (ratio, SWEEP_RATIO), free, note)


def _sweep_usages(bench: Bench) -> tuple[Usage, Usage]:
    """The quickest of some sweeps with one and with two threads."""
    axes = {"load": [0.2, 0.3, 0.4, 0.5], "measure.seed": list(range(1, 11))}
    text = toml.document({**document(0.5, (2_000, 8_000)), "sweep": {"product": axes}})
    file = bench.write("sweep.toml", text)
    usages: tuple[list[Usage], list[Usage]] = ([], [])
    for _ in range(min(bench.runs, 3)):
        for threads, measured in enumerate(usages, 1):
            command = [sys.executable, "-m", "hopsim", "run", file, "-j", str(threads), "--json", "-"]
            measured.append(bench.execute(command)[0])
    one, two = (min(measured, key=lambda usage: usage.wall_s) for measured in usages)
    return one, two


def _simulation(scaled: scale.Scaled) -> Measure:
    """Time on two threads over that on one, seen; on more, expected from the work of each region."""

    def measure(case: Case, bench: Bench) -> Iterator[Figure]:
        figure, free = _free(case, bench)
        yield figure
        one, two = usages(bench, scaled.experiment, (1, 2))
        target = 1 / scaled.speed_up[2] if scaled.speed_up else NO_SLOWER
        ratio, note = two.wall_s / one.wall_s, f"{two.wall_s:.2f} s / {one.wall_s:.2f} s"
        yield _wall(case, "wall time, 2 threads over 1", (ratio, target), free, note)
        note = f"{two.cpu_s:.2f} s / {one.cpu_s:.2f} s"
        limit = CPU_RATIO if scaled.speed_up else None
        yield Figure(case.name, "CPU time, 2 threads over 1", "", two.cpu_s / one.cpu_s, limit, note)
        for threads, speed_up in scaled.speed_up.items():
            if threads > 2:
                value = scale.expected(bench, scaled.experiment, threads)
                note = f"{value:.1f} times as fast; {speed_up:g} wanted"
                quantity = f"time expected on {threads} threads over 1"
                yield Figure(case.name, quantity, "", 1 / value, 1 / speed_up, note)

    return measure


def _crowd(experiment: Document) -> Measure:
    def measure(case: Case, bench: Bench) -> Iterator[Figure]:
        figure, free = _free(case, bench)
        yield figure
        two, eight = usages(bench, experiment, (2, 8))
        note = f"{eight.wall_s:.2f} s / {two.wall_s:.2f} s"
        free = free and all_cores() == 2
        ratio = (eight.wall_s / two.wall_s, CROWD_RATIO)
        yield _wall(case, "wall time, 8 threads over 2", ratio, free, note)

    return measure


def _memory(experiment: Document) -> Measure:
    def measure(case: Case, bench: Bench) -> Iterator[Figure]:
        for threads, target in PEAK_MB.items():
            usage, _ = bench.with_options(experiment, str(threads))
            yield Figure(case.name, f"peak memory, {threads} threads", "MB", usage.peak_bytes / MB, target)

    return measure


def usages(bench: Bench, experiment: Document, threads: tuple[int, int]) -> tuple[Usage, Usage]:
    """The quickest of some runs on so many threads and on so many others, in turn."""
    measured: tuple[list[Usage], list[Usage]] = ([], [])
    for _, (number, usages) in itertools.product(
        range(min(bench.runs, scale.RUNS)), zip(threads, measured, strict=True)
    ):
        usages.append(bench.with_options(experiment, str(number))[0])
    first, second = (min(usages, key=lambda usage: usage.wall_s) for usages in measured)
    return first, second
