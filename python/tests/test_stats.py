"""Confidence intervals."""

from __future__ import annotations

import pytest

from hopsim.stats import Estimate, estimate, over_runs, student_t


@pytest.mark.parametrize(
    ("freedom", "quantile"),
    [(1, 12.7062), (2, 4.30265), (3, 3.18245), (4, 2.77645), (9, 2.26216), (30, 2.04227), (1000, 1.96234)],
)
def test_student_quantile_is_the_tabulated_one(freedom: int, quantile: float) -> None:
    assert student_t(freedom) == pytest.approx(quantile, rel=1e-5)


def test_student_quantile_at_another_confidence() -> None:
    assert student_t(5, 0.99) == pytest.approx(4.03214, rel=1e-5)


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
