"""What the command line asks of every check."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.progress import Progress

from hopsim import Result
from verify.simulate import Document, Measured, simulate


@dataclass(frozen=True)
class Options:
    """How to run and where to report."""

    console: Console
    pattern: str | None
    """Regular expression over the names of rows."""
    seeds: int
    jobs: int
    """Runs at a time."""
    out: Path
    """Directory of the CSV files."""
    traces: Path | None = None
    """Folder of the traces that are not among the examples."""

    def selects(self, name: str) -> bool:
        """Whether `--rows` asks for what has this name; all without it."""
        return self.pattern is None or re.search(self.pattern, name) is not None

    def simulate(
        self, documents: Sequence[Document], seeds: int, measure: Callable[[Result], Measured]
    ) -> list[list[Measured]]:
        """`simulate` with a bar on the terminal."""
        with Progress(console=self.console, transient=True) as progress:
            task = progress.add_task(f"{len(documents)} cases", total=len(documents) * seeds)
            return simulate(documents, seeds, self.jobs, measure, lambda: progress.advance(task))
