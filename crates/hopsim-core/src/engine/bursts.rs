//! Bursts that all nodes of a job begin together: see [`crate::traffic::process::synchronised_bursts`].

use super::kernel::Kernel;
use super::mode::Mode;
use super::nic::Nodes;
use crate::plan::{JobPlan, Plan};

/// The present burst of a job.
#[derive(Clone, Copy, Debug, Default)]
struct Burst {
    /// Its first cycle.
    start: u32,
    /// First cycle in which all packets counted so far have been consumed.
    end: u32,
    /// Packets that have not been consumed.
    left: u64,
}

/// The bursts of all jobs.
pub struct Bursts {
    /// By job; stays empty for jobs without.
    present: Vec<Burst>,
    /// Packets of the burst that a node has still to send, by node; empty without bursts.
    left: Vec<u32>,
}

/// The nodes of a job that send.
fn senders(job: &JobPlan) -> impl Iterator<Item = usize> {
    job.nodes.iter().filter(|&&node| job.sends(node)).map(|&node| node as usize)
}

impl Bursts {
    /// The first burst of every job that has them begins at cycle 0.
    pub fn new(plan: &Plan) -> Self {
        let any = plan.jobs.iter().any(|job| job.process.synchronised().is_some());
        let mut bursts = Self {
            present: vec![Burst::default(); plan.jobs.len()],
            left: vec![0; if any { plan.network.nodes as usize } else { 0 }],
        };
        for (index, job) in plan.jobs.iter().enumerate() {
            bursts.fill(index, job);
        }
        bursts
    }

    fn fill(&mut self, index: usize, job: &JobPlan) {
        let Some(packets) = job.process.synchronised() else { return };
        for node in senders(job) {
            self.left[node] = packets;
            self.present[index].left += u64::from(packets);
        }
    }

    /// A node sends a packet of its burst. Whether there are more.
    pub fn send(&mut self, node: usize) -> bool {
        self.left[node] -= 1;
        self.left[node] > 0
    }
}

impl Nodes {
    /// A packet of job `index` will have been consumed at cycle `end`; after the last one of a burst the next begins.
    pub fn finish_in_burst<const W: usize, M: Mode>(
        &mut self,
        kernel: &mut Kernel<'_, W, M>,
        index: usize,
        end: u32,
    ) {
        let burst = &mut self.bursts.present[index];
        if burst.left == 0 {
            return;
        }
        burst.left -= 1;
        burst.end = burst.end.max(end);
        if burst.left > 0 {
            return;
        }
        let Burst { start, end, .. } = *burst;
        kernel.worker.recorder.burst(index, (start, end));
        *burst = Burst { start: end, end, left: 0 };
        let job = &kernel.shared.plan.jobs[index];
        self.bursts.fill(index, job);
        for node in senders(job) {
            self.book(node, end);
        }
    }
}
