//! The regions of a simulation on several threads.
//!
//! Every thread goes from window to window by itself: it simulates regions of its share, then what is left of others (`shares`),
//! sends the mail that has come together (`post`), and waits until all have come as far (`barrier`). What a region may write is
//! its own, and what its thread lends it; so the order in which threads come to regions changes nothing.

mod barrier;
mod post;
mod shares;

use crate::engine::Control;
use crate::engine::kernel::worker::Worker;
use crate::engine::simulation::{Region, Windows, simulate};
use crate::error::RunError;
use barrier::{Barrier, Broken};
pub use post::Post;
use shares::Shares;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Instant;

/// Packet-hops in a window from which on another thread helps more than the meeting with it costs: about 50 µs of work.
const WORTHWHILE: u64 = 300;

/// How many threads help if a window has so many packet-hops.
pub fn worthwhile(packet_hops: u64) -> usize {
    (packet_hops / WORTHWHILE) as usize
}

/// A region, and its packet-hops since this team has had it.
struct Turn<'r, R> {
    region: &'r mut R,
    packet_hops: u64,
}

/// The threads that simulate the regions for some cycles.
pub struct Team<'r, R> {
    /// Whoever has taken a region in a window has it alone: nobody ever waits at these locks.
    turns: Vec<Mutex<Turn<'r, R>>>,
    windows: Windows<'r>,
    post: &'r Post,
    shares: Shares,
    barrier: Barrier,
    control: &'r Control,
}

impl<'r, 'p, R: Region<'p>> Team<'r, R> {
    /// Of so many threads, for regions that have had so much work each.
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
            shares: Shares::new(work, threads),
            barrier: Barrier::new(threads, cores),
            control,
        }
    }

    /// Simulates from cycle `begin` to the end of the windows, on this thread and on others, one for each worker. Returns the
    /// packet-hops of each region, and how many windows there were.
    pub fn run(self, workers: &mut [Worker], begin: u32) -> Result<(Vec<u64>, u32), RunError> {
        self.control.threads_used.fetch_max(workers.len(), Relaxed);
        let Some((first, others)) = workers.split_first_mut() else { return Ok((Vec::new(), 0)) };
        let ends = thread::scope(|scope| {
            let team = &self;
            let work = |(index, worker)| scope.spawn(move || team.work(index + 1, worker, begin));
            let others: Vec<_> = others.iter_mut().enumerate().map(work).collect();
            let windows = team.work(0, first, begin);
            let panics = others.into_iter().filter_map(|other| other.join().err());
            panics.for_each(|panic| std::panic::resume_unwind(panic));
            windows
        });
        // Broken barriers end in a panic above.
        let windows = ends.ok().flatten().ok_or(RunError::Cancelled)?;
        let turns =
            self.turns.into_iter().map(|turn| turn.into_inner().unwrap_or_else(PoisonError::into_inner));
        let hops = turns.enumerate().map(|(number, Turn { region, packet_hops })| {
            self.post.receive((windows, number), first, |mail| region.kernel().receive(mail));
            packet_hops
        });
        Ok((hops.collect(), windows as u32))
    }

    /// What thread `thread` does. Returns how many windows there were; none if the caller wants to stop.
    fn work(&self, thread: usize, worker: &mut Worker, begin: u32) -> Result<Option<usize>, Broken> {
        let _guard = self.barrier.guard();
        let (mut now, mut window) = (begin, 0);
        while now < self.windows.end {
            let end = self.windows.next(&mut worker.recorder, now);
            let began = Instant::now();
            let is_done = self.simulate_share((window, thread), worker, end);
            self.post.send((window, thread), worker);
            let worked = began.elapsed();
            let stops = self.barrier.wait(!is_done)?;
            self.control.count_time(worked, began.elapsed() - worked);
            if stops {
                return Ok(None);
            }
            (now, window) = (end, window + 1);
        }
        Ok(Some(window))
    }

    /// Simulates regions up to cycle `end` as long as there are any that nobody has taken. Returns whether nobody wants to stop.
    fn simulate_share(&self, (window, thread): (usize, usize), worker: &mut Worker, end: u32) -> bool {
        self.shares.begin(window, thread);
        while let Some(number) = self.shares.next(window, thread) {
            let mut turn = self.turns[number].lock().unwrap_or_else(PoisonError::into_inner);
            self.post.receive((window, number), worker, |mail| turn.region.kernel().receive(mail));
            turn.packet_hops += simulate(turn.region, worker, end, self.control);
            if self.control.cancel.load(Relaxed) || self.barrier.is_broken() {
                return false;
            }
        }
        true
    }
}
