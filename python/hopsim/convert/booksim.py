"""Documents made of configuration files of BookSim 2."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from math import isqrt
from typing import Any

from hopsim.convert.booksim_file import Assignment, call, elements
from hopsim.convert.booksim_names import (
    ALLOCATORS,
    AWARE,
    COUNTED,
    DETOURS,
    PATTERNS,
    SEPARABLE,
    TIMESTAMPS,
    WITH_ITERATIONS,
)
from hopsim.convert.booksim_options import CHOICES, OPTIONS, ROUTINGS, Value
from hopsim.errors import ConfigError
from hopsim.suggestion import suggestion

MOST_INT = 2**31 - 1
"""Largest number that an option of BookSim holds."""

LEAST: Mapping[str, int] = {
    "k": 1,
    "n": 1,
    "c": 1,
    "num_vcs": 1,
    "vc_buf_size": 1,
    "routing_delay": 0,
    "vc_alloc_delay": 1,
    "sw_alloc_delay": 1,
    "st_prepare_delay": 0,
    "st_final_delay": 0,
    "credit_delay": 0,
    "input_speedup": 1,
    "output_speedup": 1,
    "warmup_periods": 0,
    "sample_period": 1,
    "max_samples": 1,
}
"""Least values of options that are carried over."""

MOST_PLANAR = 2
"""Dimensions of a flatfly up to which a channel is as long as its routers are apart in its dimension."""

MOST_NODES_ALONG_ROUTER = 2
"""Nodes along a side of a router of a flatfly up to which all its nodes have channels of one length."""


@dataclass(frozen=True)
class Converted:
    """What a file becomes.

    Attributes:
        document: a document of hopsim.
        remarks: what it has instead of what could not be carried over, a sentence for each option.
    """

    document: dict[str, Any]
    remarks: list[str]


@dataclass(frozen=True)
class Network:
    """A network in the words of a document.

    Attributes:
        topology: what stands for `topology`.
        latencies: of the channels of each class of links, as BookSim counts them [cycles].
        vcs: of each class of links.
        nodes: their number.
        is_grid: whether tornado and neighbor of BookSim are those of hopsim.
        number: of a node, by its number in BookSim, if it is another one.
        routing: what stands for `routing`.
        rings: what stands for `vcs.rings`, if there are some.
        ejection: ejection VCs, if they are not as many as injection VCs.
    """

    topology: dict[str, Any]
    latencies: dict[str, int]
    vcs: dict[str, int]
    nodes: int
    is_grid: bool = False
    number: Callable[[int], int] | None = None
    routing: dict[str, Any] = field(default_factory=lambda: {"minimal": {}})
    rings: Mapping[str, Any] | None = None
    ejection: int | None = None


class Settings:
    """The values of all options: those that a file sets, and BookSim's defaults."""

    def __init__(self, assignments: Iterable[Assignment]) -> None:
        """Takes the last value of each option, as BookSim does. Raises `ConfigError` for what it refuses."""
        self._given: dict[str, Assignment] = {}
        for one in assignments:
            _check(one)
            self._given[one.name] = one
        for name, names in CHOICES.items():
            self._check_name(name, names)
        for name, least in LEAST.items():
            if self.number(name) < least:
                raise self.refused(name, "is too small", f"{least} or more")

    def value(self, name: str) -> Value:
        """The value of an option."""
        return self._given[name].value if name in self._given else OPTIONS[name].default

    def number(self, name: str) -> int:
        """The value of an option that is a whole number, or a list of one."""
        value = self.single(name)
        try:
            return int(value)
        except ValueError:
            raise self.refused(name, "is no whole number", "a number such as 1") from None

    def real(self, name: str) -> float:
        """The value of an option that is a number, or a list of one."""
        value = self.single(name)
        try:
            return float(value)
        except ValueError:
            raise self.refused(name, "is no number", "a number such as 0.1") from None

    def single(self, name: str) -> Value:
        """The value of an option, of a list its only element."""
        value = self.value(name)
        if not isinstance(value, str):
            return value
        found = elements(value)
        if len(found) > 1:
            raise self.refused(
                name, "is a list with a value for each class, and the document has one class", "one value"
            )
        return found[0] if found else value

    def refused(self, name: str, reason: str, valid: str, hint: str = "") -> ConfigError:
        """The refusal of an option's value."""
        place = f"line {self._given[name].line}: " if name in self._given else ""
        default = "" if name in self._given else ", which is BookSim's default,"
        return ConfigError(f"{place}{name} = {self.value(name)}{default} {reason}; valid: {valid}{hint}")

    def remark(self, name: str, instead: str) -> str:
        """A sentence about an option whose value the document does not have."""
        default = "" if name in self._given else ", which is BookSim's default,"
        return f"{name} = {self.value(name)}{default} {instead}."

    def _check_name(self, name: str, names: tuple[str, ...]) -> None:
        chosen, _ = call(str(self.single(name)))
        if chosen not in names:
            hint = suggestion(chosen, names)
            raise self.refused(name, "is nothing that BookSim knows", ", ".join(names), hint)


