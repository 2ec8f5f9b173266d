//! What is on its way between routers, apart from packets that leave their region.

use crate::kernel::ids::{PairId, SlotId};

/// A head that arrives in a slot.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// The slot.
    pub slot: SlotId,
    /// The packet.
    pub packet: u32,
}

/// Space that becomes free behind an output VC.
#[derive(Clone, Copy, Debug)]
pub struct Credit {
    /// The pair.
    pub pair: PairId,
    /// Phits of the space.
    pub phits: u16,
    /// Phits of the space that were taken by packets which had never left their minimal path when they were sent.
    pub minimal: u16,
}
