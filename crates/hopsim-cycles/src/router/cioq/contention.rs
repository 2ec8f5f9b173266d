//! Contention counters: how many heads want each output, the average of these numbers over time, and the counts by destination
//! group that routers tell their group (Fuentes' thesis, 2017, §4.1).

use crate::kernel::by::By;
use crate::kernel::ids::{Id as _, RegionRouter, SlotId};
use crate::kernel::regions::Span;
use crate::kernel::rows::{put_row, row};
use crate::kernel::wheel::Wheel;
use crate::system::System;
use hopsim_routing::view::{Exchange, Sensors};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// The port of a slot that is not counted; the group of a head that counts for none.
const NOTHING: u16 = u16::MAX;

/// What the head of a slot counts for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counted {
    /// The minimal output port of the head.
    pub port: u16,
    /// The group that the head has to reach, if it counts for one.
    pub group: Option<u16>,
}

/// An exponential average, brought up to date only when its counter changes or it is read.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Average {
    value: f64,
    /// The cycle that the average is of.
    since: u32,
}

/// The counters of the routers of a region, which is whole groups.
pub struct Contention {
    /// The counters, by router · ports + port.
    counters: Vec<u16>,
    ports: usize,
    /// Port and group that the head of a slot is counted for, by slot; `NOTHING` for none.
    counted: By<SlotId, (u16, u16)>,
    /// Slots whose packet has left.
    releases: Wheel<SlotId>,
    /// Weight of the past and averages by router · ports + port; empty if unused.
    alpha: f64,
    averages: Vec<Average>,
    /// Counts by destination group.
    pub groups: Option<Groups>,
}

/// Counts by destination group, and what routers have heard of each other's counts.
pub struct Groups {
    exchange: Exchange,
    /// Number of groups.
    count: usize,
    /// Routers per group.
    routers: usize,
    latency: u32,
    /// The counts of each router now, by router · groups + group.
    own: Vec<u16>,
    /// What each router last told its group.
    told: Vec<u16>,
    /// Sums over the routers of a group of what each last told.
    sums: Vec<u32>,
    /// Messages on their way: cycle of arrival, counts.
    under_way: VecDeque<(u32, Vec<u16>)>,
}

/// The counters of a router in a snapshot.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ContentionState {
    /// What the head of each slot counts for.
    counted: Vec<(u16, u16)>,
    /// Slots whose packet will have left, and when.
    leaving: Vec<(u32, u16)>,
    /// The average of each port.
    averages: Vec<Average>,
    /// The counts that the router last told, by group.
    told: Vec<u16>,
    /// Counts by group that the router has told and that are on their way, with the cycle in which they arrive.
    under_way: Vec<(u32, Vec<u16>)>,
}

impl Contention {
    /// Counters at zero, `None` if nobody reads them. `slots` slot ids exist.
    pub fn new(system: &System, sensors: &Sensors, (span, slots): (&Span, usize)) -> Option<Self> {
        if !sensors.contention {
            return None;
        }
        let (routers, ports) = (span.routers, system.network.layout.ports());
        let averages = if sensors.alpha.is_some() { routers * ports } else { 0 };
        Some(Self {
            counters: vec![0; routers * ports],
            ports,
            counted: By::all((NOTHING, NOTHING), slots),
            releases: Wheel::new(2 * system.longest_packet()),
            alpha: sensors.alpha.unwrap_or(0.0),
            averages: vec![Average::default(); averages],
            groups: sensors.exchange.and_then(|exchange| Groups::new(system, exchange, routers)),
        })
    }

