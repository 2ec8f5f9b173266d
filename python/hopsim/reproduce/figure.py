"""Figures of curves: the one machine behind most entries.

A figure has panels, a panel has lines, a line has a simulation at each of its places: `Case`. Cases
of the same document are one experiment, whose loads are run together. What the publication says is
made of `Value`s, numbers read off the curves: `number` puts one beside a published number, `between`
and `ratio` check a statement.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hopsim.reproduce.model import (
    Comparison,
    Document,
    Entry,
    Experiment,
    Fact,
    Measured,
    Outcome,
    Results,
    Scale,
    at,
    quotient,
)
from hopsim.results import Result

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

Place = float | str
"""Where on the horizontal axis."""

ACCEPTED = "accepted_load"
LATENCY = "packet_latency_mean"
RATIO = "router_injection_max_min_ratio"
COV = "router_injection_cov"
LATENCY_MAX = "packet_latency_max"
BURST = "cycles_per_burst"
LEAST, MEAN, MOST = "node_injection_min", "node_injection_mean", "node_injection_max"
FAIRNESS = "node_injection_min_over_mean"
"""Not a key of the summary: least over mean injection of the nodes."""
QUANTITIES: Mapping[str, str] = {
    LATENCY: "latency [cycles]",
    LATENCY_MAX: "greatest latency [cycles]",
    BURST: "time of a burst [cycles]",
    ACCEPTED: "accepted load [phits/(node·cycle)]",
    RATIO: "max/min injection of routers",
    COV: "CoV of the routers' injection",
    LEAST: "injected, least of the nodes\n[phits/(node·cycle)]",
    MEAN: "injected, mean of the nodes\n[phits/(node·cycle)]",
    MOST: "injected, most of the nodes\n[phits/(node·cycle)]",
    FAIRNESS: "min/mean injection of nodes",
}
"""Key of the summary -> label of the vertical axis."""


def value_of(result: Result, key: str) -> float | None:
    """A key of the summary or a quotient of two."""
    if key == FAIRNESS:
        mean = result.summary[MEAN]
        return result.summary[LEAST] / mean if mean else None
    return result.summary.get(key)


@dataclass(frozen=True)
class Case:
    """One simulated point, but for its seed."""

    experiment: str
    """Name of the experiment; cases of the same name have the same document."""
    document: Document
    load: float | None
    """None if its traffic has no load."""
    may_deadlock: bool = False


Line = Mapping[Place, Case]


@dataclass(frozen=True)
class Panel:
    """Lines over one axis."""

    title: str
    lines: Mapping[str, Line]
    x_label: str = "offered load [phits/(node·cycle)]"


class Points:
    """The results of a figure by panel, line and place."""

    def __init__(self, panels: Sequence[Panel], results: Results) -> None:
        self.panels = {panel.title: panel for panel in panels}
        self._results = results

    def line(self, panel: str, line: str, key: str) -> dict[Place, Measured]:
        """A quantity along a line; places without result are left out."""
        cases = self.panels[panel].lines[line]
        values = {place: self._measured(case, key) for place, case in cases.items()}
        return {place: value for place, value in values.items() if value is not None}

    def missing(self, panel: str, line: str) -> list[Place]:
        """Places of a line that have no result at all: deadlocks."""
        cases = self.panels[panel].lines[line]
        return [place for place, case in cases.items() if not at(self._results[case.experiment], case.load)]

    def at(self, panel: str, line: str, place: Place) -> list[Result]:
        """The results at a place of a line, one per seed."""
        case = self.panels[panel].lines[line][place]
        return at(self._results[case.experiment], case.load)

    def _measured(self, case: Case, key: str) -> Measured | None:
        results = at(self._results[case.experiment], case.load)
        return Measured.of_known([value_of(result, key) for result in results])


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

    return Value(f"{line} at the last point", read)


def at_start(panel: str, line: str, key: str = ACCEPTED) -> Value:
    """A quantity at the first place of a line."""

    def read(points: Points) -> Measured | None:
        return next(iter(points.line(panel, line, key).values()), None)

    return Value(f"{line} at the first point", read)


def at_place(panel: str, line: str, place: Place, key: str = LATENCY) -> Value:
    """A quantity at a place, the nearest one if places are numbers."""

    def read(points: Points) -> Measured | None:
        values = points.line(panel, line, key)
        return values[_nearest(list(values), place)] if values else None

    where = f"{place:g}" if isinstance(place, float | int) else place
    return Value(f"{line} at {where}", read)


def _nearest(places: Sequence[Place], wanted: Place) -> Place:
    if isinstance(wanted, str):
        return wanted
    return min(places, key=lambda place: abs(float(place) - wanted))


def highest(panel: str, line: str, key: str, below: float) -> Value:
    """The largest value of a quantity at places up to `below`."""

    def read(points: Points) -> Measured | None:
        values = [value for place, value in points.line(panel, line, key).items() if float(place) <= below]
        return max(values, key=lambda value: value.mean, default=None)

    return Value(f"highest of {line} up to {below:g}", read)


Claim = Callable[[Points], Fact]
Number = Callable[[Points], Comparison]


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


def number(row: str, quantity: str, value: Value, published: float, decimals: int = 3) -> Number:
    """A published number beside ours."""
    return lambda points: Comparison(row, quantity, value.of(points), published, decimals)


def gain(row: str, quantity: str, pair: tuple[Value, Value], published: float) -> Number:
    """A published difference of the first value from the second [%] beside ours."""

    def compare(points: Points) -> Comparison:
        share = _quotient(*(value.of(points) for value in pair))
        ours = None if share is None else Measured.exactly(100 * (share - 1))
        return Comparison(row, f"{quantity} [%]", ours, published, 1)

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


@dataclass(frozen=True)
class Figure:
    """What a figure is made of."""

    name: str
    title: str
    source: str
    panels: Callable[[Scale], Sequence[Panel]]
    notes: Callable[[Scale], Sequence[str]]
    seeds: Mapping[Scale, int]
    claims: Sequence[Claim] = ()
    numbers: Sequence[Number] = ()
    quantities: Sequence[str] = (LATENCY, ACCEPTED)
    """Keys of the summary that are drawn, a row of panels each."""
    drawing: Callable[[Points, str], Drawing] | None = field(default=None)
    """Draws it another way."""

    def entry(self) -> Entry:
        """The figure as an entry of the registry."""
        return Entry(
            name=self.name,
            title=self.title,
            source=self.source,
            notes=self.notes,
            seeds=self.seeds,
            experiments=self._experiments,
            conclude=self._conclude,
            draw=self._draw,
        )

    def _experiments(self, scale: Scale, seeds: int) -> list[Experiment]:
        cases: dict[str, list[Case]] = {}
        for panel in self.panels(scale):
            for line in panel.lines.values():
                for case in line.values():
                    cases.setdefault(case.experiment, []).append(case)
        return [_experiment(members, seeds) for members in cases.values()]

    def _conclude(self, scale: Scale, results: Results) -> Outcome:
        points = Points(self.panels(scale), results)
        return Outcome([number(points) for number in self.numbers], [claim(points) for claim in self.claims])

    def _draw(self, scale: Scale, results: Results) -> Drawing:
        from hopsim.reproduce import drawing

        points = Points(self.panels(scale), results)
        if self.drawing is not None:
            return self.drawing(points, self.title)
        return drawing.curves(self.title, points, self.quantities)


def _experiment(cases: Sequence[Case], seeds: int) -> Experiment:
    loads = sorted({case.load for case in cases if case.load is not None})
    first = cases[0]
    return Experiment(first.experiment, first.document, loads, seeds, first.may_deadlock)
