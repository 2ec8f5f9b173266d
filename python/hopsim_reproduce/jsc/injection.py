"""Rows of tables 2 and 4 that depend on what the text does not print: injection buffers and warm-up."""

from __future__ import annotations

from hopsim_reproduce.jsc.study import INJECTION, JSC, PRIORITY, WARMUP
from hopsim_reproduce.model import Entry
from hopsim_reproduce.thesis import fairness
from hopsim_reproduce.thesis.calibration import Trial, Trials
from hopsim_reproduce.thesis.published import published_row
from hopsim_reproduce.thesis.system import AGE, TABLE_1_2, Arbitration, Buffers

SETTINGS = ((TABLE_1_2.injection, 10_000), (INJECTION, WARMUP))
"""Injection buffers [phits per VC] and warm-up [cycles]: others, and those of the other entries."""
ROWS = (
    ("2", PRIORITY, "Obl-CRG", 0.45),
    ("2", PRIORITY, "Src-CRG", 0.10),
    ("4", AGE, "MIN", 0.40),
    ("4", AGE, "Obl-RRG", 0.50),
    ("4", AGE, "In-Trns-MM", 0.55),
)


def _trials(label: str, arbitration: Arbitration, mechanism: str, load: float) -> list[Trial]:
    """A row with both settings."""
    row = published_row(JSC, label, mechanism, load)
    system = fairness.systems(arbitration)[mechanism]
    return [
        Trial(
            title=f"{label}: {mechanism} at {load:g}, {phits:,}",
            row=row,
            system=system.with_(buffers=Buffers(injection=phits)),
            warmup=warmup,
        )
        for phits, warmup in SETTINGS
    ]


def entries() -> list[Entry]:
    """The rows with both settings."""
    (small, short), (usual, long) = SETTINGS
    trials = Trials(
        study=JSC,
        name="jsc-tables-2-4-injection",
        title="Rows of tables 2 and 4 with larger injection buffers",
        source=JSC.place("tables", "2 and 4"),
        trials=[trial for row in ROWS for trial in _trials(*row)],
        explanation=[
            "A row is called by its table, mechanism and load, and the injection buffers in phits per VC: "
            f"{usual:,} with {long:,} cycles of warm-up as in the other entries, or {small} with {short:,}."
        ],
    )
    return [trials.entry()]
