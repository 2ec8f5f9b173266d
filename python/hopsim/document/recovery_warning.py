"""A warning about InfiniBand flows that never recover from congestion."""

from __future__ import annotations

import json
import warnings
from collections.abc import Sequence

from hopsim.document.experiment import Experiment, Point
from hopsim.errors import HopsimWarning

KEY = "router.infiniband.congestion_control.ccti_timer"


def warn_of_no_recovery(experiment: Experiment, points: Sequence[Point]) -> None:
    """Warn if flows that were told of congestion stay slow for ever."""
    if any(_never_recovers(point) for point in points):
        warnings.warn(
            f"{experiment.name}: {KEY} = 0: no timer lowers the index of a flow that has been told of "
            "congestion, and it stays slow for ever; 1 … 65535 lets it recover",
            HopsimWarning,
            stacklevel=3,
        )


def _never_recovers(point: Point) -> bool:
    fabric = json.loads(point.config).get("router", {}).get("infiniband", {})
    return fabric.get("congestion_control", {}).get("ccti_timer") == 0
