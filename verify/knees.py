"""Searches for saturation in random small networks whose knee has a closed form: none is found above it.

`CASES` networks are searched, or as many as the environment variable `HOPSIM_KNEES` says. Of each the load
that is found may neither be above the knee by more than a search can tell, nor above the greatest load that
any run has accepted of the nodes that send, nor below the share of the knee that the kind of network
reaches. 3-level fat trees, with all nodes that send to one and with permutations, are among them.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from math import sqrt
from statistics import fmean
from typing import Any

from rich.progress import Progress
from rich.table import Table

import hopsim
from verify import verdicts
from verify.options import Options
from verify.simulate import Document
from verify.verdicts import Network

CASES = int(os.environ.get("HOPSIM_KNEES", "1000"))
"""Networks of the slow check."""
PRECISION = 0.02
"""Of the searches."""
ABOVE = 0.02
"""Greatest excess of what is found over the knee, as a share of it: half of the interval of a search, and
what a load may be short of without being so."""
DRAWS = 3.5
"""Standard errors by which sources may draw less than they offer, beyond that."""

Parts = dict[str, Any]


@dataclass(frozen=True)
class Case:
    """A network and what is searched in it."""

    network: Network
    document: Document
    key: str

    @property
    def most(self) -> float:
        """The greatest load tried: from clearly above the knee on it does not matter."""
        return min(3 * self.network.knee, 1.0)


@dataclass(frozen=True)
class Found:
    """What a search has found.

    Attributes:
        load: saturation_load.
        low: saturation_load_low.
        high: saturation_load_high, None if everything is sustained.
        accepted: greatest accepted load.
        undecided: loads that could not be told.
        runs: simulations.
    """

    load: float
    low: float
    high: float | None
    accepted: float
    undecided: int
    runs: int


def gather(draw: random.Random) -> Network:
    """A fat tree of three levels, or two, whose nodes all send to one."""
    k, levels = draw.choice([(2, 3), (2, 3), (3, 3), (3, 2), (4, 2)])
    document: Parts = {"topology": {"fat_tree": {"k": k, "levels": levels}}, "routing": _routing(draw)}
    nodes = k**levels
    target = draw.randrange(nodes)
    pattern = {"hotspot": {"node": target, "fraction": 1.0}}
    return Network(f"fat tree, {levels} levels, to one", document, pattern, 1 / (nodes - 1), reach=0.9)


def permutation(draw: random.Random) -> Network:
    """A fat tree of three levels in which every packet goes up by the digits of its source."""
    k, kind = draw.choice([(2, "shuffle"), (2, "bit_complement"), (4, "transpose"), (4, "bit_reversal")])
    document: Parts = {
        "topology": {"fat_tree": {"k": k, "levels": 3}},
        "routing": {"minimal": {"up": "source"}},
    }
    flows = max(shared(k, 3, IMAGES[kind]))
    return Network("fat tree, 3 levels, permutation", document, {"permutation": kind}, 1 / flows, reach=0.8)


def _routing(draw: random.Random) -> Any:
    """Any: there is one link to the node that all others send to, whichever way packets take to it."""
    adaptive: Parts = {"adaptive": {}}
    return draw.choice([adaptive, *({"minimal": {"up": up}} for up in ("source", "destination", "random"))])


def _rotated(number: int, bits: int) -> int:
    return (number << 1 | number >> (bits - 1)) & ((1 << bits) - 1)


def _reversed(number: int, bits: int) -> int:
    return int(f"{number:0{bits}b}"[::-1], 2)


def _transposed(number: int, bits: int) -> int:
    half = bits // 2
    return number >> half | (number & ((1 << half) - 1)) << half


IMAGES: Mapping[str, Callable[[int, int], int]] = {
    "shuffle": _rotated,
    "bit_reversal": _reversed,
    "bit_complement": lambda number, bits: number ^ ((1 << bits) - 1),
    "transpose": _transposed,
}
"""Destination of a node, of so many bits."""


def shared(k: int, levels: int, image: Callable[[int, int], int]) -> Iterator[int]:
    """How many flows share each link down, of a permutation of the nodes of a fat tree.

    A packet goes up by the digits of its source, so that no two flows share a link up. Down from a switch of
    level l + 1 it is in one whose word begins with l + 1 digits of the source, and goes on with those of the
    destination.
    """
    nodes = k**levels
    flows: dict[tuple[int, int, int], int] = {}
    for source in range(nodes):
        to = image(source, (nodes - 1).bit_length())
        level = 0
        while source // k ** (level + 1) != to // k ** (level + 1):
            # Up once more, and down again by a link for each level.
            link = (level, source % k ** (level + 1), to // k ** (level + 1))
            flows[link] = flows.get(link, 0) + 1
            level += 1
    yield 1
    yield from flows.values()


KINDS: tuple[Callable[[random.Random], Network], ...] = (*verdicts.KINDS, gather, permutation)


def case(number: int) -> Case:
    """The search of this number, always the same."""
    draw = random.Random(number)
    network = draw.choice(KINDS)(draw)
    process: Parts = {"bernoulli": {"load": 0.1}}
    traffic = {"pattern": network.pattern, "process": process, "packet_length": draw.choice([4, 8])}
    jobs: list[Parts] = [{"traffic": traffic}]
    key = "jobs.0.traffic.process.bernoulli.load"
    if network.beside is not None:
        own, nodes = network.beside
        jobs[0]["placement"] = {"nodes": {"first": 0, "count": own}}
        quiet = {"process": {"bernoulli": {"load": verdicts.QUIET / nodes}}, "packet_length": 8}
        jobs.append({"traffic": quiet, "placement": {"nodes": {"first": own, "count": nodes - own}}})
    document: Parts = {
        **network.document,
        "jobs": jobs,
        "measure": {"warmup": 10_000, "cycles": draw.choice([5000, 20_000, 50_000]), "seed": number},
    }
    return Case(network, document, key)


def search(case: Case) -> Found:
    """Search in a network."""
    (result,) = hopsim.saturate(
        case.document,
        key=case.key,
        most=case.most,
        precision=PRECISION,
        seeds=1,
        workers=1,
        progress=False,
    )
    found = result.summary
    return Found(
        found["saturation_load"],
        found["saturation_load_low"],
        found["saturation_load_high"],
        found["accepted_load_max"],
        found["undecided"],
        found["runs"],
    )


def search_all(cases: Sequence[Case], jobs: int, advance: Callable[[], None] = lambda: None) -> list[Found]:
    """What is found in every network, so many at a time; `advance` is called after each."""

    def one(case: Case) -> Found:
        found = search(case)
        advance()
        return found

    with ThreadPoolExecutor(jobs) as pool:
        return list(pool.map(one, cases))


def senders(case: Case) -> float:
    """The share of the nodes of the searched job that send: accepted loads are means over all of them."""
    pattern = case.network.pattern
    kind = "" if isinstance(pattern, str) else str(pattern.get("permutation"))
    if kind not in IMAGES:
        return 1.0
    tree, image = case.network.document["topology"]["fat_tree"], IMAGES[kind]
    nodes = tree["k"] ** tree["levels"]
    # Those that are their own image send nothing.
    return sum(image(node, (nodes - 1).bit_length()) != node for node in range(nodes)) / nodes


def excess(case: Case) -> float:
    """By what share of the knee a load may be found above it.

    The link that is full at the knee passes so many packets in a window: as many are drawn but for chance.
    """
    (edge,) = case.network.document["topology"].get("graph", {"edges": [{}]})["edges"]
    cycles = case.document["measure"]["cycles"] / edge.get("cycles_per_phit", 1)
    return ABOVE + DRAWS * sqrt(case.document["jobs"][0]["traffic"]["packet_length"] / cycles)


def wrong(case: Case, found: Found) -> list[str]:
    """What must not be."""
    knee, reach = case.network.knee, case.network.reach
    told: list[str] = []
    if max(found.load, found.low) > knee * (1 + excess(case)):
        told.append(f"{found.load:.4f} (sustained at {found.low:.4f}) is above the knee at {knee:.4f}")
    if found.high is not None and found.load > found.accepted / senders(case) * (1 + 1e-9):
        told.append(f"{found.load:.4f} is above the greatest accepted load, {found.accepted:.4f}")
    if found.load < reach * knee:
        told.append(f"{found.load:.4f} is below {reach:.0%} of the knee at {knee:.4f}")
    return told


def check(options: Options) -> int:
    """Search in all networks and count what must not be."""
    cases = [found for number in range(CASES) if options.selects((found := case(number)).network.name)]
    with Progress(console=options.console, transient=True) as progress:
        task = progress.add_task(f"{len(cases)} networks", total=len(cases))
        found = search_all(cases, options.jobs, lambda: progress.advance(task))
    options.console.print(table(cases, found))
    failures = [(case, reason) for case, one in zip(cases, found, strict=True) for reason in wrong(case, one)]
    for case_, reason in failures:
        options.console.print(f"{case_.network.name}, seed {case_.document['measure']['seed']}: {reason}")
    return len(failures)


def table(cases: Sequence[Case], found: Sequence[Found]) -> Table:
    """What is found, over the knee, a row for each kind of network."""
    shown = Table(title=f"Searches in {len(cases)} networks", title_justify="left")
    for heading in (
        "network",
        "searches",
        "least / knee",
        "mean / knee",
        "greatest / knee",
        "undecided",
        "runs",
    ):
        shown.add_column(heading, justify="left" if heading == "network" else "right")
    for name in sorted({case.network.name for case in cases}):
        rows = [(case, one) for case, one in zip(cases, found, strict=True) if case.network.name == name]
        shares = [one.load / case.network.knee for case, one in rows]
        spread = (f"{value:.3f}" for value in (min(shares), fmean(shares), max(shares)))
        undecided, runs = sum(one.undecided for _, one in rows), fmean(one.runs for _, one in rows)
        shown.add_row(name, str(len(rows)), *spread, str(undecided), f"{runs:.1f}")
    return shown
