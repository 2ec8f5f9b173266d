"""Labels of figures of a size that was asked for: lines are broken, and what does not fit is refused."""

from __future__ import annotations

import math
import textwrap
import warnings
from collections.abc import Callable, Iterator, Mapping
from itertools import combinations

from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from hopsim.errors import ConfigError
from hopsim.plot.options import LARGEST
from hopsim.plot.style import NUMBER

ROUNDS = 3
"""Times that lines are broken: broken lines take room, which makes others too long."""
LEAST = 0.25
"""Least width and height of a panel [inches]."""
TOUCH = 0.2
"""Part of the height of a line by which boxes of texts may overlap: letters do not fill theirs."""


Size = tuple[float, float]
"""Width and height [inches]."""
SHARES = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.2, 1.5, 2.0)
"""Of the usual size, by which one is found that fits."""


def check(
    figures: Mapping[str, Figure],
    asked: Size,
    usual: Size,
    redraw: Callable[[Size], Mapping[str, Figure]],
) -> None:
    """Break lines of labels where they are too long. Raises `ConfigError` if something has no room then.

    The message has a size that fits: sides that are too short get longer until everything that `redraw`
    draws has room, towards the `usual` size.
    """
    stem = _too_large(figures)
    if not stem:
        return
    larger = ((_longer(asked[0], usual[0] * share), _longer(asked[1], usual[1] * share)) for share in SHARES)
    found = next(
        (size for size in dict.fromkeys(larger) if size != asked and not _too_large(redraw(size))), None
    )
    valid = "no --size" if found is None else f"for example {found[0]:g}x{found[1]:g}, or no --size"
    raise ConfigError(
        f"--size {asked[0]:g}x{asked[1]:g}: too small for {stem} and its labels; valid: {valid}"
    )


def _longer(asked: float, least: float) -> float:
    """A side of at least both lengths, in tenths of an inch."""
    return asked if asked >= least else min(math.ceil(10 * least) / 10, LARGEST)


def _too_large(figures: Mapping[str, Figure]) -> str:
    """The first figure that has no room for all that it shows; empty if all have."""
    return next((stem for stem, figure in figures.items() if not _fits_somehow(figure)), "")


def _fits_somehow(figure: Figure) -> bool:
    """Whether everything has room, if need be without the numbers of bars."""
    if _fits(figure):
        return True
    numbers = [text for text in figure.findobj(Text) if text.get_gid() == NUMBER]
    for text in numbers:
        text.set_visible(False)
    return bool(numbers) and _fits(figure)


def _fits(figure: Figure) -> bool:
    for _ in range(ROUNDS):
        if not _is_laid_out(figure):
            return False
        for axes in figure.axes:
            _break_lines(axes)
    if not _is_laid_out(figure):
        return False
    whole = figure.bbox
    boxes = [_box(text) for text in _texts(figure)]
    return (
        all(whole.x0 <= box.x0 and box.x1 <= whole.x1 for box in boxes)
        and all(whole.y0 <= box.y0 and box.y1 <= whole.y1 for box in boxes)
        and not any(one.overlaps(other) for one, other in combinations(boxes, 2))
    )


def _is_laid_out(figure: Figure) -> bool:
    """Put everything in its place if the panels have room; drawing a figure without any fails."""
    engine = figure.get_layout_engine()
    assert engine is not None
    with warnings.catch_warnings():
        warnings.filterwarnings("error", "constrained_layout not applied")
        try:
            engine.execute(figure)
        except UserWarning:
            return False
    panels = [axes.get_window_extent() for axes in figure.axes if axes.get_subplotspec()]
    if any(min(panel.width, panel.height) < LEAST * figure.dpi for panel in panels):
        return False
    figure.draw_without_rendering()
    return True


def _break_lines(axes: Axes) -> None:
    panel = axes.get_window_extent()
    rooms = ((axes.title, panel.width), (axes.xaxis.label, panel.width), (axes.yaxis.label, panel.height))
    for text, room in rooms:
        extent = text.get_window_extent()
        length = extent.height if text is axes.yaxis.label else extent.width
        if length > room > 0:
            longest = max(map(len, text.get_text().split("\n")))
            text.set_text(_broken(text.get_text(), max(1, int(longest * room / length))))


def _broken(text: str, letters: int) -> str:
    """A text in lines of about so many letters, its unit on lines of its own."""
    parts = " ".join(text.split()).replace(" [", "\n[").split("\n")
    lines = [textwrap.fill(part, letters, break_long_words=False, break_on_hyphens=False) for part in parts]
    return "\n".join(lines)


def _box(text: Text) -> Bbox:
    """What a text covers, a little less than the box of its letters."""
    box = text.get_window_extent()
    shrink = TOUCH * min(box.width, box.height) / 2
    return Bbox.from_extents(box.x0 + shrink, box.y0 + shrink, box.x1 - shrink, box.y1 - shrink)


def _texts(figure: Figure) -> Iterator[Text]:
    """All that is written in a figure."""
    ticks = {
        label
        for axes in figure.axes
        for axis in (axes.xaxis, axes.yaxis)
        for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks())
        for label in (tick.label1, tick.label2)
    }
    seen = {label for axes in figure.axes for axis in (axes.xaxis, axes.yaxis) for label in _seen(axis)}
    for text in figure.findobj(Text):
        if text.get_visible() and text.get_text().strip() and (text in seen or text not in ticks):
            yield text


def _seen(axis: Axis) -> Iterator[Text]:
    """The labels of the ticks that are within the limits."""
    low, high = sorted(axis.get_view_interval())
    for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks()):
        if low <= tick.get_loc() <= high:
            yield tick.label1
