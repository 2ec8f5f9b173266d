//! The ways of all that may be sent: by flows, and between nodes that draw or run programs.
//!
//! Packets for a destination leave a switch by one output, wherever they come from: what is behind a switch is gone through once
//! for every destination, not once for every pair of nodes.

use super::wiring::Cables;
use hopsim_infiniband::fabric::NONE;
use hopsim_infiniband::forwarding::{Entry, Tables};
use hopsim_network::interrupt;

/// Destinations whose outputs are read together: a line of a cache holds those of a switch.
const TOGETHER: usize = 64;

/// What is sent in a VL.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ways {
    /// Destination and source of what is listed, ascending.
    listed: Vec<[u32; 2]>,
    /// Nodes of which each may send to every other one, ascending.
    among: Vec<Vec<u32>>,
}

/// An output by which packets leave a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leaving {
    /// The output of the switch before by which they came; [`NONE`] if they came from their host.
    pub before: u32,
    /// The output, counted from the first port of the switch.
    pub output: u32,
    /// The port.
    pub port: u32,
}

impl Ways {
    /// Adds what a flow sends.
    pub fn list(&mut self, [source, destination]: [u32; 2]) {
        self.listed.push([destination, source]);
    }

    /// Adds what nodes send to each other.
    pub fn add_among(&mut self, nodes: &[u32]) {
        if nodes.len() > 1 {
            let mut nodes = nodes.to_vec();
            nodes.sort_unstable();
            self.among.push(nodes);
        }
    }

    /// Puts all in order, when all has been added.
    pub fn sort(&mut self) {
        self.listed.sort_unstable();
        self.listed.dedup();
    }

    /// Calls `found` with every host that sends, once at least.
    pub fn sources(&self, found: impl FnMut(u32)) {
        let listed = self.listed.iter().map(|&[_, source]| source);
        listed.chain(self.among.iter().flatten().copied()).for_each(found);
    }

    /// Calls `found` with every destination, its number in the order of calls and the switches of what sends to it.
    pub fn for_each(&self, cables: &Cables, found: &mut impl FnMut(u32, u32, &[u32])) {
        let switch = |host: &u32| cables.ends[*host as usize];
        let mut number = 0;
        for pairs in self.listed.chunk_by(|one, other| one[0] == other[0]) {
            let sources: Vec<u32> = pairs.iter().map(|[_, source]| switch(source)).collect();
            found(number, pairs[0][0], &sources);
            number += 1;
        }
        for nodes in &self.among {
            let sources: Vec<u32> = nodes.iter().map(switch).collect();
            for &destination in nodes {
                found(number, destination, &sources);
                number += 1;
            }
        }
    }

    /// Calls `found` with every output by which packets leave a switch, once at least for every output by which they came there.
    pub fn follow(&self, cables: &Cables, tables: &Tables, found: &mut impl FnMut(Leaving)) {
        match tables {
            Tables::Narrow(entries) => Walk::new(cables, entries).all(self, found),
            Tables::Wide(entries) => Walk::new(cables, entries).all(self, found),
        }
    }
}

impl Ways {
    /// Calls `found` as [`Self::follow`] does where packets for a destination may leave a switch by several outputs: by every output, and by
    /// every output of a switch by which they came there.
    pub fn follow_all(
        &self,
        cables: &Cables,
        outputs: &impl Fn(u32, u32) -> Vec<u32>,
        found: &mut impl FnMut(Leaving),
    ) {
        let mut seen = vec![NONE; cables.switches() as usize];
        self.for_each(cables, &mut |number, destination, sources| {
            let mut leave = |before: u32, switch: u32, output: u32| {
                let leaving = Leaving { before, output, port: cables.first_port[switch as usize] + output };
                found(leaving);
                leaving.port
            };
            let mut next = sources.to_vec();
            while let Some(switch) = next.pop() {
                if std::mem::replace(&mut seen[switch as usize], number) == number {
                    continue;
                }
                let here = outputs(switch, destination);
                interrupt::steps(here.len() as u64);
                for output in here {
                    let before = leave(NONE, switch, output);
                    let there = cables.ends[before as usize];
                    if there == NONE {
                        continue;
                    }
                    for output in outputs(there, destination) {
                        leave(before, there, output);
                    }
                    next.push(there);
                }
            }
        });
    }
}

/// Goes all ways to one destination after the other.
struct Walk<'c, E> {
    cables: &'c Cables,
    tables: &'c [E],
    /// The outputs for some destinations: by destination · `stride` + switch.
    columns: Vec<E>,
    /// More than the number of switches, so that the columns share no lines of a cache.
    stride: usize,
    /// The number of the last destination for which each switch was left.
    left: Vec<u32>,
    /// Number of the present destination, from 1.
    number: u32,
}

impl<'c, E: Entry> Walk<'c, E> {
    fn new(cables: &'c Cables, tables: &'c [E]) -> Self {
        let switches = cables.switches() as usize;
        let stride = switches.next_multiple_of(TOGETHER) + TOGETHER;
        let (mut columns, mut left) =
            (hopsim_memory::table(TOGETHER * stride), hopsim_memory::table(switches));
        columns.resize(TOGETHER * stride, E::new(0));
        left.resize(switches, 0);
        Self { cables, tables, columns, stride, left, number: 0 }
    }

    fn all(mut self, ways: &Ways, found: &mut impl FnMut(Leaving)) {
        let switch = |host: u32| self.cables.ends[host as usize];
        let listed: Vec<(u32, Vec<u32>)> = ways
            .listed
            .chunk_by(|one, other| one[0] == other[0])
            .map(|pairs| (pairs[0][0], pairs.iter().map(|&[_, source]| switch(source)).collect()))
            .collect();
        let among: Vec<Vec<u32>> = ways
            .among
            .iter()
            .map(|nodes| {
                let mut switches: Vec<u32> = nodes.iter().map(|&node| switch(node)).collect();
                switches.dedup();
                switches
            })
            .collect();
        for together in listed.chunks(TOGETHER) {
            let destinations: Vec<u32> = together.iter().map(|&(destination, _)| destination).collect();
            self.read(&destinations);
            for (column, (_, sources)) in together.iter().enumerate() {
                self.go(column, sources, found);
            }
        }
        for (nodes, sources) in ways.among.iter().zip(&among) {
            for together in nodes.chunks(TOGETHER) {
                self.read(together);
                (0..together.len()).for_each(|column| self.go(column, sources, found));
            }
        }
    }

    /// Reads the outputs for some destinations.
    fn read(&mut self, destinations: &[u32]) {
        for (switch, table) in self.tables.chunks(self.cables.hosts as usize).enumerate() {
            interrupt::steps(destinations.len() as u64);
            for (column, &destination) in destinations.iter().enumerate() {
                self.columns[column * self.stride + switch] = table[destination as usize];
            }
        }
    }

    /// Goes from these switches to the destination of a column, as far as the way has not been gone before.
    fn go(&mut self, column: usize, sources: &[u32], found: &mut impl FnMut(Leaving)) {
        self.number += 1;
        let outputs = &self.columns[column * self.stride..];
        let mut switches = sources.len();
        for &source in sources {
            let (mut switch, mut before) = (source, NONE);
            while switch != NONE {
                let output = outputs[switch as usize].into();
                let port = self.cables.first_port[switch as usize] + output;
                found(Leaving { before, output, port });
                if std::mem::replace(&mut self.left[switch as usize], self.number) == self.number {
                    break;
                }
                switches += 1;
                (switch, before) = (self.cables.ends[port as usize], port);
            }
        }
        interrupt::steps(switches as u64);
    }
}
