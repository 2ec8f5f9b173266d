"""Curves of the main metrics over load, or bars where every curve has one point."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hopsim.metrics import verdict
from hopsim.metrics.series import OF_LINKS, Series, by_job, has_flows, has_programs, of_programs, of_traffic
from hopsim.plot import style, unsteady
from hopsim.plot.view import Shown, View, over_abscissa
from hopsim.report.points import key_of, numbers_of
from hopsim.vocabulary.units import range_of_column

if TYPE_CHECKING:
    from hopsim.results.result import Results


@dataclass(frozen=True)
class Metric:
    """A key of the summary: the heading of its panel, the label of its axis."""

    key: str
    heading: str
    label: str


LATENCY = "packet_latency_mean"
ACCEPTED = "accepted_load"
TRAFFIC = (
    Metric(LATENCY, "Latency", style.LATENCY),
    Metric("message_latency_mean_ns", "Latency", "Message latency [ns]"),
    Metric("packet_latency_mean_ns", "Latency", "Packet latency [ns]"),
    Metric(ACCEPTED, "Accepted load", style.ACCEPTED),
    Metric("cycles_per_burst", "Time of a burst", "Cycles per burst"),
    Metric("jain_index", "Fairness over nodes", "Jain's index over the nodes (1: all equal)"),
    Metric("router_injection_max_min_ratio", "Spread over routers", "Injected packets per router, max/min"),
)
FABRICS = {
    ACCEPTED: f"Accepted load [{OF_LINKS}]",
    "jain_index": "Jain's index over the flows (1: all equal)",
}
"""Labels that differ in fabrics."""
PROGRAMS = (
    Metric("execution_time", "Execution time", "Execution time [cycles]"),
    Metric("wait_time_mean", "Waiting", "Waiting of a rank, mean [cycles]"),
    Metric("message_latency_mean", "Message latency", "Message latency [cycles]"),
)


def figures_of(results: Results) -> list[dict[str, Any]]:
    """The figures: traffic and programs apart, jobs apart, and of many curves some at a time."""
    parts = by_job(results)
    numbers = numbers_of(results)
    found: list[dict[str, Any]] = []
    if len(traffic := of_traffic(parts)):
        found += [_figure(shown, TRAFFIC, numbers) for shown in over_abscissa(traffic, View())]
    if has_programs(parts):
        found += [_figure(shown, PROGRAMS, numbers) for shown in over_abscissa(of_programs(parts), View())]
    return [figure for figure in found if figure["panels"]]


def _figure(shown: Shown, metrics: tuple[Metric, ...], numbers: dict[str, int]) -> dict[str, Any]:
    abscissa = shown.curves[0].abscissa
    bars = shown.has_one_place
    panels = [
        panel
        for metric in metrics
        if (panel := _panel(metric, shown.curves, numbers, bars=bars))["has_values"]
    ]
    hollow = any(any(curve["hollow"]) for panel in panels for curve in panel["curves"])
    *others, last = dict.fromkeys(panel["heading"].lower() for panel in panels) or [""]
    what = f"{', '.join(others)} and {last}" if others else last
    title = f"{what[:1].upper()}{what[1:]}" + ("" if bars else f" against {abscissa.name}")
    return {
        "title": title,
        "common": shown.title,
        "x": abscissa.label,
        "bars": bars,
        "note": f"{unsteady.NOTE[:1].upper()}{unsteady.NOTE[1:]}." if hollow else "",
        "labels": [series.label or "all" for series in shown.curves],
        "panels": panels,
        "rows": list(_rows(shown.curves, panels)),
    }


def _panel(metric: Metric, curves: list[Series], numbers: dict[str, int], *, bars: bool) -> dict[str, Any]:
    fabric = has_flows(curves[0].groups[0].results)
    drawn = [_curve(series, metric.key, numbers) for series in curves]
    means = [[value for value in curve["y"] if value is not None] for curve in drawn]
    limit = None
    if metric.heading == "Latency" and not bars:
        limit = style.end_of_latencies(means)
    above = [value for values in means for value in values if limit is not None and value > limit]
    return {
        "key": metric.key,
        "heading": metric.heading,
        "label": FABRICS.get(metric.key, metric.label) if fabric else metric.label,
        "limit": limit,
        "above": f"{len(above)} of the points, up to {max(above):,.0f}, are above the axis" if above else "",
        "diagonal": metric.key == ACCEPTED and not bars and curves[0].abscissa.path is None,
        "curves": drawn,
        "has_values": any(means),
    }


def _curve(series: Series, key: str, numbers: dict[str, int]) -> dict[str, Any]:
    """Places, means, 95 % intervals, verdicts and numbers of the points of a curve.

    `half` is the half width of an interval, `below` and `above` what is drawn of it, 0 where there is none.
    """
    values = series.values(key)
    drawn = style.half_widths(values, range_of_column(key))
    ends = np.zeros((2, len(values))) if drawn is None else np.nan_to_num(drawn)
    return {
        "x": series.places(),
        "y": [value.mean for value in values],
        "half": [value.half_width for value in values],
        "below": ends[0].tolist(),
        "above": ends[1].tolist(),
        "verdict": [verdict.cell(group) if verdict.worst(group) else "" for group in series.groups],
        "hollow": [unsteady.is_unsteady(group) for group in series.groups],
        "point": [numbers.get(key_of(group.results[0])) for group in series.groups],
    }


def _rows(curves: list[Series], panels: list[dict[str, Any]]) -> Iterator[list[str]]:
    """The same as a table: curve, place, and a cell for each panel."""
    for series in curves:
        for group, place in zip(series.groups, series.places(), strict=True):
            cells = [group.estimate(panel["key"]) for panel in panels]
            where = "–" if place is None else f"{place:.4g}"
            yield [series.label or "all", where, *(_cell(cell.mean, cell.half_width) for cell in cells)]


def _cell(mean: float | None, half: float | None) -> str:
    if mean is None:
        return "–"
    decimals = 4 if abs(mean) < 10 else 1
    text = f"{mean:,.{decimals}f}"
    return text if half is None else f"{text} ± {half:.{decimals}f}"
