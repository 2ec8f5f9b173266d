//! Paths to every destination together with the VC that they keep, free of deadlock: see [`super::nue::Config`].

use super::acyclic::Acyclic;
use hopsim_network::interrupt;
use hopsim_network::topology::Topology;
use hopsim_network::topology::shortest::distances;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// No link.
const NONE: u32 = u32::MAX;

/// Where packets go on, and in which VC, by destination.
#[derive(Clone, Debug)]
pub struct NuePaths {
    /// Port by router · destinations + destination -- constant.
    ports: Vec<u16>,
    /// Links of the path by router · destinations + destination -- constant.
    hops: Vec<u16>,
    destinations: u32,
    layers: u32,
    /// Links of the longest path between routers with nodes -- constant.
    longest: u16,
}

impl NuePaths {
    /// Finds paths in so many layers.
    pub fn new(topology: &Topology, layers: u32) -> Self {
        let (links, destinations) = (Links::new(topology), topology.routers_with_nodes());
        let tree = Tree::new(&links);
        let entries = topology.routers() as usize * destinations as usize;
        let (ports, hops) = (vec![u16::MAX; entries], vec![0; entries]);
        let mut paths = Self { ports, hops, destinations, layers, longest: 0 };
        let mut search = LayerSearch::new(&links, &tree, destinations);
        for layer in 0..layers {
            let all: Vec<u32> = (0..destinations).filter(|&to| paths.layer(to) == layer).collect();
            search.begin(&all);
            for to in all {
                search.find(to);
                paths.enter(&search, to);
            }
        }
        paths
    }

    /// How many layers there are.
    pub fn layers(&self) -> u32 {
        self.layers
    }

    /// Links of the longest path between routers with nodes.
    pub fn longest(&self) -> u32 {
        self.longest.into()
    }

    fn layer(&self, to: u32) -> u32 {
        to * self.layers / self.destinations
    }

    /// The VC of packets to a router.
    #[inline]
    pub fn vc(&self, to: u32) -> u8 {
        self.layer(to) as u8
    }

    fn entry(&self, router: u32, to: u32) -> usize {
        router as usize * self.destinations as usize + to as usize
    }

    /// The port by which packets go on to another router.
    #[inline]
    pub fn port(&self, router: u32, to: u32) -> u16 {
        self.ports[self.entry(router, to)]
    }

    /// Links of the path from a router to another one.
    #[inline]
    pub fn hops(&self, router: u32, to: u32) -> u32 {
        self.hops[self.entry(router, to)].into()
    }

    /// Enters the paths to a destination.
    fn enter(&mut self, search: &LayerSearch, to: u32) {
        for &router in &search.found[1..] {
            let entry = self.entry(router, to);
            let (links, ..) = search.costs[router as usize].unwrap_or_default();
            self.ports[entry] = search.links.ports[search.next[router as usize] as usize];
            self.hops[entry] = links as u16;
            if router < self.destinations {
                self.longest = self.longest.max(links as u16);
            }
        }
    }
}

/// The links in either direction, numbered by router and port.
struct Links {
    /// The first one of every router, and behind them how many there are.
    first: Vec<u32>,
    /// Router that each leaves.
    from: Vec<u32>,
    /// Port by which each leaves it.
    ports: Vec<u16>,
    /// Router that each leads to.
    to: Vec<u32>,
    /// Number of each in the other direction.
    back: Vec<u32>,
    latency: Vec<u32>,
}

impl Links {
    fn new(topology: &Topology) -> Self {
        let ports = topology.ports().len();
        let ends = |router| {
            (0..ports).filter_map(move |port| Some((router, port, topology.neighbour(router, port)?)))
        };
        let all: Vec<_> = (0..topology.routers()).flat_map(ends).collect();
        let number = |end: (u32, usize)| {
            let found = all.binary_search_by_key(&end, |&(router, port, _)| (router, port));
            found.unwrap_or_else(|_| unreachable!("links lead both ways")) as u32
        };
        let first = |router| all.partition_point(|&(from, ..)| from < router) as u32;
        Self {
            first: (0..=topology.routers()).map(first).collect(),
            from: all.iter().map(|&(router, ..)| router).collect(),
            ports: all.iter().map(|&(_, port, _)| port as u16).collect(),
            to: all.iter().map(|&(.., (to, _))| to).collect(),
            back: all.iter().map(|&(.., end)| number(end)).collect(),
            latency: all.iter().map(|&(router, port, _)| topology.latency(router, port, 1)).collect(),
        }
    }

