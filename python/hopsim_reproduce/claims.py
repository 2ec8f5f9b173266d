"""What a publication says of curves.

It is made of `Value`s, numbers read off the curves: `number` puts one beside a published number,
`between` and `ratio` check a statement.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from hopsim_reproduce.figure import Claim, Number
from hopsim_reproduce.model import AGREES, Comparison, Fact, Measured, quotient
from hopsim_reproduce.panels import ACCEPTED, LATENCY, Place, Points


@dataclass(frozen=True)
class Value:
    """A number read off the curves; None if they do not have it."""

    label: str
    of: Callable[[Points], Measured | None]


def peak(panel: str, line: str) -> Value:
    """The largest accepted load of a line."""

    def read(points: Points) -> Measured | None:
        values = points.line(panel, line, ACCEPTED).values()
        return max(values, key=lambda value: value.mean, default=None)

    return Value(f"peak of {line}", read)


def at_end(panel: str, line: str, key: str = ACCEPTED) -> Value:
    """A quantity at the last place of a line."""

    def read(points: Points) -> Measured | None:
        values = list(points.line(panel, line, key).values())
        return values[-1] if values else None

    return Value(_named(f"{line} at the last point", key), read)


def at_start(panel: str, line: str, key: str = ACCEPTED) -> Value:
    """A quantity at the first place of a line."""

    def read(points: Points) -> Measured | None:
        return next(iter(points.line(panel, line, key).values()), None)

    return Value(_named(f"{line} at the first point", key), read)


def at_place(panel: str, line: str, place: Place, key: str = LATENCY) -> Value:
    """A quantity at a place, the nearest one if places are numbers."""

    def read(points: Points) -> Measured | None:
        return points.nearest(panel, line, key, place)

    where = f"{place:g}" if isinstance(place, float | int) else place
    return Value(_named(f"{line} at {where}", key), read)


def highest(panel: str, line: str, key: str, below: float) -> Value:
    """The largest value of a quantity at places up to `below`."""

    def read(points: Points) -> Measured | None:
        place = _place_of_highest(points.line(panel, line, key), below)
        return None if place is None else points.line(panel, line, key)[place]

    return Value(_named(f"highest of {line} up to {below:g}", key), read)


def place_of_highest(panel: str, line: str, key: str, below: float) -> Value:
    """The place up to `below` at which a quantity is largest."""

    def read(points: Points) -> Measured | None:
        place = _place_of_highest(points.line(panel, line, key), below)
        return None if place is None else Measured.exactly(float(place))

    return Value(_named(f"place of the highest of {line} up to {below:g}", key), read)


def _named(label: str, key: str) -> str:
    """With the quantity, unless it is one that the figure draws anyway."""
    return label if key in (ACCEPTED, LATENCY) else f"{label} ({key})"


def _place_of_highest(values: Mapping[Place, Measured], below: float) -> Place | None:
    places = [place for place in values if float(place) <= below]
    return max(places, key=lambda place: values[place].mean, default=None)


def between(statement: str, value: Value, low: float | None = None, high: float | None = None) -> Claim:
    """The statement holds if the value is in these limits."""

    def check(points: Points) -> Fact:
        found = value.of(points)
        number = None if found is None else found.mean
        return Fact(statement, _limits(value.label, low, high), _text(number), _within(number, low, high))

    return check


def ratio(
    statement: str, over: Value, under: Value, low: float | None = None, high: float | None = None
) -> Claim:
    """The statement holds if the ratio of two values is in these limits."""

    def check(points: Points) -> Fact:
        parts = over.of(points), under.of(points)
        share = _quotient(*parts)
        found = _text(share)
        if all(parts):
            found += " = " + " / ".join(_text(part.mean) for part in parts if part)
        criterion = _limits(f"{over.label} / {under.label}", low, high)
        return Fact(statement, criterion, found, _within(share, low, high))

    return check


def peaks(
    statement: str, panel: str, pair: tuple[str, str], low: float | None = None, high: float | None = None
) -> Claim:
    """The statement holds if the first line's throughput over the second's is in these limits."""
    over, under = pair
    return ratio(statement, peak(panel, over), peak(panel, under), low, high)


def latencies(
    statement: str,
    where: tuple[str, float],
    pair: tuple[str, str],
    low: float | None = None,
    high: float | None = None,
) -> Claim:
    """The same of latencies; `where` names panel and load."""
    panel, load = where
    over, under = (at_place(panel, line, load) for line in pair)
    return ratio(statement, over, under, low, high)


def deadlocks(statement: str, panel: str, line: str) -> Claim:
    """The statement holds if the line lacks points because its runs ended in a deadlock."""

    def check(points: Points) -> Fact:
        missing = points.missing(panel, line)
        found = ", ".join(f"{place:g}" for place in missing if not isinstance(place, str))
        return Fact(
            statement,
            f"{line}: a deadlock is reported",
            f"at load {found}" if found else "no deadlock",
            bool(missing),
        )

    return check


def number(
    row: str,
    quantity: str,
    value: Value,
    published: float,
    decimals: int = 3,
    *,
    allowed: float | None = None,
) -> Number:
    """A published number beside ours; `allowed` is the largest difference that agrees."""
    most = _allowed(published) if allowed is None else allowed
    return lambda points: Comparison(row, quantity, value.of(points), published, decimals, allowed=most)


def _allowed(published: float) -> float:
    return AGREES * abs(published)


def gain(row: str, quantity: str, pair: tuple[Value, Value], published: float) -> Number:
    """A published difference of the first value from the second [%] beside ours."""

    def compare(points: Points) -> Comparison:
        share = _quotient(*(value.of(points) for value in pair))
        ours = None if share is None else Measured.exactly(100 * (share - 1))
        return Comparison(row, f"{quantity} [%]", ours, published, 1, allowed=_allowed(published))

    return compare


def _quotient(over: Measured | None, under: Measured | None) -> float | None:
    found = quotient(over, under)
    return None if found is None else found.mean


def _within(number: float | None, low: float | None, high: float | None) -> bool:
    if number is None:
        return False
    return (low is None or number >= low) and (high is None or number <= high)


def _limits(label: str, low: float | None, high: float | None) -> str:
    if low is None:
        return f"{label} at most {high:g}"
    return f"{label} at least {low:g}" if high is None else f"{label} from {low:g} to {high:g}"


def _text(number: float | None) -> str:
    return "does not exist" if number is None else f"{number:.4g}"
