"""What the curves of a figure are: panels, lines, simulated points, and the quantities along them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hopsim_reproduce.model import LOAD, AxisValue, Document, Measured, Results, at

if TYPE_CHECKING:
    from hopsim.results.result import Result

Place = float | str
"""Where on the horizontal axis."""

ACCEPTED = "accepted_load"
LATENCY = "packet_latency_mean"
RATIO = "router_injection_max_min_ratio"
COV = "router_injection_cov"
LATENCY_MAX = "packet_latency_max"
BURST = "cycles_per_burst"
EXECUTION_TIME = "execution_time"
EXECUTION_SECONDS = "execution_time_s"
"""Not a key of the summary: execution time by the length of a cycle."""
LEAST, MEAN, MOST = "node_injection_min", "node_injection_mean", "node_injection_max"
FAIRNESS = "node_injection_min_over_mean"
"""Not a key of the summary: least over mean injection of the nodes."""
OF_SENDERS = "accepted_load_of_senders"
"""Not a key of the summary: accepted load per node that sends, where those of a hot region only receive."""
QUANTITIES: Mapping[str, str] = {
    LATENCY: "latency [cycles]",
    LATENCY_MAX: "greatest latency [cycles]",
    BURST: "time of a burst [cycles]",
    EXECUTION_TIME: "execution time [cycles]",
    EXECUTION_SECONDS: "execution time [s]",
    ACCEPTED: "accepted load [phits/(node·cycle)]",
    RATIO: "max/min injection of routers",
    COV: "CoV of the routers' injection",
    LEAST: "injected, least of the nodes\n[phits/(node·cycle)]",
    MEAN: "injected, mean of the nodes\n[phits/(node·cycle)]",
    MOST: "injected, most of the nodes\n[phits/(node·cycle)]",
    FAIRNESS: "min/mean injection of nodes",
    OF_SENDERS: "accepted load [phits/(source·cycle)]",
}
"""Key of the summary -> label of the vertical axis."""


def value_of(result: Result, key: str) -> float | None:
    """A key of the summary, or what follows from some of them."""
    if key == EXECUTION_SECONDS:
        return result.summary[EXECUTION_TIME] * seconds(result.config["units"]["cycle"])
    if key == FAIRNESS:
        mean = result.summary[MEAN]
        return result.summary[LEAST] / mean if mean else None
    if key == OF_SENDERS:
        region = result.config["jobs"][0]["traffic"]["pattern"]["hot_region"]
        return result.summary[ACCEPTED] / (1 - region["share"])
    return result.summary.get(key)


def seconds(text: str) -> float:
    """A time as documents write it, such as `1.6 ns`."""
    number, unit = text.split()
    return float(number) * {"ps": 1e-12, "ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}[unit]


@dataclass(frozen=True)
class Case:
    """One simulated point, but for its seed."""

    experiment: str
    """Name of the experiment; cases of the same name have the same document."""
    document: Document
    value: AxisValue | None
    """Of the axis, which mostly is the load; None if the experiment has no axis."""
    may_deadlock: bool = False
    axis: str = LOAD
    """Path of the key that takes the value: the same in all cases of an experiment."""


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

    def nearest(self, panel: str, line: str, key: str, place: Place) -> Measured | None:
        """A quantity at a place, the nearest one with a result if places are numbers."""
        values = self.line(panel, line, key)
        return values[nearest(list(values), place)] if values else None

    def missing(self, panel: str, line: str) -> list[Place]:
        """Places of a line that have no result at all: deadlocks."""
        cases = self.panels[panel].lines[line]
        return [place for place, case in cases.items() if not self._of(case)]

    def at(self, panel: str, line: str, place: Place) -> list[Result]:
        """The results at a place of a line, one per seed."""
        case = self.panels[panel].lines[line][place]
        return self._of(case)

    def _of(self, case: Case) -> list[Result]:
        return at(self._results[case.experiment], case.value, case.axis)

    def _measured(self, case: Case, key: str) -> Measured | None:
        return Measured.of_known([value_of(result, key) for result in self._of(case)])


def nearest(places: Sequence[Place], wanted: Place) -> Place:
    """The first of the nearest places; the place itself if it is no number."""
    if isinstance(wanted, str):
        return wanted
    return min(places, key=lambda place: abs(float(place) - wanted))


class NotSimulatedError(Exception):
    """A statement asks for a result, and there is none yet."""


class Reads(Points):
    """What statements read of the lines of a figure. Every value is 1."""

    def __init__(self, panels: Sequence[Panel]) -> None:
        super().__init__(panels, {})
        self._read: dict[tuple[str, str], set[Place]] = {}

    def line(self, panel: str, line: str, key: str) -> dict[Place, Measured]:
        """A line of which all is read."""
        return dict.fromkeys(self._all(panel, line), Measured.exactly(1.0))

    def nearest(self, panel: str, line: str, key: str, place: Place) -> Measured | None:
        """A line of which one place is read."""
        self._note(panel, line, nearest(list(self.panels[panel].lines[line]), place))
        return Measured.exactly(1.0)

    def missing(self, panel: str, line: str) -> list[Place]:
        """No place; all of the line is read."""
        self._all(panel, line)
        return []

    def at(self, panel: str, line: str, place: Place) -> list[Result]:
        """Raises `NotSimulatedError`; the place is read."""
        self._note(panel, line, place)
        raise NotSimulatedError

    def of(self, panel: Panel) -> dict[str, Line]:
        """The lines of a panel with the places that are read, without lines of which nothing is."""
        read = {name: self._read.get((panel.title, name), set()) for name in panel.lines}
        return {
            name: {place: case for place, case in line.items() if place in read[name]}
            for name, line in panel.lines.items()
            if read[name]
        }

    def _all(self, panel: str, line: str) -> Line:
        places = self.panels[panel].lines[line]
        self._note(panel, line, *places)
        return places

    def _note(self, panel: str, line: str, *places: Place) -> None:
        self._read.setdefault((panel, line), set()).update(places)
