//! What must hold between any two cycles, counted anew from the state of all routers. Slow; for tests.

use crate::kernel::ids::{Id as _, Pair, RegionRouter, Slot, SlotId};
use crate::kernel::wires::Arrival;
use crate::node::{Nodes, Run};
use crate::region::Whole;
use crate::router::damq::{Damq, credits_of};
use crate::router::inputs::room_behind;
use crate::router::virtual_channel::region::VirtualChannel;
use crate::router::virtual_channel::routers::occupied;
use hopsim_network::network::TERMINAL;

/// Checks every invariant; the error names the first breach.
pub fn audit<'p, M: Run>(whole: &Whole<'_, 'p, VirtualChannel<'p, M>>) -> Result<(), String> {
    let audit = FlitAudit { whole };
    for router in 0..whole.system.network.routers {
        audit.check_owners(router)?;
        audit.check_flits(router)?;
        audit.check_masks(router)?;
        audit.check_credits(router)?;
        audit.check_injection(router)?;
    }
    Ok(())
}

/// A look at the routers of a network.
struct FlitAudit<'s, 'p, M: Run> {
    whole: &'s Whole<'s, 'p, VirtualChannel<'p, M>>,
}

impl<'s, 'p, M: Run> FlitAudit<'s, 'p, M> {
    fn region(&self, router: u32) -> (&'s VirtualChannel<'p, M>, RegionRouter) {
        let region = &self.whole.regions[self.whole.cut.of(router)];
        (region, region.kernel.span.router_here(router))
    }

    /// Checks that an output VC of a link is owned by the input VC that says so, and by no other.
    fn check_owners(&self, router: u32) -> Result<(), String> {
        let (region, number) = self.region(router);
        let layout = region.shared.layout;
        let owners = (0..layout.slots()).filter_map(|slot| {
            let input = &region.routers.inputs[region.shared.slot_id(number, Slot::at(slot))];
            let owned = input.output.filter(|&owned| !region.shared.is_for_requests(owned));
            owned.map(|owned| (owned.pair, slot as u16))
        });
        let mut owners: Vec<(u16, u16)> = owners.collect();
        owners.sort_unstable();
        let owned = (0..layout.pairs()).filter_map(|pair| {
            let output = &region.routers.outputs[region.shared.pair_id(number, Pair::at(pair))];
            output.owner.map(|owner| (pair as u16, owner))
        });
        let owned: Vec<(u16, u16)> = owned.collect();
        (owners == owned).then_some(()).ok_or(format!("router {router}: {owners:?} own {owned:?}"))
    }

    /// Checks that the flits of an input VC are as many as its packets may have there, and that ports know which VCs hold packets.
    fn check_flits(&self, router: u32) -> Result<(), String> {
        let (region, number) = self.region(router);
        let held: Vec<Slot> = occupied(&region.shared, region.routers.ports(number)).collect();
        for slot in (0..region.shared.layout.slots()).map(Slot::at) {
            let input = &region.routers.inputs[region.shared.slot_id(number, slot)];
            let behind = input.behind.iter(&region.kernel.packets);
            let behind: u32 = behind.map(|id| u32::from(region.kernel.packets.get(id).length)).sum();
            let place = || format!("router {router} slot {slot}");
            if held.contains(&slot) != (input.left > 0) {
                return Err(format!("{}: {} flits left, and the port says otherwise", place(), input.left));
            }
            if u32::from(input.flits) > u32::from(input.left) + behind {
                return Err(format!("{}: {} flits of {} + {behind}", place(), input.flits, input.left));
            }
        }
        Ok(())
    }

    /// Checks that ports, and the counts of their router, say of every VC what its state says.
    fn check_masks(&self, router: u32) -> Result<(), String> {
        let (region, number) = self.region(router);
        let (routers, layout) = (&region.routers, region.shared.layout);
        let (mut packets, mut waiting) = (0, 0);
        for (port, state) in routers.ports(number).iter().enumerate() {
            let inputs = || {
                (0..layout.input_vcs[port])
                    .map(|vc| (vc, &routers.inputs[state.link.first_slot.up(vc.into())]))
            };
            let heads = mask(inputs().map(|(vc, input)| (vc, input.left > 0 && input.output.is_none())));
            let senders = mask(inputs().map(|(vc, input)| (vc, input.output.is_some() && input.flits > 0)));
            let outputs = || {
                (0..layout.output_vcs[port])
                    .map(|vc| (vc, &routers.outputs[state.link.first_pair.up(vc.into())]))
            };
            let owned = mask(outputs().map(|(vc, output)| (vc, output.owner.is_some())));
            let credited = mask(outputs().map(|(vc, output)| (vc, output.credits > 0)));
            if (state.heads, state.senders, !state.unowned, state.credited)
                != (heads, senders, owned, credited)
            {
                return Err(format!(
                    "router {router} port {port}: {state:?}, and its VCs say {heads} {senders} {owned} {credited}"
                ));
            }
            packets += state.present.count_ones();
            waiting += heads.count_ones();
        }
        let known = (routers.has_packets(number), routers.has_heads(number));
        let found = (packets > 0, waiting > 0);
        (known == found)
            .then_some(())
            .ok_or(format!("router {router} knows {known:?}, and its ports say {found:?}"))
    }

