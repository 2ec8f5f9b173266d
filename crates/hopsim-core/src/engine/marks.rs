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

    /// Sets the marks of `router` from `loads`: what each of the global outputs `plugged` has outstanding, VC by VC.
    fn set(&mut self, router: usize, (plugged, loads): (&[usize], &[u32]), now: u32) {
        let (vcs, count) = (self.rule.vcs as usize, plugged.len() as f64);
        // Sums instead of means, so that no quotient is rounded and a tie is a tie.
        let bound = |sum: u32, of: f64| self.rule.factor * f64::from(sum) + self.threshold * of;
        let mut bits = [0u16; 256];
        match self.rule.sensing {
            Sensing::Vc => {
                for vc in 0..vcs {
                    let load = loads.iter().skip(vc).step_by(vcs);
                    let bound = bound(load.clone().sum(), count);
                    load.zip(&mut bits)
                        .for_each(|(&l, bits)| *bits |= u16::from(f64::from(l) * count > bound) << vc);
                }
            }
            Sensing::Port => {
                let bound = bound(loads.iter().sum(), count * vcs as f64);
                for (load, bits) in loads.chunks(vcs).zip(&mut bits) {
                    let sum = f64::from(load.iter().sum::<u32>());
                    *bits = if sum * count > bound { u16::MAX } else { 0 };
                }
            }
        }
        for (&port, bits) in plugged.iter().zip(bits) {
            let index = router * self.ports.len() + port - self.ports.start;
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
        let (mut plugged, mut loads) = (Vec::new(), Vec::new());
        for router in changed.drain(..) {
            marks.is_changed[router as usize] = false;
            plugged.clear();
            loads.clear();
            self.global_loads(&marks, &routers[router as usize], router, (&mut plugged, &mut loads));
            marks.set(router as usize, (&plugged, &loads), self.now);
        }
        marks.changed = changed;
        self.marks = Some(marks);
    }

    /// The plugged global outputs and what each has outstanding in the VCs that count.
    fn global_loads(
        &self,
        marks: &Marks,
        state: &Router<W>,
        router: u32,
        (plugged, loads): (&mut Vec<usize>, &mut Vec<u32>),
    ) {
        let capacity = self.capacity(marks.ports.start);
        for port in marks.ports.clone() {
            if !state.ports[port].plugged {
                continue;
            }
            plugged.push(port);
            let base = self.tables.port(port).pair_base as usize;
            for pair in base..base + marks.rule.vcs as usize {
                loads.push(match marks.rule.packets {
                    Packets::All => capacity - state.pairs[pair].credits,
                    Packets::Minimal => self.minimal[global::<W>(router, pair) as usize],
                });
            }
        }
    }
}
