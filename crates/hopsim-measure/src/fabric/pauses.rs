//! How often links are paused, and for how long.

use super::links::in_window;
use hopsim_experiment::plan::FabricPlan;
use hopsim_experiment::plan::fabric::used::Place;
use hopsim_infiniband::fabric::{FlowControl, NONE};
use hopsim_infiniband::time::Ticks;

/// Pauses of all links and VLs together.
#[derive(Debug)]
pub struct Pauses {
    /// Beginning of the window.
    warmup: Ticks,
    lanes: usize,
    /// Since when each is paused that is, by port · VLs + VL.
    since: Vec<Option<Ticks>>,
    /// Links and VLs, those of both directions counted apart.
    all: u64,
    /// Pauses that began in the window.
    pub begun: u64,
    /// Time in the window in which links were paused, added up over links and VLs.
    paused: Ticks,
}

impl Pauses {
    /// No link is paused yet, if links can be.
    pub fn new(plan: &FabricPlan) -> Option<Self> {
        let FlowControl::Pfc(_) = plan.fabric.flow_control else { return None };
        let lanes = usize::from(plan.fabric.lanes.count);
        let plugged = plan.fabric.ports.iter().filter(|port| port.peer != NONE).count();
        Some(Self {
            warmup: plan.span.warmup,
            lanes,
            since: vec![None; plan.fabric.ports.len() * lanes],
            all: (plugged * lanes) as u64,
            begun: 0,
            paused: 0,
        })
    }

    /// A link begins to be paused in a VL, or ceases to be.
    pub fn pauses(&mut self, at: Ticks, Place { port, lane }: Place, is_paused: bool) {
        let since = &mut self.since[port as usize * self.lanes + usize::from(lane)];
        if let Some(since) = since.take() {
            self.paused += in_window(self.warmup, since, at);
        }
        if is_paused {
            *since = Some(at);
            self.begun += u64::from(at >= self.warmup);
        }
    }

    /// The run ends.
    pub fn end(&mut self, at: Ticks) {
        let open = self.since.iter().flatten().map(|&since| in_window(self.warmup, since, at));
        self.paused += open.sum::<Ticks>();
    }

    /// Share of so long a window in which links were paused: the mean over links and VLs \[0 … 1\].
    pub fn fraction(&self, window: Ticks) -> f64 {
        self.paused as f64 / self.all as f64 / window as f64
    }
}
