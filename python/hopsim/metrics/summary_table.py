"""The main metrics of an experiment as a table for the terminal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich import box
from rich.markup import escape
from rich.table import Table

from hopsim.metrics import recovery, stopping, verdict
from hopsim.metrics.series import (
    SEED,
    Group,
    axis_names,
    by_job,
    has_bursts,
    has_flows,
    has_jobs,
    has_programs,
    has_searches,
    of_traffic,
    over_seeds,
)
from hopsim.vocabulary.labels import is_load, value_label

if TYPE_CHECKING:
    from hopsim.results.result import Results


@dataclass(frozen=True)
class _Figure:
    """A column: which key of the summary, how it is headed, decimals, with or without interval."""

    key: str
    heading: str
    decimals: int
    interval: bool = False

    def cell(self, group: Group) -> str:
        figure = group.estimate(self.key)
        return figure.text(self.decimals, interval=self.interval)


_OFFERED = _Figure("offered_load", "offered", 3)
_BURSTS = _Figure("cycles_per_burst", "cycles/burst", 1, interval=True)
_WINDOW = _Figure(stopping.WINDOW, "window", 0)
_WARMUP = _Figure(stopping.WARMUP, "warm-up", 0)
_SEARCHES = _Figure("traversed_edges_per_second", "TEPS", 0)
_PROGRAMS = (
    _Figure("execution_time", "execution", 0, interval=True),
    _Figure("compute_time_mean", "compute", 0),
    _Figure("wait_time_mean", "wait", 0),
    _Figure("message_latency_mean", "message latency", 1),
    _Figure("message_latency_p99", "p99", 0),
    _Figure("hops_mean", "hops", 2),
)
_FLOWS = (
    _Figure("throughput_gbps", "Gb/s", 3, interval=True),
    _Figure("flow_throughput_min_gbps", "least flow", 3),
    _Figure("flow_throughput_max_gbps", "greatest", 3),
    _Figure("jain_index", "Jain", 3),
    _Figure("packet_latency_mean_ns", "latency", 0),
    _Figure("packet_latency_p99_ns", "p99", 0),
    _Figure("packets_marked", "marked", 0),
)
"""Of fabrics."""
_FABRIC_PROGRAMS = (*_PROGRAMS[:5], *_FLOWS[:1], _FLOWS[-1])

_BESIDE = (
    *_PROGRAMS[:4],
    _Figure("accepted_load", "accepted", 4),
    _Figure("packet_latency_mean", "latency", 1),
    _Figure("hops_mean", "hops", 2),
)
"""Of programs beside traffic."""
_FIGURES = (
    _Figure("accepted_load", "accepted", 4, interval=True),
    _Figure("packet_latency_mean", "latency", 1, interval=True),
    _Figure("packet_latency_p99", "p99", 0),
    _Figure("hops_mean", "hops", 2),
    _Figure("router_injection_max_min_ratio", "max/min", 2),
    _Figure("jain_index", "Jain", 3),
)


def summary_table(results: Results) -> Table:
    """One row per point, or per job where a point has several.

    Points that differ in their seed only are one row, mean ± 95 % interval.
    """
    parts = by_job(results)
    axes = [path for path in parts.axes if path != SEED and not _is_hidden(parts, path)]
    if has_flows(parts) and has_programs(parts):
        figures = _FABRIC_PROGRAMS
    elif has_flows(parts):
        figures = _FLOWS
    elif not has_programs(parts):
        figures = (*_leading(parts, axes), *_FIGURES, *_lengths(parts))
    else:
        figures = _BESIDE if len(of_traffic(parts)) else _PROGRAMS
    if has_searches(parts):
        figures = (figures[0], _SEARCHES, *figures[1:])
    table = Table(
        caption=_caption(results), caption_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0)
    )
    for name in axis_names(parts, axes):
        table.add_column(escape(name), overflow="fold", min_width=4)
    for figure in figures:
        table.add_column(figure.heading, justify="right", no_wrap=True)
    told = (verdict.cell,) if verdict.has_verdicts(parts) else ()
    if told:
        table.add_column(verdict.KEY, no_wrap=True)
    if stopping.stops(parts):
        told = (*told, stopping.cell)
        table.add_column(stopping.KEY, no_wrap=True)
    if recovery.has_failures(parts):
        told = (*told, recovery.cell)
        table.add_column(recovery.KEY, justify="right", no_wrap=True)
    for group in over_seeds(parts):
        cells = (escape(_label(group, path)) for path in axes)
        figured = (figure.cell(group) for figure in figures)
        table.add_row(*cells, *figured, *(tell(group) for tell in told))
    return table


def _is_hidden(results: Results, path: str) -> bool:
    """Whether `[sweep.labels]` leaves all names of an axis empty: another one says the same."""
    names = [result.labels.get(path) for result in results if path in result.axes]
    return len(names) > 1 and not any(name is None or name for name in names)


def _lengths(results: Results) -> tuple[_Figure, ...]:
    """How long the runs were, as far as they have found that out by themselves."""
    warmup = (_WARMUP,) if stopping.finds_warmup(results) else ()
    return (*warmup, _WINDOW) if stopping.stops(results) else warmup


def _label(group: Group, path: str) -> str:
    """The value of an axis as a cell: never blank, also where its name is empty."""
    if path not in group.axes:
        return "–"
    return group.labels[path] or value_label(group.axes[path])


def _leading(results: Results, axes: list[str]) -> tuple[_Figure, ...]:
    """What drives the network: bursts that wait for each other, its load unless an axis is that, or both."""
    bursts = (_BURSTS,) if has_bursts(results) else ()
    has_loads = any(result.summary.get(_OFFERED.key) is not None for result in results)
    is_axis = any(is_load(path) and (path == "load" or not has_jobs(results)) for path in axes)
    return (*bursts, _OFFERED) if has_loads and not is_axis else bursts


def _caption(results: Results) -> str:
    seeds = {result.summary.get("seed") for result in results}
    if has_flows(results) and not has_programs(results):
        spread = f"; ± 95 % confidence interval over {len(seeds)} seeds" if len(seeds) > 1 else ""
        times = "latencies and recovery" if recovery.has_failures(results) else "latencies"
        return f"Throughput in Gb/s: all flows, and the extreme ones; {times} in ns{spread}."
    if has_programs(results):
        spread = f"; ± 95 % confidence interval over {len(seeds)} seeds" if len(seeds) > 1 else ""
        beside = ""
        if has_flows(results):
            beside = "; throughput in Gb/s"
        elif len(of_traffic(by_job(results))):
            beside = "; accepted load in phits/(node·cycle), latency of packets"
        figures = "computation and waiting of a rank on average, latency of messages"
        return f"Times in cycles: {figures}{beside}{spread}."
    spread = f"{len(seeds)} seeds" if len(seeds) > 1 else "the batches of the run"
    return (
        "Loads in phits/(node·cycle), latencies in cycles; max/min: injected packets per router; "
        f"Jain: injected packets per node; ± 95 % confidence interval over {spread}."
    )
