"""Distance, channel load and zero-load latency of meshes and tori, by the formulas of the textbook."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hopsim.results.result import Result
from hopsim_reproduce.dally_towles.cubes import MESH, SIDE, TORUS, Cube
from hopsim_reproduce.dally_towles.system import BOOK, Lengths, Router
from hopsim_reproduce.model import (
    Comparison,
    Entry,
    Experiment,
    Fact,
    Measured,
    Outcome,
    Results,
    Scale,
    at,
    slug,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

VCS, BUFFER = 4, 16
LOW, MEDIUM = 0.01, 0.2
"""Packets hardly meet at the former, and there are many of them at the latter."""
LENGTHS: Mapping[Scale, Lengths] = {"quick": Lengths(1_000, 20_000), "full": Lengths(1_000, 50_000)}
SEEDS: Mapping[Scale, int] = {"quick": 2, "full": 3}
HOPS, CHANNEL, LATENCY = (
    "mean distance [links]",
    "traffic of the bisection / that of a node",
    "latency of a packet alone [cycles]",
)
ALLOWED: Mapping[str, float] = {HOPS: 0.025, CHANNEL: 0.05, LATENCY: 0.05}
"""Relative: nodes do not send to themselves, packets meet at times, and a seed draws so many destinations."""


@dataclass(frozen=True)
class Row:
    """A network whose formulas are compared with what is measured."""

    cube: Cube
    router: Router
    length: int
    """Of packets [flits]."""

    @property
    def title(self) -> str:
        """Of the row."""
        return f"{self.cube.kind}, t_r = {self.router.delay}, L = {self.length}"

    def experiment(self, scale: Scale, seeds: int) -> Experiment:
        """At both loads."""
        measure = LENGTHS[scale].measure(["links"])
        document = self.cube.document(self.router, VCS, BUFFER, self.length, measure)
        return Experiment(slug(self.title), document, [LOW, MEDIUM], seeds)

    @property
    def zero_load(self) -> float:
        """Latency of a packet that meets no other: its routers, links and the node's wire, and flits."""
        hops = self.cube.hops
        return (hops + 1) * self.router.delay + (hops + 1) + self.length


FAST, USUAL, SLOW = Router(0, 1, 0), Router(1, 1, 1), Router(2, 2, 2)
ROWS: Sequence[Row] = [
    Row(cube, router, length)
    for cube in (MESH, TORUS)
    for router, length in ((FAST, 5), (USUAL, 1), (USUAL, 5), (USUAL, 20), (SLOW, 5))
]


def bisection_load(result: Result) -> float:
    """Mean load of the channels that cross the middle of a dimension over the load that was accepted."""
    links = result.tables["links"].select(["router", "peer_router", "port_class", "phits"]).to_pydict()
    network = np.array(links["port_class"]) != "terminal"
    here, there = (np.array(links[key], dtype=float)[network] for key in ("router", "peer_router"))
    phits = np.array(links["phits"], dtype=float)[network]
    crosses = np.logical_or(*(_half(here, step) != _half(there, step) for step in (1, SIDE)))
    channels = len(set(zip(here[crosses], there[crosses], strict=True)))
    accepted = result.summary["accepted_load"]
    return float(phits[crosses].sum()) / (channels * result.config["measure"]["cycles"] * accepted)


def _half(routers: np.ndarray, step: int) -> np.ndarray:
    """In which half of a dimension routers are; their numbers grow by `step` along it."""
    return routers // step % SIDE >= SIDE // 2


def _experiments(scale: Scale, seeds: int) -> list[Experiment]:
    return [row.experiment(scale, seeds) for row in ROWS]


def _conclude(_scale: Scale, results: Results) -> Outcome:
    comparisons = list(_of_cubes(results))
    for row in ROWS:
        runs = at(results[slug(row.title)], LOW)
        ours = Measured.of_known([run.summary["packet_latency_mean"] for run in runs])
        comparisons.append(_comparison(row.title, LATENCY, ours, row.zero_load))
    return Outcome(comparisons, list(_facts(comparisons)))


def _of_cubes(results: Results) -> Iterator[Comparison]:
    """What depends on neither the router nor the length of packets."""
    for cube in (MESH, TORUS):
        (row,) = (row for row in ROWS if (row.cube, row.router, row.length) == (cube, USUAL, 5))
        runs = at(results[slug(row.title)], MEDIUM)
        hops = Measured.of_known([run.summary["hops_mean"] for run in runs])
        yield _comparison(cube.kind, HOPS, hops, cube.hops)
        yield _comparison(
            cube.kind, CHANNEL, Measured.of([bisection_load(run) for run in runs]), 1 / cube.capacity
        )


def _comparison(row: str, quantity: str, ours: Measured | None, formula: float) -> Comparison:
    return Comparison(row, quantity, ours, formula, 2, allowed=ALLOWED[quantity] * formula)


def _facts(comparisons: Sequence[Comparison]) -> Iterator[Fact]:
    """The formula leaves out that packets meet."""
    over = [each.relative for each in comparisons if each.quantity == LATENCY and each.relative is not None]
    yield Fact(
        "no network is faster than its zero-load latency",
        "measured / formula - 1 at least -0.5 %",
        f"{min(over):+.1%} … {max(over):+.1%}" if over else "does not exist",
        bool(over) and min(over) >= -0.005,
    )


def _draw(scale: Scale, results: Results) -> Figure:
    from hopsim_reproduce import drawing

    comparisons = _conclude(scale, results).comparisons
    return drawing.beside(TITLE, comparisons, [HOPS, CHANNEL, LATENCY])


def _notes(scale: Scale) -> list[str]:
    lengths = LENGTHS[scale]
    return [
        f"{SIDE}×{SIDE} mesh and torus, dimension-order routing, uniform traffic, {VCS} VCs of {BUFFER} "
        f"flits; {lengths.warmup:,} + {lengths.cycles:,} cycles at loads of {LOW:g} (latency) and "
        f"{MEDIUM:g} (the rest).",
        "What is called published are the textbook's formulas with these numbers put in: H_min = n k / 3 "
        "in a mesh and n k / 4 in a torus, bisection k / 4 and k / 8, and T_0 = H t_r + T_w + L / b, of H "
        "+ 1 routers, and a cycle for each link and for the wire of the node.",
        "Nodes do not send to themselves here, so that channels, and packets in a torus, have 64 / 63 of "
        "that.",
    ]


TITLE = "Meshes and tori: distance, channel load and zero-load latency by formula"


def entries() -> list[Entry]:
    """The formulas."""
    return [
        Entry(
            name="dally-towles-formulas",
            title=TITLE,
            source=f"{BOOK}, tables of meshes and tori",
            notes=_notes,
            seeds=SEEDS,
            experiments=_experiments,
            conclude=_conclude,
            draw=_draw,
        )
    ]
