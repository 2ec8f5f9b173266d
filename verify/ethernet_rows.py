"""What other simulators measured of lossless Ethernet: scenarios, flows, and figures with their spread."""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from verify.rows import DIRECTORY
from verify.statistics import Sample

RUNS = DIRECTORY / "ethernet-runs.csv"
FLOWS = DIRECTORY / "ethernet-flows.csv"

FIGURES = ("packets", "jain_index", "marked", "pauses", "queue", "completion_mean", "completion_max")
"""Columns of figures of a whole run that are compared, each with a companion `…_std`."""

HTSIM = "uet-htsim"

DEFAULTS: Mapping[str, str] = {
    "ENABLE_QCN": "1",
    "CC_MODE": "1",
    "PACKET_PAYLOAD_SIZE": "953",
    "ALPHA_RESUME_INTERVAL": "1",
    "RATE_DECREASE_INTERVAL": "1",
    "RP_TIMER": "55",
    "EWMA_GAIN": "0.00390625",
    "FAST_RECOVERY_TIMES": "1",
    "RATE_AI": "40Mb/s",
    "MIN_RATE": "40Mb/s",
    "L2_CHUNK_SIZE": "4000",
    "BUFFER_SIZE": "256",
}
"""Options of ns-3 that documents are made of, as all runs have them whose rows do not say otherwise."""


@dataclass(frozen=True)
class Flow:
    """What a host sends, and what became of it."""

    source: int
    destination: int
    packets: int | None
    """How many; None: without end."""
    start: int
    """When it begins [ns]."""
    found: Sample | None
    """Its completion time [ns], or the packets delivered of it in the window; None: not kept."""


@dataclass(frozen=True)
class Scenario:
    """A run of another simulator."""

    name: str
    simulator: str
    topology: Mapping[str, str]
    """`kind`, and what else the row says of it."""
    options: Mapping[str, str]
    """Options by their names there."""
    warmup: int | None
    """When the window begins [ns]; None: flows are followed to their ends."""
    end: int
    """When it ends, or by when all flows have [ns]."""
    seeds: int
    flows: Sequence[Flow]
    figures: Mapping[str, Sample]

    def option(self, name: str) -> str:
        """The value of an option, also where the row does not have it."""
        return self.options.get(name, DEFAULTS.get(name, ""))

    @property
    def is_hpcc(self) -> bool:
        """Whether it has HPCC."""
        return self.option("CC_MODE") == "3" and self.simulator != HTSIM

    @property
    def ports(self) -> int:
        """Ports of the switch of a star, or of one at the end of a chain with two hosts for each."""
        return int(self.topology["hosts"]) if self.topology["kind"] == "star" else 3


def read() -> list[Scenario]:
    """All scenarios, in the order of the file."""
    flows = defaultdict[str, list[Flow]](list)
    with FLOWS.open(newline="") as file:
        for record in csv.DictReader(file):
            flows[record["scenario"]].append(_flow(record))
    with RUNS.open(newline="") as file:
        return [_scenario(record, flows[record["scenario"]]) for record in csv.DictReader(file)]


def _flow(record: Mapping[str, str]) -> Flow:
    found = record["completion_ns"] or record["delivered"]
    return Flow(
        source=int(record["source"]),
        destination=int(record["destination"]),
        packets=int(record["packets"]) if record["packets"] else None,
        start=int(record["start_ns"]),
        found=Sample(float(found), float(record["delivered_std"] or 0), 1) if found else None,
    )


def _scenario(record: Mapping[str, str], flows: Sequence[Flow]) -> Scenario:
    seeds = int(record["seeds"])
    kind, *rest = record["topology"].split()
    return Scenario(
        name=record["scenario"],
        simulator=record["simulator"],
        topology={"kind": kind, **_pairs(rest)},
        options=_pairs(record["options"].split(";")),
        warmup=int(record["warmup_ns"]) if record["warmup_ns"] else None,
        end=int(record["end_ns"]),
        seeds=seeds,
        flows=[_of_seeds(flow, seeds) for flow in flows],
        figures={
            figure: Sample(float(record[figure]), float(record[f"{figure}_std"] or 0), seeds)
            for figure in FIGURES
            if record[figure]
        },
    )


def _of_seeds(flow: Flow, seeds: int) -> Flow:
    if flow.found is None:
        return flow
    found = Sample(flow.found.mean, flow.found.std, seeds)
    return Flow(flow.source, flow.destination, flow.packets, flow.start, found)


def _pairs(items: Sequence[str]) -> dict[str, str]:
    return dict(item.split("=", 1) for item in items)
