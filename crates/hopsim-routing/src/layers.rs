//! Layers: virtual channels that keep shortest paths of any graph free of deadlock.
//!
//! A path keeps one VC from end to end: that of its layer. All paths begin in layer 0. A packet that holds the buffer behind
//! one link waits for the buffer behind the next link of its path; while these dependencies have a cycle in a layer, the
//! dependency of the cycle that fewest paths cause is taken out: those paths move to the next layer, and come back in the end
//! if they close no cycle after all. So no layer has a cycle, and packets of different layers never wait for each other.
//!
//! Source: Domke, Hoefler and Nagel, IPDPS 2011 (DFSSSP); that paths come back is ours.

use super::vcs::MOST;
use hopsim_network::topology::Interconnect;
use hopsim_network::topology::graph::Graph;
use std::cmp::Reverse;

/// Most routers of a graph whose paths are sorted: the work grows faster than with their square.
pub const MOST_ROUTERS: u32 = 2048;

/// The layer of the shortest path between any two routers with nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layers {
    /// Layer of every path, by source · routers with nodes + destination.
    layers: Vec<u8>,
    /// Paths in each layer.
    sizes: Vec<u64>,
}

/// The VC of the path between any two routers with nodes.
#[derive(Clone, Debug)]
pub struct PathVcs {
    /// VC of every path, by source · routers with nodes + destination.
    vcs: Vec<u8>,
    routers_with_nodes: usize,
}

impl Layers {
    /// Assigns the paths of a graph to as few layers as it finds, `None` if there would be too many.
    pub fn new(graph: &Graph) -> Option<Self> {
        let routers_with_nodes = graph.routers_with_nodes() as usize;
        let mut layers = vec![0; routers_with_nodes * routers_with_nodes];
        let (trees, mut layer) = (Trees::new(graph), 0);
        while Sorter::new(&trees, &mut layers, layer).moves_paths() {
            layer += 1;
            if u32::from(layer) == MOST {
                return None;
            }
        }
        let mut sizes = vec![0; usize::from(layer) + 1];
        for (path, &layer) in layers.iter().enumerate() {
            sizes[usize::from(layer)] += u64::from(path / routers_with_nodes != path % routers_with_nodes);
        }
        Some(Self { layers, sizes })
    }

    /// How many there are.
    pub fn count(&self) -> u32 {
        self.sizes.len() as u32
    }

    /// Gives every layer a VC, and of those left over each to the layer with most paths per VC. The paths of a layer use its
    /// VCs in turn: part of a layer has no cycles either.
    pub fn vcs(&self, count: u8) -> PathVcs {
        let mut shares = vec![1u64; self.sizes.len()];
        for _ in self.sizes.len()..usize::from(count) {
            let crowd = |&layer: &usize| (self.sizes[layer] / shares[layer], Reverse(layer));
            let most = (0..shares.len()).max_by_key(crowd).unwrap_or(0);
            shares[most] += 1;
        }
        let firsts: Vec<u64> = (0..shares.len()).map(|layer| shares[..layer].iter().sum()).collect();
        let mut turns = vec![0; shares.len()];
        let mut vc = |&layer: &u8| {
            let layer = usize::from(layer);
            turns[layer] += 1;
            (firsts[layer] + turns[layer] % shares[layer]) as u8
        };
        PathVcs {
            vcs: self.layers.iter().map(&mut vc).collect(),
            routers_with_nodes: self.layers.len().isqrt(),
        }
    }
}

impl PathVcs {
    /// The VC of a path.
    #[inline]
    pub fn vc(&self, from: u32, to: u32) -> u8 {
        self.vcs[from as usize * self.routers_with_nodes + to as usize]
    }
}

/// The paths to every destination as trees, in preorder: what leads through a router follows it. Links are numbers: router ·
/// degree + number of the port.
struct Trees<'g> {
    graph: &'g Graph,
    routers: usize,
    /// The routers by destination · routers + place, the destination first.
    order: Vec<u16>,
    /// The place of every router, by destination · routers + router.
    places: Vec<u16>,
    /// How many routers have their path through a router, itself included, by destination · routers + router.
    sizes: Vec<u16>,
}

impl<'g> Trees<'g> {
    fn new(graph: &'g Graph) -> Self {
        let routers = graph.routers() as usize;
        let entries = routers * graph.routers_with_nodes() as usize;
        let mut trees = Self {
            graph,
            routers,
            order: vec![0; entries],
            places: vec![0; entries],
            sizes: vec![1; entries],
        };
        for to in 0..graph.routers_with_nodes() {
            let reaches = |router: &u32| *router == to || graph.reaches(*router, to);
            let mut nearest_first: Vec<u32> = (0..graph.routers()).filter(reaches).collect();
            nearest_first.sort_unstable_by_key(|&router| graph.distance(router, to));
            let row = to as usize * routers;
            for &router in nearest_first[1..].iter().rev() {
                let (_, next) = trees.next(router, to);
                trees.sizes[row + next as usize] += trees.sizes[row + router as usize];
            }
            // First places left behind each router.
            let mut free = vec![1; routers];
            for &router in &nearest_first[1..] {
                let (_, next) = trees.next(router, to);
                let place = free[next as usize];
                free[next as usize] += trees.sizes[row + router as usize];
                free[router as usize] = place + 1;
                trees.places[row + router as usize] = place;
                trees.order[row + place as usize] = router as u16;
            }
            trees.order[row] = to as u16;
        }
        trees
    }

