//! Packets that are given one by one: *Nodes* in `docs/model.md`, from the keys of the document.

use crate::simulator::Simulator;
use hopsim_cycles::choices::WhenFull;
use hopsim_cycles::jobs::TrafficPlan;
use hopsim_experiment::plan::Plan;
use std::collections::VecDeque;

/// A packet that a node will generate.
#[derive(Clone, Copy)]
pub struct Given {
    /// The cycle in which it does.
    pub at: u32,
    pub destination: u32,
    pub length: u32,
}

/// The packets that a job gives a node, by cycle; `None` if its packets are drawn.
pub fn of_node(plan: &Plan, job: usize, node: usize) -> Option<VecDeque<Given>> {
    let (_, job) = plan.experiment.running().nth(job).expect("the job of the plan is in the document");
    let traffic = job.traffic.as_ref()?;
    let all = traffic.packet_list.as_ref()?.packets().iter();
    let own = all.filter(|packet| packet.source as usize == node).map(|packet| Given {
        at: job.start + packet.cycle,
        destination: packet.destination,
        length: packet.length.or(traffic.packet_length).expect("a document has one of the two"),
    });
    let mut given: Vec<Given> = own.collect();
    given.sort_by_key(|packet| packet.at);
    Some(given.into())
}

impl Simulator<'_> {
    /// Generates the packets of a node that are due, as far as they would not be dropped if the node may wait.
    pub(crate) fn generate_given(&mut self, node: usize, job: &TrafficPlan) {
        let waits = self.plan.system.nic.when_full == WhenFull::Wait;
        while let Some(packet) = self.nics[node].next_given().filter(|packet| packet.at <= self.now) {
            if waits && self.nics[node].would_drop(self.plan, (node, packet.destination), self.now) {
                return self.stood_still[node].push(self.now);
            }
            self.generate(node, packet.destination, job);
            self.nics[node].given.as_mut().and_then(VecDeque::pop_front);
            while self.admit(node) {}
            self.drop_excess(node);
        }
    }
}
