"""Dragonfly+ beside the dragonfly of the same switches: how many nodes, and what does each of them get?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from hopsim_reproduce.claims import Value, number, peak, peaks, ratio
from hopsim_reproduce.figure import Claim, Figure
from hopsim_reproduce.model import Document, Entry, Measured, Scale
from hopsim_reproduce.panels import Case, Line, Panel, Points

SHPINER = (
    "A. Shpiner, Z. Haramaty, S. Eliad, V. Zdornov, B. Gafni, E. Zahavi, "
    "Dragonfly+: low cost topology for scaling datacenters, HiPINEB 2017"
)
PORTS: Mapping[Scale, int] = {"quick": 8, "full": 16}
"""Of a switch, a multiple of 4."""
SEEDS: Mapping[Scale, int] = {"quick": 1, "full": 3}
UNIFORM, NEXT_GROUP = "uniform traffic", "to the next group"
PATTERNS: Mapping[str, str | Document] = {
    UNIFORM: "uniform",
    NEXT_GROUP: {"adversarial": {"offset": 1}},
    "random permutation": "random_permutation",
}
DRAGONFLY, PLUS = "dragonfly", "dragonfly+"
MINIMAL, ADAPTIVE, IN_SPINES = "MIN", "UGAL-L", "FPAR"
AT_SOURCE: Mapping[str, Document] = {MINIMAL: {"minimal": {}}, ADAPTIVE: {"ugal": {"detours": 4}}}
ROUTINGS: Mapping[str, Mapping[str, Document]] = {
    DRAGONFLY: {**AT_SOURCE, "OLM": {"olm": {}}},
    PLUS: {**AT_SOURCE, IN_SPINES: {"fpar": {}}},
}
"""Of each network, the last one decides in every router."""
CYCLES: Mapping[Scale, int] = {"quick": 1_500, "full": 5_000}
"""Of the warm-up, and as many are measured."""
VCS = 4
"""Of every link, in both networks."""
LOADS = (0.05, 0.15, 0.3, 0.5, 0.7, 1.0)


def topology(kind: str, ports: int) -> Document:
    """The largest balanced network of switches with so many ports."""
    half, quarter = ports // 2, ports // 4
    if kind == DRAGONFLY:
        # p = h = a/2: 2h − 1 links in the group, of the 4h ports one is left over.
        return {"dragonfly": {"p": quarter, "a": half, "h": quarter}}
    group = {"leaves": half, "spines": half, "nodes_per_leaf": half, "global_links": half}
    return {"dragonfly_plus": {**group, "groups": half * half + 1}}


def nodes_per_group(topology: Document) -> int:
    """Nodes of a group of a network of either kind."""
    if DRAGONFLY in topology:
        return int(topology["dragonfly"]["p"] * topology["dragonfly"]["a"])
    return int(topology["dragonfly_plus"]["leaves"] * topology["dragonfly_plus"]["nodes_per_leaf"])


def nodes(topology: Document) -> int:
    """Nodes of a network of either kind."""
    if DRAGONFLY in topology:
        sides = topology["dragonfly"]
        return nodes_per_group(topology) * int(sides["a"] * sides["h"] + 1)
    return nodes_per_group(topology) * int(topology["dragonfly_plus"]["groups"])


def _name(network: str, routing: str) -> str:
    return f"{network}, {routing}"


def _document(network: str, routing: str, panel: str, scale: Scale) -> Document:
    return {
        "topology": topology(network, PORTS[scale]),
        "router": {"cioq": {"vcs": {"local": VCS, "global": VCS}}},
        "routing": ROUTINGS[network][routing],
        "jobs": [{"traffic": {"packet_length": 8, "pattern": PATTERNS[panel]}}],
        "measure": {"warmup": CYCLES[scale], "cycles": CYCLES[scale]},
    }


def _panels(scale: Scale) -> list[Panel]:
    def line(network: str, routing: str, panel: str) -> Line:
        name = f"{_name(network, routing)}-{panel}".lower().replace(", ", "-").replace(" ", "-")
        document = _document(network, routing, panel, scale)
        return {load: Case(name, document, load) for load in LOADS}

    pairs = [(network, routing) for network in (DRAGONFLY, PLUS) for routing in ROUTINGS[network]]
    return [Panel(panel, {_name(*pair): line(*pair, panel) for pair in pairs}) for panel in PATTERNS]


def _topology_of(points: Points, network: str) -> Document:
    case = next(iter(points.panels[NEXT_GROUP].lines[_name(network, MINIMAL)].values()))
    topology: Document = case.document["topology"]
    return topology


def _of_bound(network: str) -> Value:
    """What MIN accepts of what is sent to the next group, times the nodes that share the link there."""

    def read(points: Points) -> Measured | None:
        accepted = peak(NEXT_GROUP, _name(network, MINIMAL)).of(points)
        share = nodes_per_group(_topology_of(points, network))
        return None if accepted is None else Measured(accepted.mean * share, 0.0, accepted.seeds)

    return Value(f"{network}: accepted load of MIN times nodes of a group", read)


def _best(panel: str, network: str) -> Value:
    """What nodes get by the routing that gives them most."""

    def read(points: Points) -> Measured | None:
        found = [peak(panel, _name(network, routing)).of(points) for routing in ROUTINGS[network]]
        return max((each for each in found if each), key=lambda each: each.mean, default=None)

    return Value(f"peak of {network}, the best routing", read)


def _of_all_nodes(network: str) -> Value:
    """What all nodes together get of uniform traffic."""

    def read(points: Points) -> Measured | None:
        of_one = _best(UNIFORM, network).of(points)
        count = nodes(_topology_of(points, network))
        return None if of_one is None else Measured(of_one.mean * count, 0.0, of_one.seeds)

    return Value(f"peak of {network}, all nodes together", read)


def _claims() -> Iterator[Claim]:
    all_nodes = _of_all_nodes(PLUS), _of_all_nodes(DRAGONFLY)
    more = "switches of as many ports carry three times as much uniform traffic and more"
    yield ratio(more, *all_nodes, low=3.0)
    for panel in PATTERNS:
        pair = _best(panel, PLUS), _best(panel, DRAGONFLY)
        yield ratio(f"{panel}: a node gets no less than in the dragonfly", *pair, low=0.95)
    for network in (DRAGONFLY, PLUS):
        adaptive, minimal = _name(network, ADAPTIVE), _name(network, MINIMAL)
        more = f"{network}: detours carry more to the next group than the one link there"
        yield peaks(more, NEXT_GROUP, (adaptive, minimal), low=1.5)
    lines = _name(PLUS, IN_SPINES), _name(PLUS, ADAPTIVE)
    more = f"{PLUS}: spines that decide, too, carry more to the next group than leaves that decide alone"
    yield peaks(more, NEXT_GROUP, lines, low=1.2)


def _notes(scale: Scale) -> list[str]:
    ports = PORTS[scale]
    sizes = {network: nodes(topology(network, ports)) for network in (DRAGONFLY, PLUS)}
    return [
        f"Switches of {ports} ports: a dragonfly of {sizes[DRAGONFLY]} nodes, which leaves one port over, a "
        f"dragonfly+ of {sizes[PLUS]}.",
        f"{VCS} VCs of every link. Packets of 8 phits, UGAL-L with the best of four detours. FPAR decides "
        "anew in every switch, by what is outstanding there; the paper's hears of congestion elsewhere, too. "
        "OLM is a routing of the dragonfly that decides in every router, too.",
        "The paper was not at hand: what is called published is what its abstract says.",
    ]


def entries() -> list[Entry]:
    """Accepted load and latency of both under three kinds of traffic."""
    figure = Figure(
        name="networks-dragonfly-plus",
        title="Dragonfly+ and dragonfly of the same switches",
        source=f"{SHPINER}, abstract",
        panels=_panels,
        notes=_notes,
        seeds=SEEDS,
        claims=tuple(_claims()),
        numbers=tuple(
            number(
                f"{network}, MIN, next group",
                "accepted load times a group",
                _of_bound(network),
                1.0,
                allowed=0.02,
            )
            for network in (DRAGONFLY, PLUS)
        ),
    )
    return [figure.entry()]
