//! What has become of packets and links.

use hopsim_infiniband::fabric::Fabric;
use hopsim_infiniband::time::Ticks;

/// What has become of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Nothing has.
    Whole,
    /// A link failed while the packet was coming over it.
    Spoiled,
    /// The packet is lost.
    Lost,
}

/// What is in force and what is out of order.
pub struct Failing {
    /// By port, whether its link is out of order.
    pub out: Vec<bool>,
    /// By port, whether its switch knows so.
    pub known: Vec<bool>,
    /// By switch, the number of its tables.
    pub tables: Vec<u32>,
    /// Discarded packets, each with the input at which it still takes room, and until when.
    pub discarded: Vec<(Ticks, usize, usize)>,
}

impl Failing {
    /// All is in order.
    pub fn new(fabric: &Fabric) -> Self {
        let ports = fabric.ports.len();
        Self {
            out: vec![false; ports],
            known: vec![false; ports],
            tables: vec![0; fabric.first_port.len() - 1],
            discarded: Vec::new(),
        }
    }
}
