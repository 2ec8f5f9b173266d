"""Reference rows: what another simulator measured, with the settings it ran with.

A row is one line of a file in `reference/`. Its values carry hopsim's summary keys, whatever the
file calls them, so that everything after this module speaks one language.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

DIRECTORY = Path(__file__).parent / "reference"
RUNS = DIRECTORY / "fogsim-runs.csv"
TABLE17 = DIRECTORY / "fogsim-acceptance.csv"

INVERSE_RATIO = "router_injection_min_max_ratio"
"""Key of the smallest over the largest number of packets that a router's nodes injected."""

MISROUTED = {
    "misrouted_fraction": "nonminimal_accepted_load",
    "misrouted_at_injection_fraction": "injection_misrouted_load",
    "misrouted_in_source_group_fraction": "source_group_misrouted_load",
    "misrouted_in_intermediate_group_fraction": "intermediate_group_misrouted_load",
}
"""hopsim's summary key, a share of the delivered packets -> column of fogsim-runs.csv, a load."""

GROUP0 = "group0_router_{}"
"""Key of the packets delivered that router `{}` of group 0 generated."""

RUN_COLUMNS = {
    "accepted_load": "accepted_load",
    "packet_latency_mean": "packet_latency_mean",
    "injection_latency_mean": "injection_latency_mean",
    "base_latency_mean": "base_latency_mean",
    "hops_mean": "hops_mean",
    "local_queue_latency_mean": "local_contention_mean",
    "global_queue_latency_mean": "global_contention_mean",
    "router_injection_max_min_ratio": "router_injection_max_min_ratio",
    "router_injection_cov": "router_injection_cov",
}
"""hopsim's summary key -> column of fogsim-runs.csv."""

TABLE17_COLUMNS = (
    "accepted_load",
    "packet_latency_mean",
    "injection_latency_mean",
    "local_queue_latency_mean",
    "global_queue_latency_mean",
    "router_injection_cov",
    "router_injection_min_packets",
    "router_injection_max_packets",
)
"""Columns of fogsim-acceptance.csv; each has a `_std` companion."""


@dataclass(frozen=True)
class Row:
    """One reference measurement."""

    name: str
    """Unique within its file; `--rows` matches it."""
    kind: str
    settings: Mapping[str, str]
    """FOGSim's keys and values, everything that is not a default."""
    offered_load: float
    warmup: int
    cycles: int
    values: Mapping[str, float]
    """hopsim's summary key -> mean over the reference's seeds; a missing key was not measured."""
    rounding: Mapping[str, float] = field(default_factory=dict[str, float])
    """Half of the last digit printed, where it is not negligible."""
    spreads: Mapping[str, float] = field(default_factory=dict[str, float])
    """Sample standard deviation over the reference's seeds, where it was recorded."""
    seeds: int = 1
    """Number of seeds behind `values`."""

    @property
    def case(self) -> tuple[object, ...]:
        """Equal for rows that differ only in their seed."""
        settings = tuple(sorted(self.settings.items()))
        return (settings, self.offered_load, self.warmup, self.cycles)


def parse_settings(text: str) -> dict[str, str]:
    """`A=1 B=2` as a dictionary."""
    return dict(item.split("=", 1) for item in text.split())


def read_runs(path: Path = RUNS) -> list[Row]:
    """Rows of fogsim-runs.csv, in file order."""
    with path.open(newline="") as file:
        return [_run(record) for record in csv.DictReader(file)]


def _run(record: Mapping[str, str]) -> Row:
    values = {key: float(record[column]) for key, column in RUN_COLUMNS.items() if record[column] != ""}
    accepted = values["accepted_load"]
    values |= {key: float(record[column]) / accepted for key, column in MISROUTED.items()}
    for router, packets in enumerate(record["group0_router_packets"].split()):
        values[GROUP0.format(router)] = float(packets)
    values[INVERSE_RATIO] = inverse_ratio(values.pop("router_injection_max_min_ratio", None))
    offered, cycles = float(record["offered_load"]), int(record["measured_cycles"])
    return Row(
        name=f"{record['label']} h={record['h']} {record['traffic']} {offered:g} "
        f"{cycles // 1000}k seed {record['seed']}",
        kind=record["kind"],
        settings={**parse_settings(record["fogsim_settings"]), "H": record["h"]},
        offered_load=offered,
        warmup=int(record["warmup_cycles"]),
        cycles=cycles,
        values=values,
    )


def inverse_ratio(max_min: float | None) -> float:
    """Smallest over largest injection of a router, from the max/min ratio (None: a zero minimum).

    It says the same as the ratio and stays finite where a router starves.
    """
    return 0.0 if max_min is None else 1 / max_min


def read_table17(path: Path = TABLE17) -> list[Row]:
    """Rows of fogsim-acceptance.csv: means and spreads over several seeds."""
    with path.open(newline="") as file:
        return [_acceptance(record) for record in csv.DictReader(file)]


def _acceptance(record: Mapping[str, str]) -> Row:
    """The file gives the spread over its seeds as the standard deviation of a population."""
    seeds = int(record["seeds"])
    unbiased = math.sqrt(seeds / (seeds - 1))
    return Row(
        name=record["name"],
        kind="acceptance",
        settings={**parse_settings(record["fogsim_settings"]), "H": record["h"]},
        offered_load=float(record["offered_load"]),
        warmup=int(record["warmup_cycles"]),
        cycles=int(record["measured_cycles"]),
        values={key: float(record[key]) for key in TABLE17_COLUMNS},
        rounding={key: half_a_digit(record[key]) for key in TABLE17_COLUMNS},
        spreads={key: float(record[f"{key}_std"]) * unbiased for key in TABLE17_COLUMNS},
        seeds=seeds,
    )


def half_a_digit(number: str) -> float:
    """Half of the last decimal printed: the rounding error of `1.25` is 0.005 at most."""
    decimals = len(number.partition(".")[2])
    return 0.5 * 10.0**-decimals


def siblings(rows: Sequence[Row]) -> dict[tuple[object, ...], list[Row]]:
    """Rows by case: those in one list differ only in their seed."""
    cases: dict[tuple[object, ...], list[Row]] = {}
    for row in rows:
        cases.setdefault(row.case, []).append(row)
    return cases
