"""Limits and scales of the axes of a figure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from hopsim.errors import ConfigError
from hopsim.plot.canvas import Canvas
from hopsim.plot.style import DIAGONAL, plain_numbers
from hopsim.plot.view import Limits, Scale, View

Side = Literal["x", "y"]
OTHER: dict[Side, Side] = {"x": "y", "y": "x"}


def apply(view: View, canvas: Canvas) -> None:
    """Give all panels the limits and scales that were asked for; where bars lie, values run to the right.

    Raises `ConfigError` for an axis of names, and for a logarithmic axis of values that are not positive.
    """
    asked: tuple[tuple[Side, Limits | None, Scale | None], ...] = (
        ("x", view.xlim, view.xscale),
        ("y", view.ylim, view.yscale),
    )
    for axes in canvas.panels:
        names = canvas.names.get(axes)
        for option, limits, scale in asked:
            side = option if names != "y" else OTHER[option]
            if (limits or scale) and side == names:
                given = f"--{option}lim" if limits else f"--{option}scale"
                raise ConfigError(f"{given}: names stand on this axis, and no numbers")
            if scale:
                _scale(axes, side, scale, option)
            if limits:
                (axes.set_xlim if side == "x" else axes.set_ylim)(*limits)
        if (view.xlim or view.ylim) and (missing := _outside(axes)):
            canvas.note(axes, f"outside the limits: {', '.join(missing)}")


def _scale(axes: Axes, side: Side, scale: Scale, option: str) -> None:
    lowest = min(_drawn(axes, side), default=1.0)
    if scale == "log" and lowest <= 0:
        raise ConfigError(
            f"--{option}scale log: the figure has the value {lowest:g}, and a logarithmic axis has "
            "positive numbers only; valid: linear, or results without it"
        )
    if side == "x":
        axes.set_xscale(scale)
    else:
        axes.set_yscale(scale)
    if scale == "log":
        plain_numbers(axes.xaxis if side == "x" else axes.yaxis)
        axes.autoscale(axis=side)


def _outside(axes: Axes) -> list[str]:
    """Names of the curves of which nothing is within the limits."""
    missing: list[str] = []
    # Markers alone belong to a curve.
    for line in (each for each in axes.lines if each.get_linestyle() != "None"):
        x, y = np.asarray(line.get_xdata(), dtype=float), np.asarray(line.get_ydata(), dtype=float)
        (left, right), (low, high) = axes.get_xlim(), axes.get_ylim()
        if x.size and not ((left <= x) & (x <= right) & (low <= y) & (y <= high)).any():
            label = str(line.get_label())
            missing.append("the only curve" if label.startswith("_") else label)
    return missing


def _drawn(axes: Axes, side: Side) -> Iterator[float]:
    """The values of curves and bars."""
    for line in axes.lines:
        if line.get_label() != DIAGONAL:
            values = np.asarray(line.get_xdata() if side == "x" else line.get_ydata(), dtype=float)
            yield from values[np.isfinite(values)].tolist()
    for bar in axes.patches:
        if isinstance(bar, Rectangle):
            yield bar.get_x() + bar.get_width() if side == "x" else bar.get_y() + bar.get_height()