def _check(one: Assignment) -> None:
    """Refuses an option that BookSim does not have, or a value that is not of its type."""
    place, option = f"line {one.line}: {one.name} = {one.value}", OPTIONS.get(one.name)
    if option is None:
        hint = suggestion(one.name, OPTIONS)
        raise ConfigError(f"{place}: BookSim has no option {one.name}{hint or '; valid: its options'}")
    if isinstance(one.value, str):
        if not (option.is_text or isinstance(option.default, str)):
            raise ConfigError(f"{place}: is a text; valid: a number such as {option.default}")
        return
    if isinstance(option.default, str):
        raise ConfigError(f"{place}: is a number; valid: a text")
    if isinstance(option.default, float) and isinstance(one.value, int):
        raise ConfigError(f"{place}: BookSim takes no whole number here; valid: {one.value}.0")
    if isinstance(option.default, int) and isinstance(one.value, float):
        raise ConfigError(f"{place}: is no whole number; valid: a number such as {option.default}")
    if abs(one.value) > MOST_INT:
        raise ConfigError(f"{place}: is more than BookSim holds; valid: -{MOST_INT} … {MOST_INT}")


def convert(assignments: Iterable[Assignment], network: Network | None = None) -> Converted:
    """What the assignments of a file become. Raises `ConfigError` where hopsim has nothing of the kind.

    `network` is that of a network file, of which it is not asked what paths packets take there.
    """
    settings = Settings(assignments)
    _check_kinds(settings)
    network = network or _network(settings)
    remarks: list[str] = []
    _tell_of_ugal(settings, remarks)
    lengths = _packet_lengths(settings)
    process, load = _process(settings, lengths, remarks)
    document: dict[str, Any] = {
        "compat": "booksim",
        "load": load,
        "topology": network.topology,
        "links": _links(network),
        "router": {"virtual_channel": _router(settings, network, remarks)},
        "routing": network.routing,
        "jobs": [
            {"traffic": {**process, "pattern": _pattern(settings, network), **_traffic_lengths(lengths)}}
        ],
        "measure": _measure(settings, remarks),
    }
    if _is_pipelined(settings):
        document["semantics"] = {"stages": "pipelined"}
    for name, option in OPTIONS.items():
        if option.instead and (option.differs or settings.value(name) != option.default):
            remarks.append(settings.remark(name, option.instead))
    return Converted(document, remarks)


def _check_kinds(settings: Settings) -> None:
    """Refuses what would be another experiment without it."""
    only: dict[str, tuple[Value, str]] = {
        "router": ("iq", "is a kind of router that hopsim does not have"),
        "sim_type": ("latency or throughput", "sends batches, which hopsim does not"),
        "subnets": (1, "is several networks side by side, of which a document has one"),
        "classes": (1, "is several classes of traffic, of which a document has one"),
        "use_read_write": (
            0,
            "is requests and replies with lengths and VCs of their own, not those of hopsim",
        ),
    }
    for name, (valid, reason) in only.items():
        chosen = settings.single(name)
        chosen = call(chosen)[0] if isinstance(chosen, str) else chosen
        if str(chosen) not in str(valid).split(" or "):
            raise settings.refused(name, reason, str(valid))


# The networks.


def _network(settings: Settings) -> Network:
    """The network, with its routing."""
    name = str(settings.value("topology"))
    routing = str(settings.value("routing_function"))
    if routing not in ROUTINGS[name]:
        valid = ", ".join(ROUTINGS[name])
        hint = suggestion(routing, ROUTINGS[name])
        raise settings.refused("routing_function", f"is no routing of BookSim for {name}", valid, hint)
    make, routings = NETWORKS.get(name, (None, ()))
    if make is None:
        raise settings.refused("topology", LACKING[name], ", ".join(NETWORKS))
    if routing not in routings:
        reason = f"is not the same in hopsim: {OTHER_ROUTINGS.get(routing, 'its VCs are chosen otherwise')}"
        raise settings.refused("routing_function", reason, " or ".join(routings))
    return make(settings)


def _mesh(settings: Settings) -> Network:
    k, n, vcs = (settings.number(name) for name in ("k", "n", "num_vcs"))
    _check_size(settings, k, n)
    return Network(
        {"mesh": {"sides": [k] * n}},
        {"network": 1},
        {"network": vcs},
        k**n,
        is_grid=settings.number("xr") == 1,
        routing=_detours(settings) or {"minimal": {}},
    )


def _detours(settings: Settings) -> dict[str, Any] | None:
    """A routing with half of the VCs for each of two kinds of hops, in meshes and flattened butterflies."""
    routing = str(settings.value("routing_function"))
    found = dict(_ugal(settings) if routing == "ugal" else DETOURS.get(routing, {}))
    if not found:
        return None
    if settings.number("num_vcs") < 2:
        parts = "orders of dimensions" if "o1turn" in found else "parts of a detour"
        raise settings.refused("num_vcs", f"is too few for the two {parts}", "2 or more")
    if "o1turn" in found and settings.number("n") < 2:
        raise settings.refused("n", "has one order of dimensions", "2 or more")
    return found


UGAL_THRESHOLD = 2
"""By how many flits, weighed with hops, more must be outstanding for a packet to take a detour."""


def _ugal(settings: Settings) -> dict[str, Any]:
    """How packets choose a detour."""
    threshold = _ugal_threshold(settings)
    rule = {"within": "unaligned", "occupancy": "port", "threshold": threshold, "once": True}
    return {"ugal": rule}


def _ugal_threshold(settings: Settings) -> int:
    """The same in packets, to the nearest."""
    return round(UGAL_THRESHOLD / _mean_length(_packet_lengths(settings)))


