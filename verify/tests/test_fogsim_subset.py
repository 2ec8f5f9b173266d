"""A few rows of the comparison with FOGSim: small networks, every mechanism that runs."""

import pytest
from verify import fogsim
from verify.compare import Comparison, compare
from verify.rows import Row, read_runs, siblings
from verify.simulate import figures, simulate

# One process simulates all rows, once.
pytestmark = pytest.mark.xdist_group("fogsim")

ROWS = (
    "MIN/RR h=2 UN 0.5 15k seed 1",
    "MIN/RR h=2 UN 1 15k seed 1",
    "MIN/RR+transit h=2 ADVc 0.3 15k seed 1",
    "MIN/AGE h=2 UN 0.8 15k seed 1",
    "MIN/LRS h=2 UN 0.5 15k seed 1",
    "MIN/RR/consecutive h=2 UN 1 15k seed 1",
    "MIN/RR/speedup1 h=2 UN 1 15k seed 1",
    "OBL-RRG/RR h=2 ADVc 0.6 15k seed 1",
    "OBL-CRG/AGE h=2 ADV_RANDOM_NODE 0.45 15k seed 1",
    "MIN/damq75 h=2 BURSTY_UN 0.5 12k seed 1",
    "MIN/flexvc4-2 h=2 BURSTY_UN 0.5 12k seed 1",
    "MIN/reqrep-flexvc4-2-res2-1-LOWEST_OCCUPANCY h=2 UN_RCTV 0.5 12k seed 1",
    "OBL-RRG/flexvc4-2 h=2 ADV_RANDOM_NODE 0.3 12k seed 1",
    "UGAL h=3 ADV_RANDOM_NODE 0.3 12k seed 1",
    "PB h=3 ADV_RANDOM_NODE 0.3 12k seed 1",
    "SRC-RRG/RR h=3 ADV_RANDOM_NODE 0.3 12k seed 1",
    "PAR h=3 ADV_RANDOM_NODE 0.55 12k seed 1",
    "OLM-MM/RR h=3 ADV_RANDOM_NODE 0.3 12k seed 1",
    "OLM-MM/ECTN h=3 ADV_RANDOM_NODE 0.1 12k seed 1",
)
SEEDS = 8
JOBS = 2

ALL = read_runs()
SELECTED = [row for row in ALL if row.name in ROWS]


@pytest.fixture(scope="module")
def comparisons() -> dict[str, Comparison]:
    documents = [fogsim.document(row) for row in SELECTED]
    measured = simulate(documents, SEEDS, JOBS, figures)
    cases = siblings(ALL)
    return {
        row.name: compare(row, runs, cases[row.case]) for row, runs in zip(SELECTED, measured, strict=True)
    }


@pytest.mark.parametrize("row", SELECTED, ids=lambda row: row.name)
def test_agrees_with_fogsim(row: Row, comparisons: dict[str, Comparison]) -> None:
    failures = [
        f"{out.metric.title}: {out.ours.mean:.5g}, reference {out.reference:.5g} ({out.z:+.1f} s.e.)"
        for out in comparisons[row.name].failures
    ]
    assert not failures, "; ".join(failures)


def test_every_chosen_row_exists() -> None:
    assert {row.name for row in SELECTED} == set(ROWS)