    /// Checks that credits + flits in the buffer or on the wire + credits on the wire = size of the buffer, for every output VC.
    fn check_credits(&self, router: u32) -> Result<(), String> {
        let network = &self.whole.system.network;
        let (region, number) = self.region(router);
        for (port, &vcs) in network.layout.output_vcs.iter().enumerate() {
            for vc in 0..vcs as usize {
                let pair = Pair::at(network.layout.pair_base[port] as usize + vc);
                let id = region.shared.pair_id(number, pair);
                let credits = region.routers.outputs[id].credits;
                let returning = region.kernel.credits.iter().filter(|credit| credit.pair == id);
                let returning: u32 = returning.map(|credit| u32::from(credit.phits)).sum();
                let (taken, size) = if network.layout.class[port] == TERMINAL {
                    if !region.shared.is_for_requests(region.shared.owned(pair)) {
                        let size = region.shared.plan.ejection.map_or(credits, |ejection| ejection.size);
                        if credits + returning != size {
                            return Err(format!(
                                "router {router} {} VC {vc}: {credits} + {returning} of {size} flits",
                                network.port_name(port)
                            ));
                        }
                        continue;
                    }
                    let node = router * network.layout.terminals as u32 + port as u32;
                    (self.reserved(router, node, pair), M::Nodes::ejection_space(self.whole.system, node))
                } else {
                    let Some((peer, back)) = network.link(router, port).peer else { continue };
                    let slot = region.shared.slot(back, vc);
                    let taken = self.flits(peer, slot);
                    if let Some(damq) = &region.damq {
                        self.check_shared((router, port, vc), taken + returning, damq)?;
                        continue;
                    }
                    (taken, room_behind(network, router, port))
                };
                if credits + returning + taken != size {
                    return Err(format!(
                        "router {router} {} VC {vc}: {credits} credits, {returning} on their way, {taken} taken of {size} flits",
                        network.port_name(port)
                    ));
                }
            }
        }
        Ok(())
    }

    /// Checks that an output VC has outstanding what it says, and credits for what is left of its reserve and of what its port shares.
    fn check_shared(
        &self,
        (router, port, vc): (u32, usize, usize),
        outstanding: u32,
        damq: &Damq,
    ) -> Result<(), String> {
        let (region, number) = self.region(router);
        let layout = region.shared.layout;
        let first = region.routers.port(number, port).link.first_pair;
        let known = damq.outstanding(first.up(vc));
        let all: Vec<u32> =
            (0..layout.output_vcs[port].into()).map(|vc| damq.outstanding(first.up(vc))).collect();
        let free = credits_of(damq.shares(layout.class[port]), &all).nth(vc).unwrap_or_default();
        let credits = region.routers.outputs[first.up(vc)].credits;
        ((known, free) == (outstanding, credits)).then_some(()).ok_or_else(|| {
            let port = self.whole.system.network.port_name(port);
            format!("router {router} {port} VC {vc}: {outstanding} flits outstanding of {known}, {credits} credits of {free}")
        })
    }

    /// Checks that nodes know how many flits are in their injection VCs or on their way there.
    fn check_injection(&self, router: u32) -> Result<(), String> {
        let (region, number) = self.region(router);
        let layout = region.shared.layout;
        for slot in (0..layout.slots()).map(Slot::at) {
            // Behind the VCs of a port there may be a gap.
            let Some((port, _)) = layout.slot_vc(slot.index()) else { continue };
            if layout.class[port] != TERMINAL {
                continue;
            }
            let (terminal, vc) =
                region.injection_vc(region.routers.inputs[region.shared.slot_id(number, slot)].place);
            let node = terminal.node(region.kernel.constants.nodes_per_router);
            let (known, there) = (region.nodes.injected_flits(node, vc), self.flits(router, slot));
            if known != there {
                return Err(format!(
                    "router {router} injection VC {vc}: {there} flits, and its node knows {known}"
                ));
            }
        }
        Ok(())
    }

    /// Room behind an ejection VC that is taken, by packets that are leaving or by what the node has not dealt with.
    fn reserved(&self, router: u32, node: u32, pair: Pair) -> u32 {
        let (region, number) = self.region(router);
        let (_, vc) = region.shared.output(pair);
        let inputs = (0..region.shared.layout.slots())
            .map(|slot| &region.routers.inputs[region.shared.slot_id(number, Slot::at(slot))]);
        let leaving = inputs.filter(|input| input.owned() == Some(pair));
        let leaving: u32 = leaving.map(|input| u32::from(input.trail.length)).sum();
        let node = region.kernel.span.node_here(node);
        let kind = vc + 1 - usize::from(region.shared.one_way);
        leaving + region.nodes.ejection_space_taken(&region.kernel, node, kind)
    }

    /// Flits in an input VC and on their way there.
    fn flits(&self, router: u32, slot: Slot) -> u32 {
        let (region, number) = self.region(router);
        let (kernel, id) = (&region.kernel, region.shared.slot_id(number, slot));
        let heads = kernel.arrivals.iter().map(|&Arrival { slot, packet: _ }| slot);
        let immigrants = kernel.immigrants.iter().map(|packet| SlotId::at(packet.next as usize));
        let flying = heads.chain(immigrants).chain(kernel.flits.iter().copied()).filter(|&slot| slot == id);
        flying.count() as u32 + u32::from(region.routers.inputs[id].flits)
    }
}

/// The VCs of which something is true, a bit each.
fn mask(vcs: impl Iterator<Item = (u8, bool)>) -> u64 {
    vcs.fold(0, |mask, (vc, is_true)| mask | u64::from(is_true) << vc)
}