    fn routers(&self) -> u32 {
        self.first.len() as u32 - 1
    }

    /// The links that leave a router.
    fn of(&self, router: u32) -> impl Iterator<Item = u32> {
        self.first[router as usize]..self.first[router as usize + 1]
    }

    /// Links from a router to every other one.
    fn distances(&self, from: u32) -> Vec<u32> {
        let neighbours = |router| self.of(router).map(|link| self.to[link as usize]);
        distances(self.routers() as usize, from, neighbours)
    }
}

/// The tree of escape paths.
struct Tree {
    /// Links from the root to every router, `NONE` to those that are cut off.
    levels: Vec<u32>,
    /// The links of the tree that leave each router.
    links: Vec<Vec<u32>>,
}

impl Tree {
    /// The root is the router whose farthest router is nearest, of several the first. From the others the first link that leads nearer
    /// to it is part of the tree.
    fn new(links: &Links) -> Self {
        let reached = links.distances(0);
        let depth = |levels: &Vec<u32>| levels.iter().copied().filter(|&level| level != NONE).max();
        let candidates = (0..links.routers()).filter(|&router| reached[router as usize] != NONE);
        let levels = candidates.map(|root| links.distances(root)).min_by_key(depth).unwrap_or_default();
        let mut tree = Self { levels, links: vec![Vec::new(); links.routers() as usize] };
        for router in 0..links.routers() {
            let level = |router: u32| tree.levels[router as usize];
            let leads_up = |&link: &u32| level(links.to[link as usize]) < level(router);
            if let Some(up) = links.of(router).find(leads_up) {
                tree.links[router as usize].push(up);
                tree.links[links.to[up as usize] as usize].push(links.back[up as usize]);
            }
        }
        tree
    }

    /// The routers and the link of the tree by which each goes on to a destination, nearest first.
    fn escapes(&self, links: &Links, to: u32) -> Vec<(u32, u32)> {
        let (mut all, mut done, mut at, mut came) = (Vec::new(), 0, to, NONE);
        loop {
            let others = self.links[at as usize].iter().filter(|&&link| link != came);
            all.extend(others.map(|&link| (links.to[link as usize], links.back[link as usize])));
            let Some(&next) = all.get(done) else { return all };
            (at, came) = next;
            done += 1;
        }
    }

    /// All links, in an order in which no path that goes up to the root and down from it goes back.
    fn order(&self, links: &Links) -> Vec<u32> {
        let rank = |router: u32| (self.levels[router as usize], router);
        let ends = |&link: &u32| [links.from[link as usize], links.to[link as usize]].map(rank);
        let leads_up = |link: &u32| ends(link)[1] < ends(link)[0];
        let (mut ups, mut downs): (Vec<u32>, Vec<u32>) = (0..links.to.len() as u32).partition(leads_up);
        ups.sort_by_key(|link| Reverse(ends(link)[0]));
        downs.sort_by_key(|link| ends(link)[1]);
        [ups, downs].concat()
    }
}

/// What paths are compared by: their links, their latency, and the paths over their links to all destinations before.
type Cost = (u32, u32, u64);

/// The search for the paths to one destination after the other.
struct LayerSearch<'l> {
    links: &'l Links,
    tree: &'l Tree,
    destinations: u32,
    /// Which links of the layer packets hold while they wait for which.
    waits: Acyclic,
    /// The link by which every router goes on, none at the destination and where no path has been found.
    next: Vec<u32>,
    /// What the path from every router costs, if one has been found.
    costs: Vec<Option<Cost>>,
    /// The routers with a path, in the order in which it was found.
    found: Vec<u32>,
    /// The links that may begin the path of their router, the best one first.
    candidates: BinaryHeap<Reverse<(Cost, u32)>>,
    /// Paths from routers with nodes over each link, to all destinations so far.
    load: Vec<u64>,
}

impl<'l> LayerSearch<'l> {
    fn new(links: &'l Links, tree: &'l Tree, destinations: u32) -> Self {
        let routers = links.routers() as usize;
        Self {
            links,
            tree,
            destinations,
            waits: Acyclic::new(&[]),
            next: vec![NONE; routers],
            costs: vec![None; routers],
            found: Vec::new(),
            candidates: BinaryHeap::new(),
            load: vec![0; links.to.len()],
        }
    }

