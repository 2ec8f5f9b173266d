//! A barrier that its waiting threads may leave without the others.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering::SeqCst};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long a thread waits awake: longer than other threads are late if every one has a core, and not so long that it matters if
/// they have none.
const AWAKE: Duration = Duration::from_micros(20);

/// Where threads wait for each other at the end of a window.
///
/// [`std::sync::Barrier`] waits asleep, which takes longer than a window of a small network, and it waits for ever if a thread
/// panics.
pub struct Barrier {
    threads: usize,
    /// Whether it is worth while to wait awake: not if there are more threads than cores.
    awake: bool,
    /// Threads that wait.
    arrived: AtomicUsize,
    /// How often all have met.
    meetings: AtomicU32,
    /// Whether a thread that has arrived wants the run to end, and whether one wanted it at the last meeting.
    wish: AtomicBool,
    ends: AtomicBool,
    /// Whether a thread has panicked.
    broken: AtomicBool,
    /// A lock held by threads that fall asleep, and by the thread that wakes them; and how many sleep.
    asleep: Mutex<()>,
    sleepers: AtomicUsize,
    met: Condvar,
}

/// A thread that has panicked will never arrive.
#[derive(Debug)]
pub struct Broken;

impl Barrier {
    /// A barrier for so many threads, on a machine with so many cores.
    pub fn new(threads: usize, cores: usize) -> Self {
        Self {
            threads,
            awake: threads <= cores,
            arrived: AtomicUsize::new(0),
            meetings: AtomicU32::new(0),
            wish: AtomicBool::new(false),
            ends: AtomicBool::new(false),
            broken: AtomicBool::new(false),
            asleep: Mutex::new(()),
            sleepers: AtomicUsize::new(0),
            met: Condvar::new(),
        }
    }

    /// Waits for all threads. Returns whether any of them wanted the run to end, which all hear alike.
    pub fn wait(&self, wants_end: bool) -> Result<bool, Broken> {
        let meeting = self.meetings.load(SeqCst);
        if wants_end {
            self.wish.store(true, SeqCst);
        }
        if self.arrived.fetch_add(1, SeqCst) + 1 == self.threads {
            self.arrived.store(0, SeqCst);
            self.ends.store(self.wish.load(SeqCst), SeqCst);
            self.meetings.store(meeting.wrapping_add(1), SeqCst);
            self.wake();
        } else {
            self.wait_for(meeting);
        }
        if self.is_broken() { Err(Broken) } else { Ok(self.ends.load(SeqCst)) }
    }

    /// Whether a thread has panicked.
    pub fn is_broken(&self) -> bool {
        self.broken.load(SeqCst)
    }

    /// What breaks the barrier when the thread that holds it panics.
    pub fn guard(&self) -> Guard<'_> {
        Guard(self)
    }

    fn is_over(&self, meeting: u32) -> bool {
        self.meetings.load(SeqCst) != meeting || self.is_broken()
    }

    fn wait_for(&self, meeting: u32) {
        let begin = self.awake.then(Instant::now);
        while begin.is_some_and(|begin| begin.elapsed() < AWAKE) {
            if self.is_over(meeting) {
                return;
            }
            std::hint::spin_loop();
        }
        let mut asleep = self.lock();
        // Said before the last look: who ends the meeting after that look sees that somebody sleeps.
        self.sleepers.fetch_add(1, SeqCst);
        while !self.is_over(meeting) {
            asleep = self.met.wait(asleep).unwrap_or_else(PoisonError::into_inner);
        }
        self.sleepers.fetch_sub(1, SeqCst);
    }

    fn wake(&self) {
        if self.sleepers.load(SeqCst) > 0 {
            drop(self.lock());
            self.met.notify_all();
        }
    }

    fn lock(&self) -> MutexGuard<'_, ()> {
        self.asleep.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A guard held by a thread that the others wait for.
pub struct Guard<'a>(&'a Barrier);

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.broken.store(true, SeqCst);
            drop(self.0.lock());
            self.0.met.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU64;

    #[test]
    fn nobody_passes_before_all_have_arrived() {
        for cores in [0, 8] {
            let (barrier, sum) = (Barrier::new(3, cores), AtomicU64::new(0));
            std::thread::scope(|scope| {
                for _ in 0..3 {
                    scope.spawn(|| {
                        for round in 1..=1_000 {
                            sum.fetch_add(1, SeqCst);
                            assert!(!barrier.wait(false).unwrap());
                            assert!(sum.load(SeqCst) >= 3 * round);
                            assert!(!barrier.wait(false).unwrap());
                        }
                    });
                }
            });
        }
    }

    #[test]
    fn one_wish_ends_all_at_the_same_meeting() {
        let barrier = Barrier::new(2, 8);
        let meetings = |wish: u32| {
            let mut number = 0;
            while !barrier.wait(number == wish).unwrap() {
                number += 1;
            }
            number
        };
        let (first, second) = std::thread::scope(|scope| {
            let other = scope.spawn(|| meetings(7));
            (meetings(u32::MAX), other.join().unwrap())
        });
        assert_eq!((first, second), (7, 7));
    }

    #[test]
    fn a_panic_releases_the_others() {
        for cores in [0, 8] {
            let barrier = Barrier::new(2, cores);
            std::thread::scope(|scope| {
                let panics = scope.spawn(|| {
                    let _guard = barrier.guard();
                    std::panic::resume_unwind(Box::new(()));
                });
                assert!(barrier.wait(false).is_err());
                assert!(panics.join().is_err());
            });
        }
    }
}
