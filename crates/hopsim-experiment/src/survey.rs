//! What can be said of a network before anything runs: its links, its diameter, how narrow it is in the middle.

use crate::config::measure::RecordStream;
use crate::memory;
use crate::plan::fabric::{FabricPlan, Kept, MessagesPlan, outputs};
use crate::plan::output_vcs::count_output_vcs;
use crate::plan::{AnyPlan, Plan};
use crate::proof::{deadlock_of_tables, prove_tables};
use hopsim_network::interrupt;
use hopsim_network::topology::{PortClass, Topology};
use serde::Serialize;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Most link ends that the searches for distances look at.
const MOST_VISITS: usize = 1 << 27;

/// Most routers of a network in which they are swapped to make a cut smaller.
const MOST_SWAPPED: usize = 6_000;

/// How many routers of each half are tried against each other for a swap.
const TRIED: usize = 8;

/// Steps of the iteration that finds an eigenvector.
const SPECTRAL_STEPS: usize = 300;

/// Most heads that are looked at to see whether packets can wait for each other in a circle: a second or so.
pub const MOST_HEADS: u64 = 2_000_000;

/// Most entries of forwarding tables of a fabric by which that is looked for.
const MOST_ENTRIES: usize = 100_000_000;

/// The survey of the topology of the last fabric, which the points of a sweep share.
static LAST: Kept<Arc<Topology>, Survey> = Kept::new();

/// The metrics of a network.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Survey {
    /// Number of nodes.
    pub nodes: u32,
    /// Number of routers.
    pub routers: u32,
    /// Classes of links between routers and how many there are of each.
    pub links: Vec<(&'static str, usize)>,
    /// Most links on the shortest path between two routers that have nodes; at least that, if `sampled`.
    pub diameter: u32,
    /// Mean links on the shortest paths between two nodes, a node and itself included.
    pub mean_distance: f64,
    /// Whether distances were searched from some of the routers only, evenly spread over those with nodes.
    pub sampled: bool,
    /// Links of the best cut found between two halves of the nodes: an upper bound of the bisection.
    pub cut: usize,
    /// Most links of a path that the routing may take.
    pub longest_path: u32,
    /// Whether heads decide anew in every attempt.
    pub decides: bool,
    /// Input VCs of all routers.
    pub input_vcs: usize,
    /// Ports of all routers.
    pub ports: usize,
    /// Output VCs that lead to a router or a node, each of which has a row per interval in the stream `link_series`; 0 of an InfiniBand
    /// fabric.
    pub output_vcs: usize,
    /// Memory of the network before the first cycle, about; of an InfiniBand fabric that of its forwarding tables and virtual output
    /// queues \[bytes\].
    pub state_bytes: u64,
    /// Steps that it takes to set up an InfiniBand fabric, of some nanoseconds each; 0 of other networks.
    pub set_up_steps: u64,
    /// Hops of all packets of an InfiniBand fabric, if every flow has its rate or an equal share of what its host can send.
    pub packet_hops: Option<f64>,
    /// Rows of the series of an InfiniBand fabric, those of links and queues for one VL; 0 of other networks.
    pub series_rows: u64,
}

impl Survey {
    /// Looks at the network of a plan.
    pub fn new(plan: &AnyPlan) -> Self {
        match plan {
            AnyPlan::Network(plan) => Self::of_network(plan),
            AnyPlan::Fabric(plan) => Self::of_fabric(plan),
        }
    }

