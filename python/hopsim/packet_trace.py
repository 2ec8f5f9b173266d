"""Runs that follow packets."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from hopsim import packets
from hopsim.errors import ConfigError, RunError
from hopsim.estimate import is_fabric
from hopsim.experiment import Experiment, Source
from hopsim.packets import Choice, Packet
from hopsim.sweep import simulate, threads, together


def trace_packets(  # noqa: PLR0913 (what a packet can be chosen by)
    experiment: Source,
    values: Mapping[str, Any] | None = None,
    *,
    source: int | None = None,
    destination: int | None = None,
    serial: int | None = None,
    every: int | None = None,
    after: int | None = None,
    slowest: int | None = None,
    workers: int | None = None,
    progress: bool = True,
    **shorthand: Any,
) -> list[Packet]:
    """Simulate a single point and follow packets through it.

    Args:
        experiment: path of a TOML file, name of a preset, TOML text, or a dictionary.
        values: {dotted path: value} that replace values of the document.
        source: packets of this node only.
        destination: packets for this node only.
        serial: the packet with this number only; a node numbers what it generates from 0.
        every: packets whose number is a multiple of this.
        after: packets generated in this cycle or later; the end of the warm-up when neither it nor `serial`
            is given.
        slowest: so many of the delivered packets with the greatest latency, the slowest first.
        workers: most threads of the simulation; all cores when not given.
        progress: show a bar when in a terminal or notebook.
        shorthand: top-level keys, such as `load=0.4`.

    Returns:
        The packets in order of generation. `packet.lines()` tells the life of one.

    Raises:
        ConfigError: bad input, a sweep, a network without routers that packets wait in, no such packet.
        RunError: the simulation could not finish, or there are too many packets to follow.
    """
    document = Experiment.of(experiment).replacing(together(values=values) | shorthand)
    choice = Choice(source, destination, serial, every, after, slowest)
    return traced(document, choice, workers=threads(workers), progress=progress)


def traced(
    document: Experiment, choice: Choice, most: int | None = None, *, workers: int, progress: bool
) -> list[Packet]:
    """The chosen packets of a document with a single point, the first `most` of them; see `trace_packets`."""
    points = document.points()
    if len(points) != 1:
        raise ConfigError(
            f"{document.name}: has a sweep of {len(points)} points; valid: a single point, or the results of "
            "a sweep that recorded the stream packet_hops"
        )
    config = json.loads(points[0].config)
    if is_fabric(config):
        raise ConfigError(
            "router.infiniband: packets of a fabric are not followed one by one; "
            "valid: router.cioq or router.input_queued"
        )
    if "ideal" in config["topology"] or "contention" in config:
        raise ConfigError(
            "topology: no router of a network without contention sees a packet, and nobody waits for "
            "anything there; valid: another topology, and no key contention"
        )
    if choice.after is None and choice.serial is None:
        choice = replace(choice, after=config["measure"].get("warmup", 0))
    asked = {"source": choice.source, "destination": choice.destination, "every": choice.every}
    # Of one node all are recorded, to tell which there are if the one that is asked for is not.
    if choice.source is None and choice.destination is None:
        asked["from"] = choice.after
    chosen = {name: value for name, value in asked.items() if value is not None}
    document = document.replacing({"measure.streams": ["packet_hops"], "measure.packets": chosen})
    results, outcome = simulate(document.points(), workers, progress=progress)
    if outcome.failures:
        raise RunError(outcome.failures[0])
    return packets.of(results[0], choice, most)
