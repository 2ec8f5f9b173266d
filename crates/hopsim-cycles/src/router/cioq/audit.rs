//! What must hold between any two cycles, counted anew from the state of all routers. Slow; for tests.

use crate::kernel::ids::{Id as _, Pair, RegionRouter, Slot, SlotId};
use crate::kernel::wires::Credit;
use crate::node::{Nodes, Run};
use crate::region::Whole;
use crate::router::cioq::choices::Openings;
use crate::router::cioq::draws::Attempt;
use crate::router::cioq::region::Cioq;
use crate::router::cioq::router_ref::RouterRef;
use crate::router::cioq::router_view::RouterView;
use crate::router::cioq::routers::Router;
use crate::router::damq::credits_of;
use crate::router::inputs::room_behind;
use crate::system::Thresholds;
use hopsim_network::network::{NONE, TERMINAL};
use hopsim_routing::view::View;

/// A look at the routers of a network.
struct Audit<'s, 'p, const W: usize, M: Run> {
    whole: Whole<'s, 'p, Cioq<'p, W, M>>,
}

/// Checks every invariant; the error names the first breach.
pub fn audit<'p, const W: usize, M: Run>(whole: Whole<'_, 'p, Cioq<'p, W, M>>) -> Result<(), String> {
    Audit { whole }.check()
}

