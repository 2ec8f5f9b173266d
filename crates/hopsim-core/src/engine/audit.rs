//! The audit: what must hold between any two cycles, counted anew from the whole state. Slow; for tests.

use super::{Fit, Task, perform};
use crate::config::InjectionVc;
use crate::engine::kernel::ids::join;
use crate::engine::kernel::regions::Cut;
use crate::engine::kernel::wires::Credit;
use crate::engine::mode::Mode;
use crate::engine::node::synthetic::replies::reply_space;
use crate::engine::region::Region;
use crate::engine::router::cioq::context::Context;
use crate::engine::router::cioq::routers::{Router, initial_credits};
use crate::engine::simulation::Simulation;
use crate::network::{NONE, TERMINAL};
use crate::plan::Plan;
use crate::trace::{PacketTrace, Tracer};

struct Audited(u32);

impl Task for Audited {
    type Observer = Tracer;
    type Output = Result<(), String>;

    fn cut(&self) -> Cut {
        Cut::Finest
    }

    fn with<const W: usize, M: Mode<Observer = Tracer>>(
        self,
        mut simulation: Simulation<'_, W, M>,
    ) -> Self::Output {
        for _ in 0..self.0 {
            simulation.advance(simulation.now() + 1);
            let delivered = simulation.worker.mode.observer().delivered();
            simulation
                .check(delivered)
                .map_err(|breach| format!("before cycle {}: {breach}", simulation.now()))?;
        }
        let traces = std::mem::take(simulation.worker.mode.observer()).into_traces();
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

impl<'p, const W: usize, M: Mode> Simulation<'p, W, M> {
    fn check(&self, delivered: u64) -> Result<(), String> {
        self.check_conservation(delivered)?;
        for router in 0..self.plan.network.routers {
            self.check_credits(router)?;
            self.check_requests(router)?;
        }
        Ok(())
    }

    /// Packets generated = dropped + waiting at nodes + inside + delivered.
    fn check_conservation(&self, delivered: u64) -> Result<(), String> {
        let (generated, dropped) = self.worker.recorder.lifetime();
        let sum = |count: fn(&Context<'p, W, M>) -> usize| -> u64 {
            self.regions.iter().map(|region| count(&region.context) as u64).sum()
        };
        let (waiting, inside) = (sum(|cx| cx.nodes.waiting.len()), sum(|cx| cx.kernel.inside()));
        if generated != dropped + waiting + inside + delivered {
            return Err(format!(
                "{generated} packets generated, but {dropped} dropped, {waiting} waiting, {inside} inside and {delivered} delivered"
            ));
        }
        Ok(())
    }

    /// The buffers behind every output, and the space for replies.
    fn check_credits(&self, router: u32) -> Result<(), String> {
        let network = &self.plan.network;
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
        let network = &self.plan.network;
        let (base, slots) = (network.layout.pair_base[port], network.layout.slot_base[back]);
        let pairs = base as usize..base as usize + network.layout.output_vcs[port] as usize;
        let outstanding = pairs.clone().zip(slots as usize..).map(|(pair, slot)| {
            self.resident(peer, slot) + self.flying(peer, slot) + self.returning(router, pair)
        });
        let outstanding: Vec<u32> = outstanding.collect();
        let credits: Vec<u32> = pairs.clone().map(|pair| self.router(router).credits[pair]).collect();
        let place = || format!("router {router} {}", network.port_name(port));
        let capacity = initial_credits(network, router, port);
        let (region, number) = self.region_of(router);
        let Some(damq) = &region.context.damq else {
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
        let counted: Vec<u32> = pairs.map(|pair| damq.outstanding(join::<W>(number, pair))).collect();
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
        let plan = self.plan;
        let node = router as usize * plan.network.layout.terminals + port;
        let Some(job) = plan.job_at(node).filter(|job| job.request_reply()) else {
            return Ok(());
        };
        let nics = &self.region_of(router).0.context.nodes;
        let class = nics.class(true);
        let vc = pair - plan.network.layout.pair_base[port] as usize;
        let mine = |requester: u32| {
            plan.nic.injection_vc != InjectionVc::Destination
                || class.block(requester, plan.network.nodes) + 1 == vc
        };
        let cx = &self.region_of(router).0.context;
        let number = node - cx.kernel.span.first_node as usize;
        let requested = cx
            .nodes
            .consumed
            .iter()
            .filter(|c| c.node == number as u32 && c.requester != NONE && mine(c.requester));
        let queued = nics.sources.get(number).map_or(0, |source| {
            source.replies.iter(&nics.waiting).filter(|&id| mine(nics.waiting.get(id).destination)).count()
        });
        let in_buffer: u32 = (0..class.count)
            .filter(|&index| plan.nic.injection_vc != InjectionVc::Destination || index + 1 == vc)
            .map(|index| nics.occupied(number, class.first + index))
            .sum();
        let taken = (requested.count() + queued) as u32 * job.packet_length + in_buffer;
        let free = self.router(router).credits[pair];
        let returning = self.returning(router, pair);
        if free + returning + taken != reply_space(plan, node) {
            return Err(format!(
                "node {node} VC {vc}: {free} free + {returning} returning + {taken} taken phits for replies"
            ));
        }
        Ok(())
    }

    /// A router of the network: its region, and its number there.
    fn region_of(&self, router: u32) -> (&Region<'p, W, M>, u32) {
        let region = &self.regions[self.cut.of(router)];
        (region, router - region.context.kernel.span.first_router)
    }

    fn router(&self, router: u32) -> &Router<W> {
        let (region, number) = self.region_of(router);
        &region.routers[number as usize]
    }

    /// Phits in a buffer.
    fn resident(&self, router: u32, slot: usize) -> u32 {
        let (cx, queue) = (&self.region_of(router).0.context, self.router(router).slots[slot].queue);
        queue
            .iter(&cx.kernel.packets)
            .map(|id| cx.kernel.shared.space(u32::from(cx.kernel.packets.get(id).length)))
            .sum()
    }

    /// Phits on their way there.
    fn flying(&self, router: u32, slot: usize) -> u32 {
        let (region, number) = self.region_of(router);
        let (cx, id) = (&region.context, join::<W>(number, slot));
        let inside =
            cx.kernel.arrivals.iter().filter(|a| a.slot == id).map(|a| cx.kernel.packets.get(a.packet));
        let packets = inside.chain(cx.kernel.immigrants.iter().filter(|packet| packet.next == id));
        packets.map(|packet| cx.kernel.shared.space(u32::from(packet.length))).sum()
    }

    /// Credit on its way to an output VC \[phits\].
    fn returning(&self, router: u32, pair: usize) -> u32 {
        let (region, number) = self.region_of(router);
        let credits = region.context.kernel.credits.iter();
        credits.filter(|c: &&Credit| c.pair == join::<W>(number, pair)).map(|c| u32::from(c.phits)).sum()
    }

    /// Every head that need not wait for a signal is known to exactly the output VC it wants, and the summary sets agree with the details.
    fn check_requests(&self, router: u32) -> Result<(), String> {
        let (region, number) = self.region_of(router);
        let (cx, state, network) = (&region.context, self.router(router), &self.plan.network);
        for pair in 0..network.layout.pairs() {
            let wants = state.wants[pair];
            if state.wanted.contains(pair) == wants.is_empty() {
                return Err(format!("router {router} pair {pair}: the set of wanted pairs is stale"));
            }
            let Some((port, _)) = network.layout.any_vc(pair) else { continue };
            let shortest = cx.kernel.shared.rules.shortest;
            let link = network.layout.class[port] != TERMINAL;
            let least = if link { cx.kernel.shared.space(shortest) } else { shortest };
            // Nodes that take all packets at once need no allocator.
            let credit = state.credits[pair] >= least && (link || !cx.kernel.shared.parallel());
            if state.credit.contains(pair) != credit {
                return Err(format!("router {router} pair {pair}: the set of pairs with credit is stale"));
            }
        }
        for slot in 0..network.layout.slots() {
            let head = state.slots[slot].queue.front != NONE;
            let wanting = (0..network.layout.pairs()).filter(|&p| state.wants[p].contains(slot)).count();
            let asking = wanting + usize::from(state.choosing.contains(slot));
            let asks = head && !cx.is_held(number as usize, slot);
            if asking != usize::from(asks) {
                return Err(format!("router {router} slot {slot}: its head asks {asking} times"));
            }
        }
        Ok(())
    }
}
