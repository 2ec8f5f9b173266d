//! Proofs that packets never wait for each other in a circle, by the graph of what is simulated.
//!
//! A channel is the buffer of a VC behind an output port. A packet waits in one buffer, as a whole (virtual cut-through), for room behind
//! outputs of its router: then the channel that it holds depends on those channels. Which ones these are the mechanism itself
//! says, for every head that there can be. Without a circle in this graph there is no deadlock (Dally and Seitz 1987). Where heads may
//! choose it is enough that every one can always wait for a channel, its last resort, and that there is no circle if no others are
//! counted (Duato 1993; as a packet that has moved on holds one channel only, dependencies over channels in between do not
//! arise). In a ring whose packets leave room for one more when they enter it, some packet can always move (bubble flow control; Puente et
//! al. 2001): then there must be no circle between rings.

mod channels;
mod dependencies;
mod ranks;
mod resorts;
mod walk;
mod words;

pub use channels::Channel;
pub use words::{deadlock_line, deadlock_of_tables, grouped};

use crate::plan::{Epoch, Plan};
use dependencies::{Dependencies, words};
use hopsim_cycles::system::System;
use hopsim_routing::Routing;
use hopsim_routing::grants::each_request;
use walk::{Waiting, walk};

/// Most heads that are looked at for a proof.
pub const MOST_HEADS: u64 = 20_000_000;

/// Most words of the graph: an eighth of a gigabyte.
const MOST_WORDS: usize = 1 << 24;

/// By what a network is free of deadlock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ground {
    /// The graph has no circle.
    Acyclic,
    /// Heads may choose; the graph of their last resorts alone has no circle.
    Escape,
    /// VCs increase along every path, which makes a look at heads needless where there are too many of them.
    Ranks,
    /// The highest VC that a hop may use does (FlexVC).
    HighestRanks,
}

/// A proof that packets never wait for each other in a circle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Proof {
    /// By what.
    pub ground: Ground,
    /// Rings in which it is bubbles that keep packets moving; the graph without what is inside them has no circle.
    pub rings: usize,
    /// Channels of the graph; by ranks all that packets may use.
    pub channels: usize,
    /// Dependencies of the graph; by ranks none is counted.
    pub dependencies: usize,
    /// Heads that were looked at, each once for every destination; by ranks none.
    pub heads: u64,
}

/// Channels of a circle: packets that hold each of them can wait for the next one, and the last one for the first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cycle {
    /// The channels.
    pub channels: Vec<Channel>,
    /// Whether heads have a choice: then the circle is one of last resorts, and packets wait in it only where they find nothing else
    /// open.
    pub is_of_resorts: bool,
}

/// What is found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// There is no deadlock.
    Proved(Proof),
    /// Packets can wait for each other in a circle.
    Circle(Cycle),
    /// There are too many heads to look at.
    Unproved,
}

/// Looks for a circle in which packets of a plan can wait for each other, whatever nodes send to each other.
pub fn prove(plan: &Plan) -> Verdict {
    prove_within(plan, MOST_HEADS)
}

/// Looks for such a circle, unless there are more than `most` heads to look at. Of several tables the verdict is the first that is no proof.
pub fn prove_within(plan: &Plan, most: u64) -> Verdict {
    let mut verdicts = prove_tables(plan, most);
    let doubtful = verdicts.iter().position(|(_, verdict)| !matches!(verdict, Verdict::Proved(_)));
    verdicts.swap_remove(doubtful.unwrap_or(0)).1
}

/// The verdicts of the tables of a plan, which change where links fail in the middle of the run, with the cycles from which on they are there.
/// Packets that are under way then count, unless the network is drained first; all change their tables at once, so that no packet goes by
/// those before any more.
pub fn prove_tables(plan: &Plan, most: u64) -> Vec<(u32, Verdict)> {
    let mut tables = vec![plan];
    let mut verdicts = vec![(0, prove_last(&tables, most))];
    for Epoch { at, plan, change } in &plan.epochs {
        if change.closes {
            tables.clear();
        } else if !change.reroutes {
            continue;
        }
        tables.push(plan);
        verdicts.push((*at, prove_last(&tables, most)));
    }
    verdicts
}

/// The verdict of the last ones of some tables.
fn prove_last(plans: &[&Plan], most: u64) -> Verdict {
    let tables: Vec<&System> = plans.iter().map(|plan| &plan.system).collect();
    match prove_by_heads(&tables, most) {
        Verdict::Unproved => ranks::by_ranks(plans).map_or(Verdict::Unproved, Verdict::Proved),
        verdict => verdict,
    }
}

/// The verdict of the last ones of some tables by a look at all heads.
fn prove_by_heads(tables: &[&System], most: u64) -> Verdict {
    let Some(&system) = tables.last() else { return Verdict::Unproved };
    if let Routing::Function(_) = system.routing {
        return Verdict::Unproved;
    }
    let routers = u64::from(system.topology.routers_with_nodes());
    if routers * routers > most || is_too_large(system) {
        return Verdict::Unproved;
    }
    let mut graph = Dependencies::new(system);
    let heads = walk(tables, most, &mut |waiting: &Waiting<'_>| {
        each_wait(system, waiting, &mut graph, false);
    });
    let Some(heads) = heads else { return Verdict::Unproved };
    let circle = match graph.rings() {
        Ok(rings) => return Verdict::Proved(proof(Ground::Acyclic, rings, &graph, heads)),
        Err(circle) => circle,
    };
    if !system.routing.redecides() && !system.routing.vcs().is_flexible() {
        return Verdict::Circle(Cycle { channels: circle, is_of_resorts: false });
    }
    let mut graph = Dependencies::new(system);
    walk(tables, most, &mut |waiting: &Waiting<'_>| each_wait(system, waiting, &mut graph, true));
    match graph.rings() {
        Ok(rings) => Verdict::Proved(proof(Ground::Escape, rings, &graph, heads)),
        Err(channels) => Verdict::Circle(Cycle { channels, is_of_resorts: true }),
    }
}

/// The dependencies of a plan, by name; `None` if there are too many heads to look at. With `escape` those on last resorts alone.
pub fn dependencies(plan: &Plan, escape: bool) -> Option<Vec<(Channel, Channel)>> {
    let mut graph = Dependencies::new(&plan.system);
    walk(&[&plan.system], MOST_HEADS, &mut |waiting: &Waiting<'_>| {
        each_wait(&plan.system, waiting, &mut graph, escape);
    })?;
    Some(graph.listed())
}

fn is_too_large(system: &System) -> bool {
    words(system) > MOST_WORDS
}

fn proof(ground: Ground, rings: usize, graph: &Dependencies<'_>, heads: u64) -> Proof {
    Proof { ground, rings, channels: graph.channels(), dependencies: graph.count(), heads }
}

/// Adds what a head waits for, or what it waits for in the end.
fn each_wait(system: &System, waiting: &Waiting<'_>, graph: &mut Dependencies<'_>, in_the_end: bool) {
    let (router, held) = (waiting.head.router, waiting.holds);
    let answers = system.network.classes.request_reply() && !waiting.head.reply;
    if answers && waiting.grants.iter().any(|(way, _)| way.is_none()) {
        graph.wait_for_answer(held, router);
    }
    if in_the_end {
        return resorts::each_resort(system, waiting, |request| graph.wait(held, router, request));
    }
    for way in waiting.grants.iter().filter_map(|&(way, _)| way) {
        each_request(system.routing.vcs(), way, |request| graph.wait(held, router, request));
    }
}
