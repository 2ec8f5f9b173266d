"""Applications of §5.5: traces of the NAS Parallel Benchmarks on the adaptive mesh."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean

from hopsim_reproduce.claims import Value
from hopsim_reproduce.izu.system import ADAPTIVE, MESH, PACKET_LENGTH, Mechanism
from hopsim_reproduce.model import Document, Measured, Scale, slug
from hopsim_reproduce.panels import EXECUTION_TIME, Case, Line, Points

FILE = "jobs.0.program.trace.file"
"""Axis of the experiments."""
PHIT_BYTES = 4


CYCLE_NS = 32
"""Of the network, beside processors of the recorded speed [ns].

The paper prints neither cycle nor bandwidth: this was fitted to the three means that it prints for SAT.
"""
NIC_QUEUE = 1
"""Packets that have their time stamp and wait for room in the queue of 24 packets: none but the next one."""
SHORT: Mapping[str, str] = {
    "BT": "BT.A.64.it5",
    "SP": "SP.A.64.it5",
    "LU": "LU.A.64.it5",
    "CG": "CG.A.64.it2",
    "MG": "MG.A.64",
    "IS": "IS.S.64",
    "FT": "FT.W.64",
}
TRACES: Mapping[Scale, Mapping[str, str]] = {
    "quick": SHORT,
    "full": {**SHORT, "IS": "IS.A.64", "FT": "FT.A.64"},
}
"""Benchmark -> the trace of it that the package ships."""
SEEDS: Mapping[Scale, int] = {"quick": 1, "full": 3}


def line(mechanism: Mechanism, cpu_speed: float, scale: Scale) -> Line:
    """The benchmarks with a mechanism, on processors of a speed."""
    job: Document = {
        "placement": {"nodes": {"first": 0, "count": 64}},
        "program": {"trace": {}},
        "host": {
            "compat": "fsin",
            "packet_length": PACKET_LENGTH,
            "cpu_speed": cpu_speed,
            "nic_queue": NIC_QUEUE,
        },
    }
    units = {"cycle": f"{CYCLE_NS} ns", "phit": f"{PHIT_BYTES} B"}
    document = MESH.running(ADAPTIVE, mechanism, job, units)
    name = slug(mechanism.title, f"cpu {cpu_speed:g}")
    return {
        benchmark: Case(name, document, f"traces/{trace}.mpt.xz", axis=FILE)
        for benchmark, trace in TRACES[scale].items()
    }


def relative(points: Points, panel: str, pair: tuple[str, str], benchmarks: Iterable[str]) -> Measured:
    """Execution time of a line over that of another one with the same seed, mean over benchmarks."""
    own, base = ([_times(points, panel, name, each) for each in benchmarks] for name in pair)
    ratios = [
        [first / second for first, second in zip(*each, strict=True)] for each in zip(own, base, strict=True)
    ]
    return Measured.of([fmean(of_seed) for of_seed in zip(*ratios, strict=True)])


def _times(points: Points, panel: str, name: str, benchmark: str) -> Sequence[float]:
    return [result.summary[EXECUTION_TIME] for result in points.at(panel, name, benchmark)]


def over(panel: str, pair: tuple[str, str], benchmarks: Sequence[str]) -> Value:
    """The same as a value of claims."""
    whose = benchmarks[0] if len(benchmarks) == 1 else "mean of the benchmarks"
    return Value(
        f"{whose}: {pair[0]} / {pair[1]}, {panel}", lambda points: relative(points, panel, pair, benchmarks)
    )


def notes(scale: Scale) -> list[str]:
    """What is run, and what the paper leaves open."""
    traces = ", ".join(TRACES[scale].values())
    lines = [
        "Adaptive 8×8 mesh, packets of 16 phits, transit queues of 64 phits per VC, one cycle per router and "
        "link; rank i on node i. FSIN's "
        "hosts: a send ends when it has left the node, all packets are full, collectives are made of pairs.",
        f"Traces of NPB 3.3, recorded on another machine than the paper's of NPB 3.2: {traces}.",
        f"Not in the paper: what a cycle is. Here it is {CYCLE_NS} ns and a phit {PHIT_BYTES} B, links of "
        f"{1000 * PHIT_BYTES / CYCLE_NS:g} MB/s: fitted to the means that the paper prints for SAT. "
        "With cycles of 1 ns the network hardly matters.",
    ]
    if scale == "quick":
        lines.append("IS and FT of class A, as in the paper, take most of the time: --scale full.")
    return lines
