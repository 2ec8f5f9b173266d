//! Bursts that all nodes of a job begin together: see [`hopsim_traffic::process::synchronised_bursts`].

use crate::jobs::JobPlan;
use crate::kernel::by::By;
use crate::kernel::ids::{Id as _, RegionNode};
use crate::system::System;
use serde::{Deserialize, Serialize};

/// The present burst of a job.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Burst {
    /// The first cycle of the burst.
    start: u32,
    /// First cycle in which all packets of the burst counted so far have been consumed.
    end: u32,
    /// Packets of the burst that have not been consumed.
    left: u64,
}

/// The bursts of all jobs. All of this is state.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Bursts {
    /// The present burst of each job; stays empty for jobs without bursts.
    present: Vec<Burst>,
    /// Packets of the burst that a node has still to send, by node; empty without bursts.
    left: By<RegionNode, u32>,
}

/// The nodes of a job that send. Networks with jobs whose bursts begin together are one region, in which nodes have their own
/// numbers.
pub fn senders(job: &JobPlan) -> impl Iterator<Item = RegionNode> {
    job.nodes().iter().filter(|&&node| job.sends(node)).map(|&node| RegionNode::at(node as usize))
}

impl Bursts {
    /// The bursts of a system: the first burst of every job that has any begins with the job.
    pub fn new(system: &System) -> Self {
        let any = system.jobs.iter().any(|job| job.synchronised().is_some());
        let mut bursts = Self {
            present: vec![Burst::default(); system.jobs.len()],
            left: By::all(0, if any { system.network.nodes as usize } else { 0 }),
        };
        for (index, job) in system.jobs.iter().enumerate() {
            bursts.fill(index, job);
        }
        bursts
    }

    fn fill(&mut self, index: usize, job: &JobPlan) {
        let Some(packets) = job.synchronised() else { return };
        self.present[index].start = self.present[index].start.max(job.traffic().map_or(0, |job| job.start));
        for node in senders(job) {
            self.left[node] = packets;
            self.present[index].left += u64::from(packets);
        }
    }

    /// A packet of job `index` will have been consumed at cycle `end`. After the last packet of a burst the
    /// next burst begins; returns the first and last cycle of the burst that is over.
    pub fn consume(&mut self, index: usize, job: &JobPlan, end: u32) -> Option<(u32, u32)> {
        let burst = &mut self.present[index];
        if burst.left == 0 {
            return None;
        }
        burst.left -= 1;
        burst.end = burst.end.max(end);
        if burst.left > 0 {
            return None;
        }
        let Burst { start, end, .. } = *burst;
        *burst = Burst { start: end, end, left: 0 };
        self.fill(index, job);
        Some((start, end))
    }

    /// A node sends a packet of its burst. Returns whether there are more.
    pub fn send(&mut self, node: RegionNode) -> bool {
        self.left[node] -= 1;
        self.left[node] > 0
    }
}
