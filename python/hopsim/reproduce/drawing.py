"""The two kinds of figure that entries draw."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hopsim.reproduce.model import Comparison

LOAD_LABEL = "injected load [phits/(node·cycle)]"
SHIFT = 0.12
"""Distance of a value from the middle of its row."""
LOGARITHMIC = 30
"""Largest over smallest value from which an axis is logarithmic."""
FORMATS = ("png", "pdf")


def beside(title: str, panels: Sequence[tuple[str, Sequence[Comparison]]]) -> Figure:
    """Published and own values side by side, one panel per quantity."""
    figure = Figure(figsize=(11, 7.5), layout="constrained")
    figure.suptitle(title)
    grid = figure.subplots(2, (len(panels) + 1) // 2).flat
    for axes, (quantity, comparisons) in zip(grid, panels, strict=False):
        _pairs(axes, quantity, comparisons)
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2)
    return figure


def _pairs(axes: Axes, quantity: str, comparisons: Sequence[Comparison]) -> None:
    """Points, not bars: an axis that spans decades has no zero for a bar to start from."""
    places = range(len(comparisons))
    published = [item.published for item in comparisons]
    ours = [item.ours.mean if item.ours else math.nan for item in comparisons]
    errors = [item.ours.std if item.ours else math.nan for item in comparisons]
    axes.plot([place - SHIFT for place in places], published, "s", color="0.4", label="published")
    axes.errorbar(
        [place + SHIFT for place in places],
        ours,
        errors,
        fmt="o",
        capsize=3,
        color="tab:blue",
        label="hopsim, mean ± spread of seeds",
    )
    axes.set_title(quantity)
    if "load" in quantity:
        axes.set_ylabel("phits/(node·cycle)")
    axes.set_xticks(places, [item.row for item in comparisons], rotation=30, ha="right")
    axes.grid(axis="y", alpha=0.3)
    positive = [value for value in published + ours if value > 0]
    if positive and max(positive) > LOGARITHMIC * min(positive):
        axes.set_yscale("log")
    else:
        axes.set_ylim(bottom=0)


def per_router(title: str, profiles: Mapping[str, Sequence[float]]) -> Figure:
    """Injected load of each router of a group, and of first, middle and last routers."""
    figure = Figure(figsize=(11, 4.5), layout="constrained")
    figure.suptitle(title)
    every, sets = figure.subplots(1, 2, width_ratios=(3, 1), sharey=True)
    last = max(len(loads) for loads in profiles.values()) - 1
    _grouped(every, profiles, [f"R{router}" for router in range(last + 1)])
    _grouped(
        sets, {name: _sets(loads) for name, loads in profiles.items()}, ["R0", f"R1-{last - 1}", f"R{last}"]
    )
    every.set_ylabel(LOAD_LABEL)
    every.set_title("each router")
    sets.set_title("first, middle (mean), last")
    handles, labels = every.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(profiles))
    return figure


def _sets(loads: Sequence[float]) -> list[float]:
    middle = loads[1:-1]
    return [loads[0], sum(middle) / len(middle), loads[-1]]


def _grouped(axes: Axes, series: Mapping[str, Sequence[float]], labels: Sequence[str]) -> None:
    width = 0.8 / len(series)
    for number, (name, values) in enumerate(series.items()):
        offset = (number - (len(series) - 1) / 2) * width
        axes.bar([place + offset for place in range(len(values))], values, width, label=name)
    axes.set_xticks(range(len(labels)), labels)


def save(figure: Figure, directory: Path, stem: str) -> list[Path]:
    """Write the figure in every format and say where."""
    paths = [directory / f"{stem}.{suffix}" for suffix in FORMATS]
    for path in paths:
        figure.savefig(path, dpi=150)
    return paths
