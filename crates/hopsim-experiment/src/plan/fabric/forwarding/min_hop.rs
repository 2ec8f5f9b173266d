//! Shortest paths in number of links, spread over the ports.

use super::super::wiring::Cables;
use super::spread::Spread;
use hopsim_infiniband::forwarding::Entry;
use hopsim_network::interrupt;
use hopsim_network::topology::Topology;

/// Forwarding tables of shortest paths.
pub fn tables<E: Entry>(topology: &Topology, cables: &Cables) -> Vec<E> {
    let mut spread = Spread::new(topology, cables);
    let mut search = Search::new(cables);
    for to in 0..topology.routers_with_nodes() {
        search.nearer(to, |switch, ports| spread.choose(switch, ports, to));
    }
    spread.tables()
}

/// The search for the distances to one switch after the other.
pub struct Search<'c> {
    cables: &'c Cables,
    /// Links from every switch to the one that is searched for.
    pub far: Vec<u32>,
    /// Switches by their distance.
    reached: Vec<u32>,
    /// Ports of a switch that lead nearer.
    ports: Vec<u32>,
}

impl<'c> Search<'c> {
    /// A search that has measured nothing yet.
    pub fn new(cables: &'c Cables) -> Self {
        let far = vec![u32::MAX; cables.switches() as usize];
        Self { cables, far, reached: Vec::new(), ports: Vec::new() }
    }

    /// A switch that is as far as any from the one whose distances have been measured.
    pub fn farthest(&self) -> u32 {
        self.reached[self.reached.len() - 1]
    }

    /// Measures how far all switches are from one of them, and calls `found` with every other one and its ports by which a shortest path
    /// begins, ascending.
    pub fn nearer(&mut self, to: u32, mut found: impl FnMut(u32, &[u32])) {
        self.far.fill(u32::MAX);
        self.far[to as usize] = 0;
        self.reached.clear();
        self.reached.push(to);
        let mut next = 0;
        while let Some(&switch) = self.reached.get(next) {
            next += 1;
            let here = self.far[switch as usize];
            self.ports.clear();
            interrupt::steps(self.cables.ports(switch).len() as u64);
            for (port, peer) in self.cables.links(switch) {
                let there = &mut self.far[peer as usize];
                if *there == u32::MAX {
                    *there = here + 1;
                    self.reached.push(peer);
                } else if *there < here {
                    // All that are nearer have been reached before.
                    self.ports.push(port);
                }
            }
            if switch != to {
                found(switch, &self.ports);
            }
        }
    }
}
