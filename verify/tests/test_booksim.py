"""Virtual-channel routers against BookSim 2: a latency and an accepted load, and what would not agree."""

from __future__ import annotations

import pytest
from verify import booksim
from verify.statistics import Sample

import hopsim

QUICK = ("u1 0.05", "buf2 0.7", "vc8 0.7")


@pytest.mark.parametrize("name", QUICK)
def test_a_seed_agrees_with_booksim(name: str) -> None:
    (row,) = (row for row in booksim.read() if row.name == name)
    found = hopsim.run(row.document(), {"measure.cycles": 5_000}, progress=False).summary[row.metric]
    assert found == pytest.approx(row.expected, rel=booksim.AGREES[row.metric])


def test_packets_that_nodes_send_to_themselves_do_not_count() -> None:
    row = booksim.Row("", "mesh 8 8", 4, 8, 5, "uniform", 0.1, 1, "packet_latency_mean", Sample(40.0, 1.0, 4))
    # One packet in 64 takes 2 + 3 + 2 cycles, and 4 for its other flits; all take a cycle more than here.
    assert row.expected == pytest.approx((40 - 11 / 64) * 64 / 63 - 1)
    assert row.document()["load"] == pytest.approx(0.1 * 63 / 64)


def test_other_patterns_are_compared_as_they_are() -> None:
    row = booksim.Row("", "mesh 8 8", 4, 8, 5, "bit_complement", 0.1, 1, "accepted_load", Sample(0.1, 0.0, 4))
    assert row.expected == 0.1
    assert row.document()["jobs"][0]["traffic"]["pattern"] == {"permutation": "bit_complement"}
