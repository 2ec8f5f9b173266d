"""What docs/model.md says an iteration of the allocator is worth."""

from __future__ import annotations

from typing import Any

import pytest

import hopsim as hs

BUTTERFLY = {"hyperx": {"sides": [4, 4], "nodes_per_router": 4}}
TORUS = {"torus": {"sides": [8, 8]}}


def accepted(
    topology: dict[str, Any], traffic: dict[str, Any], load: float, iterations: int, **router: Any
) -> float:
    """The accepted load with so many iterations in input-queued routers."""
    allocator = {"allocator": {"iterations": iterations}}
    document = {
        "topology": topology,
        "routing": "minimal",
        "router": {"input_queued": {**allocator, **router}},
        "jobs": [{"traffic": traffic}],
        "measure": {"warmup": 3_000, "cycles": 5_000},
    }
    return hs.run(document, load=load).summary["accepted_load"]


@pytest.mark.parametrize(
    ("length", "expected"), [(1, (0.635, 0.800, 0.803)), (8, (0.790, 0.798, 0.799))], ids=["short", "long"]
)
def test_a_second_iteration_helps_short_packets_and_a_third_one_nobody(
    length: int, expected: tuple[float, ...]
) -> None:
    traffic = {"packet_length": length}
    found = [accepted(BUTTERFLY, traffic, 1.0, count, vcs={"network": 4}) for count in (1, 2, 3)]
    assert found == pytest.approx(expected, rel=0.02)


@pytest.mark.parametrize("iterations", [1, 2])
def test_no_iteration_helps_a_torus_that_lacks_bubbles(iterations: int) -> None:
    traffic = {"pattern": {"permutation": "tornado"}, "packet_length": 8}
    assert accepted(TORUS, traffic, 0.25, iterations) == pytest.approx(0.25, rel=0.02)
    assert 0.08 < accepted(TORUS, traffic, 1.0, iterations) < 0.17
