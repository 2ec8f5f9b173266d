//! Whether packets can wait for each other in a circle: each for room behind a link that the next one holds.

use super::FabricPlan;
use super::ways::{Leaving, Ways};
use super::wiring::{Cables, Found};
use crate::circle;
use hopsim_infiniband::fabric::NONE;
use hopsim_infiniband::forwarding::Tables;
use hopsim_network::error::ConfigError;
use hopsim_network::interrupt;
use petgraph::algo::kosaraju_scc;
use petgraph::graphmap::DiGraphMap;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The output ports of a circle and its VL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Circle {
    /// The VL.
    pub lane: u8,
    /// The ports; packets behind each wait for room behind the next one.
    pub ports: Vec<u32>,
}

impl Circle {
    /// The circle of the lowest VL, and of the lowest port that is on one, if there is one.
    pub fn find(cables: &Cables, tables: &Tables, ways: &BTreeMap<u8, Ways>) -> Option<Self> {
        Self::first(cables, ways, |waits, ways| {
            ways.follow(cables, tables, &mut |leaving| waits.add(leaving));
        })
    }

    /// The first circle where packets for a destination may leave a switch by several outputs.
    pub fn find_in_all(
        cables: &Cables,
        outputs: &impl Fn(u32, u32) -> Vec<u32>,
        ways: &BTreeMap<u8, Ways>,
    ) -> Option<Self> {
        Self::first(cables, ways, |waits, ways| {
            ways.follow_all(cables, outputs, &mut |leaving| waits.add(leaving));
        })
    }

    /// The circle of the lowest VL, and of the lowest port that is on one, if there is one in what `add` finds of the ways of a VL.
    fn first(
        cables: &Cables,
        ways: &BTreeMap<u8, Ways>,
        add: impl Fn(&mut Waits<'_>, &Ways),
    ) -> Option<Self> {
        ways.iter().find_map(|(&lane, ways)| {
            let mut waits = Waits::new(cables);
            add(&mut waits, ways);
            waits.circle().map(|ports| Self { lane, ports })
        })
    }
}

/// Refuses flows whose packets, or the notifications that are sent back, can wait for each other in a circle. Returns the steps that it
/// took to see that, see [`interrupt`].
pub fn check(plan: &FabricPlan) -> Result<u64, ConfigError> {
    let (circle, steps) = found(plan);
    let Some(circle) = circle else { return Ok(steps) };
    Err(ConfigError::new("topology", in_words(plan, &circle)).valid(
        "a topology whose shortest paths close no circle (fat_tree, mesh, hyperx, a graph that is a tree), \
         router.infiniband.forwarding = \"up_down\", flows whose service levels have other VLs, or router.infiniband.lanes.allow_deadlock = true",
    ))
}

fn in_words(plan: &FabricPlan, circle: &Circle) -> String {
    let switches = circle.ports.iter().filter_map(|&port| plan.fabric.switch_of(port));
    let way: Vec<String> = switches.map(|switch| format!("switch {switch}")).collect();
    circle::in_words(&format!("packets of VL {}", circle.lane), "links", &way)
}

impl FabricPlan {
    /// The circle in which packets can wait for each other, in words, if there is one.
    pub fn circle(&self) -> Option<String> {
        let (circle, _) = found(self);
        circle.map(|circle| in_words(self, &circle))
    }

    /// The circle in which packets can wait for each other that have come by different tables, in words, if there is one.
    pub fn circle_of_all_tables(&self) -> Option<String> {
        if self.fabric.faults.is_empty() {
            return None;
        }
        let tables: Vec<&Tables> = self.tables().collect();
        let ways = self.ways(self.fabric.congestion.is_some());
        let cables = &self.wiring.cables;
        let outputs = |switch: u32, destination: u32| -> Vec<u32> {
            let entry = switch as usize * cables.hosts as usize + destination as usize;
            tables.iter().map(|tables| tables.output(entry)).collect()
        };
        Circle::find_in_all(cables, &outputs, &ways).map(|circle| in_words(self, &circle))
    }
}

/// The circle in which packets can wait for each other by one of the tables, and the steps that it took to see that.
fn found(plan: &FabricPlan) -> Found {
    let ways = plan.ways(plan.fabric.congestion.is_some());
    if plan.fabric.faults.is_empty() {
        return plan.wiring.circle(ways);
    }
    let mut all = plan.tables();
    let find = || all.find_map(|tables| Circle::find(&plan.wiring.cables, tables, &ways));
    let (circle, steps) = interrupt::counted(find);
    (circle.map(Arc::new), steps)
}

/// Bits of a word.
const WORD: u32 = u64::BITS;

/// Who can wait for whom in a VL: packets on the link behind a port, for room behind outputs of the switch there.
struct Waits<'c> {
    cables: &'c Cables,
    /// The first word of every port of a switch, and behind these the number of words.
    first: Vec<usize>,
    /// A bit for every output of the switch at the other end.
    bits: Vec<u64>,
}

