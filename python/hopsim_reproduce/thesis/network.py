"""Networks of the thesis and the lengths of its simulations (table 1.2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hopsim_reproduce.model import Scale

PACKET_LENGTH = 8
"""[phits]"""


@dataclass(frozen=True)
class Network:
    """A balanced dragonfly (p = h, a = 2h) and how long it is simulated [cycles]."""

    h: int
    warmup: int
    cycles: int

    @property
    def a(self) -> int:
        """Routers per group."""
        return 2 * self.h

    @property
    def nodes(self) -> int:
        """Nodes of the whole network."""
        return self.h * self.a * (self.a * self.h + 1)

    @property
    def title(self) -> str:
        """Size and lengths, for the notes of an entry."""
        return (
            f"Dragonfly p={self.h} a={self.a} h={self.h}: {self.nodes:,} nodes, "
            f"{self.warmup:,} + {self.cycles:,} cycles"
        )


PUBLISHED = Network(h=8, warmup=60_000, cycles=60_000)

ROUTERS: Mapping[Scale, Network] = {"quick": Network(4, 5_000, 25_000), "full": PUBLISHED}
"""For figures of single routers: long enough that chance does not hide a difference between them."""
FEWER_ROUTERS: Mapping[Scale, Network] = {"quick": Network(3, 5_000, 40_000), "full": PUBLISHED}
"""The same with round robin, under which what a router gets wanders: a smaller network for a longer time."""

CURVES: Mapping[Scale, Network] = {"quick": Network(3, 3_000, 4_000), "full": PUBLISHED}
"""For curves over load, many points of means over the whole network; and for tables, whose numbers are of the
published network: a quick run judges none of them."""

ROUTERS_SEEDS: Mapping[Scale, int] = {"quick": 2, "full": 5}
CURVES_SEEDS: Mapping[Scale, int] = {"quick": 1, "full": 5}
TWO_SEEDS: Mapping[Scale, int] = {**CURVES_SEEDS, "quick": 2}
"""For curves of which a statement says less than what one seed is from another."""


def notes(scale: Scale, network: Network, published: Network = PUBLISHED) -> list[str]:
    """What is run, and what a smaller network means."""
    lines = [network.title + "."]
    if scale == "quick":
        is_shorter = network.warmup + network.cycles < published.warmup + published.cycles
        shorter = " and the runs shorter" if is_shorter else ""
        lines.append(
            f"The published values are of {published.nodes:,} nodes and {published.warmup:,} + "
            f"{published.cycles:,} cycles. This network is smaller{shorter}, "
            "so they differ; --scale full runs the published network."
        )
    return lines
