//! Arbitration between virtual lanes.

use hopsim_infiniband::lanes::{LIMIT_UNIT, LaneEntry, Lanes, NO_LIMIT};

/// What an output remembers of its choices.
pub struct LaneArbiter {
    high: Table,
    low: Table,
    /// What the limit counter is at first; `None`: there is no limit.
    whole_limit: Option<u32>,
    /// The limit counter: what `high` may send before one packet of `low` \[blocks\].
    limit: u32,
    /// Whether there is one VL, so that there is nothing to choose.
    one: bool,
}

/// One of the two tables of VL arbitration.
struct Table {
    entries: Vec<LaneEntry>,
    current: usize,
    /// What is left of the weight of the current entry \[blocks\].
    left: u32,
}

impl Table {
    fn new(entries: &[LaneEntry]) -> Self {
        let left = entries.first().map_or(0, |entry| u32::from(entry.weight));
        Self { entries: entries.to_vec(), current: 0, left }
    }

    /// Whether some entry has a VL with a packet.
    fn has(&self, ready: &[Option<u32>]) -> bool {
        self.entries.iter().any(|entry| ready[usize::from(entry.lane)].is_some())
    }

    /// The VL whose turn it is, and the blocks of its packet; one of them must be ready.
    fn take(&mut self, ready: &[Option<u32>]) -> (usize, u32) {
        let count = self.entries.len();
        // The current entry is looked at twice: with what is left of its weight, and after all others with all of it.
        for step in 0..=count {
            let index = (self.current + step) % count;
            let LaneEntry { lane, weight } = self.entries[index];
            let left = if step == 0 { self.left } else { u32::from(weight) };
            if let (Some(blocks), true) = (ready[usize::from(lane)], left > 0) {
                self.current = index;
                self.left = left.saturating_sub(blocks);
                return (usize::from(lane), blocks);
            }
        }
        panic!("the table has a VL with a packet")
    }
}

impl LaneArbiter {
    /// An arbiter that has chosen nothing: every table is at its first entry.
    pub fn new(lanes: &Lanes) -> Self {
        let whole_limit =
            (lanes.high_limit != NO_LIMIT).then(|| (u32::from(lanes.high_limit) * LIMIT_UNIT).max(1));
        Self {
            high: Table::new(&lanes.high),
            low: Table::new(&lanes.low),
            whole_limit,
            limit: whole_limit.unwrap_or(0),
            one: lanes.count == 1,
        }
    }

    /// The VL that sends next; `ready` has, by VL, the blocks of the packet that it could send.
    pub fn take(&mut self, ready: &[Option<u32>]) -> Option<usize> {
        if self.one {
            return ready[0].map(|_| 0);
        }
        if self.high.has(ready) && (self.whole_limit.is_none() || self.limit > 0 || !self.low.has(ready)) {
            let (lane, blocks) = self.high.take(ready);
            self.limit = self.limit.saturating_sub(blocks);
            Some(lane)
        } else if self.low.has(ready) {
            let (lane, _) = self.low.take(ready);
            self.limit = self.whole_limit.unwrap_or(0);
            Some(lane)
        } else {
            None
        }
    }
}
