"""Criteria judge what was measured: none of them holds whatever that is."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from hopsim.document.paths import IMPOSSIBLE, OPPORTUNISTIC, SAFE
from hopsim.results.result import Result
from hopsim_reproduce.entries import ENTRIES
from hopsim_reproduce.model import Entry, Results
from hopsim_reproduce.sentences import name
from hopsim_reproduce.thesis import vc_tables
from made_up import made_up

DRAWS = 300
"""At most: far more than it takes until each has failed once."""
SPREADS = (0.01, 0.1, 1.0, 3.0)
"""Of the logarithm of a metric: results from nearly alike to without any likeness."""
SETTINGS = {"nodes", "seed"}
"""Keys of a summary that say what was run."""
KEYS = {
    *("node", "job", "router", "peer_router", "port", "port_class", "group", "source", "destination", "name"),
    *("cycle", "time_s", "communicator", "bytes_from"),
}
"""Columns that say what a row is of."""


def shaken(results: Results, draw: random.Random) -> Results:
    """The same points with other metrics."""
    return {experiment: [_shaken(point, draw) for point in points] for experiment, points in results.items()}


def _shaken(result: Result, draw: random.Random) -> Result:
    record = {"config": result.config, "result": _shaken_summary(result.summary, draw)}
    tables = {title: _shaken_table(table, draw) for title, table in result.tables.items()}
    return Result(record, dict(result.axes), tables)


def _shaken_summary(summary: Mapping[str, Any], draw: random.Random) -> dict[str, Any]:
    measured = {key for key, value in summary.items() if isinstance(value, int | float)} - SETTINGS
    return {
        key: value * draw.lognormvariate(0, draw.choice(SPREADS)) if key in measured else value
        for key, value in summary.items()
    }


def _shaken_table(table: pa.Table, draw: random.Random) -> pa.Table:
    noise, spread = np.random.default_rng(draw.randrange(2**32)), draw.choice(SPREADS)
    columns: dict[str, Any] = {}
    is_of_ranks = "matched" in table.column_names
    for title, values in zip(table.column_names, table.columns, strict=True):
        columns[title] = values
        measured = pa.types.is_floating(values.type) or pa.types.is_integer(values.type)
        if measured and title not in KEYS:
            factors = np.exp(noise.normal(0, spread, len(table))) * draw.lognormvariate(0, spread)
            changed = values.to_numpy() * factors
            # A count that was there is not gone.
            whole = pa.types.is_integer(values.type)
            columns[title] = pa.array(np.ceil(changed).astype(np.int64) if whole else changed)
        if is_of_ranks and title == "destination":
            columns[title] = pa.array(noise.permutation(values.to_numpy()))
        if is_of_ranks and title == "communicator":
            columns[title] = pa.array(4 * noise.integers(0, 1 + int(10 * spread), len(table)))
    return pa.table(columns)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_every_criterion_fails_for_some_metrics(entry: Entry, monkeypatch: pytest.MonkeyPatch) -> None:
    draw = random.Random(1)

    def vc_paths(*_: object, **__: object) -> dict[str, str]:
        paths = [
            f"{path}{reply}" for path in ("minimal", "valiant", "in_transit") for reply in ("", "_reply")
        ]
        return {path: draw.choice([SAFE, OPPORTUNISTIC, IMPOSSIBLE]) for path in paths}

    # What the core computes, and does not simulate.
    monkeypatch.setattr(vc_tables, "vc_paths", vc_paths)
    plain, verdicts = made_up(entry), dict[str, set[bool | None]]()
    for _ in range(DRAWS):
        if verdicts and all(found != {True} for found in verdicts.values()):
            break
        outcome = entry.conclude("quick", shaken(plain, draw))
        for fact in outcome.facts:
            verdicts.setdefault(fact.statement, set()).add(fact.holds)
        for value in outcome.comparisons:
            verdicts.setdefault(name(value), set()).add(value.agrees)
    assert [text for text, found in verdicts.items() if found == {True}] == []
