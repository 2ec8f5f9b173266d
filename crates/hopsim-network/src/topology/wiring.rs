//! What a graph is made of, before the paths through it are found.

use super::maze::arrival;
use super::shortest::{Maze, Step, Ties, distances};
use super::{LATENCIES, MAX_ROUTER_PORTS};
use crate::error::ConfigError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::ops::RangeInclusive;

/// Most routers: the tables of paths grow with their square.
pub const MAX_ROUTERS: u32 = 20_480;

/// Most routers over whose links paths are spread: for each destination all paths are looked at one after the other.
pub const MOST_SPREAD: u32 = 2048;

/// A link between two routers, used in both directions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Edge {
    /// The two routers \[0 … 20479\].
    pub between: [u32; 2],
    /// Latency of the link in either direction, the same for packets and for credits; default that of the class, `network`
    /// \[cycles\].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = *LATENCIES.start(), max = *LATENCIES.end()))]
    pub latency: Option<u32>,
    /// How slow the link is: a packet of L phits takes L times as many cycles to go over it, and is in the next router when all
    /// of it is \[cycles per phit\].
    #[serde(default = "one")]
    #[schemars(range(min = *PACES.start(), max = *PACES.end()))]
    pub cycles_per_phit: u32,
}

/// Cycles that a link may take for a phit.
pub const PACES: RangeInclusive<u32> = 1..=64;

fn one() -> u32 {
    1
}

/// Groups of routers: leaves, which have nodes and come first, and spines.
#[derive(Clone, Copy, Debug)]
pub struct Groups {
    /// Number of groups.
    pub count: u32,
    /// Leaves of a group.
    pub leaves: u32,
    /// Spines of a group.
    pub spines: u32,
}

/// What links of the second class join, where there are two.
#[derive(Clone, Copy, Debug)]
pub enum Second {
    /// Groups of routers: those of the first class are local, and these are global.
    Global(Groups),
    /// Planes and the adapters of nodes: the routers with nodes, which forward nothing.
    Rails,
}

/// What a graph is made of. All of it has been checked, but for the number of ports and whether the links join all routers.
pub struct Wiring<'a> {
    /// Name of the topology in a document.
    pub name: &'static str,
    /// The links.
    pub edges: &'a [Edge],
    /// Number of routers.
    pub routers: u32,
    /// Nodes of each of the first routers.
    pub nodes: &'a [u32],
    /// Which of several shortest paths packets take.
    pub ties: Ties,
    /// Whether links have latencies of their own, and not all of a class the same.
    pub own_latencies: bool,
    /// Whether all shortest paths between routers with nodes go up links of a tree and down again.
    pub goes_up_and_down: bool,
    /// What links of the second class join, if there are any, and how many links, the first ones, are of the first class.
    pub second: Option<(Second, usize)>,
    /// Cycles that all links take for a phit, where they have no latencies of their own.
    pub pace: u32,
}

impl Wiring<'_> {
    /// How many routers, the first ones, forward nothing.
    pub fn adapters(&self) -> u32 {
        if let Some((Second::Rails, _)) = self.second { self.nodes.len() as u32 } else { 0 }
    }
}

/// An end of a link: the router and port there, where that is in tables of paths, and the latency and pace of the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct End {
    /// The router.
    pub router: u32,
    /// The port there.
    pub port: u16,
    /// The place of the router in tables of paths for packets that come there: see [`maze`].
    pub place: u32,
    /// Latency of the link \[cycles\].
    pub latency: u32,
    /// Cycles that the link takes for a phit.
    pub cycles_per_phit: u32,
}

/// Links of each class of the router that has most.
pub fn degrees(wiring: &Wiring<'_>, nodes_per_router: u32) -> Result<[u32; 2], ConfigError> {
    let of_first = wiring.second.map_or(wiring.edges.len(), |(_, of_first)| of_first);
    let (first, second) = wiring.edges.split_at(of_first);
    let of = |edges: &[Edge]| {
        let mut degrees = vec![0u32; wiring.routers as usize];
        edges.iter().flat_map(|edge| edge.between).for_each(|router| degrees[router as usize] += 1);
        degrees
    };
    let most = |degrees: &[u32]| degrees.iter().copied().max().unwrap_or(0);
    let (first, second) = (of(first), of(second));
    let degrees = [most(&first), most(&second)];
    let ports = degrees.iter().sum::<u32>().saturating_add(nodes_per_router);
    match first.iter().position(|&links| links == degrees[0]) {
        Some(router) if ports > MAX_ROUTER_PORTS => {
            let reason = format!("router {router} would have {ports} ports");
            let valid = format!("at most {MAX_ROUTER_PORTS} ports per router, terminal ones included");
            Err(ConfigError::new("edges", reason).valid(valid))
        }
        _ => Ok(degrees),
    }
}

