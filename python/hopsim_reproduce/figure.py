"""Figures of curves: the one machine behind most entries.

A figure has panels, a panel has lines, a line has a simulation at each of its places: `Case`. Cases
of the same document are one experiment, whose loads are run together. What the publication says of
the curves is made in `claims`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from hopsim_reproduce.model import (
    AxisValue,
    Comparison,
    Entry,
    Experiment,
    Fact,
    Outcome,
    Results,
    Scale,
)
from hopsim_reproduce.panels import ACCEPTED, LATENCY, Case, NotSimulatedError, Panel, Points, Reads

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

Claim = Callable[[Points], Fact]
"""Checks a statement of the publication."""
Number = Callable[[Points], Comparison]
"""Puts a published number beside ours."""


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
    drawing: Callable[[Points, str], Drawing] | None = None
    """Draws it another way."""
    trimmed: bool = False
    """Whether a quick run leaves out the places of lines that no statement reads."""

    def entry(self) -> Entry:
        """The figure as an entry of the registry."""
        return Entry(
            name=self.name,
            title=self.title,
            source=self.source,
            notes=self._notes,
            seeds=self.seeds,
            experiments=self._experiments,
            conclude=self._conclude,
            draw=self._draw,
        )

    def _notes(self, scale: Scale) -> Sequence[str]:
        notes = self.notes(scale)
        run, all_of_them = (sum(map(_size, each)) for each in (self._run(scale), self.panels(scale)))
        if run == all_of_them:
            return notes
        left_out = f"Only what statements read is run, {run} of {all_of_them} places: --scale full runs all."
        return [*notes, left_out]

    def _run(self, scale: Scale) -> Sequence[Panel]:
        """The panels with the places that are run."""
        panels = self.panels(scale)
        if scale == "full" or not self.trimmed:
            return panels
        reads = Reads(panels)
        for statement in (*self.numbers, *self.claims):
            with suppress(NotSimulatedError):
                statement(reads)
        return [panel for each in panels if (panel := replace(each, lines=reads.of(each))).lines]

    def _experiments(self, scale: Scale, seeds: int) -> list[Experiment]:
        cases: dict[str, list[Case]] = {}
        for panel in self._run(scale):
            for line in panel.lines.values():
                for case in line.values():
                    cases.setdefault(case.experiment, []).append(case)
        return [_experiment(members, seeds) for members in cases.values()]

    def _conclude(self, scale: Scale, results: Results) -> Outcome:
        points = Points(self._run(scale), results)
        return Outcome([number(points) for number in self.numbers], [claim(points) for claim in self.claims])

    def _draw(self, scale: Scale, results: Results) -> Drawing:
        from hopsim_reproduce import drawing

        points = Points(self._run(scale), results)
        if self.drawing is not None:
            return self.drawing(points, self.title)
        return drawing.curves(self.title, points, self.quantities)


def _size(panel: Panel) -> int:
    """Places of all lines."""
    return sum(map(len, panel.lines.values()))


def _experiment(cases: Sequence[Case], seeds: int) -> Experiment:
    values = {case.value for case in cases if case.value is not None}
    first = cases[0]
    return Experiment(
        first.experiment, first.document, _sorted(values), seeds, first.may_deadlock, first.axis
    )


def _sorted(values: Iterable[AxisValue]) -> list[AxisValue]:
    """Numbers in ascending order, then texts."""
    return sorted(values, key=lambda value: (isinstance(value, str), value))