    /// Begins a layer, with the escape paths to all of its destinations.
    fn begin(&mut self, destinations: &[u32]) {
        self.waits = Acyclic::new(&self.tree.order(self.links));
        for &to in destinations {
            let escapes = self.tree.escapes(self.links, to);
            for &(router, link) in &escapes {
                self.next[router as usize] = link;
            }
            self.next[to as usize] = NONE;
            for (_, link) in escapes {
                self.waits_for_next(link);
            }
        }
        self.waits.keep();
    }

    /// Lets packets on a link wait for the link by which they go on, unless that closes a circle.
    fn waits_for_next(&mut self, link: u32) -> bool {
        let next = self.next[self.links.to[link as usize] as usize];
        next == NONE || self.waits.add(link, next)
    }

    /// Finds a path to a destination from every router.
    fn find(&mut self, to: u32) {
        let escapes = self.tree.escapes(self.links, to);
        // Routers that take their escape path.
        let mut escape = vec![false; self.next.len()];
        self.attempt(to, &[]);
        while self.found.len() <= escapes.len() {
            self.waits.take_back();
            // Farthest first: whoever has routers behind it that take it takes it, too.
            for &(router, link) in escapes.iter().rev() {
                escape[router as usize] |= self.costs[router as usize].is_none();
                escape[self.links.to[link as usize] as usize] |= escape[router as usize];
            }
            let taken: Vec<_> =
                escapes.iter().copied().filter(|&(router, _)| escape[router as usize]).collect();
            self.attempt(to, &taken);
        }
        self.waits.keep();
        self.count();
    }

    /// Finds a path from as many routers as it can, where some take these links.
    fn attempt(&mut self, to: u32, taken: &[(u32, u32)]) {
        self.next.fill(NONE);
        self.costs.fill(None);
        self.found.clear();
        self.candidates.clear();
        self.settle(to, (0, 0, 0));
        for &(router, link) in taken {
            self.next[router as usize] = link;
            self.settle(router, self.cost(link));
        }
        while let Some(Reverse((cost, link))) = self.candidates.pop() {
            interrupt::steps(8);
            let router = self.links.from[link as usize];
            if self.costs[router as usize].is_none() && self.waits_for_next(link) {
                self.next[router as usize] = link;
                self.settle(router, cost);
            }
        }
    }

    /// What the path costs that begins with a link, to a router whose path is known.
    fn cost(&self, link: u32) -> Cost {
        let (links, latency, load) = self.costs[self.links.to[link as usize] as usize].unwrap_or_default();
        (links + 1, latency + self.links.latency[link as usize], load + self.load[link as usize])
    }

    /// The path from a router has been found.
    fn settle(&mut self, router: u32, cost: Cost) {
        self.costs[router as usize] = Some(cost);
        self.found.push(router);
        for link in self.links.of(router) {
            let before = self.links.back[link as usize];
            if self.costs[self.links.to[link as usize] as usize].is_none() {
                self.candidates.push(Reverse((self.cost(before), before)));
            }
        }
    }

