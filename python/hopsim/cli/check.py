"""`hopsim check`: validate a file without running it, and say what it would take."""

from __future__ import annotations

import json
from collections.abc import Sequence

import click

from hopsim.cli import options
from hopsim.document.estimate import cut_off, deadlock, expected, runs_programs, survey
from hopsim.document.experiment import Point
from hopsim.document.links_warning import warn_of_differing_defaults
from hopsim.document.placement_warning import warn_of_settled_placements
from hopsim.document.recovery_warning import warn_of_no_recovery
from hopsim.metrics.stopping import is_adaptive
from hopsim.runs.runner import all_cores
from hopsim.runs.saturation import points_of, runs_of_search

WORTH_TELLING_S = 1.0
"""Fabrics that are set up in less time are part of the whole."""


@click.command("check")
@options.experiment
@options.assignments
def command(experiment: str, assignments: tuple[str, ...]) -> None:
    """Validate FILE without running it: every point of its sweep, the network, the routing.

    Shows for each network its links between routers, its diameter (links on the longest of the shortest
    paths between routers with nodes), and its bisection: the links between two halves of the nodes, in the
    best cut that is found by halving the routers by number and across each dimension, and then swapping
    routers while that helps. It is an upper bound; where a network is cut evenly, as tori and trees are, it
    is the bisection itself. Below it is whether packets can wait for each other in a circle (deadlock): what
    every packet may do in every router is gone through, for channels (a VC behind an output port) that wait
    for each other, unless that would take long; then it is the rule that excludes it. Where links or routers
    that fail leave the network in parts, it says which nodes are outside the largest of them, and from when
    to when; of an InfiniBand fabric, from when to when nodes have no way to others, as the forwarding tables
    still lead over links that have failed, or round in a circle. Memory and time are estimates, good to a
    factor of about three where the network accepts what is offered; how long programs take is not known
    beforehand, and a window or warm-up that is found takes longer.
    """
    document = options.document(experiment, assignments)
    points = points_of(document)
    warn_of_differing_defaults(document, points)
    warn_of_no_recovery(document, points)
    warn_of_settled_placements(document, points)
    runs = 1 if document.saturate is None else runs_of_search(document, points)
    searched = "" if runs == 1 else f", each searched for saturation in about {runs} runs"
    click.echo(f"points: {len(points):,}{searched}")
    for line in _networks(points):
        click.echo(line)
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
    click.echo(f"expected: {duration}, {size_of(needs.peak_mb)}")
    click.echo("OK")


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
    """The name of the routing; none of an InfiniBand fabric."""
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
