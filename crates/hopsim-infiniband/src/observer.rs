//! What a simulation tells while it runs.

use crate::faults::Loss;
use crate::flow::Flow;
use crate::time::Ticks;

/// A packet, as it is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Sent {
    /// The flow of the packet; of a notification or acknowledgement the flow that it is for.
    pub flow: u32,
    /// Which packet of the flow this is, from 0; or which notification or acknowledgement for the flow.
    pub number: u32,
    /// The length of the packet.
    pub bytes: u32,
    /// Whether the packet is a notification packet or an acknowledgement.
    pub is_notification: bool,
}

/// Hears what happens, in the order of time.
pub trait Observer {
    /// A host begins to send a packet.
    fn sent(&mut self, _at: Ticks, _packet: Sent) {}

    /// A switch grants a packet an output; ports are numbered through the fabric.
    fn granted(&mut self, _at: Ticks, _packet: Sent, _input: u32, _output: u32) {}

    /// The head of a packet goes onto the link of a port, of a host or a switch.
    fn on_link(&mut self, _at: Ticks, _packet: Sent, _port: u32) {}

    /// Whether [`stalled`](Self::stalled) is to be told.
    fn hears_stalls(&self) -> bool {
        false
    }

    /// A port begins to be stalled for credits in a VL, or ceases to be.
    fn stalled(&mut self, _at: Ticks, _port: u32, _lane: u8, _is_stalled: bool) {}

    /// A pause frame goes onto the link of a port; it pauses these VLs at the other end, a bit each, and no others.
    fn frame(&mut self, _at: Ticks, _port: u32, _lanes: u16) {}

    /// A port begins to be paused in a VL, or ceases to be.
    fn paused(&mut self, _at: Ticks, _port: u32, _lane: u8, _is_paused: bool) {}

    /// A switch marks a packet that had no mark, at an output.
    fn marked(&mut self, _at: Ticks, _packet: Sent, _output: u32) {}

    /// A packet is lost.
    fn lost(&mut self, _at: Ticks, _packet: Sent, _why: Loss) {}

    /// A message of the workload, of this flow, loses the first one of its packets that it loses: it will never be there.
    fn message_lost(&mut self, _at: Ticks, _flow: u32) {}

    /// A flow that was given may send its first packet at a time, which is its start and what of the jitter it has drawn.
    fn may_begin(&mut self, _at: Ticks, _flow: u32) {}

    /// A host is given a message to send, which joins the queue of a flow.
    fn posted(&mut self, _at: Ticks, _flow: u32, _bytes: u64) {}

    /// The last packet of a message of the workload has been delivered; it was posted `posted`.
    fn message(&mut self, _at: Ticks, _flow: u32, _bytes: u64, _posted: Ticks) {}

    /// A flow of the workload has begun.
    fn flow(&mut self, _number: u32, _flow: &Flow) {}

    /// A data packet is drained, or another one taken; `sent` is when it was sent, `marked` whether a data packet had a mark, and
    /// whether another one notifies of marks.
    fn delivered(&mut self, _at: Ticks, _packet: Sent, _sent: Ticks, _marked: bool) {}
}

/// Hears nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unobserved;

impl Observer for Unobserved {}
