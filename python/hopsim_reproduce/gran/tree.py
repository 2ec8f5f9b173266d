"""Figure 10: a 4-ary 3-tree in which all nodes send to one, and round robin multiplies the parts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from hopsim.results.result import Result
from hopsim_reproduce.gran.measured import in_every_seed, near
from hopsim_reproduce.gran.system import CAPACITY, GRAN, seconds
from hopsim_reproduce.model import (
    Comparison,
    Document,
    Entry,
    Experiment,
    Fact,
    Measured,
    Outcome,
    Results,
    Scale,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

K = 4
NODES = K**3
LEVELS: Mapping[str, tuple[range, int]] = {
    "first": (range(1, K), K),
    "second": (range(K, K**2), K**3),
    "third": (range(K**2, K**3), K**2 * (K**3 - K**2)),
}
"""Level of the tree in which paths to node 0 meet -> the nodes there, and 1 over the part of each."""
WINDOW: Mapping[Scale, float] = {"quick": 0.5, "full": 2.0}
"""Measured [s]."""


def _experiments(scale: Scale, seeds: int) -> list[Experiment]:
    document: Document = {
        "topology": {"fat_tree": {"k": K, "levels": 3}},
        "router": {"infiniband": {}},
        "jobs": [{"flows": [{"source": node, "destination": 0} for node in range(1, NODES)]}],
        "measure": {
            "time": {"warmup": seconds(0.1), "window": seconds(WINDOW[scale])},
            "streams": ["flows"],
        },
    }
    return [Experiment("main", document, (), seeds)]


def _rates(result: Result) -> dict[int, float]:
    """Source -> its rate [Gb/s]."""
    columns = (result.flows.column(name).to_pylist() for name in ("source", "throughput_gbps"))
    return dict(zip(*columns, strict=True))


def _parts(results: Sequence[Result], nodes: range) -> list[float]:
    return [_rates(result)[node] / CAPACITY for result in results for node in nodes]


def _conclude(_scale: Scale, results: Results) -> Outcome:
    return Outcome(list(_comparisons(results["main"])), list(_facts(results["main"])))


def _comparisons(results: Sequence[Result]) -> Iterator[Comparison]:
    for level, (nodes, part) in LEVELS.items():
        parts = Measured.of(_parts(results, nodes))
        yield Comparison(
            f"{level} level", "part of the last link, of each", parts, 1 / part, 5, allowed=0.01 / part
        )


def _facts(results: Sequence[Result]) -> Iterator[Fact]:
    for level, (nodes, part) in LEVELS.items():
        statement = f"each of {len(nodes)} neighbours of the {level} level gets 1/{part}"
        values = [share * part for share in _parts(results, nodes)]
        yield in_every_seed(statement, "part over that", values, *near(1, 0.01))


def _draw(_scale: Scale, results: Results) -> Figure:
    from hopsim_reproduce import drawing

    comparisons = list(_comparisons(results["main"]))
    return drawing.beside("Figure 10: parts of the last link", comparisons, [comparisons[0].quantity])


def _notes(_scale: Scale) -> list[str]:
    return [
        "Links between switches carry 32 Gb/s, those of hosts 16, hosts send and take 13. Packets go up by "
        "digits of their destination (D-mod-k), so that each link down carries packets to one node.",
        "The paper derives these parts and shows no simulation of them.",
    ]


def entries() -> list[Entry]:
    """The figure."""
    return [
        Entry(
            name="gran-figure-10",
            title="Round robin in a 4-ary 3-tree, 63 nodes send to one",
            source=f"{GRAN}, figure 10 and §V",
            notes=_notes,
            seeds={"quick": 2, "full": 2},
            experiments=_experiments,
            conclude=_conclude,
            draw=_draw,
        )
    ]
