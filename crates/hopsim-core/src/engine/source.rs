//! Sources beyond a Bernoulli process that never changes: bursts, changes of pattern and load, a limit of unanswered
//! requests.

use super::context::Context;
use super::mode::Mode;
use super::pool::Queue;
use crate::config::WhenFull;
use crate::network::NONE;
use crate::plan::{JobPlan, Plan};
use crate::traffic::pattern::Pattern;
use crate::traffic::process::Process;

/// What a node remembers besides its network interface.
#[derive(Clone, Debug)]
pub struct Source {
    /// Destination of the present burst, or of the packet that waits for room.
    destination: u32,
    /// Whether what is booked has a destination of its own, which is not drawn yet: the beginning of a burst, and always with
    /// a process that has none, unless a packet waits for room.
    begins: bool,
    /// Whether it stands still until its next packet would not be dropped.
    pub frozen: bool,
    /// Where the search for the shortest reply VC starts.
    pub reply_pointer: u8,
    /// Replies that wait for the wire.
    pub replies: Queue,
    /// Packets sent and not answered.
    pub unanswered: u32,
    /// Most of them -- constant.
    limit: u32,
}

impl Source {
    /// That of `node`, before its first packet.
    pub fn new(plan: &Plan, node: u32) -> Self {
        let job = plan.jobs.get(plan.job_of[node as usize] as usize);
        Self {
            destination: NONE,
            begins: true,
            frozen: false,
            reply_pointer: plan.network.classes.first_reply_vc(),
            replies: Queue::EMPTY,
            unanswered: 0,
            limit: job.and_then(|job| job.outstanding).unwrap_or(u32::MAX),
        }
    }

    /// Whether it may send no further request.
    #[inline]
    pub fn is_exhausted(&self) -> bool {
        self.unanswered >= self.limit
    }
}

/// Which traffic is in force.
pub struct Changes {
    /// Changes so far, by job.
    done: Vec<usize>,
    /// Cycle of the next change of any job.
    next_at: u32,
}

impl Changes {
    /// Before the first change.
    pub fn new(plan: &Plan) -> Self {
        let mut changes = Self { done: vec![0; plan.jobs.len()], next_at: 0 };
        changes.next_at = changes.next(plan);
        changes
    }

    fn next(&self, plan: &Plan) -> u32 {
        let next = plan.jobs.iter().zip(&self.done).filter_map(|(job, &done)| job.changes.get(done));
        next.map(|phase| phase.from).min().unwrap_or(u32::MAX)
    }

    /// Pattern and process of a node of a job.
    #[expect(clippy::inline_always, reason = "per packet; measured")]
    #[inline(always)]
    pub fn present<'p>(&self, job: &'p JobPlan, index: usize, node: u32) -> (&'p Pattern, &'p Process) {
        match self.done[index] {
            0 => (&job.pattern, job.process_of(node)),
            done if !job.processes.is_empty() => (&job.changes[done - 1].pattern, job.process_of(node)),
            done => (&job.changes[done - 1].pattern, &job.changes[done - 1].process),
        }
    }
}

