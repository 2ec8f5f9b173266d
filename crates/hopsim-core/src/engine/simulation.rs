//! One simulation: the regions of a network, each some cycles ahead of the others (see `regions`), in turn or on several threads
//! (see `threads`).

use crate::engine::Control;
use crate::engine::kernel::Kernel;
use crate::engine::kernel::constants::Constants;
use crate::engine::kernel::regions::{Cut, Regions};
use crate::engine::kernel::worker::{Mail, Worker};
use crate::engine::mode::Mode;
use crate::engine::node::{Delivered, RankState, Run};
use crate::engine::threads::{self, Pace, Post, Team};
use crate::error::{DeadlockReport, RunError};
use crate::measure::Counts;
use crate::measure::places::Places;
use crate::measure::recorder::Recorder;
use crate::plan::{JobPlan, Plan};
#[cfg(feature = "trace")]
use crate::trace::Tracer;
use hopsim_programs::host::machine::Sending;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// A kind of routers: what a region of them is in a mode.
pub trait Kind {
    /// That.
    type Region<'p, M: Run>: Region<'p, Mode = M>;

    /// Whether there are modes for it that leave something out.
    const MODES: bool;
}

/// Some routers of one kind with their nodes, and all state that only these write.
///
/// A router owes its nodes what [`Nodes`](crate::engine::node::Nodes) says. Results must not depend on how the network is cut: the
/// order in which heads arrive in a cycle does, so it may matter only to those of one slot, of which there is one in a cycle.
pub trait Region<'p>: Sized + Send + 'p {
    /// The mode of the run.
    type Mode: Mode;

    /// Constants that only this kind of router has. What is large in them is shared, the rest copied for every region.
    type Shared: Clone + Sync;

    /// Bytes of a router in a plan.
    fn router_bytes(plan: &Plan) -> usize;

    /// Most cycles from a grant until the packet has left the router and its link is free again.
    fn crossing(plan: &Plan) -> u32;

