"""Runs that follow packets."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from hopsim.document.estimate import AUTO, mean_packet_length, packet_hops_per_cycle
from hopsim.document.experiment import Experiment, Point, Source
from hopsim.errors import ConfigError, RunError
from hopsim.insight import packets
from hopsim.insight.packets import Choice, Packet
from hopsim.metrics import stopping
from hopsim.results.result import Result
from hopsim.runs.sweeps import simulate, threads, together

FEW = 1_000_000
"""Routers passed that are recorded where a single packet is asked for."""
MOST_CYCLES = 3_000_000_000
"""No run is longer."""


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
    flits: bool = False,
    workers: int | None = None,
    progress: bool = True,
    **shorthand: Any,
) -> list[Packet]:
    """Simulate a single point and follow packets through it.

    They are among those that `measure.packets` of the document chooses, if it says so. None of this changes
    the simulation, which may be repeated if a packet is not where it was looked for first.

    Args:
        experiment: path of a TOML file, name of a preset, TOML text, or a dictionary.
        values: {dotted path: value} that replace values of the document.
        source: packets of this node only.
        destination: packets for this node only.
        serial: the packet with this number only; a node numbers what it generates from 0.
        every: packets whose number is a multiple of this.
        after: packets generated in this cycle or later; the end of the warm-up when neither it nor `serial`
            nor `measure.packets` is given.
        slowest: so many of the delivered packets with the greatest latency, the slowest first.
        flits: tell the stages of their flits in every router, too; virtual-channel routers only.
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
    return traced(document, choice, with_flits=flits, workers=threads(workers), progress=progress)


def traced(
    document: Experiment,
    choice: Choice,
    most: int | None = None,
    *,
    with_flits: bool = False,
    workers: int,
    progress: bool,
) -> list[Packet]:
    """The chosen packets of a document with a single point, the first `most` of them; see `trace_packets`."""
    streams = ["packet_hops", *(["flit_hops"] if with_flits else [])]
    document = document.replacing({"measure.streams": streams})
    point = _only_point(document, choice.spelled("flits"))
    config = json.loads(point.config)
    measure = config["measure"]
    kept: dict[str, Any] = measure.get("packets", {})
    warmed = choice.after is choice.serial is None and not kept
    settles = warmed and measure.get("warmup") == AUTO
    if warmed and not settles:
        choice = replace(choice, after=measure.get("warmup", 0))

    def among(recorded: Mapping[str, Any]) -> list[Packet]:
        result = _result(
            document.replacing({"measure.packets": recorded}), choice, workers, progress=progress
        )
        asked = replace(choice, after=stopping.warmup(result)) if settles else choice
        return packets.of(result, asked, most, with_flits=with_flits)

    everything = _chosen(choice, kept)
    rows = FEW / (_most_flits(config) if with_flits else 1)
    for recorded in _fewer(point, choice, (most, rows), everything):
        # What is wrong with the choice is said with all packets in view.
        with contextlib.suppress(ConfigError):
            return among(recorded)
    return among(everything)


def _only_point(document: Experiment, by_flits: str) -> Point:
    """The single point of a document; `by_flits` is what asks for flits."""
    try:
        points = document.points()
    except ConfigError as error:
        if "measure.streams.1 =" in str(error):
            raise ConfigError(
                f"{by_flits}: packets of {document.name} do not move flit by flit; valid: without it, or "
                "router.virtual_channel"
            ) from None
        if "measure.streams.0 =" not in str(error):
            raise
        raise ConfigError(
            f"{document.name}: in fabrics and without contention packets are not followed "
            "one by one; valid: another router than infiniband, another topology than ideal, and no key "
            "contention"
        ) from None
    if len(points) != 1:
        raise ConfigError(
            f"{document.name}: has a sweep of {len(points)} points; valid: a single point, or the results of "
            "a sweep that recorded the stream packet_hops"
        )
    return points[0]


def _chosen(choice: Choice, kept: Mapping[str, Any]) -> dict[str, Any]:
    """All packets that show which ones there are: what the document chooses, narrower as far as is asked."""
    asked = {"source": choice.source, "destination": choice.destination, "every": choice.every}
    # Of one node all are recorded, to tell which there are if the one that is asked for is not.
    if choice.source is None and choice.destination is None:
        asked["from"] = choice.after
    return {**kept, **{name: value for name, value in asked.items() if value is not None}}


def _most_flits(config: Mapping[str, Any]) -> float:
    """Flits of a packet of the job that has the longest ones on average; 1 where no job has traffic."""
    lengths = (mean_packet_length(job["traffic"]) for job in config["jobs"] if "traffic" in job)
    return max(lengths, default=1)


def _fewer(
    point: Point, choice: Choice, limits: tuple[int | None, float], everything: Mapping[str, Any]
) -> Iterator[dict[str, Any]]:
    """Fewer packets, among which what is asked for is, or most likely is.

    Args:
        point: the simulation.
        choice: what is asked for.
        limits: most packets that are told of, if there is such a number, and routers passed to record.
        everything: all packets that are of the choice.
    """
    most, few = limits
    if choice.serial is not None:
        yield {**everything, "every": choice.serial or MOST_CYCLES}
    elif most is not None and (hops := packet_hops_per_cycle(point)):
        first = everything.get("from", 0) if choice.after is None else choice.after
        end = min(first + 1 + int(few / hops), everything.get("to", MOST_CYCLES))
        yield {**everything, "from": first, "to": end}


def _result(document: Experiment, choice: Choice, workers: int, *, progress: bool) -> Result:
    """Simulates what records the packets."""
    try:
        results, outcome = simulate(document.points(), workers, progress=progress)
    except ConfigError as error:
        raise ConfigError(_as_asked(str(error), choice)) from None
    failure = outcome.failures.get(0)
    if failure and failure.startswith("measure.packets."):
        every, fewer = choice.spelled("every"), ("source", "destination", "after")
        raise RunError(
            f"{document.name}: these packets pass more routers than can be followed; valid: a greater "
            f"{every}, or fewer packets by {', '.join(map(choice.spelled, fewer))}"
        )
    if failure:
        raise RunError(failure)
    return results[0]


def _as_asked(message: str, choice: Choice) -> str:
    """A message about `measure.packets` in the words of the arguments that it comes from."""

    def spelled(found: re.Match[str]) -> str:
        return choice.spelled("after" if found[1] == "from" else found[1], found[2])

    return re.sub(r"measure\.packets\.(source|destination|every|from) = (\d+) \(override\)", spelled, message)
