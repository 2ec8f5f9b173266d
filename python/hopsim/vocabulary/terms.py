"""Words of the field for what hopsim does not have, or under another name, and what there is instead."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Term:
    """A word that people look for.

    Attributes:
        names: the word, and others for the same; as it is written, in any case.
        text: whether it can be simulated, and what there is instead.
    """

    names: tuple[str, ...]
    text: str


TERMS = (
    Term(
        ("flit", "flits", "flit size"),
        "In `router.virtual_channel` a flit is a phit: a link carries one per cycle, and lengths "
        "(`packet_length`) and buffers are in flits. In other routers there are no flits: credits are "
        "counted in phits, and packets are granted as a whole. Lookahead routing is a `routing_delay` of 0. "
        "Tori have datelines (`vcs.rings`) with minimal routing only; adaptive and nonminimal routing there "
        "needs bubbles of whole packets, in `router.cioq` or `input_queued`.",
    ),
    Term(
        ("fault", "failure", "failures", "link failure"),
        "Links and routers that are out of order, or fail and are repaired in the middle of a run, are "
        "`faults`, in every topology, which is the graph of its links then. "
        "In fabrics `faults.time` says when. Sources send again what is lost with "
        "`faults.reaction.retransmit`. Of a fabric as "
        "`ibnetdiscover` prints it a `topology.graph` without some links stands for it, with forwarding "
        "tables as `ibroute` prints them.",
    ),
    Term(
        ("packet loss", "loss", "drop", "lossy"),
        "Networks are lossless: packets wait for credits, and none is lost inside, unless links fail "
        "(`faults.at`, `packets_lost`; with `faults.reaction.retransmit` sources send it again). Nodes may "
        "drop what they generate while their source queue is full (`nic.when_full`), which "
        "`packets_dropped` counts.",
    ),
    Term(
        ("RoCE", "RoCEv2", "TCP"),
        "Lossless Ethernet is `router.ethernet`: switches and hosts whose ports pause each other "
        "(`flow_control.pfc`) or have credits (`cbfc`), rates in Gb/s. Transports are not simulated: "
        "nothing is sent again, as nothing is lost. With `congestion_control` switches mark (ECN), and "
        "sources keep to rates (DCQCN, TIMELY) or windows (Swift, NSCC, HPCC).",
    ),
    Term(
        ("priority flow control", "pause frame", "XOFF", "headroom"),
        "`router.ethernet.flow_control.pfc`, with thresholds that are checked to lose nothing. In "
        "`router.cioq` and `input_queued` the nearest is `flow_control.on_off`: a virtual channel says "
        "off and on, as a pause does. See `pauses`, `paused_fraction`, the stream `victims`, and `hopsim "
        "why`.",
    ),
    Term(
        ("in-band network telemetry", "in-band telemetry", "INT", "PINT"),
        "Switches of fabrics note in packets what waits for their links and what has gone onto them, where "
        "sources react to it: `congestion_control.reaction.hpcc`. Other reactions are to marks (`dcqcn`, "
        "`aimd`, `table`), round trips (`timely`, `swift`) or both (`nscc`). Packets are not longer by "
        "what is noted, and PINT, which notes a part of it, is not there.",
    ),
    Term(
        ("flow completion time", "FCT", "flow slowdown", "flow size distribution", "websearch"),
        "In fabrics `flow_completion_time_mean` and its quantiles, and `slowdown_p50` and `slowdown_p99`: "
        "over the time that a flow takes alone. The stream `flow_sizes` has them by size. "
        "`jobs.messages.sizes` draws sizes from distributions that were measured, or from points.",
    ),
    Term(
        ("incast", "all-to-one", "many-to-one"),
        "In fabrics `jobs.flows` with one destination, each with `bytes`, or `jobs.messages` with the "
        "pattern `hotspot`; elsewhere `traffic.pattern.hotspot`.",
    ),
    Term(
        ("slim fly", "slimfly"),
        "`topology.slim_fly`, routed by `minimal` (as many VCs as keep it free of deadlock, or one for every "
        "hop), `adaptive`, `ecmp`, `k_shortest_paths`, `polarized`, `up_down`, `nue`, `valiant`, `ugal` and "
        "`par`.",
    ),
    Term(
        ("random regular graph", "expander"),
        "`topology.jellyfish` and `topology.xpander`, routed as a slim fly is. "
        "Links of other networks are read from a file by `topology.graph`; networkx writes GraphML.",
    ),
    Term(
        ("VC-aware routing", "deadlock-free routing"),
        "`routing.nue`: paths found together with their VCs, in any network and any number of VCs. "
        "`routing.minimal` sorts shortest paths of graphs into layers as DFSSSP does, and `routing.up_down` "
        "needs one VC.",
    ),
    Term(
        ("multipath", "packet spraying", "equal-cost multi-path", "FatPaths"),
        "`routing.ecmp`: any shortest path, drawn by packet or by flow; in fabrics "
        '`router.infiniband.forwarding` may be "ecmp", and packets of a flow keep to one. '
        "`routing.k_shortest_paths` and `routing.fat_paths` take longer paths, too, and `routing.adaptive` "
        "and `routing.polarized` look at buffers.",
    ),
    Term(
        ("routing table", "source routing", "own routing"),
        "`routing.table`: next hops or whole paths with their VCs, in the document or in a file. It is "
        "looked for packets that could wait for each other in a circle. `routing.function` asks a "
        "function in Python.",
    ),
    Term(
        ("dragonfly+", "dragonfly plus", "megafly"),
        "`topology.dragonfly_plus`, routed by what routes graphs, detours leading over any leaf, and by "
        "`routing.fpar`, which decides in every router of its groups. Marks of saturated links, as "
        "`piggyback` has them in a dragonfly, there are not.",
    ),
    Term(
        ("fully progressive adaptive routing", "progressive adaptive routing"),
        "`routing.fpar` in a dragonfly+, `routing.par` elsewhere. Routers do not hear of congestion in "
        "others (adaptive routing notifications).",
    ),
    Term(
        ("orthogonal fat tree", "projective plane"),
        "`topology.oft`: two columns of leaf switches and a spine for every line of a projective plane. The "
        "plane's points alone are the routers of `topology.polarfly`.",
    ),
    Term(
        ("leaf-spine", "leaf spine", "PGFT", "oversubscribed fat tree", "folded Clos"),
        "`topology.xgft`: levels of switches with any numbers of links down and up, parallel ones included.",
    ),
    Term(
        ("chiplet", "hierarchical network", "network in package"),
        "`topology.product`: a network in the place of every router of another one, joined by all its "
        "routers or by some that are gateways, with links of two classes.",
    ),
    Term(
        ("flattened butterfly", "hypercube", "generalized hypercube"),
        "`topology.hyperx`: a grid of routers, fully connected along each dimension. With sides of 2 it "
        "is a hypercube.",
    ),
    Term(
        ("multi-plane", "multi-rail", "rails", "dual-rail"),
        "`topology.planes`: a port of every node into each of several copies of a network. `adaptive`, "
        "`ecmp` and `minimal` say which plane a packet takes; a rule of one's own, such as a plane per rank, "
        "there is not.",
    ),
    Term(
        ("multicast", "broadcast tree", "in-network reduction"),
        "A packet has one destination, and routers do not compute. Collectives are messages between "
        "nodes, by a choice of algorithms (`jobs.program.collective`).",
    ),
    Term(
        ("power", "energy", "area"),
        "Not modelled. The streams `links` and `packet_hops` have the phits of every link and the hops of "
        "every packet.",
    ),
    Term(
        ("deflection", "bufferless", "circuit switching"),
        "Not simulated: packets wait in buffers until they are granted an output. Misrouting is a choice "
        "of adaptive routing (`routing.olm`, `routing.par`).",
    ),
    Term(
        ("QoS", "quality of service", "traffic class", "traffic classes", "priority class"),
        "Jobs have priority classes in `router.virtual_channel` with `arbiter` = `priority`: packets of a "
        "higher `jobs.priority` go first. A node runs one job, and classes share their VCs, but for replies, "
        "which have some of their own (`vcs.reply`). Other routers have priority for packets in transit "
        "(`allocator.transit_priority`), and `router.infiniband` service levels and weights of virtual "
        "lanes.",
    ),
)


def find(name: str) -> Term | None:
    """The term called `name`, in any case, with blanks, hyphens or underscores between its words."""
    wanted = _plain(name)
    return next((term for term in TERMS if wanted in map(_plain, term.names)), None)


def _plain(name: str) -> str:
    return " ".join(name.lower().replace("_", " ").replace("-", " ").split())
