"""Where figures are drawn: on sheets of their own, or into axes that the user has."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, Literal, cast

import matplotlib as mpl
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.container import ErrorbarContainer
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from hopsim.errors import ConfigError
from hopsim.metrics.series import Series
from hopsim.plot import style, unsteady
from hopsim.plot.view import Shown, View, caption

LETTERS = 12
"""Letters of a title, a note or a legend per inch of width."""
SYMBOL = 8
"""Letters that the symbol of a label and the space around it take."""
LONGEST_OF_BAR = 44
"""Letters of a line of the name of a bar."""
LINE = 0.17
"""Height of a line of a legend or a name [inches]."""
COLUMNS = 4
"""Most columns of a legend above a panel."""
PER_PANEL = 8
"""Curves of a panel that can be told apart."""


class Canvas:
    """Makes the figures of one kind and their panels, and gives them titles, legends and notes.

    Attributes:
        panels: every panel that it handed out, in order.
        names: those that have names on an axis, and no numbers, and which axis it is.
        usual: the largest width and height that its figures have where no other are asked for [inches].
    """

    def __init__(
        self, view: View, axes: Sequence[Axes] | None = None, new: Callable[..., Figure] = Figure
    ) -> None:
        """`axes`: panels that the user has, taken in their order; `new` makes figures if there are none."""
        self.panels: list[Axes] = []
        self.names: dict[Axes, Literal["x", "y"]] = {}
        self.usual = (0.0, 0.0)
        self._view = view
        self._given = None if axes is None else list(axes)
        self._new = new
        self._lower: dict[Figure, Legend] = {}
        # Size of letters, as a part of the usual one, and whether the figure is narrower than that.
        self._scale, self._is_narrow = 1.0, False
        self._first: Axes

    @property
    def left(self) -> int:
        """Axes of the user that nothing was drawn into."""
        return len(self._given or ())

    def grid(
        self, rows: int, columns: int, size: tuple[float, float], count: int | None = None, **layout: Any
    ) -> tuple[Figure, list[Axes]]:
        """A figure of this size [inches], unless another is asked for, with `count` panels row by row."""
        return self._grid((rows, columns), size, count or rows * columns, layout)

    def grid_of(self, count: int, *, width: float = 5.2, height: float = 3.6) -> tuple[Figure, list[Axes]]:
        """A figure with `count` panels, at most three in a row, that share their axes' ranges."""
        columns = 2 if count == 4 else min(count, 3)
        rows = -(-count // columns)
        shared = {"sharex": True, "sharey": True}
        return self._grid((rows, columns), (width * columns, height * rows), count, shared)

    def portioned(
        self, curves: Sequence[Series], *, width: float = 5.2
    ) -> tuple[Figure, list[Axes], list[Sequence[Series]]]:
        """A figure with a panel for every few curves, and the curves of each."""
        parts = self.portions(curves)
        figure, axes = self.grid_of(len(parts), width=width)
        return figure, axes, parts

    def stacked(
        self, count: int, curves: Sequence[Series], *, width: float = 6.4, height: float = 2.6
    ) -> tuple[Figure, list[list[Axes]], list[Sequence[Series]]]:
        """A figure with `count` panels above each other that share the horizontal axis, for every few curves.

        Returns the panels column by column, and the curves of each column.
        """
        parts = self.portions(curves)
        size = (width * len(parts), height * count)
        figure, axes = self.grid(count, len(parts), size, sharex=True, sharey="row")
        return figure, [axes[column :: len(parts)] for column in range(len(parts))], parts

    def rows(self, labels: Sequence[str]) -> tuple[Figure, Axes]:
        """A figure for named horizontal bars, the first at the top."""
        names = [textwrap.fill(label, LONGEST_OF_BAR) for label in labels]
        lines = max(name.count("\n") + 1 for name in names)
        figure, (axes,) = self.grid(1, 1, (7.5, 1.2 + len(names) * (0.2 + LINE * lines)))
        axes.grid(visible=False, axis="y")
        axes.set_yticks(range(len(names)), names)
        axes.set_ylim(len(names) - 0.4, -0.6)
        self.names[axes] = "y"
        return figure, axes

    def portions(self, curves: Sequence[Series]) -> list[Sequence[Series]]:
        """The curves of every panel, no more than it holds.

        A panel has the curves of one value of what the sweep varies, if that makes no more than twice as many
        panels as are needed; else the curves are divided in order, about as many each time.
        """
        if not self._view.in_parts or len(curves) <= PER_PANEL:
            return [curves]
        count = -(-len(curves) // PER_PANEL)
        divided = [part for part in _by_value(curves) if len(part) <= 2 * count]
        if divided:
            return min(divided, key=len)
        size = -(-len(curves) // count)
        return [curves[start : start + size] for start in range(0, len(curves), size)]

    def finish(self, figure: Figure, tops: Sequence[Axes], shown: Shown) -> None:
        """Title, legends above the panels `tops` where they hide nothing, and a note of what is not shown."""
        if not self._view.notes and self._given is not None:
            shown = replace(shown, omitted="")
        elif not shown.has_marks:
            shown = replace(shown, omitted=caption(shown.omitted, unsteady.told(shown.curves)))
        extra = _interval(figure.axes if self._given is None else tops, shown)
        if self._given is not None:
            self._finish_given(tops, shown, extra)
            return
        letters = self._letters(figure)
        lines: dict[int, int] = {}
        for number, axes in enumerate(tops):
            spec = axes.get_subplotspec()
            row, beside = (spec.rowspan.start, spec.get_gridspec().ncols) if spec else (0, 1)
            found = _legend(axes, letters // beside, extra if number == 0 else [])
            lines[row] = max(lines.get(row, 0), found)
        if self._view.size is None:
            more = sum(max(0, count - 2) for count in lines.values())
            figure.set_figheight(figure.get_figheight() + LINE * more)
        for axes in tops:
            self._break_label(axes, figure.get_figheight())
        if self._view.size is not None:
            for axes in figure.axes:
                axes.tick_params(which="both", labelsize=mpl.rcParams["font.size"])
        figure.suptitle(textwrap.fill(shown.title, letters), fontsize="medium")
        if shown.omitted:
            self._write_below(figure, shown.omitted)

    def _break_label(self, axes: Axes, height: float) -> None:
        """Break the label of a vertical axis that is longer than its row, in a figure so high [inches]."""
        spec = axes.get_subplotspec()
        letters = int(height / (spec.get_gridspec().nrows if spec else 1) * LETTERS / self._scale)
        label = axes.get_ylabel()
        if max(map(len, label.splitlines()), default=0) > letters:
            # Legend, title and the horizontal axis take a third of it.
            axes.set_ylabel(textwrap.fill(label, 2 * letters // 3))

    def note(self, axes: Axes, text: str) -> None:
        """Say of a finished figure what it does not show: at the bottom, or above one of the user's axes."""
        if self._given is None:
            figure = cast("Figure", axes.get_figure(root=True))
            self._write_below(figure, caption(" ".join(figure.get_supxlabel().split()), text))
        elif self._view.notes:
            axes.set_title("\n".join(filter(None, (axes.get_title(), text))), fontsize="small")

    def _finish_given(self, tops: Sequence[Axes], shown: Shown, extra: Sequence[Artist]) -> None:
        """The same in the user's axes: the legend inside, title and note as the title of the first panel."""
        for number, axes in enumerate(tops):
            handles: list[Artist] = [*axes.get_legend_handles_labels()[0], *(extra if number == 0 else [])]
            if handles:
                axes.legend(handles=handles, fontsize="small")
        text = "\n".join(filter(None, (shown.title, shown.omitted, self._first.get_title())))
        self._first.set_title(text, fontsize="small")

    def legend(
        self,
        figure: Figure,
        handles: Sequence[Artist],
        labels: Sequence[str],
        where: Literal["lower center", "right upper"],
        columns: int = 1,
    ) -> None:
        """One legend for all panels: outside them, of narrow ones below; in the last of the user's axes."""
        if self._is_narrow:
            where, columns = "lower center", 4
        room = self._letters(figure) // (max(map(len, labels), default=0) + SYMBOL)
        looks: dict[str, Any] = {"fontsize": "small", "ncols": max(1, min(columns, room))}
        if self._given is not None:
            self.panels[-1].legend(handles, labels, **looks)
        else:
            looks |= {"loc": f"outside {where}", "frameon": False}
            legend = figure.legend(handles, labels, **looks)
            if looks["loc"] == "outside lower center":
                self._lower[figure] = legend

    def _set_letters(self, usual: tuple[float, float]) -> None:
        """Letters and lines of what is drawn from now on: smaller in a figure that is smaller than usual."""
        ratios = [side / of for side, of in zip(self._view.size or usual, usual, strict=True)]
        self._scale = min(1.0, max(min(ratios), style.SMALLEST / style.SIZES["font.size"]))
        self._is_narrow = ratios[0] < self._scale
        if self._view.size is not None:
            mpl.rcParams.update({name: self._scale * usual for name, usual in style.SIZES.items()})

    def _letters(self, figure: Figure) -> int:
        """How many letters a line of a figure has."""
        return int(figure.get_figwidth() * LETTERS / self._scale)

    def _write_below(self, figure: Figure, text: str) -> None:
        """A note at the bottom; a legend that stands there moves up, with everything else."""
        note = textwrap.fill(text, self._letters(figure))
        written = figure.supxlabel(note, fontsize="small", x=0.01, ha="left")
        if not self._view.notes:
            # The command line tells it all the same.
            written.set(visible=False, in_layout=False)
            return
        legend = self._lower.get(figure)
        if legend is not None:
            height = LINE * self._scale * (note.count("\n") + 1.5)
            legend.borderaxespad = 72 * height / float(legend.get_texts()[0].get_fontsize())
            share = height / figure.get_figheight()
            cast("ConstrainedLayoutEngine", figure.get_layout_engine()).set(rect=(0, share, 1, 1 - share))

    def _grid(
        self, shape: tuple[int, int], size: tuple[float, float], count: int, layout: dict[str, Any]
    ) -> tuple[Figure, list[Axes]]:
        if self._given is None:
            self._set_letters(size)
            self.usual = (max(self.usual[0], size[0]), max(self.usual[1], size[1]))
            with mpl.rc_context(style.RC):
                figure = self._new(figsize=self._view.size or size, layout="constrained")
                made = list(figure.subplots(*shape, squeeze=False, **layout).flat)
            for spare in made[count:]:
                spare.remove()
        else:
            made, self._given = self._given[:count], self._given[count:]
            if len(made) < count:
                missing = len(self.panels) + count
                raise ConfigError(f"ax: {len(self.panels) + len(made)} axes given; must be {missing} or more")
            figure = cast("Figure", made[0].get_figure(root=True))
        self.panels += made[:count]
        self._first = made[0]
        return figure, made[:count]


def _interval(panels: Sequence[Axes], shown: Shown) -> list[Artist]:
    """The entry of the legend that says what bands and error bars are, if there are any."""
    text = shown.interval
    if any(artist.get_label() == style.BAND for axes in panels for artist in axes.collections):
        return [Patch(facecolor="0.6", alpha=0.4, label=text)]
    if any(isinstance(each, ErrorbarContainer) for axes in panels for each in axes.containers):
        return [Line2D([], [], color="black", linewidth=style.ERROR["elinewidth"], label=text)]
    return []


def _by_value(curves: Sequence[Series]) -> Iterator[list[Sequence[Series]]]:
    """For each axis of the sweep the curves of every value, where that leaves a few for every panel."""
    for path in curves[0].groups[0].labels:
        found: dict[str, list[Series]] = {}
        for series in curves:
            found.setdefault(series.groups[0].labels.get(path, ""), []).append(series)
        sizes = {len(members) for members in found.values()}
        if len(sizes) == 1 and 1 < max(sizes) <= PER_PANEL:
            yield list(found.values())


def _legend(axes: Axes, width: int, extra: Sequence[Artist]) -> int:
    """A legend of this many letters above a panel with several curves; returns how many lines it has."""
    curves, _ = axes.get_legend_handles_labels()
    # Long texts stand together, in a column that is wide anyway.
    handles = [*sorted(curves, key=lambda curve: curve.get_label() == style.DIAGONAL), *extra]
    if not handles:
        return 0
    labels = [str(handle.get_label()) for handle in handles]
    wrapped = [textwrap.fill(label, width - SYMBOL) for label in labels]
    columns = max((count for count in range(1, COLUMNS + 1) if _is_room(wrapped, count, width)), default=1)
    axes.legend(
        handles,
        wrapped,
        loc="lower left",
        bbox_to_anchor=(0, 1.02),
        ncols=columns,
        fontsize="small",
        frameon=False,
    )
    return max(sum(label.count("\n") + 1 for label in column) for column in _columns(wrapped, columns))


def _columns(labels: Sequence[str], count: int) -> list[Sequence[str]]:
    """The labels of each column of a legend: the first ones have one more where they are not equal."""
    size, longer = divmod(len(labels), count)
    ends = [number * size + min(number, longer) for number in range(count + 1)]
    return [labels[start:end] for start, end in pairwise(ends)]


def _is_room(labels: Sequence[str], count: int, width: int) -> bool:
    """Whether so many columns, each as wide as its longest label, are no wider than this many letters."""
    if count > len(labels):
        return False
    return sum(max(map(len, column)) + SYMBOL for column in _columns(labels, count)) <= width
