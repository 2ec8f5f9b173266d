"""Consoles that are wide enough without a terminal, and lay out what their encoding can write."""

from __future__ import annotations

import sys
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from hopsim.cli.encoding import encodable

PIPE_WIDTH = 140
WIDEST = 10_000
"""No table is wider."""


class _Plain(Console):
    """A console that lays out what its encoding can write, so that columns stay in line."""

    def render_str(self, text: str, **options: Any) -> Text:
        """The text as the console will write it."""
        return super().render_str(encodable(text, self.encoding), **options)


def of_width(width: int) -> Console:
    """A console for tables that need so many columns where there is no terminal."""
    result = _Plain()
    return result if result.is_terminal else _Plain(width=width)


def print_table(console: Console, table: Table) -> None:
    """Print a table of numbers: in a terminal as wide as that, elsewhere as wide as it needs.

    Whoever reads a pipe or a file may want each row in one line.
    """
    wide = console if console.is_terminal else _Plain(highlight=False, width=WIDEST)
    wide.print(table)


def stdout() -> Console:
    """A console on standard output."""
    return _Plain(highlight=False, width=None if sys.stdout.isatty() else PIPE_WIDTH)
