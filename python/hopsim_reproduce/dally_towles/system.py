"""The router that all of these have, and what is asked of VCs that share the same storage."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from hopsim_reproduce.claims import Value, ratio
from hopsim_reproduce.figure import Claim
from hopsim_reproduce.model import Document, Measured, quotient

DALLY = "W. J. Dally, Virtual-channel flow control, ISCA 1990, and IEEE TPDS 3(2), 1992"
BOOK = "W. J. Dally, B. Towles, Principles and Practices of Interconnection Networks, Morgan Kaufmann, 2004"
STORAGE = 16
"""Behind every link, whatever number of VCs it is divided among [flits]."""
PACKET_LENGTH = 20
"""[flits]"""
INJECTION = 40
"""Of an injection VC: two packets, so that nodes do not send at the pace of a VC of a link [flits]."""
MORE = 1.02
"""Of a throughput that is higher, or a latency that is longer, than another."""


@dataclass(frozen=True)
class Lengths:
    """How long a point is simulated [cycles]."""

    warmup: int
    cycles: int

    def measure(self, streams: Sequence[str] = ()) -> Document:
        """The section of the document."""
        return {"warmup": self.warmup, "cycles": self.cycles, "streams": list(streams)}


@dataclass(frozen=True)
class Router:
    """Delays and crossbar of a router [cycles]."""

    routing: int = 1
    vc_allocation: int = 1
    traversal: int = 1
    crossbar_inputs: str = "port"

    @property
    def delay(self) -> int:
        """What a head takes that meets no other packet: t_r."""
        return self.routing + self.vc_allocation + self.traversal

    def document(self, vcs: int, buffer: int, **of_vcs: str) -> Document:
        """The section of the document; `buffer` is that of a VC of a link, `of_vcs` further keys of `vcs`."""
        return {
            "virtual_channel": {
                "vcs": {"network": vcs, "injection": vcs, "ejection": vcs, **of_vcs},
                "buffers": {"network": buffer, "injection": INJECTION},
                "routing_delay": self.routing,
                "vc_allocation_delay": self.vc_allocation,
                "switch_traversal_delay": self.traversal,
                "crossbar_inputs": self.crossbar_inputs,
            }
        }


def divided(vcs: int) -> int:
    """Flits of a VC, of which so many share the storage."""
    return STORAGE // vcs


def rises(values: Sequence[Value], names: Sequence[str], where: str) -> Iterator[Claim]:
    """Each of these throughputs is higher than the one before."""
    for (under, over), (fewer, more) in zip(pairwise(values), pairwise(names), strict=True):
        yield ratio(f"{where}: {more} accept more than {fewer}", over, under, MORE)


def share(value: Value, of: float, label: str) -> Value:
    """A value as a share of a number."""
    return Value(label, lambda points: quotient(value.of(points), Measured.exactly(of)))


def over(first: Value, second: Value, label: str) -> Value:
    """The quotient of two values."""
    return Value(label, lambda points: quotient(first.of(points), second.of(points)))
