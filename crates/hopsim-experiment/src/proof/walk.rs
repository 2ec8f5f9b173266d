//! All heads that there can be: where they stand, what they remember, and what they may be granted.
//!
//! What a packet does next depends on its router, the channel that it holds, its destination, and what it remembers. So heads are
//! searched from those at injection on, and each is looked at once for every destination.

use super::channels::{Channel, Channels};
use hopsim_cycles::system::System;
use hopsim_network::interrupt;
use hopsim_network::topology::Topology;
use hopsim_routing::grants::each_request;
use hopsim_routing::sequence::REPLY_INJECTION;
use hopsim_routing::{Head, OfSource, RouteState, Way};
use rustc_hash::FxHashSet;

/// Steps of [`interrupt`] that it takes to look at a head.
const STEPS: u64 = 64;

/// A head that waits.
#[derive(Debug)]
pub struct Waiting<'a> {
    /// The head.
    pub head: Head,
    /// The number of the channel that its packet holds; none at injection.
    pub holds: Option<u32>,
    /// What its packet remembered when it became a head.
    pub state: RouteState,
    /// All that it may be granted: see [`hopsim_routing::Mechanism::each_grant`].
    pub grants: &'a [(Option<Way>, RouteState)],
}

/// A head, as far as that differs between heads for one destination.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct State {
    holds: u32,
    source: u32,
    via: u32,
    trunk: u16,
    flags: u8,
}

/// Calls `visit` with every head that there can be with the last ones of some tables, each once for every destination: heads of packets that
/// set out with them, and of those that were under way with the tables before. Returns how many heads were looked at, `None` if there are
/// more than `most`: not all of them have been visited then.
pub fn walk(tables: &[&System], most: u64, visit: &mut impl FnMut(&Waiting<'_>)) -> Option<u64> {
    let Some(&system) = tables.first() else { return Some(0) };
    let topology = &system.topology;
    let mut sources = vec![0; topology.groups() as usize];
    for router in (0..topology.routers()).rev() {
        sources[topology.group(router) as usize] = router * topology.nodes_per_router();
    }
    let channels = Channels::new(&system.network);
    let (seen, open) = (FxHashSet::default(), Vec::new());
    let mut walk = Exploration { system, channels, sources, seen, open, states: 0, most, under_way: false };
    let kinds: &[bool] = if system.network.classes.request_reply() { &[false, true] } else { &[false] };
    for &reply in kinds {
        for destination in 0..topology.routers_with_nodes() {
            for terminal in 0..walk.variants() {
                walk.seen.clear();
                for (before, system) in tables.iter().enumerate() {
                    (walk.system, walk.under_way) = (system, before > 0);
                    let is_last = before + 1 == tables.len();
                    walk.go_to(destination, terminal, reply, &mut |waiting: &Waiting<'_>| {
                        if is_last {
                            visit(waiting);
                        }
                    })?;
                }
            }
        }
    }
    Some(walk.states)
}

struct Exploration<'p> {
    system: &'p System,
    channels: Channels<'p>,
    /// A node of each group, that stands for all of them as source of packets in transit.
    sources: Vec<u32>,
    seen: FxHashSet<State>,
    /// Heads that have not been looked at.
    open: Vec<State>,
    states: u64,
    most: u64,
    /// Whether packets may be under way that have come by other tables: those that would need more VCs than there are have been lost.
    under_way: bool,
}

impl Exploration<'_> {
    /// How many nodes of a router paths differ for.
    fn variants(&self) -> u16 {
        let differ = matches!(&*self.system.topology, Topology::FatTree(_));
        if differ { self.system.topology.nodes_per_router() as u16 } else { 1 }
    }

    fn go_to(
        &mut self,
        destination: u32,
        terminal: u16,
        reply: bool,
        visit: &mut impl FnMut(&Waiting<'_>),
    ) -> Option<()> {
        self.open = self.seen.iter().copied().collect();
        let (code, per_router) =
            (if reply { REPLY_INJECTION } else { 0 }, self.system.topology.nodes_per_router());
        let mut head =
            Head { router: 0, input: 0, code, source: 0, destination, terminal, ejection_vc: 0, reply };
        let routers = 0..self.system.topology.routers_with_nodes();
        for router in routers.filter(|&router| self.system.routing.reaches(router, destination)) {
            for input in 0..self.variants() {
                let source = router * per_router + u32::from(input);
                // A reply takes the place of a request that its node has taken.
                let holds = reply.then(|| self.channels.unanswered(router));
                self.look(Head { router, input, source, ..head }, holds, RouteState::NEW, visit)?;
            }
        }
        while let Some(State { holds, source, via, trunk, flags }) = self.open.pop() {
            let channel = self.channels.channel(holds);
            let (router, input) = self.channels.behind(channel);
            let class = self.system.network.layout.class[channel.port] - 1;
            let code = self.system.routing.vcs().sequence.code(class, channel.vc);
            head = Head { router, input: input as u16, code, source, ..head };
            let state = RouteState { via, trunk, flags, ..RouteState::NEW };
            if self.under_way && !self.system.routing.has_vcs_left(&head, state) {
                continue;
            }
            self.look(head, Some(holds), state, visit)?;
        }
        Some(())
    }

    /// Looks at a head, and notes what it becomes.
    fn look(
        &mut self,
        head: Head,
        holds: Option<u32>,
        state: RouteState,
        visit: &mut impl FnMut(&Waiting<'_>),
    ) -> Option<()> {
        self.states += 1;
        interrupt::steps(STEPS);
        if self.states > self.most {
            return None;
        }
        let mut grants = Vec::new();
        self.system.routing.each_grant(&head, state, &mut |way, after| grants.push((way, after)));
        visit(&Waiting { head, holds, state, grants: &grants });
        let topology = &self.system.topology;
        let source = match self.system.routing.reads() {
            OfSource::Nothing => 0,
            OfSource::Group => self.sources[topology.group(topology.router_of(head.source)) as usize],
            OfSource::Router => head.source,
        };
        for (way, RouteState { via, trunk, flags, .. }) in grants {
            let Some(way) = way else { continue };
            each_request(self.system.routing.vcs(), way, |request| {
                let used = self.system.routing.vcs().used(way.class);
                let vc = if request.vc < used { request.vc } else { request.vc - used };
                let holds = self.channels.number(Channel { router: head.router, port: request.port, vc });
                let state = State { holds, source, via, trunk, flags };
                if self.seen.insert(state) {
                    self.open.push(state);
                }
            });
        }
        Some(())
    }
}
