//! The audit: what must hold between any two cycles, counted anew from the whole state. Slow; for tests.

use super::context::{Arrival, Credit};
use super::mode::Mode;
use super::regions::Cut;
use super::replies::reply_space;
use super::routers::{global, initial_credits};
use super::simulation::Simulation;
use super::wheel::Wheel;
use super::{Fit, Task, perform};
use crate::config::InjectionVc;
use crate::network::{NONE, TERMINAL};
use crate::plan::Plan;
use crate::trace::{PacketTrace, Tracer};

struct Audited(u32);

impl Task for Audited {
    type Observer = Tracer;
    type Output = Result<(), String>;
    const CUT: Cut = Cut::Finest;

    fn with<const W: usize, M: Mode<Observer = Tracer>>(
        self,
        mut simulation: Simulation<'_, W, M>,
    ) -> Self::Output {
        for _ in 0..self.0 {
            simulation.advance(simulation.now() + 1);
            let delivered = simulation.context.mode.observer().delivered();
            simulation
                .check(delivered)
                .map_err(|breach| format!("before cycle {}: {breach}", simulation.now()))?;
        }
        let traces = std::mem::take(simulation.context.mode.observer()).into_traces();
        let twice =
            |packet: &&PacketTrace| packet.hops.windows(2).any(|hops| hops[0].granted >= hops[1].granted);
        traces
            .iter()
            .find(twice)
            .map_or(Ok(()), |packet| Err(format!("granted twice in one cycle: {packet:?}")))
    }
}

/// Runs a plan for `cycles` cycles and checks every invariant after each; the error names the first breach.
pub fn audit(plan: &Plan, cycles: u32) -> Result<(), String> {
    perform(plan, Fit::Tight, Audited(cycles))
}

