//! The choice among several ports: the port that has been chosen for the fewest nodes before, of several such ports the first.

use super::super::wiring::Cables;
use super::{empty, to_own_hosts};
use hopsim_infiniband::forwarding::Entry;
use hopsim_network::interrupt;
use hopsim_network::topology::Topology;
use std::collections::VecDeque;
use std::ops::Range;

/// Forwarding tables while they are filled in, destinations in ascending order.
pub struct Spread<'c, E> {
    topology: &'c Topology,
    cables: &'c Cables,
    tables: Vec<E>,
    /// For how many nodes each port has been chosen.
    chosen: Vec<u32>,
    /// The ports that may be chosen, each behind the number of nodes for which it has been chosen; ascending.
    ports: VecDeque<u64>,
}

impl<'c, E: Entry> Spread<'c, E> {
    /// Tables in which nothing is filled in but the outputs to hosts of each switch.
    pub fn new(topology: &'c Topology, cables: &'c Cables) -> Self {
        let mut tables = empty(topology);
        for (switch, table) in (0..).zip(tables.chunks_mut(cables.hosts as usize)) {
            to_own_hosts(topology, switch, table);
        }
        let chosen = vec![0; cables.peers.len()];
        Self { topology, cables, tables, chosen, ports: VecDeque::new() }
    }

    /// Chooses among ports of a switch, which are ascending, for every node of another one.
    pub fn choose(&mut self, switch: u32, ports: &[u32], to: u32) {
        let (row, first) = (self.entries(switch, to), self.cables.first_port[switch as usize]);
        interrupt::steps((ports.len() + row.len()) as u64);
        if let &[only] = ports {
            self.tables[row.clone()].fill(E::new(only - first));
            self.chosen[only as usize] += row.len() as u32;
            return;
        }
        let chosen = |&port: &u32| u64::from(self.chosen[port as usize]) << 32 | u64::from(port);
        self.ports.clear();
        self.ports.extend(ports.iter().map(chosen));
        self.ports.make_contiguous().sort_unstable();
        for entry in &mut self.tables[row] {
            let Some(fewest) = self.ports.pop_front() else { return };
            *entry = E::new(fewest as u32 - first);
            // Mostly all ports have been chosen as often, and it is the last one now.
            let more = fewest + (1 << 32);
            let behind = self.ports.iter().rev().take_while(|&&other| other > more).count();
            self.ports.insert(self.ports.len() - behind, more);
        }
        for chosen in &self.ports {
            self.chosen[*chosen as u32 as usize] = (chosen >> 32) as u32;
        }
    }

    /// The entries of a switch for the nodes of another one.
    fn entries(&self, switch: u32, to: u32) -> Range<usize> {
        let (table, nodes) = (switch as usize * self.cables.hosts as usize, self.topology.nodes_of(to));
        table + nodes.start as usize..table + nodes.end as usize
    }

    /// The tables, when all destinations have been gone through.
    pub fn tables(self) -> Vec<E> {
        self.tables
    }
}
