"""What a run is expected to take, before anything runs: memory, and time of one core.

A simple model, fitted to the runs of some twenty networks on one machine, and right there within a factor of
about three where the network accepts what is offered:

- hops of a packet: the mean distance between nodes, longer by half of what the longest path of the routing is
  longer than the diameter, and the hop to the node;
- time: so much per hop, more where heads decide in every attempt;
- time before a fabric begins: so much per step of setting it up, once for points that have the
  same;
- memory: that of the network, as the core expects it before it begins, and so much per packet inside the
  network, besides the process itself;
- series by link, flow or queue, and hops of packets and flits: so much time and memory per row.

In saturation less is accepted than offered: the time is less, and memory grows with the packets that wait at
the nodes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from hopsim import _core
from hopsim.document.experiment import Point

OF_NODES = ("injection", "ejection")
"""Classes of links from and to nodes."""

AUTO = "auto"
"""What a document has for a warm-up that is found."""

HOP_NS = 130
HOP_OF_CHOICE_NS = 270
"""Time per hop of a packet, where heads have no choice and where they decide anew in every attempt [ns]."""

FABRIC_HOP_NS = 400
"""Time per hop of a packet in a fabric [ns]."""

SET_UP_STEP_NS = 2
"""Time per step of setting up a fabric [ns]."""

PROCESS_MB = 90
PORT_BYTES = 300
"""Of a fabric, besides tables and queues; what these and other networks take the core says."""
PACKET_BYTES = 100

ROW_NS = 2_000
ROW_BYTES = 280
"""Of a row of a record stream, until it is written."""

ROUTER_CYCLES = 10
"""Cycles that a packet takes for a router [cycles]."""


@dataclass(frozen=True)
class Survey:
    """What is known of a network before it runs: see `_core.survey`."""

    nodes: int
    routers: int
    links: tuple[tuple[str, int], ...]
    diameter: int
    mean_distance: float
    sampled: bool
    cut: int
    longest_path: int
    decides: bool
    input_vcs: int
    ports: int
    output_vcs: int = 0
    state_bytes: int = 0
    set_up_steps: int = 0
    packet_hops: float | None = None
    series_rows: int = 0

    @property
    def hops(self) -> float:
        """Expected hops of a packet, that to its node included."""
        longer = self.longest_path / self.diameter if self.diameter else 1.0
        return self.mean_distance * (1 + longer) / 2 + 1


@dataclass(frozen=True)
class Expected:
    """What the points of an experiment are expected to take.

    Attributes:
        cpu_s: time of one core for all of them but those with programs [s].
        peak_mb: memory of the process with `workers` threads [MB].
        set_up_s: time before points begin, of one core, in which fabrics are set up [s].
    """

    cpu_s: float
    peak_mb: float
    set_up_s: float


def survey(point: Point) -> Survey:
    """The survey of a point's network; the same network is surveyed once."""
    return _survey(_network(point))


def deadlock(point: Point) -> str | None:
    """Whether packets of a point can wait for each other in a circle, in words; of the same network once."""
    return _deadlock(_network(point))


def cut_off(point: Point) -> tuple[str, ...]:
    """From when to when which nodes of a point's network cannot reach which others, in sentences."""
    return nodes_cut_off(point.config)


def nodes_cut_off(config: str) -> tuple[str, ...]:
    """The same by a resolved configuration, as JSON."""
    faults = json.loads(config).get("faults", ())
    if not any(fault.get("unreachable") == "drop" or fault.get("time") for fault in faults):
        return ()
    return _cut_off(config)


def _network(point: Point) -> str:
    """The configuration of the point without what would keep points with the same network apart."""
    config = json.loads(point.config)
    if is_fabric(config):
        return point.config
    # Links that fail do so before the run ends.
    cycles = _cycles(config) if config.get("faults") else 1
    config["measure"] = {"cycles": cycles, "batches": 1, "warmup": 0}
    return json.dumps(config | {"jobs": [_load_apart(job) for job in config["jobs"]]})


