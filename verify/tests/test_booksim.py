"""Virtual-channel routers against BookSim 2: latencies, hops and loads of rows that take little time."""

from __future__ import annotations

import pytest
from verify import booksim

import hopsim

QUICK = (
    "m-u1 0.05",
    "m-buf2 0.7",
    "m-cd2 0.15",
    "m-tornado 0.1",
    "t-book 0.15",
    "m-spec-sif 0.3",
    "m-hold 0.3",
)


@pytest.mark.parametrize("name", QUICK)
def test_a_seed_agrees_with_booksim(name: str) -> None:
    rows = [row for row in booksim.read() if row.name == name]
    found = hopsim.run(rows[0].document(), {"measure.cycles": 5_000}, progress=False).summary
    for row in rows:
        assert found[row.metric] == pytest.approx(row.measured.mean, rel=booksim.AGREES[row.metric])


def test_documents_are_those_of_the_converter() -> None:
    (row, *_) = (row for row in booksim.read() if row.name == "m-tornado 0.1")
    document = row.document()
    assert document["compat"] == "booksim"
    assert document["jobs"][0]["traffic"]["pattern"] == {"permutation": "tornado"}
    assert document["measure"] == {"warmup": 5_000, "cycles": 20_000, "batches": 10, "seed": 0}
