//! What a simulation knows of its regions, and when they have to wait for each other.

use crate::change::{Change, Losses};
use crate::control::Control;
use crate::deadlock::DeadlockReport;
use crate::jobs::JobPlan;
use crate::kernel::constants::Constants;
use crate::kernel::regions::Regions;
use crate::kernel::worker::Worker;
use crate::kernel::{Kernel, Wishes};
use crate::mode::Mode;
use crate::node::{DeliveredLetter, Nodes as _, Run};
use crate::observer::Observer;
use crate::standing::Standing;
use crate::state::State;
use crate::system::System;
use hopsim_programs::host::machine::Sending;
use hopsim_programs::standstill::RankState;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// A kind of routers: what a region of them is in a mode.
pub trait Kind {
    /// A region of such routers in a mode.
    type Region<'p, M: Run>: Region<'p, Mode = M>;

    /// Whether all modes are compiled for these routers.
    const ALL_MODES: bool;

    /// Whether those are that most runs have which need so much.
    const USUAL_MODES: bool;

    /// Whether those are that runs have which are plain and have the default choices, but for `UnorderedFull`.
    const PLAIN_MODES: bool;
}

/// Some routers of one kind with their nodes, and all state that only these write.
///
/// A router owes its nodes what [`Nodes`](crate::node::Nodes) says. Results must not depend on how the network is cut.
/// The order in which heads arrive in a cycle does depend on it, so that order may matter only among heads of one slot, of which
/// one arrives in a cycle.
pub trait Region<'p>: Sized + Send + 'p {
    /// The mode of the run.
    type Mode: Run;

    /// Constants that only this kind of router has. What is large in these constants is shared, the rest copied for every region.
    type Shared: Clone + Sync;

    /// The routers and nodes of a network in a snapshot.
    type Saved: Default + Serialize + DeserializeOwned;

    /// Bytes of a router in a system.
    fn router_bytes(system: &System) -> usize;

    /// Most cycles from a grant until the packet has left the router and its link is free again.
    fn crossing(system: &System) -> u32;

    /// The constants of a system.
    fn shared(system: &'p System) -> Self::Shared;

    /// A region of a network at cycle 0, empty.
    fn new(
        constants: Constants<'p>,
        shared: Self::Shared,
        wishes: &Wishes<Self::Mode>,
        place: (&Arc<Regions>, usize),
    ) -> Self;

    /// What the routers and nodes of the region work with, and the nodes.
    fn ground(&self) -> (&Kernel<'p, Self::Mode>, &NodesOf<'p, Self>);

    /// What [`Self::ground`] returns, to be changed.
    fn ground_mut(&mut self) -> (&mut Kernel<'p, Self::Mode>, &mut NodesOf<'p, Self>);

    /// What the routers and nodes of the region work with.
    #[inline]
    fn kernel(&mut self) -> &mut Kernel<'p, Self::Mode> {
        self.ground_mut().0
    }

    /// Simulates the region up to cycle `end`.
    fn advance(&mut self, end: u32);

    /// Counts what is left at cycle `end`, the last of the run.
    fn finish(&mut self, end: u32);

    /// A node of the region, which another simulator drives, sends a message in the present cycle.
    fn post(&mut self, node: u32, message: Sending) {
        let (kernel, nodes) = self.ground_mut();
        nodes.post(kernel.span.node_here(node), kernel.now, message);
    }

    /// Messages that wait at a node of the region, which another simulator drives.
    fn messages_left(&self, node: u32) -> usize {
        let (kernel, nodes) = self.ground();
        nodes.messages_left(kernel.span.node_here(node))
    }

    /// Moves the messages that are there, for nodes that another simulator drives, to `delivered`.
    fn take_delivered(&mut self, delivered: &mut Vec<DeliveredLetter>) {
        let (kernel, nodes) = self.ground_mut();
        nodes.take_delivered(kernel.now, delivered);
    }

    /// Adds the state of the region to that of the network; the regions before it have done so.
    fn save(&self, state: &mut State<Self::Saved>);

    /// Goes on, in a region that is empty so far, with its part of the state of the network.
    fn load(&mut self, state: &State<Self::Saved>);

    /// Whether no packet is in the buffer of a link, or on the way to one.
    fn is_drained(&self) -> bool;

    /// Makes of the state of a network that behind a change, from which on `system` is simulated. Returns what is lost.
    fn change(state: &mut State<Self::Saved>, system: &System, change: &Change) -> Losses;