def _tell_of_ugal(settings: Settings, remarks: list[str]) -> None:
    """Says in what UGAL is another one."""
    if settings.value("routing_function") != "ugal":
        return
    flits = _ugal_threshold(settings) * _mean_length(_packet_lengths(settings))
    if flits != UGAL_THRESHOLD:
        bound = f"is for the detour from {UGAL_THRESHOLD} flits more on; the document has {flits:g}"
        remarks.append(settings.remark("routing_function", bound))


def _torus(settings: Settings) -> Network:
    k, n, vcs = (settings.number(name) for name in ("k", "n", "num_vcs"))
    _check_size(settings, k, n)
    if vcs < 2:
        raise settings.refused("num_vcs", "is too few for the two classes of a torus", "2 or more")
    is_long = settings.number("use_noc_latency") == 1
    return Network(
        {"torus": {"sides": [k] * n}},
        {"network": 2 if is_long else 1},
        {"network": vcs},
        k**n,
        is_grid=settings.number("xr") == 1,
        rings={"dateline": {"class": "dimension"}},
    )


def _cmesh(settings: Settings) -> Network:
    k, n, c = (settings.number(name) for name in ("k", "n", "c"))
    _check_size(settings, k, n)
    side = isqrt(c)
    if n != 2 or side * side != c or c // n != side:
        raise settings.refused("c", "has channels of two lengths, and a mesh of hopsim one", "4 with n = 2")
    is_long = settings.number("use_noc_latency") == 1
    return Network(
        {"mesh": {"sides": [k] * n, "nodes_per_router": c}},
        {"network": side if is_long else 1},
        {"network": settings.number("num_vcs")},
        c * k**n,
        number=node_number(settings),
    )


def _fattree(settings: Settings) -> Network:
    k, n = settings.number("k"), settings.number("n")
    _check_size(settings, k, n)
    return Network(
        {"fat_tree": {"k": k, "levels": n}},
        {"network": 1},
        {"network": settings.number("num_vcs")},
        k**n,
        routing={"minimal": {"up": "random"}},
    )


def _flatfly(settings: Settings) -> Network:
    k, n, c = (settings.number(name) for name in ("k", "n", "c"))
    _check_size(settings, k, n)
    spacing = _spacing(settings) if settings.number("use_noc_latency") == 1 else 0
    return Network(
        {
            "hyperx": {
                "sides": [k] * n,
                "nodes_per_router": c,
                **({"latency_per_step": spacing} if spacing else {}),
            }
        },
        {"network": max(spacing, 1)},
        {"network": settings.number("num_vcs")},
        c * k**n,
        number=None if c == 1 else node_number(settings),
        routing=_detours(settings) or {"minimal": {}},
    )


def node_number(settings: Settings) -> Callable[[int], int]:
    """The number of a node of a network with several nodes per router, by its number in BookSim.

    BookSim counts nodes row by row over all routers. A router has `xr` nodes side by side and `yr` in a
    column; in a concentrated mesh they are a square.
    """
    k, c, across, down = (settings.number(name) for name in ("k", "c", "xr", "yr"))
    if settings.value("topology") == "cmesh":
        across = down = isqrt(c)

    def number(node: int) -> int:
        row, column = divmod(node, across * k)
        router = column // across + k * (row // down)
        return router * c + column % across + across * (row % down)

    return number


def _spacing(settings: Settings) -> int:
    """Latency of a channel of a flatfly between routers side by side: nodes along a side of a router."""
    across, down = settings.number("xr"), settings.number("yr")
    if across != down:
        raise settings.refused(
            "xr", f"gives channels of a dimension other lengths than yr = {down}", str(down)
        )
    if across > MOST_NODES_ALONG_ROUTER:
        raise settings.refused(
            "xr",
            "gives the channels of the nodes of a router different lengths",
            f"1 or {MOST_NODES_ALONG_ROUTER}, or use_noc_latency = 0",
        )
    if settings.number("n") > MOST_PLANAR:
        raise settings.refused(
            "use_noc_latency",
            f"gives channels of a flatfly with n = {settings.number('n')} the lengths of a plane",
            "0 with n = 3 or more",
        )
    return across


def _fly(settings: Settings) -> Network:
    k, n = settings.number("k"), settings.number("n")
    if n != 1:
        raise settings.refused(
            "n",
            "is a butterfly, whose nodes inject at its first stage and eject at its last: a node of "
            "hopsim is at "
            "one router",
            "1 with topology = fly: a router alone",
        )
    return Network({"graph": {"nodes": [k]}}, {}, {}, k)


def _dragonfly(settings: Settings) -> Network:
    k, vcs = settings.number("k"), settings.number("num_vcs")
    if settings.number("n") != 1:
        raise settings.refused("n", "is a dragonfly that BookSim does not build", "1 with dragonflynew")
    if vcs < 2:
        raise settings.refused("num_vcs", "is too few for a dragonfly", "2 or more")
    return Network(
        {"dragonfly": {"p": k, "a": 2 * k, "h": k, "arrangement": "consecutive"}},
        {"local": 10, "global": 100},
        {"local": 2, "global": 1},
        2 * k * k * (2 * k * k + 1),
        # Packets leave by the VC that they have had since their global link.
        ejection=1,
    )


def _check_size(settings: Settings, k: int, n: int) -> None:
    """Refuses networks whose number of routers nobody could hold, before it is computed."""
    if k < 2:
        raise settings.refused("k", "is a network without links", "2 or more")
    if n > MOST_DIMENSIONS or k**n > MOST_INT:
        raise settings.refused("n", f"with k = {k} is too large a network", f"fewer than {MOST_INT} routers")


