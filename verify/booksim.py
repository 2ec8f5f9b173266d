"""Virtual-channel routers against BookSim 2: meshes and tori in order of dimensions, wormhole switching.

BookSim's nodes also send to themselves under uniform traffic, which ours do not: what it measures is freed of
these packets, whose latency is that of a packet alone in one router. Its packets reach their node a cycle
later than here, where a packet is delivered when its tail would leave the last router.

The allocators differ: BookSim's heads ask for all output VCs that are free, ours for one of them. That
matters near saturation. Below it latencies agree within 3 %, and accepted loads at saturation within 5 %.

In a torus a packet has one class of VCs for each dimension (`class = "dimension"`), and BookSim's links are
twice as long.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.table import Table

from hopsim import Result
from verify.options import Options
from verify.simulate import Document
from verify.statistics import Sample, pooled, standard_error, student_quantile

ROWS = Path(__file__).parent / "reference" / "booksim-runs.csv"
AGREES: Mapping[str, float] = {"packet_latency_mean": 0.03, "accepted_load": 0.05}
"""Greatest relative difference of a metric that chance need not explain."""
LINK = 2
"""Latency of the links to nodes and of those of a mesh; BookSim calls it 1 [cycles]."""
TORUS_LINK = 3
"""Latency of the links of a torus; BookSim calls it 2 [cycles]."""
LONGEST_SEEDS = 4
"""As many as BookSim ran with."""


@dataclass(frozen=True)
class Row:
    """What BookSim measured."""

    name: str
    topology: str
    """Its kind, and its sides."""
    vcs: int
    buffer: int
    packet_length: int
    traffic: str
    load: float
    switch_traversal_delay: int
    metric: str
    measured: Sample

    @property
    def sides(self) -> list[int]:
        """Routers along each dimension; each has a node."""
        return [int(side) for side in self.topology.split()[1:]]

    @property
    def is_torus(self) -> bool:
        """Whether opposite edges are joined."""
        return self.topology.startswith("torus")

    @property
    def others(self) -> float:
        """Share of the packets that are not for their own source."""
        nodes = math.prod(self.sides)
        return (nodes - 1) / nodes if self.traffic == "uniform" else 1.0

    @property
    def expected(self) -> float:
        """What is measured, without packets that nodes send to themselves [cycles, or flits/(node·cycle)]."""
        if self.metric == "accepted_load":
            return self.measured.mean * self.others
        # A packet alone: the links to and from its router, three stages, and its other flits.
        alone = 2 * LINK + 2 + self.switch_traversal_delay + self.packet_length - 1
        return (self.measured.mean - (1 - self.others) * alone) / self.others - 1

    def document(self) -> Document:
        """The same network here."""
        pattern = self.traffic if self.traffic == "uniform" else {"permutation": self.traffic}
        vcs: dict[str, Any] = {"network": self.vcs, "injection": self.vcs}
        if self.is_torus:
            vcs["rings"] = {"dateline": {"class": "dimension"}}
        return {
            "load": self.load * self.others,
            "topology": {"torus" if self.is_torus else "mesh": {"sides": self.sides}},
            "links": {
                "network": {"latency": TORUS_LINK if self.is_torus else LINK},
                "injection": {"latency": LINK},
            },
            "router": {
                "virtual_channel": {
                    "vcs": vcs,
                    "buffers": {
                        "network": self.buffer,
                        "injection": max(self.buffer, self.packet_length),
                    },
                    "switch_traversal_delay": self.switch_traversal_delay,
                }
            },
            "jobs": [{"traffic": {"pattern": pattern, "packet_length": self.packet_length}}],
            "measure": {"warmup": 5_000, "cycles": 20_000},
        }


def read(path: Path = ROWS) -> list[Row]:
    """All rows, in the order of the file."""
    with path.open(newline="") as file:
        return [_row(record) for record in csv.DictReader(file)]


def _row(record: Mapping[str, str]) -> Row:
    return Row(
        name=f"{record['name']} {record['load']}",
        topology=record["topology"],
        vcs=int(record["vcs"]),
        buffer=int(record["buffer"]),
        packet_length=int(record["packet_length"]),
        traffic=record["traffic"],
        load=float(record["load"]),
        switch_traversal_delay=int(record["switch_traversal_delay"]),
        metric=record["metric"],
        measured=Sample(float(record["mean"]), float(record["std"]), int(record["seeds"])),
    )


def check(options: Options) -> int:
    """Print every selected row; how many differ."""
    rows = [row for row in read() if options.selects(row.name)]
    runs = options.simulate([row.document() for row in rows], min(options.seeds, LONGEST_SEEDS), summary)
    table = Table(title="Virtual-channel routers and BookSim 2", title_justify="left")
    for heading in ("row", "metric", "BookSim", "hopsim", "difference", "by chance", "agrees"):
        table.add_column(heading, justify="left" if heading in {"row", "metric", "agrees"} else "right")
    differ = 0
    for row, found in zip(rows, runs, strict=True):
        ours = Sample.of([run[row.metric] for run in found])
        difference, chance = ours.mean - row.expected, by_chance(row, ours)
        agrees = abs(difference) <= max(AGREES[row.metric] * row.expected, chance)
        differ += not agrees
        table.add_row(
            row.name,
            row.metric,
            f"{row.expected:.4g}",
            f"{ours.mean:.4g}",
            f"{difference / row.expected:+.1%}",
            f"±{chance / row.expected:.1%}",
            "[green]yes[/]" if agrees else "[bold red]NO[/]",
        )
    options.console.print(table)
    options.console.print(f"BookSim: {len(rows) - differ} passed, {differ} failed")
    return differ


def by_chance(row: Row, ours: Sample) -> float:
    """The difference that chance explains."""
    std, freedom = pooled([ours, row.measured])
    return student_quantile(freedom) * standard_error(std, ours.count, row.measured.count)


def summary(result: Result) -> Mapping[str, float]:
    """What is compared of a run."""
    return {metric: result.summary[metric] for metric in AGREES}