def _load_apart(job: Mapping[str, Any]) -> Mapping[str, Any]:
    """The job; all that draw packets with one load."""
    if "traffic" not in job:
        return job
    alike: dict[str, Any] = {"process": {"bernoulli": {"load": 0.1}}, "node_loads": {"equal": {}}}
    traffic: Mapping[str, Any] = job["traffic"]
    if "packet_list" in traffic:
        # The packets of a list belong to a run of some length.
        return {**job, "traffic": {**alike, "packet_length": max(_listed_lengths(traffic))}}
    kept = {key: value for key, value in traffic.items() if key != "changes"}
    return {**job, "traffic": {**kept, **alike}}


def is_fabric(config: Mapping[str, Any]) -> bool:
    """Whether a resolved configuration is of a fabric, of InfiniBand or Ethernet."""
    return fabric(config) is not None


def fabric(config: Mapping[str, Any]) -> dict[str, Any] | None:
    """What a resolved configuration says of its fabric; None of another network."""
    router = config.get("router", {})  # An ideal network has none.
    return next((router[name] for name in ("infiniband", "ethernet") if name in router), None)


def runs_programs(point: Point) -> bool:
    """Whether the point ends when programs are done, so that its time is not known beforehand."""
    return any("program" in job for job in json.loads(point.config)["jobs"])


@cache
def _survey(config: str) -> Survey:
    fields: dict[str, Any] = json.loads(_core.survey(config))
    fields["links"] = tuple((kind, count) for kind, count in fields["links"])
    return Survey(**fields)


@cache
def _deadlock(config: str) -> str | None:
    return _core.deadlock(config)


@cache
def _cut_off(config: str) -> tuple[str, ...]:
    return tuple(_core.cut_off(config))


def expected(points: Sequence[Point], workers: int) -> Expected:
    """What the points are expected to take on so many threads."""
    each = [_expected(point) for point in points]
    largest = sorted((memory for _, memory in each), reverse=True)[:workers]
    return Expected(sum(time for time, _ in each), PROCESS_MB + sum(largest), _set_up(points))


def _set_up(points: Sequence[Point]) -> float:
    """Time in which fabrics are set up [s]: when points are checked, and again when they run in turn."""
    steps: dict[str, int] = {}
    last, total = "", 0
    for point in points:
        config = json.loads(point.config)
        described = fabric(config)
        if described is None:
            continue
        set_up = json.dumps([config["topology"], config.get("faults"), described["forwarding"]])
        if set_up != last:
            last, total = set_up, total + survey(point).set_up_steps
        steps[set_up] = survey(point).set_up_steps
    return (total if len(steps) <= 1 else 2 * total) * SET_UP_STEP_NS / 1e9


def _expected(point: Point) -> tuple[float, float]:
    """Time [s] and memory [MB] of one point."""
    config, network = json.loads(point.config), survey(point)
    rows = series_rows(point) + hop_rows(point)
    writing, written = rows * ROW_NS / 1e9, rows * ROW_BYTES / 1e6
    if is_fabric(config):
        time = packet_hops(point) * FABRIC_HOP_NS / 1e9
        return time + writing, _fabric_bytes(network) / 1e6 + written
    inside = (
        network.nodes * _packet_rate(config, network.nodes) * min(_cycles(config), _latency(config, network))
    )
    time = 0.0 if runs_programs(point) else packet_hops(point) * _hop_ns(network) / 1e9
    state = network.state_bytes + PACKET_BYTES * inside
    return time + writing, state / 1e6 + written


