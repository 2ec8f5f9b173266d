"""What the entries of applications conclude, from results that were not simulated."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from hopsim_reproduce.entries import BY_NAME
from hopsim_reproduce.izu import applications
from hopsim_reproduce.izu.system import sat
from hopsim_reproduce.model import AxisValue, Entry, Fact, Outcome, Results, slug
from hopsim_reproduce.panels import seconds
from hopsim_reproduce.ridruejo import traces as ridruejo
from hopsim_reproduce.thesis import graph500
from hopsim_reproduce.thesis.graph500 import ALTAMIRA, EDR, QDR, SLOW_LINKS
from hopsim_reproduce.thesis.graph500_system import Layout
from made_up import made_up

FIGURE_10, FIGURE_11 = BY_NAME["izu-figure-10"], BY_NAME["izu-figure-11"]
FIGURE_3 = BY_NAME["ridruejo-figure-3"]
TIME = 1_000_000
"""Of all runs that were made up [cycles]."""


def changed(results: Results, experiment: str, value: AxisValue | None = None, **summary: float) -> None:
    """Gives the points of an experiment, or those at one value of its axis, other figures."""
    for result in results[experiment]:
        if value is None or value in result.axes.values():
            result.summary.update(summary)


def file(trace: str) -> str:
    return f"traces/{trace}.mpt.xz"


def fact(outcome: Outcome, text: str) -> Fact:
    (found,) = [each for each in outcome.facts if text in each.statement]
    return found


def failing(outcome: Outcome) -> set[str]:
    return {each.statement for each in outcome.facts if not each.holds}


def ours(outcome: Outcome, row: str, quantity: str) -> float:
    (found,) = [each.ours for each in outcome.comparisons if (each.row, each.quantity) == (row, quantity)]
    assert found is not None
    return found.mean


# Figure 10 of Izu and Vallejo.


def test_times_are_relative_to_round_robin_with_the_same_seed() -> None:
    results = made_up(FIGURE_10)
    bt = file("BT.A.64.it5")
    for seed in (0, 1):
        for name, factor in (("rr-cpu-4", 1.0), ("sat-l-12-k-12-cpu-4", 0.858)):
            (point,) = [each for each in results[name][seed::2] if bt in each.axes.values()]
            point.summary["execution_time"] = factor * TIME * (1 + seed)
    outcome = FIGURE_10.conclude("quick", results)
    change = "SAT l=12 k=12 against RR [%]"
    assert ours(outcome, "4× faster processors, BT", change) == pytest.approx(-14.2)
    assert ours(outcome, "4× faster processors, mean", change) == pytest.approx(-14.2 / 7)
    assert fact(outcome, "SAT is worth more to BT").holds
    assert not fact(outcome, "SAT is worth more to SP").holds


def published_figure_10() -> Results:
    """Times of which all statements are true."""
    results = made_up(FIGURE_10)
    traces = applications.TRACES["quick"]
    factors: Mapping[tuple[str, str], Mapping[str, float]] = {
        ("age", "1"): {**dict.fromkeys(traces, 0.97), "MG": 1.01},
        ("sat-l-12-k-12", "1"): {
            "BT": 0.97,
            "SP": 0.98,
            "LU": 1.0,
            "CG": 1.02,
            "IS": 1.03,
            "MG": 1.02,
            "FT": 0.93,
        },
        ("sat-l-12-k-18", "1"): {**dict.fromkeys(traces, 1.01), "IS": 1.02},
        ("sat-l-12-k-24", "1"): {**dict.fromkeys(traces, 1.02), "IS": 1.01},
        ("age", "4"): dict.fromkeys(traces, 0.98),
        ("sat-l-12-k-12", "4"): dict.fromkeys(traces, 0.95),
        ("sat-l-12-k-18", "4"): dict.fromkeys(traces, 0.96),
        ("sat-l-12-k-24", "4"): dict.fromkeys(traces, 0.97),
        ("age", "0-25"): dict.fromkeys(traces, 0.99),
        ("sat-l-12-k-12", "0-25"): dict.fromkeys(traces, 1.02),
        ("sat-l-12-k-18", "0-25"): dict.fromkeys(traces, 1.01),
        ("sat-l-12-k-24", "0-25"): dict.fromkeys(traces, 1.005),
    }
    for (mechanism, speed), of_benchmarks in factors.items():
        for benchmark, factor in of_benchmarks.items():
            changed(
                results,
                f"{mechanism}-cpu-{speed}",
                file(traces[benchmark]),
                execution_time=factor * TIME,
            )
    return results


def test_what_is_published_makes_all_statements_on_figure_10_hold() -> None:
    assert failing(FIGURE_10.conclude("quick", published_figure_10())) == set()


@pytest.mark.parametrize(
    ("experiment", "benchmark", "factor", "statement"),
    [
        ("age-cpu-1", "BT", 1.01, "base speed: Age improves BT"),
        ("age-cpu-1", "MG", 0.99, "base speed: Age does not improve MG"),
        ("sat-l-12-k-12-cpu-1", "SP", 1.01, "base speed: SAT improves SP"),
        ("sat-l-12-k-12-cpu-1", "LU", 1.011, "base speed: SAT leaves LU as it is"),
        ("sat-l-12-k-12-cpu-1", "FT", 0.96, "base speed: SAT improves FT much"),
        ("sat-l-12-k-12-cpu-1", "CG", 0.99, "base speed: SAT costs CG time"),
        ("sat-l-12-k-12-cpu-4", "MG", 1.03, "SAT is worth more to MG with fast processors"),
        ("sat-l-12-k-12-cpu-4", "BT", 2.0, "fast processors: SAT is faster on average"),
        ("sat-l-12-k-12-cpu-4", "BT", 1.2, "fast processors: SAT is faster than Age"),
        ("sat-l-12-k-12-cpu-0-25", "BT", 0.5, "slow processors: SAT is slower on average"),
        ("sat-l-12-k-18-cpu-0-25", "CG", 1.1, "slow processors: k > l is better on average: SAT l=12 k=18"),
        ("sat-l-12-k-18-cpu-1", "IS", 1.04, "base speed: IS is faster with k > l: SAT l=12 k=18"),
        ("sat-l-12-k-24-cpu-4", "FT", 0.7, "4× faster processors: k > l is worse on average: SAT l=12 k=24"),
        ("age-cpu-0-25", "FT", 1.2, "4× slower processors: Age is faster on average"),
    ],
)
def test_a_statement_on_figure_10_fails_where_its_benchmark_does_not_do_as_published(
    experiment: str, benchmark: str, factor: float, statement: str
) -> None:
    results = published_figure_10()
    trace = applications.TRACES["quick"][benchmark]
    changed(results, experiment, file(trace), execution_time=factor * TIME)
    assert statement in failing(FIGURE_10.conclude("quick", results))


def test_the_best_threshold_is_that_of_each_benchmark() -> None:
    results = made_up(FIGURE_10)
    assert not fact(FIGURE_10.conclude("quick", results), "best k").holds
    changed(results, "sat-l-12-k-24-cpu-1", file("SP.A.64.it5"), execution_time=0.93 * TIME)
    changed(results, "sat-l-12-k-18-cpu-1", file("SP.A.64.it5"), execution_time=1.5 * TIME)
    assert fact(FIGURE_10.conclude("quick", results), "best k").found == "1.00 %"


# Figure 11 of Izu and Vallejo.


def with_thresholds(times: Mapping[int, float]) -> Outcome:
    results = made_up(FIGURE_11)
    for least, factor in times.items():
        changed(results, slug(sat(least, least).title, "cpu 1"), execution_time=factor * TIME)
    return FIGURE_11.conclude("quick", results)


def test_times_that_rise_below_8_and_above_32_are_figure_11() -> None:
    assert failing(with_thresholds({4: 1.2, 6: 1.05, 8: 1.01, 24: 1.01, 32: 1.02, 64: 1.06})) == set()


def test_times_that_do_not_depend_on_the_threshold_are_not_figure_11() -> None:
    found = failing(with_thresholds({}))
    assert {"l = 4, below 8, takes longer than 12", "it clearly grows from 32 to 64"} <= found
    steep = failing(with_thresholds({24: 1.05, 64: 0.9}))
    assert {
        "from l = 12 to 24 the time is relatively flat",
        "from about 32 on the time grows with l: 64",
    } <= steep


# Figure 3 of Ridruejo et al.


def with_gains(gains: Mapping[str, float]) -> Outcome:
    results = made_up(FIGURE_3, "full")
    for name, trace in ridruejo.TRACES["full"].items():
        lines = "lbr-close" if name in ridruejo.CLOSE else "lbr-apart"
        changed(results, lines, file(trace), execution_time=gains.get(name, 0.95) * TIME)
    for name in ridruejo.FEWER_KEYS:
        changed(results, slug("LBR", name), execution_time=gains[name] * TIME)
    return FIGURE_3.conclude("full", results)


PUBLISHED = {
    "IS.S": 0.99,
    "IS, 2^18 keys": 0.98,
    "IS.W": 0.95,
    "IS.A": 0.9,
    "CG.A": 1.03,
    "LU.W": 0.8,
    "LU.A": 0.85,
}


def test_what_is_published_makes_all_statements_on_figure_3_hold() -> None:
    assert failing(with_gains(PUBLISHED)) == set()


@pytest.mark.parametrize(
    ("changes", "statement"),
    [
        ({"IS.A": 1.01}, "IS: LBR shortens the larger problem"),
        ({"IS.S": 0.87}, "IS: the benefits grow with the problem"),
        ({"IS.W": 0.89}, "IS: the benefits grow from IS.W to IS.A"),
        ({"CG.A": 0.99}, "CG: LBR is counterproductive, but its penalty is small"),
        ({"CG.A": 1.2}, "CG: LBR is counterproductive, but its penalty is small"),
        ({"LU.A": 1.01}, "LU benefits"),
        ({"LU.A": 0.92}, "LU benefits most"),
        ({"LU.W": 0.86}, "LU: larger problems do not benefit more"),
        ({"LU.A": 1.04}, "CG benefits less than LU.A"),
        ({"BT.A": 1.0}, "CG is the only one that does not benefit: BT.A"),
    ],
)
def test_a_statement_on_figure_3_fails_where_its_benchmark_does_not_do_as_published(
    changes: Mapping[str, float], statement: str
) -> None:
    assert statement in failing(with_gains({**PUBLISHED, **changes}))


# Searches of Graph500.


def searched(entry: Entry) -> Results:
    """A search that does what the thesis says: what a query and a phit take, and no less than the network."""
    results = made_up(entry)
    for name, points in results.items():
        for point in points:
            point.summary.update(_search(name, point.config, next(iter(point.axes.values()))))
    return results


NETWORK: Mapping[Layout, tuple[float, float]] = {
    graph500.WHOLE_MIN: (0.1, 0.65),
    graph500.WHOLE_VAL: (0.18, 0.4),
    graph500.TWO_MIN: (1.0, 0.06),
    graph500.TWO_VAL: (0.14, 0.5),
    graph500.FIVE_MIN: (0.15, 0.15),
    graph500.FIVE_VAL: (0.12, 0.5),
}
"""Least time of a search at 40 Gb/s [s], and use of the network then."""


def _search(name: str, config: Mapping[str, Any], query_time: float) -> dict[str, float]:
    (least, use) = next(found for layout, found in NETWORK.items() if name.startswith(slug(layout.title)))
    cycle = seconds(config["units"]["cycle"])
    network = least * cycle / 1.6e-9
    # So that the use of the first layout is that of equation 2.20 where processors limit.
    time = max(network, 0.0203125 * query_time)
    return {"execution_time": time / cycle, "accepted_load": use * network / time}


SEARCHES = [f"thesis-figure-2.{number}" for number in (13, 15, 17, 19, 21, 23)]


@pytest.mark.parametrize("name", SEARCHES)
def test_what_is_published_makes_all_statements_on_searches_hold(name: str) -> None:
    assert failing(BY_NAME[name].conclude("quick", searched(BY_NAME[name]))) <= {
        # Of the links only some were made up.
        "80 % of the traffic of every group takes 4 global links"
    }


@pytest.mark.parametrize(
    ("number", "layout", "changes", "text"),
    [
        (13, graph500.WHOLE_MIN, {"execution_time": 1.1}, "the network limits"),
        (
            13,
            graph500.WHOLE_MIN,
            {"accepted_load": 1.1},
            "40 Gb/s: the use of the network saturates below 0.7",
        ),
        (15, graph500.WHOLE_MIN, {"execution_time": 1.4}, "almost doubles that of minimal routing: 1.5 ns"),
        (17, graph500.WHOLE_MIN, {"execution_time": 1.4}, "an order of magnitude above"),
        (19, graph500.WHOLE_MIN, {"execution_time": 1.5}, "the time is above that of MIN"),
        (19, graph500.WHOLE_VAL, {"execution_time": 0.7}, "it is below that of VAL there"),
        (19, graph500.WHOLE_MIN, {"accepted_load": 0.7}, "the use is below that of MIN there"),
        (19, graph500.WHOLE_VAL, {"accepted_load": 1.3}, "it is above that of VAL there"),
        (21, graph500.WHOLE_MIN, {"execution_time": 0.5}, "comparable to those of 72 ranks"),
        (23, graph500.WHOLE_VAL, {"execution_time": 0.5}, "better than VAL with 72 ranks"),
        (23, graph500.FIVE_MIN, {"execution_time": 0.5}, "VAL exploits more links"),
    ],
)
def test_a_statement_on_searches_fails_where_a_figure_is_another(
    number: int, layout: Layout, changes: Mapping[str, float], text: str
) -> None:
    entry = BY_NAME[f"thesis-figure-2.{number}"]
    results = searched(entry)
    for point in results[slug(layout.title, QDR)]:
        if number != 13 or "execution_time" not in changes or ALTAMIRA in point.axes.values():
            for key, factor in changes.items():
                point.summary[key] *= factor
    assert not fact(entry.conclude("quick", results), text).holds


def test_latencies_that_matter_and_a_bandwidth_that_always_gains_are_not_figure_13() -> None:
    entry = BY_NAME["thesis-figure-2.13"]
    results = searched(entry)
    whole = graph500.WHOLE_MIN.title
    for experiment, factor in ((slug(whole, QDR, f"links {SLOW_LINKS}x"), 1.1), (slug(whole, EDR), 0.5)):
        for point in results[experiment]:
            point.summary["execution_time"] *= factor
    found = failing(entry.conclude("quick", results))
    assert {
        "ten times the latency of links makes no difference",
        "below 1.5 ns 100 instead of 40 Gb/s halves the time: 1.5 ns",
        "at 15 ns more than 40 Gb/s is close to ineffective",
    } <= found


def test_the_share_of_traffic_that_leaves_its_group_is_read_from_the_links() -> None:
    entry = BY_NAME["thesis-figure-2.21"]
    found = fact(entry.conclude("quick", made_up(entry)), "80 % of the traffic")
    # 800 of 1,000 phits, but by two links.
    assert (found.found, found.holds) == ("0.800; 2", False)


def test_queries_of_a_process_are_those_of_equation_2_1() -> None:
    entry = BY_NAME["thesis-equation-2.1"]
    total = 2**21 * 16 * 127 / 128  # of all processes at scale 20, 16 B each
    for factor, agrees in ((1.11, True), (1.13, False), (0.87, False)):
        values = entry.conclude("quick", made_up(entry, message_bytes=16 * total * factor)).comparisons
        assert [value.agrees for value in values if value.row.endswith("s = 20")] == [agrees] * 2


@pytest.mark.parametrize(("factor", "holds"), [(1.0, True), (0.9, True), (1.001, False)])
def test_no_search_has_more_queries_than_twice_the_edges(factor: float, holds: bool) -> None:
    entry = BY_NAME["thesis-equation-2.1"]
    total = 2**21 * 16 * 127 / 128
    outcome = entry.conclude("quick", made_up(entry, message_bytes=16 * total * factor))
    found = [each for each in outcome.facts if "s = 20: no more" in each.statement]
    assert [each.holds for each in found] == [holds] * 2


@pytest.mark.parametrize(("text", "found"), [("1.6 ns", 1.6e-9), ("800 ps", 8e-10), ("2 us", 2e-6)])
def test_times_are_read_as_documents_write_them(text: str, found: float) -> None:
    assert seconds(text) == pytest.approx(found)


def test_a_mean_over_benchmarks_has_the_spread_of_seeds() -> None:
    results = made_up(FIGURE_10)
    for seed, point in enumerate(results["age-cpu-1"]):
        point.summary["execution_time"] = TIME * (1.0 if seed % 2 else 1.2)
    (value,) = [
        each for each in FIGURE_10.conclude("quick", results).comparisons if "Age against RR" in each.quantity
    ]
    assert value.ours is not None
    assert (value.ours.mean, value.ours.std) == (pytest.approx(10.0), pytest.approx(14.142, rel=1e-4))
    assert value.ours.seeds == 2
