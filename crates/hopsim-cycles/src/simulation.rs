//! One simulation: the regions of a network, each some cycles ahead of the others (see `regions`), in turn or on several threads
//! (see `threads`).

use crate::change::{Change, Losses};
use crate::control::{Cancelled, Control};
use crate::deadlock::DeadlockReport;
use crate::kernel::Wishes;
use crate::kernel::constants::Constants;
use crate::kernel::regions::{Cut, Regions, Span};
use crate::kernel::worker::{Mail, Worker};
use crate::node::DeliveredLetter;
use crate::observer::Observer;
use crate::region::{ObserverOf, Region, Whole, Windows, WorkerOf, lend, simulate};
use crate::standing::Standing;
use crate::state::State;
use crate::system::System;
use crate::threads::{self, Pace, Post, Team};
use hopsim_programs::host::machine::Sending;
use hopsim_programs::standstill::RankState;
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

/// A simulation of a system.
pub struct Simulation<'p, R: Region<'p>> {
    system: &'p System,
    cut: Arc<Regions>,
    regions: Vec<R>,
    /// The workers, one per thread.
    workers: Vec<WorkerOf<'p, R>>,
    post: Post,
    /// Packet-hops of each region in the cycles that were simulated last.
    work: Vec<u64>,
    pace: Pace,
    #[cfg(feature = "trace")]
    schedule: Schedule,
    now: u32,
}

/// What observers have heard in a run.
pub struct Heard<O: Observer> {
    /// The observers of all threads.
    pub observers: Vec<O>,
    /// What they have kept of the places of each region, in the order of the regions.
    pub places: Vec<O::Places>,
    /// Packet-hops since the beginning of the run, each of them a grant.
    pub packet_hops: u64,
    /// How often routing was asked, since the beginning of the run, to choose an output for a head.
    pub decisions: u64,
}

/// A simulation whose kind of routers and mode are forgotten: calls are for many cycles each, so that nothing is lost.
pub trait Simulate<'p, O: Observer>: Send {
    /// The system that is simulated.
    fn system(&self) -> &'p System;

    /// Most cycles from a grant until the packet has left the router and its link is free again.
    fn crossing(&self) -> u32;

    /// The present cycle: the next one to be simulated.
    fn now(&self) -> u32;

    /// Simulates up to cycle `end`, unless the caller wants to stop. Afterwards no mail is under way.
    fn advance(&mut self, end: u32, control: &Control) -> Result<(), Cancelled>;

    /// The first cycle from the present one on in which anything happens, or may happen, in the whole network; `u32::MAX` if
    /// there is none.
    fn next_event(&self) -> u32;

    /// Goes on at a cycle before which nothing happens.
    fn skip_to(&mut self, cycle: u32);

    /// Heads that wait for each other, so that none of them can ever move, if there are any.
    fn find_deadlock(&self) -> Option<DeadlockReport>;

    /// The packets that stand still, by router and input VC.
    fn standing(&self) -> Vec<Standing>;

    /// The ranks of programs.
    fn ranks(&self) -> Vec<RankState<'_>>;

    /// Whether the programs, if there are any, are done.
    fn are_done(&self) -> bool;

    /// Node `source`, which another simulator drives, sends a message in the present cycle.
    fn post(&mut self, source: u32, message: Sending);

    /// Messages some packet of which has still to be admitted at a node that another simulator drives.
    fn messages_left(&self, node: u32) -> usize;

    /// The messages that are there, for nodes that another simulator drives, and that no call has returned, in no order.
    fn take_delivered(&mut self) -> Vec<DeliveredLetter>;

    /// Whether no packet is in the buffer of a link, or on the way to one.
    fn is_drained(&self) -> bool;

    /// The observers, one per thread.
    fn observers(&mut self) -> Vec<&mut O>;

    /// What observers keep of the places of each region, in the order of the regions, with which places these are.
    fn places(&mut self) -> Vec<(Span, &mut O::Places)>;

    /// The state of the simulation as bytes, without what observers have heard: the same however it is carried out.
    fn save(&self) -> Vec<u8>;

    /// Goes on with a state, at cycle 0.
    fn load(&mut self, state: &[u8]) -> Result<(), Unreadable> {
        self.load_changed(state, &Change::default()).map(|_| ())
    }

    /// Goes on, at cycle 0, with what a change makes of the state of another system. Returns what is lost.
    fn load_changed(&mut self, state: &[u8], change: &Change) -> Result<Losses, Unreadable>;

    /// Tells observers what is left at cycle `end`, the last of the run, and returns all that they have heard.
    fn finish(&mut self, end: u32) -> Heard<O>;

    /// All packets that are at nodes, in routers or on their way.
    #[cfg(feature = "trace")]
    fn packets(&self) -> u64;

    /// Counts anew what else must hold between any two cycles; the error says what does not.
    #[cfg(feature = "trace")]
    fn audit(&self) -> Result<(), String>;
}

/// Bytes that are no state of such a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unreadable;