    /// The survey of a topology alone, with shortest paths and a VC for each input port.
    pub(crate) fn of_topology(topology: &Topology) -> Self {
        let (map, ports) = (Map::new(topology), topology.ports());
        let (diameter, mean_distance, sampled) = map.distances();
        let count = |code: usize| {
            let of_class = |port: &usize| ports[*port] == PortClass::Link(code as u8);
            let plugged = |router| {
                (0..ports.len())
                    .filter(of_class)
                    .filter(|&port| topology.neighbour(router, port).is_some())
                    .count()
            };
            (0..topology.routers()).map(plugged).sum::<usize>() / 2
        };
        let all_ports = topology.routers() as usize * ports.len();
        Self {
            nodes: topology.nodes(),
            routers: topology.routers(),
            links: topology
                .link_classes()
                .iter()
                .enumerate()
                .map(|(code, &name)| (name, count(code)))
                .collect(),
            diameter,
            mean_distance,
            sampled,
            cut: map.cut(topology),
            longest_path: diameter,
            decides: false,
            input_vcs: all_ports,
            ports: all_ports,
            output_vcs: 0,
            state_bytes: 0,
            set_up_steps: 0,
            packet_hops: None,
            series_rows: 0,
        }
    }

    fn of_network(plan: &Plan) -> Self {
        let own = Self::of_topology(&plan.system.topology);
        let layout = &plan.system.network.layout;
        let routers = own.routers as usize;
        let vcs: usize = layout.input_vcs.iter().map(|&vcs| usize::from(vcs)).sum();
        Self {
            longest_path: plan.paths.hops,
            decides: plan.system.routing.redecides(),
            input_vcs: routers * vcs,
            ports: routers * layout.ports(),
            output_vcs: count_output_vcs(plan),
            state_bytes: memory::of_state(u64::from(own.routers), (routers * layout.ports()) as u64),
            ..own
        }
    }

    fn of_fabric(plan: &FabricPlan) -> Self {
        let is_same = |kept: &Arc<Topology>, _: Option<&Self>| Arc::ptr_eq(kept, &plan.topology);
        let own = LAST.get(Arc::clone(&plan.topology), is_same, |topology| Self::of_topology(topology));
        let ports = plan.fabric.ports.len() - plan.fabric.hosts as usize;
        let lanes = usize::from(plan.fabric.lanes.count);
        Self {
            input_vcs: ports * lanes,
            ports,
            state_bytes: plan.state_bytes(),
            set_up_steps: plan.steps,
            packet_hops: Some(packet_hops(plan)),
            series_rows: series_rows(plan),
            ..own
        }
    }
}

/// Whether packets can wait for each other in a circle, in words; `None` of an ideal network.
pub fn deadlock(plan: &AnyPlan) -> Option<String> {
    match plan {
        AnyPlan::Network(plan) if plan.experiment.topology.is_ideal() => None,
        AnyPlan::Network(plan) => Some(deadlock_of_tables(plan, &prove_tables(plan, MOST_HEADS), MOST_HEADS)),
        AnyPlan::Fabric(plan) => Some(deadlock_of_fabric(plan)),
    }
}

fn deadlock_of_fabric(plan: &FabricPlan) -> String {
    let (hosts, ends) = (plan.fabric.hosts as usize, plan.fabric.first_port.len());
    let is_allowed = plan.experiment.router.lanes().is_some_and(|lanes| lanes.allow_deadlock);
    // Where it is not allowed that has been looked for before.
    if is_allowed && hosts.saturating_mul(ends) > MOST_ENTRIES {
        return "deadlock not looked for: more than 100,000,000 entries of forwarding tables".into();
    }
    if let Some(circle) = plan.circle() {
        return format!("can deadlock: {circle}");
    }
    match plan.circle_of_all_tables() {
        Some(circle) => format!("can deadlock while tables change: {circle}"),
        None => "free of deadlock: packets of no VL can wait for each other in a circle".into(),
    }
}

/// Rows of the series of a fabric.
fn series_rows(plan: &FabricPlan) -> u64 {
    let wants = |stream| plan.experiment.measure.streams.contains(&stream);
    let intervals = plan.span.interval.map_or(0, |interval| plan.span.end / interval);
    let (of_links, of_queues) = (wants(RecordStream::LinkSeries), wants(RecordStream::QueueSeries));
    let mut ports = BTreeSet::new();
    if of_links || of_queues {
        for (number, flow) in (0..).zip(&plan.flows) {
            ports.extend(outputs(&plan.fabric, [flow.source, flow.destination], number));
        }
    }
    let flows = if wants(RecordStream::FlowSeries) { plan.accounts.len() } else { 0 };
    let links = if of_links { ports.len() } else { 0 };
    ports.retain(|&port| of_queues && !plan.fabric.is_host(port));
    intervals * (flows + links + ports.len()) as u64
}

