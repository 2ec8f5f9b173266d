//! How an output chooses among virtual lanes: see docs/infiniband.md, Virtual lanes.

use crate::lanes::{LIMIT_UNIT, LaneEntry, Lanes, NO_LIMIT};

/// Where an output stands in a table of VL arbitration.
#[derive(Clone, Copy, Debug)]
struct Place {
    entry: usize,
    left: u32,
}

impl Place {
    fn new(table: &[LaneEntry]) -> Self {
        Self { entry: 0, left: table.first().map_or(0, |entry| entry.weight.into()) }
    }

    /// The entry whose turn it is among those of `ready` lanes, a bit each.
    fn find(self, table: &[LaneEntry], ready: u16) -> Option<usize> {
        let is_ready = |entry: usize| ready >> table[entry].lane & 1 == 1;
        if table.is_empty() {
            return None;
        }
        if self.left > 0 && is_ready(self.entry) {
            return Some(self.entry);
        }
        (1..=table.len()).map(|step| (self.entry + step) % table.len()).find(|&entry| is_ready(entry))
    }

    /// A packet of an entry goes.
    fn serve(&mut self, table: &[LaneEntry], entry: usize, blocks: u32) {
        if entry != self.entry || self.left == 0 {
            *self = Self { entry, left: table[entry].weight.into() };
        }
        self.left = self.left.saturating_sub(blocks);
    }
}

/// Where an output stands in both tables of VL arbitration.
#[derive(Clone, Debug)]
pub struct Chooser {
    high: Place,
    low: Place,
    limit: u32,
}

impl Chooser {
    /// A chooser that has chosen nothing yet.
    pub fn new(lanes: &Lanes) -> Self {
        Self { high: Place::new(&lanes.high), low: Place::new(&lanes.low), limit: full(lanes) }
    }

    /// Chooses among `ready` lanes, a bit each; `blocks` are those of the packet that goes in a lane.
    pub fn choose(&mut self, lanes: &Lanes, ready: u16, blocks: impl Fn(u8) -> u32) -> Option<u8> {
        if lanes.count == 1 {
            return (ready != 0).then_some(0);
        }
        let high = self.high.find(&lanes.high, ready);
        let low = self.low.find(&lanes.low, ready);
        match (high, low) {
            (Some(entry), other) if self.limit > 0 || other.is_none() => {
                let lane = lanes.high[entry].lane;
                self.high.serve(&lanes.high, entry, blocks(lane));
                if lanes.high_limit != NO_LIMIT {
                    self.limit = self.limit.saturating_sub(blocks(lane));
                }
                Some(lane)
            }
            (_, Some(entry)) => {
                let lane = lanes.low[entry].lane;
                self.low.serve(&lanes.low, entry, blocks(lane));
                self.limit = full(lanes);
                Some(lane)
            }
            _ => None,
        }
    }
}

/// The limit counter after a packet of low priority; without a limit a counter that never falls.
fn full(lanes: &Lanes) -> u32 {
    match lanes.high_limit {
        NO_LIMIT => u32::MAX,
        units => (u32::from(units) * LIMIT_UNIT).max(1),
    }
}
