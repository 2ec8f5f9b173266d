//! What a node tells another one of a message when its first packet sets out.

use hopsim_programs::host::Letter;

/// A message of several packets: by the source and the number of a packet the receiver knows which message the packet belongs to.
#[derive(Clone, Debug)]
pub struct Message {
    /// The receiving node of the network.
    pub to: u32,
    /// The sending node of the network.
    pub from: u32,
    /// Number of the first packet of the message among the packets of its source; its other packets follow.
    pub first: u32,
    /// How many packets the message has.
    pub packets: u32,
    /// What the packets of the message carry.
    pub letter: Letter,
}