MOST_DIMENSIONS = 31
"""More than that no network of BookSim can have, with two routers in each."""

NETWORKS: Mapping[str, tuple[Callable[[Settings], Network], tuple[str, ...]]] = {
    "mesh": (_mesh, ("dor", "dim_order", "valiant", "romm", "xy_yx", "adaptive_xy_yx")),
    "torus": (_torus, ("dim_order",)),
    "cmesh": (_cmesh, ("dor_no_express",)),
    "fattree": (_fattree, ("nca",)),
    "flatfly": (_flatfly, ("ran_min", "xyyx", "adaptive_xyyx", "valiant", "ugal")),
    "fly": (_fly, ("dest_tag",)),
    "dragonflynew": (_dragonfly, ("min",)),
}
"""Topologies that hopsim has, and routings of theirs that are the same mechanism."""

LACKING: Mapping[str, str] = {
    "qtree": "is a tree of four-way routers without nodes, which hopsim has only as topology.graph, by hand",
    "tree4": "has two links between the same routers, of which minimal routing in hopsim takes one",
    "anynet": "has paths that BookSim does not keep from deadlock; topology.graph has links, by hand",
}
"""Why the others are not carried over."""

OTHER_ROUTINGS: Mapping[str, str] = {
    "xy_yx": "it goes by express channels",
    "valiant": "BookSim's has four parts of the VCs, and ends itself",
    "ugal_xyyx": "each part of the detour has two orders of dimensions",
    "dim_order_bal": "packets that cross neither middle nor edge draw their VCs",
    "min_adapt": "BookSim's is adaptive in the first productive dimension alone",
    "planar_adapt": "BookSim's is adaptive in two dimensions at a time",
    "anca": "the less occupied of two ports that are drawn is taken upwards",
    "ugal": "BookSim's compares queues by a rule of its own",
}
"""What is not the same in routings that are not carried over."""


# The rest.


def _links(network: Network) -> dict[str, Any]:
    """Latencies: what is put on a channel of BookSim in a cycle is read a cycle after its latency is over."""
    latencies = {"injection": 1, **network.latencies}
    return {name: {"latency": latency + 1} for name, latency in latencies.items()}


def _buffers(settings: Settings, network: Network, remarks: list[str]) -> dict[str, Any]:
    """Sizes of buffers: each VC has one of its own, or those of a link port share one."""
    vcs, buffer = settings.number("num_vcs"), settings.number("vc_buf_size")
    total = settings.number("buf_size")
    if total > 0:
        buffer = total // vcs
        if not buffer:
            raise settings.refused("buf_size", "leaves a VC without a buffer", f"{vcs} or more")
    sizes: dict[str, Any] = dict.fromkeys([*network.vcs, "injection", "ejection"], buffer)
    reserve = _reserve(settings, total if total > 0 else vcs * buffer, remarks)
    if reserve is not None:
        sizes |= dict.fromkeys(network.vcs, total if total > 0 else vcs * buffer)
        sizes["damq"] = {"reserve": reserve}
        instead = f"is carried over for links alone: VCs between nodes and routers have {buffer} flits each"
        remarks.append(settings.remark("buffer_policy", instead))
    return sizes


def _reserve(settings: Settings, total: int, remarks: list[str]) -> int | None:
    """The reserve of each VC where those of a port share a buffer; None if they do not."""
    vcs, policy = settings.number("num_vcs"), settings.value("buffer_policy")
    reserve = settings.number("private_buf_size")
    if policy == "private":
        if reserve != OPTIONS["private_buf_size"].default:
            remarks.append(
                settings.remark("private_buf_size", "is about shared buffers, which there are not")
            )
        return None
    for name in ("wait_for_tail_credit", "vc_prioritize_empty"):
        if settings.number(name):
            instead = f"has no counterpart with {name} = 1: every VC has a buffer of its own"
            remarks.append(settings.remark("buffer_policy", instead))
            return None
    if policy != "shared":
        remarks.append(settings.remark("buffer_policy", "is carried over without the limits of single VCs"))
    if reserve == 0:
        remarks.append(
            settings.remark("private_buf_size", "has no counterpart: each VC has a flit of its own")
        )
    reserve = total // vcs if reserve < 0 else max(reserve, 1)
    if reserve * vcs > total:
        raise settings.refused("private_buf_size", "is more than a VC has", f"at most {total // vcs}")
    return reserve


def _router(settings: Settings, network: Network, remarks: list[str]) -> dict[str, Any]:
    vcs = settings.number("num_vcs")
    buffers = _buffers(settings, network, remarks)
    others = {"rings": network.rings, "ejection": network.ejection}
    others = {key: value for key, value in others.items() if value}
    return {
        "vcs": {**network.vcs, "injection": vcs, **others},
        "buffers": buffers,
        "routing_delay": settings.number("routing_delay"),
        "vc_allocation_delay": settings.number("vc_alloc_delay"),
        "switch_traversal_delay": settings.number("st_prepare_delay") + settings.number("st_final_delay"),
        **_switch_allocation(settings, remarks),
        **_credits(settings),
        **_speedup(settings, buffers, remarks),
        **_allocation(settings, remarks),
    }


def _is_pipelined(settings: Settings) -> bool:
    """Whether stages of several cycles are carried over as pipelines: of routers that do more in a cycle."""
    return settings.real("internal_speedup") > 1.0 and any(settings.number(name) > 1 for name in STAGES)


