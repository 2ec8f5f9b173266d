"""Routers and routing of the thesis' networks: what one line of a figure is simulated with.

The thesis leaves some choices open; they are FOGSim's defaults here: three allocator iterations
and the injection VC picked by destination.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from hopsim_reproduce.model import Document
from hopsim_reproduce.thesis.network import PACKET_LENGTH, Network
from hopsim_reproduce.thesis.traffic import Traffic

LOCAL_BUFFER = 32
"""Of a local input VC [phits]."""
GLOBAL_BUFFER = 256
"""Of a global input VC [phits]."""
DAMQ_RESERVED = 0.75
"""Share of a DAMQ buffer that belongs to single VCs (section 5.3.1)."""


@dataclass(frozen=True)
class Arbitration:
    """An arbitration policy of chapter 3."""

    title: str
    arbiter: Any
    transit_priority: bool = False


PRIORITY = Arbitration("round-robin, in-transit priority", "round_robin", transit_priority=True)
ROUND_ROBIN = Arbitration("round-robin", "round_robin")
AGE = Arbitration("age", {"age": {"timestamp": "generation"}})


@dataclass(frozen=True)
class Channels:
    """Virtual channels of the ports between routers."""

    local: int
    global_: int
    reply: tuple[int, int] = (0, 0)
    """Local and global ones of these that only replies use (FlexVC)."""
    selection: str = ""
    """The function that picks a VC (FlexVC); empty: VCs in increasing order."""

    def document(self) -> Document:
        """The section `vcs`. There are three VCs for injection (table 1.2)."""
        content: Document = {"local": self.local, "global": self.global_, "injection": 3}
        if self.selection:
            content["management"] = {"flexvc": {"selection": self.selection}}
        if any(self.reply):
            content["reply"] = dict(zip(("local", "global"), self.reply, strict=True))
        return content


def increasing(local: int, global_: int) -> Channels:
    """VCs in increasing order along the path."""
    return Channels(local, global_)


def flexvc(
    local: int, global_: int, reply: tuple[int, int] = (0, 0), selection: str = "shortest"
) -> Channels:
    """FlexVC with so many VCs for requests and, on top, for replies alone."""
    return Channels(local + reply[0], global_ + reply[1], reply, selection)


@dataclass(frozen=True)
class Buffers:
    """Input buffers [phits per VC, with `reserve` per port]; the output buffer is that of table 1.2."""

    local: int = LOCAL_BUFFER
    global_: int = GLOBAL_BUFFER
    injection: int = 256
    reserve: tuple[int, int] | None = None
    """DAMQ: packets that belong to each local and global VC."""

    def document(self) -> Document:
        """The section `buffers`."""
        content: Document = {
            "local": self.local,
            "global": self.global_,
            "injection": self.injection,
            "output": 32,
        }
        if self.reserve is not None:
            reserves = dict(zip(("local_reserve", "global_reserve"), self.reserve, strict=True))
            content["damq"] = {**reserves, "allow_deadlock": not all(self.reserve)}
        return content


TABLE_1_2 = Buffers()


def damq(channels: Channels, *, local: int = LOCAL_BUFFER, global_: int = GLOBAL_BUFFER) -> Buffers:
    """DAMQ buffers with the memory of separate ones of this size [phits per VC], 75 % of it reserved."""
    reserve = tuple(int(size / PACKET_LENGTH * DAMQ_RESERVED) for size in (local, global_))
    return Buffers(local * channels.local, global_ * channels.global_, reserve=(reserve[0], reserve[1]))


@dataclass(frozen=True)
class System:
    """Routers and routing."""

    name: str
    """What the figure calls it."""
    routing: Document
    channels: Channels
    buffers: Buffers = TABLE_1_2
    arbitration: Arbitration = ROUND_ROBIN
    speedup: float = 2

    def with_(self, **changes: Any) -> System:
        """The same with other fields."""
        return replace(self, **changes)

    def document(self, network: Network, traffic: Traffic, streams: Sequence[str] = ()) -> Document:
        """The experiment without its load and seed."""
        return {
            "compat": "fogsim",
            "topology": {
                "dragonfly": {"p": network.h, "a": network.a, "h": network.h, "arrangement": "palmtree"}
            },
            "links": {
                "injection": {"latency": 1},
                "local": {"latency": 10},
                "global": {"latency": 100},
            },
            "router": {"cioq": self._router()},
            "routing": self.routing,
            "nic": {"injection_vc": "destination"},
            "jobs": [{"traffic": traffic.document(network.h)}],
            "measure": {
                "warmup": network.warmup,
                "cycles": network.cycles,
                "streams": list(streams),
            },
        }

    def _router(self) -> Document:
        return {
            "vcs": self.channels.document(),
            "buffers": self.buffers.document(),
            "speedup": self.speedup,
            "crossbar_latency": 3,
            "allocator": {
                "iterations": 3,
                "input_arbiter": self.arbitration.arbiter,
                "output_arbiter": self.arbitration.arbiter,
                "transit_priority": self.arbitration.transit_priority,
            },
        }
