"""What a search for saturation finds in networks whose knee is known: never more than they accept."""

from __future__ import annotations

import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from rich.progress import Progress
from rich.table import Table

import hopsim
from hopsim import Result
from verify.options import Options
from verify.simulate import Document

NETWORKS = 10_000
PRECISION = 0.05
ABOVE = 0.02
"""What may fall behind by less than this share of the load is steady; see *Verdict* in docs/model.md."""
BELOW = 0.25
"""Windows are short here, so that loads near the knee cannot be told: a search may end so far below it."""
MOST_NODES = 64


@dataclass(frozen=True)
class Network:
    """A network in which all nodes but one send to that one.

    Attributes:
        kind: name of its topology.
        document: the experiment.
        knee: the load at which the link to that node is full [phits/(node·cycle)].
    """

    kind: str
    document: Document
    knee: float


def topologies() -> list[tuple[str, dict[str, Any], int]]:
    """Kind, topology and nodes of every one that is drawn from."""
    trees = [(k, levels) for k in range(2, 9) for levels in (2, 3) if k**levels <= MOST_NODES]
    of_trees = [(f"fat tree, {n} levels", {"fat_tree": {"k": k, "levels": n}}, k**n) for k, n in trees]
    sides = [(x, y) for x in range(2, 9) for y in range(2, x + 1)]
    meshes = [("mesh", {"mesh": {"sides": [x, y]}}, x * y) for x, y in sides]
    hyperx = [("HyperX", {"hyperx": {"sides": [x, y]}}, x * y) for x, y in sides]
    rings = [("ring", {"ring": {"routers": n}}, n) for n in range(3, 20)]
    return [*of_trees, *meshes, *hyperx, *rings]


def networks(count: int, seed: int) -> Iterator[Network]:
    """So many networks drawn at random, a fifth of them trees of three levels."""
    draw = random.Random(seed)
    listed = topologies()
    deep = [row for row in listed if row[0] == "fat tree, 3 levels"]
    for number in range(count):
        kind, topology, nodes = draw.choice(deep if number % 5 == 0 else listed)
        traffic = {
            "pattern": {"hotspot": {"node": draw.randrange(nodes), "fraction": 1.0}},
            "packet_length": draw.choice([1, 2, 4, 8]),
        }
        measure = {"warmup": 500, "cycles": draw.choice([1000, 2000, 4000]), "seed": number + 1}
        document = {"topology": topology, "jobs": [{"traffic": traffic}], "measure": measure}
        yield Network(kind, document, 1 / (nodes - 1))


def found(network: Network) -> Result:
    """What a search finds."""
    (result,) = hopsim.saturate(network.document, seeds=1, precision=PRECISION, workers=1, progress=False)
    return result


def wrong(network: Network, result: Result) -> str:
    """What must not be; empty if nothing is."""
    load, low = result.summary["saturation_load"], result.summary["saturation_load_low"]
    accepted = result.summary["accepted_load_max"]
    if max(load, low) > accepted:
        return f"{load:.4f} found, and {accepted:.4f} accepted at most"
    if low > network.knee * (1 + ABOVE):
        return f"{low:.4f} is said to be sustained, and the knee is {network.knee:.4f}"
    if load < network.knee * (1 - BELOW):
        return f"{load:.4f} found, far below the knee of {network.knee:.4f}"
    return ""


def check(options: Options) -> int:
    """Search all networks; returns how many are wrong."""
    drawn = [network for network in networks(NETWORKS, 1) if options.selects(network.kind)]
    with (
        Progress(console=options.console, transient=True) as progress,
        ThreadPoolExecutor(options.jobs) as pool,
    ):
        task = progress.add_task(f"{len(drawn)} networks", total=len(drawn))
        results: list[Result] = []
        for result in pool.map(found, drawn):
            results.append(result)
            progress.advance(task)
    table = Table(title="Saturation over the known knee", title_justify="left")
    for heading in ("network", "searches", "least", "mean", "greatest"):
        table.add_column(heading, justify="left" if heading == "network" else "right")
    reasons: list[str] = []
    for kind in sorted({network.kind for network in drawn}):
        pairs = [pair for pair in zip(drawn, results, strict=True) if pair[0].kind == kind]
        shares = [result.summary["saturation_load"] / network.knee for network, result in pairs]
        figures = (min(shares), sum(shares) / len(shares), max(shares))
        table.add_row(kind, f"{len(shares):,}", *(f"{figure:.4f}" for figure in figures))
        reasons += [f"{kind}: {reason}" for pair in pairs if (reason := wrong(*pair))]
    options.console.print(table)
    for reason in reasons:
        options.console.print(reason)
    return len(reasons)
