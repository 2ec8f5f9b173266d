"""Points whose means a longer run would not have: hollow markers and bars, or a note."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.container import BarContainer

from hopsim.metrics.series import Group, Series
from hopsim.metrics.verdict import NOT_CONVERGED, SATURATED, worst
from hopsim.plot import style

WHAT = "saturated or not converged"
NOTE = f"hollow: {WHAT}"


def is_unsteady(group: Group) -> bool:
    """Whether a longer run would have another mean."""
    return worst(group) in (SATURATED, NOT_CONVERGED)


def mark(axes: Axes, curves: Sequence[Series], key: str) -> str:
    """Make the markers of saturated and not converged points hollow; returns a note if there are any."""
    note = ""
    for index, series in enumerate(curves):
        estimates = zip(series.groups, series.places(), series.values(key), strict=True)
        points = [
            (place, value.mean)
            for group, place, value in estimates
            if is_unsteady(group) and None not in (place, value.mean)
        ]
        if points:
            x, means = zip(*points, strict=True)
            color, marker = style.look(index)["color"], style.look(index)["marker"]
            axes.plot(x, means, marker, color=color, markerfacecolor="white")
            note = NOTE
    return note


def mark_bars(bars: BarContainer, groups: Sequence[Group]) -> str:
    """The same with the bars of points."""
    hollow = [bar for bar, group in zip(bars.patches, groups, strict=True) if is_unsteady(group)]
    for bar in hollow:
        bar.set(edgecolor=bar.get_facecolor(), facecolor="white", linewidth=style.OUTLINE)
    return NOTE if hollow else ""


def told(curves: Sequence[Series]) -> str:
    """A note of such points, for figures whose looks do not show them; empty if there are none."""
    found = [(series, [group for group in series.groups if is_unsteady(group)]) for series in curves]
    if all(len(groups) == len(series.groups) for series, groups in found):
        several = sum(len(groups) for _, groups in found) > 1
        return f"{'all points shown are' if several else 'the point shown is'} {WHAT}"
    names = [_named(series, groups) for series, groups in found if groups]
    return f"{WHAT}: {'; '.join(names)}" if names else ""


def _named(series: Series, groups: Sequence[Group]) -> str:
    """A curve, and those of its points that are meant if it has several."""
    places = ", ".join(series.abscissa.value_text(group) for group in groups)
    parts = (series.label, f"at {places}" if len(series.groups) > 1 else "")
    return " ".join(part for part in parts if part)
