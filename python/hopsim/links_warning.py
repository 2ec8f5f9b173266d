"""A warning about sweeps that compare networks whose links have different default latencies."""

from __future__ import annotations

import json
import warnings
from collections.abc import Sequence
from typing import Any

from hopsim.errors import HopsimWarning
from hopsim.experiment import Experiment, Point

LINKS = "links"


def warn_of_default_latencies(experiment: Experiment, points: Sequence[Point]) -> None:
    """Warn if topologies are compared whose links differ in latency only because nobody stated one."""
    compared = {path.partition(".")[0] for point in points[:1] for path in point.axes}
    stated = experiment.states(LINKS) or any(path.startswith(f"{LINKS}.") for path, _ in experiment.overrides)
    if "topology" not in compared or LINKS in compared or stated:
        return
    latencies: dict[str, tuple[tuple[str, int], ...]] = {}
    for point in points:
        config = json.loads(point.config)
        (name,) = config["topology"]
        if LINKS in config:  # An ideal network has none.
            latencies.setdefault(name, _latencies(config, name))
    if len({tuple(sorted({latency for _, latency in each})) for each in latencies.values()}) > 1:
        listed = "; ".join(
            f"{name} {', '.join(f'{kind} {latency}' for kind, latency in each)}"
            for name, each in latencies.items()
        )
        keys = sorted({f"links.{kind}.latency" for each in latencies.values() for kind, _ in each})
        warnings.warn(
            f"{experiment.name}: the topologies that are compared have links of different latency, "
            f"by default ({listed} cycles); {', '.join(keys)} state it",
            HopsimWarning,
            stacklevel=3,
        )


def _latencies(config: dict[str, Any], topology: str) -> tuple[tuple[str, int], ...]:
    """(Class, latency) of the links between routers; those of a graph may each have stated their own."""
    if topology == "graph":
        edges = {edge["latency"] for edge in config["topology"]["graph"]["edges"]}
        return tuple(("network", latency) for latency in sorted(edges))
    return tuple((kind, link["latency"]) for kind, link in config[LINKS].items() if kind != "injection")
