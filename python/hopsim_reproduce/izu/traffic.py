"""Traffic patterns of the paper (table 1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

UNIFORM = "uniform"
HOT_REGION = "hot-region"
SHUFFLE = "perfect shuffle"
BIT_REVERSAL = "bit reversal"
TRANSPOSE = "transpose"
PERMUTATIONS = (SHUFFLE, BIT_REVERSAL, TRANSPOSE)

PATTERNS: Mapping[str, Any] = {
    UNIFORM: "uniform",
    HOT_REGION: {"hot_region": {"fraction": 0.25, "share": 0.125}},
    SHUFFLE: {"permutation": "shuffle"},
    BIT_REVERSAL: {"permutation": "bit_reversal"},
    TRANSPOSE: {"permutation": "transpose"},
}
"""Name -> the section `pattern`."""


def hot_spot(percent: float) -> Any:
    """So many packets to node 0, the rest uniform (§5.4)."""
    return {"hotspot": {"node": 0, "fraction": percent / 100}} if percent else "uniform"