/// Refuses to spread the paths of a network that is too large for it.
pub fn check_ties(wiring: &Wiring<'_>) -> Result<(), ConfigError> {
    let Wiring { routers, ties, .. } = *wiring;
    if ties != Ties::Spread || routers <= MOST_SPREAD {
        return Ok(());
    }
    let reason = format!(
        "the network has {routers} routers, and to spread the paths of more than {MOST_SPREAD} over the links would take too long"
    );
    let [first, hash] = [Ties::First, Ties::Hash].map(Ties::name);
    Err(ConfigError::new("ties", reason)
        .value(format!("{:?}", ties.name()))
        .valid(format!("\"{first}\", \"{hash}\", or at most {MOST_SPREAD} routers")))
}

/// The links of every router. A link without a latency has one of 1 cycle.
pub fn ends(wiring: &Wiring<'_>, nodes_per_router: u32, degrees: [u32; 2]) -> Vec<Vec<Option<End>>> {
    let mut ends: Vec<Vec<Option<End>>> = vec![Vec::new(); wiring.routers as usize];
    let of_first = wiring.second.map_or(usize::MAX, |(_, of_first)| of_first);
    let adapters = wiring.adapters();
    for (index, edge) in wiring.edges.iter().enumerate() {
        if index >= of_first {
            // Ports that routers have for more links of the first class stay unplugged.
            for router in edge.between {
                let ends = &mut ends[router as usize];
                ends.resize(ends.len().max(degrees[0] as usize), None);
            }
        }
        let [one, other] = edge.between;
        let port = |router: u32| nodes_per_router as u16 + ends[router as usize].len() as u16;
        let (here, there) = (port(one), port(other));
        let Edge { latency, cycles_per_phit, .. } = *edge;
        let latency = latency.unwrap_or(1);
        let end = |router: u32, port| {
            let place = arrival(router, (wiring.routers, adapters));
            Some(End { router, port, place, latency, cycles_per_phit })
        };
        ends[one as usize].push(end(other, there));
        ends[other as usize].push(end(one, here));
    }
    ends
}

/// Refuses a graph of several parts.
pub fn check_connected(ends: &[Vec<Option<End>>]) -> Result<(), ConfigError> {
    let [reached, unreached] = parts(ends, &BTreeSet::new());
    if unreached.is_empty() {
        return Ok(());
    }
    let reason = format!("{} cannot reach {}", list(&unreached), list(&reached));
    Err(ConfigError::new("edges", reason).valid("links that join all routers"))
}

/// The routers to which there is a way from the first one that is not absent, and those of the others to which there is none, ascending.
pub fn parts(ends: &[Vec<Option<End>>], absent: &BTreeSet<u32>) -> [Vec<u32>; 2] {
    let mut present = (0..ends.len() as u32).filter(|router| !absent.contains(router));
    let Some(first) = present.next() else { return Default::default() };
    let neighbours = |router: u32| ends[router as usize].iter().flatten().map(|end| end.router);
    let distances = distances(ends.len(), first, neighbours);
    let is_reached = |router: &u32| distances[*router as usize] < u32::MAX;
    let (mut reached, unreached): (Vec<u32>, Vec<u32>) = present.partition(is_reached);
    reached.insert(0, first);
    [reached, unreached]
}

/// `routers 3, 4 and 5`, shortened.
pub fn list(routers: &[u32]) -> String {
    const SHOWN: usize = 8;
    let numbers = |routers: &[u32]| routers.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    match routers {
        [one] => format!("router {one}"),
        [first @ .., last] if first.len() < SHOWN => format!("routers {} and {last}", numbers(first)),
        _ => format!("routers {} and {} more", numbers(&routers[..SHOWN]), routers.len() - SHOWN),
    }
}

/// Places are routers, and behind them those of packets that come to the first `adapters` of them, which forward nothing (`maze::arrival`).
pub fn maze(
    ends: &[Vec<Option<End>>],
    nodes_per_router: u32,
    (routers_with_nodes, adapters): (u32, u32),
) -> Maze {
    let mut links = 0;
    let mut step = |(number, end): (usize, &Option<End>)| {
        let end = end.as_ref()?;
        links += 1;
        let port = nodes_per_router as u16 + number as u16;
        Some(Step { port, link: links - 1, latency: end.latency, to: end.place })
    };
    let routers = ends.len() as u32;
    let mut steps: Vec<Vec<Step>> =
        ends.iter().map(|ends| ends.iter().enumerate().filter_map(&mut step).collect()).collect();
    steps.resize((routers + adapters) as usize, Vec::new());
    let ends = (0..routers_with_nodes).map(|router| {
        let mut places = vec![router, arrival(router, (routers, adapters))];
        places.dedup();
        places
    });
    let ends = ends.collect();
    Maze { steps, ends, links: links as usize }
}
