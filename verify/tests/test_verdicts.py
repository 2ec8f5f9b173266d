"""Verdicts of some networks whose knee is known, and that a wrong one is noticed."""

from collections import Counter

import pytest
from verify import verdicts

CASES = 80
"""`verify verdicts` has ten thousand."""


@pytest.fixture(scope="module")
def counts() -> Counter[tuple[str, bool, str]]:
    cases = [verdicts.case(number) for number in range(CASES)]
    return verdicts.confusion(cases, verdicts.simulate(cases, 2))


def test_no_point_above_the_knee_is_steady_and_none_below_it_is_saturated(
    counts: Counter[tuple[str, bool, str]],
) -> None:
    assert verdicts.failures(counts) == []
    above = sum(counts["", True, verdict] for verdict in verdicts.VERDICTS)
    below = sum(counts["", False, verdict] for verdict in verdicts.VERDICTS)
    assert above + below == CASES
    # Verdicts are worth something only if they are given.
    assert counts["", True, "saturated"] > 0.9 * above
    assert counts["", False, "steady"] > 0.8 * below


def test_wrong_verdicts_are_told() -> None:
    case = verdicts.case(0)
    above = verdicts.Case(case.name, case.document, True)
    below = verdicts.Case(case.name, case.document, False)
    counts = verdicts.confusion([above, below, below], ["steady", "saturated", "steady"])
    assert verdicts.failures(counts) == [
        "1 points above the knee are called steady",
        "1 of 2 points below the knee are called saturated",
    ]
