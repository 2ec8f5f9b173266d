"""A metric of the summary: curves over the abscissa, or bars where it has names or curves have one point."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hopsim.metrics.series import Series, by_job
from hopsim.plot import options, style, unsteady
from hopsim.plot.canvas import LETTERS, PER_PANEL, Canvas
from hopsim.plot.view import Shown, View, caption, over_abscissa
from hopsim.vocabulary.units import range_of_column, unit_of_column, with_unit, words

if TYPE_CHECKING:
    from hopsim.results.result import Results

TITLE = "a column of the summary (--y) against offered load, burst size or a sweep axis, or as bars"
NEEDS = "--y COLUMN"
TAKES = options.CURVES | {"y"}
BAR = 0.22
"""Least room of a bar [inches]."""
NAME_WIDTH = 16
"""Letters of a line of a name below bars."""


def draw(results: Results, view: View, canvas: Canvas) -> dict[str, Figure]:
    """One figure with all curves of the column `view.y`; none if there is no such wish."""
    if view.y is None:
        return {}
    label = with_unit(words(view.y), unit_of_column(view.y))
    return Metric(f"metric_{view.y}", view.y, label, nothing="no value").draw(results, view, canvas)


def wrapped(names: Sequence[str]) -> tuple[list[str], float]:
    """Names below bars in lines that break no word, and the width of a panel for them [inches]."""
    longest = max((len(word) for name in names for word in name.split()), default=0)
    letters = max(NAME_WIDTH, longest)
    return [textwrap.fill(name, letters) for name in names], len(names) * (letters + 2) / LETTERS


def _colours(curves: Sequence[Series]) -> list[str]:
    """Of bars: those that are alike in the first axis that tells curves apart have the same."""
    axes = [series.groups[0].axes for series in curves]
    for path in axes[0]:
        values = [json.dumps(each.get(path), sort_keys=True) for each in axes]
        kinds = list(dict.fromkeys(values))
        if 1 < len(kinds) <= len(style.PALETTE):
            return [style.PALETTE[kinds.index(value)] for value in values]
    return [style.PALETTE[0]] * len(curves)


@dataclass(frozen=True)
class Metric:
    """What to draw.

    Attributes:
        stem: first part of the file's name.
        key: key of the summary.
        label: name with unit, for an axis.
        adorn: puts limits, or what else belongs to the metric, into the panels of some curves, and returns
            what that leaves out.
        nothing: what it means that a curve has no value.
        large: whether its values are large numbers.
    """

    stem: str
    key: str
    label: str
    adorn: Callable[[Sequence[Axes], Sequence[Series]], str] = lambda _, __: ""
    nothing: str = style.NOTHING
    large: bool = False

    def draw(self, results: Results, view: View, canvas: Canvas) -> dict[str, Figure]:
        """A figure per combination of the axes that make no curves, jobs apart."""
        drawn: dict[str, Figure] = {}
        for shown in over_abscissa(by_job(results), view):
            if shown.has_one_place:
                figure = self._bars(shown, canvas)
            elif shown.curves[0].abscissa.names:
                figure = self._bars_by_name(shown, canvas)
            else:
                figure = self._curves(shown, canvas)
            drawn[f"{self.stem}{shown.suffix}"] = figure
        return drawn

    def _curves(self, shown: Shown, canvas: Canvas) -> Figure:
        figure, panels, portions = canvas.portioned(shown.curves)
        above = self.adorn(panels, shown.curves)
        notes: list[str] = []
        for axes, portion in zip(panels, portions, strict=True):
            for index, series in enumerate(portion):
                style.curve(axes, index, series, self.key, nothing=self.nothing)
            notes.append(unsteady.mark(axes, portion, self.key))
            axes.set_xlabel(portion[0].abscissa.label)
            axes.tick_params(labelbottom=True)
            axes.set_xlim(left=0)
        if not self._is_ever_negative(shown):
            panels[0].set_ylim(bottom=0)
        panels[0].set_ylabel(self.label)
        if self.large:
            style.short_numbers(panels[0].yaxis)
        omitted = caption(above, self._lacking(shown), *dict.fromkeys(notes))
        canvas.finish(figure, panels, replace(shown, omitted=omitted))
        return figure

    def _bars(self, shown: Shown, canvas: Canvas) -> Figure:
        """A bar per curve, each of which has one point."""
        figure, axes = canvas.rows([series.label for series in shown.curves])
        values = [series.groups[0].estimate(self.key) for series in shown.curves]
        bars = axes.barh(
            range(len(values)),
            [value.mean or 0.0 for value in values],
            xerr=style.half_widths(values, range_of_column(self.key)),
            color=_colours(shown.curves),
            error_kw=style.ERROR,
        )
        style.number_bars(axes, range(len(values)), values)
        note = unsteady.mark_bars(bars, [series.groups[0] for series in shown.curves])
        for place, value in enumerate(values):
            if value.mean is None:
                axes.text(0, place, f" {self.nothing}", va="center", fontsize="small")
        if not self._is_ever_negative(shown):
            axes.set_xlim(left=0)
        axes.set_xlabel(self.label)
        if self.large:
            style.short_numbers(axes.xaxis)
        canvas.finish(figure, [axes], replace(shown, omitted=note))
        return figure

    def _bars_by_name(self, shown: Shown, canvas: Canvas) -> Figure:
        """For each name on the horizontal axis a bar per curve."""
        abscissa = shown.curves[0].abscissa
        names, room = wrapped(list(abscissa.names.values()))
        width = max(5.2, BAR * len(names) * min(len(shown.curves), PER_PANEL), room)
        figure, panels, portions = canvas.portioned(shown.curves, width=width)
        notes: list[str] = []
        for axes, portion in zip(panels, portions, strict=True):
            thick, offsets = style.side_by_side(len(portion))
            for index, (series, offset) in enumerate(zip(portion, offsets, strict=True)):
                values = series.values(self.key)
                places = [(place or 0.0) + offset for place in series.places()]
                bars = axes.bar(
                    places,
                    [value.mean or 0.0 for value in values],
                    thick,
                    yerr=style.half_widths(values, range_of_column(self.key)),
                    error_kw=style.ERROR,
                    color=style.look(index)["color"],
                    label=series.label or None,
                )
                style.number_bars(axes, places, values, upright=True)
                notes.append(unsteady.mark_bars(bars, series.groups))
            axes.set_xticks(range(len(names)), names)
            axes.set_xlabel(abscissa.label)
            axes.tick_params(labelbottom=True)
            axes.grid(visible=False, axis="x")
            canvas.names[axes] = "x"
        if not self._is_ever_negative(shown):
            panels[0].set_ylim(bottom=0)
        panels[0].set_ylabel(self.label)
        if self.large:
            style.short_numbers(panels[0].yaxis)
        omitted = caption(self._lacking(shown), *dict.fromkeys(notes))
        canvas.finish(figure, panels, replace(shown, omitted=omitted))
        return figure

    def _lacking(self, shown: Shown) -> str:
        """How many points are not shown for want of a value; of curves without any the legend says it."""
        curves = [series.values(self.key) for series in shown.curves]
        lacking = [sum(value.mean is None for value in values) for values in curves]
        count = sum(
            number
            for number, values in zip(lacking, curves, strict=True)
            if number < len(values) or shown.curves[0].abscissa.names
        )
        return f"not shown ({self.nothing}): {style.number_of(count, 'point')}" if count else ""

    def _is_ever_negative(self, shown: Shown) -> bool:
        return any((value.mean or 0.0) < 0 for series in shown.curves for value in series.values(self.key))