/// Hops of all packets of a fabric, if every flow has its rate or an equal share of what its host can send.
fn packet_hops(plan: &FabricPlan) -> f64 {
    let fabric = &plan.fabric;
    let mut of_host = vec![0u64; fabric.hosts as usize];
    plan.flows.iter().for_each(|flow| of_host[flow.source as usize] += 1);
    let of_flow = |flow: &hopsim_infiniband::flow::Flow| {
        let slowest = fabric.host.injection.max(fabric.ports[flow.source as usize].byte);
        let byte = flow.byte.max(slowest * of_host[flow.source as usize]);
        let time = flow.end.min(plan.span.end).saturating_sub(flow.start);
        let bytes = (time as f64 / byte as f64).min(flow.bytes.map_or(f64::INFINITY, |bytes| bytes as f64));
        // All ways that a flow may take have as many hops.
        let hops = outputs(fabric, [flow.source, flow.destination], 0).len() - 1;
        bytes / f64::from(fabric.mtu) * hops as f64
    };
    // Nodes that draw send to some other; how far that is on average two of them tell.
    let of_nodes = |messages: &MessagesPlan| {
        let time = messages.end.min(plan.span.end).saturating_sub(messages.start);
        let packets = (messages.sizes.mean() / f64::from(fabric.mtu)).ceil();
        let [first, middle, last] = [0, messages.nodes.len() / 2, messages.nodes.len() - 1];
        let hops = |to: usize| outputs(fabric, [messages.nodes[first], messages.nodes[to]], 0).len() - 1;
        let mean = (hops(middle) + hops(last)) as f64 / 2.0;
        time as f64 / messages.gap as f64 * packets * mean * messages.nodes.len() as f64
    };
    plan.flows.iter().map(of_flow).sum::<f64>() + plan.messages.iter().map(of_nodes).sum::<f64>()
}

/// Which routers are linked.
struct Map {
    /// Routers at the other end of the links of each router, one router after the other.
    peers: Vec<u32>,
    /// Where the peers of each router begin, and where those of the last one end.
    first: Vec<usize>,
    /// Routers that have nodes: the first ones.
    with_nodes: usize,
    /// Routers that forward nothing: the first ones.
    adapters: usize,
}

impl Map {
    fn new(topology: &Topology) -> Self {
        let with_nodes = topology.routers_with_nodes() as usize;
        let adapters = topology.adapters() as usize;
        let mut map = Self { peers: Vec::new(), first: vec![0], with_nodes, adapters };
        let ports = topology.ports().len();
        for router in 0..topology.routers() {
            let peers = (0..ports).filter_map(|port| topology.neighbour(router, port));
            map.peers.extend(peers.map(|(peer, _)| peer));
            map.first.push(map.peers.len());
        }
        map
    }

    fn routers(&self) -> usize {
        self.first.len() - 1
    }

    fn peers(&self, router: usize) -> &[u32] {
        &self.peers[self.first[router]..self.first[router + 1]]
    }

    /// Greatest and mean distance between routers with nodes, and whether it was searched from some of them only.
    fn distances(&self) -> (u32, f64, bool) {
        let most = (MOST_VISITS / self.peers.len().max(1)).clamp(1, self.with_nodes);
        let (mut greatest, mut sum, mut pairs) = (0, 0u64, 0);
        for source in 0..most {
            let (far, total, reached) = self.distances_from(source * self.with_nodes / most);
            greatest = greatest.max(far);
            sum += total;
            pairs += reached;
        }
        (greatest, sum as f64 / pairs as f64, most < self.with_nodes)
    }

