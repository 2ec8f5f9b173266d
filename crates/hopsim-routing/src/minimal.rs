//! Minimal routing: see [`Config`].

use super::dateline::Dateline;
use super::layers::Layers;
use super::path::{G, L};
use super::vcs::{self, Rings, Vcs};
use super::view::View;
use super::{
    Flexible, Head, Hop, Leg, Mechanism, NO_VC, Ordered, Paths, Request, Reverts, RouteState, Safety, Way,
};
use hopsim_network::error::ConfigError;
use hopsim_network::topology::graph::Graph;
use hopsim_network::topology::{Interconnect as _, LOCAL, Topology};
use hopsim_random::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The longest minimal path.
pub const PATH: &[u8] = &[L, G, L];

/// A packet takes a shortest path, the same one at all times.
///
/// In a dragonfly local, global, local (`lgl`) at most, so 2 local VCs and 1 global VC, used in increasing order along
/// the path: no deadlock. At most 3 links: no livelock. Where several links are equally short (the trunks of one with fewer
/// than a·h + 1 groups), one of them is drawn per packet, each as likely as the others. Under ADV+1 all packets of a group
/// share one global link, and the accepted load is at most 1/(a·p). Under ADVc they share the h links of one router: at
/// most h/(a·p).
///
/// In a mesh or HyperX dimension by dimension in increasing order (dimension-order routing, DOR): no cycle of waiting buffers with
/// any number of VCs, and a hop may use all of them.
///
/// In a fat tree up to the nearest common ancestor and down again; `up` says by which ports: from level l by that of digit l of a
/// number in base k, digit 0 being the lowest. No cycle with any number of VCs either.
///
/// In a graph and in the families of topologies that are graphs: a path with fewest links, of those one with least latency, of those the
/// one that `ties` of the topology says. A path keeps one VC from end to end, and paths that could wait for each other in a circle are put
/// into different ones (layers): no deadlock. There must be as many VCs as the graph needs for that, and as many there are by
/// default. `up_down` needs one VC only. With `discipline = "by_hop"` of the routers' VCs hop number i has VC i instead, from 0 on, and
/// there are as many VCs as routers with nodes are apart.
///
/// Further VCs of layers go one after the other to the layer with most paths per VC, rounded down, of several the first. The VCs of a layer
/// follow those of the one before. Its paths, by source and then destination router, take them in turn from the second on; in
/// layer 0 a router's path to itself has a turn too.
///
/// Source: Fuentes' thesis (2017), §1.4.1.1; Dally and Towles (2004), §8.4.2; Izu and Vallejo, Simulation 2019, §3;
/// Domke, Hoefler and Nagel, IPDPS 2011 (graphs).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "MinimalRouting")]
pub struct Config {
    /// The way up a fat tree; default `source`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub up: Option<Up>,
}

/// The ports by which packets go up a fat tree. The port of a level is a digit of a number in base k.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Up {
    /// The digits of the source node: what a node sends goes up one way, whomever it is for.
    #[default]
    Source,
    /// The digits of the destination node (D-mod-k): what is for a node comes down one way, and links down are not shared
    /// by packets for different nodes of a switch.
    Destination,
    /// Drawn per packet.
    Random,
}

impl Config {
    /// See [`super::RoutingConfig::paths`].
    pub fn paths(&self, topology: &Topology) -> Result<Paths, ConfigError> {
        if self.up.is_some() && !matches!(topology, Topology::FatTree(_)) {
            return Err(ConfigError::new("up", "only a fat tree has ways up")
                .valid("no such key, or topology.fat_tree"));
        }
        match topology {
            Topology::Dragonfly(_) => {}
            Topology::Graph(graph) => return on_graph(graph),
            // Dimensions in increasing order, and up before down, close no cycle of waiting buffers.
            // In the rings of a torus it is bubbles or datelines that keep packets from waiting for each other in a circle.
            _ if topology.has_escape() => return Ok(Paths::any(topology.diameter(), 2)),
            _ => return Ok(Paths::any(topology.diameter(), 1)),
        }
        let flexible = Flexible { detour: &[], escapes: &[], references: &[PATH], reverts: Reverts::Never };
        Ok(Paths::ordered(Ordered::new(PATH, flexible)))
    }

