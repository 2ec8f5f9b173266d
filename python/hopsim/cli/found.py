"""The table of what was found of each configuration of a sweep."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from rich import box
from rich.markup import escape
from rich.table import Table

from hopsim.metrics.series import SEED, Group, axis_names, over_seeds
from hopsim.results.result import Results

Cell = Callable[[Group, bool], str]
"""What is shown of points that differ in their seeds only; with an interval if there are several seeds."""


def table(results: Results, caption: str, columns: Mapping[str, Cell]) -> Table:
    """A row per configuration, a column per heading; the caption says what the numbers are."""
    axes = [path for path in results.axes if path != SEED]
    seeds = len({result.summary["seed"] for result in results})
    spread = f", ± 95 % confidence interval over {seeds} seeds" if seeds > 1 else ""
    found = Table(
        caption=f"{caption}{spread}.", caption_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0)
    )
    for name in axis_names(results, axes):
        found.add_column(escape(name), overflow="fold", min_width=4)
    for heading in columns:
        found.add_column(heading, justify="right", no_wrap=True)
    for group in over_seeds(results):
        names = [escape(group.labels.get(path, "–")) for path in axes]
        found.add_row(*names, *(cell(group, seeds > 1) for cell in columns.values()))
    return found


def estimate(metric: str, decimals: int) -> Cell:
    """The mean of a metric over seeds."""
    return lambda group, interval: group.estimate(metric).text(decimals, interval=interval)
