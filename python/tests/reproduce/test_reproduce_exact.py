"""What entries of `hopsim reproduce` are made of, with points and numbers written down by hand."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pytest
from matplotlib.figure import Figure as Drawing

from hopsim.results.result import Result
from hopsim_reproduce import claims, drawing
from hopsim_reproduce.figure import Figure
from hopsim_reproduce.model import (
    Comparison,
    Document,
    Experiment,
    Fact,
    Measured,
    Outcome,
    Results,
    Scale,
    at,
    load,
    quotient,
    slug,
)
from hopsim_reproduce.panels import (
    ACCEPTED,
    EXECUTION_SECONDS,
    FAIRNESS,
    LATENCY,
    Case,
    Panel,
    Points,
    seconds,
    value_of,
)


def result(axes: Mapping[str, Any] | None = None, cycle: str = "1 ns", **summary: Any) -> Result:
    return Result({"config": {"units": {"cycle": cycle}}, "result": summary}, axes or {}, {})


@pytest.mark.parametrize(
    ("parts", "name"),
    [
        (("ADV+1", "FlexVC 8/4"), "advplus1-flexvc-8-4"),
        (("(a) — b", "UN"), "a-b-un"),
        (("one",), "one"),
        (("--x--y--", "Z+"), "x-y-zplus"),
    ],
)
def test_a_name_of_an_experiment_is_one_of_a_directory(parts: tuple[str, ...], name: str) -> None:
    assert slug(*parts) == name


def test_an_experiment_is_swept_over_its_values_and_then_its_seeds() -> None:
    document: Document = {"topology": {"ring": {"routers": 4}}, "sweep": {"zip": {}}}
    swept = Experiment("name", document, (0.5, 0.25), 3).sweep()
    assert swept == {
        "topology": {"ring": {"routers": 4}},
        "sweep": {"product": {"load": [0.5, 0.25], "measure.seed": [1, 2, 3]}},
    }
    # The first axis varies slowest.
    assert list(swept["sweep"]["product"]) == ["load", "measure.seed"]
    assert Experiment("name", {}, (), 1).sweep() == {"sweep": {"product": {"measure.seed": [1]}}}
    other = Experiment("name", {}, ["a"], 2, axis="jobs.0.program.file").sweep()
    assert other == {"sweep": {"product": {"jobs.0.program.file": ["a"], "measure.seed": [1, 2]}}}
    assert not Experiment("name", {}, (), 1).may_deadlock


def test_points_at_a_value_are_those_of_its_seeds() -> None:
    loads = (0.1, 0.3, 0.1 + 0.2, 0.4)
    points = [result({"load": each}) for each in loads]
    assert [load(point) for point in points] == list(loads)
    # 0.1 + 0.2 is 0.3, but for its rounding.
    assert at(points, 0.3) == points[1:3]
    assert at(points, 0.35) == []
    assert at(points, None) == points
    files = [result({"file": name}) for name in ("a", "b", "a")]
    assert at(files, "a", "file") == [files[0], files[2]]
    mixed = [result({"vcs": value}) for value in (1, "1", 1.0)]
    assert at(mixed, 1, "vcs") == [mixed[0], mixed[2]]
    assert at(mixed, "1", "vcs") == [mixed[1]]


def test_mean_and_spread_of_what_was_measured() -> None:
    assert Measured.of([1.0, 4.0]) == Measured(2.5, math.sqrt(4.5), 2)
    assert Measured.of([3.0]) == Measured(3.0, 0.0, 1)
    assert Measured.of_known([1.0, 4.0]) == Measured(2.5, math.sqrt(4.5), 2)
    assert Measured.of_known([0.0]) == Measured(0.0, 0.0, 1)
    assert Measured.of_known([1.0, None]) is None
    assert Measured.of_known([None]) is None
    assert Measured.of_known([]) is None
    assert Measured(1.25, 0.5, 3).change() == Measured(25.0, 50.0, 3)
    assert Measured.exactly(2.5) == Measured(2.5, 0.0, 1)


def test_a_quotient_is_that_of_the_means() -> None:
    over, under = Measured(3.0, 1.0, 5), Measured(0.5, 1.0, 5)
    assert quotient(over, under) == Measured(6.0, 0.0, 1)
    assert quotient(Measured(0.0, 0.0, 1), under) == Measured(0.0, 0.0, 1)
    for pair in ((None, under), (over, None), (over, Measured(0.0, 1.0, 5))):
        assert quotient(*pair) is None


def compared(
    mean: float | None, published: float, allowed: float | None = None, std: float = 0.0
) -> Comparison:
    ours = None if mean is None else Measured(mean, std, 2)
    return Comparison("row", "quantity", ours, published, allowed=allowed)


def test_a_difference_is_ours_minus_published_and_relative_to_published() -> None:
    assert (compared(1.5, 2.0).difference, compared(1.5, 2.0).relative) == (-0.5, -0.25)
    assert (compared(3.0, 2.0).difference, compared(3.0, 2.0).relative) == (1.0, 0.5)
    assert (compared(None, 2.0).difference, compared(None, 2.0).relative) == (None, None)
    assert (compared(1.5, 0.0).difference, compared(1.5, 0.0).relative) == (1.5, None)
    assert compared(1.5, 1.0).relative == 0.5
    usual = compared(1.0, 1.0)
    assert (usual.decimals, usual.expected, usual.missing, usual.allowed) == (4, "", "", None)


@pytest.mark.parametrize(
    ("mean", "allowed", "agrees"),
    [
        (2.5, 0.5, True),
        (1.5, 0.5, True),
        (2.5001, 0.5, False),
        (1.4999, 0.5, False),
        (2.0, 0.0, True),
        (2.5, None, None),
        (None, None, None),
        (None, 0.5, False),
        # Beyond it by less than the error of a difference of decimal numbers.
        (2.5 + 4e-10, 0.5, True),
        (2.5 + 6e-10, 0.5, False),
    ],
)
def test_a_value_agrees_up_to_what_is_allowed(
    mean: float | None, allowed: float | None, agrees: bool | None
) -> None:
    assert compared(mean, 2.0, allowed).agrees is agrees


def test_chance_is_within_students_prediction_interval_of_one_more_seed() -> None:
    """With two seeds: tan(0.95 · π/2), the quantile with one degree of freedom, times the root of 1 + 1/2."""
    width = math.tan(0.95 * math.pi / 2) * 0.25 * math.sqrt(1.5)
    for side in (-1, 1):
        assert compared(2.0 + side * width * 0.999999, 2.0, std=0.25).is_chance
        assert not compared(2.0 + side * width * 1.000001, 2.0, std=0.25).is_chance
    assert compared(2.0, 2.0).is_chance
    assert not compared(None, 2.0).is_chance
    assert not Comparison("", "", Measured(2.0, 0.25, 1), 2.0).is_chance


@pytest.mark.parametrize(
    ("text", "found"),
    [("1.6 ns", 1.6e-9), ("640 ps", 640e-12), ("2 us", 2e-6), ("3.5 ms", 3.5e-3), ("4 s", 4.0)],
)
def test_times_are_read_as_documents_write_them(text: str, found: float) -> None:
    assert seconds(text) == pytest.approx(found, rel=1e-15)


def test_some_quantities_follow_from_keys_of_the_summary() -> None:
    one = result(cycle="1.6 ns", execution_time=5000, node_injection_min=0.1, node_injection_mean=0.4)
    assert value_of(one, EXECUTION_SECONDS) == pytest.approx(8e-6)
    assert value_of(one, FAIRNESS) == pytest.approx(0.25)
    assert value_of(one, "execution_time") == 5000
    assert value_of(one, "no key") is None
    assert value_of(result(node_injection_min=0.0, node_injection_mean=0.0), FAIRNESS) is None
    assert value_of(result(node_injection_min=0.0, node_injection_mean=0.5), FAIRNESS) == 0


UN, ADV = {"pattern": "UN"}, {"pattern": "ADV"}
PANELS = (
    Panel(
        "left",
        {
            "a": {0.5: Case("un", UN, 0.5), 0.25: Case("un", UN, 0.25)},
            "b": {
                0.5: Case("adv", ADV, 0.5, may_deadlock=True),
                "x": Case("adv", ADV, "x", may_deadlock=True),
            },
        },
    ),
    Panel(
        "right",
        {
            "a": {0.5: Case("un", UN, 0.5), 0.75: Case("un", UN, 0.75)},
            "all": {1: Case("one", ADV, None, axis="vcs"), 2: Case("one", ADV, None, axis="vcs")},
            "c": {0: Case("adv", ADV, 0.125)},
        },
    ),
)
RESULTS: Results = {
    "un": [
        result({"load": 0.25}, accepted_load=0.2, packet_latency_mean=10.0),
        result({"load": 0.5}, accepted_load=0.4, packet_latency_mean=20.0),
        result({"load": 0.5}, accepted_load=0.8, packet_latency_mean=None),
    ],
    "adv": [result({"load": "x"}, accepted_load=0.1)],
    "one": [result(accepted_load=0.7), result(accepted_load=0.9)],
}


def test_a_line_has_the_means_at_its_places_and_leaves_out_what_is_missing() -> None:
    points = Points(PANELS, RESULTS)
    assert list(points.panels) == ["left", "right"]
    assert points.line("left", "a", ACCEPTED) == {
        0.5: Measured.of([0.4, 0.8]),
        0.25: Measured(0.2, 0.0, 1),
    }
    # One of the seeds at 0.5 has no latency.
    assert points.line("left", "a", LATENCY) == {0.25: Measured(10.0, 0.0, 1)}
    assert points.line("left", "b", ACCEPTED) == {"x": Measured(0.1, 0.0, 1)}
    assert points.line("right", "all", ACCEPTED) == dict.fromkeys((1, 2), Measured.of([0.7, 0.9]))
    assert points.missing("left", "a") == []
    assert points.missing("left", "b") == [0.5]
    assert points.missing("right", "a") == [0.75]
    assert points.at("left", "a", 0.5) == RESULTS["un"][1:]
    assert points.at("left", "b", "x") == RESULTS["adv"]
    assert points.at("left", "b", 0.5) == []


def notes(scale: Scale) -> list[str]:
    return [f"runs {scale}"]


def panels(scale: Scale) -> tuple[Panel, ...]:
    return PANELS if scale == "full" else PANELS[:1]


def figure(**more: Any) -> Figure:
    return Figure("name", "title", "source", panels, notes, {"quick": 1, "full": 5}, **more)


def test_cases_of_the_same_document_are_one_experiment() -> None:
    """Its values are those of all lines, each once: numbers in ascending order, then texts."""
    entry = figure().entry()
    assert (entry.name, entry.title, entry.source) == ("name", "title", "source")
    assert (entry.seeds, entry.notes("full")) == ({"quick": 1, "full": 5}, ["runs full"])
    assert entry.experiments("full", 4) == [
        Experiment("un", UN, [0.25, 0.5, 0.75], 4, may_deadlock=False, axis="load"),
        Experiment("adv", ADV, [0.125, 0.5, "x"], 4, may_deadlock=True, axis="load"),
        Experiment("one", ADV, [], 4, may_deadlock=False, axis="vcs"),
    ]
    assert entry.experiments("quick", 1) == [
        Experiment("un", UN, [0.25, 0.5], 1, may_deadlock=False, axis="load"),
        Experiment("adv", ADV, [0.5, "x"], 1, may_deadlock=True, axis="load"),
    ]


def of_panels(points: Points) -> str:
    """Which panels there are, and one of their values."""
    return f"{list(points.panels)} {points.line('left', 'a', ACCEPTED)[0.25].mean}"


def number(points: Points) -> Comparison:
    return Comparison(of_panels(points), "", None, 1.0)


def claim(points: Points) -> Fact:
    return Fact(of_panels(points), "", "", holds=True)


TRIMMED = (
    Panel(
        "left",
        {"a": {place: Case("a", UN, place) for place in (0.25, 0.5, 1.0)}, "b": {0.5: Case("b", UN, 0.5)}},
    ),
    Panel(
        "right", {"c": {place: Case("c", UN, place) for place in (0.25, 0.5)}, "d": {0.5: Case("d", UN, 0.5)}}
    ),
    Panel("below", {"e": {0.5: Case("e", UN, 0.5)}}),
)


def test_a_quick_run_leaves_out_what_no_statement_reads() -> None:
    """A line that is read as a whole is run as a whole, one of which a place is asked at the nearest one."""
    of_figure = Figure(
        "name",
        "title",
        "source",
        lambda _: TRIMMED,
        notes,
        {"quick": 1, "full": 5},
        claims=[
            claims.ratio("s", claims.at_place("left", "a", 0.4), claims.peak("right", "c"), 1.0),
            lambda points: Fact("s", "", "", holds=bool(points.at("left", "a", 1.0))),
        ],
        numbers=[lambda points: Comparison("", "", None, len(points.missing("right", "d")))],
        trimmed=True,
    )
    entry = of_figure.entry()
    assert entry.experiments("quick", 1) == [
        Experiment("a", UN, [0.5, 1.0], 1),
        Experiment("c", UN, [0.25, 0.5], 1),
        Experiment("d", UN, [0.5], 1),
    ]
    assert entry.notes("quick") == [
        "runs quick",
        "Only what statements read is run, 5 of 8 places: --scale full runs all.",
    ]
    assert [each.name for each in entry.experiments("full", 1)] == ["a", "b", "c", "d", "e"]
    assert entry.notes("full") == ["runs full"]
    outcome = entry.conclude("quick", {name: [] for name in "acd"})
    assert (outcome.comparisons[0].published, [fact.holds for fact in outcome.facts]) == (1, [False, False])


def test_a_figure_concludes_what_its_numbers_and_claims_say() -> None:
    entry = figure(numbers=[number], claims=[claim]).entry()
    cases: list[tuple[Scale, str]] = [("quick", "['left'] 0.2"), ("full", "['left', 'right'] 0.2")]
    for scale, found in cases:
        assert entry.conclude(scale, RESULTS) == Outcome(
            [Comparison(found, "", None, 1.0)], [Fact(found, "", "", holds=True)]
        )
    assert figure().entry().conclude("full", RESULTS) == Outcome([], [])


def test_a_figure_is_drawn_in_its_own_way_or_as_curves(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = Drawing()
    asked: list[tuple[str, str, Any]] = []

    def own(points: Points, title: str) -> Drawing:
        asked.append((of_panels(points), title, None))
        return drawn

    def curves(title: str, points: Points, quantities: Any) -> Drawing:
        asked.append((of_panels(points), title, quantities))
        return drawn

    monkeypatch.setattr(drawing, "curves", curves)
    for entry in (figure(drawing=own).entry(), figure(quantities=[LATENCY]).entry()):
        assert entry.draw("full", RESULTS) is drawn
    both = "['left', 'right'] 0.2"
    assert asked == [(both, "title", None), (both, "title", [LATENCY])]
