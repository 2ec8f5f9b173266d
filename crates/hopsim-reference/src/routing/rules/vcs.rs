//! The VCs of a network, and by which rule hops may use them.

use super::flexvc::Order;
use super::paths::{LinkVc, count, number, paths};
use super::{layers, multipath};
use crate::routing::ways::Ways;
use crate::routing::{families, faults};
use hopsim_cycles::jobs::JobPlan;
use hopsim_cycles::system::RouterPlan;
use hopsim_experiment::config::router::{Discipline, Rings, RouterConfig, VcManagement};
use hopsim_experiment::plan::Plan;
use hopsim_network::topology::Topology;
use hopsim_routing::RoutingConfig;
use hopsim_routing::dateline::ClassRule;
use hopsim_routing::flexvc::Selection;

/// The VCs of a network.
pub struct Vcs {
    pub rule: Rule,
    pub selection: Selection,
    /// Number of VCs of each class that packets use: 0 … this − 1.
    pub used: [u8; 2],
    /// The global VC whose mark stands for the minimal path, of requests and one-way packets and of replies.
    pub sensed: [u8; 2],
}

/// The VCs of packets whose VC is the number of links passed.
pub struct HopVcs {
    /// VCs before those of replies.
    pub before_replies: usize,
    /// VCs for requests and one-way packets, and for replies.
    pub counts: [usize; 2],
}

impl HopVcs {
    /// The VCs where some paths need so many, `all` there are, and so are they where there are requests and replies. Where links fail
    /// in the middle of the run all are used.
    fn new(plan: &Plan, longest: usize, all: usize) -> Self {
        let replies = plan.system.jobs.iter().any(JobPlan::request_reply);
        let fails = !faults::outages(plan).is_empty();
        let first = if fails { all / 2 } else { longest };
        match (replies, fails) {
            (true, _) => Self { before_replies: first, counts: [first; 2] },
            (false, true) => Self { before_replies: 0, counts: [all; 2] },
            (false, false) => Self { before_replies: 0, counts: [longest; 2] },
        }
    }

    /// VCs that packets use; of an odd number with requests and replies not the last one.
    fn used(&self) -> u8 {
        (self.before_replies + self.counts[usize::from(self.before_replies > 0)]) as u8
    }
}

