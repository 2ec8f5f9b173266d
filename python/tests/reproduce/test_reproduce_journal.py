"""The entries of the journal version of the fairness study, on results that were not simulated."""

from __future__ import annotations

from typing import Any, get_args

import pytest
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.patches import Rectangle

from hopsim_reproduce.drawing import per_router
from hopsim_reproduce.entries import BY_NAME, ENTRIES
from hopsim_reproduce.jsc.per_router import LessLoad, LessVariation, SimilarLast
from hopsim_reproduce.jsc.study import JSC
from hopsim_reproduce.model import Entry, Scale, slug
from hopsim_reproduce.thesis.published import published
from made_up import made_up

JOURNAL = [entry for entry in ENTRIES if entry.name.startswith("jsc-")]
TABLES = ("jsc-table-2", "jsc-table-3", "jsc-table-4")


def documents(name: str, scale: Scale = "full") -> dict[str, dict[str, Any]]:
    return {experiment.name: experiment.document for experiment in BY_NAME[name].experiments(scale, 1)}


def test_tables_2_to_4_and_figures_6_to_13_are_entries() -> None:
    figures = {f"jsc-figure-{number}" for number in range(6, 14)}
    assert {entry.name for entry in JOURNAL} >= {*TABLES, *figures}


def test_full_scale_is_the_published_network_with_three_seeds() -> None:
    for entry in JOURNAL:
        quick, full = (documents(entry.name, scale) for scale in get_args(Scale))
        sizes = {each["topology"]["dragonfly"]["h"] for each in full.values()}
        assert sizes == (set(range(6, 11)) if entry.name == "jsc-figure-13" else {6})
        assert entry.seeds["full"] == 3
        assert {each["measure"]["cycles"] for each in full.values()} == {15_000}
        if entry.name != "jsc-figure-13":
            assert quick.keys() <= full.keys()


@pytest.mark.parametrize(
    ("name", "arbiter", "priority"),
    [
        ("jsc-table-2", "least_recently_served", True),
        ("jsc-table-3", "least_recently_served", False),
        ("jsc-table-4", {"age": {"timestamp": "generation"}}, False),
    ],
)
def test_tables_differ_in_their_arbiters_only(name: str, arbiter: Any, priority: bool) -> None:
    for mechanism, document in documents(name).items():
        allocator = document["router"]["cioq"]["allocator"]
        assert (allocator["input_arbiter"], allocator["output_arbiter"]) == (arbiter, arbiter)
        assert allocator["transit_priority"] == priority
        allocator.clear()
        other = documents("jsc-table-3")[mechanism]
        other["router"]["cioq"]["allocator"].clear()
        assert document == other


def test_adversarial_consecutive_traffic_goes_to_five_groups() -> None:
    patterns = [each["jobs"][0]["traffic"]["pattern"] for each in documents("jsc-table-4").values()]
    assert patterns == [{"adversarial_consecutive": {"groups": 5}}] * 8


def test_table_2_holds_the_published_rows() -> None:
    rows = published(JSC, "2")
    assert len(rows) == 16
    assert (rows[-1].mechanism, rows[-1].load, rows[-1].saturation) == ("In-Trns-MM", 0.6, 0.5)
    assert rows[-1].values["router_injection_max_min_ratio"] == 333.51
    assert rows[1].values["router_injection_min_load"] == 0.0249


@pytest.mark.parametrize("name", TABLES)
def test_full_tables_judge_every_row(name: str) -> None:
    outcome = BY_NAME[name].conclude("full", made_up(BY_NAME[name], "full"))
    judged = [each for each in outcome.comparisons if each.agrees is not None]
    assert len(judged) == 8 + 3 * 16
    assert len(outcome.facts) == 3


@pytest.mark.parametrize("name", TABLES)
def test_the_published_values_agree_with_themselves(name: str) -> None:
    entry = BY_NAME[name]
    results = made_up(entry, "full")
    for row in published(JSC, name[-1]):
        for result in results[slug(row.mechanism)]:
            if result.axes["load"] == row.load:
                result.summary.update(row.values, accepted_load=row.saturation)
                result.summary["router_injection_min"] = row.values["router_injection_min_load"]
    outcome = entry.conclude("full", results)
    assert [each for each in outcome.comparisons if each.agrees is False] == []
    assert all(fact.holds for fact in outcome.facts)


