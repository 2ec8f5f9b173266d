"""The Graph500 model on a dragonfly of 72 nodes, against runs of FOGSim version 4.

FOGSim's generator follows the same model with other random numbers, and differs in what a rank knows of
the others and in when a level ends, so that cycles are compared to 10 %, over seeds whose search has as
many levels as FOGSim's.

How many queries and messages of queries there are follows from the model without the network: their means
are compared with those of an independent model (`graph500_volume.py`, which made graph500-volume.csv), to 5 %
or what the spread of seeds explains.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import count, islice
from pathlib import Path

from rich.table import Table

import hopsim
from hopsim_reproduce.thesis.graph500_system import FOGSIM, MIN, VAL_GROUP, Layout, ideal
from verify.options import Options
from verify.rows import DIRECTORY
from verify.simulate import Document, with_seed
from verify.statistics import Sample, standard_error

REFERENCE = DIRECTORY / "applications"
ALLOWED = 0.10
VOLUME_ALLOWED = 0.05
QUERY_BYTES = 16
LARGEST = 20
"""Largest scale of which volumes are simulated: larger ones take minutes."""
NODES = 72
ROOT_DEGREE = 20
MAX_LEVELS = 9


@dataclass(frozen=True)
class Compared:
    """A quantity beside that of another simulator or model."""

    row: str
    quantity: str
    reference: float
    own: Sample
    allowed: float
    """Largest difference, relative to the reference."""

    @property
    def apart(self) -> float:
        """Relative difference."""
        return self.own.mean / self.reference - 1

    @property
    def agrees(self) -> bool:
        """Whether that is within what is allowed."""
        return abs(self.apart) <= self.allowed


def check(options: Options) -> int:
    """Print both comparisons; how many values disagree."""
    volumes = [
        row
        for row in _rows("graph500-volume.csv")
        if int(row["scale"]) <= LARGEST and options.selects(volume_name(row))
    ]
    runs = [row for row in _rows("fogsim-graph500.csv") if options.selects(name(row))]
    failed = 0
    for title, rows, compare in (
        ("Graph500: queries and messages, against an independent model", volumes, volume),
        ("Graph500: cycles and messages, against FOGSim", runs, timing),
    ):
        if rows:
            with ThreadPoolExecutor(options.jobs) as pool:
                found = [each for part in pool.map(partial(compare, options.seeds), rows) for each in part]
            options.console.print(table(title, found))
            failed += sum(not each.agrees for each in found)
    return failed


def volume_name(row: Mapping[str, str]) -> str:
    """What `--rows` matches."""
    return (
        f"Graph500 volume {row['equations']} s={row['scale']} f={row['edgefactor']} "
        f"n={row['ranks']} d={row['root_degree']} c={row['coalescing']}"
    )


def volume(seeds: int, row: Mapping[str, str]) -> list[Compared]:
    """Queries and messages of a search, means over seeds."""
    ranks = int(row["ranks"])
    search = {
        "scale": int(row["scale"]),
        "edgefactor": int(row["edgefactor"]),
        "ranks": ranks,
        "root_degree": int(row["root_degree"]),
        "coalescing": int(row["coalescing"]),
        "equations": row["equations"],
        "query_time": 0,
    }
    found: dict[str, list[float]] = {"queries": [], "messages": []}
    for seed in range(1, seeds + 1):
        summary = hopsim.run(with_seed(ideal(search, ranks), seed)).summary
        found["queries"].append(summary["message_bytes"] / QUERY_BYTES)
        found["messages"].append(summary["messages"] - notices(levels(search, seed), ranks))
    return [_volume(row, quantity, Sample.of(values), int(row["runs"])) for quantity, values in found.items()]


def _volume(row: Mapping[str, str], quantity: str, own: Sample, runs: int) -> Compared:
    mean, std = float(row[f"{quantity}_mean"]), float(row[f"{quantity}_sd"])
    chance = 3 * standard_error(std, own.count, runs) / mean
    return Compared(volume_name(row), quantity, mean, own, max(chance, VOLUME_ALLOWED))


def timing(seeds: int, row: Mapping[str, str]) -> list[Compared]:
    """Cycles and messages of a run of FOGSim, means over seeds."""
    own = document(row)
    search = own["jobs"][0]["program"]["graph500"]
    alike = (seed for seed in count(1) if levels(search, seed) == int(row["levels"]))
    summaries = [hopsim.run(with_seed(own, seed)).summary for seed in islice(alike, seeds)]
    packets = Sample.of([summary["messages"] for summary in summaries])
    cycles = Sample.of([summary["execution_time"] for summary in summaries])
    return [
        Compared(name(row), "cycles", int(row["cycles"]), cycles, ALLOWED),
        Compared(name(row), "messages with signals", int(row["packets"]), packets, ALLOWED),
    ]


def name(row: Mapping[str, str]) -> str:
    """What `--rows` matches."""
    return (
        f"Graph500 {row['routing']} s={row['scale']} t={row['query_time']} "
        f"links x{row['link_latency_factor']} seed {row['seed']}"
    )


def document(row: Mapping[str, str]) -> Document:
    """FOGSim's run, with cycles of 1 ns, so that the time of a query [cycles] is one in ns."""
    search = {
        **FOGSIM,
        "scale": int(row["scale"]),
        "query_time": float(row["query_time"]),
        "root_degree": ROOT_DEGREE,
    }
    # FOGSim calls VAL what the thesis calls VAL-group.
    layout = Layout(2, MIN if row["routing"] == "MIN" else VAL_GROUP)
    return layout.document(search, "1 ns", slower_links=int(row["link_latency_factor"]))


def notices(levels: int, ranks: int = NODES) -> int:
    """Messages without queries: each sender's to all others at the end of a level, and the all-reduce."""
    return (ranks - 1) * (1 + (levels - 1) * ranks + 2 * levels)


def levels(search: Document, seed: int) -> int:
    """Levels of a search: the least limit of them under which there are as many messages."""
    ranks = search.get("ranks", NODES)

    def messages(limit: int) -> int:
        document = with_seed(ideal({**search, "query_time": 0, "max_levels": limit}, ranks), seed)
        return hopsim.run(document).summary["messages"]

    whole = messages(MAX_LEVELS)
    return next(limit for limit in range(1, MAX_LEVELS + 1) if messages(limit) == whole)


def table(title: str, found: Sequence[Compared]) -> Table:
    """A line per quantity."""
    result = Table(title=title, title_justify="left")
    result.add_column("row")
    result.add_column("quantity")
    for heading in ("reference", "hopsim", "seeds", "difference", "allowed"):
        result.add_column(heading, justify="right")
    result.add_column("agrees")
    for row in found:
        result.add_row(
            row.row,
            row.quantity,
            f"{row.reference:,.0f}",
            f"{row.own.mean:,.0f} ± {row.own.std:,.0f}",
            str(row.own.count),
            f"{row.apart:+.1%}",
            f"{row.allowed:.1%}",
            "[green]yes[/]" if row.agrees else "[bold red]NO[/]",
        )
    return result


def _rows(file: str) -> list[dict[str, str]]:
    path: Path = REFERENCE / file
    with path.open(newline="") as text:
        return list(csv.DictReader(text))
