//! Wires and other ways that take some cycles.

use std::collections::VecDeque;

/// Things on their way, in the order of the cycles in which they are due.
pub struct DelayLine<T>(pub VecDeque<(u32, T)>);

impl<T> DelayLine<T> {
    pub fn new() -> Self {
        Self(VecDeque::new())
    }

    /// Something sets out, which is due behind all that is due in the same cycle.
    pub fn push(&mut self, due: u32, item: T) {
        let before = self.0.partition_point(|other| other.0 <= due);
        self.0.insert(before, (due, item));
    }

    pub fn pop_due(&mut self, now: u32) -> Option<T> {
        if self.0.front()?.0 > now {
            return None;
        }
        self.0.pop_front().map(|(_, item)| item)
    }
}
