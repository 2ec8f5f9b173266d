"""What a figure shows: which curves it has, over what, and at which load."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from hopsim.errors import ConfigError
from hopsim.metrics.series import (
    JOB,
    Abscissa,
    Series,
    abscissa_of,
    along,
    curve_axes,
    curves,
    has_jobs,
    over_seeds,
)

if TYPE_CHECKING:
    from hopsim.results.result import Results

MAX_CURVES = 24
"""Curves of one file; more make further files."""
Limits = tuple[float | None, float | None]
"""Lower and upper end of an axis; None where the figure chooses."""
Scale = Literal["linear", "log"]

AS_SHOWN = 5e-3
"""Relative difference between a load and the same load with three digits."""


@dataclass(frozen=True)
class View:
    """What to show, and how.

    Attributes:
        by: sweep axes that make the curves; all but the abscissa and the seed when None. Axes left out make
            separate figures.
        load: offered load of figures that show one load, or whose curves run over something else: one of the
            results. When None, the highest, or all. Where the nodes send bursts, it is the size of bursts.
        group: group whose routers are shown, which must be in the results; group 0 when None.
        x: sweep axis, or column of numbers of the summary, that curves run over; the offered load, or what
            the sweep varies in its place, when None.
        y: column of numbers of the summary that the kind `metric` shows.
        xlim: ends of the horizontal axis; None where the figure chooses.
        ylim: ends of the axis of values, likewise.
        xscale: `linear` or `log`; as the kind has it when None.
        yscale: likewise of the axis of values.
        size: width and height of a figure [inches]; as the kind has it when None.
        dpi: dots per inch of images; 160 when None.
        notes: whether figures say below them what they leave out, and which of their points are hollow.
        in_parts: whether many curves make further panels and files.
    """

    by: tuple[str, ...] | None = None
    load: float | None = None
    group: int | None = None
    x: str | None = None
    y: str | None = None
    xlim: Limits | None = None
    ylim: Limits | None = None
    xscale: Scale | None = None
    yscale: Scale | None = None
    size: tuple[float, float] | None = None
    dpi: int | None = None
    notes: bool = True
    in_parts: bool = True

    def along(self, results: Results) -> Abscissa | None:
        """What curves run over if something was chosen for it."""
        return None if self.x is None else along(results, self.x)


@dataclass(frozen=True)
class Shown:
    """One figure.

    Attributes:
        suffix: end of the file's stem.
        title: what all its curves have in common.
        curves: what it draws.
        omitted: what it does not draw and why; empty when it draws everything.
        has_marks: whether its markers or bars show which points are not steady; else a note does.
    """

    suffix: str
    title: str
    curves: list[Series]
    omitted: str = ""
    has_marks: bool = True

    @property
    def interval(self) -> str:
        """What a confidence interval of its values is over."""
        counts = sorted({len(group.results) for series in self.curves for group in series.groups})
        if counts[-1:] in ([], [1]):
            return "95 % CI over the batches of the run"
        number = f"{counts[0]} to {counts[-1]}" if len(counts) > 1 else str(counts[0])
        return f"95 % CI over {number} seeds"

    @property
    def has_one_place(self) -> bool:
        """Whether every curve is a single point, so that there is nothing to run over."""
        return all(len(series.groups) == 1 for series in self.curves)

    def parts(self, most: int) -> Iterator[Shown]:
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
        part = results.only(points)
        if points:
            yield from _combinations(part, view, name if len(points) < len(results) else "")


def over_abscissa(results: Results, view: View) -> Iterator[Shown]:
    """The figures with curves over the abscissa; title or labels name its value where each has one point.

    Curves over something else than the load may be those of one load.
    """
    chosen, at = _at(results, view.load) if view.x and view.load is not None else (results, "")
    for shown in figures(chosen, view):
        points, place = name_places(shown.curves) if shown.has_one_place else (shown.curves, "")
        shown = replace(shown, title=caption(shown.title, at, place), curves=points)
        yield from _in_files(shown, view)


def at_one_load(
    results: Results,
    view: View,
    is_shown: Callable[[Series], object],
    record: str,
    *,
    per_file: int = MAX_CURVES,
) -> Iterator[Shown]:
    """The figures in which each curve shows one load: with the curves that have something to show.

    The title names the load if it is the same for all. `record` is what the curves left out lack.
    """
    everything = list(figures(results, replace(view, x=None)))
    _check_load(everything, view.load)
    for shown in everything:
        points, place, elsewhere = one_load_each(shown.curves, view.load)
        chosen = [series for series in points if is_shown(series)]
        lacking = [series.label for series in points if series not in chosen]
        omitted = caption(not_shown(lacking, f"no {record}"), not_shown(elsewhere, "no such load"))
        together = "all jobs" if has_jobs(results) and JOB not in results.axes else ""
        title = caption(shown.title, place, together)
        if chosen:
            found = Shown(shown.suffix, title, chosen, omitted, has_marks=False)
            yield from _in_files(found, view, per_file)


def _at(results: Results, load: float) -> tuple[Results, str]:
    """The points of one load, and its name."""
    usual = abscissa_of(results)
    groups = over_seeds(results)
    chosen = [group for group in groups if _same(usual.of(group), load)]
    if not chosen:
        raise ConfigError(_no_such_load(load, [usual.of(group) for group in groups]))
    points = [result for group in chosen for result in group.results]
    return results.only(points), usual.text(chosen[0])


def _in_files(shown: Shown, view: View, most: int = MAX_CURVES) -> Iterator[Shown]:
    """A figure in as many files as it takes with so many curves at most, or in one."""
    return shown.parts(most) if view.in_parts else iter([shown])


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
    abscissa = view.along(results)
    if view.by is None:
        yield Shown(name, "", curves(results, abscissa=abscissa))
        return
    rest = [path for path in curve_axes(results, abscissa) if path not in view.by]
    for index, part in enumerate(curves(results, rest, abscissa)):
        chosen = results.only(result for group in part.groups for result in group.results)
        shown = curves(chosen, view.by, abscissa)
        yield Shown(f"{name}-{index + 1}" if part.label else name, part.label, shown)


def _check_load(everything: Sequence[Shown], load: float | None) -> None:
    places = {place for shown in everything for series in shown.curves for place in series.places()}
    if load is not None and everything and not any(_same(place, load) for place in places):
        raise ConfigError(_no_such_load(load, list(places)))


def _no_such_load(load: float, places: Sequence[float | None]) -> str:
    known = sorted(place for place in places if place is not None)
    valid = ", ".join(dict.fromkeys(f"{place:.3g}" for place in known))
    return f"--load {load:g}: no point has this load; loads in the results: {valid or 'none'}"


def _same(place: float | None, load: float) -> bool:
    return place is not None and math.isclose(place, load, rel_tol=AS_SHOWN, abs_tol=1e-9)


def _is_burst(summary: object) -> bool:
    return isinstance(summary, dict) and "cycles_per_burst" in summary