    /// Adds the paths from routers with nodes to the loads of their links.
    fn count(&mut self) {
        let mut through = vec![0u64; self.next.len()];
        through[..self.destinations as usize].fill(1);
        for &router in self.found[1..].iter().rev() {
            let link = self.next[router as usize] as usize;
            self.load[link] += through[router as usize];
            through[self.links.to[link] as usize] += through[router as usize];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hopsim_network::topology::TopologyConfig;
    use hopsim_random::{Purpose, Stream};
    use petgraph::algo::is_cyclic_directed;
    use petgraph::graphmap::DiGraphMap;
    use serde_json::{Value, json};

    fn built(topology: Value) -> Topology {
        serde_json::from_value::<TopologyConfig>(topology).unwrap().build().unwrap()
    }

    /// Routers joined at random, some of them twice, of which so many have nodes.
    fn random(seed: u64) -> Topology {
        let mut stream = Stream::new(seed, Purpose::RandomGraph, 0);
        let routers = 2 + stream.below(20);
        let tree: Vec<_> = (1..routers).map(|router| [stream.below(router), router]).collect();
        let more: Vec<_> =
            (0..stream.below(3 * routers)).map(|_| [stream.below(routers), stream.below(routers)]).collect();
        let pairs = tree.into_iter().chain(more).filter(|[one, other]| one != other);
        let edge = |between| json!({ "between": between, "latency": 1 + stream.below(3) });
        let edges: Vec<Value> = pairs.map(edge).collect();
        built(json!({ "graph": { "edges": edges, "routers_with_nodes": 2 + stream.below(routers - 1) } }))
    }

    /// Follows the paths of all pairs of routers. Returns the sum of their links, having looked for circles in every VC.
    fn follow(topology: &Topology, paths: &NuePaths) -> u32 {
        let (mut waits, mut links): (DiGraphMap<_, ()>, _) = (DiGraphMap::new(), 0);
        for (from, to) in (0..topology.routers())
            .flat_map(|from| (0..topology.routers_with_nodes()).map(move |to| (from, to)))
        {
            let (mut at, mut held) = (from, None);
            for left in (1..=if from == to { 0 } else { paths.hops(from, to) }).rev() {
                assert_eq!(paths.hops(at, to), left, "from {from} to {to} in {at}");
                let wanted = (at, paths.port(at, to), paths.vc(to));
                if let Some(held) = held {
                    waits.add_edge(held, wanted, ());
                }
                (at, held) = (topology.neighbour(at, wanted.1.into()).unwrap().0, Some(wanted));
                links += u32::from(from < topology.routers_with_nodes());
            }
            assert_eq!(at, to, "a path leads where it should");
        }
        assert!(!is_cyclic_directed(&waits));
        links
    }

    #[test]
    fn every_pair_has_a_path_and_no_layer_a_circle_whatever_the_network_and_the_number_of_layers() {
        let few = [
            json!({ "ring": { "routers": 7 } }),
            json!({ "torus": { "sides": [4, 5] } }),
            json!({ "dragonfly": { "p": 1, "a": 4, "h": 2 } }),
            json!({ "fat_tree": { "k": 2, "levels": 3 } }),
            json!({ "slim_fly": { "q": 4 } }),
        ];
        for topology in few.into_iter().map(built).chain((0..60).map(random)) {
            for layers in 1..=4 {
                let paths = NuePaths::new(&topology, layers);
                let links = follow(&topology, &paths);
                let with_nodes = topology.routers_with_nodes();
                assert!(with_nodes == 1 || paths.longest() * with_nodes * (with_nodes - 1) >= links);
                assert!((0..with_nodes).all(|to| u32::from(paths.vc(to)) < layers));
            }
        }
    }

    #[test]
    fn in_random_regular_graphs_paths_are_shorter_than_up_a_tree_and_down_and_with_more_layers_nearly_shortest()
     {
        // Links of all paths: shortest ones, those of `up_down`, those in 1, 2, 4 and 8 layers.
        for seed in 1..4 {
            let topology = built(json!({ "jellyfish": { "routers": 64, "degree": 8, "seed": seed } }));
            let all = (0..64).flat_map(|from| (0..64).map(move |to| (from, to)));
            let shortest: u32 = all.map(|(from, to)| topology.distance(from, to)).sum();
            let links = [1, 2, 4, 8].map(|layers| follow(&topology, &NuePaths::new(&topology, layers)));
            assert!(links.is_sorted_by(|one, other| one > other), "{links:?}");
            let more = links.map(|links| f64::from(links) / f64::from(shortest) - 1.0);
            assert!(more[0] < 0.1 && more[1] < 0.05 && more[2] < 0.01 && more[3] < 0.005, "{more:?}");
        }
    }

    #[test]
    fn in_a_ring_one_layer_leaves_a_link_out_only_for_some() {
        // Routers 0 … 4, the root 0: paths over the link of 2 and 3 are found as long as they close no circle.
        let topology = built(json!({ "ring": { "routers": 5 } }));
        let [one, two] = [1, 2].map(|layers| follow(&topology, &NuePaths::new(&topology, layers)));
        assert!(one > 30 && two >= 30, "{one}, {two}: all shortest paths have 30 links");
    }

    #[test]
    fn equally_short_paths_spread_over_the_links() {
        // Between two routers four links: the paths of ten routers on one side to ten on the other.
        let mut edges = vec![json!({ "between": [20, 21] }); 4];
        edges.extend(
            (0..10).flat_map(|at| [json!({ "between": [at, 20] }), json!({ "between": [at + 10, 21] })]),
        );
        let topology = built(json!({ "graph": { "edges": edges, "routers_with_nodes": 20 } }));
        let paths = NuePaths::new(&topology, 1);
        let ports: Vec<u16> = (10..20).map(|to| paths.port(20, to)).collect();
        let mut uses: Vec<usize> =
            ports.iter().map(|port| ports.iter().filter(|other| *other == port).count()).collect();
        uses.sort_unstable();
        assert_eq!(uses, [2, 2, 2, 2, 3, 3, 3, 3, 3, 3], "{ports:?}");
    }
}
