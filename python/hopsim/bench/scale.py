"""`hopsim bench scale`: how many times as fast a simulation is on several threads, expected and seen.

Expected: the time that every region takes in every window is measured on one thread, with the network cut
as for so many threads. In a window threads take the regions of their shares and then those left over of
others, as the engine does, and then meet; a meeting is taken to last `MEETING_S` for each thread. Nothing is
allowed for threads that share memory.
Seen: wall time on this machine, with no more threads than it has cores.
"""

from __future__ import annotations

import heapq
import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from hopsim.bench.cases import H8, H16
from hopsim.bench.measure import Bench, Document, NotMeasuredError, document
from hopsim.cli.console import stdout
from hopsim.runs.runner import all_cores

THREADS = (2, 4, 8, 16, 32, 64, 128)
MIDDLE = "dragonfly of 16,512 nodes, load 0.5"
LARGEST = "dragonfly of 262,656 nodes, load 0.5"
MEETING_S = 2e-6
RUNS = 3
CUBE = {"topology": {"torus": {"sides": [16, 16, 16]}}, "router": {"input_queued": {"vcs": {"network": 3}}}}
TREE = {"topology": {"fat_tree": {"k": 16, "levels": 3}}, "router": {"input_queued": {"vcs": {"network": 1}}}}
SHORT = {"links": {"network": {"latency": 1}}}
H4_CYCLES = JOBS_CYCLES = (2_000, 2_000)
H8_CYCLES, H16_CYCLES, SHORT_CYCLES = (500, 1_000), (100, 200), (300, 300)
HALVES = [
    {
        "name": name,
        "placement": {"groups": {"first": first, "count": 64}},
        "traffic": {"process": {"bernoulli": {"load": load}}},
    }
    for name, first, load in [("busy", 0, 0.4), ("idle", 64, 0.02)]
]

Times = Sequence[Sequence[float]]
"""Time of each region in every window [s]."""


@dataclass(frozen=True)
class Scaled:
    """A simulation to be run on several threads.

    Attributes:
        name: what it is; unique.
        experiment: its document.
        speed_up: how many times as fast it is to be on so many threads.
    """

    name: str
    experiment: Document
    speed_up: Mapping[int, float] = field(default_factory=dict[int, float])


def scaled() -> list[Scaled]:
    """What is measured."""
    halves = {key: value for key, value in document(0.5, JOBS_CYCLES, **H8).items() if key != "load"}
    return [
        Scaled("dragonfly of 1,056 nodes, load 0.5", document(0.5, H4_CYCLES)),
        Scaled(MIDDLE, document(0.5, H8_CYCLES, **H8), {2: 1.8, 8: 6.5, 16: 11}),
        Scaled("dragonfly of 16,512 nodes, load 0.1", document(0.1, H8_CYCLES, **H8)),
        Scaled("dragonfly of 16,512 nodes, two unequal jobs", {**halves, "jobs": HALVES}, {2: 1.8}),
        Scaled(LARGEST, document(0.5, H16_CYCLES, **H16), {2: 1.8, 8: 7, 16: 13, 64: 40}),
        Scaled("16x16x16 torus, links of 1 cycle, load 0.3", document(0.3, SHORT_CYCLES, **CUBE, **SHORT)),
        Scaled("16-ary 3-tree, links of 1 cycle, load 0.5", document(0.5, SHORT_CYCLES, **TREE, **SHORT)),
    ]


def speed_up(windows: Times, threads: int) -> float:
    """How many times as fast as one thread so many are, with these times of regions in windows."""
    alone = sum(map(sum, windows))
    before = [1.0] * len(windows[0])
    together = 0.0
    for window in windows:
        together += _longest(window, _shares(before, threads)) + MEETING_S * threads
        before = list(window)
    return alone / together


def _shares(work: Sequence[float], threads: int) -> list[list[int]]:
    """Regions of every thread: neighbours, about equal work."""
    total, done = sum(work), 0.0
    shares: list[list[int]] = [[] for _ in range(threads)]
    for region, time in enumerate(work):
        owner = min(int((done + time / 2) / total * threads), threads - 1)
        shares[owner].append(region)
        done += time
    return shares


def _longest(window: Sequence[float], shares: list[list[int]]) -> float:
    """When the last thread has done: who is free takes of his own share, then of those after him."""
    free = [(0.0, thread) for thread in range(len(shares))]
    left = [iter(share) for share in shares]
    last = 0.0
    while free:
        at, thread = heapq.heappop(free)
        owners = itertools.chain(range(thread, len(shares)), range(thread))
        region = next((region for owner in owners for region in itertools.islice(left[owner], 1)), None)
        if region is not None:
            last = max(last, at + window[region])
            heapq.heappush(free, (at + window[region], thread))
    return last


def times(output: str) -> Times:
    """Time of each region in every window, from what the runner prints [s]."""
    lines = re.findall(r"^window ([\d ]+)$", output, re.MULTILINE)
    return [[int(time) / 1e9 for time in line.split()] for line in lines]


def expected(bench: Bench, experiment: Document, threads: int) -> float:
    """Speed-up of so many threads from measured work."""
    runs = [bench.with_options(experiment, "--profile", str(threads))[1] for _ in range(RUNS)]
    least = _least(map(times, runs))
    if not least:
        raise NotMeasuredError("the runner printed no times of windows")
    return speed_up(least, threads)


def _least(runs: Iterable[Times]) -> Times:
    return [[min(each) for each in zip(*windows, strict=True)] for windows in zip(*runs, strict=True)]


def seen(bench: Bench, experiment: Document, threads: int) -> tuple[float, float]:
    """Wall time on one thread over that on so many, the least of some runs; the share that these waited."""
    walls: dict[int, float] = {}
    waited = 0.0
    for _, number in itertools.product(range(RUNS), (1, threads)):
        usage, out = bench.with_options(experiment, str(number))
        if usage.wall_s < walls.get(number, float("inf")):
            walls[number] = usage.wall_s
            found = re.search(r"worked ([\d.]+) s, waited ([\d.]+) s", out)
            waited = float(found[2]) / (float(found[1]) + float(found[2])) if found else 0.0
    return walls[1] / walls[threads], waited


def report(runner: Path, pattern: re.Pattern[str] | None) -> None:
    """Measure and print a table, a row for each simulation. Raises `click.BadParameter` if there is none."""
    chosen = [each for each in scaled() if not pattern or pattern.search(each.name)]
    if not chosen:
        names = "; ".join(each.name for each in scaled())
        raise click.BadParameter(f"no such case; cases: {names}", param_hint="--case")
    cores = all_cores()
    grid = Table(box=None, padding=(0, 2, 0, 0), header_style="dim", title="times as fast as one thread")
    grid.add_column("threads")
    for threads in THREADS:
        grid.add_column(str(threads), justify="right")
    grid.add_column(f"seen on {cores}", justify="right")
    grid.add_column("waited", justify="right")
    with Bench(runner, RUNS) as bench, Console(stderr=True).status("") as status:
        for number, each in enumerate(chosen, 1):
            status.update(f"{number}/{len(chosen)} {each.name}")
            grid.add_row(each.name, *_row(bench, each.experiment, cores))
    stdout().print(grid)


def _row(bench: Bench, experiment: Document, cores: int) -> list[str]:
    row = [f"{expected(bench, experiment, threads):.1f}" for threads in THREADS]
    if cores == 1:
        return [*row, "one core", ""]
    ratio, waited = seen(bench, experiment, cores)
    return [*row, f"{ratio:.2f}", f"{waited:.0%}"]
