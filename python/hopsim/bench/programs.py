"""Cases of nodes that run programs: time and memory of whole networks, without reading their files."""

from __future__ import annotations

import lzma
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from hopsim.bench.cases import Case, Measure
from hopsim.bench.figures import Figure
from hopsim.bench.measure import Bench, Document, Usage

MB = 1e6
UNITS = {"cycle": "1 ns", "phit": "4 B"}
LARGE_PACKETS = {"packet_length": 1_024}


def ideal(nodes: int) -> dict[str, Any]:
    """The ideal network that traces are compared on."""
    return {"ideal": {"nodes": nodes, "latency": 500}}


def torus(packet_length: int) -> dict[str, Any]:
    """A torus of 512 nodes with buffers for two packets of so many phits."""
    buffers = {"network": 2 * packet_length, "injection": 2 * packet_length}
    return {"topology": {"torus": {"sides": [8, 8, 8]}}, "router": {"input_queued": {"buffers": buffers}}}


def document(program: Document, host: Document, count: int, **keys: Any) -> dict[str, Any]:
    """A program on the first nodes of a network."""
    job = {"program": program, "host": host, "placement": {"nodes": {"first": 0, "count": count}}}
    return {"units": UNITS, "jobs": [job], **keys}


def cases(traces: Path | None) -> Iterator[Case]:
    """All cases; those of recorded programs only if their directory is given."""
    section = "programs, without reading them"
    stencil = {"sides": [4, 4, 4], "periodic": True, "bytes": 4_000, "iterations": 2_000, "compute": 5_000}
    experiment = document({"stencil": stencil}, LARGE_PACKETS, 64, topology=ideal(64))
    # A rank and iteration: receives, sends and messages there of six neighbours, a computation, a wait.
    events = 64 * 2_000 * (3 * 6 + 2)
    yield Case(section, "ideal, stencil of 64 ranks", _whole(experiment, events=events, ns=100, mb=30))
    exchange = {"sides": [8, 8], "periodic": True, "bytes": 11_000, "iterations": 4_800, "compute": 50_000}
    on_torus = document({"stencil": exchange}, LARGE_PACKETS, 64, **torus(1_024))
    yield Case(section, "torus of 512, stencil of 64 ranks, 1,024 phits", _whole(on_torus, s=3))
    search = {"graph500": {"scale": 18, "query_time": 5.0, "root_degree": 20}}
    dragonfly = {"topology": {"dragonfly": {"p": 2, "a": 4, "h": 2}}}
    buffers = {"local": 2_048, "output": 2_048, "global": 16_384, "injection": 16_384}
    router = {"cioq": {"crossbar_latency": 200, "buffers": buffers}}
    of_search = document(search, {"packet_length": 512}, 72, **dragonfly, router=router)
    of_search["units"] = {"cycle": "1.6 ns", "phit": "8 B"}
    yield Case(section, "dragonfly of 72, Graph500 of scale 18", _whole(of_search, s=0.1))
    large = {"topology": {"dragonfly": {"p": 6, "a": 12, "h": 6}}}
    all_to_all = {"collective": {"kind": "alltoall", "bytes": 64}}
    host = {"collectives": {"alltoall": "pairwise"}}
    yield Case(
        section,
        "dragonfly of 5,256, alltoall of 4,096 ranks",
        _whole(document(all_to_all, host, 4_096, **large), mb=200),
    )
    training = {
        "data": 160,
        "tensor": 8,
        "pipeline": 8,
        "layers": 16,
        "micro_batches": 4,
        "activation": 8_000,
        "gradient": 64_000,
        "forward": 20_000,
        "backward": 40_000,
    }
    of_training = document(
        {"training": training},
        {"packet_length": 64, "collectives": {"allreduce": "ring"}},
        10_240,
        topology={"dragonfly": {"p": 8, "a": 16, "h": 8}},
        router={"cioq": {"buffers": {"local": 256, "global": 512, "injection": 256, "output": 256}}},
    )
    yield Case(section, "dragonfly of 16,512, training of 10,240 ranks", _whole(of_training, s=300, mb=1_000))
    if traces is not None:
        yield from _recorded(section, traces)


def _recorded(section: str, traces: Path) -> Iterator[Case]:
    file = traces / "LU.A.64.it50.mpt.xz"
    program = {"trace": {"file": str(file)}}
    experiment = document(program, LARGE_PACKETS, 64, topology=ideal(64))
    yield Case(section, "ideal, LU.A.64.it50", _whole(experiment, file, events=3_560_000, s=0.4, mb=30))
    every = [
        (path, document({"trace": {"file": str(path)}}, LARGE_PACKETS, _ranks(path), topology=ideal(64)))
        for path in sorted(traces.glob("*.mpt.xz"))
    ]
    yield Case(section, "ideal, all traces", _all(every, 4))
    file = traces / "SP.A.64.mpt.xz"
    for length, target in ((1_024, 3.0), (16, 90.0)):
        keys = torus(length) if length > 16 else {"topology": {"torus": {"sides": [8, 8, 8]}}}
        experiment = document({"trace": {"file": str(file)}}, {"packet_length": length}, 64, **keys)
        name = f"torus of 512, SP.A.64, {length:,} phits"
        yield Case(section, name, _whole(experiment, file, s=target))


def _ranks(path: Path) -> int:
    """Ranks of a trace: CG.A.16.it2.mpt.xz has 16."""
    return int(path.name.split(".")[2])


def _text(file: Path | None) -> bytes | None:
    return None if file is None else lzma.decompress(file.read_bytes())


def _whole(
    experiment: Document,
    file: Path | None = None,
    *,
    s: float | None = None,
    mb: float | None = None,
    events: int = 0,
    ns: float | None = None,
) -> Measure:
    """CPU time of the run, that of an event if so many are known, and memory, with their targets."""

    def measure(case: Case, bench: Bench) -> Iterator[Figure]:
        text = _text(file)
        usage, hops = bench.program(experiment, text)
        note = f"{hops / 1e6:,.2f} M packet-hops" if hops else ""
        yield Figure(case.name, "CPU time", "s", usage.cpu_s, s, note)
        if events:
            yield Figure(case.name, "time per event", "ns", usage.cpu_s / events * 1e9, ns)
        if hops:
            yield Figure(case.name, "time per packet-hop", "ns", usage.cpu_s / hops * 1e9)
        yield Figure(case.name, "peak memory", "MB", usage.peak_bytes / MB, mb)

    return measure


def _all(every: Sequence[tuple[Path, Document]], target: float) -> Measure:
    def measure(case: Case, bench: Bench) -> Iterator[Figure]:
        usages: list[Usage] = [bench.program(experiment, _text(path))[0] for path, experiment in every]
        time = sum(usage.cpu_s for usage in usages)
        yield Figure(case.name, "CPU time", "s", time, target, f"{len(usages)} traces")

    return measure
