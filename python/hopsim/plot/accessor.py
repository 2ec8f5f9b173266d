"""Figures in Python: `results.plot.latency_load()`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypedDict, Unpack, cast

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hopsim.errors import ConfigError
from hopsim.plot import (
    accepted_load,
    breakdown,
    bursts,
    cdf,
    execution_time,
    flows,
    gantt,
    generation,
    histogram,
    injection,
    latency_load,
    link_map,
    links,
    message_latency,
    messages_in_flight,
    metric,
    node_map,
    options,
    placement,
    queues,
    ranks,
    timeseries,
)
from hopsim.plot.canvas import Canvas
from hopsim.plot.kind import Kind, Module
from hopsim.plot.view import Limits, Scale, View

if TYPE_CHECKING:
    from hopsim.results.result import Results

__all__ = ["AtOneLoad", "Curves", "Frame", "Given", "Injection", "Look", "Plots"]

_MODULES: dict[str, Module] = {
    "latency_load": latency_load,
    "accepted_load": accepted_load,
    "metric": metric,
    "bursts": bursts,
    "breakdown": breakdown,
    "injection": injection,
    "node_map": node_map,
    "link_map": link_map,
    "timeseries": timeseries,
    "generation": generation,
    "histogram": histogram,
    "cdf": cdf,
    "execution_time": execution_time,
    "placement": placement,
    "ranks": ranks,
    "gantt": gantt,
    "messages_in_flight": messages_in_flight,
    "message_latency": message_latency,
    "flows": flows,
    "queues": queues,
    "links": links,
}

KINDS = {name: Kind(name, module) for name, module in _MODULES.items()}

Given = Axes | Sequence[Axes] | np.ndarray | None
"""Axes of the user, if any."""


class Look(TypedDict, total=False):
    """What every kind takes.

    Attributes:
        size: width and height of a new figure [inches]; not with `ax`.
        notes: whether what the figure leaves out, and which of its points are hollow, is said; it is if not
            given.
        label: names for the values of sweep axes {path: names}, as `Results.labelled` takes them.
    """

    size: tuple[float, float]
    notes: bool
    label: Mapping[str, Sequence[str]]


class Frame(Look, total=False):
    """What kinds take whose panels have one kind of value.

    Attributes:
        xlim: ends of the horizontal axis; None for one that the figure chooses.
        ylim: ends of the axis of values, likewise.
        xscale: `linear` or `log`.
        yscale: likewise of the axis of values.
    """

    xlim: Limits
    ylim: Limits
    xscale: Scale
    yscale: Scale


class Curves(Frame, total=False):
    """What kinds take that show curves over the offered load, or bars.

    Attributes:
        x: sweep axis, or column of the summary, that curves run over in place of the offered load.
        load: which load those curves are of; all if not given.
        group_by: sweep axes that make the curves; the others must have one value each.
    """

    x: str
    load: float
    group_by: str | Sequence[str]


class AtOneLoad(Frame, total=False):
    """What kinds take whose curves each show one load.

    Attributes:
        load: which of the results; the highest of each curve if not given.
        group_by: sweep axes that make the curves; the others must have one value each.
    """

    load: float
    group_by: str | Sequence[str]


class Injection(AtOneLoad, total=False):
    """The same with the group whose routers are shown; group 0 if not given."""

    group: int


class Plots:
    """Figures of results, one method per kind; options have the names that `hopsim plot` has for them.

    Each method draws into `ax`, axes of the user's own, or else into a new figure of `matplotlib.pyplot`,
    which notebooks show by themselves, and returns the axes. With `ax`, the legend stands inside, and what
    the figure leaves out is in the title. Methods that return a list take a list, one for each panel.

    Raises:
        ConfigError: the results do not allow the figure or have no such axis, column, load or group; an
            option that the kind does not take; limits that are not in order; a logarithmic axis of values
            that are not positive; more or fewer axes than panels.
    """

    def __init__(self, results: Results) -> None:
        self._results = results

    def latency_load(self, ax: Given = None, **asked: Unpack[Curves]) -> Axes:
        """Mean packet latency over the offered load; bars where there is one load."""
        return self._one("latency_load", ax, asked)

    def accepted_load(self, ax: Given = None, **asked: Unpack[Curves]) -> Axes:
        """Accepted load over the offered load, and the line on which everything offered is accepted."""
        return self._one("accepted_load", ax, asked)

    def metric(self, y: str, ax: Given = None, **asked: Unpack[Curves]) -> Axes:
        """The column `y` of the summary over the offered load; see `Results.column_names`."""
        return self._one("metric", ax, asked, y)

    def bursts(self, ax: Given = None, **asked: Unpack[Curves]) -> Axes:
        """Cycles per burst over the size of bursts."""
        return self._one("bursts", ax, asked)

    def execution_time(self, ax: Given = None, **asked: Unpack[Curves]) -> Axes:
        """Execution time of programs [cycles]."""
        return self._one("execution_time", ax, asked)

    def placement(self, ax: Given = None, **asked: Unpack[Curves]) -> Axes:
        """Execution time of programs by placement, relative to the first placement of the sweep."""
        return self._one("placement", ax, asked)

    def cdf(self, ax: Given = None, **asked: Unpack[AtOneLoad]) -> Axes:
        """Share of packets that take no longer than a latency, from the stream `latency_histogram`."""
        return self._one("cdf", ax, asked)

    def breakdown(self, ax: Given = None, **asked: Unpack[Curves]) -> list[Axes]:
        """Components of mean packet latency: a panel per curve, or one with a bar per curve."""
        return self._several("breakdown", ax, asked)

    def injection(self, ax: Given = None, **asked: Unpack[Injection]) -> list[Axes]:
        """Injected load per router: bars for a group (a panel per size of network), and all in order."""
        return self._several("injection", ax, asked)

    def node_map(self, ax: Given = None, **asked: Unpack[AtOneLoad]) -> list[Axes]:
        """Injected, then accepted load of each node of a mesh, torus or ring: a panel per curve or plane."""
        return self._several("node_map", ax, asked)

    def link_map(self, ax: Given = None, **asked: Unpack[AtOneLoad]) -> list[Axes]:
        """Utilisation of every link: two panels per curve of a dragonfly, else one."""
        return self._several("link_map", ax, asked)

    def timeseries(self, ax: Given = None, **asked: Unpack[AtOneLoad]) -> list[Axes]:
        """Accepted load, and below it packet latency, over time."""
        return self._several("timeseries", ax, asked)

    def generation(self, ax: Given = None, **asked: Unpack[AtOneLoad]) -> list[Axes]:
        """Latency, and below it the misrouted share, by the cycle in which packets were generated."""
        return self._several("generation", ax, asked)

    def histogram(self, ax: Given = None, **asked: Unpack[AtOneLoad]) -> list[Axes]:
        """Density of packet latency, and below it the share of packets that take longer."""
        return self._several("histogram", ax, asked)

    def ranks(self, ax: Given = None, **asked: Unpack[AtOneLoad]) -> list[Axes]:
        """Computation, overhead and waiting of every rank of a program: a panel per curve."""
        return self._several("ranks", ax, asked)

    def gantt(self, ax: Given = None, **asked: Unpack[AtOneLoad]) -> list[Axes]:
        """What every rank of a program does over time: a panel per curve."""
        return self._several("gantt", ax, asked)

    def messages_in_flight(self, ax: Given = None, **asked: Unpack[AtOneLoad]) -> list[Axes]:
        """Messages of programs under way, and below it their bytes, over time."""
        return self._several("messages_in_flight", ax, asked)

    def message_latency(self, ax: Given = None, **asked: Unpack[AtOneLoad]) -> list[Axes]:
        """Mean latency, and below it the 99th percentile, of messages by their size."""
        return self._several("message_latency", ax, asked)

    def flows(self, ax: Given = None, **asked: Unpack[AtOneLoad]) -> list[Axes]:
        """Throughput of every flow of a fabric, as lines and stacked; below them the CCTI."""
        return self._several("flows", ax, asked)

    def queues(self, ax: Given = None, **asked: Unpack[AtOneLoad]) -> list[Axes]:
        """Bytes queued for the outputs of switches, and below it what they send, over time."""
        return self._several("queues", ax, asked)

    def links(self, ax: Given = None, **asked: Unpack[AtOneLoad]) -> list[Axes]:
        """Utilisation of links, and below it how long they are idle for want of credits, over time."""
        return self._several("links", ax, asked)

    def _one(self, kind: str, ax: Given, asked: Look, y: str | None = None) -> Axes:
        panels = self._several(kind, ax, asked, y)
        if len(panels) > 1:
            _close(panels)
            raise ConfigError(
                f"{kind}: these results make {len(panels)} figures, bursts and loads apart, and one for each "
                "value of the axes that group_by leaves out; draw a part of the results, or name more axes"
            )
        return panels[0]

    def _several(self, kind: str, ax: Given, asked: Look, y: str | None = None) -> list[Axes]:
        canvas: Canvas | None = None
        try:
            results, view = self._view(asked, y)
            check_all_used(view, [KINDS[kind]])
            if ax is not None and view.size is not None:
                raise ConfigError("size: is that of a new figure; axes of your own have theirs")
            canvas = Canvas(view, _given(ax), _maker(ax))
            if not KINDS[kind].draw(results, view, canvas):
                raise ConfigError(f"cannot be drawn: {KINDS[kind].need}")
            if canvas.left:
                count = len(canvas.panels)
                raise ConfigError(
                    f"ax: {count + canvas.left} axes given; must be {count}, one for each panel"
                )
        except ConfigError as error:
            if ax is None and canvas:
                _close(canvas.panels)
            raise ConfigError(str(error).removeprefix("--")) from None
        return canvas.panels

    def _view(self, asked: Look, y: str | None) -> tuple[Results, View]:
        named: dict[str, Any] = dict(asked)
        results = self._results.labelled(named.pop("label", {}))
        by = named.pop("group_by", None)
        unknown = [name for name in named if name not in (*options.OPTIONS, "size", "notes")]
        if unknown:
            valid = "group_by, label, load, group, notes, size, x, xlim, ylim, xscale, yscale"
            raise ConfigError(f"{unknown[0]}: unknown option; valid: {valid}")
        axes = (by,) if isinstance(by, str) else by
        return results, View(by=None if axes is None else tuple(axes), y=y, in_parts=False, **named)


def check_all_used(view: View, kinds: Sequence[Kind]) -> None:
    """Raises `ConfigError` for what was asked and none of the kinds takes."""
    for name, value in options.given(view).items():
        if not any(kind.takes(name, view) for kind in kinds):
            able = [kind for kind in KINDS.values() if kind.takes(name, view)]
            needs = "; ".join(f"{kind.name}, with {kind.module.NEEDS}" for kind in able)
            over_x = replace(view, x=view.x or "")
            also = [k.name for k in KINDS.values() if k not in able and k.takes(name, over_x)]
            needs += f"; and with --x {', '.join(also)}" if also else ""
            raise ConfigError(
                f"{options.written(name, value)}: no figure drawn takes it; those that do: {needs}"
            )


def _given(ax: Given) -> list[Axes] | None:
    """The user's axes in order, from one, a list or an array of them."""
    if ax is None:
        return None
    found = list(np.ravel(np.array(ax, dtype=object)))
    if not found or not all(isinstance(each, Axes) for each in found):
        raise ConfigError("ax: must be axes of matplotlib, or a list of them")
    return found


def _maker(ax: Given) -> Callable[..., Figure]:
    """What makes a new figure, where there are no axes of the user's own."""
    if ax is not None:
        return Figure
    # Chooses a window system, which only those need who draw from Python.
    from matplotlib import pyplot

    # It does so when it is first needed, and has notebooks show figures, which is forgotten if that happens
    # while a style is in force.
    pyplot.draw_if_interactive()
    return cast("Callable[..., Figure]", pyplot.figure)


def _close(panels: Sequence[Axes]) -> None:
    """Forget new figures, so that no notebook shows them."""
    from matplotlib import pyplot

    for axes in panels:
        pyplot.close(axes.get_figure(root=True))
