"""Figures of an experiment, one module per kind.

Each module has `TITLE`, one line for the help text, `NEEDS`, what results must have for it, `STREAM`, the
recorded table that it draws, if any, `TAKES`, the fields of `View` that it heeds, and
`draw(results, view, canvas)`: its figures by file stem, or an empty dictionary when the results lack that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import matplotlib as mpl
from matplotlib.figure import Figure

from hopsim.errors import ConfigError
from hopsim.files import atomic
from hopsim.metrics.series import has_programs
from hopsim.plot import (
    accepted_load,
    breakdown,
    bursts,
    cdf,
    execution_time,
    fit,
    flows,
    frame,
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
from hopsim.plot.style import save
from hopsim.plot.view import View

if TYPE_CHECKING:
    from hopsim.results.result import Results


class _Module(Protocol):
    """What the module of a kind has."""

    @property
    def TITLE(self) -> str: ...  # noqa: N802
    @property
    def NEEDS(self) -> str: ...  # noqa: N802
    @property
    def TAKES(self) -> frozenset[str]: ...  # noqa: N802
    @property
    def draw(self) -> Callable[[Results, View, Canvas], dict[str, Figure]]: ...


@dataclass(frozen=True)
class Kind:
    """A kind of figure.

    Attributes:
        name: as users write it.
        module: draws it.
    """

    name: str
    module: _Module

    def draw(self, results: Results, view: View, canvas: Canvas | None = None) -> dict[str, Figure]:
        """Its figures by file stem; empty when the results do not allow it. `canvas`: where, if not anew.

        Raises `ConfigError` for what `view` asks of the results that they do not have.
        """
        sheet = canvas or Canvas(view)
        with mpl.rc_context():
            drawn = self._drawn(results, view, sheet)
            if view.size is not None:

                def redraw(size: fit.Size) -> dict[str, Figure]:
                    larger = replace(view, size=size)
                    return self._drawn(results, larger, Canvas(larger))

                fit.check(drawn, view.size, sheet.usual, redraw)
        return drawn

    def _drawn(self, results: Results, view: View, sheet: Canvas) -> dict[str, Figure]:
        drawn = self.module.draw(results, options.checked(view, results), sheet)
        frame.apply(view, sheet)
        return drawn

    def takes(self, name: str, view: View) -> bool:
        """Whether it heeds a field of `View`; curves that run over something else may be of one load."""
        heeded = self.module.TAKES
        return name in heeded or (name == "load" and view.x is not None and "x" in heeded)

    @property
    def stream(self) -> str:
        """The recorded table that it draws; empty if it draws the summary."""
        return getattr(self.module, "STREAM", "")

    @property
    def need(self) -> str:
        """The kind with what it needs."""
        return f"{self.name} needs {self.module.NEEDS}"


_MODULES: dict[str, _Module] = {
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

__all__ = ["KINDS", "Canvas", "Kind", "View", "draw_all", "save"]


def draw_all(
    results: Results,
    folder: Path,
    view: View,
    *,
    kinds: Iterable[str] | None = None,
    formats: Sequence[str] = ("png",),
    tell: Callable[[str], object] | None = None,
) -> list[Path]:
    """Draw figures into `folder`: of `kinds`, or all that the results allow; returns the files written.

    `tell` hears what figures leave out and, if no kinds are asked for, which kinds that draw streams the
    results do not allow; of programs all kinds, and what those need.
    Raises `ConfigError` for one of `kinds` that the results do not allow, for what `view` asks that they do
    not have or that no figure shows, and if the figures cannot be written.
    """
    chosen = list(dict.fromkeys(kinds or ()))
    _check_frame(view, chosen)
    check_all_used(view, [KINDS[kind] for kind in chosen or KINDS])
    figures = {kind: KINDS[kind].draw(results, view) for kind in chosen or KINDS}
    lacking = [KINDS[kind] for kind, drawn in figures.items() if not drawn]
    if lacking and chosen:
        raise ConfigError(f"--kind: cannot be drawn: {', '.join(kind.need for kind in lacking)}")
    check_all_used(view, [KINDS[kind] for kind, drawn in figures.items() if drawn])
    drawn = {stem: figure for each in figures.values() for stem, figure in each.items()}
    try:
        atomic.make_folder(folder)
        written = [
            save(figure, folder / f"{stem}.{suffix}", view.dpi)
            for stem, figure in drawn.items()
            for suffix in formats
        ]
    except OSError as error:
        reason = f"cannot write figures there: {error.strerror or error}; valid: a directory to write to"
        raise ConfigError(f"--out {folder}: {reason}") from None
    if tell:
        for line in (*_left_out(drawn), *(_needs if has_programs(results) else _not_drawn)(lacking)):
            tell(line)
    return written


def _left_out(figures: dict[str, Figure]) -> list[str]:
    """A line for each figure that says what it does not show."""
    notes = {stem: " ".join(figure.get_supxlabel().split()) for stem, figure in figures.items()}
    return [f"{stem}: {note}" for stem, note in notes.items() if note]


def _not_drawn(lacking: Sequence[Kind]) -> list[str]:
    """A line with the kinds that draw streams."""
    names = [kind.name for kind in lacking if kind.stream]
    return [f"Not drawn: {', '.join(names)}; --kind says what one needs."] if names else []


def _needs(lacking: Sequence[Kind]) -> list[str]:
    """Kinds with what they need, those that need the same together."""
    needs: dict[str, list[str]] = {}
    for kind in lacking:
        needs.setdefault(kind.module.NEEDS, []).append(kind.name)
    texts = [f"{', '.join(alike)} (needs {need})" for need, alike in needs.items()]
    return [f"Not drawn: {'; '.join(texts)}."] if texts else []


def _check_frame(view: View, kinds: Sequence[str]) -> None:
    """Limits and scales are of the axes of one kind."""
    for name, value in options.given(view).items():
        if name in options.FRAME and len(kinds) != 1:
            raise ConfigError(f"{options.written(name, value)}: needs one --kind, whose axes it is for")


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
