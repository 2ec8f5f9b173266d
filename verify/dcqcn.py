"""DCQCN of n flows that share a link, against a source alone with random marks, and against a fluid model.

To the source marks come at random, with a probability that does not change: it is written here from the
rules of `docs/infiniband.md`, without a network. It has the rate of a flow in the network if as many of its
packets are marked there.

The fluid model is that of Zhu, Ghobadi, Misra, Padhye, *ECN or Delay: Lessons Learnt from Analysis of DCQCN
and TIMELY*, CoNEXT 2016, section 3; its fixed point is solved here without the approximations that the
paper makes behind it. It leaves fluctuations out, so it says that a quarter fewer packets are marked than
are, of the source as in the network; it is printed beside, and bounds nothing.
"""

from __future__ import annotations

import math
import random
from collections import deque
from dataclasses import dataclass
from statistics import mean

from rich.table import Table

from hopsim import Result
from verify.options import Options
from verify.simulate import Document

RATE = 40.0
"""What links carry [Gb/s]: the ones of the paper on DCQCN."""
MTU = 1000
CNP, ALPHA, TIMER = 50e-6, 55e-6, 55e-6
"""Times from one notification to the next, of the timer of the share and of that of the rate [s]."""
BYTES, RECOVERY, INCREASE = 10_000_000, 5, 0.001
"""Bytes between two events of the counter, events of fast recovery, a step of the target [rate of a link]."""
MIN, MAX, PROBABILITY = 5_000, 200_000, 0.01
"""Where marks begin, where all packets are marked [bytes], and how likely a mark is just before."""
SHARE, HYPER = 1 / 256, 0.005
"""The weight of a notification, and a step of hyper increase [rate of a link]."""
FLOWS = (2, 3, 4, 5)
"""Numbers of flows with which the queue stays below the step of the probability."""
DELAY = 3e-6
"""From a packet to its notification: links, switch, and a packet that waits [s]."""
PACKETS, SEEDS = 1_000_000, 4
"""Packets of the source alone, and how often it runs."""

RATES, FAIR, USED = 0.03, 0.98, 0.98
"""Bounds: how far the rate of the source may be from that of a flow, Jain's index, use of the link."""


def probability(flows: int) -> float:
    """How likely a mark is where nothing changes any more, by the fluid model."""
    rate = RATE * 1e9 / 8 / MTU / flows
    step = INCREASE * RATE * 1e9 / 8 / MTU
    counter = BYTES / MTU

    def excess(mark: float) -> float:
        """How much more rates fall than they rise."""
        stays = math.log1p(-mark)
        cut = -math.expm1(CNP * rate * stays)
        share = -math.expm1(ALPHA * rate * stays)
        by_counter = mark / math.expm1(-counter * stays)
        by_timer = mark / math.expm1(-TIMER * rate * stays)
        increases = math.exp(RECOVERY * counter * stays) * by_counter
        increases += math.exp(RECOVERY * TIMER * rate * stays) * by_timer
        return cut**2 * share / CNP**2 - (by_counter + by_timer) * increases * step * rate

    low, high = 1e-9, 0.05
    while high / low > 1 + 1e-9:
        middle = math.sqrt(low * high)
        low, high = (middle, high) if excess(middle) < 0 else (low, middle)
    return low


@dataclass
class Source:
    """A source that has been notified; rates are shares of that of the link."""

    rate: float = 1.0
    target: float = 1.0
    share: float = 1.0
    notified: float = 0.0
    next_event: float = math.inf
    events: tuple[int, int] = (0, 0)
    bytes_sent: int = 0

    def rise(self, timer: int, counter: int) -> None:
        """An event of the timer or of the counter of bytes."""
        self.events = (self.events[0] + timer, self.events[1] + counter)
        beyond = min(self.events) - RECOVERY
        if max(self.events) >= RECOVERY:
            self.target = min(1.0, self.target + (beyond * HYPER if beyond > 0 else INCREASE))
        self.rate = (self.rate + self.target) / 2

    def catch_up(self, now: float) -> None:
        """The events of the timer up to now."""
        while self.next_event <= now:
            self.next_event += TIMER
            self.rise(1, 0)

    def cut(self, now: float) -> None:
        """A notification."""
        self.catch_up(now)
        if self.next_event < math.inf:
            self.share *= (1 - SHARE) ** int((now - self.notified) / ALPHA)
        self.target = self.rate
        self.rate *= 1 - self.share / 2
        self.share = (1 - SHARE) * self.share + SHARE
        self.notified, self.next_event = now, now + TIMER
        self.events, self.bytes_sent = (0, 0), 0

    def send(self) -> None:
        """A packet."""
        self.bytes_sent += MTU
        if self.bytes_sent >= BYTES and self.next_event < math.inf:
            self.bytes_sent -= BYTES
            self.rise(0, 1)


