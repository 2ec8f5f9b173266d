//! What never changes in a run and every region reads.

use crate::engine::mask::Mask;
use crate::engine::mode::Mode;
use crate::engine::rules::Rules;
use crate::engine::tables::Tables;
use crate::network::{NONE, TERMINAL};
use crate::plan::Plan;
use crate::rng::{Purpose, Stream};
use crate::routing::minimal::Minimal;
use crate::routing::{Routing, is_injection};
use std::marker::PhantomData;
use std::ops::RangeInclusive;
use std::sync::Arc;

/// The constants of a run, computed once. Every region has a copy of them, so that hot code finds them where its state is; what
/// is large is not copied.
#[derive(Clone)]
pub struct Shared<'p, const W: usize, M> {
    /// The plan.
    pub plan: &'p Plan,
    /// Its routing.
    pub routing: &'p Routing,
    /// The minimal routing underneath.
    pub base: &'p Minimal,
    /// What the document chose.
    pub rules: Rules,
    /// The layout of a router.
    pub tables: Tables,
    /// Phits that one VC of a buffer can hold, by port class, and one more entry to mask the index.
    pub capacities: [u32; 4],
    /// Pairs of links from VC 1, 2, 4 … on, as far as there are any.
    pub above: Arc<[Mask<W>]>,
    /// All pairs.
    pub all: Mask<W>,
    /// Input ports of links.
    pub links: Mask<W>,
    /// Whether some heads have a choice of outputs.
    pub redecides: bool,
    /// Slots whose heads may have one.
    pub deciding: Mask<W>,
    /// Whether decisions draw random numbers even where only one output will do.
    pub draws: bool,
    /// Latency of the longest link \[cycles\].
    pub longest_link: u32,
    /// No event that a router or node brings about is further ahead \[cycles\].
    pub ahead: u32,
    mode: PhantomData<M>,
}

impl<'p, const W: usize, M> Shared<'p, W, M> {
    /// The constants of a plan.
    pub fn new(plan: &'p Plan) -> Self {
        let (classes, layout, rules) = (&plan.network.classes, &plan.network.layout, Rules::new(plan));
        let longest_link = plan.network.longest_link();
        let queue = plan.router.output_buffer.unwrap_or(0) + 2 * plan.longest_packet();
        let sensors = plan.routing.sensors();
        // Messages take at most half of a link, so that what is queued takes at most twice its length, and theirs.
        let queue = sensors.exchange.map_or(queue, |exchange| 2 * queue + 4 * exchange.message_length);
        let queue = queue * plan.network.slowest_link();
        let ahead = rules.crossbar + queue + longest_link.max(classes.terminal.latency) + rules.pipeline;
        let tables = Tables::new(plan);
        let capacity = |class: usize| classes.links.get(class).map_or(0, |c| c.buffer);
        let is_link = |&input: &usize| layout.class[layout.input_port[input] as usize] != TERMINAL;
        Self {
            plan,
            routing: &plan.routing,
            base: plan.routing.base(),
            capacities: [NONE, capacity(0), capacity(1), 0],
            above: above(plan).into(),
            links: (0..layout.inputs()).filter(is_link).collect(),
            all: (0..layout.pairs()).filter(|&p| layout.any_vc(p).is_some()).collect(),
            redecides: plan.routing.redecides(),
            deciding: deciding(plan, &tables),
            tables,
            draws: plan.routing.draws(),
            longest_link,
            ahead,
            rules,
            mode: PhantomData,
        }
    }
}

