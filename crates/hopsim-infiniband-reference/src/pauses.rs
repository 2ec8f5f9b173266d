//! Priority flow control: pause frames instead of credits.

use crate::Fact;
use crate::link::Pausing;
use crate::simulator::Reference;
use hopsim_infiniband::fabric::FlowControl;
use hopsim_infiniband::pfc::{FRAME, Pfc, QUANTUM};
use hopsim_infiniband::workload::Workload;

impl<W: Workload> Reference<W> {
    /// What is set for priority flow control, if there is any.
    fn pfc(&self) -> Option<&Pfc> {
        match &self.fabric.flow_control {
            FlowControl::Pfc(rules) => Some(rules),
            FlowControl::Credits { .. } => None,
        }
    }

    /// Whether so many blocks may be sent from a port in a VL, as far as the buffer at the other end goes.
    pub fn may_leave(&self, port: usize, lane: usize, blocks: u32) -> bool {
        match self.fabric.flow_control {
            FlowControl::Credits { .. } => self.links[port].credits[lane] >= blocks,
            FlowControl::Pfc(_) => self.pausing[port].paused[lane].is_none(),
        }
    }

    /// The buffer of a port for a VL holds more or less than before.
    pub fn buffer_has_changed(&mut self, port: usize, lane: usize) {
        let Some(rules) = self.pfc() else { return };
        let thresholds = rules.thresholds[port];
        let bytes = self.bytes_in_buffer(port, lane);
        let wanted = &mut self.pausing[port].wanted[lane];
        if *wanted {
            *wanted = bytes > u64::from(thresholds.resume);
        } else {
            *wanted = bytes >= u64::from(thresholds.pause);
        }
    }

    /// Frames that are due are there, and pauses that nobody has told again are over.
    pub fn frames_arrive(&mut self) {
        let Some(&Pfc { quanta, .. }) = self.pfc() else { return };
        for port in 0..self.links.len() {
            let Some(peer) = self.peer(port) else { continue };
            let now = self.now;
            let due: Vec<_> = self.pausing[peer].frames.extract_if(.., |(at, _)| *at == now).collect();
            let lasts = u64::from(quanta) * QUANTUM * self.fabric.ports[port].byte;
            let before: Vec<bool> = self.pausing[port].paused.iter().map(Option::is_some).collect();
            for (_, lanes) in due {
                for (paused, is_wanted) in self.pausing[port].paused.iter_mut().zip(lanes) {
                    *paused = is_wanted.then_some(now + lasts);
                }
            }
            for (lane, was_paused) in before.into_iter().enumerate() {
                let paused = self.pausing[port].paused[lane];
                assert!(paused.is_none_or(|until| now < until), "a pause of port {port} was not told again");
                let is_paused = paused.is_some();
                if is_paused != was_paused {
                    let fact = Fact::Paused { at: now, port: port as u32, lane: lane as u8, is_paused };
                    self.facts.push(fact);
                    self.look_for_congestion(port, lane);
                }
            }
        }
    }

    /// Where a link is free, a frame goes onto it if there is something to tell; packets come behind it.
    pub fn frames_leave(&mut self) {
        let Some(&Pfc { quanta, .. }) = self.pfc() else { return };
        for port in 0..self.links.len() {
            let carries_packet = if self.fabric.is_host(port as u32) {
                !self.is_link_free(port)
            } else {
                self.outputs[port].leaving.front().is_some_and(|front| front.onto_link.is_some())
            };
            let byte = self.fabric.ports[port].byte;
            let half = u64::from(quanta) * QUANTUM * byte / 2;
            let Pausing { wanted, last, link_free, .. } = &self.pausing[port];
            let told = |lane: usize| last.as_ref().is_some_and(|(_, lanes)| lanes[lane]);
            let is_news = wanted.iter().enumerate().any(|(lane, &is_wanted)| is_wanted != told(lane));
            let is_again =
                wanted.contains(&true) && last.as_ref().is_some_and(|(at, _)| self.now >= at + half);
            if carries_packet || self.now < *link_free || !(is_news || is_again) {
                continue;
            }
            let wanted = wanted.clone();
            let over = self.now + u64::from(FRAME) * byte;
            let arrives = over + self.fabric.ports[port].delay;
            let lanes = wanted.iter().rev().fold(0, |bits, &is_wanted| bits << 1 | u16::from(is_wanted));
            self.facts.push(Fact::Frame { at: self.now, port: port as u32, lanes });
            let state = &mut self.pausing[port];
            state.link_free = over;
            state.last = Some((self.now, wanted.clone()));
            state.frames.push((arrives, wanted));
        }
    }
}
