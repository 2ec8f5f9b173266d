"""Why a point is as slow as it is: where congestion begins, what stands still because of it, and who suffers.

All of it is read from the streams `link_series` and `congestion_trees`; `docs/model.md`, Measurement, says
what they count.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hopsim.document.estimate import classes_between_routers, is_fabric
from hopsim.errors import NotRecordedError
from hopsim.insight import why_fabric
from hopsim.insight.causes import CAUSES
from hopsim.metrics import stopping

if TYPE_CHECKING:
    from hopsim.results.result import Result

STREAMS = ("link_series", "congestion_trees")
"""The streams that it needs."""
SLIGHT = 0.02
"""Share of the network latency below which what packets lose in congestion trees is not worth a word."""
SPREAD = 0.2
"""Share of what is lost in trees below which the worst routers are no bottleneck."""
SHOWN = 3
"""Flows that are named."""
ROLES = ("contributor_cycles", "other_contributor_cycles", "victim_cycles")
"""Columns of the time that packets stood in trees."""

Link = tuple[int, int]


@dataclass(frozen=True)
class Root:
    """The links of a router at which congestion trees begin.

    Attributes:
        router: that router.
        ports: class of links -> the output ports of those links, ascending; first the class in whose trees
            packets stand longest.
        lost: time that packets stood in the trees in the window [packets·cycles].
    """

    router: int
    ports: dict[str, tuple[int, ...]]
    lost: int

    @property
    def links(self) -> list[Link]:
        """Those links."""
        return [(self.router, port) for ports in self.ports.values() for port in ports]


class Analysis:
    """What the streams of a point of a network with credits say of its congestion.

    Raises:
        NotRecordedError: a stream is missing.
    """

    def __init__(self, result: Result) -> None:
        """`result`: a point that has recorded `STREAMS`."""
        measure = result.config["measure"]
        refuse_unrecorded(result)
        self.result = result
        self.summary = result.summary
        self.warmup, self.interval = stopping.warmup(result), int(measure["interval"])
        self.series = result.link_series
        self.trees = result.tables["congestion_trees"]
        self.flows = result.tables["congestion_flows"]
        self.standing = result.tables["standing_packets"]

    @cached_property
    def roots(self) -> list[Root]:
        """Routers whose links are roots, those first in whose trees packets stand longest."""
        lost: dict[Link, int] = {}
        classes: dict[Link, str] = {}
        names = ("router", "port", "port_class", *ROLES)
        for router, port, name, *cycles in zip(*(_list(self.flows, name) for name in names), strict=True):
            lost[router, port] = lost.get((router, port), 0) + sum(cycles)
            classes[router, port] = name
        roots: list[Root] = []
        for router in sorted({router for router, _ in lost}):
            links = {link: cycles for link, cycles in lost.items() if link[0] == router}
            # Links at which next to nothing stands are not what is looked for.
            kept = [link for link, cycles in links.items() if cycles * 10 >= max(links.values())]
            by_class: dict[str, list[Link]] = {}
            for link in sorted(kept):
                by_class.setdefault(classes[link], []).append(link)
            in_order = sorted(by_class.items(), key=lambda item: -sum(links[link] for link in item[1]))
            ports = {name: tuple(port for _, port in found) for name, found in in_order}
            roots.append(Root(router, ports, sum(links.values())))
        return sorted(roots, key=lambda root: (-root.lost, root.router))

    @property
    def lost(self) -> int:
        """Time that packets stood in trees in the window [packets·cycles]."""
        return sum(root.lost for root in self.roots)

    @property
    def peers(self) -> list[Root]:
        """The routers at whose links packets lose at least half as much as at the worst one."""
        return [root for root in self.roots if 2 * root.lost >= self.roots[0].lost]

    def in_window(self, looks: pa.Table) -> pa.Table:
        """The rows of looks in the window."""
        return looks.filter(pa.array(looks.column("cycle").to_numpy() > self.warmup))

    @property
    def is_congested(self) -> bool:
        """Whether packets lose more than `SLIGHT` of their network latency in trees."""
        return bool(self.lost) and self.per_packet > SLIGHT * (self.summary.get("network_latency_mean") or 0)

    @property
    def per_packet(self) -> float:
        """Cycles that packets stood in trees, over the packets delivered."""
        return self.lost / max(1, self.summary["packets_delivered"])

    @property
    def share(self) -> float:
        """Of the packets that stand still in the window the share in trees."""
        window = self.in_window(self.standing)
        standing, within = (sum(_list(window, name)) for name in ("standing", "in_trees"))
        return within / standing if standing else 0.0

    @cached_property
    def used(self) -> pa.Table:
        """The intervals that begin in the window, or all if none does."""
        window = self.series.filter(pa.array(self.series.column("cycle").to_numpy() >= self.warmup))
        return window if window.num_rows else self.series

    def utilisation(self, links: Sequence[Link]) -> float:
        """Mean utilisation of some links in the window."""
        rows = _rows_of(self.used, links)
        intervals = len(set(_list(self.used, "cycle")))
        return sum(_list(rows, "utilisation")) / (max(1, len(links)) * max(1, intervals))

    def busiest(self) -> tuple[Link, str, float]:
        """The link between routers with the highest utilisation in the window, its class, and that."""
        between = self.used.filter(pc.is_finite(self.used.column("credit_stall_fraction")))
        keys = ["router", "port", "port_class"]
        between = between.set_column(
            between.column_names.index("port_class"),
            "port_class",
            between.column("port_class").cast(pa.string()),
        )
        sums = between.group_by(keys).aggregate([("utilisation", "sum")])
        used = _list(sums, "utilisation_sum")
        first = int(np.argmax(used))
        intervals = len(set(_list(between, "cycle")))
        router, port, name = (_list(sums, key)[first] for key in keys)
        return (router, port), name, used[first] / intervals

    def since(self, root: Root) -> int:
        """The first cycle looked at from which on the links of a router are roots in every one."""
        rows = _rows_of(self.trees, root.links)
        found = set(_list(rows, "cycle"))
        since = -1
        for cycle in sorted(_list(self.standing, "cycle"), reverse=True):
            if cycle not in found:
                break
            since = cycle
        return since

    def size(self, roots: Sequence[Root]) -> tuple[float, float, int]:
        """Mean links and packets of the trees of a router at a time in the window, greatest depth."""
        links = [link for root in roots for link in root.links]
        rows = _rows_of(self.in_window(self.trees), links)
        looks = sum(cycle > self.warmup for cycle in _list(self.standing, "cycle"))
        each = max(1, len(roots) * looks)
        return (
            sum(_list(rows, "links")) / each,
            sum(_list(rows, "packets")) / each,
            max(_list(rows, "depth"), default=0),
        )

    def flows_by(self, column: str, *keys: str) -> dict[tuple[Any, ...], int]:
        """Sums of a column of the flows by some keys, the greatest first."""
        sums: dict[tuple[Any, ...], int] = {}
        rows = zip(*(_list(self.flows, key) for key in keys), strict=True)
        for key, cycles in zip(rows, _list(self.flows, column), strict=True):
            sums[key] = sums.get(key, 0) + cycles
        return dict(sorted(sums.items(), key=lambda item: -item[1]))


def refuse_unrecorded(result: Result) -> None:
    """Raises `NotRecordedError`, with what to set, if a stream is missing that `explain` needs."""
    if is_fabric(result.config):
        why_fabric.refuse_unrecorded(result)
        return
    missing = [name for name in STREAMS if name not in result.tables]
    if missing:
        raise NotRecordedError(
            f"{' and '.join(missing)} not recorded; run it again into another directory, with "
            f"{_command(result)}"
        )


def explain(result: Result) -> list[str]:
    """Ten lines or fewer of plain text. Raises `NotRecordedError`."""
    if is_fabric(result.config):
        return why_fabric.explain(result)
    found = Analysis(result)
    if not found.is_congested:
        return [_load(found), *_calm(found), *_causes(found)]
    told = [_load(found), _where(found), _since(found), _tree(found), *_who(found), _cost(found)]
    return [*told, *_causes(found)]


def _load(found: Analysis) -> str:
    summary = found.summary
    offered, accepted = summary.get("offered_load"), summary.get("accepted_load") or 0.0
    text = f"Accepted load {accepted:.3g} phits/(node·cycle)"
    if offered:
        text += f" of {offered:.3g} offered ({accepted / offered:.0%})"
    verdict = summary.get("verdict")
    return f"{text}: {verdict}." if verdict else f"{text}."


def _calm(found: Analysis) -> list[str]:
    (router, port), name, used = found.busiest()
    standing = _list(found.in_window(found.standing), "standing")
    mean = sum(standing) / max(1, len(standing))
    return [
        f"Nothing is congested: of {_latency(found):.0f} cycles in the network a packet stands in congestion "
        f"trees for {found.per_packet:.1f} on average.",
        f"On average {mean:.1f} packets stand still in the whole network at a time.",
        f"The busiest link: port {port} of router {router} ({name}), in use for {used:.0%} of the time.",
    ]


def _where(found: Analysis) -> str:
    worst, others = found.roots[0], found.peers[1:]
    shape = found.result.config["topology"].get("dragonfly")
    of_group = f" of group {worst.router // shape['a']}" if shape else ""
    # Where no few routers stand out none of them is to blame.
    spread = sum(root.lost for root in found.peers) < SPREAD * found.lost
    text = "The bottleneck:"
    if spread:
        text = f"No bottleneck stands out, trees begin at {len(found.roots)} routers; most at"
    links = ", and ".join(_links(found, worst.router, name, ports) for name, ports in worst.ports.items())
    text += f" router {worst.router}{of_group}, {links}"
    if others:
        routers = "router" if len(others) == 1 else "routers"
        text += f"; at {len(others)} more {routers}, such as {_some(others)}, at least half as much is lost"
    return f"{text}."


def _links(found: Analysis, router: int, port_class: str, ports: Sequence[int]) -> str:
    """Links of one class of a router, and how much they are used."""
    several = len(ports) > 1
    kind = f"{port_class} link{'s' if several else ''}"
    if port_class == "terminal":
        kind = "links to nodes" if several else "link to a node"
    used = found.utilisation([(router, port) for port in ports])
    return f"its {kind} by {_ports(ports)}, in use for {used:.0%} of the time"


def _since(found: Analysis) -> str:
    since = found.since(found.roots[0])
    last = max(_list(found.standing, "cycle"))
    if since < 0:
        return f"It comes and goes: at the end, cycle {last}, nothing waits for room because of it."
    if since == last:
        return f"At the end, in cycle {last}, links wait for room because of it."
    return f"From cycle {since} at the latest until the end, cycle {last}, links wait for room because of it."


def _tree(found: Analysis) -> str:
    links, packets, depth = found.size(found.peers)
    behind = "each of these routers" if len(found.peers) > 1 else "it"
    return (
        f"Behind {behind} {packets:.0f} packets stand still at a time, on {links:.1f} links, up to "
        f"{depth} one behind the other."
    )


def _who(found: Analysis) -> list[str]:
    own, other, lost = (sum(_list(found.flows, role)) / found.lost for role in ROLES)
    contributors = found.flows_by("contributor_cycles", "source_group", "destination_group")
    lines = [
        f"Who contributes: {own:.0%} of the time is lost by packets that want the very link, {other:.0%} by "
        f"those that want another congested one{_named(found, contributors)}."
    ]
    if not lost:
        return [*lines, "Victims: none; all that stands there is on its way over a congested link."]
    victims = found.flows_by("victim_cycles", "source_group", "destination_group")
    lines.append(
        f"Victims: {lost:.0%} is lost by packets that want no congested link and stand behind others"
        f"{_named(found, victims)}. That is head-of-line blocking; {_vcs(found)}."
    )
    jobs = found.flows_by("victim_cycles", "job")
    total = sum(jobs.values())
    if len(found.result.jobs) > 1:
        told = ", ".join(f"{name} {cycles / total:.0%}" for (name,), cycles in jobs.items() if cycles)
        lines.append(f"Victims by job: {told}.")
    return lines


def _vcs(found: Analysis) -> str:
    """How many VCs links have: more of them keep packets out of each other's way."""
    config = found.result.config
    (router,) = config["router"].values()
    told = [f"{kind} links have {router['vcs'][kind]}" for kind in classes_between_routers(config)]
    return f"of VCs, more of which make it less, {', '.join(told)}"


