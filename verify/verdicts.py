"""Verdicts of random small networks whose knee has a closed form: none above it may be called steady."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from rich.progress import Progress
from rich.table import Table

import hopsim
from verify.options import Options
from verify.simulate import Document

CASES = 10_000
"""Networks of the slow check."""
LEAST = 0.2
"""Least load, as a share of the knee."""
ABOVE = (1.15, 2.5)
"""Loads clearly above it."""
FALSE_SATURATED = 0.001
"""Greatest share of the points below the knee that may be called saturated."""
VERDICTS = ("steady", "saturated", "not converged", "too few samples")
QUIET = 0.1
"""Load of a job that has links of its own."""

Parts = dict[str, Any]


@dataclass(frozen=True)
class Network:
    """A network, and the load from which on some of its sources fall behind.

    Attributes:
        name: of the kind.
        document: topology and routing.
        pattern: of the traffic, without its load.
        knee: that load [phits/(node·cycle)].
        beside: nodes of the traffic, where another job is beside it, and of both.
        reach: share of the knee up to which all sources keep up, whatever their heads block and starve.
    """

    name: str
    document: Parts
    pattern: Any
    knee: float
    beside: tuple[int, int] | None = None
    reach: float = 0.75


@dataclass(frozen=True)
class Case:
    """An experiment, and whether it is above the knee."""

    name: str
    document: Document
    is_above: bool


def trunk(draw: random.Random) -> Network:
    """Two routers: the link between them carries half of the traffic and more."""
    nodes, slow = draw.choice([2, 3, 4]), draw.choice([1, 2])
    graph = {"edges": [{"between": [0, 1], "cycles_per_phit": slow}], "nodes_per_router": nodes}
    return Network("trunk", {"topology": {"graph": graph}}, "uniform", (2 * nodes - 1) / (slow * nodes**2))


def parking_lot(draw: random.Random) -> Network:
    """A row of routers whose nodes all send to the first."""
    routers = draw.randint(3, 7)
    document: Parts = {"topology": {"mesh": {"sides": [routers]}}}
    return Network("parking lot", document, {"hotspot": {"node": 0, "fraction": 1.0}}, 1 / (routers - 1))


def tornado(draw: random.Random) -> Network:
    """A ring, half-way round in one direction."""
    routers = draw.choice([5, 6, 7, 8, 9])
    document: Parts = {"topology": {"ring": {"routers": routers}}}
    return Network("tornado", document, {"permutation": "tornado"}, 1 / (-(-routers // 2) - 1))


def adversarial(draw: random.Random) -> Network:
    """Groups of a dragonfly whose nodes all send to the next group, over one link."""
    p, a, h = draw.choice([(1, 2, 1), (2, 2, 1), (2, 3, 1), (1, 4, 2), (2, 4, 2)])
    document: Parts = {"topology": {"dragonfly": {"p": p, "a": a, "h": h}}}
    return Network("ADV+1", document, {"adversarial": {"offset": 1}}, 1 / (a * p))


def consecutive(draw: random.Random) -> Network:
    """The same over all links of one router, whose own nodes starve where packets in transit go first."""
    p, a, h = draw.choice([(2, 4, 2), (1, 4, 2), (2, 3, 2)])
    priority = draw.choice([True, False])
    router = {"cioq": {"allocator": {"transit_priority": priority}}}
    document: Parts = {"topology": {"dragonfly": {"p": p, "a": a, "h": h}}, "router": router}
    return Network("ADVc", document, "adversarial_consecutive", h / (a * p), reach=0.5)


def few(draw: random.Random) -> Network:
    """Four nodes of a long row of which three send to one, beside a job that has links of its own."""
    routers = draw.randint(12, 60)
    document: Parts = {"topology": {"mesh": {"sides": [routers]}}}
    return Network("few nodes", document, {"hotspot": {"node": 0, "fraction": 1.0}}, 1 / 3, (4, routers))


KINDS: tuple[Callable[[random.Random], Network], ...] = (
    trunk,
    parking_lot,
    tornado,
    adversarial,
    consecutive,
    few,
)


def case(number: int) -> Case:
    """The experiment of this number, always the same."""
    draw = random.Random(number)
    network = draw.choice(KINDS)(draw)
    above = draw.random() < 0.5
    load = min(network.knee * draw.uniform(*(ABOVE if above else (LEAST, network.reach))), 1.0)
    queue = draw.choice(["unbounded", "unbounded", {"packets": draw.choice([32, 64, 256])}])
    process: Parts = {"bernoulli": {"load": load}}
    if queue == "unbounded" and draw.random() < 0.2:
        process = {"bursty": {"load": load, "burst_length": draw.choice([2, 4])}}
    traffic = {"pattern": network.pattern, "process": process, "packet_length": draw.choice([4, 8, 16])}
    jobs: list[Parts] = [{"traffic": traffic}]
    if network.beside is not None:
        own, nodes = network.beside
        jobs[0]["placement"] = {"nodes": {"first": 0, "count": own}}
        quiet = {"process": {"bernoulli": {"load": QUIET / nodes}}, "packet_length": 8}
        jobs.append({"traffic": quiet, "placement": {"nodes": {"first": own, "count": nodes - own}}})
    document: Parts = {
        **network.document,
        "jobs": jobs,
        "nic": {"source_queue": queue, "when_full": draw.choice(["drop", "wait"])},
        "measure": {
            "warmup": draw.choice([1000, 5000, 10_000]),
            "cycles": draw.choice([5000, 10_000, 20_000, 30_000]),
            "batches": draw.choice([1, 10]),
            "seed": number,
        },
    }
    return Case(network.name, document, above)


def simulate(cases: Sequence[Case], jobs: int, advance: Callable[[], None] = lambda: None) -> list[str]:
    """The verdict of every case, so many at a time; `advance` is called after each."""

    def verdict(case: Case) -> str:
        found = str(hopsim.run(case.document).summary["verdict"])
        advance()
        return found

    with ThreadPoolExecutor(jobs) as pool:
        return list(pool.map(verdict, cases))


def confusion(cases: Sequence[Case], verdicts: Sequence[str]) -> Counter[tuple[str, bool, str]]:
    """How often each verdict, by kind of network and whether it is above its knee; `""` is all kinds."""
    rows = zip(cases, verdicts, strict=True)
    counts = Counter((case.name, case.is_above, found) for case, found in rows)
    for (_, above, found), count in list(counts.items()):
        counts["", above, found] += count
    return counts


def table(counts: Counter[tuple[str, bool, str]]) -> Table:
    """The counts, a row for each kind below and above the knee."""
    shown = Table(title="Verdicts by kind of network", title_justify="left")
    for heading in ("network", "load", *VERDICTS):
        shown.add_column(heading, justify="right" if heading in VERDICTS else "left")
    for name in sorted({name for name, _, _ in counts}, key=lambda name: (not name, name)):
        for above in (False, True):
            cells = (str(counts[name, above, found]) for found in VERDICTS)
            shown.add_row(name or "all", "above" if above else "below", *cells)
    return shown


def failures(counts: Counter[tuple[str, bool, str]]) -> list[str]:
    """What must not be."""
    below = sum(counts["", False, found] for found in VERDICTS)
    steady, saturated = counts["", True, "steady"], counts["", False, "saturated"]
    wrong: list[str] = []
    if steady:
        wrong.append(f"{steady} points above the knee are called steady")
    if saturated > FALSE_SATURATED * below:
        wrong.append(f"{saturated} of {below} points below the knee are called saturated")
    return wrong


def check(options: Options) -> int:
    """Run all cases and count what must not be."""
    cases = [found for number in range(CASES) if options.selects((found := case(number)).name)]
    with Progress(console=options.console, transient=True) as progress:
        task = progress.add_task(f"{len(cases)} cases", total=len(cases))
        found = simulate(cases, options.jobs, lambda: progress.advance(task))
    counts = confusion(cases, found)
    options.console.print(table(counts))
    wrong = failures(counts)
    for reason in wrong:
        options.console.print(reason)
    return len(wrong)
