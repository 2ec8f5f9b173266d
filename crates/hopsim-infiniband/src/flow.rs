//! What hosts send.

use crate::time::Ticks;

/// What one host sends to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flow {
    /// The host that sends.
    pub source: u32,
    /// The host that receives, another one.
    pub destination: u32,
    /// The start of the flow: its first packet starts within the host's jitter after it \[ticks\].
    pub start: Ticks,
    /// The end of the flow: no packet starts at this time or later \[ticks\].
    pub end: Ticks,
    /// What the flow sends \[bytes\]; `None`: it never ends by itself.
    pub bytes: Option<u64>,
    /// What a byte takes at the rate of the flow, 0 if it has none of its own \[ticks\].
    pub byte: Ticks,
    /// The service level of the flow.
    pub service_level: u8,
}