impl<const W: usize, M: Mode> Simulation<'_, W, M> {
    fn check(&self, delivered: u64) -> Result<(), String> {
        self.check_conservation(delivered)?;
        for router in 0..self.routers.len() as u32 {
            self.check_credits(router)?;
            self.check_requests(router)?;
        }
        Ok(())
    }

    /// Packets generated = dropped + waiting at nodes + inside + delivered.
    fn check_conservation(&self, delivered: u64) -> Result<(), String> {
        let (generated, dropped) = self.context.recorder.lifetime();
        let waiting = self.context.nics.waiting.len() as u64;
        let inside = self.context.packets.len() as u64;
        if generated != dropped + waiting + inside + delivered {
            return Err(format!(
                "{generated} packets generated, but {dropped} dropped, {waiting} waiting, {inside} inside and {delivered} delivered"
            ));
        }
        Ok(())
    }

    /// The buffers behind every output, and the space for replies.
    fn check_credits(&self, router: u32) -> Result<(), String> {
        let network = &self.context.plan.network;
        for (port, &vcs) in network.layout.output_vcs.iter().enumerate() {
            let base = network.layout.pair_base[port] as usize;
            if network.layout.class[port] == TERMINAL {
                (base + 1..base + vcs as usize)
                    .try_for_each(|pair| self.check_reply_space(router, port, pair))?;
            }
            if let Some((peer, back)) = network.link(router, port).peer {
                self.check_buffers(router, port, (peer, back))?;
            }
        }
        Ok(())
    }

    /// Credits + packets queued or on the wire + credits on the wire = capacity, for every output VC of a port. Where VCs
    /// share a buffer, credits follow from what all of them have outstanding.
    fn check_buffers(&self, router: u32, port: usize, (peer, back): (u32, usize)) -> Result<(), String> {
        let network = &self.context.plan.network;
        let (base, slots) = (network.layout.pair_base[port], network.layout.slot_base[back]);
        let pairs = base as usize..base as usize + network.layout.output_vcs[port] as usize;
        let outstanding = pairs.clone().zip(slots as usize..).map(|(pair, slot)| {
            let (resident, flying) = (self.resident(peer, slot), self.flying(global::<W>(peer, slot)));
            resident + flying + self.returning(global::<W>(router, pair))
        });
        let outstanding: Vec<u32> = outstanding.collect();
        let credits: Vec<u32> =
            pairs.clone().map(|pair| self.routers[router as usize].credits[pair]).collect();
        let place = || format!("router {router} {}", network.port_name(port));
        let capacity = initial_credits(network, router, port);
        let Some(damq) = &self.context.damq else {
            return match credits.iter().zip(&outstanding).position(|(c, o)| c + o != capacity) {
                Some(vc) => Err(format!(
                    "{} VC {vc}: {} credits + {} outstanding phits, capacity {capacity}",
                    place(),
                    credits[vc],
                    outstanding[vc]
                )),
                None => Ok(()),
            };
        };
        let counted: Vec<u32> = pairs.map(|pair| damq.outstanding(global::<W>(router, pair))).collect();
        if counted != outstanding {
            return Err(format!("{}: {outstanding:?} phits outstanding, counted {counted:?}", place()));
        }
        let shares = damq.shares(network.layout.class[port]);
        let above: u32 = outstanding.iter().map(|used| used.saturating_sub(shares.reserve)).sum();
        if above > shares.pool || !shares.credits(&outstanding).eq(credits.iter().copied()) {
            return Err(format!("{}: {outstanding:?} phits outstanding, credits {credits:?}", place()));
        }
        Ok(())
    }

    /// Free space for replies + requests granted ejection + replies at the node + space that becomes free = capacity.
    fn check_reply_space(&self, router: u32, port: usize, pair: usize) -> Result<(), String> {
        let plan = self.context.plan;
        let node = router as usize * plan.network.layout.terminals + port;
        let Some(job) = plan.jobs.get(plan.job_of[node] as usize).filter(|job| job.request_reply()) else {
            return Ok(());
        };
        let class = self.context.nics.class(true);
        let vc = pair - plan.network.layout.pair_base[port] as usize;
        let mine = |requester: u32| {
            plan.nic.injection_vc != InjectionVc::Destination
                || class.block(requester, plan.network.nodes) + 1 == vc
        };
        let answering = self.context.consumed.all().flat_map(Wheel::iter);
        let requested =
            answering.filter(|c| c.node == node as u32 && c.requester != NONE && mine(c.requester));
        let waiting = &self.context.nics.waiting;
        let queued = self.context.nics.sources.get(node).map_or(0, |source| {
            source.replies.iter(waiting).filter(|&id| mine(waiting.get(id).destination)).count()
        });
        let in_buffer: u32 = (0..class.count)
            .filter(|&index| plan.nic.injection_vc != InjectionVc::Destination || index + 1 == vc)
            .map(|index| self.context.nics.occupied(node, class.first + index))
            .sum();
        let taken = (requested.count() + queued) as u32 * job.packet_length + in_buffer;
        let free = self.routers[router as usize].credits[pair];
        let returning = self.returning(global::<W>(router, pair));
        if free + returning + taken != reply_space(plan, node) {
            return Err(format!(
                "node {node} VC {vc}: {free} free + {returning} returning + {taken} taken phits for replies"
            ));
        }
        Ok(())
    }

    fn resident(&self, router: u32, slot: usize) -> u32 {
        let packets = &self.context.packets;
        let queue = self.routers[router as usize].slots[slot].queue;
        queue.iter(packets).map(|id| self.context.space(u32::from(packets.get(id).length))).sum()
    }

    fn flying(&self, slot: u32) -> u32 {
        let length = |a: &Arrival| u32::from(self.context.packets.get(a.packet).length);
        let space = |a: &Arrival| self.context.space(length(a));
        self.context.arrivals.iter().filter(|a| a.slot == slot).map(space).sum()
    }

    fn returning(&self, pair: u32) -> u32 {
        let credits = self.context.credits.iter();
        credits.filter(|c: &&Credit| c.pair == pair).map(|c| u32::from(c.phits)).sum()
    }

    /// Every head that need not wait for a signal is known to exactly the output VC it wants, and the summary sets agree with the details.
    fn check_requests(&self, router: u32) -> Result<(), String> {
        let (state, network) = (&self.routers[router as usize], &self.context.plan.network);
        for pair in 0..network.layout.pairs() {
            let wants = state.wants[pair];
            if state.wanted.contains(pair) == wants.is_empty() {
                return Err(format!("router {router} pair {pair}: the set of wanted pairs is stale"));
            }
            let Some((port, _)) = network.layout.any_vc(pair) else { continue };
            let shortest = self.context.rules.shortest;
            let link = network.layout.class[port] != TERMINAL;
            let least = if link { self.context.space(shortest) } else { shortest };
            // Nodes that take all packets at once need no allocator.
            let credit = state.credits[pair] >= least && (link || !self.context.parallel());
            if state.credit.contains(pair) != credit {
                return Err(format!("router {router} pair {pair}: the set of pairs with credit is stale"));
            }
        }
        for slot in 0..network.layout.slots() {
            let head = state.slots[slot].queue.front != NONE;
            let wanting = (0..network.layout.pairs()).filter(|&p| state.wants[p].contains(slot)).count();
            let asking = wanting + usize::from(state.choosing.contains(slot));
            let asks = head && !self.context.is_held(router as usize, slot);
            if asking != usize::from(asks) {
                return Err(format!("router {router} slot {slot}: its head asks {asking} times"));
            }
        }
        Ok(())
    }
}
