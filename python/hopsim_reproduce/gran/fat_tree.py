"""A fat tree with a hot spot: who suffers with and without congestion control. A study of ours."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hopsim.results.result import Result
from hopsim_reproduce.gran.measured import in_every_seed
from hopsim_reproduce.gran.system import CAPACITY, GRAN, TWO_THRESHOLDS, control, seconds
from hopsim_reproduce.model import Document, Entry, Experiment, Fact, Measured, Outcome, Results, Scale

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HOT_SPOT = 0
CONTRIBUTORS = 32
WITHOUT, WITH = "without congestion control", "with congestion control"
NAMES = {WITHOUT: "off", WITH: "on"}


@dataclass(frozen=True)
class Tree:
    """Leaves with `k` nodes and `k` links up each, two for every port of `k` spines."""

    k: int
    warmup: float
    window: float

    @property
    def nodes(self) -> int:
        """All nodes."""
        return 2 * self.k**2

    @property
    def topology(self) -> Document:
        """As a graph: leaves first, then spines."""
        leaves = 2 * self.k
        edges = [{"between": [leaf, leaves + spine]} for leaf in range(leaves) for spine in range(self.k)]
        return {"graph": {"edges": edges, "nodes_per_router": self.k, "routers_with_nodes": leaves}}

    @property
    def contributors(self) -> list[int]:
        """The nodes that send to the hot spot, one of every few."""
        return [1 + number * (self.nodes - 1) // CONTRIBUTORS for number in range(CONTRIBUTORS)]

    @property
    def victims(self) -> dict[int, int]:
        """Other nodes -> where they send: to the node half the nodes further on, unless that is hot."""
        contributors = set(self.contributors)
        pairs = {node: (node + self.nodes // 2) % self.nodes for node in range(self.nodes)}
        return {
            node: to for node, to in pairs.items() if node not in contributors and HOT_SPOT not in (node, to)
        }

    def shares_spine(self, destination: int) -> bool:
        """Whether packets to a node go over the spine that those to the hot spot go over."""
        return destination % self.k == HOT_SPOT % self.k

    def document(self, congestion_control: Document | None) -> Document:
        """Everybody sends as fast as possible."""
        router: Document = {"forwarding": "min_hop"}
        if congestion_control is not None:
            router["congestion_control"] = congestion_control
        pairs = {**dict.fromkeys(self.contributors, HOT_SPOT), **self.victims}
        return {
            "topology": self.topology,
            "router": {"infiniband": router},
            "jobs": [{"flows": [{"source": node, "destination": to} for node, to in pairs.items()]}],
            "measure": {
                "time": {"warmup": seconds(self.warmup), "window": seconds(self.window)},
                "streams": ["flows"],
            },
        }


TREES: Mapping[Scale, Tree] = {"quick": Tree(9, 0.03, 0.01), "full": Tree(18, 0.03, 0.02)}


class Rates:
    """Throughput of the flows of a run [Gb/s]."""

    def __init__(self, tree: Tree, result: Result) -> None:
        columns = (result.flows.column(name).to_numpy() for name in ("destination", "throughput_gbps"))
        destinations, self.rates = columns
        self.is_hot = destinations == HOT_SPOT
        self.is_beside = ~self.is_hot & np.array([tree.shares_spine(int(node)) for node in destinations])

    def hot(self) -> np.ndarray:
        """Of the contributors."""
        return self.rates[self.is_hot]

    def beside(self) -> np.ndarray:
        """Of the victims whose packets go over the spine of the hot spot."""
        return self.rates[self.is_beside]

    def apart(self) -> np.ndarray:
        """Of the other ones."""
        return self.rates[~self.is_hot & ~self.is_beside]


def _experiments(scale: Scale, seeds: int) -> list[Experiment]:
    tree = TREES[scale]
    controls = {WITHOUT: None, WITH: control(TWO_THRESHOLDS, cct="mellanox")}
    return [Experiment(NAMES[name], tree.document(each), (), seeds) for name, each in controls.items()]


def _rates(scale: Scale, results: Results) -> dict[str, list[Rates]]:
    return {name: [Rates(TREES[scale], result) for result in results[key]] for name, key in NAMES.items()}


def _conclude(scale: Scale, results: Results) -> Outcome:
    return Outcome(facts=list(_facts(_rates(scale, results))))


def _facts(rates: Mapping[str, Sequence[Rates]]) -> Iterator[Fact]:
    off, on = rates[WITHOUT], rates[WITH]
    share = "mean over 13 Gb/s"
    yield in_every_seed(
        "without congestion control flows that share a spine with the hot spot are its victims",
        share,
        [float(run.beside().mean()) / CAPACITY for run in off],
        None,
        0.5,
    )
    yield in_every_seed(
        "with it they are freed",
        share,
        [float(run.beside().mean()) / CAPACITY for run in on],
        0.9,
    )
    yield in_every_seed(
        "flows over other spines lose nothing with it",
        share,
        [float(run.apart().mean()) / CAPACITY for run in on],
        0.97,
    )
    yield in_every_seed(
        "the hot spot stays in use with it",
        "all contributors over 13 Gb/s",
        [float(run.hot().sum()) / CAPACITY for run in on],
        0.9,
    )
    for name, runs in rates.items():
        found = [float(run.hot().max() / max(run.hot().min(), 1e-9)) for run in runs]
        most = None if name == WITHOUT else 2.0
        least = 2.0 if name == WITHOUT else None
        fair = "unfair" if name == WITHOUT else "fairer"
        statement = f"shares of the contributors {name} are {fair}"
        yield in_every_seed(statement, "greatest over least", found, least, most)


def _draw(scale: Scale, results: Results) -> Figure:
    from hopsim_reproduce import drawing

    series = {
        name: [
            Measured.of([float(part(run).mean()) for run in runs])
            for part in (Rates.hot, Rates.beside, Rates.apart)
        ]
        for name, runs in _rates(scale, results).items()
    }
    places = [f"{CONTRIBUTORS} to the hot spot", "victims over its spine", "over other spines"]
    title = f"Fat tree of {TREES[scale].nodes} nodes with a hot spot"
    return drawing.bars(title, ("flows", "mean throughput of a flow [Gb/s]"), places, series)


def _notes(scale: Scale) -> list[str]:
    tree = TREES[scale]
    lines = [
        f"{2 * tree.k} leaves with {tree.k} nodes each, {tree.k} spines; each destination has one spine. "
        f"{CONTRIBUTORS} nodes send to node 0, all others to the node half the nodes further on.",
        "Two thresholds, the table of Mellanox: that of the other figures cannot slow down so many flows.",
    ]
    if scale == "quick":
        lines.append("648 nodes: --scale full.")
    return lines


def entries() -> list[Entry]:
    """The study."""
    return [
        Entry(
            name="gran-hot-spot",
            title="Victims of a hot spot in a fat tree",
            source=f"a study of ours; {GRAN}, §I, says what congestion does to others",
            notes=_notes,
            seeds={"quick": 2, "full": 2},
            experiments=_experiments,
            conclude=_conclude,
            draw=_draw,
        )
    ]