    /// Greatest distance and sum of the distances from a router to the routers with nodes that it reaches, and how many these are.
    fn distances_from(&self, source: usize) -> (u32, u64, usize) {
        let mut distance = vec![u32::MAX; self.routers()];
        let mut queue = vec![source as u32];
        distance[source] = 0;
        let mut next = 0;
        while let Some(&router) = queue.get(next) {
            next += 1;
            if next > 1 && (router as usize) < self.adapters {
                continue;
            }
            interrupt::steps(self.peers(router as usize).len() as u64);
            for &peer in self.peers(router as usize) {
                if distance[peer as usize] == u32::MAX {
                    distance[peer as usize] = distance[router as usize] + 1;
                    queue.push(peer);
                }
            }
        }
        let ends = || distance[..self.with_nodes].iter().copied().filter(|&distance| distance < u32::MAX);
        (ends().max().unwrap_or(0), ends().map(u64::from).sum(), ends().count())
    }

    /// Links of the best of some cuts into two halves of the nodes (of an odd number of routers one half has one more).
    fn cut(&self, topology: &Topology) -> usize {
        let mut orders = orders(topology, self.with_nodes);
        orders.push(self.spectral_order());
        orders.into_iter().map(|order| self.improved(&order)).min().unwrap_or(0)
    }

    /// The routers with nodes in the order of the second eigenvector of the graph's Laplacian (Fiedler, Czechoslovak
    /// Mathematical Journal 23, 1973), found by iteration: what is loosely linked is far apart.
    fn spectral_order(&self) -> Vec<usize> {
        let count = self.routers();
        let degree = |router: usize| self.peers(router).len() as f64;
        let shift = 2.0 * (0..count).map(degree).fold(0.0, f64::max);
        let mut vector: Vec<f64> = (0..count).map(|router| (router * 7919 % 1009) as f64).collect();
        for _ in 0..SPECTRAL_STEPS {
            interrupt::steps(self.peers.len() as u64);
            let mean = vector.iter().sum::<f64>() / count as f64;
            for value in &mut vector {
                *value -= mean;
            }
            let next = |router: usize| {
                let peers: f64 = self.peers(router).iter().map(|&peer| vector[peer as usize]).sum();
                (shift - degree(router)) * vector[router] + peers
            };
            let stepped: Vec<f64> = (0..count).map(next).collect();
            let length = stepped.iter().map(|value| value * value).sum::<f64>().sqrt().max(f64::MIN_POSITIVE);
            vector = stepped.iter().map(|value| value / length).collect();
        }
        let mut order: Vec<usize> = (0..self.with_nodes).collect();
        order.sort_by(|&one, &other| vector[one].total_cmp(&vector[other]));
        order
    }

    /// Links between the routers with nodes that come first in `order` and the others, made fewer by moving and swapping
    /// routers as long as that helps (Kernighan and Lin, Bell System Technical Journal 49, 1970).
    fn improved(&self, order: &[usize]) -> usize {
        let mut cut = Cut::new(self, order);
        if self.routers() <= MOST_SWAPPED {
            while cut.move_one() || cut.swap_many() {}
        }
        cut.links()
    }
}

/// Orders of the routers with nodes whose first halves make good cuts: by number, or across each dimension.
fn orders(topology: &Topology, routers: usize) -> Vec<Vec<usize>> {
    let by_number: Vec<usize> = (0..routers).collect();
    let across = |coordinate: &dyn Fn(u32) -> u32| {
        let mut order = by_number.clone();
        order.sort_by_key(|&router| coordinate(router as u32));
        order
    };
    match topology {
        Topology::Cube(cube) => {
            (0..cube.sides().len()).map(|d| across(&|router| cube.coordinate(router, d))).collect()
        }
        Topology::HyperX(hyperx) => {
            (0..hyperx.sides().len()).map(|d| across(&|router| hyperx.coordinate(router, d))).collect()
        }
        _ => vec![by_number],
    }
}

/// A division of the routers in two.
struct Cut<'m> {
    map: &'m Map,
    /// Whether a router is in the second half.
    second: Vec<bool>,
    /// Number of links that the cut loses if a router changes sides.
    gain: Vec<i64>,
}

