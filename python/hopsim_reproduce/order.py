"""Whether ours are in the order of the published values."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations


def swapped(published: Mapping[str, float], ours: Mapping[str, float], close: float) -> list[str]:
    """Pairs in the other order, as text; values that differ by `close`, relative to the larger, may swap."""
    return [
        f"{first} and {second}"
        for first, second in combinations(published, 2)
        if abs(published[first] - published[second])
        > close * max(abs(published[first]), abs(published[second]))
        and (published[first] - published[second]) * (ours[first] - ours[second]) <= 0
    ]
