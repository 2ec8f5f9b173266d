"""The kinds of figure that entries draw."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from hopsim.files import atomic
from hopsim.plot.gantt import ACTIVITIES
from hopsim.plot.node_map import panel as map_panel
from hopsim.plot.style import PALETTE, cut_latencies, look, plain_log_ticks, short_numbers, side_by_side
from hopsim_reproduce.model import Comparison, Measured
from hopsim_reproduce.panels import LATENCY, QUANTITIES, Points

LOAD_LABEL = "injected load [phits/(node·cycle)]"
SHIFT = 0.12
"""Distance of a value from the middle of its row."""
LOGARITHMIC = 30
"""Largest over smallest value from which an axis is logarithmic."""
FORMATS = ("png", "pdf")
ROW_LABELS = 8
"""Most labels below a panel that has two others beside it."""
HEADROOM = 1.05
"""That the markers of the largest values are not cut in half."""
MOST_LINES = 5_000
"""Most messages that are drawn as lines: more would cover all else."""
LETTER, SYMBOL = 0.09, 0.7
"""Width of a letter of a title or legend, and of a symbol of a legend with its margins [inches]."""
Stack = tuple[Sequence[float], Mapping[str, Sequence[float]]]
"""Loads, and component -> its values at them."""
TimeLine = tuple[np.ndarray, np.ndarray]
"""Cycles and values."""
AGREES, DIFFERS = "#dff0d8", "#f2dede"
"""Background of a cell."""


def beside(title: str, comparisons: Sequence[Comparison], quantities: Sequence[str]) -> Figure:
    """Published and own values side by side, one panel per quantity."""
    labels = len({item.row for item in comparisons})
    rows = 1 if len(quantities) < 4 and labels <= ROW_LABELS else 2
    figure = _figure(title, 11, 3.75 * rows)
    grid = _grid(figure, (rows, -(-len(quantities) // rows)), len(quantities))
    for axes, quantity in zip(grid, quantities, strict=True):
        _pairs(axes, quantity, [each for each in comparisons if each.quantity == quantity])
    _legend_of(figure, grid[0])
    return figure


def _figure(title: str, width: float, height: float) -> Figure:
    """An empty figure of this size [inches]; its title has as many lines as the width asks for."""
    figure = Figure(figsize=(width, height), layout="constrained")
    figure.suptitle(textwrap.fill(title, int(width / LETTER)))
    return figure


def _grid(figure: Figure, shape: tuple[int, int], count: int) -> list[Axes]:
    """So many panels in rows and columns; the last row may have fewer."""
    grid = list(figure.subplots(*shape, squeeze=False).flat)
    for spare in grid[count:]:
        spare.remove()
    return grid[:count]


def _legend_of(figure: Figure, axes: Axes) -> None:
    """The legend of one panel, for all."""
    handles, labels = axes.get_legend_handles_labels()
    _legend_below(figure, dict(zip(labels, handles, strict=True)))


def _legend_below(figure: Figure, handles: Mapping[str, Artist]) -> None:
    """A legend of as many columns as fit below the panels."""
    column = SYMBOL + LETTER * max(len(name) for name in handles)
    columns = max(1, min(len(handles), int(figure.get_figwidth() / column)))
    figure.legend(list(handles.values()), list(handles), loc="outside lower center", ncols=columns)


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
        axes.set_ylim(0, HEADROOM * axes.get_ylim()[1])


def bars(
    title: str, labels: tuple[str, str], places: Sequence[str], series: Mapping[str, Sequence[Measured]]
) -> Figure:
    """A bar per place and series with the spread of seeds; `labels` are those of the axes."""
    figure = _figure(title, 8, 4.5)
    axes = figure.subplots()
    _grouped(axes, series, places)
    axes.set(xlabel=labels[0], ylabel=labels[1])
    _legend_of_all(figure, list(series))
    return figure


def panels_of_bars(
    title: str,
    label: str,
    places: Sequence[str],
    panels: Mapping[str, Mapping[str, Sequence[Measured]]],
) -> Figure:
    """The same in panels below one another, which share the vertical axis."""
    figure = _figure(title, 8, 2.8 * len(panels) + 1)
    grid = figure.subplots(len(panels), 1, squeeze=False, sharey=True)
    for (axes,), (name, series) in zip(grid, panels.items(), strict=True):
        _grouped(axes, series, places)
        axes.axhline(0, color="0.3", linewidth=0.8)
        axes.set(title=name, ylabel=label)
    _legend_of(figure, grid[0][0])
    return figure


def _grouped(axes: Axes, series: Mapping[str, Sequence[Measured]], places: Sequence[str]) -> None:
    """Bars of the series side by side at each place."""
    width, offsets = side_by_side(len(series))
    for number, ((name, values), offset) in enumerate(zip(series.items(), offsets, strict=True)):
        axes.bar(
            [place + offset for place in range(len(values))],
            [value.mean for value in values],
            width,
            yerr=[value.std for value in values],
            error_kw={"elinewidth": 0.8, "ecolor": "0.4"},
            color=look(number)["color"],
            label=name,
        )
    axes.set_xticks(range(len(places)), places)
    axes.set_axisbelow(True)
    axes.grid(axis="y", alpha=0.3)


Cloud = Mapping[str, Mapping[str, tuple[Measured, Measured]]]
"""Series -> name of a point -> its two values."""


def scatter(title: str, labels: tuple[str, str], panels: Mapping[str, Cloud], columns: int) -> Figure:
    """Points by two values with the spread of seeds: a colour per series, a symbol per name of a point."""
    rows = -(-len(panels) // columns)
    figure = _figure(title, 3.8 * columns, 3.4 * rows + 1)
    grid = figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True)
    for axes, (panel, cloud) in zip(grid.flat, panels.items(), strict=True):
        for number, points in enumerate(cloud.values()):
            for symbol, (x, y) in enumerate(points.values()):
                axes.errorbar(
                    x.mean,
                    y.mean,
                    y.std,
                    x.std,
                    fmt=look(symbol)["marker"],
                    color=look(number)["color"],
                    elinewidth=0.8,
                    markersize=5,
                )
        axes.set_title(panel)
        axes.grid(alpha=0.3)
    for axes in grid[-1]:
        axes.set_xlabel(labels[0])
    for axes in grid[:, 0]:
        axes.set_ylabel(labels[1])
    grid[0][0].set_xlim(left=0)
    grid[0][0].set_ylim(-0.05, 1.05)
    _legend_below(figure, _colours_and_symbols(next(iter(panels.values()))))
    return figure


def _colours_and_symbols(cloud: Cloud) -> dict[str, Artist]:
    """What the colours and the symbols of a scatter plot mean."""
    handles: dict[str, Artist] = {
        name: Line2D([], [], color=look(number)["color"], linewidth=4) for number, name in enumerate(cloud)
    }
    for symbol, name in enumerate(next(iter(cloud.values()))):
        handles[name] = Line2D([], [], color="0.3", marker=look(symbol)["marker"], linestyle="")
    return handles


def maps(
    title: str, label: str, panels: Mapping[str, np.ndarray], columns: int, *, shared: bool = True
) -> Figure:
    """Values of the nodes of a plane, a panel for each set, with the same scale of colours if `shared`."""
    rows = -(-len(panels) // columns)
    figure = _figure(title, 3.4 * columns + 1, 3.1 * rows + 0.6)
    used = _grid(figure, (rows, columns), len(panels))
    largest = {name: float(values.max()) for name, values in panels.items()}
    for axes, (name, values) in zip(used, panels.items(), strict=True):
        image = map_panel(axes, values, (0.0, max(largest.values()) if shared else largest[name]))
        axes.set(title=name, xlabel="x", ylabel="y")
        if not shared:
            figure.colorbar(image, ax=axes, label=label)
    if shared:
        figure.colorbar(used[0].images[0], ax=used, label=label)
    return figure


Runs = Sequence[Sequence[float]]
"""A value for each router of a group, by run."""


def per_router(title: str, profiles: Mapping[str, Runs]) -> Figure:
    """Injected load of each router of a group, and of first, middle and last, with the spread of seeds."""
    figure = _figure(title, 11, 4.5)
    every, sets = figure.subplots(1, 2, width_ratios=(3, 1), sharey=True)
    last = max(len(loads) for runs in profiles.values() for loads in runs) - 1
    of_sets = {name: [_sets(loads) for loads in runs] for name, runs in profiles.items()}
    _grouped(every, _over_runs(profiles), [f"R{router}" for router in range(last + 1)])
    _grouped(sets, _over_runs(of_sets), ["R0", f"R1-{last - 1}", f"R{last}"])
    every.set_ylabel(LOAD_LABEL)
    every.set_title("each router")
    sets.set_title("first, middle (mean), last")
    _legend_of(figure, every)
    return figure


def _over_runs(profiles: Mapping[str, Runs]) -> dict[str, list[Measured]]:
    return {
        name: [Measured.of(values) for values in zip(*runs, strict=True)] for name, runs in profiles.items()
    }


def _sets(loads: Sequence[float]) -> list[float]:
    middle = loads[1:-1]
    return [loads[0], sum(middle) / len(middle), loads[-1]]


def curves(title: str, points: Points, quantities: Sequence[str], logarithmic: Sequence[str] = ()) -> Figure:
    """A row of panels for each quantity; bands are the spread of seeds."""
    figure = _figure(title, 4.2 * len(points.panels) + 1, 3.4 * len(quantities))
    grid = figure.subplots(len(quantities), len(points.panels), squeeze=False, sharex="col", sharey="row")
    order = list(dict.fromkeys(line for panel in points.panels.values() for line in panel.lines))
    for row, key in zip(grid, quantities, strict=True):
        for axes, panel in zip(row, points.panels.values(), strict=True):
            for name in panel.lines:
                _curve(axes, order.index(name), name, points.line(panel.title, name, key))
            axes.grid(alpha=0.3)
        row[0].set_ylabel(QUANTITIES.get(key, key))
        if key in logarithmic:
            row[0].set_yscale("log")
        else:
            _limit(row[0], key)
    for axes, panel in zip(grid[0], points.panels.values(), strict=True):
        axes.set_title(panel.title)
    for axes, panel in zip(grid[-1], points.panels.values(), strict=True):
        axes.set_xlabel(panel.x_label)
    _legend_of_all(figure, order)
    return figure


def relative(
    title: str,
    labels: tuple[str, str],
    lines: Mapping[str, Mapping[float | str, Measured]],
    *,
    from_zero: bool = True,
) -> Figure:
    """Quotients over a logarithmic axis; bands are the spread of seeds."""
    figure = _figure(title, 7, 4.5)
    axes = figure.subplots()
    axes.axhline(1, color="0.5", linewidth=0.8, linestyle=":")
    for index, (name, values) in enumerate(lines.items()):
        _curve(axes, index, name, values)
    plain_log_ticks(axes)
    axes.set(xlabel=labels[0], ylabel=labels[1])
    if from_zero:
        axes.set_ylim(bottom=0)
    axes.grid(alpha=0.3)
    _legend_of_all(figure, list(lines))
    return figure


def _curve(axes: Axes, index: int, name: str, values: Mapping[float | str, Measured]) -> None:
    places = list(values)
    means = np.array([value.mean for value in values.values()])
    spread = np.array([value.std for value in values.values()])
    style = look(index)
    axes.plot(places, means, label=name, markersize=4, **style)
    axes.fill_between(places, means - spread, means + spread, color=style["color"], alpha=0.2, linewidth=0)


def _limit(axes: Axes, key: str) -> None:
    """Saturation must not hide the rest of the latencies."""
    means = [value for line in axes.lines for value in np.asarray(line.get_ydata(), dtype=float)]
    axes.set_ylim(bottom=0)
    if key == LATENCY and means:
        cut_latencies(axes, means)


def _legend_of_all(figure: Figure, order: Sequence[str]) -> None:
    """One legend for all panels, each name once."""
    pairs = [axes.get_legend_handles_labels() for axes in figure.axes]
    handles = {label: handle for group in pairs for handle, label in zip(*group, strict=True)}
    _legend_below(figure, {name: handles[name] for name in order if name in handles})


def breakdown(title: str, panels: Mapping[str, Stack]) -> Figure:
    """Components of latency stacked over load."""
    figure = _figure(title, 4.5 * len(panels) + 2, 4.5)
    (row,) = figure.subplots(1, len(panels), squeeze=False)
    for axes, (name, (loads, components)) in zip(row, panels.items(), strict=True):
        axes.stackplot(
            loads,
            list(components.values()),
            labels=list(components),
            colors=PALETTE[: len(components)],
            alpha=0.85,
        )
        axes.set(title=name, xlabel="offered load [phits/(node·cycle)]", ylabel=QUANTITIES[LATENCY])
        axes.margins(x=0)
    handles, labels = row[0].get_legend_handles_labels()
    figure.legend(handles[::-1], labels[::-1], loc="outside right center")
    return figure


def logarithmic(
    title: str, labels: tuple[str, str], panels: Mapping[str, Mapping[str, Mapping[float, float]]]
) -> Figure:
    """Lines over two logarithmic axes, panels beside one another; what is not positive is left out."""
    figure = _figure(title, 4 * len(panels) + 1, 4.5)
    grid = figure.subplots(1, len(panels), squeeze=False, sharey=True)[0]
    for axes, (panel, lines) in zip(grid, panels.items(), strict=True):
        for index, (name, values) in enumerate(lines.items()):
            positive = {x: y for x, y in values.items() if y > 0}
            axes.plot(list(positive), list(positive.values()), **look(index), label=name)
        axes.set(title=panel, xlabel=labels[0], xscale="log", yscale="log")
        axes.grid(alpha=0.3)
    grid[0].set_ylabel(labels[1])
    _legend_of(figure, grid[0])
    return figure


def over_time(title: str, panels: Mapping[str, Mapping[str, TimeLine]]) -> Figure:
    """Lines over the generation cycle, below one another; a panel is named by its vertical axis."""
    figure = _figure(title, 8, 3.2 * len(panels))
    grid = figure.subplots(len(panels), 1, squeeze=False, sharex=True)
    for (axes,), (label, lines) in zip(grid, panels.items(), strict=True):
        for index, (name, (cycles, values)) in enumerate(lines.items()):
            axes.plot(cycles, values, color=look(index)["color"], linewidth=1, label=name)
        axes.axvline(0, color="0.5", linewidth=0.8, linestyle=":")
        axes.set_ylabel(label)
        axes.set_ylim(bottom=0)
        axes.grid(alpha=0.3)
    grid[-1][0].set_xlabel("generation after the change [cycles]")
    _legend_of(figure, grid[0][0])
    return figure


def time_lines(title: str, operations: pa.Table, messages: pa.Table, span: tuple[int, int]) -> Figure:
    """What each rank does from one cycle to another, a row per rank, and a line for each message.

    `operations` and `messages` are the tables of these streams.
    """
    rank, activity, begin, end = (
        operations.column(key).to_numpy() for key in ("rank", "activity", "begin", "end")
    )
    ranks = int(rank.max()) + 1
    figure = _figure(title, 9, 0.14 * ranks + 2)
    axes = figure.subplots()
    shown = (end > span[0]) & (begin < span[1])
    handles: dict[str, Artist] = {}
    for key, (name, colour) in ACTIVITIES.items():
        chosen = shown & (activity == key)
        first, last = np.maximum(begin[chosen], span[0]), np.minimum(end[chosen], span[1])
        rows = rank[chosen]
        for row in np.unique(rows):
            begins, lengths = first[rows == row], (last - first)[rows == row]
            axes.broken_barh(list(zip(begins, lengths, strict=True)), (row - 0.4, 0.8), color=colour)
            handles[name] = Patch(color=colour)
    short_numbers(axes.xaxis)
    _lines_of(axes, messages, span)
    axes.set(xlim=span, ylim=(ranks - 0.5, -0.5), xlabel="time [cycles]", ylabel="rank")
    _legend_below(figure, handles)
    return figure


def _lines_of(axes: Axes, messages: pa.Table, span: tuple[int, int]) -> None:
    """A thin line from where a message leaves to where it arrives, if all of it is shown, and few are."""
    source, destination, left, arrived = (
        messages.column(key).to_numpy() for key in ("source", "destination", "left", "arrived")
    )
    shown = (left >= span[0]) & (arrived <= span[1]) & (source != destination)
    if shown.sum() > MOST_LINES:
        return
    ends = zip(left[shown], source[shown], arrived[shown], destination[shown], strict=True)
    lines = [((one, at), (other, to)) for one, at, other, to in ends]
    axes.add_collection(LineCollection(lines, colors="0.2", linewidths=0.4, alpha=0.6))


def heat(title: str, labels: tuple[str, str, str], values: np.ndarray) -> Figure:
    """A square of coloured cells; `labels` are those of its columns, rows and colours."""
    figure = _figure(title, 6, 5)
    axes = figure.subplots()
    image = axes.imshow(np.where(values > 0, values, np.nan))
    axes.set(xlabel=labels[0], ylabel=labels[1])
    figure.colorbar(image, ax=axes, label=labels[2])
    return figure


def matrix(
    title: str, columns: Sequence[str], rows: Mapping[str, Sequence[tuple[str, bool]]], width: float = 1.9
) -> Figure:
    """A table of words; each cell says whether it agrees. Columns are `width` inches wide."""
    figure = Figure(figsize=(width * len(columns) + 2, 0.5 * len(rows) + 1.5), layout="constrained")
    axes = figure.subplots()
    axes.axis("off")
    axes.set_title(title)
    table = axes.table(
        cellText=[[text for text, _ in cells] for cells in rows.values()],
        cellColours=[[AGREES if agrees else DIFFERS for _, agrees in cells] for cells in rows.values()],
        rowLabels=list(rows),
        colLabels=list(columns),
        cellLoc="center",
        loc="center",
    )
    table.scale(1, 1.6)
    return figure


def save(figure: Figure, directory: Path, stem: str) -> list[Path]:
    """Write the figure in every format and say where."""
    paths = [directory / f"{stem}.{suffix}" for suffix in FORMATS]
    for path in paths:
        atomic.write(
            path, lambda file, path=path: figure.savefig(file, format=path.suffix.removeprefix("."), dpi=150)
        )
    return paths