    /// The state of every router; `stride` slot ids lie between two of them, and the first `slots` are in use.
    pub fn save(&self, now: u32, (stride, slots): (usize, usize)) -> Vec<ContentionState> {
        // The counters themselves follow from what is counted.
        let Self { counters, ports, counted, releases, alpha: _, averages, groups } = self;
        let of_router = |router: usize| ContentionState {
            counted: row(counted.as_slice(), router * stride, slots),
            leaving: Vec::new(),
            averages: row(averages, router * ports, *ports),
            told: groups
                .as_ref()
                .map_or_else(Vec::new, |groups| row(&groups.told, router * groups.count, groups.count)),
            under_way: groups.as_ref().map_or_else(Vec::new, |groups| groups.messages(router)),
        };
        let mut states: Vec<ContentionState> = (0..counters.len() / ports).map(of_router).collect();
        for (at, slot) in releases.pending(now) {
            states[slot.index() / stride].leaving.push((at, (slot.index() % stride) as u16));
        }
        for state in &mut states {
            state.leaving.sort_unstable();
        }
        states
    }

    /// Goes on with the state of a router.
    pub fn load(&mut self, (router, stride): (RegionRouter, usize), state: &ContentionState) {
        let ContentionState { counted, leaving, averages, told, under_way } = state;
        let first = router.index() * stride;
        put_row(self.counted.as_mut_slice(), first, counted);
        for &(port, group) in counted.iter().filter(|(port, _)| *port != NOTHING) {
            self.counters[router.index() * self.ports + port as usize] += 1;
            if let Some(groups) = self.groups.as_mut().filter(|_| group != NOTHING) {
                groups.own[router.index() * groups.count + group as usize] += 1;
            }
        }
        for &(at, slot) in leaving {
            self.releases.push(at, SlotId::at(first + slot as usize));
        }
        put_row(&mut self.averages, router.index() * self.ports, averages);
        if let Some(groups) = &mut self.groups {
            groups.load(router.index(), told, under_way);
        }
    }

    /// The first cycle of `now..end` in which a counter, or what is told of counters, changes by itself, else `end`. Averages
    /// follow from the counters.
    pub fn next_event(&self, now: u32, end: u32) -> u32 {
        let told = self.groups.as_ref().map_or(end, |groups| groups.next_event(now));
        self.releases.next_before(now, end.min(told))
    }

    /// Whether the head of a slot is counted, or the packet that is leaving the slot still is.
    pub fn counts(&self, slot: SlotId) -> bool {
        self.counted[slot].0 != NOTHING
    }

    /// The packet at the head of a slot will have left at cycle `at`.
    pub fn leaves(&mut self, slot: SlotId, at: u32) {
        self.releases.push(at, slot);
    }

    /// Slots whose packet has left by cycle `now`; give the vector back with [`Self::put_back`].
    pub fn take(&mut self, now: u32) -> Vec<SlotId> {
        self.releases.take(now)
    }

    /// Takes back the vector of [`Self::take`].
    pub fn put_back(&mut self, due: Vec<SlotId>) {
        self.releases.put_back(due);
    }

    /// Counts a new head from cycle `now` on.
    pub fn count(&mut self, (router, slot): (RegionRouter, SlotId), head: Counted, now: u32) {
        self.change(router.index() * self.ports + head.port as usize, now, |c| c + 1);
        if let (Some(groups), Some(group)) = (&mut self.groups, head.group) {
            groups.own[router.index() * groups.count + group as usize] += 1;
        }
        self.counted[slot] = (head.port, head.group.unwrap_or(NOTHING));
    }

    /// Takes back what was counted for a slot; returns the port.
    pub fn uncount(&mut self, (router, slot): (RegionRouter, SlotId), now: u32) -> u16 {
        let (port, group) = std::mem::replace(&mut self.counted[slot], (NOTHING, NOTHING));
        self.change(router.index() * self.ports + port as usize, now, |c| c - 1);
        if let Some(groups) = self.groups.as_mut().filter(|_| group != NOTHING) {
            groups.own[router.index() * groups.count + group as usize] -= 1;
        }
        port
    }

    fn change(&mut self, counter: usize, now: u32, to: impl Fn(u16) -> u16) {
        if !self.averages.is_empty() {
            self.averages[counter] = self.average(counter, now);
        }
        self.counters[counter] = to(self.counters[counter]);
    }

