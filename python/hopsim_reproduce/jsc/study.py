"""The network and the settings of the journal version (its table 1)."""

from __future__ import annotations

from collections.abc import Mapping

from hopsim_reproduce.model import Scale
from hopsim_reproduce.thesis.network import CURVES, Network
from hopsim_reproduce.thesis.routing import FACTOR
from hopsim_reproduce.thesis.study import Study
from hopsim_reproduce.thesis.system import AGE, Arbitration

WARMUP, CYCLES = 15_000, 15_000
"""The text gives the second; the first is "an adequate amount of time"."""
INJECTION = 1_000
"""Injection buffer [phits per VC]. Table 1 prints none. The thesis, later, has 256 and shows in its figure
3.3 that peaks of latency as in figure 6 come with 1,000; with 256 table 4 does not come out above saturation.
"""
PUBLISHED = Network(6, WARMUP, CYCLES)
ROUTERS: Mapping[Scale, Network] = {"quick": Network(3, 8_000, 40_000), "full": PUBLISHED}
"""For figures of single routers: small and long, so that chance does not hide a difference between them."""

JSC = Study(
    name="jsc",
    title="Journal",
    source="P. Fuentes et al., J. Supercomputing 72, 2016",
    values="jsc-tables-2-4.csv",
    judges_saturated=True,
    routers_seeds={"quick": 2, "full": 3},
    curves={"quick": CURVES["quick"], "full": PUBLISHED},
    curves_seeds={"quick": 1, "full": 3},
    injection=INJECTION,
    sizes={
        "quick": tuple(Network(h, 3_000, 4_000) for h in (2, 3, 4)),
        "full": tuple(Network(h, WARMUP, CYCLES) for h in (6, 7, 8, 9, 10)),
    },
    sizes_seeds={"quick": 1, "full": 3},
    settings=(
        "Where the text says round-robin, inputs and outputs serve the least recently served: the simulator "
        "of the journal version had no round-robin yet, and with it table 3 does not come out.",
        f"Not printed, so chosen: {WARMUP:,} cycles of warm-up and injection buffers of {INJECTION:,} phits "
        "per VC (tables 2 and 4 need both above saturation: jsc-tables-2-4-injection and "
        "jsc-tables-2-4-warmup), the injection VC by destination, and "
        f"{FACTOR:g} times the mean from which on a global link is saturated (fitted to one row of the "
        "thesis: thesis-table-3.2-calibration; the text says twice).",
    ),
)

LEAST_RECENTLY_SERVED = Arbitration("least recently served", "least_recently_served")
PRIORITY = Arbitration(
    "least recently served, in-transit priority", "least_recently_served", transit_priority=True
)
AGE_AND_PRIORITY = Arbitration("age, in-transit priority", AGE.arbiter, transit_priority=True)