def test_quick_notes_do_not_call_longer_runs_shorter() -> None:
    routers, curves = (BY_NAME[name].notes("quick")[1] for name in ("jsc-figure-8", "jsc-figure-6"))
    assert "5,256 nodes" in routers
    assert ("shorter" in routers, "shorter" in curves) == (False, True)


PROFILES = {"A": [0.3, 0.4, 0.4, 0.2], "B": [0.4, 0.4, 0.4, 0.21], "C": [0.1, 0.4, 0.4, 0.5]}


def test_last_routers_are_alike_within_ten_percent() -> None:
    assert SimilarLast("", ["A", "B"]).fact(PROFILES).holds
    assert not SimilarLast("", ["A", "B", "C"]).fact(PROFILES).holds


def test_variation_is_that_of_first_middle_and_last_routers() -> None:
    fact = LessVariation("", "A", "C").fact(PROFILES)
    assert (fact.holds, fact.found) == (True, "2.000 (C 5.000)")
    assert not LessVariation("", "C", "A").fact(PROFILES).holds


def test_a_starved_router_varies_without_limit() -> None:
    starved = {**PROFILES, "A": [0.0, 0.4, 0.4, 0.2]}
    assert not LessVariation("", "A", "C").fact(starved).holds
    assert LessVariation("", "C", "A").fact(starved).holds


def test_a_load_is_less_if_it_is_at_most_the_share() -> None:
    assert LessLoad("", "A", "B", 0.93).fact(PROFILES).holds
    assert not LessLoad("", "A", "B", 0.91).fact(PROFILES).holds


def test_bars_of_routers_show_mean_and_spread_of_seeds() -> None:
    figure = per_router("", {"A": [[0.1, 0.2, 0.4, 0.3], [0.3, 0.2, 0.4, 0.3]]})
    every, sets = figure.axes
    assert heights(every) == pytest.approx([0.2, 0.2, 0.4, 0.3])
    assert heights(sets) == pytest.approx([0.2, 0.3, 0.3])
    (spread,) = every.collections
    assert isinstance(spread, LineCollection)
    lengths = [segment[1][1] - segment[0][1] for segment in spread.get_segments()]
    assert lengths == pytest.approx([2 * 0.02**0.5, 0, 0, 0])


def heights(axes: Axes) -> list[float]:
    return [bar.get_height() for bar in axes.patches if isinstance(bar, Rectangle)]


def test_rows_are_tried_with_the_usual_injection_buffers_and_with_larger_ones() -> None:
    tried = documents("jsc-tables-2-4-injection")
    buffers = [each["router"]["cioq"]["buffers"]["injection"] for each in tried.values()]
    warmups = [each["measure"]["warmup"] for each in tried.values()]
    assert (buffers, warmups) == ([256, 1000] * 5, [10_000, 15_000] * 5)
    assert tried["4-min-at-0-4-1-000"] == documents("jsc-table-4")["min"]
    assert tried["2-src-crg-at-0-1-1-000"] == documents("jsc-table-2")["src-crg"]


def test_rows_are_tried_with_the_usual_warm_up_and_with_others() -> None:
    tried = documents("jsc-tables-2-4-warmup")
    assert [each["measure"]["warmup"] for each in tried.values()] == [5_000, 15_000, 30_000] * 4
    assert tried["2-min-at-0-4-15-000-cycles"] == documents("jsc-table-2")["min"]
    assert tried["4-obl-rrg-at-0-5-15-000-cycles"] == documents("jsc-table-4")["obl-rrg"]


@pytest.mark.parametrize("entry", JOURNAL, ids=lambda entry: entry.name)
def test_all_entries_have_the_same_injection_buffers(entry: Entry) -> None:
    buffers = {each["router"]["cioq"]["buffers"]["injection"] for each in documents(entry.name).values()}
    assert buffers == ({256, 1000} if entry.name == "jsc-tables-2-4-injection" else {1000})