impl<'c> Waits<'c> {
    fn new(cables: &'c Cables) -> Self {
        let ports = cables.ends.len() - cables.hosts as usize;
        let (mut first, mut words) = (hopsim_memory::table(ports + 1), 0);
        first.push(0);
        for &end in &cables.ends[cables.hosts as usize..] {
            let outputs = if end == NONE { 0 } else { cables.ports(end).len() as u32 };
            words += outputs.div_ceil(WORD) as usize;
            first.push(words);
        }
        let mut bits = hopsim_memory::table(words);
        bits.resize(words, 0);
        interrupt::steps((ports + words) as u64);
        Self { cables, first, bits }
    }

    fn add(&mut self, Leaving { before, output, .. }: Leaving) {
        if before != NONE {
            let word = self.first[(before - self.cables.hosts) as usize] + (output / WORD) as usize;
            self.bits[word] |= 1 << (output % WORD);
        }
    }

    /// The ports for room behind which packets wait that are on the link behind a port, ascending.
    fn next(&self, port: u32) -> impl Iterator<Item = u32> {
        let row = (port - self.cables.hosts) as usize;
        let words = self.bits[self.first[row]..self.first[row + 1]].iter().zip((0..).step_by(WORD as usize));
        let first = self.cables.first_port.get(self.cables.ends[port as usize] as usize).copied();
        words.flat_map(move |(&word, base)| {
            let mut left = word;
            std::iter::from_fn(move || {
                let bit = left.trailing_zeros();
                left &= left.wrapping_sub(1);
                (bit < WORD).then(|| first.unwrap_or(NONE) + base + bit)
            })
        })
    }

    /// The circle with the lowest port, if there is one.
    fn circle(&self) -> Option<Vec<u32>> {
        let left = self.left();
        let graph: DiGraphMap<u32, ()> =
            left.iter().flat_map(|&port| self.next(port).map(move |next| (port, next, ()))).collect();
        let circles = kosaraju_scc(&graph).into_iter().filter(|component| component.len() > 1);
        let mut component = circles.min_by_key(|component| component.iter().min().copied())?;
        component.sort_unstable();
        let mut way = vec![component[0]];
        // Every member has a successor among them, so that the way comes round.
        loop {
            let last = *way.last()?;
            let next = self.next(last).find(|next| component.binary_search(next).is_ok())?;
            if let Some(start) = way.iter().position(|&member| member == next) {
                return Some(way.split_off(start));
            }
            way.push(next);
        }
    }

    /// The ports that are on circles or behind one: what is left when again and again those are taken away for which nobody waits.
    fn left(&self) -> Vec<u32> {
        let ports = self.cables.hosts..self.cables.ends.len() as u32;
        let place = |port: u32| (port - self.cables.hosts) as usize;
        let mut waiting: Vec<u32> = hopsim_memory::table(ports.len());
        waiting.resize(ports.len(), 0);
        for port in ports.clone() {
            interrupt::steps(1);
            self.next(port).for_each(|next| waiting[place(next)] += 1);
        }
        let mut free: Vec<u32> = ports.clone().filter(|&port| waiting[place(port)] == 0).collect();
        while let Some(port) = free.pop() {
            interrupt::steps(1);
            for next in self.next(port) {
                waiting[place(next)] -= 1;
                if waiting[place(next)] == 0 {
                    free.push(next);
                }
            }
        }
        ports.filter(|&port| waiting[place(port)] > 0).collect()
    }
}