    /// The routers from which the paths to a destination lead through `router`, itself first, each after the next on its path.
    fn behind(&self, router: u32, to: u32) -> &[u16] {
        let row = to as usize * self.routers;
        let first = row + usize::from(self.places[row + router as usize]);
        &self.order[first..first + usize::from(self.sizes[row + router as usize])]
    }

    /// The next link from a router to a destination, and where it leads.
    fn next(&self, router: u32, to: u32) -> (u32, u32) {
        let port = self.graph.first_port(router, to);
        let (next, _) =
            self.graph.neighbour(router, port).unwrap_or_else(|| unreachable!("paths follow links"));
        (router * self.graph.degree() + port as u32 - self.graph.nodes_per_router(), next)
    }

    /// The router that a link leaves.
    fn origin(&self, link: u32) -> u32 {
        link / self.graph.degree()
    }
}

/// What is known of a link in a search for cycles.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    /// Not visited.
    New,
    /// On the way from the start of the search, at this place of the way.
    Open(usize),
    /// Done: no cycle can be reached from the link.
    Done,
}

/// The dependencies of one layer, while paths are moved out of it.
struct Sorter<'a> {
    trees: &'a Trees<'a>,
    layers: &'a mut [u8],
    layer: u8,
    /// First dependency of every link.
    first: Vec<u32>,
    /// The two links that each dependency joins, ascending.
    links: Vec<(u32, u32)>,
    /// How many paths cause each dependency.
    paths: Vec<u32>,
    /// First destination of each dependency.
    first_destination: Vec<u32>,
    /// Destinations of the paths that cause a dependency.
    destinations: Vec<u16>,
    /// Dependencies that are gone since the search has looked.
    gone: Vec<u32>,
    /// Paths through every router to the destination in hand; zero in between.
    through: Vec<u32>,
}

impl<'a> Sorter<'a> {
    fn new(trees: &'a Trees<'_>, layers: &'a mut [u8], layer: u8) -> Self {
        let links = trees.routers * trees.graph.degree() as usize;
        let mut sorter = Self {
            trees,
            layers,
            layer,
            first: vec![0; links + 1],
            links: Vec::new(),
            paths: Vec::new(),
            first_destination: vec![0],
            destinations: Vec::new(),
            gone: Vec::new(),
            through: vec![0; trees.routers],
        };
        let mut causes = sorter.causes();
        causes.sort_unstable();
        for group in causes.chunk_by(|one, other| one.0 == other.0) {
            let (link, _) = group[0].0;
            sorter.first[link as usize + 1] += 1;
            sorter.links.push(group[0].0);
            sorter.paths.push(group.iter().map(|&(.., paths)| paths).sum());
            sorter.destinations.extend(group.iter().map(|&(_, to, _)| to));
            sorter.first_destination.push(sorter.destinations.len() as u32);
        }
        for link in 0..links {
            sorter.first[link + 1] += sorter.first[link];
        }
        sorter
    }

    /// A link and the one after it, a destination, and how many paths to it lead over both.
    fn causes(&mut self) -> Vec<((u32, u32), u16, u32)> {
        let (trees, mut causes) = (self.trees, Vec::new());
        for to in 0..self.routers_with_nodes() {
            for &router in trees.behind(to, to)[1..].iter().rev() {
                let router = u32::from(router);
                let begins = self.layer_of(router, to) == Some(self.layer);
                let paths = std::mem::take(&mut self.through[router as usize]) + u32::from(begins);
                let (link, next) = trees.next(router, to);
                if paths > 0 && next != to {
                    self.through[next as usize] += paths;
                    causes.push(((link, trees.next(next, to).0), to as u16, paths));
                }
            }
        }
        causes
    }

    /// Number of routers with nodes, the first ones.
    fn routers_with_nodes(&self) -> u32 {
        self.trees.graph.routers_with_nodes()
    }

    fn path(&self, from: u32, to: u32) -> usize {
        (from * self.routers_with_nodes() + to) as usize
    }

    /// The layer of a path, `None` if there is none.
    fn layer_of(&self, from: u32, to: u32) -> Option<u8> {
        (from < self.routers_with_nodes()).then(|| self.layers[self.path(from, to)])
    }