STAGES = ("routing_delay", "vc_alloc_delay", "sw_alloc_delay", "st_prepare_delay", "st_final_delay")
"""How long the stages of a router take."""


def _switch_allocation(settings: Settings, remarks: list[str]) -> dict[str, Any]:
    """A switch allocation of several cycles."""
    if _is_pipelined(settings):
        instead = "is carried over as a pipeline; BookSim lets a router begin with all heads at once"
        long = [name for name in STAGES if settings.number(name) > 1 and name != "sw_alloc_delay"]
        remarks += [settings.remark(name, instead) for name in long]
    delay = settings.number("sw_alloc_delay")
    if delay == 1:
        return {}
    for name in ("internal_speedup", "speculative", "hold_switch_for_packet"):
        if settings.value(name) != OPTIONS[name].default:
            remarks.append(
                settings.remark("sw_alloc_delay", f"has no counterpart beside {name}: the document has 1")
            )
            return {}
    return {"switch_allocation_delay": delay}


def _speedup(settings: Settings, buffers: dict[str, Any], remarks: list[str]) -> dict[str, Any]:
    """How much faster a router or its crossbar is than its links; `buffers` get the queues at its outputs."""
    speedup, size = settings.real("internal_speedup"), settings.number("output_buffer_size")
    outputs = settings.number("output_speedup")
    if outputs > MOST_CROSSBAR_OUTPUTS:
        raise settings.refused("output_speedup", "is more than hopsim has", f"1 … {MOST_CROSSBAR_OUTPUTS}")
    if not 1.0 <= speedup <= MOST_SPEEDUP or round(speedup * 100) != speedup * 100:
        valid = f"1.0 … {MOST_SPEEDUP}, a multiple of 0.01"
        raise settings.refused("internal_speedup", "is no speedup of hopsim", valid)
    if size == 0:
        raise settings.refused("output_buffer_size", "lets no flit through", "1 or more, or -1")
    if speedup == 1.0 and outputs == 1:
        if size > 0:
            remarks.append(
                settings.remark("output_buffer_size", "is about speedups, which the file does not have")
            )
        return {}
    # Without a size nothing but credits ends the growth of a queue.
    largest = max(buffers[name] for name in buffers if name != "damq")
    credits_behind_port = settings.number("num_vcs") * largest
    buffers["output"] = min(size if size > 0 else credits_behind_port, MOST_QUEUED)
    if outputs > 1:
        instead = "is carried over; of flits that cross to a port at once those of lower outputs go first"
        remarks.append(settings.remark("output_speedup", instead))
    found = {"speedup": speedup, "crossbar_outputs": outputs}
    return {name: value for name, value in found.items() if value != 1}


MOST_SPEEDUP = 8.0
"""Speedup of a router of hopsim."""

MOST_CROSSBAR_OUTPUTS = 16
"""Outputs of the crossbar that an output port of hopsim has."""

MOST_QUEUED = 4096
"""Flits that wait at an output of a router of hopsim."""


def _credits(settings: Settings) -> dict[str, Any]:
    """Credits, and the inputs of the crossbar; what is BookSim's default and hopsim's is left out."""
    found: dict[str, Any] = {}
    if settings.number("credit_delay"):
        found["credit_delay"] = settings.number("credit_delay")
    if settings.number("wait_for_tail_credit"):
        found["vc_reuse"] = "credits"
    elif settings.number("vc_busy_when_full"):
        # A VC all of whose credits are back has one.
        found["vc_needs_credit"] = True
    speedup = settings.number("input_speedup")
    if settings.number("num_vcs") % speedup:
        raise settings.refused("input_speedup", "does not divide num_vcs", "a divisor of num_vcs")
    if speedup > 1:
        found["crossbar_inputs"] = speedup
    return found


def _allocation(settings: Settings, remarks: list[str]) -> dict[str, Any]:
    """The allocators, and who goes before others there."""
    allocators = {
        key: _allocator(settings, option, remarks)
        for key, option in (("vc_allocator", "vc_allocator"), ("switch_allocator", "sw_allocator"))
    }
    found: dict[str, Any] = dict(allocators)
    if allocators["switch_allocator"] == {"separable_input_first": {}}:
        found["switch_input"] = "output"
    if settings.number("hold_switch_for_packet"):
        found["hold_switch"] = True
    if settings.number("vc_prioritize_empty"):
        _let_empty_go_first(settings, found, remarks)
    found |= _speculation(settings, remarks)
    found |= _arbiter(settings, remarks)
    if settings.number("vc_priority_donation"):
        _donate(settings, found, remarks)
    return found


def _arbiter(settings: Settings, remarks: list[str]) -> dict[str, Any]:
    """Who goes before others at the allocators."""
    priority = str(settings.value("priority"))
    names = [call(str(settings.value(option)))[0] for option in ("vc_allocator", "sw_allocator")]
    if priority == "class":
        instead = "lets nobody go before others, as there is one class; in a document jobs have a priority"
        remarks.append(settings.remark("priority", instead))
    if priority in {"none", "class"}:
        return {"arbiter": {"least_recently_served": {}}} if _are_matrices(settings) else {}
    if not set(names) <= AWARE:
        remarks.append(
            settings.remark(
                "priority",
                f"is looked at by {', '.join(sorted(AWARE))} alone, which are not both allocators of the "
                "file; the document serves in turn",
            )
        )
        return {}
    if priority in COUNTED:
        return {"arbiter": {priority: {}}}
    if priority not in TIMESTAMPS:
        remarks.append(settings.remark("priority", "has no counterpart: the document serves in turn"))
        return {}
    if priority == "network_age":
        instead = "is the age of a flit; in the document a packet is as old as its head"
        remarks.append(settings.remark("priority", instead))
    by_flit = {"by_flit": True} if priority == "local_age" else {}
    return {"arbiter": {"age": {"timestamp": TIMESTAMPS[priority], **by_flit}}}


