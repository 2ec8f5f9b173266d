"""What is compared, and how close it has to be.

The tolerances are those of the agreement with FOGSim: one set for minimal and oblivious routing in
the plain router under open traffic, one for adaptive routing, FlexVC, DAMQ buffers, bursts and
requests with replies, where decisions that FOGSim makes in another order show.
"""

from __future__ import annotations

from dataclasses import dataclass

from verify.rows import INVERSE_RATIO, Row


@dataclass(frozen=True)
class Metric:
    """A compared quantity."""

    key: str
    title: str
    tolerance: float = 0.0
    """Relative, below saturation; 0: only the spread of seeds counts."""
    saturated_tolerance: float | None = None
    """Relative, above saturation; None: as below."""
    absolute_tolerance: float = 0.0
    """The same for quantities that are shares."""
    judged: bool = True
    judged_saturated: bool = True
    """Whether a row above saturation can fail by it."""

    @property
    def is_share(self) -> bool:
        """Whether differences are told in percentage points, not relative to the reference."""
        return self.absolute_tolerance > 0

    def allowance(self, reference: float, saturated: bool) -> float:
        """Largest difference from the reference that is within tolerance."""
        relative = self.tolerance
        if saturated and self.saturated_tolerance is not None:
            relative = self.saturated_tolerance
        return max(relative * abs(reference), self.absolute_tolerance)

    def required(self, saturated: bool) -> bool:
        """Whether a row fails that is beyond tolerance and spread."""
        return self.judged and (self.judged_saturated or not saturated)


_FAIRNESS = (
    Metric(INVERSE_RATIO, "min/max"),
    Metric("router_injection_cov", "CoV"),
    Metric("router_injection_min_packets", "min inj."),
    Metric("router_injection_max_packets", "max inj."),
)
_REPORTED = (
    Metric("injection_latency_mean", "inj. latency", judged=False),
    Metric("base_latency_mean", "base latency", judged=False),
)

OBLIVIOUS = (
    Metric("accepted_load", "accepted", 0.01),
    Metric("packet_latency_mean", "latency", 0.01, 0.03),
    Metric("hops_mean", "hops", 0.005),
    Metric("local_queue_latency_mean", "local cont.", 0.03),
    Metric("global_queue_latency_mean", "global cont.", 0.03),
    *_FAIRNESS,
    *_REPORTED,
)
"""Minimal and oblivious routing; a metric that a row lacks is skipped."""

ADAPTIVE = (
    Metric("accepted_load", "accepted", 0.02, 0.03),
    Metric("packet_latency_mean", "latency", 0.03, judged_saturated=False),
    Metric("misrouted_fraction", "misrouted, pts", absolute_tolerance=0.02),
    *_FAIRNESS,
    Metric("misrouted_at_injection_fraction", "misr. inj.", judged=False),
    Metric("misrouted_in_source_group_fraction", "misr. source", judged=False),
    Metric("misrouted_in_intermediate_group_fraction", "misr. interm.", judged=False),
    Metric("hops_mean", "hops", judged=False),
    Metric("local_queue_latency_mean", "local cont.", judged=False),
    Metric("global_queue_latency_mean", "global cont.", judged=False),
    *_REPORTED,
)
"""All other rows."""

_PLAIN = {
    "routing": {"MIN", "VAL", "VAL_ANY", "OBL"},
    "Traffic": {"UN", "ADV_RANDOM_NODE", "ADVc"},
    "VcUsage": {"BASE"},
    "Buffer": {"SEPARATED"},
    "ResetValNode": {"0"},
    "ValiantType": {"SRCEXC", "FULL"},
}
"""FOGSim's key -> the values of the rows that `OBLIVIOUS` is for; a key that is missing has one of them."""


COLUMNS = tuple({metric.key: metric for metric in (*ADAPTIVE, *OBLIVIOUS) if metric.judged}.values())
"""What is judged in any row, in the order of the report."""


def metrics_of(row: Row) -> tuple[Metric, ...]:
    """The metrics of a row by what it runs."""
    plain = all(row.settings[key] in values for key, values in _PLAIN.items() if key in row.settings)
    return OBLIVIOUS if plain else ADAPTIVE
