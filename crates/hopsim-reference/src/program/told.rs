//! What is told of programs when a run is over.

use crate::simulator::Simulator;
use crate::state::program::message::Message;
use crate::state::program::operations::Work;
use crate::state::program::told::{Passed, Programs};
use hopsim_programs::program::Program;

impl Simulator<'_> {
    /// Notes, when the cycle of a rank is over, what the rank does until the next one.
    pub(super) fn note_passing(&mut self, node: usize) {
        let now = self.now;
        let job = self.rank(node).job;
        let Some(program) = self.plan.system.jobs[job].program().filter(|program| program.start <= now)
        else {
            return;
        };
        let is_graph = matches!(program.program, Program::Graph(_));
        let rank = self.rank(node);
        for stream in 0..rank.busy.len() {
            let (operation, waits) = match rank.busy[stream] {
                Some((_, operation)) => (operation, false),
                None if stream == 0 && !rank.is_done() => {
                    (rank.awaited(is_graph).expect("something keeps it from being done"), true)
                }
                None => continue,
            };
            let activity = match (&rank.operations[operation].work, waits) {
                (Work::Compute(_), false) => "compute",
                (Work::Send { .. }, false) => "send_overhead",
                (Work::Receive { .. }, false) => "receive_overhead",
                (Work::Compute(_), true) => "wait_compute",
                (Work::Send { .. }, true) => "wait_send",
                (Work::Receive { .. }, true) => "wait_receive",
                (Work::Join, _) => unreachable!("it takes no time"),
            };
            let record = rank.operations[operation].record;
            let operation = (!waits).then_some(operation);
            rank.told.pass(now, Passed { stream, activity, record, operation, cycles: (now, now + 1) });
        }
    }

    /// What the programs did.
    pub(crate) fn tell_of_programs(&self) -> Programs {
        let mut ranks = vec![Vec::new(); self.plan.system.jobs.len()];
        for (job, of) in self.plan.system.jobs.iter().zip(&mut ranks) {
            let nodes = job.program().map_or(&[][..], |program| &program.nodes);
            let told = |&node: &u32| self.ranks[node as usize].as_ref().map(|rank| rank.told.clone());
            of.extend(nodes.iter().filter_map(told));
        }
        let others = self.messages.iter().filter(|message| message.source.0 != message.to);
        let mut messages: Vec<Message> = others.cloned().collect();
        messages.sort_by_key(|message| (message.job, message.source.0, message.number));
        Programs { ranks, messages }
    }
}