    /// The constants of a plan.
    fn shared(plan: &'p Plan) -> Self::Shared;

    /// A region of a network at cycle 0, empty.
    fn new(constants: Constants<'p>, shared: Self::Shared, regions: &Arc<Regions>, number: usize) -> Self;

    /// What its routers and nodes work with.
    fn kernel(&mut self) -> &mut Kernel<'p, Self::Mode>;

    /// Simulates up to cycle `end`.
    fn advance(&mut self, end: u32);

    /// Counts what is left at cycle `end`, the last of the run.
    fn finish(&mut self, end: u32);

    /// A node of it, which another simulator drives, sends a message in the present cycle.
    fn post(&mut self, node: u32, message: Sending);

    /// Moves the messages for such nodes that are there to `delivered`.
    fn take_delivered(&mut self, delivered: &mut Vec<Delivered>);

    /// The ranks of programs in the region.
    fn ranks(&self) -> Vec<RankState<'_>>;

    /// Whether the programs of the region, if there are any, are done.
    fn are_done(&self) -> bool;

    /// The first cycle from the present one on in which anything happens, or may happen, in the region by itself; `u32::MAX` if
    /// there is none.
    fn next_event(&self) -> u32;

    /// Goes on at a cycle before which nothing happens.
    fn skip_to(&mut self, cycle: u32);

    /// Heads that wait for each other, so that none of them can ever move, if there are any.
    fn find_deadlock(simulation: &Simulation<'p, Self>) -> Option<DeadlockReport>;

    /// Packets of the region, those at nodes and on their way to it included.
    #[cfg(feature = "trace")]
    fn packets(&self) -> usize;

    /// Counts anew what else must hold between any two cycles; the error says what does not.
    #[cfg(feature = "trace")]
    fn audit(_simulation: &Simulation<'p, Self>) -> Result<(), String> {
        Ok(())
    }
}

/// How a simulation is carried out. No result depends on it.
#[derive(Clone, Copy)]
pub struct Schedule {
    /// How finely the network is cut.
    pub cut: Cut,
    /// Most threads that take part.
    pub threads: usize,
    /// Whether all threads take part even if it is not worth while.
    #[cfg(feature = "trace")]
    pub is_forced: bool,
    /// Whether mail is read in the reverse of its order.
    #[cfg(feature = "trace")]
    pub reversed: bool,
    /// Cycles that regions run ahead of each other beyond what they may.
    #[cfg(feature = "trace")]
    pub stretched: u32,
    /// A region whose simulation panics.
    #[cfg(feature = "trace")]
    pub panics: Option<usize>,
}

impl Schedule {
    /// What fits a run on so many threads.
    pub fn new(threads: usize) -> Self {
        Self {
            cut: Cut::Fitting,
            threads: threads.max(1),
            #[cfg(feature = "trace")]
            is_forced: false,
            #[cfg(feature = "trace")]
            reversed: false,
            #[cfg(feature = "trace")]
            stretched: 0,
            #[cfg(feature = "trace")]
            panics: None,
        }
    }
}

/// A simulation of a plan.
pub struct Simulation<'p, R> {
    pub(super) plan: &'p Plan,
    pub(super) cut: Arc<Regions>,
    pub(super) regions: Vec<R>,
    /// One per thread.
    pub(super) workers: Vec<Worker>,
    post: Post,
    /// Packet-hops of each region in the cycles that were simulated last.
    work: Vec<u64>,
    pace: Pace,
    #[cfg(feature = "trace")]
    schedule: Schedule,
    now: u32,
}

impl<'p, R: Region<'p>> Simulation<'p, R> {
    /// An empty network at cycle 0.
    pub fn new(plan: &'p Plan, schedule: Schedule) -> Self {
        let (constants, shared) = (Constants::new(plan, R::crossing(plan)), R::shared(plan));
        let cut = Regions::new(plan, (schedule.cut, schedule.threads), R::router_bytes(plan));
        #[cfg(feature = "trace")]
        let cut = cut.stretched(schedule.stretched);
        let (cut, regions) = (Arc::new(cut.clone()), cut.count());
        let threads = schedule.threads.min(regions);
        let mail = || (0..regions).map(|_| Mail::default()).collect();
        let worker = |_| Worker { recorder: Recorder::new(plan), mail: mail(), ..Worker::default() };
        let post = Post::new(threads, regions);
        #[cfg(feature = "trace")]
        let post = post.reversed(schedule.reversed);
        Self {
            plan,
            regions: threads::make(threads, regions, |number| {
                R::new(constants, shared.clone(), &cut, number)
            }),
            workers: (0..threads).map(worker).collect(),
            post,
            work: vec![0; regions],
            pace: Pace::new(threads),
            #[cfg(feature = "trace")]
            schedule,
            cut,
            now: 0,
        }
    }

    /// The present cycle: the next one to be simulated.
    pub fn now(&self) -> u32 {
        self.now
    }

    /// Simulates up to cycle `end`, unless the caller wants to stop. Afterwards no mail is under way.
    pub fn advance(&mut self, end: u32, control: &Control) -> Result<(), RunError> {
        let windows = Windows { plan: self.plan, lookahead: self.cut.lookahead(), end };
        let threads = self.threads();
        match self.workers[..threads].split_first_mut() {
            Some(workers) if threads > 1 => {
                let team = Team::new(&mut self.regions, &self.work, (&self.post, threads), windows, control);
                #[cfg(feature = "trace")]
                let team = team.panicking(self.schedule.panics);
                self.work = team.run(workers, self.now, &mut self.pace)?;
            }
            _ => self.advance_alone(&windows, control)?,
        }
        self.now = end;
        Ok(())
    }

    /// With how many threads to go on.
    fn threads(&mut self) -> usize {
        #[cfg(feature = "trace")]
        if self.schedule.is_forced {
            return self.workers.len();
        }
        self.pace.threads(self.workers.len())
    }

    /// The same on this thread. What a region sends the others see at once, as far as they come after it.
    fn advance_alone(&mut self, windows: &Windows<'_>, control: &Control) -> Result<(), RunError> {
        let mut now = self.now;
        self.work.fill(0);
        while now < windows.end {
            let stop = windows.next(&mut self.workers[0].recorder, now);
            for (number, region) in self.regions.iter_mut().enumerate() {
                let worker = &mut self.workers[0];
                region.kernel().receive(&mut worker.mail[number]);
                self.work[number] += simulate(region, worker, stop, control);
                if control.cancel.load(Relaxed) {
                    return Err(RunError::Cancelled);
                }
            }
            now = stop;
        }
        for (region, mail) in self.regions.iter_mut().zip(&mut self.workers[0].mail) {
            region.kernel().receive(mail);
        }
        Ok(())
    }

    /// If nothing happens before some cycle in the whole network, goes on there, at most at cycle `end`. Returns whether nothing
    /// will ever happen.
    pub fn skip_idle(&mut self, end: u32) -> bool {
        let next = self.regions.iter().map(R::next_event).min().unwrap_or(u32::MAX);
        if next <= self.now {
            return false;
        }
        let cycle = next.min(end);
        self.regions.iter_mut().for_each(|region| region.skip_to(cycle));
        self.now = cycle;
        next == u32::MAX
    }

    /// The ranks of programs.
    pub fn ranks(&self) -> Vec<RankState<'_>> {
        self.regions.iter().flat_map(R::ranks).collect()
    }

