//! What is seen of outputs, and of what packets wait for.

use super::place::{OutputVc, Place};
use std::collections::BTreeMap;

/// Packets granted an output, and what they waited for: behind others, for room, for the bubble, for the output, for the rest.
pub type Waited = [u64; 6];

/// What is seen of outputs, and what packets waited for.
#[derive(Clone, Debug, Default)]
pub struct Waiting {
    /// The last cycle in which an output VC had no room.
    pub(crate) lacked_room: BTreeMap<OutputVc, u32>,
    /// The last cycle in which an output VC had no room with the bubble.
    pub(crate) lacked_bubble: BTreeMap<OutputVc, u32>,
    /// The last cycle in which an output was busy.
    pub(crate) was_busy: BTreeMap<(usize, usize), u32>,
    /// The cycle of the last grant of an input VC.
    pub(crate) granted: BTreeMap<Place, u32>,
    /// What packets waited for, by output VC.
    pub by_vc: BTreeMap<OutputVc, Waited>,
    /// What packets waited for, by job and groups.
    pub by_flow: BTreeMap<(usize, u32, u32), Waited>,
}
