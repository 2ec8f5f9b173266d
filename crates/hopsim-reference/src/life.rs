//! What is known of packets when a run is over: what metrics are computed from.

use crate::state::packet::{FlitPassage, Loss, Passage};
use crate::state::program::told::Programs;
use crate::state::standing::Congestion;
use crate::state::waiting::Waiting;
use hopsim_cycles::jobs::JobPlan;
use hopsim_experiment::plan::Plan;
use hopsim_measure::trace::PacketTrace;
use std::collections::BTreeMap;

/// The whole life of a packet, whether it has got anywhere or not. What is sent again has a life for each time.
#[derive(Clone, Debug)]
pub struct Life {
    /// Source, destination, generation, and the routers passed.
    pub trace: PacketTrace,
    /// How often the packet has been sent before.
    pub resendings: u32,
    /// The cycle in which it came back to its source queue, if it had been sent before and that was before the end.
    pub came_back: Option<u32>,
    /// Length \[phits\].
    pub length: u32,
    /// Cycle in which the packet entered an injection buffer of its node, and the number of the buffer.
    pub admitted: Option<(u32, usize)>,
    /// Whether the packet was dropped at a full source queue, in the cycle in which it was generated.
    pub dropped: bool,
    /// When, where and why the packet was lost in the network.
    pub lost: Option<Loss>,
    /// The cycle of generation of the request that this packet replies to, if it is a reply.
    pub requested: Option<u32>,
    /// Cycles that its last link, to its node, takes beyond one.
    pub late: u32,
    /// The routers passed, if it is asked what packets wait for: what the trace does not say of them.
    pub passages: Vec<Passage>,
    /// The routers that its flits have passed, if they move one by one.
    pub flits: Vec<FlitPassage>,
}

/// The traces of packets, each of all times that the packet was sent together; by source and number.
pub fn joined<'a>(lives: impl Iterator<Item = &'a Life>) -> Vec<PacketTrace> {
    let mut packets: BTreeMap<(u32, u32), PacketTrace> = BTreeMap::new();
    for Life { trace, .. } in lives {
        let whole = packets
            .entry((trace.source, trace.serial))
            .or_insert_with(|| PacketTrace { hops: Vec::new(), ..trace.clone() });
        whole.hops.extend(&trace.hops);
        whole.delivered = trace.delivered;
    }
    packets.into_values().collect()
}

impl Life {
    /// Whether the packet has been lost for good.
    pub fn is_lost(&self) -> bool {
        self.lost.is_some_and(|loss| !loss.comes_back)
    }

    /// The cycle in which the packet was generated, if it had not been sent before.
    pub fn generated(&self) -> Option<u32> {
        (self.resendings == 0).then_some(self.trace.generated)
    }

    /// Number of the packet's job.
    pub fn job(&self, plan: &Plan) -> usize {
        usize::from(plan.system.job_of[self.trace.source as usize])
    }

    /// Latency of a packet that has been delivered: from its generation to the delivery of its tail \[cycles\].
    pub fn latency(&self) -> u32 {
        self.trace.delivered.expect("it has been delivered") - self.trace.generated + self.length + self.late
    }

    /// Whether the packet is answered or answers.
    pub fn is_of_dialogue(&self, plan: &Plan) -> bool {
        JobPlan::request_reply(&plan.system.jobs[self.job(plan)])
    }
}

/// What a run leaves behind.
#[derive(Clone, Debug, Default)]
pub struct Record {
    /// All packets, in order of generation.
    pub lives: Vec<Life>,
    /// Cycles of the window that heads at injection waited, by node and number of the
    /// [reason](hopsim_cycles::observer::WaitReason), if these are asked for.
    pub waits: BTreeMap<(u32, usize), u64>,
    /// Cycles in which a node stood still because a packet of its own would have been dropped, by node.
    pub stood_still: Vec<Vec<u32>>,
    /// Cycles in which an output VC had no room for the shortest packet, by number of the interval, router, port and VC, if these
    /// are asked for.
    pub stalls: BTreeMap<(u32, u32, usize, usize), u32>,
    /// Requests made of the allocator of each router in the window, and how many of them were granted.
    pub allocations: Vec<(u64, u64)>,
    /// What packets waited for, if it is asked for.
    pub waiting: Waiting,
    /// What stood still after every interval, if it is asked for.
    pub congestion: Congestion,
    /// What programs did.
    pub programs: Programs,
}
