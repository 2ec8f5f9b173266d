"""What the entries of Gran et al. conclude, from results that were not simulated."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from hopsim.results.result import Result
from hopsim_reproduce.entries import BY_NAME
from hopsim_reproduce.gran.measured import Run, near
from hopsim_reproduce.gran.system import FLOWS
from hopsim_reproduce.model import Outcome, Results
from made_up import SUMMARY, Rates, flow_series, made_up, result

STAGE = 0.2
Stages = Mapping[str, tuple[float, ...]]
"""Flow -> its rate in each of the five stages."""
FAIR: Stages = {
    "f1": (13.0,) * 5,
    "f2": (0.0, 13.0, 6.5, 13 / 3, 3.25),
    "f3": (0.0, 0.0, 6.5, 13 / 3, 3.25),
    "f6": (0.0, 0.0, 0.0, 13 / 3, 3.25),
    "f7": (0.0, 0.0, 0.0, 0.0, 3.25),
}
UNFAIR: Stages = {
    **FAIR,
    "f2": (0, 13, 5.9, 4.8, 3.0),
    "f3": (0, 0, 7.1, 2.7, 2.8),
    "f6": (0, 0, 0, 5.5, 3.2),
    "f7": (0, 0, 0, 0, 4.0),
}
PARKING: Stages = {
    "f1": (13, 13, 6.5, 3.25, 13 / 6),
    "f2": (0, 13, 6.5, 3.25, 13 / 6),
    "f3": (0, 0, 6.5, 3.25, 13 / 6),
    "f6": (0, 0, 0, 6.5, 13 / 3),
    "f7": (0, 0, 0, 0, 13 / 3),
}


def constant(stages: Stages) -> Rates:
    """Rates that change at once when a stage begins."""
    return lambda name, end: stages[name][min(int((end - 0.005) / STAGE), 4)]


def results(name: str, rates: Rates, experiment: str = "main") -> Results:
    """All seeds of an entry with these rates; other experiments are even."""
    found = made_up(BY_NAME[name])
    for each in found[experiment]:
        measure = each.config["measure"]
        each.tables["flow_series"] = flow_series(each.config["jobs"][0]["flows"], measure["time"], rates)  # type: ignore[index]
    return found


def conclude(name: str, rates: Rates) -> Outcome:
    return BY_NAME[name].conclude("quick", results(name, rates))


def failing(outcome: Outcome) -> list[str]:
    return [fact.statement for fact in outcome.facts if not fact.holds]


def one_run(rates: Rates) -> Run:
    entry = BY_NAME["gran-figure-7"]
    (experiment, *_) = entry.experiments("quick", 1)
    point: Result = result({}, SUMMARY, experiment.document)
    flows, time = experiment.document["jobs"][0]["flows"], experiment.document["measure"]["time"]
    return Run(Result(point.record, {}, {"flow_series": flow_series(flows, time, rates)}), STAGE)


def test_rates_are_those_of_the_second_half_of_a_stage() -> None:
    def rates(_: str, end: float) -> float:
        return 100.0 if end < 2.5 * STAGE + 0.001 else 4.0

    run = one_run(rates)
    assert run.late("f2", 2) == 4.0
    assert run.mean("f2", 2 * STAGE, 3 * STAGE) == pytest.approx(52.0)
    assert one_run(constant(UNFAIR)).ratio(3) == pytest.approx(5.5 / 2.7)
    assert one_run(constant(FAIR)).fairness(4) == pytest.approx(1.0)


def test_convergence_lasts_to_the_last_interval_that_is_apart() -> None:
    def rates(name: str, end: float) -> float:
        late = 2 * STAGE + 0.035 < end < 2 * STAGE + 0.045
        return 9.0 if name == "f3" and late else 6.0

    run = one_run(rates)
    assert run.convergence(2, 0.1) == pytest.approx(0.04)
    assert run.convergence(2, 0.3) == 0.0


def test_even_shares_are_those_of_figure_3_and_not_of_figure_4() -> None:
    assert failing(conclude("gran-figure-3", constant(FAIR))) == []
    failed = failing(conclude("gran-figure-4", constant(FAIR)))
    assert "of two contributors f3 gets a little more than 7 Gb/s" in failed
    assert "that is about 1 Gb/s more than f2 gets" in failed
    assert "f6 gets twice what f3 gets" in failed
    assert "f2 settles between f3 and f6" in failed
    assert "of three contributors f2 gets a little less than 5 Gb/s" in failed
    assert "with 4 contributors the unfairness is still there" in failed


def test_the_shares_of_the_paper_are_those_of_figure_4_and_not_of_figure_7() -> None:
    assert failing(conclude("gran-figure-4", constant(UNFAIR))) == []
    failed = failing(conclude("gran-figure-7", constant(UNFAIR)))
    assert "3 contributors settle for equal shares" in failed
    assert "fairness is restored" in failed


def test_the_parking_lot_is_figure_9_and_not_figure_11() -> None:
    assert failing(conclude("gran-figure-9", constant(PARKING))) == []
    failed = failing(conclude("gran-figure-11", constant(PARKING)))
    assert "the victim f1 is freed" in failed
    assert "4 contributors settle for equal shares" in failed
    assert "f6 gets as much as f2 and f3 combined" in failing(conclude("gran-figure-9", constant(FAIR)))


@pytest.mark.parametrize("slower", [2, 6])
def test_figure_12_settles_more_slowly_than_figure_11(slower: int) -> None:
    stage = 0.5

    def settling(time: float) -> Rates:
        def rates(name: str, end: float) -> float:
            number = min(int((end - 0.005) / stage), 4)
            begun = [flow for place, flow in enumerate(FLOWS) if 0 < place <= number]
            early = end - number * stage < time + 0.005
            lead = 2.0 if early and begun and name == begun[-1] and number > 1 else 1.0
            return lead * 13.0 / max(number, 1) if name in begun or name == "f1" else 0.0

        return rates

    found = results("gran-figure-12", settling(0.02 * slower))
    others = results("gran-figure-12", settling(0.02), "compared")["compared"]
    outcome = BY_NAME["gran-figure-12"].conclude("quick", {**found, "compared": others})
    (fact,) = [fact for fact in outcome.facts if "extended time" in fact.statement]
    assert fact.holds == (slower >= 5)


def test_limits_around_a_value() -> None:
    assert near(13.0, 0.1) == pytest.approx((11.7, 14.3))


def test_every_entry_states_what_follows_from_the_links_by_default() -> None:
    """So that its results are those of the table it was made with, whatever the default is."""
    found = 0
    for entry in BY_NAME.values():
        if not entry.name.startswith("gran-"):
            continue
        for experiment in entry.experiments("quick", 1):
            control = experiment.document["router"]["infiniband"].get("congestion_control")
            if control is not None:
                found += 1
                assert {"cct", "marking_rate", "ccti_timer", "thresholds"} <= control.keys(), entry.name
                assert {"low", "distance"} & control["thresholds"].keys(), entry.name
                assert {"high", "weight"} & control["thresholds"].keys(), entry.name
    assert found > 10
