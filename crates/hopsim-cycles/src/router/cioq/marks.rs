//! Marks of saturated global links, and what routers have heard of the marks of their group (piggyback: Jiang et al.,
//! ISCA 2009; Fuentes' thesis, 2017, §1.4.1.3).
//!
//! A mark is of the beginning of a cycle. Marks are computed anew only for routers one of whose global outputs has changed, and
//! only changes travel. Where none travel, a router computes its own marks when it has a head that may read them.

use crate::kernel::by::By;
use crate::kernel::ids::{Id as _, Pair, PairId, RegionRouter};
use crate::kernel::regions::Span;
use crate::kernel::rows::{put_row, row};
use crate::kernel::wheel::Wheel;
use crate::router::cioq::active::wake;
use crate::router::cioq::routers::Router;
use crate::router::cioq::waiting::WaitingHeads;
use crate::system::System;
use hopsim_network::network::PortClassCode;
use hopsim_network::topology::PortClass;
use hopsim_routing::view::{Packets, Saturation, Sensing, Sensors};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Outstanding phits of packets on their minimal path, by pair, from which marks are computed besides credits; empty if nobody
/// reads them.
type Minimal = By<PairId, u32>;

/// The marks of the routers of a region, which is whole groups: a bit per VC, by router · global ports + number of the port.
pub struct Marks {
    rule: Saturation,
    /// Threshold of the rule that marks links \[phits\] -- constant.
    threshold: f64,
    /// Class of global ports, as [`PortInfo`](crate::router::cioq::tables::PortInfo) has it -- constant.
    class: PortClassCode,
    /// Phits that one VC of a global buffer can hold -- constant.
    capacity: u32,
    /// Global ports of a router -- constant.
    ports: Range<usize>,
    /// Global ports of each router that a link is plugged in: first pair and index of the mark -- constant.
    links: By<RegionRouter, Box<[(Pair, u32)]>>,
    /// Routers per group -- constant.
    group: usize,
    latency: u32,
    /// Whether the VCs of a port share its buffer, so that all their marks change together -- constant.
    shared: bool,
    own: Vec<u16>,
    heard: Vec<u16>,
    /// Changes on their way: index of the mark and its new bits.
    under_way: Wheel<(u32, u16)>,
    /// Routers whose marks are to be computed anew, each once; only kept where marks travel.
    changed: Vec<RegionRouter>,
    /// VCs whose marks are to be computed anew in each router, a bit each.
    changed_vcs: By<RegionRouter, u16>,
    /// VCs that some output of each router is marked in, a bit each.
    marked: By<RegionRouter, u16>,
}

/// The marks of a router in a snapshot.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct MarksState {
    /// The marks of the router, by global port.
    own: Vec<u16>,
    heard: Vec<u16>,
    /// Changes on their way: when they are heard, global port and new bits.
    under_way: Vec<(u32, u16, u16)>,
    changed_vcs: u16,
    marked: u16,
}

impl MarksState {
    /// Puts changes on their way in an order that does not depend on the cut. Of several changes of one mark in a cycle the last
    /// one counts.
    fn sort_under_way(&mut self) {
        self.under_way.sort_by_key(|&(at, port, _)| (at, port));
    }
}

impl Marks {
    /// Marks none of which is set, `None` if nobody reads them.
    pub fn new(system: &System, sensors: &Sensors, span: &Span) -> Option<Self> {
        let rule = sensors.saturation.clone()?;
        let between = system.topology.group_classes()?.between;
        let (classes, class) = (&system.network.layout.class, between + 1);
        let first = classes.iter().position(|&c| c == class)?;
        let latency = system.latency_in_groups()?;
        let routers = span.routers;
        let ports = first..classes.len();
        let plugged = |number: RegionRouter| {
            let is_plugged = |&port: &usize| system.network.link(span.router(number), port).peer.is_some();
            let index = |port: usize| (number.index() * ports.len() + port - first) as u32;
            let pair = |port: usize| Pair::at(system.network.layout.pair_base[port].into());
            let link = |port: usize| (pair(port), index(port));
            ports.clone().filter(is_plugged).map(link).collect()
        };
        Some(Self {
            threshold: rule.threshold * f64::from(system.longest_packet()),
            rule,
            class,
            capacity: system.network.classes.of(PortClass::Link(between)).buffer,
            links: (0..routers).map(RegionRouter::at).map(plugged).collect(),
            group: (system.network.routers / system.topology.groups()) as usize,
            latency,
            shared: system.cioq().damq.is_some(),
            own: vec![0; routers * ports.len()],
            heard: vec![0; routers * ports.len()],
            ports,
            under_way: Wheel::new(latency),
            changed: Vec::new(),
            changed_vcs: By::all(0, routers),
            marked: By::all(0, routers),
        })
    }

