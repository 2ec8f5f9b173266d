"""Times and sizes as documents write them."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

NANOSECONDS: Mapping[str, Fraction] = {
    "ps": Fraction(1, 1000),
    "ns": Fraction(1),
    "us": Fraction(10**3),
    "ms": Fraction(10**6),
    "s": Fraction(10**9),
}
"""In a unit of time."""

BYTES: Mapping[str, Fraction] = {"B": Fraction(1), "kB": Fraction(1_000), "KiB": Fraction(1_024)}
"""In a unit of size."""


def nanoseconds(text: str) -> Fraction:
    """A time as `50 us`, exactly."""
    number, unit = text.split()
    return Fraction(number) * NANOSECONDS[unit]


def size(text: str) -> Fraction:
    """A size as `4 B`, exactly [bytes]."""
    number, unit = text.split()
    return Fraction(number) * BYTES[unit]
