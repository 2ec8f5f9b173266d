"""Rows of tables 2 and 4 that depend on the length of the warm-up, which the text does not print."""

from __future__ import annotations

from hopsim_reproduce.jsc.study import JSC, PRIORITY, WARMUP
from hopsim_reproduce.model import Entry
from hopsim_reproduce.thesis import fairness
from hopsim_reproduce.thesis.calibration import Trial, Trials
from hopsim_reproduce.thesis.published import published_row
from hopsim_reproduce.thesis.system import AGE, Arbitration, Buffers

WARMUPS = (5_000, WARMUP, 30_000)
"""Warm-up [cycles]: less, that of the other entries, and more."""
ROWS = (
    ("2", PRIORITY, "MIN", 0.40),
    ("2", PRIORITY, "Obl-RRG", 0.45),
    ("2", PRIORITY, "In-Trns-MM", 0.40),
    ("4", AGE, "Obl-RRG", 0.50),
)


def _trials(label: str, arbitration: Arbitration, mechanism: str, load: float) -> list[Trial]:
    """A row with every warm-up."""
    row = published_row(JSC, label, mechanism, load)
    system = fairness.systems(arbitration)[mechanism].with_(buffers=Buffers(injection=JSC.injection))
    return [
        Trial(f"{label}: {mechanism} at {load:g}, {warmup:,} cycles", row, system, warmup)
        for warmup in WARMUPS
    ]


def entries() -> list[Entry]:
    """The rows with every warm-up."""
    trials = Trials(
        study=JSC,
        name="jsc-tables-2-4-warmup",
        title="Rows of tables 2 and 4 with shorter and longer warm-up",
        source=JSC.place("tables", "2 and 4"),
        trials=[trial for row in ROWS for trial in _trials(*row)],
        explanation=[
            "A row is called by its table, mechanism and load, and the cycles of warm-up: "
            f"{WARMUP:,} in the other entries."
        ],
    )
    return [trials.entry()]
