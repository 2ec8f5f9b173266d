"""Traffic patterns of the thesis (section 1.6.1)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from hopsim_reproduce.model import Document
from hopsim_reproduce.thesis.behaviour import PUBLISHED, Behaviour
from hopsim_reproduce.thesis.network import PACKET_LENGTH

BURST_LENGTH = 5
"""Mean packets of a burst (section 5.3)."""


@dataclass(frozen=True)
class Traffic:
    """What all nodes send."""

    title: str
    pattern: Callable[[int], Any]
    """The pattern in a network of this h."""
    bursty: bool = False
    request_reply: bool = False

    def document(self, h: int) -> Document:
        """The section `traffic` of the job, without its load."""
        content: Document = {
            "pattern": self.pattern(h),
            "process": {"bursty": {"burst_length": BURST_LENGTH}} if self.bursty else {"bernoulli": {}},
            "packet_length": PACKET_LENGTH,
        }
        if self.request_reply:
            content["request_reply"] = {}
        return content


UN = Traffic("UN", lambda _: "uniform")
BURSTY_UN = Traffic("BURSTY-UN", lambda _: "uniform", bursty=True)
ADV1 = Traffic("ADV+1", lambda _: {"adversarial": {"offset": 1}})
ADVH = Traffic("ADV+h", lambda h: {"adversarial": {"offset": h}})


def advc(behaviour: Behaviour = PUBLISHED) -> Traffic:
    """Adversarial-consecutive traffic (section 3.1)."""
    return Traffic("ADVc", lambda h: {"adversarial_consecutive": {"groups": behaviour.advc_groups(h)}})


def mix(uniform_percent: int) -> Traffic:
    """ADV+1 with a share of uniform packets (figure 4.7)."""
    parts = [
        {"weight": weight, "pattern": pattern}
        for weight, pattern in (
            (uniform_percent, "uniform"),
            (100 - uniform_percent, {"adversarial": {"offset": 1}}),
        )
        if weight
    ]
    return Traffic(f"UN {uniform_percent} %", lambda _: {"mix": parts})


def requests(traffic: Traffic) -> Traffic:
    """The same pattern as requests that are answered (section 1.6.2)."""
    return replace(traffic, request_reply=True)
