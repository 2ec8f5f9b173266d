"""The check of DCQCN: what its source does, and what it tells of."""

from dataclasses import replace

import pytest
from verify.dcqcn import ALPHA, RATES, SHARE, TIMER, Found, Source, failures, probability

GOOD = Found(marked=0.001, fairness=0.999, used=0.995, pauses=0)


def test_the_source_falls_by_half_of_its_share_and_recovers_half_of_the_way() -> None:
    source = Source()
    source.cut(0.0)
    assert (source.rate, source.target, source.share) == (0.5, 1.0, 1.0)
    source.catch_up(2 * TIMER)
    assert source.rate == 0.875
    source.cut(2.5 * ALPHA)
    share = (1 - SHARE) ** 2
    assert source.rate == pytest.approx(0.875 * (1 - share / 2))
    assert source.target == 0.875


def test_the_fifth_event_is_the_first_that_raises_the_target() -> None:
    source = Source()
    source.cut(0.0)
    source.cut(0.0)
    source.catch_up(4 * TIMER)
    assert source.target == 0.5
    source.catch_up(5 * TIMER)
    assert source.target == 0.501


def test_the_fixed_point_grows_with_the_flows() -> None:
    assert probability(2) == pytest.approx(0.000777, rel=1e-3)
    assert probability(2) < probability(4) < probability(8)


@pytest.mark.parametrize(
    ("change", "rate", "reason"),
    [
        ({}, 0.5 * (1 + 2 * RATES), "2 flows: the rate of the source is +6.0% from that of a flow"),
        ({"fairness": 0.9}, 0.5, "2 flows: Jain's index is 0.900"),
        ({"used": 0.9}, 0.5, "2 flows: the link is used for 90.0%"),
        ({"pauses": 3}, 0.5, "2 flows: links were paused, 3 times"),
    ],
)
def test_what_must_not_be_is_told(change: dict[str, float], rate: float, reason: str) -> None:
    assert failures(2, GOOD, 0.5) == []
    assert failures(2, replace(GOOD, **change), rate) == [reason]