    fn put(&mut self, (from, to): (u32, u32), layer: u8) {
        let path = self.path(from, to);
        self.layers[path] = layer;
    }

    /// Moves paths to the next layer until the dependencies of this one have no cycle. Whether it moved any.
    fn moves_paths(mut self) -> bool {
        let links = self.first.len() - 1;
        let mut walk = Walk { visits: Vec::new(), marks: vec![Mark::New; links], done: Vec::new() };
        let mut moved = false;
        for start in 0..links {
            if walk.marks[start] == Mark::New {
                walk.enter(start as u32, None, self.first[start]);
            }
            while let Some(visit) = walk.visits.last_mut() {
                let dependency = visit.next;
                if dependency == self.first[visit.link as usize + 1] {
                    walk.leave();
                    continue;
                }
                visit.next += 1;
                if self.paths[dependency as usize] == 0 {
                    continue;
                }
                let (_, after) = self.links[dependency as usize];
                match walk.marks[after as usize] {
                    Mark::New => walk.enter(after, Some(dependency), self.first[after as usize]),
                    Mark::Done => {}
                    Mark::Open(place) => {
                        let weakest = walk.cycle(place, dependency).min_by_key(|&by| self.paths[by as usize]);
                        self.cut(weakest.unwrap_or(dependency));
                        for gone in self.gone.drain(..) {
                            walk.step_back(self.links[gone as usize].1, gone);
                        }
                        moved = true;
                    }
                }
            }
        }
        if moved {
            self.take_back(&walk.done);
        }
        moved
    }

    /// Takes paths back that fit into the order in which the links were done: every dependency leads to one done before.
    fn take_back(&mut self, done: &[u32]) {
        let trees = self.trees;
        let mut places = vec![0; done.len()];
        done.iter().enumerate().for_each(|(place, &link)| places[link as usize] = place + 1);
        // Place of the first link of the path from a router, `None` if the path does not fit.
        let mut fits = vec![Some(0); trees.routers];
        for to in 0..self.routers_with_nodes() {
            fits[to as usize] = Some(0);
            for &router in &trees.behind(to, to)[1..] {
                let (link, next) = trees.next(router.into(), to);
                let after = fits[next as usize];
                let place =
                    Some(places[link as usize]).filter(|&place| after.is_some_and(|after| after < place));
                fits[usize::from(router)] = place;
                if place.is_some() && self.layer_of(router.into(), to) == Some(self.layer + 1) {
                    self.put((router.into(), to), self.layer);
                }
            }
        }
    }

    /// Moves all paths that cause a dependency to the next layer.
    fn cut(&mut self, dependency: u32) {
        let dependency = dependency as usize;
        let (link, _) = self.links[dependency];
        let router = self.trees.origin(link);
        for index in self.first_destination[dependency]..self.first_destination[dependency + 1] {
            self.move_paths(router, self.destinations[index as usize].into());
        }
    }

    /// Moves all paths to `to` that lead through `router` to the next layer.
    fn move_paths(&mut self, router: u32, to: u32) {
        let trees = self.trees;
        for &from in trees.behind(router, to).iter().rev() {
            let from = u32::from(from);
            if self.layer_of(from, to) == Some(self.layer) {
                self.put((from, to), self.layer + 1);
                self.through[from as usize] += 1;
            }
            self.forget(from, to);
        }
        let (_, mut at) = trees.next(router, to);
        while at != to {
            at = self.forget(at, to);
        }
        self.through[to as usize] = 0;
    }

    /// Hands the moved paths through `router` to the next router, which it returns: they no longer cause the dependency in
    /// between.
    fn forget(&mut self, router: u32, to: u32) -> u32 {
        let paths = std::mem::take(&mut self.through[router as usize]);
        let (link, next) = self.trees.next(router, to);
        self.through[next as usize] += paths;
        if paths > 0 && next != to {
            let (after, _) = self.trees.next(next, to);
            let row = self.first[link as usize] as usize..self.first[link as usize + 1] as usize;
            let place = row.start + self.links[row].partition_point(|&(_, other)| other < after);
            self.paths[place] -= paths;
            if self.paths[place] == 0 {
                self.gone.push(place as u32);
            }
        }
        next
    }
}

/// A depth-first search for cycles.
struct Walk {
    /// The links from the start to the present one.
    visits: Vec<Visit>,
    /// What is known of each link.
    marks: Vec<Mark>,
    /// Links from which no cycle can be reached, in the order in which that was found.
    done: Vec<u32>,
}

/// A link on the way of a search.
struct Visit {
    link: u32,
    /// The dependency by which the link was reached, `None` at the start.
    by: Option<u32>,
    /// The next dependency of the link to be followed.
    next: u32,
}

