"""What a kind of figure is: a module.

Each module has `TITLE`, one line for the help text, `NEEDS`, what results must have for it, `STREAM`, the
recorded table that it draws, if any, `TAKES`, the fields of `View` that it heeds, and
`draw(results, view, canvas)`: its figures by file stem, or an empty dictionary when the results lack that.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

import matplotlib as mpl
from matplotlib.figure import Figure

from hopsim.plot import fit, frame, options
from hopsim.plot.canvas import Canvas
from hopsim.plot.view import View

if TYPE_CHECKING:
    from hopsim.results.result import Results


class Module(Protocol):
    """What the module of a kind has."""

    @property
    def TITLE(self) -> str:  # noqa: N802
        """One line for the help text."""
        ...

    @property
    def NEEDS(self) -> str:  # noqa: N802
        """What results must have."""
        ...

    @property
    def TAKES(self) -> frozenset[str]:  # noqa: N802
        """The fields of `View` that it heeds."""
        ...

    @property
    def draw(self) -> Callable[[Results, View, Canvas], dict[str, Figure]]:
        """Its figures by file stem."""
        ...


@dataclass(frozen=True)
class Kind:
    """A kind of figure.

    Attributes:
        name: as users write it.
        module: draws it.
    """

    name: str
    module: Module

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
