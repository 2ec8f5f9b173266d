//! What a node tells another one of a message when its first packet sets out.

use hopsim_programs::host::Letter;

/// A message of several packets: with the source and the number of a packet its receiver knows which message it belongs to.
#[derive(Clone, Debug)]
pub struct Message {
    /// The receiving node of the network.
    pub to: u32,
    /// The sending node of the network.
    pub from: u32,
    /// Number of its first packet among those of its source; the others follow.
    pub first: u32,
    /// How many packets it has.
    pub packets: u32,
    /// What they carry.
    pub letter: Letter,
}
