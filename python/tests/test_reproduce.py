"""The machinery of `hopsim reproduce` on made-up results, and the documents of its entries."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args

import pyarrow as pa
import pytest
from click.testing import CliRunner
from rich.console import Console

from hopsim import _core, toml
from hopsim.reproduce import command, drawing, show
from hopsim.reproduce.entries import ENTRIES
from hopsim.reproduce.model import Comparison, Entry, Experiment, Measured, Results, Scale
from hopsim.reproduce.thesis_tables import published
from hopsim.results import Result

NAMES = {entry.name: entry for entry in ENTRIES}
SUMMARY = {
    "accepted_load": 0.3,
    "router_injection_min": 0.25,
    "router_injection_max_min_ratio": 1.2,
    "router_injection_cov": 0.02,
}


def made_up(entry: Entry, scale: Scale = "quick", **changes: float | None) -> Results:
    """A result for every point of an entry, all alike."""
    return {
        experiment.name: [result(load, {**SUMMARY, **changes}) for load in experiment.loads for _ in range(2)]
        for experiment in entry.experiments(scale, 2)
    }


def result(load: float, summary: Mapping[str, Any]) -> Result:
    routers = pa.table({"group": [0] * 8 + [1] * 8, "injection_load": [0.3, *[0.35] * 6, 0.3, *[0.0] * 8]})
    return Result({"config": {}, "result": dict(summary)}, {"load": load}, {"routers": routers})


def experiments() -> list[tuple[str, Scale, Experiment]]:
    return [
        (entry.name, scale, experiment)
        for entry in ENTRIES
        for scale in get_args(Scale)
        for experiment in entry.experiments(scale, 2)
    ]


@pytest.mark.parametrize(("entry", "scale", "experiment"), experiments())
def test_every_document_is_valid(entry: str, scale: Scale, experiment: Experiment) -> None:
    points = _core.points(toml.document(experiment.sweep()), entry, [])
    assert len(points) == 2 * len(experiment.loads)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_every_entry_concludes_prints_and_draws(entry: Entry, tmp_path: Path) -> None:
    results = made_up(entry)
    outcome = entry.conclude("quick", results)
    assert outcome.comparisons or outcome.facts
    show.outcome(Console(quiet=True), entry, outcome)
    show.write(tmp_path / "comparison.csv", outcome)
    paths = drawing.save(entry.draw("quick", results), tmp_path, entry.name)
    assert [path.suffix for path in paths] == [".png", ".pdf"]
    assert all(path.stat().st_size > 1000 for path in paths)


def test_names_are_unique() -> None:
    assert len(NAMES) == len(ENTRIES)


def test_table_3_2_holds_the_published_rows() -> None:
    rows = published("3.2")
    assert [(row.mechanism, row.load) for row in rows] == [
        ("MIN", 0.03),
        ("MIN", 0.55),
        ("Obl-RRG", 0.35),
        ("Obl-RRG", 0.55),
        ("Obl-CRG", 0.35),
        ("Obl-CRG", 0.55),
    ]
    assert rows[1].values["router_injection_max_min_ratio"] == 91.16


def test_table_compares_mean_over_seeds_with_published() -> None:
    entry = NAMES["thesis-table-3.2"]
    comparisons = entry.conclude("quick", made_up(entry)).comparisons
    found = {(each.row, each.quantity): each for each in comparisons}
    smallest = found["Obl-RRG at 0.35", "min inj. load"]
    assert smallest.difference == pytest.approx(0.25 - 0.3424)
    assert smallest.relative == pytest.approx(0.25 / 0.3424 - 1)
    assert found["MIN", "avg. saturation load"].ours == Measured(0.3, 0.0, 2)


def test_starved_router_has_no_ratio() -> None:
    entry = NAMES["thesis-table-3.1"]
    comparisons = entry.conclude("quick", made_up(entry, router_injection_max_min_ratio=None)).comparisons
    ratio = next(each for each in comparisons if each.quantity == "max/min")
    assert ratio.ours is None
    assert show.cells(ratio)[2:] == ("-", "-")


def test_figure_statement_fails_when_routers_differ() -> None:
    entry = NAMES["thesis-figure-3.9"]
    facts = entry.conclude("quick", made_up(entry)).facts
    assert [fact.holds for fact in facts if "all routers" in fact.statement] == [False, False]
    assert all(fact.holds for fact in facts if "between" in fact.statement)


def test_measured_spread_is_of_a_sample() -> None:
    assert Measured.of([1.0, 2.0, 3.0]) == Measured(2.0, 1.0, 3)
    assert Measured.of([1.0]).std == 0.0


def test_difference_from_zero_has_no_percentage() -> None:
    assert Comparison("row", "quantity", Measured(1.0, 0.0, 1), 0.0).relative is None


def test_list_and_wrong_name() -> None:
    listing = CliRunner().invoke(command, [])
    assert listing.exit_code == 0
    assert "thesis-table-3.2" in listing.output
    wrong = CliRunner().invoke(command, ["thesis-table-3.7"])
    assert wrong.exit_code == 2
    assert "thesis-table-3.7" in wrong.output
    assert "did you mean thesis-table-3." in wrong.output
