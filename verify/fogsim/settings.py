"""FOGSim's keys as the mapping reads them: text values, and the defaults of what may be missing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Settings = Mapping[str, str]
"""FOGSim's key -> value, for everything that is not a default."""

Document = dict[str, Any]


def integer(settings: Settings, key: str, default: int) -> int:
    """A whole number."""
    return int(settings.get(key, default))


def decimal(settings: Settings, key: str, default: float) -> float:
    """A number."""
    return float(settings.get(key, default))


def percent(settings: Settings, key: str, default: float) -> float:
    """A number that FOGSim takes in percent and hopsim as a factor."""
    return decimal(settings, key, default) / 100
