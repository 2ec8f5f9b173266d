"""How much a search of Graph500 sends, a second time: from docs/model.md, without network and engine.

`python -m verify.graph500_volume > verify/reference/applications/graph500-volume.csv` writes the table that
the engine's searches are compared with.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from math import ceil, exp, log

import numpy as np
from numpy.typing import NDArray

RUNS = 200
MAX_LEVELS = 9
COALESCING = 256
EDGEFACTOR = 16
CASES: Sequence[tuple[int, int, int, str]] = (
    (17, 72, 20, "thesis"),
    (17, 72, 20, "fogsim"),
    (18, 72, 20, "thesis"),
    (18, 72, 20, "fogsim"),
    (20, 64, 1, "thesis"),
    (20, 64, 1, "fogsim"),
    (20, 72, 20, "thesis"),
    (20, 72, 20, "fogsim"),
    (20, 72, 1000, "thesis"),
    (20, 72, 1000, "fogsim"),
    (22, 64, 3, "thesis"),
    (22, 64, 3, "fogsim"),
    (26, 72, 3, "thesis"),
    (26, 72, 3, "fogsim"),
    (26, 160, 15, "thesis"),
    (26, 160, 15, "fogsim"),
)
"""Scale, ranks, degree of the root, form of equation 2.8."""
COLUMNS = (
    "scale,edgefactor,ranks,root_degree,coalescing,equations,runs,levels_mean,queries_mean,queries_sd,"
    "messages_mean,messages_sd,queries_by_level"
)
Counts = NDArray[np.int64]
"""A number for each rank."""


@dataclass(frozen=True)
class Search:
    """The parameters of a search."""

    s: int
    """Scale."""
    n: int
    """Ranks."""
    d: int
    """Degree of the root."""
    form: str
    """Of equation 2.8: as printed in the `thesis`, or `fogsim`."""
    f: int = EDGEFACTOR
    """Edges per vertex."""

    @property
    def bound(self) -> int:
        """Most queries, equation 2.1."""
        return 2 ** (self.s + 1) * self.f * (self.n - 1) // self.n

    def mean(self, level: int) -> float:
        """Edges explored in a level, equations 2.5 to 2.8."""
        s, f, x = self.s, self.f, log(self.d)
        a = -0.133 + 0.0046 * s + exp(0.01257 * f - 0.1829 * s - exp(1.75 - 0.7 * level))
        b = 2 - level * (0.91 + 0.002 * f - 0.012 * s)
        if self.form == "thesis":
            bell = (-0.81 + 0.8411 * log(s)) * exp(-((level - 2.8) ** 2) / 30)
        else:
            bell = (-1.105 + 1.01 * log(s)) * exp(-((level - 3.2) ** 2) / 8)
        return exp(a * x**2 + b * x + exp(1 + (1 + 0.004 * f) * bell))

    def deviation(self, level: int) -> float:
        """Of that, equation 2.17."""
        if level == 1:
            return exp(self._f1(1))
        if level == 2:
            return exp(max(self._f1(1), self._f1(2)))
        if level == 3:
            return exp(max(self._f1(2), self._f2(4)))
        return exp(self._f2(level))

    def _f1(self, level: int) -> float:
        """Equations 2.9 and 2.11 to 2.13."""
        s, f, x = self.s, self.f, log(self.d)
        d = 0.002 * s - 0.14 - (0.015 * s - 0.285) * (0.56 + 0.033 * f) * (level - 1)
        linear = 0.97 - (level - 1) * (4.438 - 0.168 * s) * (0.83 + 0.01 * f)
        g = ((2.1 + level) * (5.35 + 0.093 * s) - 13.625) * (1.23 - (2.9 + 0.69 * level) / f)
        return d * x**2 + linear * x + g

    def _f2(self, level: int) -> float:
        """Equations 2.10 and 2.14 to 2.16."""
        s, f = self.s, self.f
        h = 2**level * (0.011 + 0.00012 * f) * exp(1.7 - s / 10)
        j = 1 - exp((1 - 0.012 * f) * (9.55 - 1.3 * level - s * (0.6 - 0.1 * level)))
        k = 13 * (0.062 * s - 0.046) * (2 - 0.24 * level) - j
        return k / self.d**h + j

    def levels(self, random: np.random.Generator) -> list[Counts]:
        """Queries of each rank, level by level."""
        first = np.zeros(self.n, np.int64)
        first[random.integers(self.n)] = min(ceil(self.d * (self.n - 1) / self.n), self.bound)
        left, found = self.bound - int(first.sum()), [first]
        while left and len(found) < MAX_LEVELS and not (len(found) > 5 and 10 * left <= self.bound):
            wanted = self._wanted(len(found), left, random)
            sent = wanted if wanted.sum() <= left else shares(wanted, left)
            found.append(sent)
            left -= int(sent.sum())
        return found

    def _wanted(self, level: int, left: int, random: np.random.Generator) -> Counts:
        """What every rank draws."""
        mean = min(self.mean(level), left * self.n / (self.n - 1))
        drawn = random.normal(mean, self.deviation(level), self.n)
        while (negative := drawn < 0).any():
            drawn[negative] = random.normal(mean, self.deviation(level), int(negative.sum()))
        return np.floor(drawn * (self.n - 1) / self.n**2 + 0.5).astype(np.int64)

    def messages(self, queries: Counts) -> int:
        """Messages that these queries of the ranks are, equations 2.3 and 2.4."""
        reached = np.floor(self.n * -np.expm1(queries * np.log1p(-1 / self.n)))
        destinations = np.maximum(1, reached)
        full = destinations * np.ceil(queries / (destinations * COALESCING))
        return int(np.minimum(queries, full).sum())


def shares(wanted: Counts, left: int) -> Counts:
    """What is left, dealt out by what the ranks want."""
    sums = [int(each) for each in np.cumsum(wanted)]
    until = [left * each // sums[-1] for each in sums]
    return np.diff(np.array([0, *until]))


def row(search: Search) -> list[str]:
    """Means and deviations over seeds."""
    runs = [search.levels(np.random.default_rng(seed)) for seed in range(RUNS)]
    by_level = [[int(level.sum()) for level in run] for run in runs]
    queries = [sum(levels) for levels in by_level]
    messages = [sum(search.messages(level) for level in run) for run in runs]
    means = [sum(level) / RUNS for level in zip_longest(*by_level, fillvalue=0)]
    figures = [of for values in (queries, messages) for of in (np.mean(values), np.std(values, ddof=1))]
    return [
        *map(str, (search.s, search.f, search.n, search.d, COALESCING, search.form, RUNS)),
        f"{np.mean([len(run) for run in runs]):.2f}",
        *(f"{figure:.0f}" for figure in figures),
        " ".join(f"{mean:.0f}" for mean in means),
    ]


def main() -> None:
    """Write the table."""
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(COLUMNS.split(","))
    writer.writerows(row(Search(*case)) for case in CASES)


if __name__ == "__main__":
    main()