def _cost(found: Analysis) -> str:
    there = sum(root.lost for root in found.peers) / found.lost * found.share
    before = found.summary.get("injection_latency_mean") or 0
    return (
        f"The cost: {there:.0%} of all packets that stand still in routers stand there. In all trees a "
        f"packet stands for {found.per_packet:.0f} cycles on average, without what stands behind the first "
        f"packet of an injection VC; from generation to the first grant it takes {before:.0f}."
    )


def _causes(found: Analysis) -> list[str]:
    """What packets waited for in routers, if that was recorded."""
    if "waits" not in found.result.tables:
        return []
    waits = found.result.waits
    sums = {name: sum(_list(waits, name)) for name in CAUSES}
    total = sum(sums.values())
    told = [
        f"{CAUSES[name]} {cycles / total:.0%}" for name, cycles in sums.items() if cycles * 200 >= total > 0
    ]
    what = "What packets waited for in routers, all those of injection VCs too"
    return [f"{what}: {', '.join(told)}."] if told else []


def _latency(found: Analysis) -> float:
    return found.summary.get("network_latency_mean") or 0.0


def _named(found: Analysis, flows: dict[tuple[Any, ...], int]) -> str:
    """Those flows in which most is lost, if they stand out."""
    total = sum(flows.values())
    kind = "group" if "dragonfly" in found.result.config["topology"] else "router"
    top = [(key, cycles) for key, cycles in flows.items() if cycles * 50 >= total > 0][:SHOWN]
    if not top:
        return f", between many {kind}s"
    told = ", ".join(f"{a} to {b} ({cycles / total:.0%})" for (a, b), cycles in top)
    return f", most from {kind} {told}"


def _ports(ports: Sequence[int]) -> str:
    if len(ports) == 1:
        return f"port {ports[0]}"
    if len(ports) > 2 and ports[-1] - ports[0] == len(ports) - 1:
        return f"ports {ports[0]} to {ports[-1]}"
    return f"ports {', '.join(map(str, ports))}"


def _some(roots: Sequence[Root]) -> str:
    return ", ".join(str(root.router) for root in roots[:SHOWN])


def _rows_of(table: pa.Table, links: Sequence[Link]) -> pa.Table:
    """The rows of some links."""
    wanted = set(links)
    here = zip(_list(table, "router"), _list(table, "port"), strict=True)
    return table.filter(pa.array([link in wanted for link in here], pa.bool_()))


def _list(table: pa.Table, name: str) -> list[Any]:
    return table.column(name).to_pylist()


def _command(result: Result) -> str:
    measure = result.config["measure"]
    end = stopping.warmup(result) + result.summary["cycles"]
    interval = measure["interval"] or max(1, end // 50)
    streams = [*dict.fromkeys([*measure["streams"], *STREAMS])]
    listed = ", ".join(f'"{name}"' for name in streams)
    return f"--set measure.interval={interval} --set 'measure.streams=[{listed}]'"
