//! Which thread simulates which region.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// A counter with a cache line of its own: threads that count different things do not slow each other down.
#[derive(Default)]
#[repr(align(64))]
struct Taken(AtomicUsize);

/// The share of every thread in the regions. A thread that is done with its share takes over from the others.
pub struct WorkShares {
    shares: Vec<Range<usize>>,
    /// Regions of each share that are taken, in windows with an even and with an odd number.
    taken: [Vec<Taken>; 2],
}

impl WorkShares {
    /// Shares out regions among `threads` threads: neighbours together, about equal amounts of work, of which `work` says how
    /// much there is in each region.
    pub fn new(work: &[u64], threads: usize) -> Self {
        // A region is never without any work.
        let total: u64 = work.iter().map(|work| work + 1).sum();
        let (mut shares, mut first, mut done) = (Vec::new(), 0, 0);
        for thread in 1..=threads as u64 {
            let mut end = first;
            let aim = total * thread / threads as u64;
            // A region goes to the thread that has the middle of it.
            while end < work.len() && (done + work[end].div_ceil(2) < aim || thread == threads as u64) {
                done += work[end] + 1;
                end += 1;
            }
            shares.push(first..end);
            first = end;
        }
        let taken = || (0..threads).map(|_| Taken::default()).collect();
        Self { shares, taken: [taken(), taken()] }
    }

    /// A thread begins with a window: its share of the next window is whole again. All threads are done with the window before.
    pub fn begin(&self, window: usize, thread: usize) {
        self.taken[(window + 1) % 2][thread].0.store(0, Relaxed);
    }

    /// The next region for a thread in a window, none if all are taken.
    pub fn next(&self, window: usize, thread: usize) -> Option<usize> {
        let others = (thread + 1..self.shares.len()).chain(0..thread);
        std::iter::once(thread).chain(others).find_map(|owner| {
            let (share, taken) = (&self.shares[owner], &self.taken[window % 2][owner].0);
            // Only looked at if there is nothing left, so that the last ones do not fight for the counter.
            if taken.load(Relaxed) >= share.len() {
                return None;
            }
            let place = taken.fetch_add(1, Relaxed);
            (place < share.len()).then(|| share.start + place)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_region_is_taken_once_in_every_window() {
        for (work, threads) in [(vec![0; 7], 3), (vec![5, 0, 0, 90, 1], 2), (vec![1], 4), (vec![9; 129], 64)]
        {
            let shares = WorkShares::new(&work, threads);
            for window in 0..4 {
                (0..threads).for_each(|thread| shares.begin(window, thread));
                let mut all: Vec<usize> = (0..2 * work.len())
                    .filter_map(|turn| shares.next(window, (turn * 7 + window) % threads))
                    .collect();
                all.sort_unstable();
                assert!(all.into_iter().eq(0..work.len()), "{threads} threads, window {window}");
            }
        }
    }

    #[test]
    fn shares_have_about_equal_work() {
        let shares = |work: &[u64], threads| WorkShares::new(work, threads).shares;
        assert_eq!(shares(&[9; 6], 3), [0..2, 2..4, 4..6]);
        assert_eq!(shares(&[99, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9], 2), [0..1, 1..12]);
        assert_eq!(shares(&[9, 9], 3).iter().map(ExactSizeIterator::len).sum::<usize>(), 2);
    }
}
