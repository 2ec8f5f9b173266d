//! Why nodes inject nothing for a while.

use serde::{Deserialize, Serialize};

/// Why the nodes of a router inject nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reason {
    /// The network is drained.
    Drained,
    /// The router is out of order.
    Broken,
}
