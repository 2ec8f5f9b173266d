"""Load of the nodes of a mesh, torus or ring as a map of their coordinates."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.ticker import MaxNLocator

from hopsim.document.estimate import mean_packet_length
from hopsim.metrics.series import Series
from hopsim.plot import options
from hopsim.plot.canvas import Canvas
from hopsim.plot.view import Shown, View, at_one_load, caption

if TYPE_CHECKING:
    from hopsim.results.result import Result, Results

TITLE = "injected and accepted load of each node over its coordinates (mesh, torus, ring)"
NEEDS = 'measure.streams = ["nodes"] and a mesh, torus or ring'
TAKES = options.AT_ONE_LOAD
STREAM = "nodes"
QUANTITIES = {"injected": "injected load", "delivered": "accepted load"}
"""Column of the table `nodes` -> what it is: sent by a node, arrived at it."""
UNIT = "[phits/(node·cycle)]"
AXES = "xyzuvw"
"""Names of the dimensions; further ones are numbered."""
COLOURS = "viridis"
CELL = 0.32
"""Width of a node [inches] where the panel does not get too small or too large by it."""
TITLE_WIDTH = 34
"""Characters of a line above a panel."""


def draw(results: Results, view: View, canvas: Canvas) -> dict[str, Figure]:
    """A figure per quantity with a panel per curve: a plane in two dimensions, a row in one.

    In more dimensions there is a figure per curve, with a panel per plane.
    """
    drawn: dict[str, Figure] = {}
    for shown in at_one_load(results, view, _sides, "nodes with coordinates recorded"):
        for size, chosen in _by_size(shown.curves).items():
            for column, quantity in QUANTITIES.items():
                maps = [(series.label, loads(series.groups[0].results, column)) for series in chosen]
                title = caption(f"{quantity.capitalize()} of each node", shown.title, size)
                about = replace(shown, title=title)
                for part, figure in _figures(maps, f"{quantity.capitalize()}\n{UNIT}", about, canvas):
                    name = quantity.partition(" ")[0]
                    drawn[f"node_map_{name}{shown.suffix}{part}{size and f'-{size}'}"] = figure
    return drawn


def _by_size(curves: Sequence[Series]) -> dict[str, list[Series]]:
    """Curves by the size of their network; a single size needs no name."""
    found: dict[tuple[int, ...], list[Series]] = {}
    for series in curves:
        found.setdefault(_sides(series), []).append(series)
    names = ["x".join(map(str, sides)) for sides in found] if len(found) > 1 else [""] * len(found)
    return dict(zip(names, found.values(), strict=True))


def _sides(series: Series) -> tuple[int, ...]:
    """Routers in each dimension of a network; empty if nodes have no coordinates or were not recorded.

    Programs have packets of any length, so that the numbers of packets say nothing of loads.
    """
    recorded = [result for result in series.groups[0].results if STREAM in result.tables]
    if not recorded or any("program" in job for job in recorded[0].config["jobs"]):
        return ()
    return sides_of(recorded[0].config["topology"])


def sides_of(topology: Mapping[str, Any]) -> tuple[int, ...]:
    """Routers in each dimension of the section `topology`; empty for a network without coordinates."""
    ((name, config),) = topology.items()
    if name == "ring":
        return (config["routers"],)
    return tuple(config.get("sides", ()))


def loads(results: Sequence[Result], column: str) -> np.ndarray:
    """Load per node of every router [phits/(node·cycle)], mean over the results: the first dimension last."""
    return np.mean([_of_nodes(result, column) for result in results if STREAM in result.tables], axis=0)


def panel(axes: Axes, values: np.ndarray, limits: tuple[float, float]) -> AxesImage:
    """A map of a plane, x to the right and y upwards; `limits` are the ends of the colour scale."""
    image = axes.imshow(values, cmap=COLOURS, vmin=limits[0], vmax=limits[1], origin="lower")
    axes.grid(visible=False)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(MaxNLocator("auto", integer=True, min_n_ticks=1))
    return image


def _of_nodes(result: Result, column: str) -> np.ndarray:
    # Of packets that draw their length the mean stands for each.
    lengths = {job["name"]: mean_packet_length(job["traffic"]) for job in result.config["jobs"]}
    table = result.tables[STREAM]
    names, packets = table.column("job").to_pylist(), table.column(column).to_numpy()
    phits = packets * np.array([lengths.get(name, 0) for name in names])
    sides = sides_of(result.config["topology"])
    per_router = (phits / result.summary["cycles"]).reshape(math.prod(sides), -1).mean(axis=1)
    return per_router.reshape(sides[::-1])


Maps = Sequence[tuple[str, np.ndarray]]
"""Names and values of panels."""


def _figures(maps: Maps, label: str, about: Shown, canvas: Canvas) -> Iterator[tuple[str, Figure]]:
    """File suffix and figure: one for all curves in up to two dimensions, else one for each."""
    dimensions = maps[0][1].ndim
    limits = (0.0, max(float(values.max()) for _, values in maps) or 1.0)
    if dimensions == 1:
        yield "", _rows((maps, limits), label, about, canvas)
    elif dimensions == 2:
        yield "", _planes((maps, limits), label, about, canvas)
    else:
        for index, (name, values) in enumerate(maps):
            part = f"-curve{index + 1}" if len(maps) > 1 else ""
            named = replace(about, title=caption(about.title, name))
            yield part, _planes((list(_slices(values)), limits), label, named, canvas)


def _slices(values: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    """The planes of the first two dimensions, named by the coordinates in the others."""
    for place in np.ndindex(values.shape[:-2]):
        coordinates = [f"{_axis(2 + number)} = {at}" for number, at in enumerate(reversed(place))]
        yield ", ".join(coordinates), values[place]


def _axis(dimension: int) -> str:
    return AXES[dimension] if dimension < len(AXES) else f"d{dimension}"


def _planes(scaled: tuple[Maps, tuple[float, float]], label: str, about: Shown, canvas: Canvas) -> Figure:
    maps, limits = scaled
    rows, columns = maps[0][1].shape
    width = min(max(CELL * columns, 1.8), 4.5)
    height = min(max(width * rows / columns, 1.8), 4.5)
    figure, grid = canvas.grid_of(len(maps), width=width + 1.0, height=height + 1.2)
    images = [panel(axes, values, limits) for axes, (_, values) in zip(grid, maps, strict=True)]
    for axes, (name, _) in zip(grid, maps, strict=True):
        axes.set_title(textwrap.fill(name, TITLE_WIDTH), fontsize="medium")
        axes.set(xlabel=_axis(0), ylabel=_axis(1))
        axes.tick_params(labelbottom=True)
    figure.colorbar(images[0], ax=grid, label=label)
    canvas.finish(figure, [], about)
    return figure


def _rows(scaled: tuple[Maps, tuple[float, float]], label: str, about: Shown, canvas: Canvas) -> Figure:
    """All curves of a ring or a chain below one another."""
    maps, limits = scaled
    values = np.array([row for _, row in maps])
    figure, (axes,) = canvas.grid(1, 1, (8.0, 1.6 + 0.4 * len(maps)))
    image = panel(axes, values, limits)
    axes.set_aspect("auto")
    axes.set_yticks(range(len(maps)), [textwrap.fill(name, TITLE_WIDTH) for name, _ in maps])
    axes.invert_yaxis()
    axes.set_xlabel(_axis(0))
    figure.colorbar(image, ax=axes, label=label)
    canvas.finish(figure, [], about)
    return figure
