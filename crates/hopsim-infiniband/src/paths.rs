//! Several shortest ways: of the outputs of a switch by which one begins a hash of the flow says which it takes (equal-cost multi-path).
//!
//! Source: Thaler, Hopps, *Multipath Issues in Unicast and Multicast Next-Hop Selection*, RFC 2991, 2000.

use crate::fabric::NONE;
use hopsim_random::{Purpose, Streams};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// The outputs by which shortest ways begin, of every switch to every other one that has hosts.
#[derive(Clone, Debug)]
pub struct Alternatives {
    /// The number of every host's switch among those with hosts.
    home_of: Vec<u32>,
    /// The number of switches with hosts.
    homes: usize,
    /// The list of each switch for each home, by switch · homes + home; [`NONE`] where there is none.
    lists: Vec<u32>,
    /// Where each list begins in `ports`, and behind them where the last one ends.
    begins: Vec<u32>,
    /// The lists, of each the ports ascending.
    ports: Vec<u32>,
}

impl Alternatives {
    /// What the lists of so many switches for so many homes take \[bytes\], without the ports.
    pub fn bytes_of_lists(switches: u64, homes: u64) -> u64 {
        switches * homes * size_of::<u32>() as u64
    }

    /// The shortest ways between so many switches, where each host has a switch. `nearer` is called for every switch with hosts, and calls
    /// what it is given with every other switch and its ports by which a shortest way there begins, ascending.
    pub fn new(
        switches: u32,
        switch_of: &[u32],
        mut nearer: impl FnMut(u32, &mut dyn FnMut(u32, &[u32])),
    ) -> Self {
        let mut homes = switch_of.to_vec();
        homes.sort_unstable();
        homes.dedup();
        let home_of = |switch: &u32| homes.partition_point(|home| home < switch) as u32;
        let mut alternatives = Self {
            home_of: switch_of.iter().map(home_of).collect(),
            homes: homes.len(),
            lists: vec![NONE; switches as usize * homes.len()],
            begins: vec![0],
            ports: Vec::new(),
        };
        let mut known = FxHashMap::default();
        for (home, &to) in homes.iter().enumerate() {
            nearer(to, &mut |switch, ports| {
                let list = *known.entry((switch, ports.to_vec())).or_insert_with(|| alternatives.add(ports));
                alternatives.lists[switch as usize * alternatives.homes + home] = list;
            });
        }
        alternatives
    }

    /// Adds a list, and returns its number.
    fn add(&mut self, ports: &[u32]) -> u32 {
        self.ports.extend_from_slice(ports);
        self.begins.push(self.ports.len() as u32);
        self.begins.len() as u32 - 2
    }

    /// The ports of a switch by which a shortest way to a host begins, ascending; none if the host is one of its own.
    #[inline]
    pub fn of(&self, switch: u32, destination: u32) -> &[u32] {
        let home = self.home_of[destination as usize] as usize;
        let list = self.lists[switch as usize * self.homes + home];
        if list == NONE {
            return &[];
        }
        let [begin, end] = [list, list + 1].map(|list| self.begins[list as usize] as usize);
        &self.ports[begin..end]
    }

    /// What the alternatives take \[bytes\].
    pub fn bytes(&self) -> usize {
        let words = [&self.home_of, &self.lists, &self.begins, &self.ports];
        words.iter().map(|words| size_of_val(&words[..])).sum()
    }
}

/// Which of several shortest ways each flow takes.
#[derive(Clone, Debug)]
pub struct Paths {
    /// The outputs that there are.
    pub alternatives: Arc<Alternatives>,
    /// What the hash depends on besides the flow and the switch.
    pub seed: u64,
    streams: Streams,
}

impl Paths {
    /// The choice among alternatives with a seed.
    pub fn new(alternatives: Arc<Alternatives>, seed: u64) -> Self {
        Self { alternatives, seed, streams: Streams::new(seed, Purpose::Flow) }
    }

    /// The port by which packets of a flow, and what answers them, leave a switch for a host; none if the host is one of its own.
    #[inline]
    pub fn port(&self, switch: u32, destination: u32, flow: u32) -> Option<u32> {
        match self.alternatives.of(switch, destination) {
            [] => None,
            &[only] => Some(only),
            all => {
                let mut hash = self.streams.stream(flow.into()).at(switch.into());
                Some(all[hash.below(all.len() as u32) as usize])
            }
        }
    }
}
