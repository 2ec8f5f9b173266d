"""Confidence intervals."""

from __future__ import annotations

import math
import statistics

import numpy as np
import pytest

from hopsim.metrics.stats import Estimate, estimate, jain, mean_and_variance, over_runs, student_t


@pytest.mark.parametrize(
    ("freedom", "quantile"),
    [(1, 12.7062), (2, 4.30265), (3, 3.18245), (4, 2.77645), (9, 2.26216), (30, 2.04227), (1000, 1.96234)],
)
def test_student_quantile_is_the_tabulated_one(freedom: int, quantile: float) -> None:
    assert student_t(freedom) == pytest.approx(quantile, rel=1e-5)


def test_student_quantile_at_another_confidence() -> None:
    assert student_t(5, 0.99) == pytest.approx(4.03214, rel=1e-5)


@pytest.mark.parametrize(("freedom", "confidence"), [(0, 0.95), (3, 1.0), (3, -0.1), (3, math.nan)])
def test_there_is_no_quantile_out_of_the_ranges(freedom: int, confidence: float) -> None:
    with pytest.raises(ValueError, match="valid: freedom ≥ 1, 0 ≤ confidence < 1"):
        student_t(freedom, confidence)


def density(t: np.ndarray, freedom: int) -> np.ndarray:
    """Student's, from the definition: that of a normal variable over the root of a chi-square one."""
    scale = math.gamma((freedom + 1) / 2) / (math.sqrt(freedom * math.pi) * math.gamma(freedom / 2))
    return scale * (1 + t * t / freedom) ** (-(freedom + 1) / 2)


@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.95, 0.999])
@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 5, 6, 7, 12, 33, 100])
def test_the_density_between_the_quantiles_integrates_to_the_confidence(
    freedom: int, confidence: float
) -> None:
    quantile = student_t(freedom, confidence)
    # Gauss and Legendre's rule, on the half line by symmetry; in the angle, as the tails are long.
    nodes, weights = np.polynomial.legendre.leggauss(200)
    end = math.atan(quantile)
    angles = (nodes + 1) / 2 * end
    inside = np.sum(weights * density(np.tan(angles), freedom) / np.cos(angles) ** 2) * end
    assert inside == pytest.approx(confidence, rel=1e-10)


def test_the_quantiles_of_few_degrees_of_freedom_have_closed_forms() -> None:
    for confidence in (0.5, 0.95, 0.999):
        assert student_t(1, confidence) == pytest.approx(math.tan(confidence * math.pi / 2), rel=1e-12)
        two = confidence * math.sqrt(2 / (1 - confidence**2))
        assert student_t(2, confidence) == pytest.approx(two, rel=1e-12)


@pytest.mark.parametrize("count", range(1, 9))
def test_means_variances_and_intervals_are_those_of_the_definition(count: int) -> None:
    values = [float(value) for value in np.random.default_rng(count).normal(3, 2, count)]
    mean, variance = mean_and_variance(values)
    assert mean == pytest.approx(statistics.fmean(values), rel=1e-14)
    assert variance == pytest.approx(statistics.variance(values) if count > 1 else 0.0, rel=1e-12)
    found = over_runs(values)
    assert found.mean == mean
    if count == 1:
        assert found.half_width is None
    else:
        error = math.sqrt(statistics.variance(values) / count)
        assert found.half_width == pytest.approx(student_t(count - 1) * error, rel=1e-12)
    runs = [{"x": value, "x_ci95": 9.0, "y": 1.0} for value in values]
    assert estimate(runs, "x") == (found if count > 1 else Estimate(values[0], 9.0))


def test_one_of_two_runs_with_the_quantity_has_no_interval() -> None:
    runs = [{"x": 4, "x_ci95": 0.5}, {"x": None, "x_ci95": None}]
    assert estimate(runs, "x") == Estimate(4.0, None)
    assert estimate([], "x") == Estimate(None, None)
    assert type(estimate([{"x": 4, "x_ci95": 1}], "x").half_width) is float
    assert type(estimate([{"x": 4}], "x").mean) is float


def test_interval_over_runs_is_students() -> None:
    found = over_runs([1.0, 2.0, 3.0])
    assert found.mean == 2.0
    assert found.half_width == pytest.approx(4.30265 / 3**0.5, rel=1e-5)


def test_one_run_has_the_interval_of_its_batches() -> None:
    assert estimate([{"x": 4, "x_ci95": 0.5}], "x") == Estimate(4.0, 0.5)
    assert estimate([{"x": 4}], "x") == Estimate(4.0, None)


def test_runs_without_the_quantity_are_left_out() -> None:
    assert estimate([{"x": None}, {"x": 3}], "x") == Estimate(3.0, None)
    assert estimate([{"x": None}], "x") == Estimate(None)


def test_text_is_rounded_and_aligned() -> None:
    assert Estimate(1234.56, 7.89).text(1) == "1,234.6 ± 7.9"
    assert Estimate(None).text(3) == "–"
    assert Estimate(None, 0.5).text(3) == "–"
    assert Estimate(1.5).text(2) == "1.50"
    assert Estimate(1.5, 0.25).text(2, interval=False) == "1.50"
    assert Estimate(0.0, 0.0).text(0) == "0 ± 0"


@pytest.mark.parametrize("count", [1, 2, 5, 8])
def test_jains_index_is_one_over_one_plus_the_square_of_the_coefficient_of_variation(count: int) -> None:
    values = [float(value) for value in np.random.default_rng(count).uniform(0, 9, count)]
    spread = statistics.pstdev(values) / statistics.fmean(values)
    assert jain(values) == pytest.approx(1 / (1 + spread**2), rel=1e-12)
    # Of n, k have the same and the others nothing.
    for some in range(1, count + 1):
        assert jain([3.0] * some + [0.0] * (count - some)) == pytest.approx(some / count, rel=1e-15)
    assert jain([0.0] * count) == 1.0


def test_jains_index_of_two_by_hand() -> None:
    assert jain([1.0, 3.0]) == 16 / (2 * 10)
    assert jain([0.5, 0.25]) == 0.75**2 / (2 * 0.3125)
