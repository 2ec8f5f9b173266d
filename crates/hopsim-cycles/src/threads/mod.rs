//! The regions of a simulation on several threads.
//!
//! Every thread goes from window to window by itself: it simulates regions of its share, then what is left of others (`shares`),
//! sends the mail that has come together (`post`), and waits until all have come as far (`barrier`). What a region may write is
//! its own, and what its thread lends it; so the order in which threads come to regions changes nothing.

mod barrier;
mod post;
mod shares;

use crate::control::{Cancelled, Control};
use crate::region::{Region, Windows, WorkerOf, simulate};
use barrier::{Barrier, Broken};
pub use post::Post;
use shares::WorkShares;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Share of their time that threads must work at least: otherwise half as many threads do as well.
const BUSY: f64 = 0.55;

/// Share of their time that threads must work so that more of them are tried.
const VERY_BUSY: f64 = 0.8;

/// How many looks of the watchdog one thread goes on alone at most before others try again.
const LONGEST_PAUSE: u32 = 64;

/// How many threads are worth while: few if windows are so short, or cores so busy with others, that they mostly wait.
pub struct Pace {
    threads: usize,
    /// How many looks of the watchdog one thread goes on alone from now on, and how many it has after the last trial.
    pause: u32,
    last_pause: u32,
}

impl Pace {
    /// A pace that begins with so many threads.
    pub fn new(threads: usize) -> Self {
        Self { threads, pause: 0, last_pause: 0 }
    }

    /// With how many of `most` threads to go on.
    pub fn threads(&mut self, most: usize) -> usize {
        if self.pause > 0 {
            self.pause -= 1;
            return 1;
        }
        self.threads.min(most)
    }

    /// Learns that so many threads have worked and waited so long in all.
    fn learn(&mut self, threads: usize, (worked, waited): (Duration, Duration)) {
        let busy = worked.as_secs_f64() / (worked + waited).as_secs_f64().max(1e-9);
        if busy < BUSY {
            self.threads = (threads / 2).max(2);
            self.last_pause = if threads == 2 { (2 * self.last_pause).clamp(1, LONGEST_PAUSE) } else { 0 };
        } else {
            self.threads = if busy > VERY_BUSY { 2 * threads } else { threads };
            self.last_pause = 0;
        }
        self.pause = self.last_pause;
    }
}

/// Makes `count` things on so many threads, in the order of their numbers.
pub fn make<T: Send>(threads: usize, count: usize, make: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let each = count.div_ceil(threads);
    let part =
        |thread: usize| (thread * each..((thread + 1) * each).min(count)).map(&make).collect::<Vec<T>>();
    thread::scope(|scope| {
        let part = &part;
        let others: Vec<_> = (1..threads).map(|thread| scope.spawn(move || part(thread))).collect();
        let mut all = part(0);
        for other in others {
            all.extend(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        all
    })
}

/// A region, and its packet-hops since the team has had it.
struct Turn<'r, R> {
    region: &'r mut R,
    packet_hops: u64,
}

/// The threads that simulate the regions for some cycles.
pub struct Team<'r, R> {
    /// The regions. A thread that has taken one in a window has it alone: nobody ever waits at these locks.
    turns: Vec<Mutex<Turn<'r, R>>>,
    windows: Windows<'r>,
    post: &'r Post,
    shares: WorkShares,
    barrier: Barrier,
    control: &'r Control,
    /// Time that all threads have worked and waited \[ns\].
    time: [AtomicU64; 2],
    /// A region whose simulation panics.
    #[cfg(feature = "trace")]
    panics: Option<usize>,
}

