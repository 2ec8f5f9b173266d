//! A time wheel: events at most `horizon` cycles ahead, O(1) in and out, in the order they were put in.

/// What a wheel remembers of which buckets have events: runs that pass over empty cycles need to know, others do without.
pub trait Calendar: Clone + Default + Send {
    /// Whether the calendar remembers anything.
    const KNOWS: bool;
    /// A calendar for so many buckets, a power of two.
    fn new(buckets: u32) -> Self;
    /// Notes that a bucket has an event.
    fn mark(&mut self, bucket: u32);
    /// Notes that a bucket has no events.
    fn clear(&mut self, bucket: u32);
    /// Buckets from `bucket` on, round the wheel of `mask` + 1, up to the first that has an event, or may have one; none if there
    /// is no such bucket within `within`.
    fn ahead(&self, bucket: u32, mask: u32, within: u32) -> Option<u32>;
}

impl Calendar for () {
    const KNOWS: bool = false;
    #[inline]
    fn new(_: u32) {}
    #[inline]
    fn mark(&mut self, _: u32) {}
    #[inline]
    fn clear(&mut self, _: u32) {}
    #[inline]
    fn ahead(&self, _: u32, _: u32, _: u32) -> Option<u32> {
        Some(0)
    }
}

/// A bit for every bucket that has an event.
#[derive(Clone, Debug, Default)]
pub struct Bitmap(Vec<u64>);

impl Calendar for Bitmap {
    const KNOWS: bool = true;
    fn new(buckets: u32) -> Self {
        Self(vec![0; buckets.div_ceil(64) as usize])
    }

    #[inline]
    fn mark(&mut self, bucket: u32) {
        self.0[(bucket / 64) as usize] |= 1 << (bucket % 64);
    }

    #[inline]
    fn clear(&mut self, bucket: u32) {
        self.0[(bucket / 64) as usize] &= !(1 << (bucket % 64));
    }

    fn ahead(&self, bucket: u32, mask: u32, within: u32) -> Option<u32> {
        // Their number is a power of two, as that of the buckets is.
        let (words, first) = (self.0.len(), (bucket / 64) as usize);
        let mut word = self.0[first] & (u64::MAX << (bucket % 64));
        let most = words.min(within as usize / 64 + 1);
        for step in 0..=most {
            let at = (first + step) & (words - 1);
            if word != 0 {
                let found = at as u32 * 64 + word.trailing_zeros();
                return Some(found.wrapping_sub(bucket) & mask);
            }
            // At last the whole first word again.
            word = self.0[(at + 1) & (words - 1)];
        }
        None
    }
}

/// Buckets of events, one per cycle ahead.
#[derive(Clone, Debug)]
pub struct Wheel<T, C = ()> {
    buckets: Vec<Vec<T>>,
    /// Emptied buckets: used again before the allocator is asked, so that the events to come lie in memory in use.
    spare: Vec<Vec<T>>,
    /// Which buckets have events.
    calendar: C,
    /// Buckets − 1, a power of two minus one -- constant.
    mask: u32,
}

impl<T, C: Calendar> Wheel<T, C> {
    /// A wheel for events up to `horizon` cycles ahead.
    pub fn new(horizon: u32) -> Self {
        let size = (horizon + 1).next_power_of_two();
        let buckets = (0..size).map(|_| Vec::new()).collect();
        Self { buckets, spare: Vec::new(), calendar: C::new(size), mask: size - 1 }
    }

    /// Puts an event at cycle `at`, after the present cycle and within the horizon.
    #[inline]
    pub fn push(&mut self, at: u32, event: T) {
        self.calendar.mark(at & self.mask);
        let bucket = &mut self.buckets[(at & self.mask) as usize];
        if bucket.len() < bucket.capacity() {
            bucket.push(event);
        } else {
            push_in_new_room(bucket, &mut self.spare, event);
        }
    }

    /// The events of cycle `now`, in order, to be looked at.
    pub fn due(&self, now: u32) -> &[T] {
        &self.buckets[(now & self.mask) as usize]
    }

    /// The events of cycle `now`, in order; give the vector back with [`Self::put_back`].
    #[inline]
    pub fn take(&mut self, now: u32) -> Vec<T> {
        let bucket = &mut self.buckets[(now & self.mask) as usize];
        if bucket.is_empty() {
            return Vec::new();
        }
        self.calendar.clear(now & self.mask);
        std::mem::take(bucket)
    }

    /// Returns the vector of a cycle, to use its memory again.
    #[inline]
    pub fn put_back(&mut self, mut bucket: Vec<T>) {
        bucket.clear();
        if bucket.capacity() > 0 {
            self.spare.push(bucket);
        }
    }

    /// The first cycle of `now..end` that has an event, else `end`; `now` if nobody remembers.
    #[inline]
    pub fn next(&self, now: u32, end: u32) -> u32 {
        let ahead = self.calendar.ahead(now & self.mask, self.mask, end - now);
        ahead.map_or(end, |ahead| end.min(now + ahead))
    }

    /// The first cycle of `now..end` that has an event, else `end`, found by a look at bucket after bucket.
    pub fn next_before(&self, now: u32, end: u32) -> u32 {
        let last = end.min(now.saturating_add(self.mask + 1));
        (now..last).find(|at| !self.buckets[(at & self.mask) as usize].is_empty()).unwrap_or(end)
    }

    /// All events still to come in cycle `now` or later, with their cycles, in order.
    pub fn pending(&self, now: u32) -> impl Iterator<Item = (u32, &T)> {
        let bucket =
            move |ahead: u32| (now + ahead, &self.buckets[(now.wrapping_add(ahead) & self.mask) as usize]);
        (0..=self.mask).map(bucket).flat_map(|(at, events)| events.iter().map(move |event| (at, event)))
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
        let mut wheel: Wheel<char> = Wheel::new(5);
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

    #[test]
    fn the_next_event_is_the_first_that_has_not_been_taken() {
        for horizon in [0, 1, 5, 63, 64, 65, 1_000] {
            let mut wheel: Wheel<u32, Bitmap> = Wheel::new(horizon);
            let mut pending: Vec<u32> = Vec::new();
            for now in 0..3 * horizon + 3 {
                let next = pending.iter().copied().min().unwrap_or(u32::MAX);
                let mut sorted = pending.clone();
                sorted.sort_unstable();
                assert!(
                    wheel.pending(now).map(|(at, event)| (at, *event)).eq(sorted.iter().map(|&at| (at, at)))
                );
                for limit in [now, now + horizon / 2, now + horizon + 1, u32::MAX] {
                    assert_eq!(wheel.next(now, limit), next.min(limit), "horizon {horizon}, cycle {now}");
                    assert_eq!(wheel.next_before(now, limit), next.min(limit));
                }
                let due = wheel.take(now);
                pending.retain(|at| *at != now);
                wheel.put_back(due);
                if now % 7 == 0 && horizon > 0 {
                    let at = now + 1 + (now * 31) % horizon;
                    wheel.push(at, at);
                    pending.push(at);
                }
            }
        }
    }
}
