//! A time wheel: events at most `horizon` cycles ahead, O(1) in and out, in the order they were put in.

/// Buckets of events, one per cycle ahead.
#[derive(Clone, Debug)]
pub struct Wheel<T> {
    buckets: Vec<Vec<T>>,
    /// Emptied buckets: used again before the allocator is asked, so that the events to come lie in memory in use.
    spare: Vec<Vec<T>>,
    /// Buckets − 1, a power of two minus one -- constant.
    mask: u32,
}

impl<T> Wheel<T> {
    /// A wheel for events up to `horizon` cycles ahead.
    pub fn new(horizon: u32) -> Self {
        let size = (horizon + 1).next_power_of_two();
        Self { buckets: (0..size).map(|_| Vec::new()).collect(), spare: Vec::new(), mask: size - 1 }
    }

    /// Puts an event at cycle `at`, after the present cycle and within the horizon.
    #[inline]
    pub fn push(&mut self, at: u32, event: T) {
        let bucket = &mut self.buckets[(at & self.mask) as usize];
        if bucket.len() < bucket.capacity() {
            bucket.push(event);
        } else {
            push_in_new_room(bucket, &mut self.spare, event);
        }
    }

    /// The events of cycle `now`, in order; give the vector back with [`Self::put_back`].
    #[inline]
    pub fn take(&mut self, now: u32) -> Vec<T> {
        let bucket = &mut self.buckets[(now & self.mask) as usize];
        if bucket.is_empty() { Vec::new() } else { std::mem::take(bucket) }
    }

    /// Returns the vector of a cycle, to use its memory again.
    #[inline]
    pub fn put_back(&mut self, mut bucket: Vec<T>) {
        bucket.clear();
        if bucket.capacity() > 0 {
            self.spare.push(bucket);
        }
    }

    /// The first cycle from `now` on that has an event; none if there is none.
    pub fn next(&self, now: u32) -> Option<u32> {
        (0..=self.mask)
            .map(|ahead| now + ahead)
            .find(|at| !self.buckets[(at & self.mask) as usize].is_empty())
    }

    /// All events still to come, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.buckets.iter().flatten()
    }
}

#[cold]
#[inline(never)]
fn push_in_new_room<T>(bucket: &mut Vec<T>, spare: &mut Vec<Vec<T>>, event: T) {
    if let Some(used) = spare.pop_if(|_| bucket.capacity() == 0) {
        *bucket = used;
    }
    bucket.push(event);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_come_out_in_their_cycle_and_in_order() {
        let mut wheel = Wheel::new(5);
        wheel.push(7, 'a');
        wheel.push(9, 'c');
        wheel.push(7, 'b');
        let mut seen = Vec::new();
        for now in 5..12 {
            let bucket = wheel.take(now);
            seen.extend(bucket.iter().map(|&e| (now, e)));
            wheel.put_back(bucket);
        }
        assert_eq!(seen, [(7, 'a'), (7, 'b'), (9, 'c')]);
    }
}
