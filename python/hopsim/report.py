"""The main figures of an experiment as a table for the terminal."""

from __future__ import annotations

from rich.table import Table

from hopsim.results import Results
from hopsim.series import axis_labels, over_seeds
from hopsim.stats import Estimate, estimate

# Summary key -> (heading, unit, significant digits).
_COLUMNS = {
    "offered_load": ("offered", "phits/(node·cycle)", 4),
    "accepted_load": ("accepted", "phits/(node·cycle)", 4),
    "packet_latency_mean": ("latency", "cycles", 5),
    "packet_latency_p99": ("p99", "cycles", 4),
    "hops_mean": ("hops", "", 4),
    "router_injection_max_min_ratio": ("max/min", "router injection", 4),
    "jain_index": ("Jain", "node injection", 4),
}


def summary_table(results: Results) -> Table:
    """One row per point; points that differ in their seed only are one row, mean ± 95 % interval."""
    groups = over_seeds(results)
    axes = [path for path in results.axes if path in groups[0].axes]
    table = Table(caption=_caption(results), caption_justify="left")
    for name in axis_labels(axes):
        table.add_column(name)
    for heading, unit, _ in _COLUMNS.values():
        table.add_column(f"{heading}\n[dim]{unit}[/dim]", justify="right", no_wrap=True)
    for group in groups:
        summaries = [result.summary for result in group.results]
        figures = (_cell(estimate(summaries, key), digits) for key, (_, _, digits) in _COLUMNS.items())
        table.add_row(*(group.labels[path] for path in axes), *figures)
    return table


def _cell(figure: Estimate, digits: int) -> str:
    return figure.text(digits)


def _caption(results: Results) -> str:
    seeds = {result.summary.get("seed") for result in results}
    if len(seeds) > 1:
        return f"± 95 % confidence interval over {len(seeds)} seeds"
    return "± 95 % confidence interval over the batches of the run"
