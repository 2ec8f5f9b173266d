"""Times as documents of fabrics write them."""

from __future__ import annotations

from fractions import Fraction

NANOSECONDS = {
    "ps": Fraction(1, 1000),
    "ns": Fraction(1),
    "us": Fraction(10**3),
    "ms": Fraction(10**6),
    "s": Fraction(10**9),
}
"""In a unit."""


def nanoseconds(text: str) -> Fraction:
    """A time as `50 us`, exactly."""
    number, unit = text.split()
    return Fraction(number) * NANOSECONDS[unit]
