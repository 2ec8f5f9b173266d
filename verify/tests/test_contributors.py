"""What the check of congestion control by default judges, from results that were not simulated."""

from __future__ import annotations

from dataclasses import replace

from verify.contributors import ELSEWHERE, HOT, VICTIM, Case, Found, cases, failures, found

import hopsim

GOOD = Found(victim=16.0, contributors=15.0, fairness=0.99, at_limit=0.0)
DOUBLE = Case("DDR", "8x", 6)


def test_what_must_not_be_is_named() -> None:
    assert failures(DOUBLE, GOOD) == []
    for change, said in (
        ({"victim": 15.0}, "DDR 8x 6: the victim gets 93.8% of what is left for it"),
        ({"contributors": 14.0}, "DDR 8x 6: the hot link is used for 87.5%"),
        ({"fairness": 0.97}, "DDR 8x 6: Jain's index of the contributors is 0.970"),
        ({"at_limit": 0.1}, "DDR 8x 6: an index is at its limit for 10.0% of the window"),
    ):
        assert failures(DOUBLE, replace(GOOD, **change)) == [said]


def test_contributors_leave_what_they_do_not_use() -> None:
    # Two of six are in the subtree of the victim, whose way to the root carries as much as a host.
    assert Case("DDR", "4x", 6).free == 1 - 2 / 6
    assert DOUBLE.free == 1.0
    for case in cases():
        assert len({*case.sources, HOT, VICTIM, ELSEWHERE}) == case.count + 3


def test_a_run_has_what_is_judged() -> None:
    document = Case("DDR", "8x", 2).document()
    document["measure"]["time"] = {"warmup": "0 us", "window": "50 us"}
    seen = found(hopsim.run(document))
    assert seen.victim > 10
    assert seen.contributors > 10
    assert seen.at_limit == 0
