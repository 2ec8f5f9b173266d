"""Meshes, tori and trees: what the papers say of them, and what SAT promises on every topology.

The papers' tables and figures are the entries of `hopsim reproduce` at full scale. A statement that does
not hold, or a value that does not agree, fails unless its sentence says what is known of that.

With l = k every node gets the same share of a saturated network: within 1 % of the mean. Below
saturation the signal changes nothing that the spread of seeds would show, but where what is known of
that is printed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.table import Table

from hopsim import Result
from verify import published
from verify.options import Options
from verify.simulate import Document
from verify.statistics import Sample, pooled, standard_error, student_quantile

PUBLICATIONS = ("izu", "ridruejo")
SAME = 0.01
"""Largest relative difference of a node's throughput from the mean."""
PACKET_LENGTH = 16


@dataclass(frozen=True)
class Network:
    """A network on which SAT is tried."""

    name: str
    topology: Document
    vcs: Document
    routing: Any
    threshold: int
    """l = k [packets]: what a round of the signal needs, by the rule of §4.1."""
    below: float
    """A load below saturation."""
    known: str = ""
    """What is known of the latency there, if the signal changes it."""

    def document(self, load: float, control: Document, lengths: tuple[int, int]) -> Document:
        """Uniform traffic at a load."""
        return {
            "load": load,
            "topology": self.topology,
            "router": {"input_queued": {"vcs": {**self.vcs, "injection": 1}}},
            "routing": self.routing,
            "nic": {"source_queue": {"packets": 24}, "when_full": "wait", "control": control},
            "jobs": [{"traffic": {"packet_length": PACKET_LENGTH}}],
            "measure": {"warmup": lengths[0], "cycles": lengths[1], "streams": ["nodes"]},
        }


NETWORKS = (
    Network("8×8 mesh, oblivious", {"mesh": {"sides": [8, 8]}}, {"network": 2}, "minimal", 8, 0.2),
    Network("8×8 mesh, adaptive", {"mesh": {"sides": [8, 8]}}, {"network": 2}, "adaptive", 8, 0.2),
    Network(
        "8×8 torus, oblivious",
        {"torus": {"sides": [8, 8]}},
        {"network": 2},
        "minimal",
        8,
        0.3,
        known="with the same seeds packets take 0.35 cycles (1 %) longer at a load of 0.3, 0.03 at 0.25 and "
        "none at 0.2: a node that has sent 8 packets in a round waits for the signal.",
    ),
    Network("8×8 torus, adaptive", {"torus": {"sides": [8, 8]}}, {"network": 2}, "adaptive", 8, 0.3),
    Network("64-ring", {"ring": {"routers": 64}}, {"network": 2}, "minimal", 8, 0.05),
    Network("4-ary 3-tree", {"fat_tree": {"k": 4, "levels": 3}}, {"network": 1}, "adaptive", 16, 0.3),
    Network("dragonfly of 72 nodes", {"dragonfly": {"p": 2, "a": 4, "h": 2}}, {}, "minimal", 96, 0.3),
)
SATURATED = (100_000, 1_000_000)
"""Long enough that a turn more or less of the signal is no difference [cycles]."""
SATURATED_SEEDS = 3
BELOW = (10_000, 50_000)


def check(options: Options) -> int:
    """Print every agreement of the selected entries and networks; how many fail."""
    failed = published.check(options, PUBLICATIONS)
    networks = [network for network in NETWORKS if options.selects(f"SAT {network.name}")]
    if networks:
        failed += _sat(options, networks)
    return failed


@dataclass(frozen=True)
class Fairness:
    """SAT on one network."""

    network: Network
    apart: float
    """Largest relative difference of a node's throughput from the mean, of all seeds."""
    accepted: float
    plain: Sample
    """Latency below saturation without SAT [cycles]."""
    signalled: Sample
    """The same with SAT."""

    @property
    def limit(self) -> float:
        """The difference of the latencies that chance explains [cycles]."""
        std, freedom = pooled([self.plain, self.signalled])
        return student_quantile(freedom) * standard_error(std, self.plain.count, self.signalled.count)

    @property
    def verdicts(self) -> tuple[bool, bool]:
        """Whether all nodes get the same, and whether the latency is unchanged."""
        return self.apart <= SAME, abs(self.signalled.mean - self.plain.mean) <= self.limit

    @property
    def is_known(self) -> bool:
        """Whether the latency is changed, and what is known of that is said."""
        return bool(self.network.known) and not self.verdicts[1]


def _sat(options: Options, networks: Sequence[Network]) -> int:
    found = list(measure(options, networks))
    options.console.print(table(found))
    passed = sum(verdict for each in found for verdict in each.verdicts)
    known = [each.network for each in found if each.is_known]
    failed = 2 * len(found) - passed - len(known)
    for network in known:
        options.console.print(f"Known: {network.name}, {network.known}")
    options.console.print(f"SAT: {passed} passed, {len(known)} known to fail, {failed} failed")
    return failed


def measure(options: Options, networks: Sequence[Network]) -> Iterator[Fairness]:
    """Simulate the networks at full load and below saturation."""
    control = {
        network.name: {"sat": {"l": network.threshold, "k": network.threshold}} for network in networks
    }
    full = [network.document(1.0, control[network.name], SATURATED) for network in networks]
    plain = [network.document(network.below, {"none": {}}, BELOW) for network in networks]
    signalled = [network.document(network.below, control[network.name], BELOW) for network in networks]
    shares = options.simulate(full, min(options.seeds, SATURATED_SEEDS), figures)
    runs = options.simulate([*plain, *signalled], options.seeds, figures)
    pairs = zip(runs[: len(networks)], runs[len(networks) :], strict=True)
    for network, saturated, (without, with_signal) in zip(networks, shares, pairs, strict=True):
        yield Fairness(
            network,
            max(run["apart"] for run in saturated),
            Sample.of([run["accepted"] for run in saturated]).mean,
            Sample.of([run["latency"] for run in without]),
            Sample.of([run["latency"] for run in with_signal]),
        )


def figures(result: Result) -> Mapping[str, float]:
    """What is compared of a run."""
    injected = result.nodes.column("injected").to_numpy()
    mean = injected.mean()
    return {
        "apart": float(abs(injected - mean).max() / mean),
        "accepted": result.summary["accepted_load"],
        "latency": result.summary["packet_latency_mean"],
    }


def table(found: Sequence[Fairness]) -> Table:
    """A line per network."""
    result = Table(title="SAT with l = k", title_justify="left")
    for name in ("network", "l"):
        result.add_column(name)
    for name in (
        "accepted at load 1",
        "node furthest from the mean",
        "load below",
        "latency without",
        "with",
    ):
        result.add_column(name, justify="right")
    for name in ("by chance", "same share", "same latency"):
        result.add_column(name)
    for each in found:
        result.add_row(
            each.network.name,
            str(each.network.threshold),
            f"{each.accepted:.4f}",
            f"{each.apart:.2%}",
            f"{each.network.below:g}",
            f"{each.plain.mean:.2f}",
            f"{each.signalled.mean:.2f}",
            f"±{each.limit:.2f}",
            *("[green]yes[/]" if verdict else "[bold red]NO[/]" for verdict in each.verdicts),
        )
    return result
