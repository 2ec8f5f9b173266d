"""Figures 5.6 to 5.8, 5.15 and 5.16: oblivious routing, buffers and the function that picks a VC."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from hopsim_reproduce.claims import at_end, at_place, deadlocks, gain, number, peak, peaks, ratio
from hopsim_reproduce.figure import Claim, Number
from hopsim_reproduce.model import Document, Entry, Fact, Scale
from hopsim_reproduce.panels import ACCEPTED, Case, Line, Panel, Points
from hopsim_reproduce.thesis.flexvc import (
    FLEXVC_NOTE,
    PATTERNS,
    RECOMPUTE_NOTE,
    UNIFORM,
    VALIANT,
    Split,
    explanation,
    panel,
    split_name,
    splitting,
)
from hopsim_reproduce.thesis.lines import UNIFORM_LOADS, case, figure, over_load
from hopsim_reproduce.thesis.network import CURVES, TWO_SEEDS
from hopsim_reproduce.thesis.routing import MINIMAL
from hopsim_reproduce.thesis.system import Buffers, Channels, System, damq, flexvc, increasing
from hopsim_reproduce.thesis.traffic import ADV1, UN, Traffic, requests

RESERVES = (0, 2, 3, 4, 6, 8)
"""Packets that belong to each local VC; a port has room for 16."""
RESERVE_LOADS: Mapping[Scale, Sequence[float]] = {
    "quick": (0.7, 0.8, 0.9, 1.0),
    "full": UNIFORM_LOADS["full"],
}
"""Peaks are less than 1 % apart: every load about saturation counts."""
DAMQ_LOCAL, DAMQ_GLOBAL = 128, 512
"""Of a port [phits]."""


def _reserve(packets: int) -> System:
    """The global port's reserve is the same share of its memory."""
    buffers = Buffers(DAMQ_LOCAL, DAMQ_GLOBAL, reserve=(packets, 8 * packets))
    return System(f"{packets} packets", MINIMAL, increasing(2, 1), buffers)


def _reserves(scale: Scale) -> list[Panel]:
    return [over_load(CURVES[scale], UN, map(_reserve, RESERVES), RESERVE_LOADS[scale])]


RESERVE_CLAIMS = (
    deadlocks("without a reserve the network deadlocks at saturation", "UN", "0 packets"),
    ratio(
        "with 25 % reserved the results present congestion",
        at_end("UN", "2 packets"),
        at_end("UN", "6 packets"),
        high=0.98,
    ),
    *(
        peaks(
            f"75 % reserved is the best: {packets} packets", "UN", ("6 packets", f"{packets} packets"), 0.995
        )
        for packets in (2, 3, 4)
    ),
    peaks("75 % against separate buffers is negligible", "UN", ("6 packets", "8 packets"), 0.99, 1.03),
)


def _oblivious(traffic: Traffic) -> dict[str, tuple[Document, Channels, bool]]:
    """Name -> routing, VCs and whether the buffers are DAMQ, from the least VCs that will do."""
    routing, local, global_ = (VALIANT, 4, 2) if traffic is ADV1 else (MINIMAL, 2, 1)
    found: dict[str, tuple[Document, Channels, bool]] = {
        "baseline": (routing, increasing(local, global_), False),
        "DAMQ 75 %": (routing, increasing(local, global_), True),
    }
    for vcs in ((2, 1), (4, 2), (8, 4)):
        if vcs >= (local, global_):
            found[f"FlexVC {vcs[0]}/{vcs[1]}"] = (routing, flexvc(*vcs), False)
    return found


def _oblivious_systems(traffic: Traffic) -> list[System]:
    """With the same memory per VC."""
    return [
        System(name, routing, channels, damq(channels) if shared else Buffers())
        for name, (routing, channels, shared) in _oblivious(traffic).items()
    ]


def _oblivious_panels(scale: Scale) -> list[Panel]:
    return [panel(traffic, _oblivious_systems(traffic), scale) for traffic in PATTERNS]


def _bursty_gain(line: str, published: float) -> Number:
    pair = (at_place("BURSTY-UN", line, 0.4), at_place("BURSTY-UN", "baseline", 0.4))
    return gain(line, "latency against baseline under BURSTY-UN at 0.4", pair, published)


