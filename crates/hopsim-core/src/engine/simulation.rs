//! One simulation: the regions of a network, each some cycles ahead of the others (see `regions`), in turn or on several threads
//! (see `threads`).

use crate::engine::control::Control;
use crate::engine::kernel::constants::Constants;
use crate::engine::kernel::regions::{Cut, Regions};
use crate::engine::kernel::worker::{Mail, Worker};
use crate::engine::node::RankState;
use crate::engine::region::{Region, Whole, Windows, lend, simulate};
use crate::engine::threads::{self, Pace, Post, Team};
use crate::error::RunError;
use crate::measure::Counts;
use crate::measure::places::Places;
use crate::measure::recorder::Recorder;
use crate::measure::standing::Congestion;
#[cfg(feature = "trace")]
use crate::trace::Tracer;
use hopsim_experiment::config::measure::{MeasureConfig, RecordStream};
use hopsim_experiment::plan::{MOST_ROWS, Plan};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

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
    /// Whether the number of threads varies when all take part.
    #[cfg(feature = "trace")]
    pub varies: bool,
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
    /// The schedule that fits a run on so many threads.
    pub fn new(threads: usize) -> Self {
        Self {
            cut: Cut::Fitting,
            threads: threads.max(1),
            #[cfg(feature = "trace")]
            is_forced: false,
            #[cfg(feature = "trace")]
            varies: false,
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
    /// The workers, one per thread.
    pub(super) workers: Vec<Worker>,
    post: Post,
    /// Packet-hops of each region in the cycles that were simulated last.
    work: Vec<u64>,
    pace: Pace,
    /// What is looked at after every interval, if anything is.
    congestion: Option<Congestion>,
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
            congestion: plan
                .experiment
                .measure
                .streams
                .contains(&RecordStream::CongestionTrees)
                .then(Congestion::default),
            #[cfg(feature = "trace")]
            schedule,
            cut,
            now: 0,
        }
    }

    /// The whole network, to be looked at.
    pub fn whole(&self) -> Whole<'_, 'p, R> {
        Whole { plan: self.plan, cut: &self.cut, regions: &self.regions, now: self.now }
    }

    /// The present cycle: the next one to be simulated.
    pub fn now(&self) -> u32 {
        self.now
    }

    /// Simulates up to cycle `end`, unless the caller wants to stop. Afterwards no mail is under way.
    pub fn advance(&mut self, end: u32, control: &Control) -> Result<(), RunError> {
        while self.now < end {
            self.advance_to(end.min(self.next_look()), control)?;
            self.look();
        }
        self.check_rows()
    }

    /// Refuses to go on if there are more rows of packets than anybody could read.
    fn check_rows(&mut self) -> Result<(), RunError> {
        let MeasureConfig { streams, packets, .. } = &self.plan.experiment.measure;
        if !streams.contains(&RecordStream::PacketHops) {
            return Ok(());
        }
        let rows: usize = self.regions.iter_mut().map(|region| region.kernel().places.packet_hops()).sum();
        let every = packets.as_ref().map_or(1, |packets| packets.every);
        if rows > MOST_ROWS as usize { Err(RunError::LongTrace(every, MOST_ROWS)) } else { Ok(()) }
    }

    /// The next cycle in which it is looked what stands still.
    fn next_look(&self) -> u32 {
        let interval = self.plan.experiment.measure.interval;
        self.congestion.as_ref().map_or(u32::MAX, |_| (self.now / interval + 1).saturating_mul(interval))
    }

    /// Looks what stands still, if it is time for that.
    fn look(&mut self) {
        let Some(mut congestion) = self.congestion.take() else { return };
        let MeasureConfig { warmup, interval, .. } = self.plan.experiment.measure;
        if self.now.is_multiple_of(interval) {
            let in_window = self.now > warmup.cycles() || self.plan.has_programs();
            congestion.look(self.plan, (self.now, in_window), &R::standing(self.whole()));
        }
        self.congestion = Some(congestion);
    }

    fn advance_to(&mut self, end: u32, control: &Control) -> Result<(), RunError> {
        let windows = Windows::new(self.plan, &self.cut, end);
        let threads = if control.profile.is_some() { 1 } else { self.threads() };
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

    /// With how many threads to go on in the next cycles.
    fn threads(&mut self) -> usize {
        #[cfg(feature = "trace")]
        if self.schedule.is_forced {
            let fewer = if self.schedule.varies { self.now as usize / 256 % self.workers.len() } else { 0 };
            return self.workers.len() - fewer;
        }
        self.pace.threads(self.workers.len())
    }

    /// Simulates all regions on this thread. What a region sends, others that come after it see at once.
    fn advance_alone(&mut self, windows: &Windows<'_>, control: &Control) -> Result<(), RunError> {
        let mut now = self.now;
        self.work.fill(0);
        while now < windows.end {
            let stop = windows.next(&mut self.workers[0].recorder, now);
            let mut times = Vec::new();
            for (number, region) in self.regions.iter_mut().enumerate() {
                let clock = control.profile.as_ref().map(|_| Instant::now());
                let worker = &mut self.workers[0];
                region.kernel().receive(&mut worker.mail[number]);
                self.work[number] += simulate(region, worker, stop, control);
                times.extend(clock.map(|clock| clock.elapsed()));
                if control.cancel.load(Relaxed) {
                    return Err(RunError::Cancelled);
                }
            }
            control.add_to_profile(times);
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
        self.skip_to(next.min(end).min(self.next_look()));
        self.look();
        next == u32::MAX
    }

    /// Goes on at a cycle before which nothing happens.
    pub(super) fn skip_to(&mut self, cycle: u32) {
        self.regions.iter_mut().for_each(|region| region.skip_to(cycle));
        self.now = cycle;
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
        Counts { recorder, places: places.unwrap_or_default(), congestion: self.congestion.take() }
    }
}