    /// Minimal paths in a graph with a VC for every hop; what is refused is the value of the key of the discipline.
    pub fn paths_by_hop(&self, graph: &Graph) -> Result<Paths, ConfigError> {
        let refused = |reason: String| ConfigError::new("", reason).value("\"by_hop\"");
        let links = graph.diameter_with_nodes();
        if links > vcs::MOST {
            let reason = format!(
                "a shortest path has up to {links} links and needs as many VCs, and a link has at most {}",
                vcs::MOST
            );
            let valid = format!("\"layers\", or routers with nodes at most {} links apart", vcs::MOST);
            return Err(refused(reason).valid(valid));
        }
        Ok(Paths::sharing(links.max(1)))
    }

    /// The mechanism itself.
    pub fn build(&self, base: Minimal) -> Minimal {
        Minimal { up: self.up.unwrap_or_default(), ..base }
    }
}

fn on_graph(graph: &Graph) -> Result<Paths, ConfigError> {
    if graph.goes_up_and_down() {
        return Ok(Paths::any(graph.diameter(), 1));
    }
    let Some(layers) = Layers::new(graph) else {
        let reason = format!("the shortest paths of the graph need more than {} VCs", vcs::MOST);
        let name = graph.name();
        return Err(ConfigError::new("", reason).valid(format!(
            "topology.{name}.ties = \"first\", which may need fewer, vcs.discipline = \"by_hop\" of the routers, or routing.up_down, which needs one"
        )));
    };
    let hops = graph.diameter();
    if layers.count() == 1 {
        return Ok(Paths::any(hops, 1));
    }
    Ok(Paths { hops, safety: Safety::Layers(Arc::new(layers)) })
}

/// Minimal routing; also the base of the nonminimal mechanisms, which change the target.
#[derive(Clone, Debug)]
pub struct Minimal {
    topology: Arc<Topology>,
    vcs: Vcs,
    up: Up,
    /// Whether there can be several shortest paths to choose from -- constant.
    has_trunks: bool,
    /// Whether there are several groups -- constant.
    has_groups: bool,
    /// Whether the VCs of a hop follow from the links behind it -- constant.
    looks_ahead: bool,
}

impl Minimal {
    /// Minimal paths on `topology` with the VCs of `vcs`.
    pub fn new(topology: Arc<Topology>, vcs: Vcs) -> Self {
        let (has_trunks, has_groups) = (topology.has_trunks(), topology.groups() > 1);
        let looks_ahead = vcs.look_ahead();
        Self { topology, vcs, up: Up::Source, has_trunks, has_groups, looks_ahead }
    }

    /// The topology that packets are routed on, to be kept.
    pub fn shared_topology(&self) -> &Arc<Topology> {
        &self.topology
    }

    /// The topology that packets are routed on.
    #[inline]
    pub fn topology(&self) -> &Topology {
        &self.topology
    }

    /// The VC management.
    #[inline]
    pub fn vcs(&self) -> &Vcs {
        &self.vcs
    }

    /// The next output towards router `target` over the chosen trunk, another one than the head's own, with increasing VCs.
    #[expect(clippy::inline_always, reason = "8 % of all instructions are saved by it")]
    #[inline(always)]
    pub fn request(&self, head: &Head, target: u32, trunk: u16) -> Request {
        let (port, class) = self.topology.minimal_port(head.router, target, trunk);
        Request { port, vc: self.vcs.sequence.next(head.code, class) }
    }

    /// The next hop towards router `target` over the chosen trunk, `None` if that is the head's own router.
    #[expect(clippy::inline_always, reason = "per packet-hop; measured")]
    #[inline(always)]
    pub fn towards(&self, head: &Head, target: u32, trunk: u16) -> Option<Hop> {
        if head.router == target {
            return None;
        }
        let (port, class) = self.topology.minimal_port(head.router, target, trunk);
        // The groups alone would tell; without the class first they cost 1 % of all instructions in a torus.
        let there = class == LOCAL
            && (!self.has_groups || self.topology.group(head.router) == self.topology.group(target));
        let leg = match (target == head.destination, there) {
            (true, true) => Leg::Final,
            (true, false) => Leg::ToGroup,
            (false, true) => Leg::Inside,
            (false, false) => Leg::Detour,
        };
        let vc = self.vc_ahead(head, target);
        Some(Hop { port: port as u16, class, leg, reuses: false, vc })
    }

    /// The highest VC that the next hop of a shortest path to router `target`, and on from there to the destination, may use where that follows
    /// from the links behind it; else [`NO_VC`].
    #[inline]
    pub fn vc_ahead(&self, head: &Head, target: u32) -> u8 {
        if self.looks_ahead { self.highest_before(head, target) } else { NO_VC }
    }