OBLIVIOUS_NUMBERS = (
    number("FlexVC 8/4 under UN", "peak", peak("UN", "FlexVC 8/4"), 0.9, 2),
    number("FlexVC 8/4 under ADV+1", "peak", peak("ADV+1", "FlexVC 8/4"), 0.49, 2),
    _bursty_gain("DAMQ 75 %", -4.8),
    _bursty_gain("FlexVC 2/1", -11.2),
    _bursty_gain("FlexVC 4/2", -23.8),
    _bursty_gain("FlexVC 8/4", -27.6),
)
OBLIVIOUS_CLAIMS = (
    *(
        peaks(f"{traffic.title}: {line} outperforms the baseline", traffic.title, (line, "baseline"), 1.0)
        for traffic in UNIFORM
        for line in ("FlexVC 2/1", "FlexVC 4/2", "FlexVC 8/4")
    ),
    peaks("UN: FlexVC outperforms DAMQ", "UN", ("FlexVC 2/1", "DAMQ 75 %"), 1.0),
    ratio("bursts cost throughput", peak("BURSTY-UN", "baseline"), peak("UN", "baseline"), high=1.0),
)

MEMORIES = ((64, 256), (128, 512), (192, 768), (256, 1024))
"""Of a local and a global port [phits]."""
FULL_LOAD = 1.0


def _memory_panel(traffic: Traffic, speedup: float, scale: Scale) -> Panel:
    lines: dict[str, Line] = {}
    for name, (routing, channels, shared) in _oblivious(traffic).items():
        lines[name] = {
            f"{local}/{global_}": case(
                CURVES[scale],
                traffic,
                System(name, routing, channels, _memory(channels, (local, global_), shared), speedup=speedup),
                FULL_LOAD,
                f"{local} {global_}",
            )
            for local, global_ in MEMORIES
        }
    return Panel(traffic.title, lines, "memory of a local/global port [phits]")


def _memory(channels: Channels, ports: tuple[int, int], shared: bool) -> Buffers:
    """The memory of the ports divided among their VCs."""
    local, global_ = ports[0] // channels.local, ports[1] // channels.global_
    return damq(channels, local=local, global_=global_) if shared else Buffers(local, global_)


def _memories(speedup: float) -> Callable[[Scale], Sequence[Panel]]:
    return lambda scale: [_memory_panel(traffic, speedup, scale) for traffic in PATTERNS]


SMALL, THREE_TIMES, LARGE = "64/256", "192/768", "256/1024"


def _memory_gain(panel: str, line: str, published: float) -> Number:
    pair = (at_place(panel, line, SMALL, ACCEPTED), at_place(panel, "baseline", SMALL, ACCEPTED))
    return gain(f"{line} under {panel}, {SMALL} phits", "throughput against baseline", pair, published)


def _better_everywhere() -> tuple[Claim, ...]:
    return tuple(
        ratio(
            f"{panel}, {place} phits: FlexVC is beneficial",
            at_place(panel, "FlexVC 4/2", place, ACCEPTED),
            at_place(panel, "baseline", place, ACCEPTED),
            1.0,
        )
        for panel in ("UN", "BURSTY-UN", "ADV+1")
        for place in (SMALL, LARGE)
    )


MEMORY_CLAIMS = (
    *_better_everywhere(),
    ratio(
        "UN: FlexVC 2/1 with the least memory is as good as the baseline with three times more",
        at_place("UN", "FlexVC 2/1", SMALL, ACCEPTED),
        at_place("UN", "baseline", THREE_TIMES, ACCEPTED),
        0.97,
    ),
    ratio(
        "UN: FlexVC 8/4 with the least memory outperforms the baseline with four times more",
        at_place("UN", "FlexVC 8/4", SMALL, ACCEPTED),
        at_place("UN", "baseline", LARGE, ACCEPTED),
        1.0,
    ),
)


SELECTIONS = {"JSQ": "shortest", "Highest-VC": "highest", "Lowest-VC": "lowest", "Random": "random"}
SELECTION_SPLITS: Sequence[Split] = ((2, 1, 2, 1), (3, 2, 2, 1), (4, 3, 2, 1))
APART = 0.034
"""Of the policies, as the text has it."""
SELECTION_PANEL = "UN, requests and replies, load 1"


