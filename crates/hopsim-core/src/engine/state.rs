//! The state of a simulation between two cycles: the same however the simulation is carried out, so that a state that was saved
//! goes on with another cut and on another number of threads.
//!
//! Who owns state says what of it is saved, in a file or function beside it, and takes itself apart there field by field: the
//! compiler finds those that are forgotten.

use crate::measure::places::Places;
use crate::measure::recorder::RecorderState;
use serde::{Deserialize, Serialize};

/// The state of a network of some kind of routers and nodes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State<R> {
    /// The cycle: the next one to be simulated.
    pub cycle: u32,
    /// Routers and nodes.
    pub region: R,
    /// Counts by node and router.
    pub places: Option<Places>,
    /// All counts but those by node and router.
    pub recorder: RecorderState,
}

/// What of a state a simulation goes on with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// All of the state: the run is the same.
    All,
    /// The state of the network, and counts since the beginning of the run: what is measured begins later.
    Network,
}
