"""Verdicts on made-up figures."""

import math
import statistics

import pytest
from verify.compare import Comparison, Verdict, compare
from verify.exceptions import KnownException, reason
from verify.metrics import ADAPTIVE, OBLIVIOUS, Metric, metrics_of
from verify.report import WIDTH, show
from verify.rows import INVERSE_RATIO, Row, half_a_digit, inverse_ratio
from verify.statistics import Sample, pooled, student_quantile

from hopsim.cli.console import of_width

SEEDS = (-1.0, 0.5, 0.0, -0.5, 1.0)


def row(offered: float = 0.5, **values: float) -> Row:
    return Row("MIN h=2", "minimal", {}, offered, 1, 1, {"accepted_load": 0.5, **values})


def verdicts(reference: Row, spread: float, **means: float) -> dict[str, Verdict]:
    figures = [{key: mean * (1 + spread * x) for key, mean in means.items()} for x in SEEDS]
    return {out.metric.key: out.verdict for out in compare(reference, figures, [reference]).outcomes}


def test_small_difference_is_within_tolerance() -> None:
    assert verdicts(row(), 0.0, accepted_load=0.504) == {"accepted_load": Verdict.TOLERANCE}


def test_difference_beyond_tolerance_passes_only_if_seeds_spread_as_much() -> None:
    assert verdicts(row(), 0.05, accepted_load=0.52) == {"accepted_load": Verdict.SPREAD}
    assert verdicts(row(), 0.0001, accepted_load=0.52) == {"accepted_load": Verdict.FAIL}


def test_latency_tolerance_widens_above_saturation() -> None:
    below, above = row(0.5, packet_latency_mean=100.0), row(1.0, packet_latency_mean=100.0)
    assert verdicts(below, 0.0, packet_latency_mean=102.0)["packet_latency_mean"] is Verdict.FAIL
    assert verdicts(above, 0.0, packet_latency_mean=102.0)["packet_latency_mean"] is Verdict.TOLERANCE


QUANTILE_4 = 8.610301581379224
"""Two-sided 99.9 % quantile of Student's t with 4 degrees of freedom."""


@pytest.mark.parametrize("share", [0.999, 1.001])
def test_chance_explains_differences_up_to_the_quantile_of_student_times_the_standard_error(
    share: float,
) -> None:
    """Five seeds against a row of one: with 4 degrees of freedom, and 1/5 + 1/1 under the root."""
    ours = [0.3 + 0.01 * x for x in SEEDS]
    explained = QUANTILE_4 * statistics.stdev(ours) * math.sqrt(1 / 5 + 1 / 1)
    reference = row(router_injection_cov=0.3 - share * explained)
    (outcome,) = compare(reference, [{"router_injection_cov": value} for value in ours], [reference]).outcomes
    assert outcome.verdict is (Verdict.SPREAD if share < 1 else Verdict.FAIL)
    assert outcome.z == pytest.approx(share * QUANTILE_4, rel=1e-6)
    assert outcome.difference == pytest.approx(share * explained, rel=1e-9)
    assert outcome.deviation == pytest.approx(outcome.difference / outcome.reference, rel=1e-12)


def test_a_row_is_judged_by_its_own_value_and_the_spread_of_all_its_seeds() -> None:
    """The mean of the row's siblings is ours, its own value is not: only their spread is used."""
    siblings = [row(router_injection_cov=value) for value in (0.1, 0.2, 0.3)]
    ours = [{"router_injection_cov": 0.2} for _ in SEEDS]
    for sibling in siblings:
        (outcome,) = compare(sibling, ours, siblings).outcomes
        value = sibling.values["router_injection_cov"]
        assert outcome.reference == value
        assert outcome.difference == pytest.approx(0.2 - value)
        # Pooled over 4 degrees of freedom of ours, without any spread, and 2 of theirs.
        error = math.sqrt(2 * 0.1**2 / 6) * math.sqrt(1 / 5 + 1 / 1)
        assert outcome.z == pytest.approx((0.2 - value) / error, abs=1e-9)
    far = row(router_injection_cov=0.9)
    (outcome,) = compare(far, ours, [far, *siblings[1:2], row(router_injection_cov=-0.5)]).outcomes
    assert (outcome.reference, outcome.difference) == (0.9, pytest.approx(-0.7))


def test_fairness_has_no_tolerance() -> None:
    reference = row(router_injection_cov=0.02)
    assert verdicts(reference, 1e-6, router_injection_cov=0.0202)["router_injection_cov"] is Verdict.FAIL


