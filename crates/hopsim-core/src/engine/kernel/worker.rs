//! What a thread has of its own, and lends to the region that it simulates: counters, and what leaves the region.

use crate::engine::kernel::message::Message;
use crate::engine::kernel::packet::Packet;
use crate::engine::kernel::wires::Credit;
use crate::measure::recorder::Recorder;
use crate::trace::Observer;

/// What crosses into a region, and is due when the others have come as far as this one.
#[derive(Default)]
pub struct Mail {
    /// Packets, in the order in which they were sent. Their link is the slot that they arrive in.
    pub packets: Vec<Packet>,
    /// Messages whose first packet has set out.
    pub messages: Vec<Message>,
    /// Credits and the cycles in which they are due.
    pub credits: Vec<(u32, Credit)>,
}

/// A thread's own. That of a region which nobody simulates counts nothing.
#[derive(Default)]
pub struct Worker {
    /// Measurements.
    pub recorder: Recorder,
    /// Who watches.
    pub observer: Observer,
    /// By receiving region.
    pub mail: Vec<Mail>,
}