def _let_empty_go_first(settings: Settings, router: dict[str, Any], remarks: list[str]) -> None:
    """Lets empty output VCs go before others, where inputs of the VC allocator pick one."""
    allocator, _ = call(str(settings.value("vc_allocator")))
    instead = ""
    if allocator not in AWARE:
        instead = f"is looked at by {', '.join(sorted(AWARE))} alone, which the VC allocator is not"
    elif settings.number("wait_for_tail_credit"):
        instead = "is of no effect with wait_for_tail_credit: all output VCs that can be granted are empty"
    elif allocator != "separable_input_first":
        instead = "has no counterpart with this VC allocator: a head asks for all free output VCs alike"
    if instead:
        remarks.append(settings.remark("vc_prioritize_empty", instead))
    else:
        router["empty_vcs_first"] = True


def _donate(settings: Settings, router: dict[str, Any], remarks: list[str]) -> None:
    """Lets packets lend their age to those before them in their input VC, where they have one to lend."""
    priority = settings.value("priority")
    if priority == "age" and "arbiter" in router:
        router["arbiter"]["age"]["donation"] = True
    elif priority in {"none", "class", "local_age", "queue_length"} or "arbiter" not in router:
        remarks.append(settings.remark("vc_priority_donation", "is of no effect with this priority"))
    else:
        remarks.append(
            settings.remark(
                "vc_priority_donation", "has no counterpart with this priority: a VC is as its first packet"
            )
        )


def _speculation(settings: Settings, remarks: list[str]) -> dict[str, Any]:
    """Whether heads ask for the switch before they own an output VC."""
    options = ("spec_sw_allocator", "spec_check_elig", "spec_check_cred", "spec_mask_by_reqs")
    others = [name for name in options if settings.value(name) != OPTIONS[name].default]
    if not settings.number("speculative"):
        instead = "is about speculation, which the file does not have"
        remarks += [settings.remark(name, instead) for name in others]
        return {}
    if settings.number("vc_alloc_delay") > 1:
        remarks.append(
            settings.remark(
                "speculative",
                "is of no use with vc_alloc_delay of more than 1; in the document heads ask for the switch "
                "when they own an output VC",
            )
        )
        return {}
    instead = "has no counterpart: a head asks for the switch if an output VC that it asks for takes a flit"
    remarks += [settings.remark(name, instead) for name in others if name.startswith("spec_check")]
    masks_requests = "spec_mask_by_reqs" in others
    first, second = (call(str(settings.value(option)))[0] for option in ("sw_allocator", "spec_sw_allocator"))
    if second == "prio":
        if masks_requests:
            remarks.append(
                settings.remark("spec_mask_by_reqs", "is about a spec_sw_allocator of its own, not prio")
            )
        return {"speculation": "firm_first" if first in AWARE else "equal"}
    if second != first:
        remarks.append(
            settings.remark("spec_sw_allocator", f"has no counterpart: the document has {first} here, too")
        )
    return {"speculation": "pessimistic" if masks_requests else "separate"}


def _are_matrices(settings: Settings) -> bool:
    """Whether all arbiters of both allocators are matrix arbiters."""
    both = [call(str(settings.value(option))) for option in ("vc_allocator", "sw_allocator")]
    return all(name in SEPARABLE and given == ["matrix"] for name, given in both)


def _allocator(settings: Settings, option: str, remarks: list[str]) -> dict[str, Any]:
    """An allocator: that of hopsim which is the same or, with a remark, the nearest one."""
    name, given = call(str(settings.value(option)))
    if name in WITH_ITERATIONS:
        return {ALLOCATORS[name]: {"iterations": _iterations(settings, option, given)}}
    if given and given not in (["1"], ["round_robin"]) and not _are_matrices(settings):
        remarks.append(settings.remark(option, f"has an argument that the document has not: it has {name}"))
    parameters = {"select": {"iterations": 1}, "rr_wavefront": {"next": "grant"}}
    return {ALLOCATORS[name]: parameters.get(name, {})}


def _iterations(settings: Settings, option: str, given: list[str]) -> int:
    """Iterations of an allocator."""
    if not given:
        return 1
    try:
        iterations = int(given[0])
    except ValueError:
        iterations = 0
    name = call(str(settings.value(option)))[0]
    if not 1 <= iterations <= MOST_ITERATIONS:
        valid = f"{name}(1) … {name}({MOST_ITERATIONS})"
        raise settings.refused(option, "has a number of iterations that hopsim does not", valid)
    return iterations


MOST_ITERATIONS = 8
"""Iterations of an allocator of hopsim."""


