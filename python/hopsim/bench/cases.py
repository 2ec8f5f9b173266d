"""What is measured. A case is a name and a function from a bench to metrics."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from hopsim.bench.figures import Figure
from hopsim.bench.measure import Bench, Document, NotMeasuredError, document, setup
from hopsim.runs.sweeps import run

REFERENCE_CYCLES = (3_000, 3_000)
MB = 1e6

# Greatest instructions per packet-hop by load; Valiant's under ADV+1.
INSTRUCTIONS = {0.1: 500.0, 0.5: 550.0, 1.0: 650.0}
VALIANT_INSTRUCTIONS = 750.0
# The same of heads with a choice, under ADV+1, and of a torus.
CHOICE_INSTRUCTIONS = {"olm": 1_100.0, "piggyback": 1_100.0, "source_adaptive": 1_100.0, "ugal": 1_500.0}
TORUS_INSTRUCTIONS = {0.05: 750.0, 0.3: 750.0}
ADAPTIVE_TORUS_INSTRUCTIONS = 1_300.0
# Greatest instructions with a stream over those without.
STREAM_RATIO = 1.15
# The same with all that says where congestion begins and what packets wait for.
MICROSCOPE_RATIO = 1.5
IDLE_CPU_S = 0.02

AGE = {"input_arbiter": "age", "output_arbiter": "age"}
VALIANT = {"routing": "valiant", "jobs": [{"traffic": {"pattern": "ADV+1"}}]}
MESH = {"topology": {"mesh": {"sides": [8, 8]}}, "router": {"input_queued": {"vcs": {"network": 2}}}}
TORUS = {"topology": {"torus": {"sides": [64, 64]}}, "router": {"input_queued": {"vcs": {"network": 3}}}}
TREE = {"topology": {"fat_tree": {"k": 4, "levels": 5}}, "router": {"input_queued": {"vcs": {"network": 1}}}}
# Greatest instructions per hop of a flit in an 8 × 8 mesh of virtual-channel routers, by flits of a packet.
FLIT_INSTRUCTIONS = {1: 400.0, 5: 200.0}
CHIP = {
    "topology": {"mesh": {"sides": [8, 8]}},
    "links": {"network": {"latency": 2}, "injection": {"latency": 2}},
    "router": {
        "virtual_channel": {"vcs": {"network": 4, "injection": 4}, "buffers": {"network": 8, "injection": 8}}
    },
}
# Greatest instructions per packet-hop over those of minimal routing in the dragonfly.
CUBE_RATIO = 1.3
# The same of heads that choose an output over those that do not, in one network.
CHOICE_RATIO = 2.5
# The same of graphs over a dragonfly of like size, and of UGAL over minimal routing in one graph.
GRAPH_RATIO, GRAPH_UGAL_RATIO = 1.25, 2.0
GRAPH_CYCLES = (300, 300)
GRAPHS: dict[str, dict[str, Any]] = {
    "slim fly of q = 19": {"slim_fly": {"q": 19}},
    "PolarFly of q = 31": {"polarfly": {"q": 31, "nodes_per_router": 10}},
    "jellyfish of 1,000 routers": {"jellyfish": {"routers": 1_000, "degree": 32, "nodes_per_router": 10}},
}
# With the links and the routers that graphs have by default.
LIKE_GRAPHS: dict[str, Any] = {
    "topology": {"dragonfly": {"p": 7, "a": 14, "h": 7}},
    "links": {"local": {"latency": 1}, "global": {"latency": 1}},
    "router": {"cioq": {"vcs": {"local": 2, "global": 2}, "buffers": {"local": 64, "global": 64}}},
}
H8 = {"topology": {"dragonfly": {"p": 8, "a": 16, "h": 8}}}
H16 = {"topology": {"dragonfly": {"p": 16, "a": 32, "h": 16}}}


Measure = Callable[["Case", Bench], Iterator[Figure]]
"""Yields the metrics of a case; may raise `NotMeasuredError`."""


@dataclass(frozen=True)
class Case:
    """A group of metrics.

    Attributes:
        section: heading in the table.
        name: what is run; unique.
        measure: what yields them.
        quick: part of `--quick`.
    """

    section: str
    name: str
    measure: Measure
    quick: bool = False

    def figures(self, bench: Bench) -> list[Figure]:
        """All metrics; one without a value says what could not be measured."""
        found: list[Figure] = []
        try:
            for figure in self.measure(self, bench):
                found.append(figure)  # one by one: what came before a failure stays
        except NotMeasuredError as error:
            found.append(Figure(self.name, "not measured", "", None, note=str(error)))
        return found


def cases() -> list[Case]:
    """Every case, in the order of the table."""
    return [*_reference(), *_ratios(), *_choices(), *_cubes(), *_routed(), *_flits(), *_modes(), *_memory()]


def _reference() -> Iterator[Case]:
    section = "1,056 nodes, 3,000 + 3,000 cycles"
    for compat, name in (("", "default"), ("fogsim", "fogsim")):
        keys: dict[str, Any] = {"compat": compat} if compat else {}
        for load in (0.01, 0.1, 0.5, 0.7, 1.0):
            experiment = document(load, REFERENCE_CYCLES, **keys)
            measure = _per_packet_hop(experiment, INSTRUCTIONS.get(load), idle=load == 0.01)
            quick = not compat and load in (0.01, 0.1, 0.5)
            yield Case(section, f"{name} UN minimal {load}", measure, quick)
        experiment = document(0.45, REFERENCE_CYCLES, **VALIANT, **keys)
        yield Case(section, f"{name} ADV+1 valiant 0.45", _per_packet_hop(experiment, VALIANT_INSTRUCTIONS))


def _per_packet_hop(experiment: Document, target: float | None, *, idle: bool = False) -> Measure:
    """Time and instructions per packet-hop of the run phase; with `idle`, its CPU time too."""

    def measure(case: Case, bench: Bench) -> Iterator[Figure]:
        timing = bench.timing(experiment)
        hops = max(timing.packet_hops, 1)
        note = f"median {timing.median_ns_per_hop:.1f}; {hops / 1e6:.3f} M packet-hops"
        yield Figure(case.name, "time per packet-hop", "ns", timing.best_ns_per_hop, note=note)
        if idle:
            note = f"median {timing.median_s:.4f}"
            yield Figure(case.name, "CPU time", "s", timing.best_s, IDLE_CPU_S, note)
        yield Figure(case.name, "instructions per packet-hop", "", bench.instructions(experiment), target)

    return measure


def _ratios() -> Iterator[Case]:
    section = "instructions per packet-hop against the plain case"
    for load in (0.5, 1.0):
        plain = document(load, REFERENCE_CYCLES)
        for name, allocator in (("age arbiters", AGE), ("transit priority", {"transit_priority": True})):
            changed = {**plain, "router": {"cioq": {"allocator": allocator}}}
            yield Case(section, f"{name} {load}", _ratio(changed, plain, 1.25, "round-robin"))
    for load in (0.1, 0.5, 1.0):
        plain = document(load, REFERENCE_CYCLES)
        for stream in ("nodes", "links", "injection_waits"):
            streams = document(load, REFERENCE_CYCLES, measure={"streams": [stream]})
            yield Case(
                section, f"stream {stream} {load}", _ratio(streams, plain, STREAM_RATIO, "summary only")
            )
        streams = {"streams": ["link_series", "waits", "congestion_trees"], "interval": 500}
        watched = document(load, REFERENCE_CYCLES, measure=streams)
        yield Case(section, f"congestion {load}", _ratio(watched, plain, MICROSCOPE_RATIO, "summary only"))
        # All 6,000 cycles measured, against the last one only.
        measured = document(load, (0, sum(REFERENCE_CYCLES)))
        unmeasured = document(load, (sum(REFERENCE_CYCLES) - 1, 1), measure={"batches": 1})
        yield Case(section, f"summary {load}", _ratio(measured, unmeasured, 1.10, "warm-up only"))


def _choices() -> Iterator[Case]:
    """Heads that choose an output or a VC, against those that do not."""
    section = "instructions per packet-hop of heads with a choice"
    oblivious = document(0.45, REFERENCE_CYCLES, **VALIANT)
    for name, target in CHOICE_INSTRUCTIONS.items():
        adaptive = {**oblivious, "routing": name}
        yield Case(section, f"ADV+1 {name} 0.45, instructions", _per_packet_hop(adaptive, target))
        yield Case(section, f"ADV+1 {name} 0.45", _ratio(adaptive, oblivious, CHOICE_RATIO, "valiant"))
        yield Case(section, f"ADV+1 {name} 0.45, decisions", _decisions(adaptive))
    for load in (0.5, 1.0):
        plain = document(load, REFERENCE_CYCLES)
        vcs = {"local": 8, "global": 4, "management": "flexvc"}
        flexible = {**plain, "router": {"cioq": {"vcs": vcs}}}
        yield Case(section, f"UN FlexVC 8/4 {load}", _ratio(flexible, plain, 1.5, "increasing 2/1"))


def _cubes() -> Iterator[Case]:
    """Meshes, tori and trees against the dragonfly, and adaptive routing against DOR."""
    section = "meshes, tori and trees"
    for name, network, loads, cycles in (
        ("8x8 mesh DOR", MESH, (0.3, 1.0), (5_000, 20_000)),
        ("64x64 torus DOR bubble", TORUS, (0.05, 0.2, 0.3, 1.0), (500, 500)),
        ("4-ary 5-tree", TREE, (0.3, 1.0), (1_000, 1_000)),
    ):
        for load in loads:
            plain = document(1.0 if load == 1.0 else 0.5, REFERENCE_CYCLES)
            own = document(load, cycles, **network)
            target = TORUS_INSTRUCTIONS.get(load) if network is TORUS else None
            measure = _against((own, target), plain, CUBE_RATIO, "the dragonfly, minimal")
            yield Case(section, f"{name} UN {load}", measure)
    for load in (0.05, 0.2, 1.0):
        ordered = document(load, (500, 500), **TORUS)
        adaptive = {**ordered, "routing": "adaptive"}
        name = f"64x64 torus adaptive bubble UN {load}"
        target = ADAPTIVE_TORUS_INSTRUCTIONS
        yield Case(section, name, _against((adaptive, target), ordered, CHOICE_RATIO, "DOR"))


def _routed() -> Iterator[Case]:
    """Graphs against a dragonfly with the same routers, and UGAL against minimal routing."""
    section = "graphs of about 10,000 nodes"
    dragonfly = document(0.5, GRAPH_CYCLES, **LIKE_GRAPHS)
    for name, topology in GRAPHS.items():
        plain = document(0.5, GRAPH_CYCLES, topology=topology)
        measure = _against((plain, None), dragonfly, GRAPH_RATIO, "the dragonfly, minimal")
        yield Case(section, f"{name}, UN minimal 0.5", measure)
        adaptive = {**plain, "routing": "ugal"}
        measure = _against((adaptive, None), plain, GRAPH_UGAL_RATIO, "minimal")
        yield Case(section, f"{name}, UN ugal 0.5", measure)


def _flits() -> Iterator[Case]:
    """Routers through which flits move, one by one."""
    section = "virtual-channel routers"
    for length, target in FLIT_INSTRUCTIONS.items():
        jobs = [{"traffic": {"packet_length": length}}]
        own = document(0.3, (5_000, 20_000), **CHIP, jobs=jobs)
        name = f"8x8 mesh, {length} flit{'s' * (length > 1)}, UN 0.3"
        yield Case(section, name, _per_flit_hop(own, length, target))


def _per_flit_hop(experiment: Document, length: int, target: float) -> Measure:
    """Time and instructions per hop of a flit, where all packets have one length."""

    def measure(case: Case, bench: Bench) -> Iterator[Figure]:
        timing = bench.timing(experiment)
        note = f"median {timing.median_ns_per_hop / length:.1f}"
        yield Figure(case.name, "time per flit-hop", "ns", timing.best_ns_per_hop / length, note=note)
        instructions = bench.instructions(experiment) / length
        yield Figure(case.name, "instructions per flit-hop", "", instructions, target)

    return measure


def _modes() -> Iterator[Case]:
    """What each mode of the engine buys: instructions in the mode that fits any plan over its own."""
    section = "instructions per packet-hop in the most general mode over those in the mode that fits"
    adversarial = {"routing": "olm", "jobs": VALIANT["jobs"]}
    for mode, experiment in (
        ("Ordered: UN minimal 0.5", document(0.5, REFERENCE_CYCLES)),
        ("OrderedFull: ADV+1 olm 0.45", document(0.45, REFERENCE_CYCLES, **adversarial)),
        (
            "OrderedGeneral: UN minimal 0.5, age",
            document(0.5, REFERENCE_CYCLES, router={"cioq": {"allocator": AGE}}),
        ),
        ("OrderedCompat: UN minimal 0.5, fogsim", document(0.5, REFERENCE_CYCLES, compat="fogsim")),
        ("Unordered: 64x64 torus DOR 0.2", document(0.2, (500, 500), **TORUS)),
        ("UnorderedFull: 64x64 torus adaptive 0.2", document(0.2, (500, 500), **TORUS, routing="adaptive")),
    ):
        yield Case(section, mode, _general_over_own(experiment))


def _general_over_own(experiment: Document) -> Measure:
    def measure(case: Case, bench: Bench) -> Iterator[Figure]:
        general, own = bench.instructions(experiment, "--general"), bench.instructions(experiment)
        yield Figure(case.name, "general over own", "", general / own, note=f"{general:.0f} / {own:.0f}")

    return measure


def _against(own: tuple[Document, float | None], plain: Document, ratio: float, against: str) -> Measure:
    """Time and instructions per packet-hop, and the latter over those of another network or routing."""

    def measure(case: Case, bench: Bench) -> Iterator[Figure]:
        yield from _per_packet_hop(*own)(case, bench)
        yield from _ratio(own[0], plain, ratio, against)(case, bench)

    return measure


def _decisions(experiment: Document) -> Measure:
    """How often a waiting head is asked."""

    def measure(case: Case, _bench: Bench) -> Iterator[Figure]:
        summary = run(dict(experiment), progress=False).summary
        yield Figure(case.name, "evaluations per packet-hop", "", summary["decisions_per_hop"])

    return measure


def _ratio(changed: Document, plain: Document, target: float, against: str) -> Measure:
    def measure(case: Case, bench: Bench) -> Iterator[Figure]:
        new, old = bench.instructions(changed), bench.instructions(plain)
        yield Figure(case.name, f"over {against}", "", new / old, target, f"{new:.0f} / {old:.0f}")

    return measure


def _memory() -> Iterator[Case]:
    section = "larger networks"
    build = document(0.5, (0, 1), **H8)
    yield Case(section, "16,512 nodes, build", _build(build, 0.5), quick=True)
    yield Case(section, "16,512 nodes, load 0.5", _peak(document(0.5, (1_000, 1_000), **H8), 64), quick=True)
    # FOGSim's NIC: injection buffers of 256 phits and no source queue. They are full after some 3,000 cycles.
    full = document(1.0, (3_000, 1_000), compat="fogsim", **H8)
    yield Case(section, "16,512 nodes, load 1.0, fogsim", _peak(full, 160))
    for name in ("valiant", "olm"):
        traffic = {**VALIANT, "routing": name}
        large = document(0.35, (1_000, 500), **traffic, **H8)
        small = document(0.35, REFERENCE_CYCLES, **traffic)
        yield Case(section, f"16,512 nodes, ADV+1 {name} 0.35", _time_over(large, small))
    yield from _graphs(section)
    yield Case(section, "262,656 nodes, build", _build(document(0.3, (0, 1), **H16), None))
    yield Case(section, "262,656 nodes, load 0.3", _peak(document(0.3, (500, 500), **H16), 2_000))


def _graphs(section: str) -> Iterator[Case]:
    """What is there before the first cycle: tables of paths, layers, plan."""
    paths = [
        ("20,000 routers of 40 links, VCs by hop", 20_000, 40, "hash", "by_hop", (10.0, 2_000)),
        ("2,000 routers of 32 links, layers", 2_000, 32, "spread", "layers", (60.0, None)),
    ]
    for name, routers, degree, ties, discipline, targets in paths:
        jellyfish = {"routers": routers, "degree": degree, "nodes_per_router": degree // 2, "ties": ties}
        vcs = {"vcs": {"discipline": discipline}}
        experiment = document(0.1, (0, 1), topology={"jellyfish": jellyfish}, router={"cioq": vcs})
        yield Case(section, f"{name}, plan", _plan(experiment, *targets))


def _plan(experiment: Document, target_s: float, target_mb: float | None) -> Measure:
    """All that is made before the first cycle, but for the state of routers."""

    def measure(case: Case, bench: Bench) -> Iterator[Figure]:
        usage, _ = bench.with_options(setup(experiment), "--set-up")
        yield Figure(case.name, "CPU time", "s", usage.cpu_s, target_s, "no cycle")
        yield Figure(case.name, "peak memory", "MB", usage.peak_bytes / MB, target_mb)

    return measure


def _time_over(large: Document, small: Document) -> Measure:
    """Time per packet-hop, and how many times that of a network whose state fits into the cache."""

    def measure(case: Case, bench: Bench) -> Iterator[Figure]:
        times = [bench.timing(experiment).best_ns_per_hop for experiment in (large, small)]
        yield Figure(case.name, "time per packet-hop", "ns", times[0])
        note = f"{times[0]:.0f} ns / {times[1]:.0f} ns"
        yield Figure(case.name, "over 1,056 nodes", "", times[0] / times[1], note=note)

    return measure


def _build(experiment: Document, target: float | None) -> Measure:
    """The whole process, one cycle long."""

    def measure(case: Case, bench: Bench) -> Iterator[Figure]:
        usage = bench.usage(setup(experiment), bench.runs)
        yield Figure(case.name, "CPU time", "s", usage.cpu_s, target, "whole process, 1 cycle")
        yield Figure(case.name, "peak memory", "MB", usage.peak_bytes / MB)

    return measure


def _peak(experiment: Document, target_mb: float) -> Measure:
    def measure(case: Case, bench: Bench) -> Iterator[Figure]:
        usage = bench.usage(experiment)
        cycles = experiment["measure"]["warmup"] + experiment["measure"]["cycles"]
        note = f"{cycles:,} cycles, {usage.cpu_s:.1f} s CPU"
        yield Figure(case.name, "peak memory", "MB", usage.peak_bytes / MB, target_mb, note)

    return measure
