//! The state of a simulation between two cycles: the same however the simulation is carried out, so that a state that was saved
//! goes on with another cut and on another number of threads.
//!
//! Who owns state says what of it is saved, in a file or function beside it, and takes itself apart there field by field: the
//! compiler finds those that are forgotten. What observers have heard is theirs to save.

use crate::kernel::ids::{Id as _, Pair, Slot};
use hopsim_network::network::Layout;
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

/// The slot that a state names.
///
/// # Panics
///
/// If routers have no such slot: a state was made to deceive, and the slot of another router would be taken for it.
pub fn saved_slot(layout: &Layout, number: u16) -> Slot {
    assert!(usize::from(number) < layout.slots(), "slot {number} of {}", layout.slots());
    Slot::at(number.into())
}

/// The pair that a state names.
///
/// # Panics
///
/// If routers have no such pair, as with [`saved_slot`].
pub fn saved_pair(layout: &Layout, number: u16) -> Pair {
    assert!(usize::from(number) < layout.pairs(), "pair {number} of {}", layout.pairs());
    Pair::at(number.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout() -> Layout {
        Layout { slot_port: vec![0; 5], pair_port: vec![0; 3], ..Layout::default() }
    }

    #[test]
    fn slots_and_pairs_of_the_layout_are_taken() {
        assert_eq!(saved_slot(&layout(), 4), Slot::at(4));
        assert_eq!(saved_pair(&layout(), 2), Pair::at(2));
    }

    #[test]
    #[should_panic(expected = "slot 5 of 5")]
    fn a_slot_that_routers_lack_is_refused() {
        saved_slot(&layout(), 5);
    }

    #[test]
    #[should_panic(expected = "pair 3 of 3")]
    fn a_pair_that_routers_lack_is_refused() {
        saved_pair(&layout(), 3);
    }
}