impl<'p, const W: usize, M: Run> Audit<'_, 'p, W, M> {
    fn check(&self) -> Result<(), String> {
        for router in 0..self.whole.system.network.routers {
            self.check_credits(router)?;
            self.check_requests(router)?;
            self.check_sleepers(router)?;
        }
        Ok(())
    }

    /// Checks the buffers behind every output, and the limited room behind ejection VCs.
    fn check_credits(&self, router: u32) -> Result<(), String> {
        let network = &self.whole.system.network;
        for (port, &vcs) in network.layout.output_vcs.iter().enumerate() {
            let base = network.layout.pair_base[port] as usize;
            if network.layout.class[port] == TERMINAL {
                (base + 1..base + vcs as usize)
                    .map(Pair::at)
                    .try_for_each(|pair| self.check_ejection_space(router, port, pair))?;
            }
            if let Some((peer, back)) = network.link(router, port).peer {
                self.check_buffers(router, port, (peer, back))?;
            }
        }
        Ok(())
    }

    /// Checks that credits + packets queued or on the wire + credits on the wire = capacity, for every output VC of a port. Where
    /// VCs share a buffer, credits follow from what all of these have outstanding.
    fn check_buffers(&self, router: u32, port: usize, (peer, back): (u32, usize)) -> Result<(), String> {
        let network = &self.whole.system.network;
        let (base, slots) = (network.layout.pair_base[port], network.layout.slot_base[back]);
        let pairs = (0..network.layout.output_vcs[port] as usize).map(|vc| Pair::at(base as usize + vc));
        let outstanding = pairs.clone().zip((slots as usize..).map(Slot::at)).map(|(pair, slot)| {
            self.resident(peer, slot) + self.flying(peer, slot) + self.returning(router, pair)
        });
        let outstanding: Vec<u32> = outstanding.collect();
        let credits: Vec<u32> = pairs.clone().map(|pair| self.router(router).credits[pair]).collect();
        let place = || format!("router {router} {}", network.port_name(port));
        let capacity = room_behind(network, router, port);
        let (region, number) = self.region_of(router);
        if region.context.is_on_off() {
            return self.check_signals((router, port), (peer, back), &outstanding);
        }
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
        let counted: Vec<u32> = pairs.map(|pair| damq.outstanding(number.pair::<W>(pair))).collect();
        if counted != outstanding {
            return Err(format!("{}: {outstanding:?} phits outstanding, counted {counted:?}", place()));
        }
        let shares = damq.shares(network.layout.class[port]);
        let above: u32 = outstanding.iter().map(|used| used.saturating_sub(shares.reserve)).sum();
        if above > shares.pool || !credits_of(shares, &outstanding).eq(credits.iter().copied()) {
            return Err(format!("{}: {outstanding:?} phits outstanding, credits {credits:?}", place()));
        }
        Ok(())
    }

    /// With on/off flow control: checks that no buffer behind a port holds more than it can, and that the room that its VCs are known
    /// to have follows from what they have `outstanding`, and what they say from that.
    fn check_signals(
        &self,
        (router, port): (u32, usize),
        (peer, back): (u32, usize),
        outstanding: &[u32],
    ) -> Result<(), String> {
        let network = &self.whole.system.network;
        let (region, number) = self.region_of(router);
        let Some(on_off) = &region.context.on_off else { return Ok(()) };
        let (capacity, Thresholds { off, on }) =
            (room_behind(network, router, port), on_off.thresholds(network.layout.class[port]));
        for (vc, &outstanding) in outstanding.iter().enumerate() {
            let pair = Pair::at(network.layout.pair_base[port] as usize + vc);
            let place = || format!("router {router} {} VC {vc}", network.port_name(port));
            let slot = Slot::at(network.layout.slot_base[back] as usize + vc);
            let resident = self.resident(peer, slot);
            if resident > capacity {
                return Err(format!("{}: {resident} phits in a buffer of {capacity}", place()));
            }
            let to_come = on_off.notices.iter().filter(|notice| notice.pair == number.pair::<W>(pair));
            let to_come: u32 = to_come.map(|notice| u32::from(notice.phits)).sum();
            let (free, is_on) =
                (self.router(router).credits[pair], self.router(router).credit.contains(pair));
            if free + outstanding != capacity + to_come || is_on && free < off || !is_on && free >= on {
                return Err(format!(
                    "{}: {free} phits free, {outstanding} outstanding, {to_come} to come of {capacity}, on: {is_on}",
                    place()
                ));
            }
        }
        Ok(())
    }

    /// Checks that free room behind an ejection VC + what the node has not dealt with + room that becomes free = capacity, where
    /// that room is limited.
    fn check_ejection_space(&self, router: u32, port: usize, pair: Pair) -> Result<(), String> {
        let layout = &self.whole.system.network.layout;
        let (node, vc) =
            (router * layout.terminals as u32 + port as u32, pair.index() - layout.pair_base[port] as usize);
        let cx = &self.region_of(router).0.context;
        let taken = cx.nodes.ejection_space_taken(&cx.kernel, cx.kernel.span.node_here(node), vc);
        let free = self.router(router).credits[pair];
        let returning = self.returning(router, pair);
        if free + returning + taken != M::Nodes::ejection_space(self.whole.system, node) {
            return Err(format!(
                "node {node} VC {vc}: {free} free + {returning} returning + {taken} taken phits for replies"
            ));
        }
        Ok(())
    }

    /// The region of a router of the network, and the number of the router there.
    fn region_of(&self, router: u32) -> (&Cioq<'p, W, M>, RegionRouter) {
        let region = &self.whole.regions[self.whole.cut.of(router)];
        (region, region.context.kernel.span.router_here(router))
    }

    fn router(&self, router: u32) -> &Router<W> {
        let (region, number) = self.region_of(router);
        &region.routers[number]
    }

    /// Phits in a buffer.
    fn resident(&self, router: u32, slot: Slot) -> u32 {
        let (cx, queue) = (&self.region_of(router).0.context, self.router(router).slots[slot].queue);
        queue
            .iter(&cx.kernel.packets)
            .map(|id| cx.shared.space(u32::from(cx.kernel.packets.get(id).length)))
            .sum()
    }

    /// Phits on their way to a buffer.
    fn flying(&self, router: u32, slot: Slot) -> u32 {
        let (region, number) = self.region_of(router);
        let (cx, id) = (&region.context, number.slot::<W>(slot));
        let inside =
            cx.kernel.arrivals.iter().filter(|a| a.slot == id).map(|a| cx.kernel.packets.get(a.packet));
        let packets =
            inside.chain(cx.kernel.immigrants.iter().filter(|packet| SlotId::at(packet.next as usize) == id));
        packets.map(|packet| cx.shared.space(u32::from(packet.length))).sum()
    }

    /// Credit on its way to an output VC \[phits\].
    fn returning(&self, router: u32, pair: Pair) -> u32 {
        let (region, number) = self.region_of(router);
        let credits = region.context.kernel.credits.iter();
        credits.filter(|c: &&Credit| c.pair == number.pair::<W>(pair)).map(|c| u32::from(c.phits)).sum()
    }

    /// Checks that every head that need not wait for a signal is known to exactly the output VC it wants, and that the summary
    /// sets agree with the details.
    fn check_requests(&self, router: u32) -> Result<(), String> {
        let (region, number) = self.region_of(router);
        let (cx, state, network) = (&region.context, self.router(router), &self.whole.system.network);
        for pair in (0..network.layout.pairs()).map(Pair::at) {
            let wants = state.wants[pair];
            if state.wanted.contains(pair) == wants.is_empty() {
                return Err(format!("router {router} pair {pair}: the set of wanted pairs is stale"));
            }
            let Some((port, _)) = network.layout.any_vc(pair.index()) else { continue };
            let shortest = cx.shared.room.shortest;
            let link = network.layout.class[port] != TERMINAL;
            let least = if link { cx.shared.space(shortest) } else { shortest };
            // Nodes that take all packets at once need no allocator.
            let credit = state.credits[pair] >= least && (link || !cx.shared.parallel());
            if !(link && cx.is_on_off()) && state.credit.contains(pair) != credit {
                return Err(format!("router {router} pair {pair}: the set of pairs with credit is stale"));
            }
        }
        for slot in (0..network.layout.slots()).map(Slot::at) {
            let head = state.slots[slot].queue.front != NONE;
            let pairs = (0..network.layout.pairs()).map(Pair::at);
            let wanting = pairs.filter(|&pair| state.wants[pair].contains(slot)).count();
            let asking = wanting + usize::from(state.choosing.contains(slot));
            let asks = head && !cx.is_held(number, slot);
            if asking != usize::from(asks) {
                return Err(format!("router {router} slot {slot}: its head asks {asking} times"));
            }
        }
        Ok(())
    }

    /// Checks that no head sleeps that would be granted something if it were asked.
    fn check_sleepers(&self, router: u32) -> Result<(), String> {
        let (region, number) = self.region_of(router);
        let (cx, choices) = (&region.context, &region.extras.choices);
        let look = RouterRef { number, state: &region.routers[number], extras: &region.extras };
        if !cx.shared.requests.redecides {
            return Ok(());
        }
        let open = choices.waiting.free_outputs(number, look.state.credit);
        let openings = Openings { open, reachable: cx.reachable(open) };
        for slot in choices.waiting.asleep(number).iter() {
            let packet = look.state.slots[slot].queue.front;
            let mut route = cx.kernel.packets.get(packet).route;
            let mut attempt = Attempt { cx, router, packet, iteration: 0, stream: None };
            let view = RouterView { cx, router: look, openings: &openings, slot };
            let prospect = &choices.chooser(number, slot).prospect;
            let decision = cx.shared.routing.choose(prospect, &mut route, &view, &mut attempt);
            if let Some(request) = decision.request.filter(|&request| view.open(request)) {
                return Err(format!(
                    "router {router} slot {slot}: its head sleeps and could be granted {request:?}"
                ));
            }
        }
        Ok(())
    }
}
