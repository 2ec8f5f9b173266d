//! Virtual lanes, and the tables by which outputs choose among them.

/// Blocks that a unit of `high_limit` stands for: 4096 bytes.
pub const LIMIT_UNIT: u32 = 64;

/// The `high_limit` that means no limit.
pub const NO_LIMIT: u8 = 255;

/// Virtual lanes of a fabric.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lanes {
    /// Number of VLs \[1 … 15\].
    pub count: u8,
    /// The VL of each of the 16 service levels.
    pub of_service_level: [u8; 16],
    /// Entries of the table of high priority.
    pub high: Vec<LaneEntry>,
    /// Entries of the table of low priority.
    pub low: Vec<LaneEntry>,
    /// What the table of high priority may send before one packet of low priority \[4096 bytes\]; 255: all it has.
    pub high_limit: u8,
}

/// An entry of a table of VL arbitration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaneEntry {
    /// The VL.
    pub lane: u8,
    /// What the VL may send before the next entry's turn, more than 0 \[blocks\].
    pub weight: u8,
}

impl Lanes {
    /// One VL for everything.
    pub fn one() -> Self {
        let low = vec![LaneEntry { lane: 0, weight: 255 }];
        Self { count: 1, of_service_level: [0; 16], high: Vec::new(), low, high_limit: NO_LIMIT }
    }
}
