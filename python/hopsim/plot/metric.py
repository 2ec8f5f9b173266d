"""A metric of the summary: curves over load, or bars where every curve has one point."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hopsim.plot import style, unsteady
from hopsim.plot.view import Shown, View, caption, over_abscissa
from hopsim.results import Results
from hopsim.series import Series, by_job


@dataclass(frozen=True)
class Metric:
    """What to draw.

    Attributes:
        stem: first part of the file's name.
        key: key of the summary.
        label: name with unit, for an axis.
        adorn: puts limits, or what else belongs to the metric, into the first panel of some curves.
        nothing: what it means that a curve has no value.
        large: whether its values are large numbers.
    """

    stem: str
    key: str
    label: str
    adorn: Callable[[Axes, list[Series]], None] = lambda _, __: None
    nothing: str = style.NOTHING
    large: bool = False

    def draw(self, results: Results, view: View) -> dict[str, Figure]:
        """A figure per combination of the axes that make no curves, jobs apart."""
        drawn: dict[str, Figure] = {}
        for shown in over_abscissa(by_job(results), view):
            figure = self._bars(shown) if shown.has_one_place else self._curves(shown)
            drawn[f"{self.stem}{shown.suffix}"] = figure
        return drawn

    def _curves(self, shown: Shown) -> Figure:
        figure, panels, portions = style.portioned(shown.curves)
        self.adorn(panels[0], shown.curves)
        notes = [shown.omitted]
        for axes, portion in zip(panels, portions, strict=True):
            for index, series in enumerate(portion):
                style.curve(axes, index, series, self.key, nothing=self.nothing)
            notes.append(unsteady.mark(axes, portion, self.key))
            axes.set_xlabel(portion[0].abscissa.label)
            axes.tick_params(labelbottom=True)
            axes.set_xlim(left=0)
            axes.set_ylim(bottom=0)
        panels[0].set_ylabel(self.label)
        if self.large:
            style.short_numbers(panels[0].yaxis)
        style.finish(figure, panels, shown.title, caption(*dict.fromkeys(notes)))
        return figure

    def _bars(self, shown: Shown) -> Figure:
        figure, axes = style.rows([series.label for series in shown.curves])
        values = [series.groups[0].estimate(self.key) for series in shown.curves]
        axes.barh(
            range(len(values)),
            [value.mean or 0.0 for value in values],
            xerr=[value.half_width or 0.0 for value in values],
            color=style.PALETTE[0],
            error_kw={"elinewidth": 0.8},
        )
        for place, value in enumerate(values):
            if value.mean is None:
                axes.text(0, place, f" {self.nothing}", va="center", fontsize="small")
        axes.set_xlabel(self.label)
        if self.large:
            style.short_numbers(axes.xaxis)
        style.finish(figure, [axes], shown.title, shown.omitted)
        return figure
