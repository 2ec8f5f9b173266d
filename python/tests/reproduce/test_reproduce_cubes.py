"""What the entries of Izu and of Ridruejo conclude, from results that were not simulated."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from hopsim.results.result import Result
from hopsim_reproduce.entries import BY_NAME, ENTRIES
from hopsim_reproduce.izu.table import PUBLISHED, STAMPS
from hopsim_reproduce.model import Entry, Fact, Outcome, Results, slug
from made_up import made_up

TABLE = BY_NAME["izu-table-2"]


def changed(results: Results, experiment: str, **summary: float) -> None:
    """Gives the points of an experiment other figures."""
    for result in results[experiment]:
        result.summary.update(summary)


def as_published(factor: float = 1.0) -> Results:
    """Table 2 with the published figures times a factor."""
    results = made_up(TABLE)
    for pattern, values in PUBLISHED.items():
        for stamp, value in zip(STAMPS, values, strict=True):
            changed(results, slug("Age", pattern, stamp), node_injection_min=factor * value)
    return results


def holding(outcome: Outcome) -> dict[str, bool]:
    return {fact.statement: fact.holds for fact in outcome.facts}


def fact(entry: Entry, results: Results, text: str) -> Fact:
    (found,) = [each for each in entry.conclude("quick", results).facts if text in each.statement]
    return found


def test_table_2_agrees_within_ten_percent() -> None:
    near, far = (TABLE.conclude("full", as_published(factor)) for factor in (1.09, 1.11))
    assert all(value.agrees for value in near.comparisons)
    assert [value.agrees for value in far.comparisons if "least" in value.quantity] == [False] * 12
    assert all(value.agrees for value in far.comparisons if "/" in value.quantity)


def test_table_2_needs_the_published_order_of_all_twelve_figures() -> None:
    assert fact(TABLE, as_published(), "order").holds
    swapped = as_published()
    changed(swapped, slug("Age", "transpose", "queue of 24"), node_injection_min=0.19)
    assert not fact(TABLE, swapped, "order").holds
    assert "transpose, queue of 24" in fact(TABLE, swapped, "order").found


def test_the_published_figures_have_the_published_reductions_but_one() -> None:
    """The text has 63 % where the table it speaks of has 55 %."""
    found = holding(TABLE.conclude("quick", as_published()))
    failing = [statement for statement, holds in found.items() if not holds]
    assert failing == [
        "injection time instead of generation costs the least node 63%, perfect shuffle",
    ]


def test_row_0_is_read_from_the_table_of_the_nodes() -> None:
    entry = BY_NAME["izu-figure-3"]
    outcome = entry.conclude("quick", made_up(entry))
    least = next(value for value in outcome.comparisons if value.quantity == "least of row 0")
    assert least.ours is not None
    assert least.ours.mean == pytest.approx(0.3)
    assert not holding(outcome)["ideal age gives row 0 an even injection rate"]


def test_a_starved_node_makes_a_network_unfair_without_breaking_the_figure() -> None:
    entry = BY_NAME["izu-figure-4"]
    results = made_up(entry)
    assert not fact(entry, results, "oblivious torus, transpose: RR starves").holds
    changed(results, slug("torus", "oblivious", "RR", "transpose"), node_injection_min=0.0)
    assert fact(entry, results, "oblivious torus, transpose: RR starves").holds


def test_the_reduction_by_sat_is_that_of_the_mean_over_the_patterns() -> None:
    entry = BY_NAME["izu-figure-4"]
    results = made_up(entry)
    for pattern in ("uniform", "hot-region"):
        changed(results, slug("mesh", "adaptive", "SAT l=8 k=8", pattern), node_injection_mean=0.15)
    found = {value.quantity: value for value in entry.conclude("quick", results).comparisons}
    greatest = found["greatest reduction of average throughput [%]"].ours
    least = found["least reduction of average throughput [%]"].ours
    assert greatest is not None
    assert least is not None
    assert (greatest.mean, least.mean) == (pytest.approx(20.0), pytest.approx(0.0))


def test_saturated_nodes_are_those_that_inject_less_than_they_offer() -> None:
    entry = BY_NAME["izu-figure-7"]
    values = entry.conclude("quick", made_up(entry)).comparisons
    ours = {(value.row, value.quantity): value.ours for value in values}
    # Of nodes that offer 0.6, 0.4 and 0.3 only the first ones are saturated, at 0.4.
    for quantity in ("least of the saturated nodes", "most of all nodes"):
        measured = ours["Age", quantity]
        assert measured is not None
        assert measured.mean == pytest.approx(0.4, abs=1e-3)


def test_what_the_hot_node_gets_is_the_share_of_the_throughput() -> None:
    entry = BY_NAME["izu-figure-9"]
    results = {
        name: [with_equal_nodes(result) for result in points] for name, points in made_up(entry).items()
    }
    outcome = entry.conclude("quick", results)
    for value in outcome.comparisons:
        assert value.ours is not None
        assert value.ours.mean == pytest.approx(0.16 * (0.1 + 0.9 / 63), rel=1e-3)
    bulk = fact(entry, results, "row 0 gets the bulk")
    assert (bulk.holds, bulk.found) == (False, "0.111 (an equal share is 0.111)")


def with_equal_nodes(result: Result) -> Result:
    """The same point, every node injecting 0.16."""
    packets = round(0.16 * result.config["measure"]["cycles"] / 16)
    table = pa.table({"node": range(64), "injected": [packets] * 64})
    return Result({"config": result.config, "result": result.summary}, result.axes, {"nodes": table})


def test_the_time_of_a_burst_is_relative_to_that_of_the_same_seed() -> None:
    entry = BY_NAME["ridruejo-figure-2"]
    results = made_up(entry)
    for seed, (own, base) in enumerate(
        zip(results["64-ring-un-lbr-1000"], results["64-ring-un-base-1000"], strict=True)
    ):
        base.summary["cycles_per_burst"] = 1000.0 * (1 + seed)
        own.summary["cycles_per_burst"] = 900.0 * (1 + seed)
    found = fact(entry, results, "64-ring, UN: LBR reduces")
    assert (found.holds, found.found) == (True, "0.900 ± 0.000")
    assert not fact(entry, results, "UN: LBR gains more in the 16×16 torus").holds


def documents(name: str, scale: Any = "full") -> list[dict[str, Any]]:
    return [experiment.document for experiment in BY_NAME[name].experiments(scale, 1)]


def test_both_scales_run_the_published_networks() -> None:
    for entry in ENTRIES:
        if entry.name.startswith(("izu-", "ridruejo-")):
            quick, full = (
                {str(each["topology"]) for each in documents(entry.name, s)} for s in ("quick", "full")
            )
            assert quick == full


def test_full_scale_of_izu_warms_up_for_the_published_time_in_five_batches() -> None:
    for name in BY_NAME:
        steady = [each for each in documents(name) if "warmup" in each["measure"]]
        if name.startswith("izu-"):
            assert bool(steady) == ("figure-1" not in name)
            assert {each["measure"]["warmup"] for each in steady} <= {50_000}
            assert {each["measure"]["batches"] for each in steady} <= {5}
