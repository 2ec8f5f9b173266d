//! Wires and other ways that take some cycles.

use std::collections::VecDeque;

/// Things on their way, each due in a cycle; the delay is the same for all of them.
pub struct DelayLine<T>(pub VecDeque<(u32, T)>);

impl<T> DelayLine<T> {
    pub fn new() -> Self {
        Self(VecDeque::new())
    }

    pub fn push(&mut self, due: u32, item: T) {
        self.0.push_back((due, item));
    }

    pub fn pop_due(&mut self, now: u32) -> Option<T> {
        if self.0.front()?.0 > now {
            return None;
        }
        self.0.pop_front().map(|(_, item)| item)
    }
}
