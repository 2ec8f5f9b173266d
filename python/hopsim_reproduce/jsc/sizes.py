"""Figure 13: throughput and fairness under ADVc at 0.4 by the size of the network."""

from __future__ import annotations

from hopsim_reproduce.jsc.study import JSC, LEAST_RECENTLY_SERVED
from hopsim_reproduce.model import Entry
from hopsim_reproduce.thesis.fairness import AT_SOURCE
from hopsim_reproduce.thesis.sizes import (
    fair_in_transit,
    less_throughput_at_source,
    more_unfairness,
    same_unfairness,
    similar_throughput,
    size_figure,
)
from hopsim_reproduce.thesis.system import AGE

ARBITRATIONS = (LEAST_RECENTLY_SERVED, AGE)


def entries() -> list[Entry]:
    """The figure."""
    claims = [
        claim
        for arbitration in ARBITRATIONS
        for claim in (
            *similar_throughput(arbitration),
            *less_throughput_at_source(arbitration),
            *same_unfairness(arbitration),
            *more_unfairness(arbitration, AT_SOURCE),
        )
    ]
    return [size_figure(JSC, "13", ARBITRATIONS, [*claims, *fair_in_transit(AGE)])]
