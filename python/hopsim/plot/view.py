"""What a figure shows: which curves it has, and at which load."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from hopsim.errors import ConfigError
from hopsim.results import Results
from hopsim.series import JOB, Series, curve_axes, curves, has_jobs

MAX_CURVES = 24
"""Curves of one file; more make further files."""
AS_SHOWN = 5e-3
"""Relative difference between a load and the same load with three digits."""


@dataclass(frozen=True)
class View:
    """What to show.

    Attributes:
        by: sweep axes that make the curves; all but load and seed when None. Axes left out make
            separate figures.
        load: offered load of figures that show one load, which must be in the results; the highest when None.
            Where the nodes send bursts, it is the size of the bursts.
        group: group whose routers are shown, which must be in the results; group 0 when None.
    """

    by: tuple[str, ...] | None = None
    load: float | None = None
    group: int | None = None


@dataclass(frozen=True)
class Shown:
    """One figure.

    Attributes:
        suffix: end of the file's stem.
        title: what all its curves have in common.
        curves: what it draws.
        omitted: what it does not draw and why; empty when it draws everything.
    """

    suffix: str
    title: str
    curves: list[Series]
    omitted: str = ""

    @property
    def has_one_place(self) -> bool:
        """Whether every curve is a single point, so that there is nothing to run over."""
        return all(len(series.groups) == 1 for series in self.curves)

    def parts(self, most: int = MAX_CURVES) -> Iterator[Shown]:
        """The same in as many files as it takes with so many curves at most."""
        count = -(-len(self.curves) // most)
        if count < 2:
            yield self
            return
        size = -(-len(self.curves) // count)
        for part in range(count):
            members = self.curves[part * size : (part + 1) * size]
            title = caption(self.title, f"part {part + 1} of {count}")
            yield replace(self, suffix=f"{self.suffix}-part{part + 1}", title=title, curves=members)


def figures(results: Results, view: View) -> Iterator[Shown]:
    """One per combination of the axes not in `view.by`; points with bursts have figures of their own."""
    loads = [point for point in results if not _is_burst(point.summary)]
    for name, points in (("", loads), ("-bursts", [point for point in results if _is_burst(point.summary)])):
        part = Results(dict(enumerate(points)))
        if points:
            yield from _combinations(part, view, name if len(points) < len(results) else "")


def over_abscissa(results: Results, view: View) -> Iterator[Shown]:
    """The figures with curves over load or burst size; title or labels name it where each has one point."""
    for shown in figures(results, view):
        if shown.has_one_place:
            points, place = name_places(shown.curves)
            shown = replace(shown, title=caption(shown.title, place), curves=points)
        yield from shown.parts()


def at_one_load(
    results: Results, view: View, is_shown: Callable[[Series], object], record: str
) -> Iterator[Shown]:
    """The figures in which each curve shows one load: with the curves that have something to show.

    The title names the load if it is the same for all. `record` is what the curves left out lack.
    """
    everything = list(figures(results, view))
    _check_load(everything, view.load)
    for shown in everything:
        points, place, elsewhere = one_load_each(shown.curves, view.load)
        chosen = [series for series in points if is_shown(series)]
        lacking = [series.label for series in points if series not in chosen]
        omitted = caption(not_shown(lacking, f"no {record}"), not_shown(elsewhere, "no such load"))
        together = "all jobs" if has_jobs(results) and JOB not in results.axes else ""
        title = caption(shown.title, place, together)
        if chosen:
            yield from Shown(shown.suffix, title, chosen, omitted).parts()


def one_load_each(group: Sequence[Series], load: float | None) -> tuple[list[Series], str, list[str]]:
    """Curves when each shows one load, that load if it is common to all, and the labels of curves without it.

    A single curve is shown at all its loads. Loads that differ are in the labels.
    """
    if len(group) == 1 and load is None:
        points = [replace(group[0], label="", groups=[member]) for member in group[0].groups]
        return *name_places(points), []
    found = [(series, at_load(series, load)) for series in group]
    named, place = name_places([point for _, point in found if point is not None])
    return named, place, [series.label for series, point in found if point is None]


def at_load(series: Series, load: float | None) -> Series | None:
    """The point of a curve at `load`, or its last one; None if it has none there."""
    if load is None:
        return replace(series, groups=series.groups[-1:])
    groups = [
        group for group, place in zip(series.groups, series.places(), strict=True) if _same(place, load)
    ]
    nearest = min(groups, key=lambda group: abs((series.abscissa.of(group) or 0.0) - load), default=None)
    return None if nearest is None else replace(series, groups=[nearest])


def name_places(points: Sequence[Series]) -> tuple[list[Series], str]:
    """Curves of one point each and where all of them stand; what differs goes into their labels."""
    texts = [series.abscissa.text(series.groups[0]) for series in points]
    if len(set(texts)) < 2:
        return list(points), texts[0] if texts else ""
    labels = [caption(series.label, text) for series, text in zip(points, texts, strict=True)]
    return [replace(series, label=label) for series, label in zip(points, labels, strict=True)], ""


def caption(*parts: str) -> str:
    """The title of a figure from the parts that say something."""
    return ", ".join(part for part in parts if part)


def not_shown(labels: Sequence[str], reason: str) -> str:
    """What a figure says of curves that it leaves out; nothing when it draws all."""
    names = "; ".join(label or "the only curve" for label in labels)
    return f"not shown ({reason}): {names}" if labels else ""


def _combinations(results: Results, view: View, name: str) -> Iterator[Shown]:
    if view.by is None:
        yield Shown(name, "", curves(results))
        return
    rest = [path for path in curve_axes(results) if path not in view.by]
    for index, part in enumerate(curves(results, rest)):
        chosen = Results(dict(enumerate(result for group in part.groups for result in group.results)))
        yield Shown(f"{name}-{index + 1}" if part.label else name, part.label, curves(chosen, view.by))


def _check_load(everything: Sequence[Shown], load: float | None) -> None:
    places = {place for shown in everything for series in shown.curves for place in series.places()}
    if load is not None and everything and not any(_same(place, load) for place in places):
        known = sorted(place for place in places if place is not None)
        valid = ", ".join(dict.fromkeys(f"{place:.3g}" for place in known))
        raise ConfigError(f"--load {load:g}: no point has this load; loads in the results: {valid or 'none'}")


def _same(place: float | None, load: float) -> bool:
    return place is not None and math.isclose(place, load, rel_tol=AS_SHOWN, abs_tol=1e-9)


def _is_burst(summary: object) -> bool:
    return isinstance(summary, dict) and "cycles_per_burst" in summary
