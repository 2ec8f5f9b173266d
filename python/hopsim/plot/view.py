"""What a figure shows: which curves it has, and at which load."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from hopsim.results import Results
from hopsim.series import Series, curve_axes, curves

MAX_LINES = 8
"""Curves that can be told apart where each shows one load."""


@dataclass(frozen=True)
class View:
    """What to show.

    Attributes:
        by: sweep axes that make the curves; all but load and seed when None. Axes left out make
            separate figures.
        load: offered load of figures that show one load (the nearest is taken); the highest when None.
        group: group whose routers are shown.
    """

    by: tuple[str, ...] | None = None
    load: float | None = None
    group: int = 0


def figures(results: Results, view: View) -> Iterator[tuple[str, str, list[Series]]]:
    """File suffix, title and curves of each figure: one per combination of the axes not in `view.by`."""
    everything = curves(results)
    if view.by is None:
        yield "", "", everything
        return
    rest = [path for path in curve_axes(results) if path not in view.by]
    for index, part in enumerate(curves(results, rest)):
        chosen = Results(dict(enumerate(result for group in part.groups for result in group.results)))
        yield (f"-{index + 1}" if part.label else ""), part.label, curves(chosen, view.by)


def over_load(results: Results, view: View) -> Iterator[tuple[str, str, list[Series]]]:
    """The figures whose curves have more than one load."""
    for suffix, title, group in figures(results, view):
        if max(len(series.groups) for series in group) > 1:
            yield suffix, title, group


def at_one_load(
    results: Results, view: View, is_shown: Callable[[Series], object]
) -> Iterator[tuple[str, str, list[Series]]]:
    """The figures in which each curve shows one load: with the curves that have something to show.

    The title names the load if it is the same for all.
    """
    for suffix, title, group in figures(results, view):
        points, offered = one_load_each(group, view.load)
        chosen = [series for series in points if is_shown(series)]
        if chosen:
            yield suffix, caption(title, offered), chosen


def at_load(series: Series, load: float | None) -> Series:
    """The one point of a curve nearest to `load`, or its highest load."""
    if load is None:
        return Series(series.label, series.groups[-1:])
    nearest = min(series.groups, key=lambda group: abs((group.estimate("offered_load").mean or 0.0) - load))
    return Series(series.label, [nearest])


def one_load_each(group: Sequence[Series], load: float | None) -> tuple[list[Series], str]:
    """Curves to draw when each shows one load, no more than can be told apart, and that load.

    A single curve is shown at all its loads. Loads that differ are in the labels, a common one is returned.
    """
    if len(group) == 1 and load is None:
        points = [Series("", [member]) for member in group[0].groups]
    else:
        points = [at_load(series, load) for series in group]
    shown = points[-MAX_LINES:]
    loads = [f"offered load {series.groups[0].estimate('offered_load').mean or 0.0:.3g}" for series in shown]
    if len(set(loads)) == 1:
        return shown, loads[0]
    labels = [caption(series.label, text) for series, text in zip(shown, loads, strict=True)]
    return [Series(label, series.groups) for label, series in zip(labels, shown, strict=True)], ""


def caption(*parts: str) -> str:
    """The title of a figure from the parts that say something."""
    return ", ".join(part for part in parts if part)