    /// The state of every router.
    pub fn save(&self, now: u32) -> Vec<MarksState> {
        // The routers to look at are those with VCs to look at.
        let Self {
            rule: _,
            threshold: _,
            class: _,
            capacity: _,
            ports,
            links: _,
            group: _,
            latency: _,
            shared: _,
            own,
            heard,
            under_way,
            changed: _,
            changed_vcs,
            marked,
        } = self;
        let by_port =
            |bits: &[u16], number: RegionRouter| row(bits, number.index() * ports.len(), ports.len());
        let of_router = |number: RegionRouter| MarksState {
            own: by_port(own, number),
            heard: by_port(heard, number),
            under_way: Vec::new(),
            changed_vcs: changed_vcs[number],
            marked: marked[number],
        };
        let mut states: Vec<MarksState> = changed_vcs.ids().map(of_router).collect();
        for (at, &(index, bits)) in under_way.pending(now) {
            let (router, port) = (index as usize / ports.len(), index as usize % ports.len());
            states[router].under_way.push((at, port as u16, bits));
        }
        states.iter_mut().for_each(MarksState::sort_under_way);
        states
    }

    /// Goes on with the state of a router.
    pub fn load(&mut self, router: RegionRouter, state: &MarksState) {
        let MarksState { own, heard, under_way, changed_vcs, marked } = state;
        let first = router.index() * self.ports.len();
        put_row(&mut self.own, first, own);
        put_row(&mut self.heard, first, heard);
        for &(at, port, bits) in under_way {
            self.under_way.push(at, ((first + port as usize) as u32, bits));
        }
        (self.changed_vcs[router], self.marked[router]) = (*changed_vcs, *marked);
        if self.rule.exchanged && *changed_vcs != 0 {
            self.changed.push(router);
        }
    }

    /// An output VC of `router` has another occupancy than before: its marks are to be computed anew.
    #[inline]
    pub fn touch(&mut self, router: RegionRouter, (class, vc): (PortClassCode, usize)) {
        if class != self.class {
            return;
        }
        let vcs = if self.shared { self.rule.read } else { self.rule.read & 1 << vc };
        if vcs != 0 {
            if self.rule.exchanged && self.changed_vcs[router] == 0 {
                self.changed.push(router);
            }
            self.changed_vcs[router] |= vcs;
        }
    }

    /// The first cycle of `now..end` in which a mark may change by itself, else `end`.
    pub fn next_event(&self, now: u32, end: u32) -> u32 {
        if self.changed.is_empty() { self.under_way.next_before(now, end) } else { now }
    }

    /// Whether the own marks of `router`, which do not travel, are not up to date.
    #[inline]
    pub fn is_stale(&self, router: RegionRouter) -> bool {
        !self.rule.exchanged && self.changed_vcs[router] != 0
    }

    /// Whether a global output VC is marked, as `router` knows it: an output VC of its own, or of the router at `position` of its
    /// group.
    #[inline]
    pub fn saturated(&self, router: RegionRouter, position: Option<u32>, (port, vc): (usize, u8)) -> bool {
        let router = router.index();
        let other = position.map_or(router, |p| router / self.group * self.group + p as usize);
        let known = if other == router { &self.own } else { &self.heard };
        known[other * self.ports.len() + port - self.ports.start] >> vc & 1 == 1
    }

