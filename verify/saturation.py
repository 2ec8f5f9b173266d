"""Where a search finds saturation, and where a fine sweep of loads shows it, seed by seed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean

from rich.table import Table

import hopsim
from hopsim import Result
from verify.options import Options
from verify.simulate import Document

FAILING = ("saturated", "not converged")
"""Verdicts of loads that are not sustained."""
SEEDS = 3
STEP = 0.005
"""From a load of the sweep to the next one, as a share of the load that was found."""
STEPS = 8
"""Loads of the sweep below it, and as many above."""
AGREES = 0.01
"""Greatest relative difference of the means over the seeds."""
PATTERNS = ("uniform", "ADV+1", "ADVc")
ROUTINGS = ("minimal", "valiant")


@dataclass(frozen=True)
class Shown:
    """What a run of the sweep shows.

    Attributes:
        load: what is offered [phits/(node·cycle)].
        seed: of the run.
        fails: whether its verdict is one of `FAILING`.
    """

    load: float
    seed: int
    fails: bool


def document(pattern: str, routing: str) -> Document:
    """A dragonfly of 1,056 nodes."""
    return {
        "topology": {"dragonfly": {"p": 4, "a": 8, "h": 4}},
        "links": {"local": {"latency": 10}, "global": {"latency": 100}},
        "routing": routing,
        "jobs": [{"traffic": {"pattern": pattern}}],
        "measure": {"warmup": 10_000, "cycles": 60_000},
    }


def turn(runs: Sequence[Shown]) -> float:
    """The load that parts runs that fail from the others best: the fewest are on the wrong side.

    The mean of all such loads, taken half-way between two of the sweep.
    """
    ordered = sorted(runs, key=lambda run: run.load)
    loads = [run.load for run in ordered]
    middles = [(low + high) / 2 for low, high in pairwise(loads)]
    wrong = [
        sum(run.fails for run in ordered[:place]) + sum(not run.fails for run in ordered[place:])
        for place in range(len(ordered) + 1)
    ]
    between = [loads[0], *middles, loads[-1]]
    return fmean(load for load, count in zip(between, wrong, strict=True) if count == min(wrong))


def check(options: Options) -> int:
    """Search and sweep every case; returns how many differ."""
    named = {f"{pattern} {routing}": (pattern, routing) for pattern in PATTERNS for routing in ROUTINGS}
    cases = {name: document(*case) for name, case in named.items() if options.selects(name)}
    found = {
        name: fmean(
            result.summary["saturation_load"]
            for result in hopsim.saturate(case, seeds=SEEDS, workers=options.jobs)
        )
        for name, case in cases.items()
    }
    factors = [1 + STEP * step for step in range(-STEPS, STEPS + 1)]
    documents = [{**case, "load": found[name] * factor} for name, case in cases.items() for factor in factors]
    rows = options.simulate(documents, SEEDS, shown)
    table = Table(title=f"Saturation, means of {SEEDS} seeds", title_justify="left")
    for heading in ("case", "search", "fine sweep", "difference"):
        table.add_column(heading, justify="left" if heading == "case" else "right")
    differ = 0
    for number, name in enumerate(cases):
        runs = [run for row in rows[number * len(factors) :][: len(factors)] for run in row]
        seeds = {run.seed for run in runs}
        swept = fmean(turn([run for run in runs if run.seed == seed]) for seed in seeds)
        difference = found[name] / swept - 1
        differ += abs(difference) > AGREES
        table.add_row(name, f"{found[name]:.4f}", f"{swept:.4f}", f"{difference:+.2%}")
    options.console.print(table)
    return differ


def shown(result: Result) -> Shown:
    """What a run shows."""
    load = result.config["jobs"][0]["traffic"]["process"]["bernoulli"]["load"]
    return Shown(load, result.summary["seed"], result.summary["verdict"] in FAILING)