impl<'m> Cut<'m> {
    /// The first half of `order`, to which the routers without nodes belong too, against the rest.
    fn new(map: &'m Map, order: &[usize]) -> Self {
        let mut second = vec![false; map.routers()];
        for &router in &order[order.len() / 2..] {
            second[router] = true;
        }
        let mut cut = Self { map, second, gain: Vec::new() };
        cut.gain = (0..map.routers()).map(|router| cut.gain_of(router)).collect();
        cut
    }

    fn gain_of(&self, router: usize) -> i64 {
        let crosses = |&peer: &u32| self.second[peer as usize] != self.second[router];
        self.map.peers(router).iter().map(|peer| if crosses(peer) { 1 } else { -1 }).sum()
    }

    fn links(&self) -> usize {
        let ends = (0..self.map.routers()).filter(|&router| !self.second[router]);
        ends.flat_map(|router| self.map.peers(router)).filter(|&&peer| self.second[peer as usize]).count()
    }

    /// Moves a router without nodes if that helps.
    fn move_one(&mut self) -> bool {
        let best = (self.map.with_nodes..self.map.routers()).max_by_key(|&router| self.gain[router]);
        let Some(router) = best.filter(|&router| self.gain[router] > 0) else { return false };
        self.change_sides(router);
        true
    }

    /// Swaps pairs of routers with nodes, each router once, whether that helps or not; undoes the last of the swaps, those that
    /// did not help in the end.
    fn swap_many(&mut self) -> bool {
        let mut swapped = vec![false; self.map.with_nodes];
        let (mut swaps, mut gained, mut best) = (Vec::new(), 0, (0, 0));
        while let Some((gain, one, other)) = self.best_swap(&swapped) {
            for router in [one, other] {
                self.change_sides(router);
                swapped[router] = true;
            }
            swaps.push([one, other]);
            gained += gain;
            if gained > best.0 {
                best = (gained, swaps.len());
            }
        }
        for router in swaps[best.1..].iter().flatten() {
            self.change_sides(*router);
        }
        best.0 > 0
    }

    /// A good swap of two routers that have not been swapped, and by how much the cut has fewer links then.
    fn best_swap(&self, swapped: &[bool]) -> Option<(i64, usize, usize)> {
        interrupt::steps(swapped.len() as u64);
        let promising = |second: bool| {
            let ours = |&router: &usize| self.second[router] == second && !swapped[router];
            let mut half: Vec<usize> = (0..self.map.with_nodes).filter(ours).collect();
            let tried = TRIED.min(half.len());
            if tried > 0 {
                half.select_nth_unstable_by_key(tried - 1, |&router| (-self.gain[router], router));
            }
            half.truncate(tried);
            half
        };
        let (ours, theirs) = (promising(false), promising(true));
        let pairs = ours.iter().flat_map(|&one| theirs.iter().map(move |&other| (one, other)));
        let gain = |(one, other): (usize, usize)| {
            let between = self.map.peers(one).iter().filter(|&&peer| peer as usize == other).count();
            (self.gain[one] + self.gain[other] - 2 * between as i64, one, other)
        };
        pairs.map(gain).max()
    }