impl<'p, R: Region<'p>> Simulation<'p, R> {
    /// An empty network at cycle 0, with observers that are made from wishes.
    pub fn new(system: &'p System, wishes: &Wishes<R::Mode>, schedule: Schedule) -> Self {
        let (constants, shared) = (Constants::new(system, R::crossing(system)), R::shared(system));
        let cut = Regions::new(system, (schedule.cut, schedule.threads), R::router_bytes(system));
        #[cfg(feature = "trace")]
        let cut = cut.stretched(schedule.stretched);
        let (cut, regions) = (Arc::new(cut.clone()), cut.count());
        let threads = schedule.threads.min(regions);
        let mail = || (0..regions).map(|_| Mail::default()).collect();
        let worker =
            |_| Worker { observer: ObserverOf::<R>::begin(wishes), mail: mail(), ..Worker::default() };
        let post = Post::new(threads, regions);
        #[cfg(feature = "trace")]
        let post = post.reversed(schedule.reversed);
        Self {
            system,
            regions: threads::make(threads, regions, |number| {
                R::new(constants, shared.clone(), wishes, (&cut, number))
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

    /// The whole network, to be looked at.
    fn whole(&self) -> Whole<'_, 'p, R> {
        Whole { system: self.system, cut: &self.cut, regions: &self.regions, now: self.now }
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
    fn advance_alone(&mut self, windows: &Windows<'_>, control: &Control) -> Result<(), Cancelled> {
        let mut now = self.now;
        self.work.fill(0);
        while now < windows.end {
            let stop = windows.next(&mut self.workers[0].observer, now);
            let mut times = Vec::new();
            for (number, region) in self.regions.iter_mut().enumerate() {
                let clock = control.profile.as_ref().map(|_| Instant::now());
                let worker = &mut self.workers[0];
                region.kernel().receive(&mut worker.mail[number]);
                self.work[number] += simulate(region, worker, stop, control);
                times.extend(clock.map(|clock| clock.elapsed()));
                if control.cancel.load(Relaxed) {
                    return Err(Cancelled);
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
}

impl<'p, R: Region<'p>> Simulate<'p, ObserverOf<'p, R>> for Simulation<'p, R> {
    fn system(&self) -> &'p System {
        self.system
    }

    fn crossing(&self) -> u32 {
        R::crossing(self.system)
    }

    fn now(&self) -> u32 {
        self.now
    }

    fn advance(&mut self, end: u32, control: &Control) -> Result<(), Cancelled> {
        if self.now >= end {
            return Ok(());
        }
        let windows = Windows::new(self.system, &self.cut, end);
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

    fn next_event(&self) -> u32 {
        self.regions.iter().map(R::next_event).min().unwrap_or(u32::MAX)
    }

    fn skip_to(&mut self, cycle: u32) {
        self.regions.iter_mut().for_each(|region| region.skip_to(cycle));
        self.now = cycle;
    }

    fn find_deadlock(&self) -> Option<DeadlockReport> {
        R::find_deadlock(self.whole())
    }

    fn standing(&self) -> Vec<Standing> {
        R::standing(self.whole())
    }

    fn ranks(&self) -> Vec<RankState<'_>> {
        self.regions.iter().flat_map(R::ranks).collect()
    }

    fn are_done(&self) -> bool {
        self.regions.iter().all(R::are_done)
    }

    fn post(&mut self, source: u32, message: Sending) {
        let region = self.cut.of(source / self.system.topology.nodes_per_router());
        self.regions[region].post(source, message);
    }

    fn messages_left(&self, node: u32) -> usize {
        let region = self.cut.of(node / self.system.topology.nodes_per_router());
        self.regions[region].messages_left(node)
    }

    fn take_delivered(&mut self) -> Vec<DeliveredLetter> {
        let mut delivered = Vec::new();
        self.regions.iter_mut().for_each(|region| region.take_delivered(&mut delivered));
        delivered
    }

    fn is_drained(&self) -> bool {
        self.regions.iter().all(R::is_drained)
    }

    fn observers(&mut self) -> Vec<&mut ObserverOf<'p, R>> {
        self.workers.iter_mut().map(|worker| &mut worker.observer).collect()
    }

    fn places(&mut self) -> Vec<(Span, &mut <ObserverOf<'p, R> as Observer>::Places)> {
        let kernels = self.regions.iter_mut().map(R::kernel);
        kernels.map(|kernel| (kernel.span, &mut kernel.places)).collect()
    }

    fn save(&self) -> Vec<u8> {
        let mut state = State {
            cycle: self.now,
            region: R::Saved::default(),
            packet_hops: self.workers.iter().map(|worker| worker.packet_hops).sum(),
            decisions: self.workers.iter().map(|worker| worker.decisions).sum(),
        };
        self.regions.iter().for_each(|region| region.save(&mut state));
        state.to_bytes()
    }

    fn load_changed(&mut self, state: &[u8], change: &Change) -> Result<Losses, Unreadable> {
        let mut state = State::of_bytes(state).ok_or(Unreadable)?;
        let lost = R::change(&mut state, self.system, change);
        self.regions.iter_mut().for_each(|region| region.load(&state));
        self.workers[0].packet_hops += state.packet_hops;
        self.workers[0].decisions += state.decisions;
        self.skip_to(state.cycle);
        Ok(lost)
    }

    fn finish(&mut self, end: u32) -> Heard<ObserverOf<'p, R>> {
        let mut workers = std::mem::take(&mut self.workers);
        let mut places = Vec::new();
        for region in &mut self.regions {
            lend(region, &mut workers[0], |region| region.finish(end));
            places.push(std::mem::take(&mut region.kernel().places));
        }
        Heard {
            places,
            packet_hops: workers.iter().map(|worker| worker.packet_hops).sum(),
            decisions: workers.iter().map(|worker| worker.decisions).sum(),
            observers: workers.into_iter().map(|worker| worker.observer).collect(),
        }
    }

    #[cfg(feature = "trace")]
    fn packets(&self) -> u64 {
        self.regions.iter().map(R::packets).sum::<usize>() as u64
    }

    #[cfg(feature = "trace")]
    fn audit(&self) -> Result<(), String> {
        R::audit(self.whole())
    }
}
