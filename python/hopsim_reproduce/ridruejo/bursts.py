"""Figure 2: how much shorter bursts get with local buffer restriction, by their length."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hopsim_reproduce.model import Document, Entry, Experiment, Fact, Measured, Outcome, Results, Scale, slug
from hopsim_reproduce.panels import BURST
from hopsim_reproduce.ridruejo import system
from hopsim_reproduce.ridruejo.system import CHOSEN, CONTROLS, NOTE, PACKET_LENGTH, RIDRUEJO

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LENGTHS: Sequence[int] = (10, 30, 100, 300, 1_000, 3_000, 10_000)
"""Packets of a node in a burst."""
SEEDS: Mapping[Scale, int] = {"quick": 1, "full": 10}
PACKETS = 1_000
"""That a node sends in a run, if bursts get so long: short ones are repeated."""


@dataclass(frozen=True)
class Network:
    """A ring or torus."""

    title: str
    topology: Document
    cycles: int
    """That a node needs for a packet, at most: sets the length of the runs."""
    quick: Sequence[int]
    """Lengths of the bursts of a quick run: the shortest, the longest, and of the ring those of the tori."""

    def lengths(self, scale: Scale) -> Sequence[int]:
        """Of the bursts."""
        return self.quick if scale == "quick" else LENGTHS


RING = Network("64-ring", {"ring": {"routers": 64}}, 400, (10, 100, 300, 1_000))
TORI = (
    Network("16×16 torus", {"torus": {"sides": [16, 16]}}, 90, (10, 300)),
    Network("32×32 torus", {"torus": {"sides": [32, 32]}}, 170, (10, 100)),
)
NETWORKS = (RING, *TORI)
PATTERNS: Mapping[str, Any] = {"UN": "uniform", "HR": {"hot_region": {"fraction": 0.25, "share": 0.125}}}


def _document(network: Network, pattern: str, control: str, scale: Scale, length: int) -> Document:
    bursts = math.ceil(min(PACKETS, network.lengths(scale)[-1]) / length)
    plain = system.network(network.topology, control)
    return {
        **plain,
        "nic": {**plain["nic"], "source_queue": {"packets": 0}, "when_full": "wait"},
        "jobs": [
            {
                "traffic": {
                    "packet_length": PACKET_LENGTH,
                    "pattern": PATTERNS[pattern],
                    "process": {"synchronised_bursts": {"packets": length}},
                }
            }
        ],
        "measure": {"warmup": 0, "cycles": network.cycles * length * bursts, "batches": 1},
    }


def _name(network: Network, pattern: str, control: str, length: int) -> str:
    return slug(network.title, pattern, control, str(length))


def _experiments(scale: Scale, seeds: int) -> list[Experiment]:
    return [
        Experiment(
            _name(network, pattern, control, length),
            _document(network, pattern, control, scale, length),
            (),
            seeds,
        )
        for network in NETWORKS
        for pattern in PATTERNS
        for control in CONTROLS
        for length in network.lengths(scale)
    ]


Lines = Mapping[str, Mapping[float | str, Measured]]
"""Network and pattern -> length of the bursts -> time relative to the base case."""


def _lines(scale: Scale, results: Results) -> Lines:
    def time(network: Network, pattern: str, length: int) -> Measured:
        own, base = (results[_name(network, pattern, control, length)] for control in ("LBR", "base"))
        return system.relative(own, base, BURST)

    return {
        _line(network, pattern): {length: time(network, pattern, length) for length in network.lengths(scale)}
        for network in NETWORKS
        for pattern in PATTERNS
    }


def _line(network: Network, pattern: str) -> str:
    return f"{network.title}, {pattern}"


def _conclude(scale: Scale, results: Results) -> Outcome:
    return Outcome(facts=list(_facts(_lines(scale, results))))


def _facts(lines: Lines) -> Iterator[Fact]:
    for name, line in lines.items():
        values = list(line.values())
        first, last = values[0].mean, values[-1].mean
        yield Fact(
            f"{name}: LBR reduces the time of a burst",
            "below the base case for the longest bursts",
            f"{last:.3f} ± {values[-1].std:.3f}",
            last < 1,
        )
        yield Fact(
            f"{name}: the gain increases with the length of the bursts",
            "longest below shortest",
            f"{last:.3f}, {first:.3f}",
            last < first,
        )
    for pattern in PATTERNS:
        for network in TORI:
            torus = lines[_line(network, pattern)]
            length = list(torus)[-1]
            ring = lines[_line(RING, pattern)][length]
            yield Fact(
                f"{pattern}: LBR gains more in the {network.title} than in the ring",
                f"bursts of {length:,}: torus below ring",
                f"{torus[length].mean:.3f}, {ring.mean:.3f}",
                torus[length].mean < ring.mean,
            )


def _notes(scale: Scale) -> list[str]:
    longest = ", ".join(f"{network.lengths(scale)[-1]:,} ({network.title})" for network in NETWORKS)
    lines = [
        f"{NOTE} Bursts of {LENGTHS[0]} packets to {longest}; short ones are repeated until a node has sent "
        f"about {PACKETS:,}, or as much as in its longest burst.",
        "The paper does not give the size of its 2-D network. It uses the ring instead of an 8×8 torus, as "
        "that hardly saturates, and speaks of a radix similar to the ring's: here 16×16 and 32×32.",
        f"{CHOSEN}; a packet in the torus without a way to go in X is put to an injection port by its way "
        "in Y.",
    ]
    if scale == "quick":
        lines.append("The paper goes up to bursts of 10,000 packets and repeats with 10 seeds: --scale full.")
    return lines


def _draw(scale: Scale, results: Results) -> Figure:
    from hopsim_reproduce import drawing

    return drawing.relative(
        "Figure 2: time of a burst with LBR, relative to that without",
        ("packets of a node in a burst", "time relative to the base case"),
        _lines(scale, results),
    )


def entries() -> list[Entry]:
    """The figure."""
    return [
        Entry(
            name="ridruejo-figure-2",
            title="Time of bursts in step with local buffer restriction, ring and tori",
            source=f"{RIDRUEJO}, figure 2",
            notes=_notes,
            seeds=SEEDS,
            experiments=_experiments,
            conclude=_conclude,
            draw=_draw,
        )
    ]
