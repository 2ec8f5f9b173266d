//! Sources beyond a Bernoulli process that never changes: bursts, changes of pattern and load.

use crate::jobs::{JobPlan, TrafficPlan};
use crate::system::System;
use hopsim_network::network::NONE;
use hopsim_traffic::pattern::Pattern;
use hopsim_traffic::process::Process;
use serde::{Deserialize, Serialize};

/// What a node remembers of its traffic besides its generator.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TrafficSource {
    /// Destination of the present burst, or of the packet that waits for room.
    pub(super) destination: u32,
    /// Whether the packet that is booked has a destination of its own, which is not drawn yet. So it is with
    /// the first packet of a burst, and with every packet of a process without bursts, unless that packet
    /// waits for room: its destination is drawn.
    pub(super) needs_destination: bool,
    /// The first cycle in which the node stands still for want of room; [`NONE`]: it does not.
    pub(super) stands_since: u32,
}

impl TrafficSource {
    /// The source of a node before its first packet.
    pub const NEW: Self = Self { destination: NONE, needs_destination: true, stands_since: NONE };
}

/// Which traffic is in force.
pub struct Changes {
    /// Changes so far, by job.
    pub(super) done: Vec<usize>,
    /// Cycle of the next change of any job.
    pub(super) next_at: u32,
}

impl Changes {
    /// The changes as they are after all changes before cycle `now`.
    pub fn before(system: &System, now: u32) -> Self {
        let before = |job: &JobPlan| job.changes().iter().take_while(|phase| phase.from < now).count();
        let mut changes = Self { done: system.jobs.iter().map(before).collect(), next_at: 0 };
        changes.next_at = changes.next(system);
        changes
    }

    pub(super) fn next(&self, system: &System) -> u32 {
        let next = system.jobs.iter().zip(&self.done).filter_map(|(job, &done)| job.changes().get(done));
        next.map(|phase| phase.from).min().unwrap_or(u32::MAX)
    }

    /// Pattern and process of a node of a job.
    #[expect(clippy::inline_always, reason = "per packet; measured")]
    #[inline(always)]
    pub fn present<'p>(&self, job: &'p TrafficPlan, index: usize, node: u32) -> (&'p Pattern, &'p Process) {
        match self.done[index] {
            0 => (&job.pattern, job.process_of(node)),
            done if !job.processes.is_empty() => (&job.changes[done - 1].pattern, job.process_of(node)),
            done => (&job.changes[done - 1].pattern, &job.changes[done - 1].process),
        }
    }
}