def _packet_lengths(settings: Settings) -> dict[int, int]:
    """The lengths of packets with their weights.

    BookSim draws one of a list in a list, by rates of which the last stands for those that are not there.
    """
    sizes = _integers(settings, "packet_size", ("is no length of a packet", 1))
    if len(sizes) == 1:
        return {sizes[0]: 1}
    rates = _integers(settings, "packet_size_rate", ("is no rate", 0))
    rates = [*rates, *[rates[-1]] * len(sizes)][: len(sizes)]
    lengths = dict.fromkeys(sizes, 0)
    for size, rate in zip(sizes, rates, strict=True):
        lengths[size] += rate
    lengths = {size: rate for size, rate in lengths.items() if rate}
    if not lengths:
        raise settings.refused("packet_size_rate", "is a rate of 0 for all lengths", "a rate above 0")
    return lengths


def _mean_length(lengths: Mapping[int, int]) -> float:
    """The mean length of packets."""
    return sum(length * weight for length, weight in lengths.items()) / sum(lengths.values())


def _integers(settings: Settings, name: str, check: tuple[str, int]) -> list[int]:
    """The elements of a list in a list, or the one value, which are whole numbers of so much or more."""
    reason, least = check
    written = elements(str(settings.single(name)))
    try:
        found = [int(element) for element in written]
    except ValueError:
        found = []
    if not found or min(found) < least:
        raise settings.refused(name, reason, f"{least} or more")
    return found


def _traffic_lengths(lengths: Mapping[int, int]) -> dict[str, Any]:
    """The key of a job about the lengths of its packets."""
    if len(lengths) == 1:
        return {"packet_length": next(iter(lengths))}
    shares = [{"length": length, "weight": weight} for length, weight in lengths.items()]
    return {"packet_lengths": shares}


BURSTS = ("burst_alpha", "burst_beta", "burst_r1")
"""Probabilities of sources that are on and off: to be on, to be off, of a packet while on."""


def _process(
    settings: Settings, lengths: Mapping[int, int], remarks: list[str]
) -> tuple[dict[str, Any], float]:
    """When packets are generated, if not as by default, as a key of a job; the load [flits/(node·cycle)]."""
    mean = _mean_length(lengths)
    name, given = call(str(settings.single("injection_process")))
    if name == "bernoulli":
        instead = "is about injection_process = on_off, which the file does not have"
        given = [option for option in BURSTS if settings.value(option) != OPTIONS[option].default]
        remarks += [settings.remark(option, instead) for option in given]
        return {}, _load(settings, mean, remarks)
    return _on_off(settings, given, (_load(settings, mean, remarks), mean), remarks)


def _on_off(
    settings: Settings, given: list[str], loads: tuple[float, float], remarks: list[str]
) -> tuple[dict[str, Any], float]:
    """The same of sources that are on and off. `loads` are the load and that of a packet in every cycle.

    Of the probabilities to be on, to be off and of a packet while on BookSim computes a negative one so that
    the others give the rate; without one they say the rate themselves.
    """
    load, mean = loads
    rate = load / mean
    try:
        values = [float(value) for value in given]
    except ValueError:
        raise settings.refused("injection_process", "has an argument that is no number", "on_off") from None
    values += [settings.real(name) for name in BURSTS[len(values) :]]
    alpha, beta, packet = values[: len(BURSTS)]
    if packet >= 0 and rate >= packet and min(alpha, beta) < 0:
        raise settings.refused("burst_r1", "is too small for the rate", f"more than {rate:g}")
    if alpha < 0:
        alpha = beta * rate / (packet - rate)
    elif beta < 0:
        beta = alpha * (packet - rate) / rate if rate else 0.0
    elif packet >= 0:
        load = min(packet, 1.0) * alpha / (alpha + beta) * mean if alpha + beta else load
    for option, value in zip(BURSTS, (alpha, beta), strict=False):
        if not 0 < value <= 1:
            raise settings.refused(
                option, f"means {value:g}, which is no probability", "more than 0.0, at most 1.0"
            )
    most = alpha / (alpha + beta) * mean
    if load > most:
        remarks.append(
            settings.remark(
                "injection_rate",
                "is more than a packet in every cycle in which a node is on; the document has "
                f"load = {most:g}",
            )
        )
    return {"process": {"on_off": {"alpha": alpha, "beta": beta}}}, min(load, most)


def _load(settings: Settings, mean: float, remarks: list[str]) -> float:
    """The load in flits/(node·cycle), of packets of so many on average."""
    rate = settings.real("injection_rate")
    if not 0.0 <= rate < float("inf"):
        raise settings.refused("injection_rate", "is no rate", "0.0 or more")
    load = rate if settings.number("injection_rate_uses_flits") else rate * mean
    if load > 1.0:
        remarks.append(
            settings.remark(
                "injection_rate",
                f"is {load:g} flits per node and cycle; the document has load = 1, all that the link "
                f"of a node "
                "carries",
            )
        )
    return min(load, 1.0)


def _pattern(settings: Settings, network: Network) -> dict[str, Any]:
    """The pattern of traffic."""
    name, given = call(str(settings.single("traffic")))
    if name == "hotspot":
        return _hotspots(settings, network, given)
    if network.number is not None and name in IMAGES and not given:
        return _by_number(settings, network, name)
    if name in {"tornado", "neighbor"} and not network.is_grid:
        raise settings.refused("traffic", "is not the same in this network of hopsim", "uniform")
    if name == "bad_dragon" and "dragonfly" not in network.topology:
        raise settings.refused("traffic", "is for a dragonfly", "uniform")
    if given and name != "uniform":
        raise settings.refused("traffic", "has arguments that the pattern of hopsim does not have", name)
    if name not in PATTERNS:
        raise settings.refused("traffic", "is no pattern of hopsim", ", ".join([*PATTERNS, "hotspot"]))
    return dict(PATTERNS[name])


