"""What the figures are judged by: rates of flows in parts of a run."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hopsim.metrics.stats import jain
from hopsim.results.result import Result
from hopsim_reproduce.gran.system import CAPACITY, CONTRIBUTORS, INTERVAL, VICTIM
from hopsim_reproduce.model import Fact


class Run:
    """One seed: rates of its flows [Gb/s] in stages of so many seconds."""

    def __init__(self, result: Result, stage: float) -> None:
        table: pa.Table = result.flow_series
        self.stage = stage
        self._rows = {
            name: table.filter(pc.equal(table.column("name"), pa.scalar(name)))
            for name in (VICTIM, *CONTRIBUTORS)
        }
        self._result = result
        self._ends = {name: rows.column("time_s").to_numpy() for name, rows in self._rows.items()}

    def mean(self, flow: str, begin: float, end: float, column: str = "throughput_gbps") -> float:
        """Mean of a column between two times [s]."""
        ends = self._ends[flow]
        inside = (ends > begin + INTERVAL / 2) & (ends < end + INTERVAL / 2)
        return float(np.mean(self._rows[flow].column(column).to_numpy()[inside]))

    def late(self, flow: str, stage: int) -> float:
        """Rate in the second half of a stage, counted from 0."""
        return self.mean(flow, (stage + 0.5) * self.stage, (stage + 1) * self.stage)

    def contributors(self, stage: int) -> list[float]:
        """Rates of the flows to the hot spot in the second half of a stage."""
        return [self.late(flow, stage) for flow in active(stage)]

    def ratio(self, stage: int) -> float:
        """Greatest over least of them."""
        rates = self.contributors(stage)
        return max(rates) / min(rates) if min(rates) else math.inf

    def fairness(self, stage: int) -> float:
        """Jain's index of them."""
        return jain(self.contributors(stage))

    def convergence(self, stage: int, tolerance: float) -> float:
        """Time from the begin of a stage until all contributors stay within a share of equal rates [s].

        Rates are those of intervals; a stage in which they do not has its whole length.
        """
        begin, end = stage * self.stage, (stage + 1) * self.stage
        names = active(stage)
        ends = self._ends[names[0]]
        inside = (ends > begin + INTERVAL / 2) & (ends < end + INTERVAL / 2)
        rates = np.array([self._rows[name].column("throughput_gbps").to_numpy()[inside] for name in names])
        apart = np.abs(rates / rates.mean(axis=0) - 1).max(axis=0) > tolerance
        last = np.flatnonzero(apart)
        return 0.0 if last.size == 0 else float(ends[inside][last[-1]] - begin)

    def lost_to(self, flow: str) -> dict[tuple[str, str], float]:
        """Ends of the links at which congestion begins whose victim a flow is, and the share of the run."""
        rows = self._result.victims.to_pylist()
        own = [row for row in rows if row["name"] == flow and row["role"] == "victim"]
        return {(row["from"], row["to"]): row["lost_fraction"] for row in own}

    def notifications_per_second(self, flow: str, stage: int) -> float:
        """How often a flow is notified in the second half of a stage [1/s]."""
        half = (stage + 0.5) * self.stage, (stage + 1) * self.stage
        return self.mean(flow, *half, "notifications") / INTERVAL

    def ccti(self, flow: str, stage: int) -> float:
        """Mean index of the congestion control table in the second half of a stage."""
        return self.mean(flow, (stage + 0.5) * self.stage, (stage + 1) * self.stage, "ccti")


def active(stage: int) -> list[str]:
    """The contributors of a stage."""
    return CONTRIBUTORS[:stage]


def runs(results: Sequence[Result], stage: float) -> list[Run]:
    """One per seed."""
    return [Run(result, stage) for result in results]


def share(stage: int) -> float:
    """What each contributor of a stage gets if they are equal [Gb/s]."""
    return CAPACITY / stage


def in_every_seed(
    statement: str,
    criterion: str,
    values: Iterable[float],
    low: float | None = None,
    high: float | None = None,
) -> Fact:
    """The statement holds if the values of all seeds are within the limits."""
    found = list(values)
    holds = all((low is None or value >= low) and (high is None or value <= high) for value in found)
    return Fact(statement, f"{criterion} {limits(low, high)}", span(found), holds)


def in_most_seeds(statement: str, criterion: str, values: Iterable[bool], least: float = 0.75) -> Fact:
    """The statement holds if it does for so large a share of the seeds."""
    found = list(values)
    text = f"{sum(found)} of {len(found)} seeds"
    return Fact(statement, f"{criterion} in {least:.0%} of the seeds", text, sum(found) >= least * len(found))


def limits(low: float | None, high: float | None) -> str:
    """What values may be."""
    if low is None:
        return f"at most {high:g}"
    return f"at least {low:g}" if high is None else f"from {low:g} to {high:g}"


def near(value: float, tolerance: float) -> tuple[float, float]:
    """Limits a share around a value."""
    return (1 - tolerance) * value, (1 + tolerance) * value


def span(values: Sequence[float]) -> str:
    """Least, median and greatest value."""
    return f"{min(values):.3g} … {float(np.median(values)):.3g} … {max(values):.3g} ({len(values)} values)"