impl Walk {
    fn enter(&mut self, link: u32, by: Option<u32>, next: u32) {
        self.marks[link as usize] = Mark::Open(self.visits.len());
        self.visits.push(Visit { link, by, next });
    }

    fn leave(&mut self) {
        if let Some(visit) = self.visits.pop() {
            self.marks[visit.link as usize] = Mark::Done;
            self.done.push(visit.link);
        }
    }

    /// The dependencies of the cycle that the link at `place` begins and `last` closes.
    fn cycle(&self, place: usize, last: u32) -> impl Iterator<Item = u32> {
        self.visits[place + 1..].iter().filter_map(|visit| visit.by).chain([last])
    }

    /// Goes back to before a link if it was reached by a dependency that is gone. What has been left behind stays free of
    /// cycles, as dependencies only vanish.
    fn step_back(&mut self, link: u32, gone: u32) {
        let Mark::Open(place) = self.marks[link as usize] else { return };
        if self.visits[place].by == Some(gone) {
            for visit in self.visits.drain(place..) {
                self.marks[visit.link as usize] = Mark::New;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hopsim_network::topology::graph::{Config, Graph};
    use petgraph::algo::is_cyclic_directed;
    use petgraph::graphmap::DiGraphMap;

    fn graph(edges: impl IntoIterator<Item = (u32, u32)>) -> Graph {
        let edges: Vec<_> =
            edges.into_iter().map(|(a, b)| serde_json::json!({ "between": [a, b] })).collect();
        let config: Config = serde_json::from_value(serde_json::json!({ "edges": edges })).unwrap();
        Graph::new(&config).unwrap()
    }

    fn ring(routers: u32) -> Graph {
        graph((0..routers).map(|router| (router, (router + 1) % routers)))
    }

    fn torus(side: u32) -> Graph {
        let at = |x: u32, y: u32| y % side * side + x % side;
        let grid = (0..side * side).map(|router| (router % side, router / side));
        graph(grid.flat_map(|(x, y)| [(at(x, y), at(x + 1, y)), (at(x, y), at(x, y + 1))]))
    }

    /// The channel dependency graph of all paths, where `vc` says which VC a path uses.
    fn dependencies(graph: &Graph, vc: impl Fn(u32, u32) -> u8) -> DiGraphMap<(u32, usize, u8), ()> {
        let mut all = DiGraphMap::new();
        for from in 0..graph.routers_with_nodes() {
            for to in (0..graph.routers_with_nodes()).filter(|&to| to != from) {
                let (mut at, mut before) = (from, None);
                while at != to {
                    let port = graph.first_port(at, to);
                    let channel = (at, port, vc(from, to));
                    before.map(|before| all.add_edge(before, channel, ()));
                    before = Some(channel);
                    at = graph.neighbour(at, port).unwrap().0;
                }
            }
        }
        all
    }

    #[test]
    fn a_ring_of_four_needs_one_layer_and_larger_ones_need_two() {
        // In a ring of four a path has two links at most, and not all pairs of neighbouring links are used the same way round.
        let counts = [3, 4, 5, 6, 9].map(|routers| Layers::new(&ring(routers)).unwrap().count());
        assert_eq!(counts, [1, 1, 2, 2, 2]);
    }

    #[test]
    fn a_ring_of_five_moves_one_path_of_each_direction() {
        assert_eq!(Layers::new(&ring(5)).unwrap().sizes, [18, 2]);
    }

    #[test]
    fn spare_vcs_go_to_the_layer_with_most_paths_per_vc() {
        // 18 paths in ten VCs and 2 in two: an eleventh VC of the first layer would leave two paths in one of the second.
        let vcs = Layers::new(&ring(5)).unwrap().vcs(12);
        let pairs = (0..5).flat_map(|from| (0..5).filter(move |&to| to != from).map(move |to| (from, to)));
        let mut paths = [0; 12];
        pairs.for_each(|(from, to)| paths[usize::from(vcs.vc(from, to))] += 1);
        assert!(paths[..10].iter().sum::<u32>() == 18 && paths[10..] == [1, 1], "{paths:?}");
    }

    #[test]
    fn no_layer_has_cyclic_dependencies_however_many_vcs_share_it() {
        for graph in [ring(5), ring(12), torus(4), torus(5)] {
            let layers = Layers::new(&graph).unwrap();
            assert!(is_cyclic_directed(&dependencies(&graph, |_, _| 0)), "one layer would not do");
            for spare in [0, 1, 3] {
                let count = layers.count() as u8 + spare;
                let vcs = layers.vcs(count);
                let all = dependencies(&graph, |from, to| vcs.vc(from, to));
                assert!(!is_cyclic_directed(&all));
                let used = (0..count).filter(|&vc| all.nodes().any(|channel| channel.2 == vc)).count();
                assert_eq!(used, usize::from(count), "every VC carries some path");
            }
        }
    }
}
