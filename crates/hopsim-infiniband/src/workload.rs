//! What hosts are given to send while a simulation runs, beside its flows.

use crate::time::{NEVER, Ticks};

/// A message, which joins the queue of the flow of its source, destination and service level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// The host that the message is for, another one than its source.
    pub destination: u32,
    /// The service level of the message.
    pub service_level: u8,
    /// The length of the message, more than 0 \[bytes\].
    pub bytes: u64,
    /// The name by which the workload knows the message.
    pub tag: u64,
}

/// What goes on at the hosts. A host acts when its time has come and, at the same instant, after it has heard something.
pub trait Workload {
    /// Whether the workload wants to hear of messages.
    const HEARS: bool;

    /// When a host acts first; [`NEVER`] if it does not by itself.
    fn first(&mut self, host: u32) -> Ticks;

    /// A host acts: it adds the messages that its channel adapter gets now, in order. Returns when it acts next by itself, later.
    fn act(&mut self, host: u32, now: Ticks, messages: &mut Vec<Message>) -> Ticks;

    /// Whether all is done that the simulation was to wait for: then it stops.
    fn is_over(&self) -> bool {
        false
    }

    /// The last byte of a message has left the host that sends it.
    fn left(&mut self, _host: u32, _tag: u64, _now: Ticks) {}

    /// The last packet of a message has been delivered to a host.
    fn arrived(&mut self, _host: u32, _tag: u64, _now: Ticks) {}
}

/// Flows are all there is.
impl Workload for () {
    const HEARS: bool = false;

    fn first(&mut self, _: u32) -> Ticks {
        NEVER
    }

    fn act(&mut self, _: u32, _: Ticks, _: &mut Vec<Message>) -> Ticks {
        NEVER
    }
}