def _selection_case(name: str, split: Split, scale: Scale) -> Case:
    system = System(name, MINIMAL, splitting(split, SELECTIONS[name]))
    return case(CURVES[scale], requests(UN), system, FULL_LOAD, split_name(split))


def _selections(scale: Scale) -> list[Panel]:
    lines: dict[str, Line] = {
        name: {split_name(split): _selection_case(name, split, scale) for split in SELECTION_SPLITS}
        for name in SELECTIONS
    }
    return [Panel(SELECTION_PANEL, lines, "VCs of requests + replies")]


def _against_jsq(line: str, place: str, statement: str, low: float | None, high: float | None) -> Claim:
    return ratio(
        f"{place}: {statement}",
        at_place(SELECTION_PANEL, line, place, ACCEPTED),
        at_place(SELECTION_PANEL, "JSQ", place, ACCEPTED),
        low,
        high,
    )


def _lowest(place: str) -> Claim:
    def check(points: Points) -> Fact:
        loads = {name: points.line(SELECTION_PANEL, name, ACCEPTED).get(place) for name in SELECTIONS}
        known = {name: value.mean for name, value in loads.items() if value is not None}
        return Fact(
            f"{place}: Lowest-VC is the worst",
            "the least throughput of all policies is that of Lowest-VC",
            ", ".join(f"{name} {value:.4f}" for name, value in known.items()),
            len(known) == len(SELECTIONS) and min(known, key=lambda name: known[name]) == "Lowest-VC",
        )

    return check


def _apart_on_average(points: Points) -> Fact:
    """How far the policies are apart, mean over the sets of VCs."""
    loads = [points.line(SELECTION_PANEL, name, ACCEPTED) for name in SELECTIONS]
    apart = [
        1 - min(line[place].mean for line in loads) / max(line[place].mean for line in loads)
        for place in map(split_name, SELECTION_SPLITS)
        if all(place in line for line in loads)
    ]
    mean = sum(apart) / len(apart) if apart else 1.0
    return Fact(
        "the policies are less than 3.4 % apart on average",
        f"greatest over least throughput, mean of the sets of VCs, less than {APART:.1%} apart",
        f"{mean:.2%}",
        mean < APART,
    )


SELECTION_CLAIMS = (
    _apart_on_average,
    *(
        claim
        for split in SELECTION_SPLITS
        for place in [split_name(split)]
        for claim in (
            _against_jsq("Highest-VC", place, "JSQ is at least as good as Highest-VC", None, 1.01),
            _against_jsq("Random", place, "Random is competitive", 0.97, None),
            _lowest(place),
        )
    ),
)


def entries() -> list[Entry]:
    """The figures in order."""
    memory_title = "Throughput at full load with oblivious routing by memory"
    return [
        figure(
            "5.6",
            "Throughput under UN with MIN by the reserve of DAMQ buffers",
            _reserves,
            explanation(
                "The text gives the reserve of local ports; that of global ones is the same share of memory.",
                "A run that ends in a deadlock has no point on its line.",
            ),
            RESERVE_CLAIMS,
            seeds=TWO_SEEDS,
        ),
        figure(
            "5.7",
            "Latency and throughput of oblivious routing, 32/256 phits per VC",
            _oblivious_panels,
            explanation(FLEXVC_NOTE, RECOMPUTE_NOTE),
            OBLIVIOUS_CLAIMS,
            OBLIVIOUS_NUMBERS,
        ),
        figure(
            "5.8",
            memory_title,
            _memories(2),
            explanation(FLEXVC_NOTE, RECOMPUTE_NOTE),
            MEMORY_CLAIMS,
            seeds=TWO_SEEDS,
            quantities=(ACCEPTED,),
        ),
        figure(
            "5.15",
            f"{memory_title}, routers without speedup",
            _memories(1),
            explanation(FLEXVC_NOTE, RECOMPUTE_NOTE),
            _better_everywhere(),
            (_memory_gain("UN", "FlexVC 8/4", 37.8),),
            quantities=(ACCEPTED,),
        ),
        figure(
            "5.16",
            "Throughput under UN requests and replies by the function that picks a VC",
            _selections,
            explanation(FLEXVC_NOTE),
            SELECTION_CLAIMS,
            seeds=TWO_SEEDS,
            quantities=(ACCEPTED,),
        ),
    ]