def _by_number(settings: Settings, network: Network, name: str) -> dict[str, Any]:
    """A pattern by the numbers of nodes in BookSim, where they are others, as a list of destinations."""
    count, number = network.nodes, network.number
    if number is None or settings.number("n") > MOST_PLANAR or count > MOST_LISTED:
        reason = "goes by numbers of nodes, which are others in this network of hopsim"
        raise settings.refused("traffic", reason, "uniform")
    across, down, c = (settings.number(option) for option in ("xr", "yr", "c"))
    if settings.value("topology") == "flatfly" and across * down != c:
        raise settings.refused("xr", f"times yr = {down} is not c = {c}", f"{c} with yr = 1")
    bits = count.bit_length() - 1
    if name in BITWISE and count != 1 << bits:
        raise settings.refused("traffic", f"is for 2^b nodes, and there are {count}", "uniform")
    if name == "transpose" and bits % 2:
        raise settings.refused("traffic", f"is for 4^b nodes, and there are {count}", "uniform")
    side = isqrt(count)
    if name not in BITWISE and side * side != count:
        raise settings.refused("traffic", f"is for a square of nodes, and {count} nodes are none", "uniform")
    image = IMAGES[name]
    destinations = [0] * count
    for node in range(count):
        destinations[number(node)] = number(image(node, bits, side))
    return {"destinations": destinations}


MOST_LISTED = 1 << 16
"""Nodes up to which a document lists destinations."""


def _by_digits(node: int, side: int, ahead: int) -> int:
    """The node whose two digits in base `side` are each so much larger, all the way round."""
    row, column = divmod(node, side)
    return (row + ahead) % side * side + (column + ahead) % side


def _rotated(node: int, bits: int, by: int) -> int:
    """The bits of a number rotated to the left."""
    return (node << by | node >> (bits - by)) & ((1 << bits) - 1)


IMAGES: Mapping[str, Callable[[int, int, int], int]] = {
    "bitcomp": lambda node, bits, _: ~node & ((1 << bits) - 1),
    "bitrev": lambda node, bits, _: int(f"{node:0{bits}b}"[::-1], 2),
    "shuffle": lambda node, bits, _: _rotated(node, bits, 1),
    "transpose": lambda node, bits, _: _rotated(node, bits, bits // 2),
    "tornado": lambda node, _, side: _by_digits(node, side, (side + 1) // 2 - 1),
    "neighbor": lambda node, _, side: _by_digits(node, side, 1),
}
"""Where the packets of a node go, by its number, how many bits numbers have, and how many nodes a row has."""

BITWISE = {"bitcomp", "bitrev", "shuffle", "transpose"}
"""Those that go by bits."""


def _hotspots(settings: Settings, network: Network, given: list[str]) -> dict[str, Any]:
    """All packets to the hot nodes, by weight: `hotspot({{nodes},{weights}})`."""
    try:
        nodes = [int(node) for node in elements(given[0])] if given else [-1]
        rates = [int(rate) for rate in elements(given[1])] if len(given) > 1 else [1]
    except ValueError:
        raise settings.refused("traffic", "names no nodes", "hotspot({{0,27},{4,2}})") from None
    rates = [*rates, *[rates[-1]] * len(nodes)][: len(nodes)] if rates else []
    if not rates or min(rates) < 1:
        raise settings.refused("traffic", "has no weights", "hotspot({{0,27},{4,2}}), weights of 1 or more")
    if any(not 0 <= node < network.nodes for node in nodes):
        valid = f"nodes 0 … {network.nodes - 1}, by number"
        raise settings.refused("traffic", "names a node that is drawn or not there", valid)
    if network.number is not None:
        nodes = [network.number(node) for node in nodes]
    parts: list[dict[str, Any]] = [{"hotspot": {"node": node, "fraction": 1.0}} for node in nodes]
    if len(parts) == 1:
        return parts[0]
    return {"mix": [{"weight": rate, "pattern": part} for rate, part in zip(rates, parts, strict=True)]}


def _measure(settings: Settings, remarks: list[str]) -> dict[str, Any]:
    """Warm-up and window: all periods that BookSim measures at most."""
    period, most = settings.number("sample_period"), settings.number("max_samples")
    warmup = settings.number("warmup_periods")
    if most <= warmup:
        raise settings.refused("max_samples", "leaves nothing to measure", f"more than {warmup}")
    if not warmup:
        remarks.append(
            settings.remark(
                "warmup_periods", 'warms up until figures settle; the document has measure.warmup = "auto"'
            )
        )
    cycles = (most - warmup) * period
    remarks.append(
        settings.remark(
            "max_samples",
            f"is the longest that BookSim runs, which ends as soon as figures settle; the document "
            f"has a window of "
            f"{cycles} cycles, all periods behind the warm-up",
        )
    )
    seed = settings.single("seed")
    if seed == "time":
        remarks.append(settings.remark("seed", "is another one every time; the document has 0"))
        seed = 0
    seed = settings.number("seed") if seed != 0 else 0
    if seed < 0:
        raise settings.refused("seed", "is no seed of hopsim", "0 or more")
    return {
        "warmup": warmup * period or "auto",
        "cycles": cycles,
        "batches": min(10, cycles),
        "seed": seed,
    }
