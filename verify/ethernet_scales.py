"""Sizes and rates with which packets take as many whole nanoseconds here as in ns-3."""

from __future__ import annotations

from dataclasses import dataclass

from verify.ethernet_rows import Scenario


@dataclass(frozen=True)
class Scale:
    """Sizes and a rate with which all packets take as many whole nanoseconds as in ns-3, which rounds down.

    There a data packet has 1,001 B and an acknowledgement 60 B, with HPCC 88 B.
    """

    rate: int
    """Of the link [Gb/s]."""
    packet: int
    acknowledgement: int

    def time(self, size: int) -> float:
        """What so many bytes take on the link [ns]."""
        return size * 8 / self.rate

    @property
    def packet_time(self) -> float:
        """What a data packet takes on the link [ns]."""
        return self.time(self.packet)

    @property
    def acknowledgement_time(self) -> float:
        """What an acknowledgement takes on the link [ns]."""
        return self.time(self.acknowledgement)


SCALES = {"25": Scale(24, 960, 57), "50": Scale(48, 960, 57), "100": Scale(100, 1000, 50)}
"""By the rate there: 320 and 19 ns, 160 and (half a nanosecond more than there) 9.5 ns, 80 and 4 ns."""
OF_HPCC = {"25": Scale(24, 960, 84), "100": Scale(96, 960, 84)}
"""With acknowledgements of 88 B: 320 and 28 ns, 80 and 7 ns."""
PACKET = 1001


def scale(scenario: Scenario) -> Scale:
    """That of the links of hosts."""
    return (OF_HPCC if scenario.is_hpcc else SCALES)[scenario.topology["rate"]]