impl<'r, 'p, R: Region<'p>> Team<'r, R> {
    /// A team of so many threads, for regions that have had so much work each.
    pub fn new(
        regions: &'r mut [R],
        work: &[u64],
        (post, threads): (&'r Post, usize),
        windows: Windows<'r>,
        control: &'r Control,
    ) -> Self {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let turn = |region| Mutex::new(Turn { region, packet_hops: 0 });
        Self {
            turns: regions.iter_mut().map(turn).collect(),
            windows,
            post,
            shares: WorkShares::new(work, threads),
            barrier: Barrier::new(threads, cores),
            control,
            time: [AtomicU64::new(0), AtomicU64::new(0)],
            #[cfg(feature = "trace")]
            panics: None,
        }
    }

    /// The team with a region whose simulation panics.
    #[cfg(feature = "trace")]
    pub fn panicking(self, panics: Option<usize>) -> Self {
        Self { panics, ..self }
    }

    /// Simulates from cycle `begin` to the end of the windows, on this thread with the first worker and on others with one each.
    /// Returns the packet-hops of each region.
    pub fn run(
        self,
        (first, others): (&mut WorkerOf<'p, R>, &mut [WorkerOf<'p, R>]),
        begin: u32,
        pace: &mut Pace,
    ) -> Result<Vec<u64>, Cancelled> {
        let threads = 1 + others.len();
        self.control.threads_used.fetch_max(threads, Relaxed);
        let ends = thread::scope(|scope| {
            let team = &self;
            let work = |(index, worker)| scope.spawn(move || team.work(index + 1, worker, begin));
            let others: Vec<_> = others.iter_mut().enumerate().map(work).collect();
            let windows = team.work(0, first, begin);
            for other in others {
                if let Err(panic) = other.join() {
                    std::panic::resume_unwind(panic);
                }
            }
            windows
        });
        let [worked, waited] = self.time.map(|time| Duration::from_nanos(time.into_inner()));
        self.control.count_time(worked, waited);
        pace.learn(threads, (worked, waited));
        // Broken barriers end in a panic above.
        let windows = ends.ok().flatten().ok_or(Cancelled)?;
        let turns =
            self.turns.into_iter().map(|turn| turn.into_inner().unwrap_or_else(PoisonError::into_inner));
        let hops = turns.enumerate().map(|(number, Turn { region, packet_hops })| {
            self.post.receive(windows, number, first, |mail| region.kernel().receive(mail));
            packet_hops
        });
        Ok(hops.collect())
    }

    /// What thread `thread` does. Returns how many windows there were; none if the caller wants to stop.
    fn work(&self, thread: usize, worker: &mut WorkerOf<'p, R>, begin: u32) -> Result<Option<usize>, Broken> {
        let _guard = self.barrier.guard();
        let (mut now, mut window) = (begin, 0);
        while now < self.windows.end {
            let end = self.windows.next(&mut worker.observer, now);
            let clock = Instant::now();
            let is_done = self.simulate_share((window, thread), worker, end);
            self.post.send(window, thread, worker);
            self.count_time(0, clock);
            let clock = Instant::now();
            let stops = self.barrier.wait(!is_done)?;
            self.count_time(1, clock);
            if stops {
                return Ok(None);
            }
            (now, window) = (end, window + 1);
        }
        Ok(Some(window))
    }

    /// Counts the time since `clock`: 0 for work, 1 for waiting.
    fn count_time(&self, kind: usize, clock: Instant) {
        self.time[kind].fetch_add(clock.elapsed().as_nanos() as u64, Relaxed);
    }

    /// Simulates regions up to cycle `end` as long as there are any that nobody has taken. Returns whether nobody wants to stop.
    fn simulate_share(
        &self,
        (window, thread): (usize, usize),
        worker: &mut WorkerOf<'p, R>,
        end: u32,
    ) -> bool {
        self.shares.begin(window, thread);
        while let Some(number) = self.shares.next(window, thread) {
            #[cfg(feature = "trace")]
            assert!(self.panics != Some(number), "region {number} panics as it was told to");
            let mut turn = self.turns[number].lock().unwrap_or_else(PoisonError::into_inner);
            self.post.receive(window, number, worker, |mail| turn.region.kernel().receive(mail));
            turn.packet_hops += simulate(turn.region, worker, end, self.control);
            if self.control.cancel.load(Relaxed) || self.barrier.is_broken() {
                return false;
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_that_mostly_wait_are_given_up_and_tried_again() {
        let time = |worked, waited| (Duration::from_millis(worked), Duration::from_millis(waited));
        let mut pace = Pace::new(8);
        assert_eq!(pace.threads(8), 8);
        pace.learn(8, time(90, 10));
        assert_eq!(pace.threads(8), 8);
        pace.learn(8, time(10, 90));
        assert_eq!(pace.threads(8), 4);
        pace.learn(4, time(10, 90));
        assert_eq!(pace.threads(8), 2);
        for alone in [1, 2, 4] {
            pace.learn(2, time(10, 90));
            for _ in 0..alone {
                assert_eq!(pace.threads(8), 1);
            }
            assert_eq!(pace.threads(8), 2);
        }
        pace.learn(2, time(90, 10));
        assert_eq!(pace.threads(8), 4);
    }

    #[test]
    fn what_threads_make_is_in_order() {
        for (threads, count) in [(1, 5), (2, 5), (3, 7), (5, 5), (4, 6)] {
            assert!(make(threads, count, |number| number).into_iter().eq(0..count), "{count} by {threads}");
        }
    }
}
