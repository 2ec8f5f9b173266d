"""The Graph500 model on a dragonfly of 72 nodes, against runs of FOGSim version 4.

FOGSim's generator follows the same model with other random numbers, and differs in what a rank knows of the
others and in when a level ends, so that cycles are compared to 10 %. How many messages of queries there are follows from the model
without the network: their mean over seeds is compared to 5 % with that of an independent model (graph500-volume.csv).
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from rich.table import Table

import hopsim
from hopsim import Result
from verify.options import Options
from verify.rows import DIRECTORY
from verify.simulate import Document
from verify.statistics import Sample

REFERENCE = DIRECTORY / "applications"
CYCLES_ALLOWED = 0.10
MESSAGES_ALLOWED = 0.05
NODES = 72
EDGEFACTOR = 16
COALESCING = 256
ROOT_DEGREE = 20
MAX_LEVELS = 9
PHIT = "8 B"
PACKET_LENGTH = 512
"""A full message in one packet [phits]."""
ROUTING = {
    "MIN": ("minimal", {"local": 2, "global": 1}),
    "VAL": ("valiant", {"local": 4, "global": 2}),
}
"""FOGSim's name -> routing and VCs."""


@dataclass(frozen=True)
class Compared:
    """A row of FOGSim beside hopsim's means over seeds."""

    name: str
    cycles: int
    """FOGSim's."""
    messages: int
    """FOGSim's messages of queries."""
    model: float
    """The mean of the independent model."""
    own_cycles: Sample
    own_messages: Sample

    @property
    def apart(self) -> tuple[float, float]:
        """Relative differences of cycles and of messages."""
        return self.own_cycles.mean / self.cycles - 1, self.own_messages.mean / self.model - 1

    @property
    def agrees(self) -> bool:
        """Whether both are within what is allowed."""
        cycles, messages = self.apart
        return abs(cycles) <= CYCLES_ALLOWED and abs(messages) <= MESSAGES_ALLOWED


def check(options: Options) -> int:
    """Print every row; how many disagree."""
    rows = [row for row in _rows("fogsim-graph500.csv") if options.selects(name(row))]
    if not rows:
        return 0
    found = list(compare(options, rows))
    options.console.print(table(found))
    return sum(not row.agrees for row in found)


def compare(options: Options, rows: list[dict[str, str]]) -> Iterator[Compared]:
    """Simulate the rows."""
    volumes = {
        volume["scale"]: float(volume["messages_mean"])
        for volume in _rows("graph500-volume.csv")
        if volume["equations"] == "fogsim"
        and int(volume["ranks"]) == NODES
        and int(volume["root_degree"]) == ROOT_DEGREE
    }
    runs = options.simulate([document(row) for row in rows], options.seeds, measured)
    for row, seeds in zip(rows, runs, strict=True):
        yield Compared(
            name(row),
            int(row["cycles"]),
            int(row["p2p_messages"]),
            volumes[row["scale"]],
            Sample.of([run["cycles"] for run in seeds]),
            Sample.of([run["messages"] for run in seeds]),
        )


def name(row: Mapping[str, str]) -> str:
    """What `--rows` matches."""
    return (
        f"Graph500 {row['routing']} s={row['scale']} t={row['query_time']} "
        f"links x{row['link_latency_factor']} seed {row['seed']}"
    )


def document(row: Mapping[str, str]) -> Document:
    """FOGSim's run, with cycles of 1 ns, so that the time of a query [cycles] is one in ns."""
    routing, vcs = ROUTING[row["routing"]]
    factor = int(row["link_latency_factor"])
    arbiter = "least_recently_served"
    search = {
        "scale": int(row["scale"]),
        "edgefactor": EDGEFACTOR,
        "coalescing": COALESCING,
        "query_time": float(row["query_time"]),
        "root_degree": ROOT_DEGREE,
        "equations": "fogsim",
        "generation": "link",
        "signals": "full",
    }
    return {
        "compat": "fogsim",
        "units": {"cycle": "1 ns", "phit": PHIT},
        "topology": {"dragonfly": {"p": 2, "a": 4, "h": 2, "arrangement": "palmtree"}},
        "links": {
            "local": {"latency": 50 * factor},
            "global": {"latency": 500 * factor},
            "injection": {"latency": 1},
        },
        "router": {
            "cioq": {
                "vcs": {**vcs, "injection": 3},
                "buffers": {"local": 2048, "output": 2048, "global": 16384, "injection": 16384},
                "speedup": 2,
                "crossbar_latency": 200,
                "allocator": {"iterations": 2, "input_arbiter": arbiter, "output_arbiter": arbiter},
            }
        },
        "routing": routing,
        "jobs": [
            {
                "program": {"graph500": search},
                # All packets of FOGSim are full.
                "host": {"packet_length": PACKET_LENGTH, "last_packet": "full"},
            }
        ],
        "measure": {},
    }


def measured(result: Result) -> Mapping[str, float]:
    """Cycles, and messages of queries alone."""
    signals = levels(result)
    return {
        "cycles": result.summary["execution_time"],
        "messages": result.summary["messages"] - notices(signals),
    }


def notices(levels: int) -> int:
    """Messages without queries: each sender's to all others at the end of a level, and the all-reduce."""
    return (NODES - 1) * (1 + (levels - 1) * NODES + 2 * levels)


def levels(result: Result) -> int:
    """Levels of the search: the least limit of them under which there are as many messages."""
    job = result.config["jobs"][0]
    for limit in range(1, MAX_LEVELS):
        search = {**job["program"]["graph500"], "max_levels": limit}
        shorter = {
            "units": result.config["units"],
            "topology": {"ideal": {"nodes": NODES, "latency": 1}},
            "jobs": [{"name": job["name"], "program": {"graph500": search}}],
            "measure": {"seed": result.config["measure"]["seed"]},
        }
        if hopsim.run(shorter).summary["messages"] == result.summary["messages"]:
            return limit
    return MAX_LEVELS


def table(found: list[Compared]) -> Table:
    """A line per row."""
    result = Table(title="Graph500, cycles and messages of queries", title_justify="left")
    result.add_column("row")
    for heading in ("FOGSim cycles", "hopsim", "", "FOGSim messages", "model", "hopsim", ""):
        result.add_column(heading, justify="right")
    result.add_column("agrees")
    for row in found:
        cycles, messages = row.apart
        result.add_row(
            row.name,
            f"{row.cycles:,}",
            f"{row.own_cycles.mean:,.0f}",
            f"{cycles:+.1%}",
            f"{row.messages:,}",
            f"{row.model:,.0f}",
            f"{row.own_messages.mean:,.0f}",
            f"{messages:+.1%}",
            "[green]yes[/]" if row.agrees else "[bold red]NO[/]",
        )
    return result


def _rows(file: str) -> list[dict[str, str]]:
    path: Path = REFERENCE / file
    with path.open(newline="") as text:
        return list(csv.DictReader(text))
