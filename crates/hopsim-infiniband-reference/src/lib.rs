//! The reference of the InfiniBand fabric: the rules of docs/infiniband.md simulated tick by tick, slowly and obviously, to compare
//! the engine with.
//!
//! The engine of `hopsim-infiniband` computes when something will happen and passes over the time until then. Here nothing is
//! scheduled: in every tick ([`Reference::step`]) the steps of an instant go through all ports in ascending order and look at
//! everything that is there. A packet goes onto a link in the first tick in which it may; a transfer ends in the first tick in which
//! all bytes have come and have crossed; what is in a queue or a buffer is counted anew each time somebody asks.
//!
//! Shared with the engine are only the description of the fabric and its flows, the workload that gives hosts messages, and the
//! random streams.

mod audit;
mod congestion;
mod failing;
mod fate;
mod host;
mod lanes;
mod link;
mod messages;
mod paths;
mod pauses;
mod reaction;
mod roots;
mod simulator;
mod stalls;
mod switch;
mod telemetry;

use hopsim_infiniband::fabric::Fabric;
use hopsim_infiniband::faults::Loss;
use hopsim_infiniband::flow::Flow;
use hopsim_infiniband::observer::Sent;
use hopsim_infiniband::time::Ticks;
pub use simulator::Reference;

/// Something that happened; what it means is said at the method of
/// [`Observer`](hopsim_infiniband::observer::Observer) that has its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the observer says what the fields are")]
pub enum Fact {
    /// A host begins to send a packet.
    Sent { at: Ticks, packet: Sent },
    /// A switch grants a packet an output.
    Granted { at: Ticks, packet: Sent, input: u32, output: u32 },
    /// The head of a packet goes onto the link of a port.
    OnLink { at: Ticks, packet: Sent, port: u32 },
    /// A port begins to be stalled in a VL, or ceases to be.
    Stalled { at: Ticks, port: u32, lane: u8, is_stalled: bool },
    /// A pause frame goes onto the link of a port.
    Frame { at: Ticks, port: u32, lanes: u16 },
    /// A port begins to be paused in a VL, or ceases to be.
    Paused { at: Ticks, port: u32, lane: u8, is_paused: bool },
    /// A switch marks a packet that had no mark.
    Marked { at: Ticks, packet: Sent, output: u32 },
    /// A packet is lost.
    Lost { at: Ticks, packet: Sent, why: Loss },
    /// A data packet is drained, or a notification taken.
    Delivered { at: Ticks, packet: Sent, sent: Ticks, marked: bool },
    /// A host is given a message to send.
    Posted { at: Ticks, flow: u32, bytes: u64 },
    /// The last packet of a message has been delivered.
    Message { at: Ticks, flow: u32, bytes: u64, posted: Ticks },
    /// A packet of a message is lost, and none of it was before.
    MessageLost { at: Ticks, flow: u32 },
}

impl Fact {
    /// When the fact happened.
    pub fn at(&self) -> Ticks {
        match *self {
            Self::Sent { at, .. }
            | Self::Granted { at, .. }
            | Self::OnLink { at, .. }
            | Self::Stalled { at, .. }
            | Self::Frame { at, .. }
            | Self::Paused { at, .. }
            | Self::Marked { at, .. }
            | Self::Lost { at, .. }
            | Self::Delivered { at, .. }
            | Self::Posted { at, .. }
            | Self::Message { at, .. }
            | Self::MessageLost { at, .. } => at,
        }
    }
}

/// What happens in a fabric before `until`, in the order of time, and within a tick in the order of [`Fact`].
pub fn run(fabric: &Fabric, flows: &[Flow], seed: u64, until: Ticks) -> Vec<Fact> {
    let mut reference = Reference::new(fabric, flows, seed);
    (0..until).for_each(|_| reference.step());
    let mut facts = reference.facts().to_vec();
    facts.sort_unstable_by_key(|fact| (fact.at(), *fact));
    facts
}
