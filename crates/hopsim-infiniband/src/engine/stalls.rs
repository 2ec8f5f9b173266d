//! Ports that are stalled for credits: their links are idle, and nothing but credits is missing.

use super::Simulation;
use crate::observer::Observer;
use crate::workload::Workload;
use hopsim_memory::filled;

/// Which ports are stalled, if anybody asks.
#[derive(Clone, Debug)]
pub struct Stalls {
    /// Whether a port is stalled in a VL, by port · VLs + VL; empty if nobody asks.
    stalled: Vec<bool>,
}

impl Stalls {
    /// No stalls, of so many ports and VLs.
    pub fn new(is_asked: bool, slots: usize) -> Self {
        Self { stalled: filled(false, if is_asked { slots } else { 0 }) }
    }

    #[inline]
    fn is_asked(&self) -> bool {
        !self.stalled.is_empty()
    }
}

impl<O: Observer, W: Workload> Simulation<'_, O, W> {
    /// An output has arbitrated.
    #[inline]
    pub(super) fn look_for_stalls_of_output(&mut self, output: u32) {
        if self.stalls.is_asked() {
            self.tell_stalls_of_output(output);
        }
    }

    /// A host has sent what it could.
    #[inline]
    pub(super) fn look_for_stalls_of_host(&mut self, host: u32) {
        if self.stalls.is_asked() {
            self.tell_stalls_of_host(host);
        }
    }

    // Apart from the rest of the engine, which is faster without it.
    #[cold]
    fn tell_stalls_of_output(&mut self, output: u32) {
        for lane in 0..self.fabric.lanes.count {
            self.set_stalled(output, lane, self.is_output_stalled(output, lane));
        }
    }

    #[cold]
    fn tell_stalls_of_host(&mut self, host: u32) {
        for lane in 0..self.fabric.lanes.count {
            self.set_stalled(host, lane, self.is_host_stalled(host, lane));
        }
        // A flow that ends waits no more.
        if let Some(end) = self.first_end_of_stalled(host) {
            self.wake_host(host, end);
        }
    }

    fn set_stalled(&mut self, port: u32, lane: u8, is_stalled: bool) {
        let slot = self.slot(port, lane);
        if self.stalls.stalled[slot] != is_stalled {
            self.stalls.stalled[slot] = is_stalled;
            self.observer.stalled(self.now, port, lane, is_stalled);
        }
    }
}
