//! Ways that lead up first and then down only, spread over the ports.

use super::super::wiring::Cables;
use super::min_hop::Search;
use super::spread::Spread;
use hopsim_infiniband::forwarding::Entry;
use hopsim_network::interrupt;
use hopsim_network::topology::Topology;

/// Forwarding tables of ways that lead up first and then down only.
pub fn tables<E: Entry>(topology: &Topology, cables: &Cables) -> Vec<E> {
    let levels = levels(cables);
    let mut order: Vec<u32> = (0..cables.switches()).collect();
    order.sort_by_key(|&switch| (levels[switch as usize], switch));
    let mut ways = WaySearch::new(cables, &order);
    let mut spread = Spread::new(topology, cables);
    for to in 0..topology.routers_with_nodes() {
        ways.begin(to, &order, |switch, ports| spread.choose(switch, ports, to));
    }
    spread.tables()
}

/// Links from the root to every switch. The root is the switch whose farthest one is nearest, of several the first.
///
/// A switch is at least as far from its farthest one as that of another is less their distance (Takes and Kosters, Algorithms 6,
/// 2013). So those that could be the root are measured, the most promising one first, until none is left; and after each its farthest
/// one, as that is far from many.
fn levels(cables: &Cables) -> Vec<u32> {
    let mut search = Search::new(cables);
    let mut centre = Centre {
        least: vec![0; cables.switches() as usize],
        // A switch that is out of order has no links, and is no root.
        is_measured: (0..cables.switches())
            .map(|switch| switch > 0 && cables.links(switch).next().is_none())
            .collect(),
        root: None,
    };
    while let Some(promising) = centre.promising() {
        let farthest = centre.measure(&mut search, promising);
        if !centre.is_measured[farthest as usize] {
            centre.measure(&mut search, farthest);
        }
    }
    centre.root.map(|(_, levels)| levels).unwrap_or_default()
}

/// What is known of how far switches are from their farthest ones.
struct Centre {
    /// A lower bound of the distance of each switch from its farthest one.
    least: Vec<u32>,
    is_measured: Vec<bool>,
    /// The best root so far: its distance from its farthest switch, its number, and how far all switches are from it.
    root: Option<((u32, u32), Vec<u32>)>,
}

impl Centre {
    /// The switch that could be nearest to its farthest one, if it could be better than the best one so far.
    fn promising(&self) -> Option<u32> {
        interrupt::steps(self.least.len() as u64);
        let open = (0..self.least.len()).filter(|&switch| !self.is_measured[switch]);
        let first = open.map(|switch| (self.least[switch], switch as u32)).min()?;
        let is_better = self.root.as_ref().is_none_or(|(best, _)| first < *best);
        is_better.then_some(first.1)
    }

    /// Measures how far a switch is from all others; returns the farthest one.
    fn measure(&mut self, search: &mut Search<'_>, switch: u32) -> u32 {
        search.nearer(switch, |_, _| {});
        self.is_measured[switch as usize] = true;
        let farthest = search.farthest();
        let most = search.far[farthest as usize];
        for (least, &far) in self.least.iter_mut().zip(&search.far) {
            *least = (*least).max(far).max(most.saturating_sub(far));
        }
        if self.root.as_ref().is_none_or(|(best, _)| (most, switch) < *best) {
            self.root = Some(((most, switch), search.far.clone()));
        }
        farthest
    }
}

/// Whether a switch is above another one.
fn is_up(rank: &[u32], from: u32, to: u32) -> bool {
    rank[to as usize] < rank[from as usize]
}

/// The search for the ways to one switch after the other. A table does not know where a packet comes from: a switch from which a
/// way goes down only takes such a way, so that no packet goes up again.
struct WaySearch<'c> {
    cables: &'c Cables,
    /// The place of a switch in the order from the root down.
    rank: Vec<u32>,
    /// Links of the shortest way down to the destination's switch, by switch.
    down: Vec<u32>,
    /// Links of the way that is taken, by switch.
    total: Vec<u32>,
    /// Switches from which a way goes down, by its length.
    reached: Vec<u32>,
    /// Ports by which ways begin.
    ports: Vec<u32>,
}

impl<'c> WaySearch<'c> {
    fn new(cables: &'c Cables, order: &[u32]) -> Self {
        let mut rank = vec![0; order.len()];
        order.iter().zip(0..).for_each(|(&switch, place)| rank[switch as usize] = place);
        let far = vec![u32::MAX; order.len()];
        Self { cables, rank, down: far.clone(), total: far, reached: Vec::new(), ports: Vec::new() }
    }

    /// Calls `found` with every other switch and its ports by which ways to a switch begin, ascending.
    fn begin(&mut self, to: u32, order: &[u32], mut found: impl FnMut(u32, &[u32])) {
        self.go_down(to, &mut found);
        self.total.copy_from_slice(&self.down);
        let (cables, rank) = (self.cables, &self.rank);
        for &switch in order {
            if self.down[switch as usize] != u32::MAX {
                continue;
            }
            interrupt::steps(self.cables.ports(switch).len() as u64);
            // All that are above have their ways.
            self.ports.clear();
            let mut best = u32::MAX;
            for (port, peer) in cables.links(switch).filter(|&(_, peer)| is_up(rank, switch, peer)) {
                let there = self.total[peer as usize];
                if there < best {
                    best = there;
                    self.ports.clear();
                }
                if there == best {
                    self.ports.push(port);
                }
            }
            self.total[switch as usize] = best.saturating_add(1);
            found(switch, &self.ports);
        }
    }

    /// Searches backwards from the switch: a packet goes down to where this search goes up.
    fn go_down(&mut self, to: u32, found: &mut impl FnMut(u32, &[u32])) {
        self.down.fill(u32::MAX);
        self.down[to as usize] = 0;
        self.reached.clear();
        self.reached.push(to);
        let mut next = 0;
        while let Some(&switch) = self.reached.get(next) {
            next += 1;
            let here = self.down[switch as usize];
            self.ports.clear();
            interrupt::steps(self.cables.ports(switch).len() as u64);
            for (port, peer) in self.cables.links(switch) {
                let there = self.down[peer as usize];
                if !is_up(&self.rank, switch, peer) {
                    if there.checked_add(1) == Some(here) {
                        self.ports.push(port);
                    }
                } else if there == u32::MAX {
                    self.down[peer as usize] = here + 1;
                    self.reached.push(peer);
                }
            }
            if switch != to {
                found(switch, &self.ports);
            }
        }
    }
}
