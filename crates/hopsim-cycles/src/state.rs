//! The state of a simulation between two cycles: the same however the simulation is carried out, so that a state that was saved
//! goes on with another cut and on another number of threads.
//!
//! Who owns state says what of it is saved, in a file or function beside it, and takes itself apart there field by field: the
//! compiler finds those that are forgotten. What observers have heard is theirs to save.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// The state of a network of some kind of routers and nodes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State<R> {
    /// The cycle: the next one to be simulated.
    pub cycle: u32,
    /// Routers and nodes.
    pub region: R,
    /// Packet-hops since the beginning of the run, each of them a grant.
    pub packet_hops: u64,
    /// How often routing was asked, since the beginning of the run, to choose an output for a head.
    pub decisions: u64,
}

impl<R: Serialize + DeserializeOwned> State<R> {
    /// The state as bytes. Compiled once for all modes, which share what they save.
    #[inline(never)]
    pub fn to_bytes(&self) -> Vec<u8> {
        postcard::to_allocvec(self).unwrap_or_else(|_| unreachable!("numbers and lists can be written"))
    }

    /// The state that bytes are, if they are any.
    #[inline(never)]
    pub fn of_bytes(bytes: &[u8]) -> Option<Self> {
        postcard::from_bytes(bytes).ok()
    }
}
