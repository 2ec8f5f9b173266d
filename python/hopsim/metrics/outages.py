"""When links or routers of a run fail, become slower and are repaired, by its configuration."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from hopsim.files.quantities import nanoseconds

if TYPE_CHECKING:
    from collections.abc import Mapping

Time = int | Fraction
"""Cycles; of a fabric nanoseconds."""


@dataclass(frozen=True)
class Outages:
    """What is out of order when.

    Attributes:
        failures: times in the middle of the run at which something fails.
        slowdowns: times in the middle of the run at which links become slower.
        repairs: times at which something is repaired, or as fast again as before.
    """

    failures: frozenset[Time]
    slowdowns: frozenset[Time]
    repairs: frozenset[Time]

    @property
    def begins(self) -> frozenset[Time]:
        """Times in the middle of the run from which on anything is not as it was."""
        return self.failures | self.slowdowns


def outages(config: Mapping[str, Any]) -> Outages:
    """Those of a resolved configuration."""
    found = [(*_times(fault), fault.get("slowdown") is not None) for fault in config.get("faults", [])]
    return Outages(
        frozenset(at for at, _, is_slower in found if at > 0 and not is_slower),
        frozenset(at for at, _, is_slower in found if at > 0 and is_slower),
        frozenset(until for _, until, _ in found if until is not None),
    )


def _times(fault: Mapping[str, Any]) -> tuple[Time, Time | None]:
    """When a fault begins, and when it ends if it does."""
    if (written := fault.get("time")) is None:
        return fault.get("at", 0), fault.get("until")
    until = written.get("until")
    return nanoseconds(written.get("at", "0 s")), None if until is None else nanoseconds(until)
