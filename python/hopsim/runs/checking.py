"""What can be said of an experiment before it runs: its networks, deadlock, and what it would take."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hopsim.document.estimate import cut_off, deadlock, expected, runs_programs, survey
from hopsim.document.experiment import Experiment, Point, Source
from hopsim.document.links_warning import warn_of_differing_defaults
from hopsim.document.placement_warning import warn_of_settled_placements
from hopsim.document.recovery_warning import warn_of_no_recovery
from hopsim.metrics.stopping import is_adaptive
from hopsim.runs.runner import all_cores
from hopsim.runs.saturation import points_of, runs_of_search
from hopsim.runs.sweeps import document_of

WORTH_TELLING_S = 1.0
"""Fabrics that are set up in less time are part of the whole."""


def check(experiment: Source, values: Mapping[str, Any] | None = None, **shorthand: Any) -> str:
    """Validate every point of an experiment without running it, and say what `hopsim check` says.

    Args:
        experiment: path of a TOML file, name of a preset, TOML text, or a dictionary.
        values: {dotted path: value} that replace values of the document.
        shorthand: top-level keys; a list, range or array is a sweep axis, as of `sweep`.

    Returns:
        Lines: the number of points, every network with whether packets in it can wait for each other in a
        circle (deadlock), and the time and memory that the points will roughly take.

    Raises:
        ConfigError: bad input, or a network that can deadlock without `allow_deadlock`.
    """
    return "\n".join(lines_of(document_of(experiment, values, None, shorthand)))


def lines_of(document: Experiment) -> Iterator[str]:
    """The lines of `hopsim check`. Raises `ConfigError`, and warns of what results would suffer from."""
    points = points_of(document)
    warn_of_differing_defaults(document, points)
    warn_of_no_recovery(document, points)
    warn_of_settled_placements(document, points)
    runs = 1 if document.saturate is None else runs_of_search(document, points)
    searched = "" if runs == 1 else f", each searched for saturation in about {runs} runs"
    yield f"points: {len(points):,}{searched}"
    yield from _networks(points)
    cores = all_cores()
    needs = expected(points, cores)
    threads = "1 core" if cores == 1 else f"{cores} cores"
    duration = _duration(runs * needs.cpu_s / min(cores, runs * len(points)) + needs.set_up_s)
    if any(map(runs_programs, points)):
        duration = "until all programs are done"
    else:
        longer = " or more" if any(map(is_adaptive, points)) else ""
        duration = f"{duration}{longer} on {threads}"
    if needs.set_up_s >= WORTH_TELLING_S:
        duration += f" ({_duration(needs.set_up_s)} to set up fabrics)"
    yield f"expected: {duration}, {size_of(needs.peak_mb)}"
    yield "OK"


def _networks(points: Sequence[Point]) -> list[str]:
    """A line for every network, and below it what there is to say of deadlock and of nodes that are cut off,
    each once.
    """
    said: dict[str, dict[str, dict[str, None]]] = {}
    parts: dict[str, dict[str, None]] = {}
    for point in points:
        network = _described(point)
        of_network = said.setdefault(network, {})
        found = deadlock(point)
        if found is not None:
            of_network.setdefault(found, {}).update(dict.fromkeys(_routing(point)))
        parts.setdefault(network, {}).update(dict.fromkeys(cut_off(point)))
    lines: list[str] = []
    for network, of_network in said.items():
        lines.append(network)
        for found, routings in of_network.items():
            whose = f"{', '.join(routings)}: " if len(of_network) > 1 and routings else ""
            lines.append(whose + found)
        lines.extend(parts[network])
    return lines


def _routing(point: Point) -> list[str]:
    """The name of the routing; none of a fabric."""
    return list(json.loads(point.config).get("routing") or {})


def _described(point: Point) -> str:
    network = survey(point)
    if "ideal" in json.loads(point.config)["topology"]:
        return f"network: {network.nodes:,} nodes, ideal"
    links = ", ".join(f"{count:,} {kind} links" for kind, count in network.links)
    least = "at least " if network.sampled else ""
    return (
        f"network: {network.nodes:,} nodes, {network.routers:,} routers, {links}; "
        f"diameter {least}{network.diameter}, bisection at most {network.cut:,} links"
    )


def _duration(seconds: float) -> str:
    """`under a second`, `about 40 s`, `about 3 min`, `about 5 h`."""
    for most, unit, name in ((1, 0, ""), (100, 1, "s"), (6000, 60, "min"), (float("inf"), 3600, "h")):
        if seconds < most:
            return f"about {_short(float(f'{seconds / unit:.2g}'))} {name}" if unit else "under a second"
    raise AssertionError("unreachable")


def size_of(megabytes: float) -> str:
    """`about 90 MB`, `about 120 MB`, `about 1.3 GB`, `about 230 GB`: two digits, without an exponent."""
    rounded = float(f"{megabytes:.2g}")
    return f"about {rounded:,.0f} MB" if rounded < 1000 else f"about {_short(rounded / 1000)} GB"


def _short(value: float) -> str:
    """Two digits: `1.3`, `2`, `230`, `1,200`."""
    return f"{value:.1f}".removesuffix(".0") if value < 10 else f"{value:,.0f}"
