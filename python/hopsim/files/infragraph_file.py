"""Networks as descriptions of InfraGraph, which `hopsim convert infragraph` reads again."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import accumulate
from typing import Any

EXTENSION = ".infragraph.json"
"""How the names of such files end."""


@dataclass(frozen=True)
class Units:
    """What a cycle and a phit are.

    Attributes:
        cycle: length of a cycle [ns].
        phit: size of a phit [bytes].
    """

    cycle: Fraction
    phit: Fraction


@dataclass
class _Links:
    """The kinds of links, each with its latency and pace, if the units are known."""

    units: Units | None
    names: dict[tuple[int, int], str] = field(default_factory=dict[tuple[int, int], str])

    def name(self, latency: int, pace: int) -> str:
        """That of links of so many cycles, which take so many cycles for a phit."""
        return self.names.setdefault((latency, pace) if self.units else (0, 0), f"link_{len(self.names)}")

    def described(self) -> Iterator[dict[str, Any]]:
        """What the description says of them."""
        for (latency, pace), name in self.names.items():
            physical: dict[str, Any] = {}
            if self.units is not None:
                gigabits = float(8 * self.units.phit / self.units.cycle / pace)
                physical = {
                    "bandwidth": {"choice": "gigabits_per_second", "gigabits_per_second": gigabits},
                    "latency": {"choice": "ns", "ns": float(latency * self.units.cycle)},
                }
            yield {"name": name, **({"physical": physical} if physical else {})}


def as_infragraph(
    name: str,
    nodes: Sequence[int],
    edges: Iterable[tuple[int, int, Mapping[str, int]]],
    latencies: tuple[int, int],
    units: Units | None,
) -> bytes:
    """A network as a description of InfraGraph, JSON.

    `nodes` has how many nodes each router has, `latencies` that of the links of nodes and of links between
    routers that have none of their own [cycles]. Without units links have neither bandwidths nor latencies.
    """
    links, used = _Links(units), [0] * len(nodes)

    def port(router: int) -> dict[str, str]:
        used[router] += 1
        return {"instance": f"router[{router}]", "component": f"port[{used[router] - 1}]"}

    def edge(one: dict[str, str], other: dict[str, str], latency: int, pace: int) -> dict[str, Any]:
        return {"ep1": one, "ep2": other, "scheme": "one2one", "link": links.name(latency, pace)}

    found = [
        edge({"instance": f"host[{node}]", "component": "nic[0]"}, port(router), latencies[0], 1)
        for router, (first, count) in enumerate(zip(accumulate([0, *nodes]), nodes, strict=False))
        for node in range(first, first + count)
    ]
    found += [
        edge(port(one), port(other), own.get("latency", latencies[1]), own.get("cycles_per_phit", 1))
        for one, other, own in edges
    ]
    description = {
        "name": name,
        "description": f"{name}: {len(nodes)} routers, {sum(nodes)} nodes",
        "devices": [_host(), _router(max(used))],
        "links": [*links.described()],
        "instances": [
            {"name": "host", "device": "host", "count": sum(nodes)},
            {"name": "router", "device": "router", "count": len(nodes)},
        ],
        "edges": found,
    }
    return json.dumps(description, indent=1).encode() + b"\n"


def _host() -> dict[str, Any]:
    """An accelerator with a network interface."""
    return {
        "name": "host",
        "components": [
            {"choice": "xpu", "name": "xpu", "count": 1},
            {"choice": "nic", "name": "nic", "count": 1},
        ],
        "links": [{"name": "inside"}],
        "edges": [_inside("xpu", "nic")],
    }


def _router(ports: int) -> dict[str, Any]:
    """A router with so many ports."""
    return {
        "name": "router",
        "components": [
            {"choice": "cpu", "name": "crossbar", "count": 1},
            {"choice": "port", "name": "port", "count": ports},
        ],
        "links": [{"name": "inside"}],
        "edges": [_inside("crossbar", "port")],
    }


def _inside(one: str, other: str) -> dict[str, Any]:
    """Links inside of a device."""
    return {"ep1": {"component": one}, "ep2": {"component": other}, "scheme": "many2many", "link": "inside"}