impl<const W: usize, M: Mode> Context<'_, W, M> {
    /// Makes the changes of this cycle.
    pub fn change_traffic(&mut self) {
        if self.now != self.nics.changes.next_at {
            return;
        }
        self.catch_up_before_change();
        for (index, job) in self.shared.plan.jobs.iter().enumerate() {
            let done = &mut self.nics.changes.done[index];
            let Some(phase) = job.changes.get(*done).filter(|phase| phase.from == self.now) else { continue };
            *done += 1;
            if phase.new_load {
                self.redraw(index, &phase.process);
            }
        }
        self.nics.rebook(self.now);
        self.nics.changes.next_at = self.nics.changes.next(self.shared.plan);
    }

    /// All packets that are due before this cycle are those of the traffic before it.
    fn catch_up_before_change(&mut self) {
        let now = self.now;
        self.now = now.saturating_sub(1);
        for node in 0..self.nics.all.len() {
            if self.nics.all[node].lags {
                self.catch_up(node, u32::MAX);
            }
        }
        self.now = now;
    }

    /// Nodes of a job that are not in a burst draw anew when they generate next, from this cycle on.
    fn redraw(&mut self, job: usize, process: &Process) {
        for (nic, source) in self.nics.all.iter_mut().zip(&self.nics.sources) {
            if nic.job as usize == job && source.begins {
                nic.next_at = (process.begin(&mut nic.process) - 1).saturating_add(self.now);
            }
        }
    }

    /// The booked cycle of `node` has come.
    pub fn generate_in_phase(&mut self, node: usize) {
        let (name, nic) = (self.span.node(node), &mut self.nics.all[node]);
        let index = nic.job as usize;
        let (pattern, process) = self.nics.changes.present(&self.shared.plan.jobs[index], index, name);
        if process.waits() {
            return self.generate_in_burst(node, pattern, process);
        }
        if self.nics.sources[node].begins && pattern.is_silent(name) {
            // Another pattern of the run has a destination for it.
            let gap = process.step(&mut nic.process).gap;
            return self.nics.book(node, self.now.saturating_add(gap));
        }
        let synchronised = process.synchronised().is_some();
        if synchronised || self.shared.plan.nic.when_full == WhenFull::Wait {
            return self.generate_when_room(node, pattern, process);
        }
        // Replies take their numbers among the packets of a node.
        if !self.shared.plan.jobs[index].request_reply() && self.lag(node) {
            return;
        }
        let nic = &mut self.nics.all[node];
        let destination = pattern.destination(name, &mut nic.pattern);
        let next_at = self.now.saturating_add(process.step(&mut nic.process).gap);
        self.nics.book(node, next_at);
        self.submit(node, destination);
    }

    /// The node generates its packet if that would not be dropped, and else stands still until it is woken.
    fn generate_when_room(&mut self, node: usize, pattern: &Pattern, process: &Process) {
        if self.nics.sources[node].begins {
            let destination = pattern.destination(self.span.node(node), &mut self.nics.all[node].pattern);
            let source = &mut self.nics.sources[node];
            (source.destination, source.begins) = (destination, false);
        }
        if self.freeze(node) {
            return;
        }
        self.nics.sources[node].begins = true;
        let gap = process.step(&mut self.nics.all[node].process).gap;
        if process.synchronised().is_none() || self.bursts.send(node) {
            self.nics.book(node, self.now.saturating_add(gap));
        }
        self.submit(node, self.nics.sources[node].destination);
    }

    /// One cycle of a process that stands still rather than lose packets: what follows the last packet is decided in
    /// the first cycle after it in which a packet would not be dropped.
    fn generate_in_burst(&mut self, node: usize, pattern: &Pattern, process: &Process) {
        if !self.nics.sources[node].begins {
            if self.freeze(node) {
                return;
            }
            let step = process.step(&mut self.nics.all[node].process);
            self.nics.sources[node].begins = step.fresh;
            if step.gap > 1 {
                return self.nics.book(node, (step.gap - 1).saturating_add(self.now));
            }
        }
        if self.nics.sources[node].begins {
            let destination = pattern.destination(self.span.node(node), &mut self.nics.all[node].pattern);
            let source = &mut self.nics.sources[node];
            (source.destination, source.begins) = (destination, false);
            if self.freeze(node) {
                return;
            }
        }
        self.nics.book(node, self.now + 1);
        self.submit(node, self.nics.sources[node].destination);
    }

    /// Whether the next packet of the burst would be dropped: then the node stands still until it is woken.
    fn freeze(&mut self, node: usize) -> bool {
        let destination = self.nics.sources[node].destination;
        let frozen = self.nics.would_drop::<M>(self.now, node, destination);
        self.nics.sources[node].frozen = frozen;
        frozen
    }

    /// Lets a node that stood still try again.
    #[inline]
    pub fn thaw(&mut self, node: usize) {
        if std::mem::take(&mut self.nics.sources[node].frozen) {
            self.generate_in_phase(node);
        }
    }
}
