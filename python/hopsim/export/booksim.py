"""Experiments as configuration files of BookSim 2.

The options that come nearest to a document are made a document again by `hopsim convert booksim`, which is
checked against BookSim packet by packet. A key that is the same in both is carried over. One that is not is
told of, if it is a size or a choice that BookSim leaves nobody (`TOLD`), or else refused. So no key is left
out in silence, whatever is added to documents.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import gcd, isqrt, lcm, prod
from typing import Any

from hopsim.convert import booksim
from hopsim.convert.booksim_file import Assignment
from hopsim.convert.booksim_names import (
    ALLOCATORS,
    AWARE,
    COUNTED,
    DETOURS,
    PATTERNS,
    SEPARABLE,
    SPECULATIONS,
    TIMESTAMPS,
)
from hopsim.convert.booksim_options import Value
from hopsim.document.experiment import Experiment
from hopsim.errors import ConfigError
from hopsim.export.anynet import Anynet
from hopsim.export.differences import Difference, differences, shown
from hopsim.kinds import is_sequence, is_table

Options = dict[str, Value]

_AS_BOOKSIM = 'BookSim has {theirs}, as hopsim has it with compat = "booksim"'
TOLD: Mapping[str, str] = {
    r"links\.\w+\.latency": "BookSim has {theirs}, as its topologies say how long channels are",
    r"router\.virtual_channel\.vcs\.(injection|ejection)": "BookSim has {theirs}, as on all its links",
    r"router\.virtual_channel\.buffers\.(injection|ejection)": "BookSim has {theirs}, as in all its buffers",
    r"router\.virtual_channel\.switch_input": "BookSim has {theirs}",
    r"nic\.injection_vc": _AS_BOOKSIM,
    r"semantics\.(injection_latency|self_traffic|hop_count|port_order|stages)": _AS_BOOKSIM,
    r"jobs\.0\.name": "traffic of BookSim has no name",
    r"measure\.(batches|interval|streams|watchdog)": "is about what hopsim records, which BookSim does not",
}
"""Keys that may be others in BookSim, and what is said of them."""

RUN = {
    "max_samples",
    "latency_thres",
    "stopping_thres",
    "acc_stopping_thres",
    "warmup_periods",
    "network_file",
}
"""Options of which remarks of the way back say nothing of the experiment: they are chosen here."""

STAGES = ("routing_delay", "vc_allocation_delay", "switch_allocation_delay", "switch_traversal_delay")
"""How long the stages of a router take."""


@dataclass(frozen=True)
class Exported:
    """What a document becomes.

    Attributes:
        text: the configuration file.
        network: the network file that it names, if it does.
        remarks: what could not be carried over or is different there, a sentence for each thing.
    """

    text: str
    network: str | None
    remarks: list[str]


def export(config: str, network_file: str = "network") -> Exported:
    """A point of an experiment, its resolved configuration as JSON, as a configuration file of BookSim 2.

    `network_file` is what the file calls the network file, if it needs one. Raises `ConfigError`.
    """
    ours = json.loads(config)
    options, graph = _options(ours, network_file)
    back = _back(options, graph, ours)
    theirs = json.loads(Experiment.of(back.document).points()[0].config)
    remarks = [_judged(each) for each in differences(comparable(ours), comparable(theirs))]
    remarks += [remark for remark in back.remarks if remark.partition(" = ")[0] not in RUN]
    remarks += _always(ours, graph)
    text = "".join(f"{name} = {value};\n" for name, value in options.items())
    return Exported(text, graph.text() if graph else None, remarks)


def as_booksim(config: str) -> dict[str, Any]:
    """The document that the file of a resolved configuration stands for. Raises `ConfigError`."""
    ours = json.loads(config)
    return _back(*_options(ours, ""), ours=ours).document


def _options(ours: Mapping[str, Any], network_file: str) -> tuple[Options, Anynet | None]:
    """All options, and the graph if the network is one."""
    _refuse_what_has_no_place(ours)
    graph = _anynet(ours)
    options: Options = {
        **_network(ours),
        **({"network_file": network_file} if graph else {}),
        **_buffers(ours),
        **_router(ours["router"]["virtual_channel"]),
        **_traffic(ours["jobs"][0]["traffic"]),
        **_measure(ours["measure"]),
    }
    return options | _pattern(ours, options, graph), graph


def _always(ours: Mapping[str, Any], graph: Anynet | None) -> Iterator[str]:
    """What is different whatever the values are."""
    if graph:
        yield (
            'routing = "minimal": BookSim takes paths of least latency, of several the first that it finds, '
            "and any VC."
        )
    measure = ours["measure"]
    yield (
        f"measure.cycles = {measure['cycles']}: BookSim counts the packets that are generated in its window "
        "and waits for them, hopsim those that arrive in it."
    )
    if measure["warmup"] == "auto":
        yield 'measure.warmup = "auto": BookSim warms up in the first periods of its window.'


def _judged(each: Difference) -> str:
    """What is said of a key that is another one in BookSim. Raises `ConfigError` if it may not be."""
    theirs = "nothing of the kind" if each.theirs is None else shown(each.theirs)
    for pattern, reason in TOLD.items():
        if re.fullmatch(pattern, each.path):
            return f"{each}: {reason.format(theirs=theirs)}."
    valid = f"without {each.path}" if each.theirs is None else shown(each.theirs)
    reason = f"BookSim 2 has {theirs}" if each.ours is None else "BookSim 2 has no counterpart of it"
    raise ConfigError(f"{each}: {reason}; valid: {valid}")


def _refuse_what_has_no_place(ours: Mapping[str, Any]) -> None:
    """Refuses what none of the options below could be made of."""
    if "router" not in ours:
        raise ConfigError("router is not there: BookSim 2 has no ideal network; valid: virtual_channel")
    router, topology = next(iter(ours["router"])), next(iter(ours["topology"]))
    if router != "virtual_channel":
        raise ConfigError(
            f'router = "{router}": packets move through it as a whole, and through routers of BookSim 2 flit '
            "by flit; valid: virtual_channel"
        )
    if topology not in TOPOLOGIES:
        valid = ", ".join(TOPOLOGIES)
        raise ConfigError(
            f'topology = "{topology}": BookSim 2 builds none, or another one; valid: {valid}, or a graph '
            "that hopsim topology export makes of it"
        )
    if len(ours["jobs"]) != 1:
        names = [job["name"] for job in ours["jobs"]]
        raise ConfigError(f"jobs = {shown(names)}: BookSim 2 has traffic of all nodes alike; valid: one job")
    traffic = ours["jobs"][0].get("traffic", {})
    if "pattern" not in traffic:
        kinds = [name for name in [*ours["jobs"][0], *traffic] if name not in {"name", "placement"}]
        raise ConfigError(
            f"jobs.0 = {shown(kinds)}: BookSim 2 draws packets by a pattern and nothing else; valid: "
            "jobs.traffic.pattern"
        )


def _back(options: Options, graph: Anynet | None, ours: Mapping[str, Any]) -> booksim.Converted:
    """What `hopsim convert booksim` makes of options."""
    try:
        return booksim.convert(_assignments(options), _read_network(ours, graph))
    except ConfigError as error:
        reason = re.sub(r"^line \d+: ", "", str(error))
        key = KEYS.get(reason.partition(" = ")[0], "topology")
        raise ConfigError(f"{key}: in BookSim 2 {reason}") from None


KEYS: Mapping[str, str] = {
    "input_speedup": "router.virtual_channel.crossbar_inputs",
    "internal_speedup": "router.virtual_channel.speedup",
    "num_vcs": "router.virtual_channel.vcs",
    "seed": "measure.seed",
}
"""The keys that options are of which BookSim takes fewer values; others are of the topology."""


def _assignments(options: Options) -> list[Assignment]:
    return [Assignment(name, value, line) for line, (name, value) in enumerate(options.items(), 1)]


def _read_network(ours: Mapping[str, Any], graph: Anynet | None) -> booksim.Network | None:
    """The network that BookSim reads from a file."""
    if graph is None:
        return None
    vcs = ours["router"]["virtual_channel"]["vcs"]["network"]
    latency = ours["links"]["network"]["latency"] - 1
    return booksim.Network(ours["topology"], {"network": latency}, {"network": vcs}, graph.nodes)


# What is compared.


def comparable(config: Mapping[str, Any]) -> dict[str, Any]:
    """The same document with one way to write what can be written in several."""
    found: dict[str, Any] = json.loads(json.dumps(config))
    # It has set keys that are here.
    found.pop("compat", None)
    router = found["router"]["virtual_channel"]
    if router["switch_allocator"] == {"separable_input_first": {}}:
        router.setdefault("switch_input", "vc")
    if router["crossbar_inputs"] == 1:
        router["crossbar_inputs"] = "port"
    if _is_faster(router):
        router["buffers"].setdefault("output", DEFAULT_QUEUE)
    if all(router[name] <= 1 for name in STAGES):
        del found["semantics"]["stages"]
    traffic = found["jobs"][0]["traffic"]
    found["jobs"][0]["traffic"] = _shares({**traffic, "pattern": _listed(config, traffic["pattern"])})
    return found


def _shares(value: Any) -> Any:
    """The same with weights in all lists as shares of their sum."""
    if is_table(value):
        return {name: _shares(each) for name, each in value.items()}
    if is_sequence(value) and any(is_table(each) and "weight" in each for each in value):
        total = sum(each["weight"] for each in value)
        return [{**each, "weight": round(each["weight"] / total, 12)} for each in value]
    return value


def _listed(config: Mapping[str, Any], pattern: Mapping[str, Any]) -> Mapping[str, Any]:
    """A permutation of the bits of nodes as a list of destinations, where routers have several nodes."""
    nodes = _nodes_of_several_per_router(config)
    names = {_permutation(name): name for name in booksim.BITWISE}
    name = names.get(pattern.get("permutation", ""))
    if nodes is None or name is None:
        return pattern
    bits = nodes.bit_length() - 1
    return {"destinations": [booksim.IMAGES[name](node, bits, isqrt(nodes)) for node in range(nodes)]}


def _permutation(name: str) -> str:
    return PATTERNS[name]["permutation"]


def _nodes_of_several_per_router(config: Mapping[str, Any]) -> int | None:
    """How many nodes there are, if a router of a mesh or HyperX has several."""
    name, topology = next(iter(config["topology"].items()))
    if name not in {"mesh", "hyperx"} or topology["nodes_per_router"] == 1:
        return None
    return topology["nodes_per_router"] * prod(topology["sides"])


# The network.


def _anynet(ours: Mapping[str, Any]) -> Anynet | None:
    """The graph of a document, if it has links."""
    graph = ours["topology"].get("graph")
    if not graph or not graph["edges"]:
        return None
    return Anynet(graph, ours["links"]["network"]["latency"])


def _network(ours: Mapping[str, Any]) -> Options:
    """The topology, its routing, and how many VCs there are."""
    name, topology = next(iter(ours["topology"].items()))
    router = ours["router"]["virtual_channel"]
    options = TOPOLOGIES[name](topology, ours)
    vcs = router["vcs"]
    options["num_vcs"] = vcs["injection"] if _has_own_vcs(options) else vcs["network"]
    return options | _routing(ours["routing"], str(options["topology"]))


def _has_own_vcs(options: Options) -> bool:
    """Whether links do not have the VCs of the file: a dragonfly has its own, and a router alone no links."""
    return options["topology"] in {"dragonflynew", "fly"}


def _routing(routing: Mapping[str, Any], topology: str) -> Options:
    """The routing function; that of minimal paths if there is no other one."""
    _, valid = booksim.NETWORKS.get(topology, (None, ("min",)))
    name, parameters = next(iter(routing.items()))
    if name == "ugal" and "ugal" in valid:
        return {"routing_function": "ugal"}
    same = {function: DETOURS[function][name] for function in valid if name in DETOURS.get(function, {})}
    fitting = [function for function, values in same.items() if values.items() <= parameters.items()]
    return {"routing_function": max(fitting, key=lambda function: len(same[function]), default=valid[0])}


def _sides(name: str, topology: Mapping[str, Any]) -> tuple[int, int]:
    """The length of all sides, and how many there are."""
    sides = topology["sides"]
    if len(set(sides)) != 1:
        raise ConfigError(
            f"topology.{name}.sides = {shown(sides)}: all sides of a network of BookSim 2 are equally long; "
            f"valid: {shown([max(sides)] * len(sides))}"
        )
    return sides[0], len(sides)


def _mesh(topology: Mapping[str, Any], ours: Mapping[str, Any]) -> Options:
    k, n = _sides("mesh", topology)
    if topology["nodes_per_router"] == 1:
        return {"topology": "mesh", "k": k, "n": n}
    options = _concentrated("mesh", topology)
    is_long = ours["links"]["network"]["latency"] > LEAST_LATENCY
    return {"topology": "cmesh", "k": k, "n": n, **options, "use_noc_latency": int(is_long)}


def _concentrated(name: str, topology: Mapping[str, Any]) -> Options:
    """Nodes of a router, which in BookSim are a square."""
    nodes = topology["nodes_per_router"]
    side, k = isqrt(nodes), topology["sides"][0]
    if side * side != nodes or (name == "mesh" and (side, len(topology["sides"])) != SQUARE):
        valid = "1, or 4 in two dimensions" if name == "mesh" else "a square such as 1 or 4"
        raise ConfigError(
            f"topology.{name}.nodes_per_router = {nodes}: the nodes of a router of BookSim 2 are a square; "
            f"valid: {valid}"
        )
    return {"c": nodes, "x": k, "y": k, "xr": side, "yr": side}


SQUARE = (2, 2)
"""Nodes along a side of a router of a concentrated mesh, and its dimensions: BookSim has no others."""


def _torus(topology: Mapping[str, Any], ours: Mapping[str, Any]) -> Options:
    k, n = _sides("torus", topology)
    is_long = ours["links"]["network"]["latency"] > LEAST_LATENCY
    return {"topology": "torus", "k": k, "n": n, "use_noc_latency": int(is_long)}


LEAST_LATENCY = 2
"""Latency of a link whose channel takes a cycle."""


def _hyperx(topology: Mapping[str, Any], _ours: Mapping[str, Any]) -> Options:
    k, n = _sides("hyperx", topology)
    if n > MOST_FLAT:
        raise ConfigError(
            f"topology.hyperx.sides = {shown(topology['sides'])}: are too many dimensions for BookSim 2; "
            f"valid: at most {MOST_FLAT}"
        )
    is_long = topology.get("latency_per_step", 0) > 0
    options = _concentrated("hyperx", topology)
    return {"topology": "flatfly", "k": k, "n": n, **options, "use_noc_latency": int(is_long)}


MOST_FLAT = 4
"""Dimensions of a flattened butterfly of BookSim."""


def _fat_tree(topology: Mapping[str, Any], _ours: Mapping[str, Any]) -> Options:
    return {"topology": "fattree", "k": topology["k"], "n": topology["levels"]}


def _dragonfly(topology: Mapping[str, Any], _ours: Mapping[str, Any]) -> Options:
    return {"topology": "dragonflynew", "k": topology["p"], "n": 1}


def _graph(topology: Mapping[str, Any], _ours: Mapping[str, Any]) -> Options:
    if topology["edges"]:
        return {"topology": "anynet"}
    return {"topology": "fly", "k": sum(topology.get("nodes", [topology["nodes_per_router"]])), "n": 1}


TOPOLOGIES = {
    "mesh": _mesh,
    "torus": _torus,
    "hyperx": _hyperx,
    "fat_tree": _fat_tree,
    "dragonfly": _dragonfly,
    "graph": _graph,
}
"""What makes options of a topology, by its name."""


# The router.


def _router(router: Mapping[str, Any]) -> Options:
    """Everything of a router but its VCs and their buffers."""
    return {
        "routing_delay": router["routing_delay"],
        "vc_alloc_delay": router["vc_allocation_delay"],
        "sw_alloc_delay": router["switch_allocation_delay"],
        "st_final_delay": router["switch_traversal_delay"],
        "credit_delay": router["credit_delay"],
        "wait_for_tail_credit": int(router["vc_reuse"] == "credits"),
        "vc_busy_when_full": int(router["vc_needs_credit"]),
        "vc_prioritize_empty": int(router["empty_vcs_first"]),
        "hold_switch_for_packet": int(router["hold_switch"]),
        **_speedups(router),
        **_allocation(router),
    }


def _buffers(ours: Mapping[str, Any]) -> Options:
    """Sizes of buffers: those of links, or of nodes where a router is alone."""
    buffers = ours["router"]["virtual_channel"]["buffers"]
    is_alone = ours["topology"].get("graph", {}).get("edges") == []
    size = buffers["injection"] if is_alone else buffers.get("network", buffers.get("local"))
    if buffers.get("damq"):
        return {
            "buffer_policy": "shared",
            "buf_size": size,
            "private_buf_size": buffers["damq"].get("reserve", 1),
        }
    return {"vc_buf_size": size}


def _speedups(router: Mapping[str, Any]) -> Options:
    """How much faster a router or its crossbar is than its links."""
    inputs, outputs = router["crossbar_inputs"], router["crossbar_outputs"]
    found: Options = {} if isinstance(inputs, str) else {"input_speedup": inputs}
    if outputs > 1:
        found["output_speedup"] = outputs
    if router["speedup"] > 1:
        found["internal_speedup"] = float(router["speedup"])
    if _is_faster(router):
        found["output_buffer_size"] = router["buffers"].get("output", DEFAULT_QUEUE)
    return found


def _is_faster(router: Mapping[str, Any]) -> bool:
    """Whether flits wait at the outputs of a router, as it is faster than its links."""
    return router["speedup"] > 1 or router["crossbar_outputs"] > 1


DEFAULT_QUEUE = 32
"""Flits that may wait there if the document does not say."""


def _allocation(router: Mapping[str, Any]) -> Options:
    """The allocators, who goes before others there, and speculation."""
    arbiter, parameters = next(iter(router["arbiter"].items()))
    found: Options = {}
    if arbiter == "age":
        priorities = {timestamp: priority for priority, timestamp in TIMESTAMPS.items()}
        found["priority"] = priorities[parameters["timestamp"]]
        found["vc_priority_donation"] = int(parameters["donation"])
    elif arbiter in COUNTED:
        found["priority"] = arbiter
    looks, speculation = "priority" in found, router["speculation"]
    named = partial(_allocator, is_matrix=arbiter == "least_recently_served")
    switch = named(router["switch_allocator"], looks=looks or speculation == "firm_first")
    found |= {"vc_allocator": named(router["vc_allocator"], looks=looks), "sw_allocator": switch}
    return found | {option: value or switch for option, value in SPECULATIONS[speculation].items()}


def _allocator(allocator: Mapping[str, Any], *, looks: bool, is_matrix: bool) -> str:
    """An allocator by the name that BookSim has for it; one that looks at priorities if it shall."""
    name, parameters = next(iter(allocator.items()))
    names = [each for each, same in ALLOCATORS.items() if same == name]
    if name == "wavefront" and parameters.get("next") == "grant":
        names.reverse()
    iterations = parameters.get("iterations", 1)
    if looks and iterations == 1:
        names = [each for each in names if each in AWARE] or names
    argument = "(matrix)" if is_matrix and name in SEPARABLE else ""
    return f"{names[0]}({iterations})" if iterations > 1 else f"{names[0]}{argument}"


# Traffic, and the run.


def _traffic(traffic: Mapping[str, Any]) -> Options:
    """When packets are generated, and how long they are."""
    name, process = next(iter(traffic["process"].items()))
    found: Options = {"injection_rate_uses_flits": 1, "injection_rate": float(process.get("load", 0.0))}
    if name == "on_off":
        alpha, beta = (float(process[each]) for each in ("alpha", "beta"))
        found |= {"injection_process": "on_off", "burst_alpha": alpha, "burst_beta": beta}
    if "packet_length" in traffic:
        return {**found, "packet_size": traffic["packet_length"]}
    shares = traffic["packet_lengths"]
    rates = _whole([share["weight"] for share in shares])
    lengths = [share["length"] for share in shares]
    return {**found, "packet_size": f"{{{_list(lengths)}}}", "packet_size_rate": f"{{{_list(rates)}}}"}


def _whole(weights: Iterable[float]) -> list[int]:
    """Weights as whole numbers in the same proportions."""
    parts = [Fraction(weight).limit_denominator(MOST_PARTS) for weight in weights]
    common = lcm(*(part.denominator for part in parts))
    return [int(part * common) for part in parts]


MOST_PARTS = 10_000
"""Into so many parts a weight of 1 may be divided."""


def _list(values: Iterable[int]) -> str:
    return f"{{{','.join(map(str, values))}}}"


def _pattern(ours: Mapping[str, Any], options: Options, graph: Anynet | None) -> Options:
    """The pattern: that of BookSim which is the same when it is made one of hopsim again."""
    # What is refused with any pattern is not refused for that.
    _back(options, graph, ours)
    wanted = comparable(ours)["jobs"][0]["traffic"]["pattern"]
    for name in _candidates(wanted, options):
        try:
            back = _back({**options, "traffic": name}, graph, ours)
        except ConfigError:
            continue
        if _shares(_listed(ours, back.document["jobs"][0]["traffic"]["pattern"])) == wanted:
            return {"traffic": name}
    valid = ", ".join(shown(pattern) for pattern in PATTERNS.values())
    pattern = ours["jobs"][0]["traffic"]["pattern"]
    raise ConfigError(
        f"jobs.0.traffic.pattern = {shown(pattern)}: BookSim 2 has no such pattern in this network; valid: "
        f"{valid} or a hotspot with fraction = 1, of which not every network has each"
    )


def _candidates(wanted: Mapping[str, Any], options: Options) -> Iterator[str]:
    """Patterns of BookSim that may be the one."""
    parts = wanted.get("mix", [{"weight": 1.0, "pattern": wanted}])
    if all("hotspot" in part["pattern"] for part in parts):
        nodes = [part["pattern"]["hotspot"]["node"] for part in parts]
        numbers = _numbers(options)
        there = [numbers.get(node, node) for node in nodes]
        yield f"hotspot({{{_list(there)},{_list(_whole(part['weight'] for part in parts))}}})"
    yield from PATTERNS


def _numbers(options: Options) -> Mapping[int, int]:
    """The numbers of nodes in BookSim by those here, where they are others."""
    if options["topology"] not in {"cmesh", "flatfly"} or options["c"] == 1:
        return {}
    number = booksim.node_number(booksim.Settings(_assignments(options)))
    k, n, c = (int(options[name]) for name in ("k", "n", "c"))
    return {number(node): node for node in range(c * k**n)}


def _measure(measure: Mapping[str, Any]) -> Options:
    """Warm-up and window as periods, all of which BookSim is to run."""
    warmup, cycles = measure["warmup"], measure["cycles"]
    if warmup == "auto":
        samples = next(parts for parts in range(MOST_SAMPLES, 0, -1) if cycles % parts == 0)
        period, before = cycles // samples, 0
    else:
        period = gcd(warmup, cycles)
        samples, before = (warmup + cycles) // period, warmup // period
    return {
        "sample_period": period,
        "warmup_periods": before,
        "max_samples": samples,
        "latency_thres": -1.0,
        "stopping_thres": 0.0,
        "acc_stopping_thres": 0.0,
        "seed": measure["seed"],
    }


MOST_SAMPLES = 10
"""Periods that a window is divided into if the warm-up does not say how long one is."""