impl<const W: usize, M: Mode> Shared<'_, W, M> {
    /// `Ejection::IdleNode`.
    #[inline]
    pub fn idle_node(&self) -> bool {
        !M::CLEAN && self.rules.idle_node
    }

    /// `OutputHold::Speedup`.
    #[inline]
    pub fn hold_speedup(&self) -> bool {
        !M::CLEAN && self.rules.hold_speedup
    }

    /// `InputPointer::Request`.
    #[inline]
    pub fn on_request(&self) -> bool {
        !M::CLEAN && self.rules.on_request
    }

    /// `InjectionCount::Buffer`.
    #[inline]
    pub fn count_at_buffer(&self) -> bool {
        !M::CLEAN && self.rules.count_at_buffer
    }

    /// `InjectionLatency::Departure`.
    #[inline]
    pub fn until_departure(&self) -> bool {
        !M::CLEAN && self.rules.until_departure
    }

    /// Whether packets of several lengths meet.
    #[inline]
    pub fn mixed(&self) -> bool {
        !M::PLAIN && self.rules.mixed
    }

    /// Whether packets in transit go first at a router in cycle `now`.
    #[inline]
    pub fn transit_priority(&self, router: u32, now: u32) -> bool {
        !M::PLAIN
            && (self.rules.transit_priority || (self.rules.ipr > 0.0 && self.draws_priority(router, now)))
    }

    /// In-transit priority restriction: whether packets in transit go first in this cycle.
    #[cold]
    fn draws_priority(&self, router: u32, now: u32) -> bool {
        let stream = Stream::new(self.rules.seed, Purpose::Priority, u64::from(router));
        stream.at(u64::from(now)).unit() < self.rules.ipr
    }

    /// Room that packets leave in an adaptive VC when they enter the network \[phits\].
    #[inline]
    pub fn lbr(&self) -> u32 {
        if M::RISING { 0 } else { self.rules.lbr }
    }

    /// Whether nodes take packets from all input VCs at once.
    #[inline]
    pub fn parallel(&self) -> bool {
        !M::REGULAR && self.rules.parallel
    }

    /// Whether routers without choices that can do nothing are left alone, as they know when they can again: packets that leave
    /// at once, or that need more room than the shortest, have times of their own.
    #[inline]
    pub fn patient(&self) -> bool {
        !M::RISING && !self.parallel() && !self.mixed()
    }

    /// Whether input arbiters are round-robin.
    #[inline]
    pub fn input_round_robin(&self) -> bool {
        M::PLAIN || self.rules.input_round_robin
    }

    /// Whether output arbiters are round-robin.
    #[inline]
    pub fn output_round_robin(&self) -> bool {
        M::PLAIN || self.rules.output_round_robin
    }

    /// Whether input arbiters need stamps of whom they served.
    #[inline]
    pub fn input_stamps(&self) -> bool {
        !M::PLAIN && self.rules.input_stamps
    }

    /// Whether output arbiters need stamps of whom they served.
    #[inline]
    pub fn output_stamps(&self) -> bool {
        !M::PLAIN && self.rules.output_stamps
    }

    /// Whether a head may use several VCs of a port (FlexVC): the one it asks for and all below.
    #[inline]
    pub fn flexible(&self) -> bool {
        !M::RISING && self.rules.flexible
    }

    /// Whether heads must be asked for their port, as it is not that of a minimal path.
    #[inline]
    pub fn asks(&self) -> bool {
        !M::RISING && self.rules.asks
    }

    /// Whether the VC of a hop depends on more than the VC before it.
    #[inline]
    pub fn depends_on_hop(&self) -> bool {
        !M::RISING && self.rules.depends_on_hop
    }

    /// Room that packets which enter a ring leave behind them \[phits\].
    #[inline]
    pub fn bubble(&self) -> u32 {
        if M::RISING { 0 } else { self.rules.bubble }
    }

    /// Room that a packet of `length` phits takes in the buffer of a link \[phits\]. Where there are rings that is the room of
    /// the longest packet: the bubble then goes round the ring in one piece, and is never divided into gaps too short for
    /// the packets behind them.
    #[inline]
    pub fn space(&self, length: u32) -> u32 {
        if M::RISING { length } else { length.max(self.rules.least_space) }
    }

    /// The first of the pairs that `pair` stands among: the output VCs of a port, or its entries.
    #[inline]
    pub fn block(&self, pair: usize) -> usize {
        pair - self.tables.pair(pair).vc as usize
    }

    /// The output VC that a pair stands for, which may be an entry.
    #[inline]
    pub fn output_vc(&self, pair: usize) -> usize {
        if M::RISING { pair } else { self.tables.pair(pair).output_vc as usize }
    }

    /// The output VCs whose heads could be granted something if `open` are those with room.
    #[inline]
    pub fn reachable(&self, open: Mask<W>) -> Mask<W> {
        if self.flexible() { self.spread(open) } else { open }
    }

    /// `open` with all output VCs of link ports that are above one of it.
    #[inline]
    fn spread(&self, open: Mask<W>) -> Mask<W> {
        if open == self.all {
            return open;
        }
        let mut all = open;
        for (step, above) in self.above.iter().enumerate() {
            all |= all.shifted(1 << step) & *above;
        }
        all
    }

    /// The output VCs that a head which asks for `pair` may be granted.
    pub fn pairs_up_to(&self, pair: usize) -> RangeInclusive<usize> {
        let port = self.tables.port(self.tables.pair_port(pair));
        let several = self.flexible() && port.class != TERMINAL;
        if several { self.block(pair)..=pair } else { pair..=pair }
    }

    /// The number of an allocator iteration of cycle `now` among all of the run.
    #[inline]
    pub fn moment(&self, now: u32, iteration: u32) -> u64 {
        u64::from(now) * u64::from(self.rules.iterations) + u64::from(iteration)
    }

    /// Phits that the buffer behind a pair can hold in one VC.
    #[inline]
    pub fn capacity(&self, pair: usize) -> u32 {
        self.capacities[self.tables.pair(pair).class as usize % 4]
    }
}

/// The slots whose heads may have a choice of outputs.
fn deciding<const W: usize>(plan: &Plan, tables: &Tables) -> Mask<W> {
    let everywhere = !plan.routing.decides_at_source();
    let decides = |&slot: &usize| plan.routing.redecides() && (everywhere || is_injection(tables.code(slot)));
    (0..plan.network.layout.slots()).filter(decides).collect()
}

/// The pairs of links from VC 1, 2, 4 and 8 on, as far as there are any.
fn above<const W: usize>(plan: &Plan) -> Vec<Mask<W>> {
    let layout = &plan.network.layout;
    let mut masks = vec![Mask::EMPTY; 4];
    for pair in 0..layout.pairs() {
        if let Some((_, vc)) = layout.any_vc(pair).filter(|&(port, _)| layout.class[port] != TERMINAL) {
            masks
                .iter_mut()
                .enumerate()
                .filter(|&(step, _)| vc >= 1 << step)
                .for_each(|(_, m)| m.insert(pair));
        }
    }
    masks.retain(|mask| !mask.is_empty());
    masks
}