/// The rule by which hops may use VCs.
pub enum Rule {
    /// The VCs in increasing order along the longest path: of requests and one-way packets, of replies.
    Increasing { orders: [Vec<LinkVc>; 2], reuses: bool },
    /// All VCs from which the rest of the path still fits.
    Flexible { order: Order, detour: &'static str },
    /// So many VCs of the class of the link, whatever the hop.
    Any([u8; 2]),
    /// Of so many VCs those of the class that the datelines of rings say.
    Dateline { vcs: u8, class: ClassRule },
    /// VC 0 to the intermediate router or by increasing dimensions, VC 1 to the destination or by decreasing dimensions.
    Phases,
    /// The lower half of so many VCs in the place of VC 0, the upper half in that of VC 1.
    HalfPhases { vcs: u8 },
    /// The VC whose number is that of the links passed so far; replies have others than requests.
    ByHop(HopVcs),
    /// Of so many VCs those above which there is one for every link that is left behind the hop.
    Ahead(usize),
    /// The VC of the path.
    Kept(layers::PathVcs),
}

impl Vcs {
    pub fn new(plan: &Plan, ways: &Ways) -> Self {
        let routing = &plan.experiment.routing;
        let links = &plan.system.network.classes.links;
        let replies = plan.system.jobs.iter().any(JobPlan::request_reply);
        let all = [links[0].vcs, links.get(1).map_or(0, |link| link.vcs)];
        // Where packets keep their VC, or VCs are divided, as many are used of all classes.
        let least = links.iter().map(|link| link.vcs).min().unwrap_or(1);
        if ways.dragonfly().is_none() || matches!(routing, RoutingConfig::UpDown(_) | RoutingConfig::Nue(_)) {
            if let (VcManagement::Flexvc(flexvc), Some(_)) =
                (plan.experiment.router.vcs().management, hops_with_a_vc(plan, ways))
            {
                let rule = Rule::Ahead(least.into());
                return Self { rule, selection: flexvc.selection, used: [least; 2], sensed: [0; 2] };
            }
            let rule = match hops_with_a_vc(plan, ways) {
                Some(longest) => Rule::ByHop(HopVcs::new(plan, longest, least.into())),
                None => without_order(plan, ways, least),
            };
            let used = match (&rule, routing) {
                (Rule::ByHop(vcs), _) => [vcs.used(); 2],
                (_, RoutingConfig::Fpar(_)) => [least; 2],
                _ => all,
            };
            return Self { rule, selection: Selection::Shortest, used, sensed: [0; 2] };
        }
        let (path, references) = paths(routing);
        let config = plan.experiment.router.vcs();
        if let VcManagement::Flexvc(flexvc) = config.management {
            let detour = if matches!(routing, RoutingConfig::Minimal(_)) { "" } else { path };
            let reply = config.reply.map_or([0; 2], |reply| [reply.local as u8, reply.global as u8]);
            let rule = Rule::Flexible { order: Order::new(all, reply, references), detour };
            return Self { rule, selection: flexvc.selection, used: all, sensed: [all[1] - 1; 2] };
        }
        let one = count(path);
        let first = if replies { one } else { [0; 2] };
        let reuses = matches!(routing, RoutingConfig::Olm(_));
        Self {
            rule: Rule::Increasing { orders: [number(path, [0; 2]), number(path, first)], reuses },
            selection: Selection::Shortest,
            used: [one[0] + first[0], one[1] + first[1]],
            sensed: [0, first[1]],
        }
    }
}

/// How many hops a path has at most whose hop i has VC i; `None` if VCs are not those of hops.
fn hops_with_a_vc(plan: &Plan, ways: &Ways) -> Option<usize> {
    let goes_up_and_down = families::goes_up_and_down(plan);
    match (&plan.experiment.routing, &*plan.system.topology) {
        (RoutingConfig::Valiant(_) | RoutingConfig::Ugal(_), Topology::HyperX(_)) if has_halves(plan) => None,
        (RoutingConfig::Valiant(_) | RoutingConfig::Ugal(_), Topology::Graph(_) | Topology::HyperX(_)) => {
            (!goes_up_and_down).then(|| 2 * ways.farthest())
        }
        (RoutingConfig::KShortestPaths(config), _) => Some(longest(&multipath::paths(config, ways))),
        (RoutingConfig::FatPaths(config), _) => {
            Some(longest(&multipath::paths_in_layers(config, plan, ways)))
        }
        (RoutingConfig::Polarized(_), _) => {
            let apart = ways.diameter();
            Some(if apart > 1 { 4 * apart - 3 } else { 2 })
        }
        (RoutingConfig::Par(_), _) => Some(ways.longest_with_a_turn()),
        (RoutingConfig::Ecmp(_), Topology::HyperX(_)) => Some(ways.farthest().max(1)),
        (_, Topology::Graph(_)) if counts_hops_of_shortest(plan) => Some(ways.farthest()),
        _ => None,
    }
}

/// Links of the longest of all paths, at least one.
fn longest(paths: &multipath::AllPaths) -> usize {
    paths.iter().flatten().flatten().map(Vec::len).max().unwrap_or(1).max(1)
}

/// Whether the two parts of a detour have half of the VCs each in a HyperX.
fn has_halves(plan: &Plan) -> bool {
    let replies = plan.system.jobs.iter().any(JobPlan::request_reply);
    matches!(plan.system.router, RouterPlan::VirtualChannel(_)) && !replies
}

/// The rule where VCs are not those of hops and there is one class of links, or the VCs of all classes are `least` alike.
fn without_order(plan: &Plan, ways: &Ways, least: u8) -> Rule {
    let links = &plan.system.network.classes.links;
    let all = Rule::Any([links[0].vcs, links.get(1).map_or(0, |link| link.vcs)]);
    match (&plan.experiment.routing, &*plan.system.topology) {
        (RoutingConfig::Valiant(_) | RoutingConfig::Ugal(_) | RoutingConfig::O1turn(_), _) => {
            match plan.system.router {
                RouterPlan::VirtualChannel(_) => Rule::HalfPhases { vcs: least },
                RouterPlan::Cioq(_) => Rule::Phases,
            }
        }
        (RoutingConfig::Minimal(_), Topology::Graph(graph)) => {
            layers::of(graph, least, ways).map_or(all, Rule::Kept)
        }
        (RoutingConfig::Minimal(_), Topology::Cube(cube)) if cube.wraps() => in_rings(plan),
        _ => all,
    }
}

/// Whether packets go by shortest paths of a graph, and hop i has VC i: adaptive ones, and others if the document says so.
fn counts_hops_of_shortest(plan: &Plan) -> bool {
    match plan.experiment.routing {
        RoutingConfig::Adaptive(_) | RoutingConfig::Ecmp(_) => !families::goes_up_and_down(plan),
        RoutingConfig::Minimal(_) => plan.experiment.router.vcs().discipline == Some(Discipline::ByHop),
        _ => false,
    }
}

/// The rule for packets that go dimension by dimension round the rings of a torus: virtual-channel routers have datelines unless they
/// say something of a bubble, other ones if they say so.
fn in_rings(plan: &Plan) -> Rule {
    let (config, vcs) = (plan.experiment.router.vcs(), plan.system.network.classes.links[0].vcs);
    let moves_flits = matches!(plan.experiment.router, RouterConfig::VirtualChannel(_));
    match config.rings {
        Some(Rings::Dateline(dateline)) => Rule::Dateline { vcs, class: dateline.class },
        None if moves_flits && config.bubble.is_none() => Rule::Dateline { vcs, class: ClassRule::Crossing },
        _ => Rule::Any([vcs, 0]),
    }
}