    /// The average of a counter at cycle `now`: every cycle F ← alpha · F + (1 − alpha) · C, with the counter of the cycle
    /// before.
    fn average(&self, counter: usize, now: u32) -> Average {
        let Average { mut value, since } = self.averages[counter];
        let past = f64::from(self.counters[counter]);
        for _ in since..now {
            let next = (1.0 - self.alpha) * past + self.alpha * value;
            if next.to_bits() == value.to_bits() {
                break;
            }
            value = next;
        }
        Average { value, since: now }
    }

    /// The counter of an output.
    #[inline]
    pub fn counter(&self, router: RegionRouter, port: usize) -> u32 {
        u32::from(self.counters[router.index() * self.ports + port])
    }

    /// The average of the counter of an output.
    pub fn filtered(&self, router: RegionRouter, port: usize, now: u32) -> f64 {
        self.average(router.index() * self.ports + port, now).value
    }
}

impl Groups {
    fn new(system: &System, exchange: Exchange, routers: usize) -> Option<Self> {
        let count = system.topology.groups() as usize;
        let group = system.network.routers as usize / count;
        Some(Self {
            exchange,
            count,
            routers: group,
            latency: system.latency_in_groups()?,
            own: vec![0; routers * count],
            told: vec![0; routers * count],
            sums: vec![0; routers / group * count],
            under_way: VecDeque::new(),
        })
    }

    /// The messages of a router on their way.
    fn messages(&self, router: usize) -> Vec<(u32, Vec<u16>)> {
        // What it counts now, and the sums over a group, follow.
        let Self { exchange: _, count, routers: _, latency: _, own: _, told: _, sums: _, under_way } = self;
        under_way.iter().map(|(at, counts)| (*at, row(counts, router * count, *count))).collect()
    }

    /// Goes on with what a router has told.
    fn load(&mut self, router: usize, told: &[u16], messages: &[(u32, Vec<u16>)]) {
        let first = router * self.count;
        put_row(&mut self.told, first, told);
        let target = router / self.routers * self.count;
        self.sums[target..][..self.count]
            .iter_mut()
            .zip(told)
            .for_each(|(sum, &count)| *sum += u32::from(count));
        for (index, (at, counts)) in messages.iter().enumerate() {
            if index == self.under_way.len() {
                self.under_way.push_back((*at, vec![0; self.own.len()]));
            }
            put_row(&mut self.under_way[index].1, first, counts);
        }
    }

    /// Lets the routers hear and send at the beginning of cycle `now`. Returns the phits that each of them now sends on each of
    /// its local links.
    pub fn exchange(&mut self, now: u32) -> u32 {
        let due = now.is_multiple_of(self.exchange.period);
        if due {
            self.under_way.push_back((now + self.latency, self.own.clone()));
        }
        while self.under_way.front().is_some_and(|(at, _)| *at <= now) {
            if let Some((_, told)) = self.under_way.pop_front() {
                self.told = told;
                self.add_up();
            }
        }
        if due { self.exchange.message_length } else { 0 }
    }

    /// The first cycle from `now` on in which the routers hear or send something.
    fn next_event(&self, now: u32) -> u32 {
        let due = now.next_multiple_of(self.exchange.period);
        self.under_way.front().map_or(due, |(at, _)| due.min((*at).max(now)))
    }

    /// Adds up what the routers of every group have told.
    fn add_up(&mut self) {
        self.sums.fill(0);
        for (router, told) in self.told.chunks(self.count).enumerate() {
            let sums = &mut self.sums[router / self.routers * self.count..][..self.count];
            sums.iter_mut().zip(told).for_each(|(sum, &count)| *sum += u32::from(count));
        }
    }

    /// Number of heads in the group of `router` that have to reach group `target`, as `router` knows it.
    pub fn combined(&self, router: RegionRouter, target: u32) -> u32 {
        let router = router.index();
        let index = router * self.count + target as usize;
        let sum = self.sums[router / self.routers * self.count + target as usize];
        sum - u32::from(self.told[index]) + u32::from(self.own[index])
    }
}
