"""Figures of an experiment: a module per kind (`kind.py`), a row and a method for each in `accessor.py`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from matplotlib.figure import Figure

from hopsim.errors import ConfigError
from hopsim.files import atomic
from hopsim.metrics.series import has_programs
from hopsim.plot import options
from hopsim.plot.accessor import KINDS, check_all_used
from hopsim.plot.canvas import Canvas
from hopsim.plot.kind import Kind
from hopsim.plot.style import save
from hopsim.plot.view import View

if TYPE_CHECKING:
    from hopsim.results.result import Results


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
