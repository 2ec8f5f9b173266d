//! How the queries of a rank in a level become messages: equations 2.3 and 2.4.

use serde::{Deserialize, Serialize};

/// The messages that are left of a rank's queries in a level.
///
/// n ranks; q queries have n' = max(1, ⌊n (1 − (1 − 1/n)^q)⌋) destinations and are m = n' ⌈q / (n' c)⌉ messages of up to c. Each
/// takes c queries while at least one is left for every message behind it, and then an even share, rounded up. There are never
/// more messages than queries (for c = 1 the formula may have more).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LevelMessages {
    queries: u64,
    left: u64,
    coalescing: u64,
}

impl LevelMessages {
    /// The messages of so many queries, of up to `coalescing` each.
    pub fn new(queries: u64, ranks: u32, coalescing: u32) -> Self {
        let n = f64::from(ranks);
        // 1 − (1 − 1/n)^q
        let share = -libm::expm1(queries as f64 * libm::log1p(-1.0 / n));
        let destinations = (libm::floor(n * share) as u64).max(1);
        let coalescing = u64::from(coalescing);
        let left = (destinations * queries.div_ceil(destinations * coalescing)).min(queries);
        Self { queries, left, coalescing }
    }

    /// The number of messages that are left.
    pub fn left(&self) -> u64 {
        self.left
    }
}

impl Iterator for LevelMessages {
    /// The number of queries of a message.
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        let behind = self.left.checked_sub(1)?;
        let takes = if self.queries >= self.coalescing + behind {
            self.coalescing
        } else {
            self.queries.div_ceil(self.left)
        };
        (self.queries, self.left) = (self.queries - takes, behind);
        Some(takes)
    }
}
