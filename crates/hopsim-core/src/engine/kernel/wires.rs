//! What is on its way between routers, apart from packets that leave their region.

/// A head that arrives in a slot.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// Slot id.
    pub slot: u32,
    /// The packet.
    pub packet: u32,
}

/// Space that becomes free behind an output VC.
#[derive(Clone, Copy, Debug)]
pub struct Credit {
    /// Pair id.
    pub pair: u32,
    /// Phits.
    pub phits: u16,
    /// Those of them of packets that had never left their minimal path when they were sent.
    pub minimal: u16,
}