    // Out of line, so that nothing is made ready for it where VCs follow from something else.
    #[inline(never)]
    fn highest_before(&self, head: &Head, target: u32) -> u8 {
        let left =
            self.topology.distance(head.router, target) + self.topology.distance(target, head.destination);
        self.vcs.used(LOCAL) - left as u8
    }

    /// The VCs that a hop may use; of a hop that enters a ring their entries, which are numbered on behind them.
    #[expect(clippy::inline_always, reason = "per packet-hop; measured")]
    #[inline(always)]
    pub fn way(&self, head: &Head, hop: Hop) -> Way {
        let way = self.vcs.way(head, hop);
        match self.vcs.rings() {
            Rings::Free => way,
            Rings::Entries if self.continues((head.input, head.code), way) => way,
            Rings::Entries => Way { vc: self.vcs.used(hop.class) + way.vc, ..way },
            Rings::Dateline(dateline) => {
                let place = (head.router, head.destination);
                Way { vc: self.highest_of_class(dateline, place, (head.input, head.code), way.port), ..way }
            }
        }
    }

    /// The highest VC of the class that the dateline of a ring gives a hop from one router on the way to another.
    // By value, so that the head never has to be written down.
    #[inline(never)]
    fn highest_of_class(
        &self,
        dateline: Dateline,
        (at, to): (u32, u32),
        (input, code): (u16, u8),
        port: u16,
    ) -> u8 {
        let Topology::Cube(cube) = &*self.topology else { unreachable!("no other topology has datelines") };
        let goes_on = cube.is_opposite(input as usize, port as usize);
        let from = goes_on.then(|| self.vcs.sequence.vc(code, 0));
        dateline.highest(cube, (at, port as usize, to), from)
    }

    /// Whether a hop goes on in the ring of buffers that the head is in. Where a hop may use any VC, those of all VCs are
    /// one ring: a packet moves on as long as one of them has room.
    // By value, so that the head never has to be written down.
    fn continues(&self, (input, code): (u16, u8), way: Way) -> bool {
        let Topology::Cube(cube) = &*self.topology else { return true };
        let same = self.vcs.is_flexible() || code == self.vcs.sequence.code(way.class, way.vc);
        same && cube.is_opposite(input as usize, way.port as usize)
    }

    /// Whether there is one shortest path to each router, on which a hop may use any VC.
    pub fn follows_destination(&self) -> bool {
        !self.has_trunks && self.vcs.are_alike()
    }

    /// What is outstanding in all VCs together of the port of a way.
    pub fn port_occupancy(&self, way: Way, view: &impl View) -> u32 {
        (0..self.vcs.used(way.class)).map(|vc| view.occupancy(Request { vc, ..way.highest() })).sum()
    }

    /// Chooses among the parallel links towards `target`, if there are any; see [`Topology::choose_trunk`].
    #[expect(clippy::inline_always, reason = "per packet-hop; measured")]
    #[inline(always)]
    pub fn choose_trunk(&self, head: &Head, target: u32, state: &mut RouteState, draw: impl Fn() -> Stream) {
        if self.has_trunks && target != head.router {
            state.trunk =
                self.trunk((head.router, target), (head.source, head.destination, head.terminal), draw());
        }
    }

    // Out of line and without the head, which then never has to be written down.
    #[inline(never)]
    fn trunk(
        &self,
        (at, target): (u32, u32),
        (source, destination, terminal): (u32, u32, u16),
        mut stream: Stream,
    ) -> u16 {
        match (&*self.topology, self.up) {
            (Topology::FatTree(tree), Up::Source) => tree.root_of(source),
            (Topology::FatTree(tree), Up::Destination) => {
                tree.root_of(destination * tree.k() + u32::from(terminal))
            }
            (topology, _) => topology.choose_trunk(at, target, &mut stream),
        }
    }
}

impl Mechanism for Minimal {
    const FIXED: bool = true;
    const KEEPS_TO_SHORTEST: bool = true;

    fn base(&self) -> &Minimal {
        self
    }

    #[expect(clippy::inline_always, reason = "per packet-hop; measured")]
    #[inline(always)]
    fn target(&self, head: &Head, state: &mut RouteState, draw: impl Fn() -> Stream) -> u32 {
        if head.at_injection() {
            self.choose_trunk(head, head.destination, state, draw);
        }
        head.destination
    }
}
