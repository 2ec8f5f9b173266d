"""Experiments as configuration files of CAMINOS (caminos-lib 0.6), those of packets that move as a whole.

A router of CAMINOS (`InputOutput`) has a crossbar with an input and an output for every VC, whose outputs
have a queue each. hopsim has that as `cioq` with `crossbar_inputs = "vc"` and as many `crossbar_outputs` as
VCs, but for the queues, of which it has one per port. Other crossbars are told of. A single packet takes as
long in both.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import prod
from typing import Any

from hopsim.export.keys import Keys

NAME = "CAMINOS"
UNBOUNDED = 1_000_000
"""Messages that a source queue without bound holds there."""

SEMANTICS: Mapping[str, str] = {
    "ejection": "link",
    "output_hold": "transfer",
    "input_pointer": "grant",
    "injection_link": "serial",
    "self_traffic": "none",
    "hop_count": "links",
}
"""Choices that CAMINOS makes, too, or that make no difference in what it measures."""

RECORDED: Mapping[str, Any] = {"batches": 10, "interval": 0, "streams": [], "watchdog": 10_000}
"""Keys of `measure` that say what hopsim records, and their defaults."""


@dataclass(frozen=True)
class Exported:
    """What a document becomes.

    Attributes:
        text: the configuration file.
        remarks: what could not be carried over or is different there, a sentence for each thing.
        theirs: the document that CAMINOS has then, but for its queues.
    """

    text: str
    remarks: list[str]
    theirs: dict[str, Any]


@dataclass(frozen=True)
class Network:
    """A network in the words of CAMINOS.

    Attributes:
        topology: the object.
        routing: the object.
        nodes: their number.
        dimensions: of which each has a class of links there.
        vcs: of every port.
    """

    topology: str
    routing: str
    nodes: int
    dimensions: int
    vcs: int


def export(config: str) -> Exported:
    """A point of an experiment, its resolved configuration as JSON, as a configuration file of CAMINOS.

    Raises `ConfigError`.
    """
    keys = Keys(config, NAME)
    keys.take("compat")
    _check_kinds(keys)
    network = TOPOLOGIES[keys.chosen("topology", TOPOLOGIES, OTHER_NETWORKS)](keys)
    lengths = keys.take("jobs.0.traffic.packet_length")
    if lengths is None:
        raise keys.refused(
            "jobs.0.traffic.packet_lengths", "messages of CAMINOS have one length", "one length"
        )
    router, links = _router(keys, network, lengths), _links(keys, network)
    traffic, run = _traffic(keys, network, lengths), _run(keys)
    _check_semantics(keys)
    keys.finish()
    keys.remarks.append(
        "router.cioq.buffers.output: a queue of CAMINOS is that of a VC of a port, and one of hopsim that of "
        "a port."
    )
    lines = [
        *run,
        f"topology: {network.topology},",
        *traffic,
        f"routing: {network.routing},",
        *router,
        *links,
        "launch_configurations: [],",
    ]
    text = "\n".join(["Configuration", "{", *(f"\t{line}" for line in lines), "}", ""])
    return Exported(text, keys.remarks, keys.theirs)


def _check_kinds(keys: Keys) -> None:
    """Refuses what is no experiment of CAMINOS, whatever its values."""
    keys.chosen("router", ["cioq"], "packets do not move through routers of CAMINOS in this way")
    if len(keys.look("jobs")) != 1 or keys.look("jobs.0.traffic.pattern") is None:
        raise keys.refused("jobs", "one job of all nodes draws packets in CAMINOS", "one job with a pattern")


# The network.


def _cartesian(name: str, theirs: str) -> Callable[[Keys], Network]:
    """What makes a network of routers in a grid, through which packets go dimension by dimension."""

    def network(keys: Keys) -> Network:
        sides: list[int] = keys.take(f"topology.{name}.sides")
        per_router: int = keys.take(f"topology.{name}.nodes_per_router")
        keys.only(f"topology.{name}.latency_per_step", 0)
        keys.only("routing", {"minimal": {}})
        order = [*range(len(sides))]
        return Network(
            f"{theirs} {{ sides: {sides}, servers_per_router: {per_router} }}",
            f"DOR {{ order: {order} }}",
            per_router * prod(sides),
            len(sides),
            keys.take("router.cioq.vcs.network"),
        )

    return network


OTHER_NETWORKS = "CAMINOS builds none, or packets take other paths or VCs there"

TOPOLOGIES: Mapping[str, Callable[[Keys], Network]] = {
    "mesh": _cartesian("mesh", "Mesh"),
    "hyperx": _cartesian("hyperx", "Hamming"),
}
"""What makes a network of a topology, by its name.

