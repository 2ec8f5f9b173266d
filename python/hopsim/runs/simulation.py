"""A simulation that another simulator drives: it goes on when it is told to, and takes messages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from hopsim import _core
from hopsim.document.experiment import Experiment, Source
from hopsim.errors import ConfigError
from hopsim.kinds import is_table
from hopsim.results.result import Result
from hopsim.runs.sweeps import threads
from hopsim.runs.workers import measured

_LONG = 2**64 - 1


class Message(NamedTuple):
    """A message that is at its node.

    Attributes:
        number: its number among all that were injected, from 0.
        tag: what it was injected with.
        source: the node that it is from.
        destination: the node that it is at.
        phits: its length, without the headers of its packets.
        injected: cycle in which it was injected.
        delivered: cycle in which its last phit is at its node.
    """

    number: int
    tag: int
    source: int
    destination: int
    phits: int
    injected: int
    delivered: int


class Simulation:
    """A network whose nodes of jobs with `program = "external"` are driven by the caller, at cycle 0.

    The present cycle is the next one to be simulated. A message that is injected joins the queue of its
    node in that cycle, and what is at its node by then has been delivered. Nothing depends on how many
    cycles a step has: the same calls in the same cycles give the same results. Several threads may use it,
    one call after the other.

    Args:
        experiment: path of a TOML file, name of a preset, TOML text, or a dictionary; without a sweep.
        values: {dotted path: value} that replace values of the document.
        workers: threads, as many of them as are worth while; all cores if None. No result depends on it.
        shorthand: the same for top-level keys.

    Raises:
        ConfigError: bad input, or the caller drives no node.
    """

    def __init__(
        self,
        experiment: Source,
        values: Mapping[str, Any] | None = None,
        *,
        workers: int | None = 1,
        **shorthand: Any,
    ) -> None:
        if values is not None and not is_table(values):
            raise ConfigError(f"values = {values!r}: is not a dictionary; valid: {{path: value}}")
        document = Experiment.of(experiment).replacing(dict(values or {}) | shorthand)
        points = document.points()
        if len(points) != 1:
            raise ConfigError(f"{document.name}: has a sweep of {len(points)} points; valid: no sweep")
        self._point = points[0]
        self._simulation = _core.Simulation(self._point.config, threads(workers))
        self._result: Result | None = None

    @property
    def now(self) -> int:
        """The present cycle."""
        return self._simulation.now

    @property
    def in_flight(self) -> int:
        """Messages that have been injected and are not there."""
        return self._simulation.in_flight

    @property
    def nodes(self) -> list[int]:
        """The nodes that the caller drives, job by job in the order of ranks."""
        return self._simulation.nodes

    def waiting(self, node: int) -> int:
        """How many messages wait at a node.

        They have been injected there, and in the cycles so far some packet of them has not been admitted. The
        queue of a node has no end; who wants to be held back as by a full buffer injects no more while some
        wait.

        Args:
            node: a node, by its number in the network, that the caller drives.

        Raises:
            ConfigError: it is not such a node, or the simulation has ended.
        """
        return self._simulation.waiting(_number("node", node))

    def cycles(self, picoseconds: int) -> int:
        """The first cycle that begins so many picoseconds after cycle 0, or later.

        Raises:
            ConfigError: the document has no `units`, or the argument is wrong.
        """
        return self._simulation.cycles(_number("picoseconds", picoseconds, _LONG))

    def picoseconds(self, cycle: int) -> int:
        """The picosecond in which a cycle begins, counted from cycle 0.

        `cycles` of it is that cycle again, unless cycles are shorter than a picosecond.

        Raises:
            ConfigError: the document has no `units`, or the argument is wrong.
        """
        return self._simulation.picoseconds(_number("cycle", cycle, _LONG))

    def phits(self, size: int, /) -> int:
        """The length of a message with so many bytes, without headers: a phit at least.

        Raises:
            ConfigError: the document has no `units`, or the argument is wrong.
        """
        return self._simulation.phits(_number("bytes", size, _LONG))

    def inject(self, source: int, destination: int, phits: int, tag: int = 0) -> int:
        """Inject a message in the present cycle.

        Args:
            source: a node, by its number in the network, that the caller drives.
            destination: another node of the same job.
            phits: length without the headers of packets [phits, 1 … 2³² - 1].
            tag: comes back with the message [0 … 2⁶⁴ - 1].

        Returns:
            The number of the message among all that were injected, from 0.

        Raises:
            ConfigError: an argument is wrong; nothing was injected.
        """
        nodes = (_number("source", source), _number("destination", destination))
        return self._simulation.inject(nodes, _number("phits", phits), _number("tag", tag, _LONG))

    def step(self, cycles: int = 1) -> None:
        """Simulate so many cycles; those in which nothing happens take no time.

        Raises:
            ConfigError: the simulation does not last so long.
            RunError: the simulation cannot go on, for example in a deadlock.
        """
        self._simulation.step(_number("cycles", cycles, _LONG))

    def step_until_delivered(self, most: int) -> bool:
        """Simulate until a message is there that `delivered` has not returned, but so many cycles at most.

        Returns:
            Whether there is one.

        Raises:
            ConfigError: the simulation does not last so long.
            RunError: the simulation cannot go on, for example in a deadlock.
        """
        return self._simulation.step_until_delivered(_number("most", most, _LONG))

    def delivered(self) -> list[Message]:
        """The messages that are there and that no call has returned, by cycle of delivery, then by number."""
        return [Message(*row) for row in self._simulation.delivered()]

    def results(self) -> Result:
        """What has been measured up to the present cycle, as of a run that ends there.

        That ends the simulation: further steps and messages are refused.

        Raises:
            ConfigError: no cycle has been simulated, or the program of another job is not done.
        """
        if self._result is None:
            record, tables = measured(self._point.config, self._simulation.results())
            self._result = Result(record, self._point.axes, tables, self._point.labels)
        return self._result


def _number(name: str, value: Any, most: int = 2**32 - 1) -> int:
    """An argument that is a number of 32 bits, or as many as `most` has. Raises `ConfigError`."""
    try:
        number = None if isinstance(value, bool) else value.__index__()
    except (AttributeError, TypeError):
        number = None
    if number is None or not 0 <= number <= most:
        raise ConfigError(f"{name} = {value!r}: is not a number in range; valid: integers 0 … {most}")
    return number