def mean_rate(mark: float, seed: int) -> float:
    """The rate of a source, if each of its packets is marked with this probability [rate of the link]."""
    draws, source = random.Random(seed), Source()
    packet = MTU * 8 / (RATE * 1e9)
    now, quiet, begins = 0.0, 0.0, 0.0
    notifications: deque[float] = deque()
    for number in range(PACKETS):
        if number == PACKETS // 5:
            begins = now
        while notifications and notifications[0] <= now:
            source.cut(notifications.popleft())
        source.catch_up(now)
        gap = packet / source.rate
        source.send()
        if now >= quiet and draws.random() < mark:
            quiet = now + CNP
            notifications.append(now + DELAY)
        now += gap
    return (PACKETS - PACKETS // 5) * packet / (now - begins)


def document(flows: int) -> Document:
    """So many hosts of a switch that send to another one without end."""
    lanes = f"{RATE} Gb/s"
    link = {"rate": lanes, "delay": "500 ns"}
    return {
        "topology": {"fat_tree": {"k": flows + 1, "levels": 1}},
        "router": {
            "ethernet": {
                "mtu": MTU,
                "links": {"host": link},
                "switch": {"buffers": {"host": "1024 KiB"}, "output_buffer": "4 KiB", "crossbar": "80 Gb/s"},
                "congestion_control": {},
            }
        },
        "jobs": [{"flows": [{"source": source, "destination": flows} for source in range(flows)]}],
        "measure": {
            "time": {"warmup": "100 ms", "window": "400 ms"},
        },
    }


@dataclass(frozen=True)
class Found:
    """What a run shows: the share of packets that are marked, Jain's index, use of the link, and pauses."""

    marked: float
    fairness: float
    used: float
    pauses: int


def found(result: Result) -> Found:
    """What a run shows."""
    summary = result.summary
    return Found(
        summary["packets_marked"] / summary["packets_delivered"],
        summary["jain_index"],
        summary["throughput_gbps"] / RATE,
        summary["pauses"],
    )


def failures(flows: int, seen: Found, rate: float) -> list[str]:
    """What must not be, beside a source alone that has this rate."""
    wrong: list[str] = []
    off = rate * flows - 1
    if abs(off) > RATES:
        wrong.append(f"{flows} flows: the rate of the source is {off:+.1%} from that of a flow")
    if seen.fairness < FAIR:
        wrong.append(f"{flows} flows: Jain's index is {seen.fairness:.3f}")
    if seen.used < USED:
        wrong.append(f"{flows} flows: the link is used for {seen.used:.1%}")
    if seen.pauses:
        wrong.append(f"{flows} flows: links were paused, {seen.pauses} times")
    return wrong


def check(options: Options) -> int:
    """Run all numbers of flows and count what must not be."""
    chosen = [flows for flows in FLOWS if options.selects(str(flows))]
    rows = options.simulate([document(flows) for flows in chosen], 1, found)
    table = Table(title="n flows of a link with DCQCN", title_justify="left")
    headings = ("flows", "marked", "by the fluid model", "rate with as many marks", "Jain's index", "use")
    for heading in headings:
        table.add_column(heading, justify="right")
    wrong: list[str] = []
    for flows, (seen,) in zip(chosen, rows, strict=True):
        rate = mean(mean_rate(seen.marked, seed) for seed in range(SEEDS))
        cells = (f"{seen.marked:.3%}", f"{probability(flows):.3%}", f"{rate:.3f} of {1 / flows:.3f}")
        table.add_row(str(flows), *cells, f"{seen.fairness:.3f}", f"{seen.used:.3f}")
        wrong += failures(flows, seen, rate)
    options.console.print(table)
    for reason in wrong:
        options.console.print(reason)
    return len(wrong)