    /// Whether the programs, if there are any, are done.
    pub fn are_done(&self) -> bool {
        self.regions.iter().all(R::are_done)
    }

    /// Watches packets from now on.
    #[cfg(feature = "trace")]
    pub fn watch(&mut self) {
        self.workers.iter_mut().for_each(|worker| _ = worker.observer.watch());
    }

    /// All that was watched.
    #[cfg(feature = "trace")]
    pub fn take_tracer(&mut self) -> Tracer {
        let tracers = self.workers.iter_mut().map(|worker| std::mem::take(worker.observer.watch()));
        tracers.reduce(Tracer::joined).unwrap_or_default()
    }

    /// Counts what is left at cycle `end`, the last of the run, and returns all that was counted.
    pub fn finish(&mut self, end: u32) -> Counts {
        let mut workers = std::mem::take(&mut self.workers).into_iter();
        let mut first = workers.next().unwrap_or_default();
        let mut places: Option<Places> = None;
        for region in &mut self.regions {
            lend(region, &mut first, |region| region.finish(end));
            let counted = std::mem::take(&mut region.kernel().places);
            match &mut places {
                Some(places) => places.append(counted),
                None => places = Some(counted),
            }
        }
        let mut recorder = first.recorder;
        workers.for_each(|worker| recorder.add(worker.recorder));
        Counts { recorder, places: places.unwrap_or_default() }
    }
}

/// Simulates a region up to cycle `end` with what a worker lends it. Returns how many packet-hops that were.
pub fn simulate<'p, R: Region<'p>>(region: &mut R, worker: &mut Worker, end: u32, control: &Control) -> u64 {
    let before = worker.recorder.packet_hops;
    lend(region, worker, |region| region.advance(end));
    let hops = worker.recorder.packet_hops - before;
    control.packet_hops.fetch_add(hops, Relaxed);
    hops
}

/// Does something with a region that counts and sends by a worker.
fn lend<'p, R: Region<'p>>(region: &mut R, worker: &mut Worker, act: impl FnOnce(&mut R)) {
    std::mem::swap(worker, &mut region.kernel().worker);
    act(region);
    std::mem::swap(worker, &mut region.kernel().worker);
}

/// The cycles for which regions are simulated each by itself.
pub struct Windows<'p> {
    plan: &'p Plan,
    lookahead: u32,
    /// Where the last one ends.
    pub end: u32,
}

impl Windows<'_> {
    /// Where the window ends that begins at cycle `now`, for which a thread with this recorder counts from now on.
    pub fn next(&self, recorder: &mut Recorder, now: u32) -> u32 {
        let batch = recorder.start_batch(now);
        let changes = self.plan.jobs.iter().flat_map(JobPlan::changes).map(|phase| phase.from);
        let change = changes.filter(|&from| from > now).min().unwrap_or(u32::MAX);
        now.saturating_add(self.lookahead).min(batch).min(change).min(self.end)
    }
}