    fn change_sides(&mut self, router: usize) {
        self.second[router] = !self.second[router];
        self.gain[router] = self.gain_of(router);
        let map = self.map;
        for &peer in map.peers(router) {
            self.gain[peer as usize] = self.gain_of(peer as usize);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document;
    use crate::plan::programs::no_files;

    fn survey(topology: &str) -> Survey {
        let text = format!("load = 0.1\n[topology]\n{topology}");
        let points = document::points(&text, &[]).unwrap_or_else(|error| panic!("{error}"));
        let plan = AnyPlan::new(&points[0].experiment, &no_files);
        Survey::new(&plan.unwrap_or_else(|error| panic!("{error}")))
    }

    #[test]
    fn links_diameter_and_bisection_are_those_of_the_textbook() {
        // Topology, links, diameter, bisection.
        for (topology, links, diameter, cut) in [
            ("ring = { routers = 8 }", 8, 4, 2),
            ("mesh = { sides = [4, 4] }", 24, 6, 4),
            ("mesh = { sides = [8, 2] }", 22, 8, 2),
            ("mesh = { sides = [2, 8] }", 22, 8, 2),
            ("mesh = { sides = [2, 2, 2, 2] }", 32, 4, 8),
            ("torus = { sides = [4, 4] }", 32, 4, 8),
            ("torus = { sides = [4, 6, 8] }", 3 * 192, 9, 48),
            // Half of a dimension's routers are joined to the other half: the links of one row of S are S²/4.
            ("hyperx = { sides = [6] }", 15, 1, 9),
            ("hyperx = { sides = [4, 4] }", 2 * 4 * 6, 2, 4 * 4),
            ("hyperx = { sides = [2, 2, 2, 2] }", 32, 4, 8),
            ("hyperx = { sides = [6, 4] }", 4 * 15 + 6 * 6, 2, 6 * 4),
            ("fat_tree = { k = 2, levels = 3 }", 16, 4, 4),
            ("fat_tree = { k = 4, levels = 3 }", 128, 4, 32),
        ] {
            let found = survey(topology);
            let all: usize = found.links.iter().map(|(_, count)| count).sum();
            assert_eq!((all, found.diameter, found.cut), (links, diameter, cut), "{topology}");
        }
    }

    #[test]
    fn a_dragonfly_has_links_of_two_classes_and_three_links_on_its_longest_path() {
        let found = survey("dragonfly = { p = 2, a = 4, h = 2 }");
        assert_eq!((found.nodes, found.routers, found.diameter), (72, 36, 3));
        assert_eq!(found.links, [("local", 9 * 6), ("global", 9 * 8 / 2)]);
        // Groups 0-3 against 5-8, and group 4 cut in two: 16 global links, 4 local ones, and half of those of group 4.
        assert!(found.cut <= 16 + 4 + 4, "{}", found.cut);
    }

    /// The least cut of halves, by trying all of them.
    fn least_cut(edges: &[(u32, u32)], routers: u32) -> usize {
        let halves = (0..1u32 << routers).filter(|half| half.count_ones() == routers / 2);
        let crossing = |half: u32| edges.iter().filter(|(a, b)| half >> a & 1 != half >> b & 1).count();
        halves.map(crossing).min().unwrap()
    }

    #[test]
    fn no_cut_is_smaller_than_the_bisection_and_small_graphs_have_it_exactly() {
        let petersen = [
            (0, 1),
            (1, 2),
            (2, 3),
            (3, 4),
            (4, 0),
            (0, 5),
            (1, 6),
            (2, 7),
            (3, 8),
            (4, 9),
            (5, 7),
            (7, 9),
            (9, 6),
            (6, 8),
            (8, 5),
        ];
        let complete: Vec<(u32, u32)> = (0..8).flat_map(|a| (0..a).map(move |b| (a, b))).collect();
        // Two rings of five whose numbers alternate, joined by one link: halves by number cut nearly everything.
        let mixed: Vec<(u32, u32)> = (0..10).map(|r| (r, (r + 2) % 10)).chain([(0, 1)]).collect();
        for (edges, routers) in [(&petersen[..], 10), (&complete[..], 8), (&mixed[..], 10)] {
            let listed: Vec<String> =
                edges.iter().map(|(a, b)| format!("{{ between = [{a}, {b}] }}")).collect();
            let found = survey(&format!("graph = {{ edges = [{}] }}", listed.join(", ")));
            assert_eq!(found.cut, least_cut(edges, routers));
        }
    }

    #[test]
    fn the_mean_distance_is_that_of_uniform_traffic() {
        // A ring of 4: 0, 1, 2, 1 links.
        assert!((survey("ring = { routers = 4 }").mean_distance - 1.0).abs() < 1e-12);
    }
}
