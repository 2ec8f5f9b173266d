//! What never changes in a run and every region reads.

use super::mask::Mask;
use super::rules::Rules;
use super::tables::Tables;
use crate::network::{NONE, TERMINAL};
use crate::plan::Plan;
use crate::routing::minimal::Minimal;
use crate::routing::{Routing, is_injection};
use std::marker::PhantomData;
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