    /// The ranks of programs in the region.
    fn ranks<'s>(&'s self) -> Vec<RankState<'s>>
    where
        'p: 's,
    {
        let (kernel, nodes) = self.ground();
        let mut ranks = nodes.ranks();
        // Of some message its node does not know yet.
        let news = !kernel.messages.is_empty();
        for rank in &mut ranks {
            rank.is_busy |= news;
        }
        ranks
    }

    /// Whether the programs of the region, if there are any, are done.
    fn are_done(&self) -> bool {
        self.ground().1.are_done()
    }

    /// The first cycle from the present one on in which anything happens, or may happen, in the region by itself; `u32::MAX` if
    /// there is none.
    fn next_event(&self) -> u32;

    /// Goes on at a cycle before which nothing happens.
    fn skip_to(&mut self, cycle: u32) {
        self.kernel().now = cycle;
    }

    /// The packets that stand still, by router and input VC.
    fn standing(whole: Whole<'_, 'p, Self>) -> Vec<Standing>;

    /// Heads that wait for each other, so that none of them can ever move, if there are any.
    fn find_deadlock(whole: Whole<'_, 'p, Self>) -> Option<DeadlockReport>;

    /// Packets of the region, with those that are at nodes and on their way to the region.
    #[cfg(feature = "trace")]
    fn packets(&self) -> usize {
        let (kernel, nodes) = self.ground();
        nodes.waiting() + kernel.inside()
    }

    /// Counts anew what else must hold between any two cycles; the error says what does not.
    #[cfg(feature = "trace")]
    fn audit(_whole: Whole<'_, 'p, Self>) -> Result<(), String> {
        Ok(())
    }
}

/// The nodes of such a region.
pub type NodesOf<'p, R> = <<R as Region<'p>>::Mode as Run>::Nodes;

/// Who hears what happens in such regions.
pub type ObserverOf<'p, R> = <<R as Region<'p>>::Mode as Mode>::Observer;

/// What a thread has of its own that simulates such regions.
pub type WorkerOf<'p, R> = Worker<ObserverOf<'p, R>>;

/// All regions of a network between two windows.
pub struct Whole<'a, 'p, R> {
    /// The system.
    pub system: &'p System,
    /// Which router is in which region.
    pub cut: &'a Regions,
    /// The regions.
    pub regions: &'a [R],
    /// The present cycle: the next one to be simulated.
    pub now: u32,
}

/// Simulates a region up to cycle `end` with what a worker lends it. Returns how many packet-hops that were.
pub fn simulate<'p, R: Region<'p>>(
    region: &mut R,
    worker: &mut WorkerOf<'p, R>,
    end: u32,
    control: &Control,
) -> u64 {
    let before = worker.packet_hops;
    lend(region, worker, |region| region.advance(end));
    let hops = worker.packet_hops - before;
    control.packet_hops.fetch_add(hops, Relaxed);
    hops
}

/// Does something with a region that counts and sends by a worker.
pub fn lend<'p, R: Region<'p>>(region: &mut R, worker: &mut WorkerOf<'p, R>, act: impl FnOnce(&mut R)) {
    std::mem::swap(worker, &mut region.kernel().worker);
    act(region);
    std::mem::swap(worker, &mut region.kernel().worker);
}

/// Cycles times routers of a region that are simulated before anybody looks whether the caller wants to stop: at most 0.1 s.
const PATIENCE: u32 = 1 << 18;

/// The cycles for which regions are simulated each by itself.
pub struct Windows<'p> {
    system: &'p System,
    lookahead: u32,
    /// The cycle in which the last window ends.
    pub end: u32,
}

impl<'p> Windows<'p> {
    /// The windows of a run up to cycle `end`.
    pub fn new(system: &'p System, cut: &Regions, end: u32) -> Self {
        let patience = (PATIENCE / cut.routers(0).len() as u32).max(1);
        Self { system, lookahead: cut.lookahead().min(patience), end }
    }

    /// Where the window ends that begins at cycle `now`, of which a thread with this observer hears from now on.
    pub fn next(&self, observer: &mut impl Observer, now: u32) -> u32 {
        let told = observer.begin_window(now);
        let changes = self.system.jobs.iter().flat_map(JobPlan::changes).map(|phase| phase.from);
        let change = changes.filter(|&from| from > now).min().unwrap_or(u32::MAX);
        now.saturating_add(self.lookahead).min(told).min(change).min(self.end)
    }
}