    /// Sets the marks of `router`, given what its output VCs have outstanding. Returns whether any mark has changed.
    #[inline]
    fn update(&mut self, router: RegionRouter, load: impl Fn(Pair) -> u32, now: u32) -> bool {
        let vcs = self.rule.vcs as usize;
        let changed = std::mem::take(&mut self.changed_vcs[router]);
        match self.rule.sensing {
            Sensing::Vc => {
                let mut any = false;
                for vc in (0..vcs).filter(|vc| changed >> vc & 1 == 1) {
                    any |= self.compare(router, |first| load(first.up(vc)), (1.0, 1 << vc), now);
                }
                any
            }
            Sensing::Port => {
                let sum = |first: Pair| (0..vcs).map(|vc| load(first.up(vc))).sum();
                self.compare(router, sum, (vcs as f64, u16::MAX), now)
            }
        }
    }

    /// Sets the marks of the VCs `bits` of every global output whose load, in `vcs` VCs, exceeds the bound. `load` is by first
    /// pair. Returns whether any mark has changed.
    #[inline]
    fn compare(
        &mut self,
        router: RegionRouter,
        load: impl Fn(Pair) -> u32,
        (vcs, bits): (f64, u16),
        now: u32,
    ) -> bool {
        let links = &self.links[router];
        let (mut sum, mut most) = (0, 0);
        for &(first, _) in links {
            let load = load(first);
            sum += load;
            most = most.max(load);
        }
        let count = links.len() as f64;
        // Sums instead of means, so that no quotient is rounded and a tie is a tie.
        let bound = self.rule.factor * f64::from(sum) + self.threshold * (count * vcs);
        let none = f64::from(most) * count <= bound;
        if none && self.marked[router] & bits == 0 {
            return false;
        }
        let mut any = false;
        self.marked[router] = if none { self.marked[router] & !bits } else { self.marked[router] | bits };
        for &(first, index) in links {
            let own = &mut self.own[index as usize];
            let saturated = f64::from(load(first)) * count > bound;
            let after = if saturated { *own | bits } else { *own & !bits };
            if after != std::mem::replace(own, after) {
                any = true;
                if self.rule.exchanged {
                    self.under_way.push(now + self.latency, (index, after));
                }
            }
        }
        any
    }

    /// Brings the marks up to date at the beginning of cycle `now`, and wakes the heads that may read these marks, with their
    /// routers.
    pub fn refresh<const W: usize>(
        &mut self,
        (routers, minimal): (&By<RegionRouter, Router<W>>, &Minimal),
        (waiting, active): (&mut WaitingHeads<W>, &mut [u64]),
        now: u32,
    ) {
        let due = self.under_way.take(now);
        for &(index, bits) in &due {
            self.heard[index as usize] = bits;
            let first = index as usize / self.ports.len() / self.group * self.group;
            let slept =
                (first..first + self.group).map(RegionRouter::at).filter(|&router| waiting.wake_all(router));
            slept.for_each(|router| wake(active, router));
        }
        self.under_way.put_back(due);
        let mut changed = std::mem::take(&mut self.changed);
        for number in changed.drain(..) {
            if self.refresh_of((number, &routers[number]), minimal, waiting, now) {
                wake(active, number);
            }
        }
        self.changed = changed;
    }

    /// Brings the own marks of a router up to date, where marks do not travel, before anything is granted there.
    #[inline]
    pub fn refresh_own<const W: usize>(
        &mut self,
        (number, router): (RegionRouter, &Router<W>),
        minimal: &Minimal,
        waiting: &mut WaitingHeads<W>,
        now: u32,
    ) {
        if self.is_stale(number) && waiting.has_outbound(number) {
            self.refresh_of((number, router), minimal, waiting, now);
        }
    }

    /// Brings the own marks of a router up to date. Returns whether a head is awake now that slept.
    fn refresh_of<const W: usize>(
        &mut self,
        (number, router): (RegionRouter, &Router<W>),
        minimal: &Minimal,
        waiting: &mut WaitingHeads<W>,
        now: u32,
    ) -> bool {
        let capacity = self.capacity;
        let changed = match self.rule.packets {
            Packets::All => self.update(number, |pair| capacity - router.credits[pair], now),
            Packets::Minimal => self.update(number, |pair| minimal[number.pair::<W>(pair)], now),
        };
        changed && waiting.wake_own(number, self.ports.clone())
    }
}
