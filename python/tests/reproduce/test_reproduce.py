"""The machinery of `hopsim reproduce` on made-up results, and the documents of its entries."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner
from rich.console import Console

from hopsim.document.estimate import expected, runs_programs
from hopsim_reproduce import claims, command, drawing, show
from hopsim_reproduce.claims import Value
from hopsim_reproduce.entries import BY_NAME, ENTRIES
from hopsim_reproduce.model import Comparison, Entry, Experiment, Measured, Scale
from hopsim_reproduce.panels import ACCEPTED, Case, Panel, Points
from hopsim_reproduce.run import source
from hopsim_reproduce.thesis import transients, vc_tables
from hopsim_reproduce.thesis.per_router import OneRouter
from hopsim_reproduce.thesis.published import QUANTITIES, published
from hopsim_reproduce.thesis.study import THESIS
from hopsim_reproduce.thesis.tables import order
from made_up import made_up, result

PATHS = [entry for entry in ENTRIES if entry.name.startswith("thesis-table-5.")]
"""Computed by the core, not simulated."""
SIMULATED = [entry for entry in ENTRIES if entry not in PATHS]
OF_THESIS = [
    entry
    for entry in SIMULATED
    if entry.name.startswith("thesis-") and not re.match(r"thesis-\w+-2\.", entry.name)
]
"""But for chapter 2, which has a network of its own."""


def experiments() -> list[tuple[str, Scale, Experiment]]:
    return [
        (entry.name, scale, experiment)
        for entry in ENTRIES
        for scale in get_args(Scale)
        for experiment in entry.experiments(scale, 2)
    ]


@pytest.mark.parametrize(("entry", "scale", "experiment"), experiments())
def test_every_document_is_valid(entry: str, scale: Scale, experiment: Experiment) -> None:
    points = source(experiment).points()
    assert len(points) == 2 * max(len(experiment.values), 1)


def test_a_quick_run_of_all_entries_is_short() -> None:
    """By what `hopsim check` expects of its documents, and by its programs, of which that says nothing."""
    points = [
        point
        for entry in ENTRIES
        for experiment in entry.experiments("quick", entry.seeds["quick"])
        for point in source(experiment).points()
    ]
    assert expected(points, 1).cpu_s < 20 * 60
    assert sum(map(runs_programs, points)) < 450


@pytest.mark.parametrize("entry", SIMULATED, ids=lambda entry: entry.name)
def test_every_entry_concludes_prints_and_draws(entry: Entry, tmp_path: Path) -> None:
    results = made_up(entry)
    outcome = entry.conclude("quick", results)
    assert outcome.comparisons or outcome.facts
    show.outcome(Console(quiet=True), entry, "quick", outcome)
    assert all(path.stat().st_size > 0 for path in show.write(tmp_path, entry, "quick", outcome))
    assert entry.draw("quick", results).axes


@pytest.mark.parametrize(
    "name",
    [
        "thesis-table-3.1",
        "thesis-figure-3.4",
        "thesis-figure-3.5",
        "thesis-figure-4.8",
        "thesis-figure-5.8",
        "izu-table-2",
        "izu-figure-3",
        "izu-figure-7",
        "izu-figure-9",
        "izu-figure-10",
        "izu-figure-11",
        "ridruejo-figure-2",
        "ridruejo-figure-3",
        "thesis-equation-2.1",
        "thesis-figure-2.13",
    ],
)
def test_every_kind_of_figure_is_saved(name: str, tmp_path: Path) -> None:
    paths = drawing.save(BY_NAME[name].draw("quick", made_up(BY_NAME[name])), tmp_path, name)
    assert [path.suffix for path in paths] == [".png", ".pdf"]
    assert all(path.stat().st_size > 1000 for path in paths)


def test_names_are_unique() -> None:
    assert len(BY_NAME) == len(ENTRIES)


def test_entries_are_listed_by_publication_and_number() -> None:
    names = list(BY_NAME)
    assert names[:2] == ["dally-lanes", "dally-stages"]
    of_izu = [name for name in names if name.startswith("izu")]
    assert of_izu[:5] == [
        "izu-table-2",
        "izu-table-2-flits",
        "izu-figure-3",
        "izu-figure-3-flits",
        "izu-figure-4",
    ]
    some = [
        "dally-towles-torus-vcs",
        "gran-figure-13",
        "gran-mark-points",
        "izu-section-4.1",
        "izu-figure-11",
        "jiang-rtl-mesh",
        "jsc-table-2",
        "jsc-figure-13",
        "networks-slim-fly",
        "ridruejo-figure-2",
        "thesis-table-3.1",
    ]
    assert sorted(some, key=names.index) == some


def test_a_quick_run_of_the_thesis_has_no_other_experiments_and_full_is_the_published_network() -> None:
    for entry in OF_THESIS:
        quick, full = (entry.experiments(scale, 1) for scale in ("quick", "full"))
        if "3.1" not in entry.name:
            assert {each.name for each in quick} <= {each.name for each in full}
        largest = max(each.document["topology"]["dragonfly"]["h"] for each in full)
        assert largest == (10 if entry.name.endswith(("3.10", "3.13")) else 8)


def test_table_3_2_holds_the_published_rows() -> None:
    rows = published(THESIS, "3.2")
    assert [(row.mechanism, row.load) for row in rows[:6]] == [
        ("MIN", 0.03),
        ("MIN", 0.55),
        ("Obl-RRG", 0.35),
        ("Obl-RRG", 0.55),
        ("Obl-CRG", 0.35),
        ("Obl-CRG", 0.55),
    ]
    assert len(rows) == 16
    assert rows[1].values["router_injection_max_min_ratio"] == 91.16


def test_full_table_judges_rows_below_saturation() -> None:
    entry = BY_NAME["thesis-table-3.2"]
    comparisons = entry.conclude("full", made_up(entry, "full")).comparisons
    judged = {each.row for each in comparisons if each.allowed is not None}
    assert {"Src-RRG", "Src-RRG at 0.3", "In-Trns-MM at 0.4"} <= judged
    assert "In-Trns-MM at 0.55" not in judged
    found = {(each.row, each.quantity): each for each in comparisons}
    assert found["Obl-RRG at 0.35", "min inj. load"].allowed == pytest.approx(0.05 * 0.3424)
    assert found["Obl-RRG", "avg. saturation load"].allowed == 0.02
    assert found["Src-RRG at 0.3", "max/min"].agrees is False
    assert found["Src-RRG", "avg. saturation load"].agrees is True


def test_a_difference_that_one_more_seed_could_have_is_told_from_others() -> None:
    ours = Measured.of([1.0, 2.0, 3.0])  # t = 4.3027 with 2 degrees of freedom, times sqrt(1 + 1/3): 4.968
    within, beyond = (Comparison("", "", ours, 2 + apart, allowed=0.1) for apart in (4.9, 5.0))
    assert (within.agrees, within.is_chance) == (False, True)
    assert (beyond.agrees, beyond.is_chance) == (False, False)
    assert not Comparison("", "", Measured.of([2.0]), 2.1, allowed=0.01).is_chance
    assert show.judgement(within)[1] != show.judgement(beyond)[1]


@pytest.mark.parametrize(
    ("name", "scale"), [("thesis-table-3.2", "quick"), ("thesis-table-3.2-textbook", "full")]
)
def test_other_tables_only_print_the_differences(name: str, scale: Scale) -> None:
    outcome = BY_NAME[name].conclude(scale, made_up(BY_NAME[name], scale))
    assert all(each.allowed is None for each in outcome.comparisons)


def test_order_lets_close_rows_swap() -> None:
    quantity = QUANTITIES["router_injection_max_min_ratio"]
    published_ratios = {"A": 1.0, "B": 1.05, "C": 3.0}
    assert order(quantity, published_ratios, {"A": 2.0, "B": 1.9, "C": 5.0}).holds
    swapped = order(quantity, published_ratios, {"A": 2.0, "B": 2.1, "C": 2.05})
    assert (swapped.holds, swapped.found) == (False, "swapped: B and C")


def test_textbook_and_published_behaviour_differ_in_three_keys() -> None:
    def document(name: str) -> dict[str, Any]:
        experiments = BY_NAME[name].experiments("full", 1)
        return next(each for each in experiments if each.name == "src-rrg").document

    def choices(found: dict[str, Any]) -> tuple[Any, ...]:
        routing = found["routing"]["source_adaptive"]
        pattern = found["jobs"][0]["traffic"]["pattern"]["adversarial_consecutive"]
        return pattern["groups"], routing["path_lengths"], routing["longest_detour"]

    assert choices(document("thesis-table-3.1")) == (7, "consecutive", 5)
    assert choices(document("thesis-table-3.1-textbook")) == (8, "shortest", 6)


def test_table_compares_mean_over_seeds_with_published() -> None:
    entry = BY_NAME["thesis-table-3.2"]
    comparisons = entry.conclude("quick", made_up(entry)).comparisons
    found = {(each.row, each.quantity): each for each in comparisons}
    smallest = found["Obl-RRG at 0.35", "min inj. load"]
    assert smallest.difference == pytest.approx(0.25 - 0.3424)
    assert smallest.relative == pytest.approx(0.25 / 0.3424 - 1)
    assert found["MIN", "avg. saturation load"].ours == Measured(0.3, 0.0, 2)


def test_starved_router_has_no_ratio() -> None:
    entry = BY_NAME["thesis-table-3.1"]
    comparisons = entry.conclude("quick", made_up(entry, router_injection_max_min_ratio=None)).comparisons
    ratio = next(each for each in comparisons if each.quantity == "max/min")
    assert ratio.ours is None
    assert show.cells(ratio)[0] == "- (a router injects nothing)"
    assert show.cells(ratio)[2:] == ("-", "-")


def test_figure_statement_fails_when_routers_differ() -> None:
    entry = BY_NAME["thesis-figure-3.9"]
    facts = entry.conclude("quick", made_up(entry)).facts
    assert [fact.holds for fact in facts if "all routers" in fact.statement] == [False, False]
    assert all(fact.holds for fact in facts if "between" in fact.statement)
    last = next(fact for fact in facts if fact.statement.startswith("Src-CRG: the last"))
    assert (last.holds, last.found) == (False, "0.857 (0.3000 / 0.3500)")


@pytest.mark.parametrize(("low", "high"), [(0.8, None), (None, 1.25), (0.8, 1.25), (None, 0.0)])
def test_a_statement_holds_up_to_its_limits_and_not_beyond(low: float | None, high: float | None) -> None:
    panels = [Panel("p", {"a": {0.1: Case("a", {}, None)}, "b": {0.1: Case("b", {}, None)}})]
    under = Value("b", lambda points: points.line("p", "b", ACCEPTED).get(0.1))

    def holds(value: float) -> list[bool]:
        """The value itself, and as the ratio of twice it and two."""
        found: list[bool] = []
        for over, claim in (
            (value, claims.between("s", claims.at_end("p", "a"), low, high)),
            (2 * value, claims.ratio("s", claims.at_end("p", "a"), under, low, high)),
            (2 * value, claims.peaks("s", "p", ("a", "b"), low, high)),
        ):
            loads = {"a": over, "b": 2.0}
            results = {
                name: [result({}, {ACCEPTED: load}, {"measure": {"cycles": 1}})]
                for name, load in loads.items()
            }
            found.append(claim(Points(panels, results)).holds)
        return found

    for limit, beyond in ((low, -1), (high, 1)):
        if limit is not None:
            assert holds(limit) == [True] * 3
            assert holds(limit + beyond * 1e-9) == [False] * 3
    assert holds(low if low is not None else -1e9) == [True] * 3
    assert holds(high if high is not None else 1e9) == [True] * 3


def test_a_statement_without_its_value_does_not_hold() -> None:
    missing = Value("none", lambda _: None)
    fact = claims.between("s", missing, 0.0)(Points([], {}))
    assert (fact.holds, fact.found, fact.criterion) == (False, "does not exist", "none at least 0")


def test_a_statement_of_a_router_holds_up_to_its_limits_and_not_beyond() -> None:
    def holds(ratio: float, **limits: float) -> bool:
        return OneRouter("s", "m", -1, **limits).fact({"m": [7.0, 1.0, 1.5, 0.5, ratio]}).holds

    assert [holds(ratio, low=2.0, high=4.5) for ratio in (1.999, 2.0, 4.5, 4.501)] == [
        False,
        True,
        True,
        False,
    ]
    assert [holds(ratio, high=0.75) for ratio in (0.0, 0.75, 0.751)] == [True, True, False]
    assert [holds(ratio, low=1.0) for ratio in (0.999, 1.0, 1e9)] == [False, True, True]
    assert not OneRouter("s", "m", 0).fact({"m": [1.0, 0.0, 0.0, 1.0]}).holds


def test_a_time_of_reaction_or_a_period_holds_up_to_its_limits_and_not_beyond() -> None:
    change = transients.NETWORKS["full"].warmup
    cycles = np.arange(change - 500, change + 1000, 5)
    since = cycles - change

    def run(latency: np.ndarray) -> transients.Transients:
        table = pa.table({"cycle": cycles, "packets": np.ones_like(cycles), "latency_mean": latency})
        return transients.Transients(transients.NETWORKS["full"], {"Base": [table]}, 1000)

    late = run(np.where(since < 50, 100.0, 200.0))
    for claim, holds in (
        (transients.settles("Base", 50, 60, ""), True),
        (transients.settles("Base", 40, 50, ""), True),
        (transients.settles("Base", 51, 60, ""), False),
        (transients.settles("Base", 40, 49, ""), False),
        (transients.reacts("Base", 50, ""), True),
        (transients.reacts("Base", 49, ""), False),
        (transients.is_flat("Base", 50, ""), True),
        (transients.is_flat("Base", 49, ""), False),
    ):
        assert claim(late).holds is holds
    swing = run(np.where(since < 0, 100.0, 200 + 50 * np.cos(2 * np.pi * since / 200)))
    for low, high, holds in ((200, 250, True), (150, 200, True), (201, 250, False), (150, 199, False)):
        assert transients.oscillates("Base", low, high, "")(swing).holds is holds


def test_transient_that_rises_at_once_has_reacted_at_once() -> None:
    entry = BY_NAME["thesis-figure-4.8"]
    facts = entry.conclude("quick", made_up(entry)).facts
    found = {fact.statement: fact for fact in facts}
    base = found["Base: reacts within about 10 cycles"]
    assert (base.holds, base.found) == (True, "0 cycles")
    assert not found["OLM: settles in about 100 cycles"].holds


def test_latency_that_drifts_after_a_jump_has_reacted_but_not_settled() -> None:
    change = transients.NETWORKS["full"].warmup
    cycles = np.arange(change - 500, change + 1000, 5)

    def found(after_the_jump: float) -> list[tuple[bool, str]]:
        since = cycles - change
        risen = after_the_jump + (200 - after_the_jump) * np.clip(since / 100, 0, 1)
        latency = np.where(since < 0, 100, risen)
        table = pa.table({"cycle": cycles, "packets": np.ones_like(cycles), "latency_mean": latency})
        run = transients.Transients(transients.NETWORKS["full"], {"Base": [table]}, 1000)
        claims = (transients.reacts("Base", 20, ""), transients.settles("Base", 0, 30, ""))
        return [(fact.holds, fact.found) for fact in (claim(run) for claim in claims)]

    assert found(195) == [(True, "0 cycles"), (False, "60 cycles")]
    assert found(100) == [(False, "90 cycles"), (False, "100 cycles")]


def test_transients_change_right_after_a_broadcast() -> None:
    for name in ("thesis-figure-4.8", "thesis-figure-4.9", "thesis-figure-4.10"):
        for scale in get_args(Scale):
            for experiment in BY_NAME[name].experiments(scale, 1):
                (change,) = experiment.document["jobs"][0]["traffic"]["changes"]
                assert change["cycle"] % 100 == 0
                assert change["cycle"] % experiment.document["measure"]["interval"] == 0


def test_deadlocked_points_are_missing_and_said() -> None:
    entry = BY_NAME["thesis-figure-5.6"]
    results = {
        name: [each for each in points if "0-packets" not in name or each.axes["load"] < 0.9]
        for name, points in made_up(entry).items()
    }
    fact = entry.conclude("quick", results).facts[0]
    assert (fact.holds, fact.found) == (True, "at load 0.9, 1")


def test_only_a_damq_without_reserve_may_deadlock() -> None:
    allowed = [
        each.name for each in BY_NAME["thesis-figure-5.6"].experiments("quick", 1) if each.may_deadlock
    ]
    assert allowed == ["un-0-packets"]


@pytest.mark.parametrize("entry", PATHS, ids=lambda entry: entry.name)
def test_tables_of_paths_compare_every_cell(
    entry: Entry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = dict.fromkeys(("minimal", "valiant", "in_transit"), "safe")
    replies = {f"{path}_reply": "opportunistic" for path in answers}

    def vc_paths(*_: object, **__: object) -> dict[str, str]:
        return {**answers, **replies}

    monkeypatch.setattr(vc_tables, "vc_paths", vc_paths)
    outcome = entry.conclude("quick", {})
    assert entry.experiments("full", 5) == []
    word = {"5.1": "safe", "5.2": "opp.", "5.3": "safe", "5.4": "safe / opp."}
    assert {fact.found for fact in outcome.facts} == {word[entry.name[-3:]]}
    assert drawing.save(entry.draw("quick", {}), tmp_path, entry.name)


@pytest.mark.parametrize("entry", PATHS, ids=lambda entry: entry.name)
def test_tables_of_paths_come_out(entry: Entry) -> None:
    assert [fact for fact in entry.conclude("quick", {}).facts if not fact.holds] == []


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
