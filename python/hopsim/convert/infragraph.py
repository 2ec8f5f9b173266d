"""Networks of InfraGraph, the description of infrastructure that Chakra and ASTRA-sim share, as documents.

InfraGraph has components of devices (accelerators, network interfaces, ports) and links between them. Its own
package expands a description to a graph of all components. Here an instance of a device with an accelerator
is a host, and any other one is a router; what is inside of either is left out. A component of a host that has
a link to a router is a node.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import ceil
from typing import Any

from hopsim.errors import ConfigError
from hopsim.files.quantities import NANOSECONDS
from hopsim.suggestion import suggestion

Instance = tuple[str, int]
"""Name and number of an instance of a device."""

ACCELERATOR = "xpu"
"""The kind of components that hosts have."""

PER_SECOND: Mapping[str, Fraction] = {"Gbps": Fraction(1, 8), "GBps": Fraction(1)}
"""Bytes in a nanosecond of units of bandwidth."""

MOST_CYCLES_PER_PHIT = 64

VALID = "a description of InfraGraph, JSON or YAML"
"""What a file must be."""


@dataclass(frozen=True)
class Converted:
    """What a description becomes.

    Attributes:
        document: its network, without traffic.
        nodes: names of the components that are nodes, by number.
        routers: names of the instances that are routers, by number.
        remarks: what was left out, a sentence for each thing.
    """

    document: dict[str, Any]
    nodes: list[str]
    routers: list[str]
    remarks: list[str]


@dataclass(frozen=True)
class Link:
    """A link between two instances.

    Attributes:
        ends: names of the components that it joins.
        instances: those of the ends.
        rate: bytes in a nanosecond; `None` if nothing is said.
        latency: [ns]; `None` if nothing is said.
    """

    ends: tuple[str, str]
    instances: tuple[Instance, Instance]
    rate: Fraction | None
    latency: Fraction | None

    def __str__(self) -> str:
        return f"the link from {self.ends[0]} to {self.ends[1]}"


def convert(text: str, phit: int, hosts: Sequence[str] = ()) -> Converted:
    """The network of a description, JSON or YAML, in phits of so many bytes.

    `hosts` names the instances that are hosts; by default those with accelerators. Raises `ConfigError`.
    """
    graph = _expanded(text)
    instances = _instances(graph)
    are_hosts = _hosts(graph, instances, hosts)
    links = [*_links(graph)]
    of_nodes = [link for link in links if _count(link, are_hosts) == 1]
    between = [link for link in links if _count(link, are_hosts) == 0]
    for link in links:
        if _count(link, are_hosts) == 2:
            raise ConfigError(
                f"{link}: joins two hosts; valid: links of routers, with hosts at one end at most"
            )
    if not of_nodes:
        raise ConfigError(
            "no host has a link to a router; valid: a description of a network, or --hosts NAME"
        )
    linked = {instance for link in of_nodes + between for instance in link.instances}
    with_nodes = {instance for link in of_nodes for instance in link.instances}
    found = [instance for instance in instances if instance in linked and instance[0] not in are_hosts]
    # Those with nodes come first, as in every graph here.
    routers = sorted(found, key=lambda instance: instance not in with_nodes)
    numbers = {instance: number for number, instance in enumerate(routers)}
    attached: dict[int, list[str]] = {number: [] for number in numbers.values()}
    taken: set[str] = set()
    for link in of_nodes:
        host = 0 if link.instances[0][0] in are_hosts else 1
        if link.ends[host] in taken:
            raise ConfigError(
                f"{link.ends[host]}: has several links to routers; valid: one, as a node here has"
            )
        taken.add(link.ends[host])
        attached[numbers[link.instances[1 - host]]].append(link.ends[host])
    counts = [len(names) for names in attached.values() if names]
    clock = _Clock.of(of_nodes, between, phit)
    edges = [
        {"between": [numbers[instance] for instance in link.instances], **clock.keys(link)}
        for link in between
    ]
    document: dict[str, Any] = {
        **clock.units(phit),
        "topology": {"graph": {"edges": edges, **_nodes(counts, len(routers))}},
        **clock.links(of_nodes[0]),
    }
    names = [name for names in attached.values() for name in names]
    remarks = _remarks(instances, linked)
    if len(set(counts)) > 1:
        remarks.append("Routers have different numbers of nodes, which is for router.infiniband alone.")
    return Converted(document, names, [_named(each) for each in routers], remarks)


def _nodes(counts: Sequence[int], routers: int) -> dict[str, Any]:
    """What the document says of the nodes of routers, the first of which have so many each."""
    if len(set(counts)) > 1:
        return {"nodes": list(counts)}
    some = {} if len(counts) == routers else {"routers_with_nodes": len(counts)}
    return {"nodes_per_router": counts[0], **some}


def _expanded(text: str) -> Any:
    """The graph of all components, as the package of InfraGraph makes it."""
    try:
        service: Any = importlib.import_module("infragraph.infragraph_service").InfraGraphService()
    except ImportError:
        raise ConfigError(
            'the package infragraph is not installed; valid: pip install "hopsim[infragraph]"'
        ) from None
    try:
        service.set_graph(text)
    except Exception as error:
        # The package has no errors of its own.
        reason = " ".join(str(error).split())
        raise ConfigError(f"is not to be read: {reason}; valid: {VALID}") from None
    return service.get_networkx_graph()


def _instance(data: Mapping[str, Any]) -> Instance:
    return data["instance"], int(data["instance_idx"])


def _named(instance: Instance) -> str:
    return f"{instance[0]}.{instance[1]}"


def _instances(graph: Any) -> list[Instance]:
    """All instances, in the order of the description."""
    return list(dict.fromkeys(_instance(data) for _, data in graph.nodes(data=True)))


def _hosts(graph: Any, instances: Sequence[Instance], given: Sequence[str]) -> set[str]:
    """The names of the instances that are hosts."""
    names = list(dict.fromkeys(name for name, _ in instances))
    for name in given:
        if name not in names:
            hint = suggestion(name, names) or f"; valid: {', '.join(names)}"
            raise ConfigError(f"--hosts {name}: there are no such instances{hint}")
    hosts = set(given) or {
        data["instance"] for _, data in graph.nodes(data=True) if data["type"] == ACCELERATOR
    }
    if not hosts:
        raise ConfigError(
            f"no instance has an accelerator ({ACCELERATOR}), as a host has; valid: --hosts NAME, of "
            f"{', '.join(names)}"
        )
    return hosts


def _links(graph: Any) -> Iterator[Link]:
    """The links between instances."""
    data = dict(graph.nodes(data=True))
    for one, other, attributes in graph.edges(data=True):
        instances = (_instance(data[one]), _instance(data[other]))
        if instances[0] != instances[1]:
            link = Link((one, other), instances, None, None)
            rate = _quantity(link, attributes.get("bandwidth"), PER_SECOND)
            yield Link((one, other), instances, rate, _quantity(link, attributes.get("latency"), NANOSECONDS))


def _quantity(link: Link, text: str | None, units: Mapping[str, Fraction]) -> Fraction | None:
    """What a link states, such as `100 Gbps`, exactly."""
    if text is None:
        return None
    value, unit = text.split()
    if unit not in units:
        raise ConfigError(f"{link}: {text} is in {unit}; valid: {', '.join(units)}")
    number = Fraction(Decimal(value)) * units[unit]
    if number < 0 or (number == 0 and units is PER_SECOND):
        raise ConfigError(f"{link}: {text} is no such quantity; valid: more than 0")
    return number


def _count(link: Link, hosts: set[str]) -> int:
    """How many ends of a link are hosts."""
    return sum(name in hosts for name, _ in link.instances)


@dataclass(frozen=True)
class _Clock:
    """What a cycle is: the time in which the link of a node carries a phit.

    Attributes:
        rate: that of the links of nodes [bytes/ns]; `None` if nothing is said of any link.
        cycle: its length [ns].
    """

    rate: Fraction | None
    cycle: Fraction

    @staticmethod
    def of(of_nodes: Sequence[Link], between: Sequence[Link], phit: int) -> _Clock:
        """Of the links of nodes, which are alike, and of those between routers."""
        first = of_nodes[0]
        for link in of_nodes:
            if (link.rate, link.latency) != (first.rate, first.latency):
                raise ConfigError(f"{link}: is not as {first}; valid: all links of hosts alike")
        for link in [*of_nodes, *between]:
            if (link.rate is None) != (first.rate is None) or (
                link.latency is not None and link.rate is None
            ):
                raise ConfigError(f"{link}: states no bandwidth; valid: one for each link, or none at all")
        return _Clock(first.rate, Fraction(1) if first.rate is None else _ratio(Fraction(phit), first.rate))

    def units(self, phit: int) -> dict[str, Any]:
        """What the document says of a cycle and a phit."""
        if self.rate is None:
            return {}
        return {"units": {"cycle": f"{_decimal(self.cycle)} ns", "phit": f"{phit} B"}}

    def keys(self, link: Link) -> dict[str, int]:
        """What the document says of a link between routers."""
        if self.rate is None or link.rate is None:
            return {}
        slower = _ratio(self.rate, link.rate)
        if slower.denominator != 1 or not 1 <= slower <= MOST_CYCLES_PER_PHIT:
            raise ConfigError(
                f"{link}: has {_decimal(link.rate * 8)} Gbps, and links of hosts {_decimal(self.rate * 8)}; "
                f"valid: as much, or a half, a third, … 1/{MOST_CYCLES_PER_PHIT} of it"
            )
        found = {"latency": self.cycles(link.latency)} if link.latency is not None else {}
        return found | ({"cycles_per_phit": int(slower)} if slower > 1 else {})

    def links(self, link: Link) -> dict[str, Any]:
        """What the document says of the links of nodes."""
        if link.latency is None:
            return {}
        return {"links": {"injection": {"latency": self.cycles(link.latency)}}}

    def cycles(self, latency: Fraction) -> int:
        """A latency, rounded up [cycles]."""
        return max(1, ceil(_ratio(latency, self.cycle)))


def _decimal(number: Fraction) -> str:
    """A decimal with as many digits as a description holds."""
    return f"{float(number):.15g}"


def _ratio(one: Fraction, other: Fraction) -> Fraction:
    """One number over another, which descriptions hold with some 16 digits: a third is a third."""
    return (one / other).limit_denominator(FINEST)


FINEST = 10**9


def _remarks(instances: Sequence[Instance], linked: set[Instance]) -> list[str]:
    """What was left out."""
    alone = [_named(each) for each in instances if each not in linked]
    found = ["What is inside of hosts and routers is left out."]
    return found + ([f"{', '.join(alone)}: no link leads there, left out."] if alone else [])
