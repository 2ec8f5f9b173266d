"""Figure 7: the components of latency of In-Trns-MM under ADVc, with in-transit priority."""

from __future__ import annotations

from hopsim_reproduce.claims import at_place, at_start, between, ratio
from hopsim_reproduce.figure import Claim
from hopsim_reproduce.jsc.study import JSC, PRIORITY
from hopsim_reproduce.model import Entry
from hopsim_reproduce.panels import LATENCY
from hopsim_reproduce.thesis.breakdown import LINE, LONGEST_WAIT, MISROUTING, PANEL, latency_figure

SATURATION_LOAD = 0.5
QUEUES = {"local": "local_queue_latency_mean", "global": "global_queue_latency_mean"}


def _queues_matter_little(name: str, load: float) -> Claim:
    return ratio(
        f"congestion in {name} links has a low impact on the latency, at {load:g}",
        at_place(PANEL, LINE, load, QUEUES[name]),
        at_place(PANEL, LINE, load, LATENCY),
        high=0.25,
    )


CLAIMS = (
    between("the wait at injection peaks at 0.15, then diminishes until saturation", LONGEST_WAIT, 0.1, 0.2),
    ratio(
        "misrouting costs more with the load until saturation",
        at_place(PANEL, LINE, SATURATION_LOAD, MISROUTING),
        at_start(PANEL, LINE, MISROUTING),
        1.0,
    ),
    *(_queues_matter_little(name, load) for name in QUEUES for load in (0.2, 0.4, 0.6)),
)


def entries() -> list[Entry]:
    """The figure."""
    return [latency_figure(JSC, "7", PRIORITY, CLAIMS)]
