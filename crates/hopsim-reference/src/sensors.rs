//! What routers know of their heads and of each other's links: counted anew in every cycle.

use crate::simulator::Simulator;
use crate::state::parts::{Output, Queued, Router};
use crate::state::sensors::{Marks, Saturation};
use hopsim_network::topology::{GLOBAL, LOCAL, PortClass};
use hopsim_routing::view::{Exchange, Packets, Sensing};
use std::ops::Range;

impl Simulator<'_> {
    /// Brings to the present cycle what routers know.
    pub(crate) fn sense(&mut self) {
        for router in 0..self.routers.len() {
            self.look_behind_outputs(router);
            if self.sensors.contention {
                self.count_heads(router);
            }
            if let Some(exchange) = self.sensors.exchange {
                self.exchange_counts(router, exchange);
            }
            if let Some(rule) = self.sensors.saturation.clone() {
                self.mark(router, &rule);
            }
        }
    }

    /// Counts what is outstanding behind the outputs of a router.
    fn look_behind_outputs(&mut self, router: usize) {
        let Router { outputs, knowledge, .. } = &mut self.routers[router];
        for (output, outstanding) in outputs.iter().zip(&mut knowledge.outstanding) {
            if let PortClass::Link(class) = output.class {
                let vcs = usize::from(self.rules.vcs.used[usize::from(class)]);
                *outstanding = (0..vcs).map(|vc| output.reading(vc)).sum();
            }
        }
    }

    /// The routers of the group of `router`.
    pub(crate) fn group_of(&self, router: usize) -> Range<usize> {
        let size = self.routers.len() / self.plan.system.topology.groups() as usize;
        let first = router / size * size;
        first..first + size
    }

    /// Counts the heads of a router. Every input VC counts for one packet at most: the one that is leaving, otherwise its head.
    fn count_heads(&mut self, router: usize) {
        let knowledge = &mut self.routers[router].knowledge;
        if let Some(alpha) = self.sensors.alpha {
            for (filtered, &count) in knowledge.filtered.iter_mut().zip(&knowledge.contention) {
                *filtered = alpha * *filtered + (1.0 - alpha) * f64::from(count);
            }
        }
        let mut aims = Vec::new();
        for (port, input) in self.routers[router].inputs.iter().enumerate() {
            aims.extend(input.leaving().filter_map(|t| t.aim));
            let heads = (0..input.vcs.len()).filter(|&vc| self.takes_part((router, port, vc)));
            aims.extend(heads.map(|vc| self.aim(router, port, vc)));
        }
        let knowledge = &mut self.routers[router].knowledge;
        knowledge.contention.fill(0);
        knowledge.groups.fill(0);
        for aim in aims {
            knowledge.contention[aim.port] += 1;
            aim.group.iter().for_each(|&group| knowledge.groups[group] += 1);
        }
    }

    /// Tells the group of a router its counts by group, if it is time.
    fn exchange_counts(&mut self, router: usize, exchange: Exchange) {
        let latency = self.plan.system.network.classes.of(PortClass::Link(LOCAL)).latency;
        let knowledge = &mut self.routers[router].knowledge;
        if self.now.is_multiple_of(exchange.period) {
            knowledge.messages.push(self.now + latency, knowledge.groups.clone());
            if exchange.message_length > 0 {
                self.write_on_local_links(router, exchange.message_length);
            }
        }
        let knowledge = &mut self.routers[router].knowledge;
        while let Some(counts) = knowledge.messages.pop_due(self.now) {
            knowledge.told = counts;
        }
    }

    /// Lets a message of `length` phits join each local output queue.
    fn write_on_local_links(&mut self, router: usize, length: u32) {
        let ready = self.now;
        for output in &mut self.routers[router].outputs {
            if output.class == PortClass::Link(LOCAL) {
                let (pace, latency) = (output.pace, 0);
                output.queue.push_back(Queued {
                    packet: None,
                    length,
                    ready,
                    vc: 0,
                    phits: length,
                    sent: 0,
                    pace,
                    latency,
                });
            }
        }
    }

    /// Marks the saturated global outputs of a router and tells its group.
    fn mark(&mut self, router: usize, rule: &Saturation) {
        let latency = self.plan.system.network.classes.of(PortClass::Link(LOCAL)).latency;
        let marks = self.saturated(&self.routers[router].outputs, rule);
        let knowledge = &mut self.routers[router].knowledge;
        if rule.exchanged {
            knowledge.mark_messages.push(self.now + latency, marks.clone());
        }
        knowledge.marks = marks;
        while let Some(marks) = knowledge.mark_messages.pop_due(self.now) {
            knowledge.told_marks = marks;
        }
    }

    /// The saturated ones among the outputs of a router.
    fn saturated(&self, outputs: &[Output], rule: &Saturation) -> Marks {
        let longest = self.plan.system.longest_packet();
        // load > factor · mean + threshold, times the number of loads: no quotient to round.
        let exceeds = |load: u32, links: f64, sum: u32, loads: f64| {
            f64::from(load) * links
                > rule.factor * f64::from(sum) + rule.threshold * f64::from(longest) * loads
        };
        let is_global = |output: &&Output| output.class == PortClass::Link(GLOBAL) && output.is_link();
        let links: Vec<&Output> = outputs.iter().filter(is_global).collect();
        let mark = |output: &Output, vc: u8| match rule.sensing {
            Sensing::Vc => {
                let sum: u32 = links.iter().map(|link| load(link, vc, rule)).sum();
                exceeds(load(output, vc, rule), links.len() as f64, sum, links.len() as f64)
            }
            Sensing::Port => {
                let port = |link: &Output| (0..rule.vcs).map(|vc| load(link, vc, rule)).sum::<u32>();
                let sum: u32 = links.iter().map(|&link| port(link)).sum();
                let count = links.len() as f64 * f64::from(rule.vcs);
                exceeds(port(output), links.len() as f64, sum, count)
            }
        };
        let vcs = |output: &Output| if is_global(&output) { 0..rule.vcs } else { 0..0 };
        outputs.iter().map(|output| vcs(output).filter(|&vc| mark(output, vc)).collect()).collect()
    }
}

/// The phits that count as load of an output VC.
fn load(output: &Output, vc: u8, rule: &Saturation) -> u32 {
    match rule.packets {
        Packets::All => output.taken(vc as usize),
        Packets::Minimal => output.used_minimally(vc as usize),
    }
}
