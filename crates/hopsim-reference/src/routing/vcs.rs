//! Which VCs a hop may use, and which of them it asks for.

use super::flexvc::Order;
use super::head::Head;
use super::layers;
use super::ways::Ways;
use crate::parts::Request;
use hopsim_cycles::jobs::JobPlan;
use hopsim_experiment::config::router::VcManagement;
use hopsim_experiment::plan::Plan;
use hopsim_network::topology::{GLOBAL, LOCAL, Topology};
use hopsim_random::Stream;
use hopsim_routing::flexvc::Selection;
use hopsim_routing::{RoutingConfig, ugal, valiant};

/// What a hop is for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Goal {
    /// The destination.
    Destination,
    /// The intermediate router, or its group.
    Via(usize),
    /// Another way to the destination: a misroute in transit.
    Misroute,
}

/// The VCs of a network.
pub struct Vcs {
    rule: Rule,
    selection: Selection,
    /// Number of VCs of each class that packets use: 0 … this − 1.
    pub used: [u8; 2],
    /// The global VC whose mark stands for the minimal path, of requests and one-way packets and of replies.
    pub sensed: [u8; 2],
}

/// A link of a path: class and VC.
type LinkVc = (u8, u8);

enum Rule {
    /// The VCs in increasing order along the longest path: of requests and one-way packets, of replies.
    Increasing { orders: [Vec<LinkVc>; 2], reuses: bool },
    /// All VCs from which the rest of the path still fits.
    Flexible { order: Order, detour: &'static str },
    /// So many VCs, whatever the hop.
    Any(u8),
    /// VC 0 to the intermediate router, VC 1 to the destination.
    Phases,
    /// The VC whose number is that of the links passed so far; replies have so many VCs more before them.
    ByHop { before_replies: usize },
    /// The VC of the path.
    Kept(layers::PathVcs),
}

/// The longest path of a mechanism in a dragonfly, a letter per link, and the paths by which FlexVC may order the VCs.
fn paths(routing: &RoutingConfig) -> (&'static str, &'static [&'static str]) {
    const GROUP: (&str, &[&str]) = ("lglgl", &["lglgl", "lgl"]);
    const ROUTER: (&str, &[&str]) = ("lgllgl", &["lgllgl", "lgl"]);
    match routing {
        RoutingConfig::Valiant(config) if config.intermediate == valiant::Intermediate::Group => GROUP,
        RoutingConfig::Ugal(config) if config.intermediate != Some(ugal::DetourEnd::Router) => GROUP,
        RoutingConfig::Piggyback(config) if config.intermediate == ugal::DetourEnd::Group => GROUP,
        RoutingConfig::Valiant(_)
        | RoutingConfig::Ugal(_)
        | RoutingConfig::Piggyback(_)
        | RoutingConfig::SourceAdaptive(_) => ROUTER,
        RoutingConfig::Olm(_) => GROUP,
        RoutingConfig::Par(_) => ("llgllgl", &["llgllgl", "lgllgl", "lglgl", "lgl"]),
        RoutingConfig::Minimal(_) | RoutingConfig::Adaptive(_) | RoutingConfig::UpDown(_) => {
            ("lgl", &["lgl"])
        }
    }
}

/// Local and global links of a path.
pub fn count(path: &str) -> [u8; 2] {
    ['l', 'g'].map(|class| path.chars().filter(|&letter| letter == class).count() as u8)
}

/// The links of a path with a VC for each, those of each class numbered on from `first`.
pub fn number(path: &str, first: [u8; 2]) -> Vec<LinkVc> {
    let mut next = first;
    let step = |letter: char| {
        let class = usize::from(letter == 'g');
        next[class] += 1;
        (class as u8, next[class] - 1)
    };
    path.chars().map(step).collect()
}

impl Vcs {
    pub fn new(plan: &Plan, ways: &Ways) -> Self {
        let routing = &plan.experiment.routing;
        let links = &plan.system.network.classes.links;
        if ways.dragonfly().is_none() {
            let rule = match (routing, &*plan.system.topology) {
                (
                    RoutingConfig::Valiant(_) | RoutingConfig::Ugal(_),
                    Topology::Graph(_) | Topology::HyperX(_),
                ) => Rule::ByHop { before_replies: 2 * ways.farthest() },
                (RoutingConfig::Valiant(_) | RoutingConfig::Ugal(_), _) => Rule::Phases,
                (RoutingConfig::Minimal(_), Topology::Graph(graph)) => {
                    match layers::of(graph, links[0].vcs, ways) {
                        Some(vcs) => Rule::Kept(vcs),
                        None => Rule::Any(links[0].vcs),
                    }
                }
                _ => Rule::Any(links[0].vcs),
            };
            return Self { rule, selection: Selection::Shortest, used: [links[0].vcs, 0], sensed: [0; 2] };
        }
        let (path, references) = paths(routing);
        let replies = plan.system.jobs.iter().any(JobPlan::request_reply);
        let config = plan.experiment.router.vcs();
        let all = [links[0].vcs, links[1].vcs];
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

    /// The VCs that a hop over a port may use, ascending.
    pub fn allowed(&self, head: &Head, port: usize, goal: Goal) -> Vec<u8> {
        let class = head.class(port);
        match &self.rule {
            Rule::Any(count) => (0..*count).collect(),
            Rule::Phases => vec![u8::from(goal == Goal::Destination)],
            Rule::ByHop { before_replies } => {
                let first = if head.is_reply() { *before_replies } else { 0 };
                vec![(first + head.hops().len()) as u8]
            }
            Rule::Kept(vcs) => match head.came_by() {
                None => vec![vcs.vc(head.router(), head.destination())],
                Some((_, vc)) => vec![vc],
            },
            Rule::Increasing { orders, reuses } => {
                let order = &orders[usize::from(head.is_reply())];
                // Behind the link that the packet has come by.
                let after = head.came_by().map_or(0, |link| {
                    1 + order.iter().position(|&step| step == link).expect("its VC is one of the order")
                });
                let mut earlier = order[..after].iter().rev();
                let again = earlier.find(|step| step.0 == LOCAL);
                let next = order[after..].iter().find(|step| step.0 == class);
                let used_again = again.filter(|_| *reuses && goal == Goal::Misroute && class == LOCAL);
                let &(_, vc) = used_again.or(next).expect("no path is longer than the order");
                vec![vc]
            }
            Rule::Flexible { order, detour } => {
                let fits = order.fits(detour, head.is_reply());
                let rest = rest_of_path(head, class, goal, Some(*detour).filter(|_| fits));
                order.allowed(class, rest, head.is_reply())
            }
        }
    }

    /// The VC that the packet asks for, of those that a hop may use.
    pub fn select(&self, head: &Head, port: usize, allowed: &[u8], attempt: &Stream) -> u8 {
        let credits = |&vc: &u8| head.credits(Request { port, vc });
        let roomy: Vec<u8> =
            allowed.iter().copied().filter(|vc| credits(vc) >= head.packet().length).collect();
        let (lowest, highest) = (allowed[0], allowed[allowed.len() - 1]);
        match self.selection {
            // The last one of equal ones.
            Selection::Shortest => allowed.iter().copied().max_by_key(credits).unwrap_or(highest),
            Selection::Highest => roomy.last().copied().unwrap_or(lowest),
            Selection::Lowest => roomy.first().copied().unwrap_or(highest),
            Selection::Random => match roomy.len() {
                0 => highest,
                1 => roomy[0],
                several => roomy[attempt.at(port as u64).below(several as u32) as usize],
            },
        }
    }
}

/// What may be left of a packet's path after a hop, at its longest. `detour` is the longest path of the mechanism, if it fits.
fn rest_of_path(head: &Head, class: u8, goal: Goal, detour: Option<&'static str>) -> &'static str {
    let ways = head.ways();
    let (here, there) = (ways.group(head.router()), ways.group(head.destination()));
    // What is left of the detour behind its first global link.
    let beyond = |detour: &'static str| detour.split_once('g').map_or("", |(_, rest)| rest);
    match goal {
        Goal::Destination if class == GLOBAL => "l",
        Goal::Destination if here == there => "",
        Goal::Destination => "gl",
        _ if class == GLOBAL => detour.map_or("lgl", beyond),
        Goal::Misroute if here == there => "l",
        Goal::Misroute if here == ways.group(head.source()) => "glgl",
        Goal::Misroute => "lgl",
        Goal::Via(via) if here == ways.group(via) => {
            detour.and_then(|detour| beyond(detour).strip_prefix('l')).unwrap_or("lgl")
        }
        Goal::Via(_) => detour.and_then(|detour| detour.strip_prefix('l')).unwrap_or("lgl"),
    }
}
