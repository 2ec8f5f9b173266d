"""Congestion control as it is by default, at every speed: the victim of 2 to 64 contributors.

The table that this prints is in `docs/infiniband.md`.
"""

from __future__ import annotations

from dataclasses import dataclass

from rich.table import Table

from hopsim import Result
from hopsim.insight import limit_note
from verify.options import Options
from verify.simulate import Document

SPEEDS = {
    "SDR": 8.0,
    "DDR": 16.0,
    "QDR": 32.0,
    "FDR": 600 / 11,
    "EDR": 100.0,
    "HDR": 200.0,
    "NDR": 400.0,
    "XDR": 800.0,
}
"""What 4 lanes carry [Gb/s]."""
COUNTS = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
WIDTHS = {"8x": 2, "4x": 1}
"""Lanes of the links between switches, and how many times they carry what those to hosts do."""
MTU = 2048
APART_NS = 512.0
"""As marks are by default [ns]."""
K = 5
"""Of the fat tree with three levels."""
HOT, VICTIM, ELSEWHERE = 0, K * K + K - 1, (K - 1) * K * K
"""The nodes that are sent to by contributors, that sends to another one, and that other one."""
WARMUP, WINDOW = 25_000, 15_000
"""Packets on a link of a host, for each packet from one mark to the next."""

VICTIM_GETS = {"8x": 0.98, "4x": 0.8}
HOT_LINK = 0.9
FAIR = {"8x": 0.98, "4x": 0.85}
"""Bounds of what is measured, beside that of an index at its limit."""


@dataclass(frozen=True)
class Case:
    """A speed, a width of the links between switches, and how many send to the hot node."""

    speed: str
    width: str
    count: int

    @property
    def name(self) -> str:
        """As `--rows` sees it."""
        return f"{self.speed} {self.width} {self.count}"

    @property
    def sources(self) -> list[int]:
        """The contributors, spread over the leaves of all subtrees but that of the hot node."""
        nodes = [
            pod * K * K + leaf * K + port for port in range(K) for leaf in range(K) for pod in range(1, K)
        ]
        return [node for node in nodes if node not in (VICTIM, ELSEWHERE)][: self.count]

    @property
    def free(self) -> float:
        """What contributors with even shares of the hot link leave for the victim [link of a host]."""
        beside = sum(source // (K * K) == VICTIM // (K * K) for source in self.sources)
        return min(1.0, WIDTHS[self.width] - beside / self.count)

    def document(self) -> Document:
        """Everybody sends as fast as possible, through buffers that are no bottleneck."""
        packet = MTU * 8 / SPEEDS[self.speed]
        step = packet * max(2, -(-APART_NS // packet))
        lanes = f"4x {self.speed}"
        flows = [{"source": source, "destination": HOT} for source in self.sources]
        return {
            "topology": {"fat_tree": {"k": K, "levels": 3}},
            "router": {
                "infiniband": {
                    "mtu": MTU,
                    "links": {"host": {"rate": lanes}, "switch": {"rate": f"{self.width} {self.speed}"}},
                    "host": {"injection": lanes, "drain": lanes, "receive_buffer": "64 KiB"},
                    "switch": {"crossbar": f"12x {self.speed}", "output_buffer": "64 KiB"},
                    "congestion_control": {},
                }
            },
            "jobs": [
                {"name": "victim", "flows": [{"source": VICTIM, "destination": ELSEWHERE}]},
                {"name": "contributors", "flows": flows},
            ],
            "measure": {
                "time": {"warmup": f"{round(WARMUP * step)} ns", "window": f"{round(WINDOW * step)} ns"}
            },
        }


@dataclass(frozen=True)
class Found:
    """What a run shows.

    Attributes:
        victim: throughput of the victim [Gb/s].
        contributors: that of all contributors [Gb/s].
        fairness: Jain's index of the contributors.
        at_limit: greatest share of the window for which an index is at its limit.
    """

    victim: float
    contributors: float
    fairness: float
    at_limit: float


def found(result: Result) -> Found:
    """What a run shows."""
    victim, contributors = result.jobs
    return Found(
        victim["throughput_gbps"],
        contributors["throughput_gbps"],
        contributors["jain_index"],
        result.summary["ccti_at_limit_fraction"],
    )


def cases() -> list[Case]:
    """All cases."""
    return [Case(speed, width, count) for width in WIDTHS for speed in SPEEDS for count in COUNTS]


def failures(case: Case, seen: Found) -> list[str]:
    """What must not be."""
    rate = SPEEDS[case.speed]
    victim, hot = seen.victim / rate / case.free, seen.contributors / rate
    wrong: list[str] = []
    if victim < VICTIM_GETS[case.width]:
        wrong.append(f"{case.name}: the victim gets {victim:.1%} of what is left for it")
    if hot < HOT_LINK:
        wrong.append(f"{case.name}: the hot link is used for {hot:.1%}")
    if seen.fairness < FAIR[case.width]:
        wrong.append(f"{case.name}: Jain's index of the contributors is {seen.fairness:.3f}")
    if seen.at_limit > limit_note.SLIGHT:
        wrong.append(f"{case.name}: an index is at its limit for {seen.at_limit:.1%} of the window")
    return wrong


def check(options: Options) -> int:
    """Run all cases and count what must not be."""
    chosen = [case for case in cases() if options.selects(case.name)]
    rows = options.simulate([case.document() for case in chosen], 1, found)
    seen = {case: row[0] for case, row in zip(chosen, rows, strict=True)}
    for width in WIDTHS:
        table = Table(
            title=f"{width} between switches: victim, of what is left for it / hot link, of what it carries",
            title_justify="left",
        )
        for heading in ("speed", *map(str, COUNTS)):
            table.add_column(heading, justify="right")
        for speed in SPEEDS:
            table.add_row(speed, *(_cell(seen, Case(speed, width, count)) for count in COUNTS))
        options.console.print(table)
    least = min(seen.values(), key=lambda each: each.fairness)
    most = max(seen.values(), key=lambda each: each.at_limit)
    options.console.print(
        f"Least Jain's index {least.fairness:.3f}; most time at the limit {most.at_limit:.2%}"
    )
    wrong = [reason for case, each in seen.items() for reason in failures(case, each)]
    for reason in wrong:
        options.console.print(reason)
    return len(wrong)


def _cell(seen: dict[Case, Found], case: Case) -> str:
    if case not in seen:
        return ""
    rate = SPEEDS[case.speed]
    return f"{seen[case].victim / rate / case.free:.2f} {seen[case].contributors / rate:.2f}"
