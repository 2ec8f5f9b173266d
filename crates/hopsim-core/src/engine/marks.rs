//! Marks of saturated global links, and what routers have heard of the marks of their group (piggyback: Jiang et al.,
//! ISCA 2009; Fuentes' thesis, 2017, §1.4.1.3).
//!
//! A mark is of the beginning of a cycle. It is computed anew only for routers of whose global outputs one has
//! changed, and only changes travel.

use super::context::Context;
use super::mode::Mode;
use super::routers::{Router, global};
use super::wheel::Wheel;
use crate::network::PortClassCode;
use crate::plan::Plan;
use crate::routing::view::{Packets, Saturation, Sensing, Sensors};
use crate::topology::GLOBAL;
use std::ops::Range;

/// The code of global ports.
const GLOBAL_CODE: PortClassCode = GLOBAL + 1;

/// The marks of all routers: a bit per VC, by router · global ports + number of the port.
pub struct Marks {
    rule: Saturation,
    /// Threshold \[phits\] -- constant.
    threshold: f64,
    /// Global ports of a router -- constant.
    ports: Range<usize>,
    /// Routers per group -- constant.
    group: usize,
    latency: u32,
    own: Vec<u16>,
    heard: Vec<u16>,
    /// Changes on their way: index and new bits.
    under_way: Wheel<(u32, u16)>,
    /// Routers to look at, each once.
    changed: Vec<u32>,
    is_changed: Vec<bool>,
}

impl Marks {
    /// No marks, `None` if nobody reads them.
    pub fn new(plan: &Plan, sensors: &Sensors) -> Option<Self> {
        let rule = sensors.saturation.clone()?;
        let classes = &plan.network.layout.class;
        let first = classes.iter().position(|&c| c == GLOBAL_CODE)?;
        let latency = plan.network.classes.links[0].latency;
        let routers = plan.network.routers as usize;
        let ports = first..classes.len();
        Some(Self {
            threshold: rule.threshold * f64::from(plan.longest_packet()),
            rule,
            group: routers / plan.topology.groups() as usize,
            latency,
            own: vec![0; routers * ports.len()],
            heard: vec![0; routers * ports.len()],
            ports,
            under_way: Wheel::new(latency),
            changed: Vec::new(),
            is_changed: vec![false; routers],
        })
    }

    /// An output of `router` has another occupancy than before.
    #[inline]
    pub fn touch(&mut self, router: usize, class: PortClassCode) {
        if class == GLOBAL_CODE && !self.is_changed[router] {
            self.is_changed[router] = true;
            self.changed.push(router as u32);
        }
    }

    /// Whether a global output VC of the router at `position` of the group of `router` is marked, as `router` knows it.
    pub fn saturated(&self, router: usize, position: u32, (port, vc): (usize, u8)) -> bool {
        let other = router / self.group * self.group + position as usize;
        let known = if other == router { &self.own } else { &self.heard };
        known[other * self.ports.len() + port - self.ports.start] >> vc & 1 == 1
    }

    /// Sets the marks of `router` from what its global outputs have outstanding per VC, in `loads`, of which `links` are
    /// plugged in.
    fn set(&mut self, router: usize, (loads, links): (&[Vec<u32>], usize), now: u32) {
        let count = links as f64;
        let sum = |load: &[u32]| load.iter().sum::<u32>();
        let mean_vc = |vc: usize| loads.iter().map(|l| l[vc]).sum::<u32>() as f64 / count;
        let vcs = self.rule.vcs as usize;
        let mean_port = loads.iter().map(|l| sum(l)).sum::<u32>() as f64 / (count * vcs as f64);
        let bound = |mean: f64| self.rule.factor * mean + self.threshold;
        for (number, load) in loads.iter().enumerate() {
            let mut bits = 0;
            match self.rule.sensing {
                Sensing::Vc => {
                    for vc in 0..vcs {
                        bits |= u16::from(f64::from(load[vc]) > bound(mean_vc(vc))) << vc;
                    }
                }
                Sensing::Port => {
                    let marked = f64::from(sum(load)) / vcs as f64 > bound(mean_port);
                    bits = if marked { u16::MAX } else { 0 };
                }
            }
            let index = router * self.ports.len() + number;
            if self.own[index] != bits {
                self.own[index] = bits;
                if self.rule.exchanged {
                    self.under_way.push(now + self.latency, (index as u32, bits));
                }
            }
        }
    }
}

impl<const W: usize, M: Mode> Context<'_, W, M> {
    /// Brings the marks up to date at the beginning of a cycle.
    pub fn update_marks(&mut self, routers: &[Router<W>]) {
        let Some(mut marks) = self.marks.take() else { return };
        let due = marks.under_way.take(self.now);
        for &(index, bits) in &due {
            marks.heard[index as usize] = bits;
        }
        marks.under_way.put_back(self.now, due);
        let mut changed = std::mem::take(&mut marks.changed);
        let mut loads = Vec::new();
        for router in changed.drain(..) {
            marks.is_changed[router as usize] = false;
            let links = self.global_loads(&marks, &routers[router as usize], router, &mut loads);
            marks.set(router as usize, (&loads, links), self.now);
        }
        marks.changed = changed;
        self.marks = Some(marks);
    }

    /// What every global output has outstanding, per VC that counts: nothing where nothing is plugged in. Returns how
    /// many are.
    fn global_loads(&self, marks: &Marks, state: &Router<W>, router: u32, loads: &mut Vec<Vec<u32>>) -> usize {
        loads.clear();
        let mut links = 0;
        for port in marks.ports.clone() {
            if self.plan.network.link(router, port).peer.is_none() {
                loads.push(vec![0; marks.rule.vcs as usize]);
                continue;
            }
            links += 1;
            let base = self.tables.port(port).pair_base as usize;
            let load = |vc: usize| match marks.rule.packets {
                Packets::All => self.capacity(port) - state.pairs[base + vc].credits,
                Packets::Minimal => self.minimal[global::<W>(router, base + vc) as usize],
            };
            loads.push((0..marks.rule.vcs as usize).map(load).collect());
        }
        links
    }
}
