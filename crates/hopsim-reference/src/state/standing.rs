//! What is seen of packets that stand still.

use super::place::OutputPort;
use std::collections::{BTreeMap, BTreeSet};

/// A congestion tree at some cycle.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    pub links: BTreeSet<OutputPort>,
    pub depth: u32,
    pub phits: u64,
    /// Numbers of packets in the tree that want the root, another root, none.
    pub packets: [u32; 3],
}

/// All that was seen of packets that stand still.
#[derive(Clone, Debug, Default)]
pub struct Congestion {
    /// Numbers of packets by cycle: that stand still; in trees, for a busy link alone, for the crossbar, in circles.
    pub censuses: BTreeMap<u32, [u32; 5]>,
    /// The trees by cycle and root.
    pub trees: BTreeMap<(u32, OutputPort), Tree>,
    /// How often packets of the window were seen that want the root, another root, none, by root, job and groups.
    pub flows: BTreeMap<(OutputPort, usize, u32, u32), [u64; 3]>,
}
