//! What nodes generate when traffic is more than a Bernoulli process that never changes.

use crate::config::WhenFull;
use crate::engine::kernel::Kernel;
use crate::engine::mode::Mode;
use crate::engine::node::synthetic::Synthetic;
use crate::traffic::pattern::Pattern;
use crate::traffic::process::Process;

impl Synthetic {
    /// Makes the changes of this cycle.
    pub fn change_traffic<M: Mode>(&mut self, kernel: &mut Kernel<'_, M>) {
        if kernel.now != self.changes.next_at {
            return;
        }
        self.catch_up_before_change(kernel);
        for (index, job) in kernel.constants.plan.jobs.iter().enumerate() {
            let done = &mut self.changes.done[index];
            let Some(phase) = job.changes.get(*done).filter(|phase| phase.from == kernel.now) else {
                continue;
            };
            *done += 1;
            if phase.new_load {
                self.redraw(kernel, index, &phase.process);
            }
        }
        self.rebook(kernel.now);
        self.changes.next_at = self.changes.next(kernel.constants.plan);
    }

    /// All packets that are due before this cycle are those of the traffic before it.
    fn catch_up_before_change<M: Mode>(&mut self, kernel: &mut Kernel<'_, M>) {
        let now = kernel.now;
        kernel.now = now.saturating_sub(1);
        for node in 0..self.all.len() {
            if self.all[node].lags {
                self.catch_up(kernel, node, u32::MAX);
            }
        }
        kernel.now = now;
    }

    /// Nodes of a job that are not in a burst draw anew when they generate next, from this cycle on.
    fn redraw<M: Mode>(&mut self, kernel: &mut Kernel<'_, M>, job: usize, process: &Process) {
        for (nic, source) in self.all.iter_mut().zip(&self.sources) {
            if nic.job as usize == job && source.begins {
                nic.next_at = (process.begin(&mut nic.process) - 1).saturating_add(kernel.now);
            }
        }
    }

    /// The booked cycle of `node` has come.
    pub fn generate_in_phase<M: Mode>(&mut self, kernel: &mut Kernel<'_, M>, node: usize) {
        let (name, nic) = (kernel.span.node(node), &mut self.all[node]);
        let index = nic.job as usize;
        let (pattern, process) = self.changes.present(&kernel.constants.plan.jobs[index], index, name);
        if process.waits() {
            return self.generate_in_burst(kernel, node, pattern, process);
        }
        if self.sources[node].begins && pattern.is_silent(name) {
            // Another pattern of the run has a destination for it.
            let gap = process.step(&mut nic.process).gap;
            return self.book(node, kernel.now.saturating_add(gap));
        }
        let synchronised = process.synchronised().is_some();
        if synchronised || kernel.constants.plan.nic.when_full == WhenFull::Wait {
            return self.generate_when_room(kernel, node, pattern, process);
        }
        // Replies take their numbers among the packets of a node.
        if !kernel.constants.plan.jobs[index].request_reply() && self.lag(node) {
            return;
        }
        let nic = &mut self.all[node];
        let destination = pattern.destination(name, &mut nic.pattern);
        let next_at = kernel.now.saturating_add(process.step(&mut nic.process).gap);
        self.book(node, next_at);
        self.submit(kernel, node, destination);
    }

    /// The node generates its packet if that would not be dropped, and else stands still until it is woken.
    fn generate_when_room<M: Mode>(
        &mut self,
        kernel: &mut Kernel<'_, M>,
        node: usize,
        pattern: &Pattern,
        process: &Process,
    ) {
        if self.sources[node].begins {
            let destination = pattern.destination(kernel.span.node(node), &mut self.all[node].pattern);
            let source = &mut self.sources[node];
            (source.destination, source.begins) = (destination, false);
        }
        if self.freeze(kernel, node) {
            return;
        }
        self.sources[node].begins = true;
        let gap = process.step(&mut self.all[node].process).gap;
        if process.synchronised().is_none() || self.bursts.send(node) {
            self.book(node, kernel.now.saturating_add(gap));
        }
        self.submit(kernel, node, self.sources[node].destination);
    }

    /// One cycle of a process that stands still rather than lose packets: what follows the last packet is decided in
    /// the first cycle after it in which a packet would not be dropped.
    fn generate_in_burst<M: Mode>(
        &mut self,
        kernel: &mut Kernel<'_, M>,
        node: usize,
        pattern: &Pattern,
        process: &Process,
    ) {
        if !self.sources[node].begins {
            if self.freeze(kernel, node) {
                return;
            }
            let step = process.step(&mut self.all[node].process);
            self.sources[node].begins = step.fresh;
            if step.gap > 1 {
                return self.book(node, (step.gap - 1).saturating_add(kernel.now));
            }
        }
        if self.sources[node].begins {
            let destination = pattern.destination(kernel.span.node(node), &mut self.all[node].pattern);
            let source = &mut self.sources[node];
            (source.destination, source.begins) = (destination, false);
            if self.freeze(kernel, node) {
                return;
            }
        }
        self.book(node, kernel.now + 1);
        self.submit(kernel, node, self.sources[node].destination);
    }

    /// Whether the next packet of the burst would be dropped: then the node stands still until it is woken.
    fn freeze<M: Mode>(&mut self, kernel: &mut Kernel<'_, M>, node: usize) -> bool {
        let destination = self.sources[node].destination;
        let frozen = self.would_drop::<M>(kernel.now, node, destination);
        self.sources[node].frozen = frozen;
        frozen
    }

    /// Lets a node that stood still try again.
    #[inline]
    pub fn thaw<M: Mode>(&mut self, kernel: &mut Kernel<'_, M>, node: usize) {
        if std::mem::take(&mut self.sources[node].frozen) {
            self.generate_in_phase(kernel, node);
        }
    }
}