def test_starved_router_has_a_finite_inverse_ratio() -> None:
    assert inverse_ratio(None) == 0.0
    assert verdicts(row(**{INVERSE_RATIO: 0.0}), 0.0, **{INVERSE_RATIO: 0.0})[INVERSE_RATIO] is Verdict.SPREAD


def test_published_digits_limit_the_verdict() -> None:
    reference = Row(
        "a",
        "acceptance",
        {},
        0.5,
        1,
        1,
        {"router_injection_cov": 0.02},
        rounding={"router_injection_cov": half_a_digit("0.02")},
        seeds=5,
    )
    figures = [{"router_injection_cov": 0.024 + 1e-6 * x} for x in SEEDS]
    reference.values["accepted_load"] = 0.5  # type: ignore[index]
    assert compare(reference, figures, [reference]).outcomes[0].verdict is Verdict.SPREAD


def test_known_exception_needs_every_failing_metric() -> None:
    failing = compare(row(hops_mean=2.0), [{"accepted_load": 0.6, "hops_mean": 3.0}] * 3, [])
    known = (KnownException("MIN", frozenset({"accepted_load"}), "documented"),)
    assert reason(failing, known) is None
    known = (KnownException("MIN", frozenset({"accepted_load", "hops_mean"}), "documented"),)
    assert reason(failing, known) == "documented"


def test_report_counts(capsys: pytest.CaptureFixture[str]) -> None:
    rows: list[Comparison] = [compare(row(), [{"accepted_load": load}] * 3, []) for load in (0.5, 0.6)]
    counts = show(of_width(WIDTH), "A table", rows)
    assert (counts.passed, counts.failed) == (1, 1)
    assert "A table: 1 passed, 1 failed" in capsys.readouterr().out


def test_pooled_spread_weighs_by_degrees_of_freedom() -> None:
    std, freedom = pooled([Sample(0.0, 1.0, 5), Sample(9.0, 0.0, 1)])
    assert (std, freedom) == (1.0, 4)


def test_quantile_of_student() -> None:
    assert student_quantile(4) == pytest.approx(8.610, abs=1e-3)
    assert student_quantile(19) == pytest.approx(3.883, abs=1e-3)


@pytest.mark.parametrize("metrics", [ADAPTIVE, OBLIVIOUS])
def test_metric_keys_are_unique(metrics: tuple[Metric, ...]) -> None:
    assert len({metric.key for metric in metrics}) == len(metrics)


@pytest.mark.parametrize(
    ("settings", "metrics"),
    [
        ({"routing": "OBL", "Traffic": "ADVc"}, OBLIVIOUS),
        ({"routing": "OLM", "Traffic": "UN"}, ADAPTIVE),
        ({"routing": "MIN", "Traffic": "UN", "VcUsage": "TBFLEX"}, ADAPTIVE),
        ({"routing": "MIN", "Traffic": "UN_RCTV"}, ADAPTIVE),
        ({"routing": "OBL", "Traffic": "UN", "ResetValNode": "1"}, ADAPTIVE),
    ],
)
def test_tolerances_follow_what_a_row_runs(settings: dict[str, str], metrics: tuple[Metric, ...]) -> None:
    assert metrics_of(Row("a", "kind", settings, 0.5, 1, 1, {})) is metrics


def test_misrouted_share_has_an_absolute_tolerance() -> None:
    reference = adaptive(misrouted_fraction=0.01)
    assert verdicts(reference, 0.0, misrouted_fraction=0.029) == {"misrouted_fraction": Verdict.TOLERANCE}
    assert verdicts(reference, 0.0, misrouted_fraction=0.031) == {"misrouted_fraction": Verdict.FAIL}


def test_latency_of_a_saturated_adaptive_row_is_only_reported() -> None:
    below, above = adaptive(0.5, packet_latency_mean=100.0), adaptive(1.0, packet_latency_mean=100.0)
    assert verdicts(below, 0.0, packet_latency_mean=104.0)["packet_latency_mean"] is Verdict.FAIL
    assert verdicts(above, 0.0, packet_latency_mean=104.0)["packet_latency_mean"] is Verdict.REPORTED


def adaptive(offered: float = 0.5, **values: float) -> Row:
    values = {"accepted_load": 0.5, **values}
    return Row("OLM h=3", "olm", {"routing": "OLM"}, offered, 1, 1, values)
