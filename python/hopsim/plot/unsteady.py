"""Hollow markers for points whose means a longer run would not have."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes

from hopsim.plot import style
from hopsim.series import Group, Series
from hopsim.verdict import NOT_CONVERGED, SATURATED, worst

NOTE = "hollow: saturated or not converged"


def is_hollow(group: Group) -> bool:
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
            if is_hollow(group) and None not in (place, value.mean)
        ]
        if points:
            x, means = zip(*points, strict=True)
            color, marker = style.look(index)["color"], style.look(index)["marker"]
            axes.plot(x, means, marker, color=color, markerfacecolor="white")
            note = NOTE
    return note
