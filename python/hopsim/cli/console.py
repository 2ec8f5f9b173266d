"""Consoles that are wide enough when the output is not a terminal."""

from __future__ import annotations

import sys

from rich.console import Console

PIPE_WIDTH = 140


def of_width(width: int) -> Console:
    """A console for tables that need so many columns where there is no terminal."""
    result = Console()
    return result if result.is_terminal else Console(width=width)


def stdout() -> Console:
    """A console on standard output."""
    return Console(highlight=False, width=None if sys.stdout.isatty() else PIPE_WIDTH)
