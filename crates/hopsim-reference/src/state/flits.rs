//! What a virtual-channel router keeps besides the queues of its input VCs and the credits of its output VCs.

use super::packet::Choice;
use super::place::Place;
use crate::matching::Matcher;
use hopsim_cycles::system::VirtualChannelPlan;
use std::collections::VecDeque;

/// An output VC that the present packet of an input VC owns.
pub struct Owned {
    /// The output VC, and what the packet remembers from there on.
    pub choice: Choice,
    /// The first step in which the packet may ask for the switch.
    pub ready: u64,
}

/// What is known of the present packet of an input VC.
#[derive(Default)]
pub struct Lane {
    /// The output VC that the packet owns.
    pub owned: Option<Owned>,
    /// The step in which the tail of the packet before it has left.
    pub left: Option<u64>,
    /// The step at whose end the route of the packet was there, where routes are computed in batches.
    pub routed: Option<u64>,
}

/// An output VC.
pub struct Door {
    /// The packet that owns the output VC; no packet owns one to a node.
    pub owner: Option<usize>,
    /// When the credits of flits that have left for a node come back, if its buffer has a size.
    pub taken: Vec<u32>,
}

/// What a router is busy with: the step in which each batch ends, and what is in it.
#[derive(Default)]
pub struct StageBatches {
    /// Input VCs whose packets get a route.
    pub routing: Option<(u64, Vec<Place>)>,
    /// Input VCs whose packets have been granted an output VC.
    pub vcs: Option<(u64, Vec<(Place, Choice)>)>,
    /// Input VCs that have been granted the switch, each with its input of the crossbar.
    pub switch: Option<(u64, Vec<(Place, usize)>)>,
    /// Flits that cross, each with its output.
    pub traversal: Option<(u64, Vec<(usize, QueuedFlit)>)>,
    /// Flits that wait to cross.
    pub before_traversal: Vec<(usize, QueuedFlit)>,
}

/// A flit that crosses, or waits at its output.
#[derive(Clone, Copy)]
pub struct QueuedFlit {
    /// The packet, and the position in it.
    pub flit: (usize, u32),
    /// The VC that the flit will enter at the other end.
    pub vc: usize,
    /// The step at whose end the flit comes to the queue.
    pub enters: u64,
    /// The cycle in which it will leave, as was found when it was granted the switch.
    pub departs: u32,
    /// Latency of the link, and cycles that the flit takes on it, at that time.
    pub link: (u32, u32),
}

/// An output with a queue.
#[derive(Default)]
pub struct OutputQueue {
    /// The flits that cross.
    pub crossing: VecDeque<QueuedFlit>,
    /// The flits that wait for the link.
    pub waiting: VecDeque<QueuedFlit>,
    /// First cycle in which the link takes another flit.
    pub link_free: u32,
}

/// The credits of the flits that left an input in a step.
pub struct CreditMessage {
    /// The step.
    pub step: u64,
    /// The VC of each flit, its packet, and the position in it.
    pub flits: Vec<(usize, (usize, u32))>,
}

/// What a virtual-channel router keeps.
pub struct Flits {
    /// What the router is made of.
    pub plan: VirtualChannelPlan,
    /// The allocator of output VCs.
    pub vc_allocator: Matcher,
    /// The allocator of the switch.
    pub switch_allocator: Matcher,
    /// The allocator of the switch for heads that own no output VC yet, if they have one of their own.
    pub speculative_allocator: Matcher,
    /// Heads that ask for the switch in this cycle and owned no output VC when it began, each with the output port.
    pub speculating: Vec<(Place, usize)>,
    /// The packet of which input VC holds each input of the crossbar.
    pub held: Vec<Option<Place>>,
    /// The input VCs, by port.
    pub lanes: Vec<Vec<Lane>>,
    /// The output VCs, by port.
    pub doors: Vec<Vec<Door>>,
    /// The step that the router makes.
    pub step: u64,
    /// The queues at the outputs, by port; none if there are none.
    pub queues: Vec<OutputQueue>,
    /// The credits that wait at the inputs, by port; none where there are no output queues.
    pub messages: Vec<VecDeque<CreditMessage>>,
    /// What the router is busy with, stage by stage, if stages are no pipelines.
    pub batches: StageBatches,
    /// Packets that leave for nodes, each with the cycle in which its node handles it.
    pub handled: Vec<(u32, usize)>,
}

impl Flits {
    /// The flits that cross to an output, or wait to do so, in order.
    pub fn on_their_way(&self, port: usize) -> impl Iterator<Item = &QueuedFlit> {
        let in_batch = self.batches.traversal.iter().flat_map(|(_, flits)| flits);
        let in_batches = in_batch.chain(&self.batches.before_traversal);
        let crossing = self.queues.get(port).into_iter().flat_map(|queue| &queue.crossing);
        crossing.chain(in_batches.filter(move |flit| flit.0 == port).map(|(_, flit)| flit))
    }

    /// The flit that was granted the switch last to an output with a queue, and has not come there.
    pub fn last_in_queue(&self, port: usize) -> Option<&QueuedFlit> {
        self.on_their_way(port).last()
    }
}
