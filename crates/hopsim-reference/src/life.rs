//! What is known of packets when a run is over: what metrics are computed from.

use crate::state::packet::{FlitPassage, Loss, Passage};
use crate::state::program::told::Programs;
use crate::state::standing::Congestion;
use crate::state::waiting::Waiting;
use hopsim_cycles::jobs::JobPlan;
use hopsim_experiment::plan::Plan;
use hopsim_measure::trace::PacketTrace;
use std::collections::BTreeMap;

/// The whole life of a packet, whether it has got anywhere or not.
#[derive(Clone, Debug)]
pub struct Life {
    /// Source, destination, generation, and the routers passed.
    pub trace: PacketTrace,
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

impl Life {
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