def series_rows(point: Point) -> int:
    """Expected rows of the series by link, flow or queue; 0 where it is not known how long programs take."""
    config, network = json.loads(point.config), survey(point)
    measure = config["measure"]
    if runs_programs(point):
        return 0
    if is_fabric(config) or "link_series" not in measure.get("streams", []):
        return network.series_rows
    return network.output_vcs * (_cycles(config) // measure["interval"])


def hop_rows(point: Point) -> float:
    """Expected rows of `packet_hops` and `flit_hops`; 0 where it is not known how long programs take."""
    config = json.loads(point.config)
    streams = config["measure"].get("streams", [])
    wanted = [stream for stream in ("packet_hops", "flit_hops") if stream in streams]
    if not wanted or runs_programs(point):
        return 0.0
    lengths = [mean_packet_length(job["traffic"]) for job in config["jobs"] if "traffic" in job]
    of_packet = {"packet_hops": 1.0, "flit_hops": max(lengths, default=0.0)}
    hops = packet_hops(point) * _recorded(config, survey(point).nodes)
    return hops * sum(of_packet[stream] for stream in wanted)


def _recorded(config: Mapping[str, Any], nodes: int) -> float:
    """The share of packets that `measure.packets` chooses, if all nodes send and get alike."""
    chosen = config["measure"].get("packets", {})
    cycles = _cycles(config)
    window = min(chosen.get("to", cycles), cycles) - min(chosen.get("from", 0), cycles)
    ends = sum(key in chosen for key in ("source", "destination"))
    return max(window, 0) / cycles / chosen.get("every", 1) / nodes**ends


def _fabric_bytes(network: Survey) -> float:
    return PORT_BYTES * network.ports + network.state_bytes


def _hop_ns(network: Survey) -> float:
    return HOP_OF_CHOICE_NS if network.decides else HOP_NS


def packet_hops(point: Point) -> float:
    """Expected hops of all packets of a point, if the network accepts what is offered."""
    config, network = json.loads(point.config), survey(point)
    if network.packet_hops is not None:
        return network.packet_hops
    return packet_hops_per_cycle(point) * _cycles(config)


def packet_hops_per_cycle(point: Point) -> float:
    """The same of a cycle of a network that is no fabric; none where nothing but programs runs."""
    config, network = json.loads(point.config), survey(point)
    return network.nodes * _packet_rate(config, network.nodes) * network.hops


def _cycles(config: Mapping[str, Any]) -> int:
    measure = config["measure"]
    if "max_cycles" in measure:
        return measure["max_cycles"]
    # What is found while it runs takes more: at least a pilot as long as the window.
    warmup = measure["cycles"] if measure["warmup"] == AUTO else measure["warmup"]
    return warmup + measure["cycles"]


def _packet_rate(config: Mapping[str, Any], nodes: int) -> float:
    """Packets per node and cycle: the greatest of the jobs, as each has but part of the nodes."""
    sending = [job["traffic"] for job in config["jobs"] if "traffic" in job]
    node_cycles = nodes * _cycles(config)
    return max((_packets_per_node(traffic, node_cycles) for traffic in sending), default=0.0)


def _packets_per_node(traffic: Mapping[str, Any], node_cycles: int) -> float:
    """Packets per node and cycle of a job; of packets that are given, all over all nodes and cycles."""
    if "packet_list" in traffic:
        return len(traffic["packet_list"]) / node_cycles
    return _load(traffic) / mean_packet_length(traffic)


def mean_packet_length(traffic: Mapping[str, Any]) -> float:
    """Mean length of the packets of a job [phits]."""
    if "packet_list" in traffic:
        lengths = _listed_lengths(traffic)
        return sum(lengths) / len(lengths)
    if "packet_lengths" not in traffic:
        return traffic["packet_length"]
    shares = traffic["packet_lengths"]
    total = sum(share["weight"] for share in shares)
    return sum(share["weight"] / total * share["length"] for share in shares)


def _listed_lengths(traffic: Mapping[str, Any]) -> list[int]:
    """The lengths of packets that are given one by one [phits]."""
    return [packet.get("length", traffic["packet_length"]) for packet in traffic["packet_list"]]


def _load(traffic: Mapping[str, Any]) -> float:
    """The greatest load that a job offers; a process without one sends what the network takes."""
    ((_, process),) = traffic["process"].items()
    changes = [change["load"] for change in traffic.get("changes", []) if change.get("load") is not None]
    return max([process.get("load", 1.0), *changes])


def classes_between_routers(config: Mapping[str, Any]) -> list[str]:
    """Classes of links between routers, of which an ideal network has none."""
    return [kind for kind in config.get("links", {}) if kind not in OF_NODES]


def _latency(config: Mapping[str, Any], network: Survey) -> float:
    """Roughly the cycles that a packet is inside the network."""
    latencies = [config["links"][kind]["latency"] for kind in classes_between_routers(config)]
    return network.hops * ROUTER_CYCLES + network.hops * sum(latencies) / max(len(latencies), 1)
