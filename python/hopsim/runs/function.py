"""A routing function of one's own, which `run` asks for the output of every packet."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from hopsim.errors import ConfigError

_Asked = tuple[tuple[int, int, int, int, bool], tuple[int | None, int | None], tuple[int, int, int, int]]
_Offered = tuple[tuple[int, int, int, int], tuple[bool, int, int]]

_BITS = 64


@dataclass(frozen=True)
class Output:
    """An output VC of a router, as a routing function sees it.

    Attributes:
        port: the output port; ports of nodes come first.
        vc: the VC, from 0 on.
        router: the router behind the link.
        distance: links of the shortest path from there to the destination's router.
        is_open: whether the packet could be granted this output now.
        credits: free room of the buffer behind it [phits].
        occupancy: what is outstanding, in the output queue, on the link and in the buffer behind it [phits].
    """

    port: int
    vc: int
    router: int
    distance: int
    is_open: bool
    credits: int
    occupancy: int


@dataclass(frozen=True)
class Head:
    """A packet that is the first of its queue in a router and has not arrived.

    Attributes:
        router: the router in which it waits.
        source: the node that has sent it.
        destination: the node that it goes to.
        destination_router: the router of that node.
        is_reply: whether it answers a request.
        input_port: the port by which it has come, `None` in the router of its source.
        input_vc: the VC in which it waits, `None` in the router of its source.
        distance: links of the shortest path from here to the destination's router.
        length: of the packet [phits].
        hops: links that it has passed.
        random: a random number of this attempt, 0 ≤ random < 1, the same in every run of the same seed.
        outputs: the output VCs of all links, by port and VC.
    """

    router: int
    source: int
    destination: int
    destination_router: int
    is_reply: bool
    input_port: int | None
    input_vc: int | None
    distance: int
    length: int
    hops: int
    random: float
    outputs: tuple[Output, ...]


RoutingFunction = Callable[[Head], Output | None]
"""Returns one of the outputs of a head, or `None` to ask for nothing in this attempt."""


class Answers:
    """What the simulator asks a routing function for: the number of an output."""

    def __init__(self, function: RoutingFunction) -> None:
        self._function = function

    def __call__(self, asked: _Asked, offered: list[_Offered]) -> int | None:
        """Raises what the function raises, and `ConfigError` if it returns no output of the head."""
        (router, source, destination, destination_router, is_reply), came, numbers = asked
        distance, length, hops, bits = numbers
        outputs = tuple(Output(*where, *room) for where, room in offered)
        head = Head(
            router,
            source,
            destination,
            destination_router,
            is_reply,
            *came,
            distance,
            length,
            hops,
            # The highest bits, as many as a number has.
            (bits >> (_BITS - 53)) / 2**53,
            outputs,
        )
        answer = self._function(head)
        if answer is None:
            return None
        if answer not in outputs:
            raise ConfigError(
                f"routing: the function returned {answer!r} in router {router}; "
                "valid: one of the outputs of the head, or None"
            )
        return outputs.index(answer)
