//! The channel dependency graph: which channels packets hold, and which other ones they wait for.

use super::channels::{Channel, Channels};
use crate::circles::Graph;
use hopsim_cycles::system::System;
use hopsim_network::interrupt;
use hopsim_routing::Request;
use petgraph::unionfind::UnionFind;
use rustc_hash::FxHashMap;

/// Bits of a word.
const WORD: usize = u64::BITS as usize;

/// The graph.
pub struct Dependencies<'p> {
    channels: Channels<'p>,
    /// Whether VCs take each other's room, by class code of the port.
    shared: [bool; 3],
    /// Words of a row.
    words: usize,
    /// A row for each channel: a bit for each output VC and entry of the router behind it, for which a packet that holds the channel
    /// waits.
    rows: Vec<u64>,
    /// Whether there is a channel: some packet could wait for it.
    exists: Vec<bool>,
    /// Whether packets enter rings otherwise than by their entries.
    enters: bool,
}

/// The words that the rows of the graph of a network take.
pub fn words(system: &System) -> usize {
    let channels = Channels::new(&system.network);
    channels.count().saturating_mul(channels.pairs.div_ceil(WORD))
}

impl<'p> Dependencies<'p> {
    /// No dependencies yet.
    pub fn new(system: &'p System) -> Self {
        let channels = Channels::new(&system.network);
        let mut shared = [false; 3];
        if let Some(shares) = system.router.damq() {
            for (class, share) in shares.iter().enumerate() {
                shared[class + 1] = share.reserve < system.router.full_reserve(system.longest_packet());
            }
        }
        let mut rows = hopsim_memory::table(words(system));
        rows.resize(words(system), 0);
        let exists = vec![false; channels.count()];
        Self { channels, shared, words: channels.pairs.div_ceil(WORD), rows, exists, enters: false }
    }

    /// A packet in `router` that holds a channel, at injection none, waits for room behind an output VC or entry.
    pub fn wait(&mut self, held: Option<u32>, router: u32, Request { port, vc }: Request) {
        let layout = &self.channels.network.layout;
        let (base, count) = (layout.pair_base[port] as usize, layout.output_vcs[port]);
        let is_entry = vc >= count;
        self.enters |= layout.entries[port] > 0 && held.is_none() && !is_entry;
        let of_port = if is_entry { count..2 * count } else { 0..count };
        let vcs = if self.shared[layout.class[port] as usize] { of_port } else { vc..vc + 1 };
        for vc in vcs {
            let channel = Channel { router, port, vc: vc % count };
            self.exists[self.channels.number(channel) as usize] = true;
            let bit = base + usize::from(vc);
            if let Some(held) = held {
                self.rows[held as usize * self.words + bit / WORD] |= 1 << (bit % WORD);
            }
        }
    }

    /// A packet that holds a channel waits until the nodes of its router have room for the answer.
    pub fn wait_for_answer(&mut self, held: Option<u32>, router: u32) {
        self.wait(held, router, Request { port: 0, vc: 1 });
    }

    /// How many channels there are.
    pub fn channels(&self) -> usize {
        self.exists.iter().filter(|&&exists| exists).count()
    }

    /// How many dependencies there are among these channels.
    pub fn count(&self) -> usize {
        let rows = self.rows.chunks(self.words).zip(&self.exists).filter(|&(_, &exists)| exists);
        rows.flat_map(|(row, _)| row).map(|word| word.count_ones() as usize).sum()
    }

    /// Visits all dependencies: the channel that is held, which nobody need wait for, that which is waited for, and whether by an entry.
    pub fn each(&self, mut visit: impl FnMut(u32, u32, bool)) {
        for held in 0..self.channels.count() as u32 {
            let row = &self.rows[held as usize * self.words..][..self.words];
            interrupt::steps(self.words as u64);
            if row.iter().all(|&word| word == 0) {
                continue;
            }
            let (router, _) = self.channels.behind(self.channels.channel(held));
            for (number, &word) in row.iter().enumerate() {
                let mut bits = word;
                while bits != 0 {
                    let pair = number * WORD + bits.trailing_zeros() as usize;
                    bits &= bits - 1;
                    let layout = &self.channels.network.layout;
                    let Some((port, vc)) = layout.any_vc(pair) else { continue };
                    let next = self.channels.number(Channel { router, port, vc });
                    visit(held, next, layout.entry_vc(pair).is_some());
                }
            }
        }
    }

    /// The dependencies by name, ascending.
    pub fn listed(&self) -> Vec<(Channel, Channel)> {
        let mut all = Vec::new();
        self.each(|held, next, _| all.push((self.channels.channel(held), self.channels.channel(next))));
        all.sort_unstable();
        all.dedup();
        all
    }

    /// How many rings need their bubbles, if that keeps packets from waiting for each other in a circle; else a shortest circle.
    pub fn rings(&self) -> Result<usize, Vec<Channel>> {
        let mut all = Vec::new();
        self.each(|held, next, is_entry| all.push((held, next, is_entry)));
        let arrows = all.iter().map(|&(held, next, _)| (held, next)).collect();
        let Some(circle) = Graph::new(self.channels.count(), arrows).shortest_circle() else {
            return Ok(0);
        };
        let named =
            |circle: Vec<u32>| circle.into_iter().map(|number| self.channels.channel(number)).collect();
        if self.enters || self.channels.network.layout.entries.iter().all(|&entries| entries == 0) {
            return Err(named(circle));
        }
        let inside: Vec<(u32, u32)> =
            all.iter().filter(|&&(.., is_entry)| !is_entry).map(|&(held, next, _)| (held, next)).collect();
        if self.forks(&inside) {
            return Err(named(circle));
        }
        let mut rings = UnionFind::new(self.channels.count());
        for &(held, next) in &inside {
            rings.union(held, next);
        }
        let between = all.iter().filter(|&&(.., is_entry)| is_entry);
        let between: Vec<(u32, u32, u32)> =
            between.map(|&(held, next, _)| (rings.find(held), rings.find(next), next)).collect();
        let arrows = between.iter().map(|&(from, to, _)| (from, to)).collect();
        if let Some(circle) = Graph::new(self.channels.count(), arrows).shortest_circle() {
            let entered = |at: usize| {
                let (from, to) = (circle[at], circle[(at + 1) % circle.len()]);
                between
                    .iter()
                    .find(|&&(one, other, _)| (one, other) == (from, to))
                    .map_or(to, |found| found.2)
            };
            return Err(named((0..circle.len()).map(entered).collect()));
        }
        let mut closed: Vec<u32> = Graph::new(self.channels.count(), inside)
            .left()
            .into_iter()
            .map(|number| rings.find(number))
            .collect();
        closed.sort_unstable();
        closed.dedup();
        Ok(closed.len())
    }

    /// Whether packets that come by one port go on by different ones: then they are in no ring.
    fn forks(&self, inside: &[(u32, u32)]) -> bool {
        let mut ways: FxHashMap<(u32, usize), (u32, usize)> = FxHashMap::default();
        let end = |number: u32| {
            let channel = self.channels.channel(number);
            (channel.router, channel.port)
        };
        inside.iter().any(|&(held, next)| *ways.entry(end(held)).or_insert(end(next)) != end(next))
    }
}
