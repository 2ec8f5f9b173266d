"""A few rows of the comparison with FOGSim: small networks, a row of each family; `verify fogsim` has all."""

from verify import fogsim
from verify.compare import compare
from verify.rows import read_runs, siblings
from verify.simulate import figures, simulate

ROWS = (
    "MIN/RR+transit h=2 ADVc 0.3 15k seed 1",
    "MIN/AGE h=2 UN 0.8 15k seed 1",
    "OBL-RRG/RR h=2 ADVc 0.6 15k seed 1",
    "MIN/damq75 h=2 BURSTY_UN 0.5 12k seed 1",
    "MIN/reqrep-flexvc4-2-res2-1-LOWEST_OCCUPANCY h=2 UN_RCTV 0.5 12k seed 1",
    "PB h=3 ADV_RANDOM_NODE 0.3 12k seed 1",
    "OLM-MM/ECTN h=3 ADV_RANDOM_NODE 0.1 12k seed 1",
)
SEEDS = 8
JOBS = 2


def test_a_row_of_each_family_agrees_with_fogsim() -> None:
    runs = read_runs()
    rows = [row for row in runs if row.name in ROWS]
    assert {row.name for row in rows} == set(ROWS)
    measured = simulate([fogsim.document(row) for row in rows], SEEDS, JOBS, figures)
    cases = siblings(runs)
    failures = [
        f"{row.name}: {out.metric.title}: {out.ours.mean:.5g} for {out.reference:.5g} ({out.z:+.1f} s.e.)"
        for row, of_row in zip(rows, measured, strict=True)
        for out in compare(row, of_row, cases[row.case]).failures
    ]
    assert not failures, "\n".join(failures)