A torus is none of them, as the routers of CAMINOS look for the room of a bubble in their own queues, and a
dragonfly neither: shortest paths there go over two global links where that is shorter.
"""


# The rest.


def _router(keys: Keys, network: Network, length: int) -> list[str]:
    """The router, all of whose ports have as many VCs and buffers of one size."""
    router = "router.cioq"
    size = keys.take(f"{router}.buffers.network")
    keys.tell(f"{router}.buffers.injection", size, "all its buffers have one size")
    keys.tell(f"{router}.vcs.injection", network.vcs, "all its ports have as many VCs")
    keys.only(f"{router}.vcs.allow_deadlock", valid=False)
    keys.only(f"{router}.vcs.management", {"increasing": {}})
    keys.only(f"{router}.flow_control", {"credits": {}})
    keys.only(f"{router}.pipeline_latency", 0)
    keys.tell(f"{router}.speedup", 1.0, "a phit crosses in a cycle")
    keys.tell(f"{router}.crossbar_inputs", "vc", "every VC has an input of the crossbar")
    keys.tell(f"{router}.crossbar_outputs", network.vcs, "every VC has an output of the crossbar")
    for arbiter in ("input_arbiter", "output_arbiter"):
        keys.only(f"{router}.allocator.{arbiter}", {"round_robin": {}})
    keys.only(f"{router}.allocator.transit_priority", valid=False)
    iterations = keys.take(f"{router}.allocator.iterations")
    fields = {
        "virtual_channels": network.vcs,
        "virtual_channel_policies": "[ EnforceFlowControl, Random ]",
        "crossbar_delay": keys.take(f"{router}.crossbar_latency"),
        "buffer_size": size,
        "bubble": "false",
        "flit_size": length,
        "intransit_priority": "false",
        "allow_request_busy_port": "true",
        "output_buffer_size": keys.take(f"{router}.buffers.output"),
        "allocator": f"ISLIP {{ num_iter: {iterations} }}",
    }
    return ["router: InputOutput", "{", *(f"\t{name}: {value}," for name, value in fields.items()), "},"]


def _links(keys: Keys, network: Network) -> list[str]:
    """The latencies of links, those of nodes last."""
    between, injection = (keys.take(f"links.{name}.latency") for name in ("network", "injection"))
    keys.tell("links.ejection.latency", injection, "the links of a node are alike")
    latencies = [between] * network.dimensions + [injection]
    listed = ", ".join(f"LinkClass {{ delay: {latency} }}" for latency in latencies)
    return [f"link_classes: [ {listed} ],"]


def _traffic(keys: Keys, network: Network, length: int) -> list[str]:
    """Uniform traffic of all nodes."""
    job = "jobs.0"
    keys.drop(f"{job}.name", "job0", "traffic of CAMINOS has no name")
    keys.only(f"{job}.placement", {"all": {}})
    keys.only(f"{job}.traffic.pattern", {"uniform": {}})
    keys.only(f"{job}.traffic.node_loads", {"equal": {}})
    load = keys.take(f"{job}.traffic.process.bernoulli.load")
    if load is None:
        raise keys.refused(f"{job}.traffic.process", "packets of CAMINOS come at random", "bernoulli")
    return [
        "traffic: HomogeneousTraffic",
        "{",
        "\tpattern: Uniform,",
        f"\tservers: {network.nodes},",
        f"\tload: {load},",
        f"\tmessage_size: {length},",
        "},",
        f"maximum_packet_size: {length},",
        f"server_queue_size: {UNBOUNDED},",
    ]


def _run(keys: Keys) -> list[str]:
    """Warm-up, window and seed."""
    warmup, cycles, seed = (keys.take(f"measure.{name}") for name in ("warmup", "cycles", "seed"))
    if warmup == "auto":
        raise keys.refused("measure.warmup", "the warm-up of CAMINOS is a number of cycles", "such as 2000")
    for name, usual in RECORDED.items():
        keys.drop(f"measure.{name}", usual, "is about what hopsim records, which CAMINOS does not")
    return [f"random_seed: {seed},", f"warmup: {warmup},", f"measured: {cycles},"]


def _check_semantics(keys: Keys) -> None:
    """What simulators choose, and nodes."""
    for name, valid in SEMANTICS.items():
        keys.only(f"semantics.{name}", valid)
    # They say how a latency is divided, and when a packet counts as injected.
    for name, usual in (("injection_latency", "grant"), ("injection_count", "network")):
        keys.drop(f"semantics.{name}", usual, "is about what hopsim counts")
    keys.only("nic.source_queue", "unbounded")
    keys.take("nic.when_full")
    keys.only("nic.injection_ports", 1)
    keys.only("nic.control", {"none": {}})
    if (chosen := keys.take("nic.injection_vc")) != "first":
        keys.remarks.append(
            f'nic.injection_vc = "{chosen}": a node of CAMINOS takes the first VC that has room.'
        )
