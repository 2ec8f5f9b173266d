"""The two kinds of figure that entries draw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hopsim.reproduce.model import Comparison

LOAD_LABEL = "injected load [phits/(node·cycle)]"
LOGARITHMIC = 30
"""Largest over smallest value from which an axis is logarithmic."""
FORMATS = ("png", "pdf")


def beside(title: str, panels: Sequence[tuple[str, Sequence[Comparison]]]) -> Figure:
    """Bars of published and own values side by side, one panel per quantity."""
    figure = Figure(figsize=(11, 7.5), layout="constrained")
    figure.suptitle(title)
    for axes, (quantity, comparisons) in zip(
        figure.subplots(2, (len(panels) + 1) // 2).flat, panels, strict=False
    ):
        _bars(axes, quantity, comparisons)
    figure.axes[0].legend()
    return figure


def _bars(axes: Axes, quantity: str, comparisons: Sequence[Comparison]) -> None:
    places = range(len(comparisons))
    published = [item.published for item in comparisons]
    ours = [item.ours.mean if item.ours else 0.0 for item in comparisons]
    errors = [item.ours.std if item.ours else 0.0 for item in comparisons]
    axes.bar([place - 0.2 for place in places], published, 0.4, label="published", color="0.65")
    axes.bar(
        [place + 0.2 for place in places],
        ours,
        0.4,
        yerr=errors,
        capsize=2,
        label="hopsim (± spread of seeds)",
        color="tab:blue",
    )
    axes.set_title(quantity)
    if "load" in quantity:
        axes.set_ylabel("phits/(node·cycle)")
    axes.set_xticks(places, [item.row for item in comparisons], rotation=30, ha="right")
    positive = [value for value in published + ours if value > 0]
    if positive and max(positive) > LOGARITHMIC * min(positive):
        axes.set_yscale("log")


def per_router(title: str, profiles: Mapping[str, Sequence[float]]) -> Figure:
    """Injected load of each router of a group, and of first, middle and last routers."""
    figure = Figure(figsize=(11, 4.5), layout="constrained")
    figure.suptitle(title)
    every, sets = figure.subplots(1, 2, width_ratios=(3, 1), sharey=True)
    last = max(len(loads) for loads in profiles.values()) - 1
    _grouped(every, profiles, [f"R{router}" for router in range(last + 1)])
    _grouped(sets, {name: _sets(loads) for name, loads in profiles.items()},
             ["R0", f"R1-{last - 1}", f"R{last}"])
    every.set_ylabel(LOAD_LABEL)
    every.set_title("each router")
    sets.set_title("first, middle (mean), last")
    every.legend(ncols=len(profiles), loc="lower center")
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
