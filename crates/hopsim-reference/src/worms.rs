//! Packets that are lost while their flits lie in several routers: *Links that fail in the middle of a run* in `docs/model.md`.

use crate::simulator::Simulator;
use crate::state::packet::{LossReason, Memory};
use crate::state::parts::Input;
use crate::state::place::{OutputPort, Place};
use std::collections::{BTreeSet, VecDeque};

impl Simulator<'_> {
    /// The input VC whose first packet this is, if that owns an output VC and its head has not been granted the switch.
    fn owner(&self, packet: usize) -> Option<Place> {
        for (router, parts) in self.routers.iter().enumerate() {
            let Some(flits) = &parts.flits else { continue };
            for (port, lanes) in flits.lanes.iter().enumerate() {
                for (vc, _) in lanes.iter().enumerate().filter(|(_, lane)| lane.owned.is_some()) {
                    let front = parts.inputs[port].vcs[vc].front();
                    if front.is_some_and(|front| front.packet == packet && front.crossed == 0) {
                        return Some((router, port, vc));
                    }
                }
            }
        }
        None
    }

    /// Whether a packet owns an output VC, and its head has not been granted the switch.
    pub(crate) fn owns_vc(&self, packet: usize) -> bool {
        self.owner(packet).is_some()
    }

    /// What a packet remembers, behind the output VC that it owns if it owns one.
    pub(crate) fn memory_ahead(&self, packet: usize) -> &Memory {
        let owned = self.owner(packet).and_then(|(router, port, vc)| {
            self.routers[router].flits.as_ref().and_then(|flits| flits.lanes[port][vc].owned.as_ref())
        });
        owned.map_or(&self.packets[packet].memory, |owned| &owned.choice.after)
    }

    /// What a packet remembers behind the output VC that it owns, to be changed.
    pub(crate) fn memory_ahead_mut(&mut self, packet: usize) -> &mut Memory {
        if let Some((router, port, vc)) = self.owner(packet) {
            let owned = self.flits_mut(router).lanes[port][vc].owned.as_mut();
            return &mut owned.expect("it is the owner").choice.after;
        }
        &mut self.packets[packet].memory
    }

    /// The heads that are on a link, and the packets that own an output VC of it and whose head has not been granted the switch: with the buffers at
    /// the other end.
    pub(crate) fn heads_on_their_way(
        &self,
        (router, port): OutputPort,
        (peer, back): (usize, usize),
    ) -> Vec<(usize, Place)> {
        let wire = self.routers[peer].inputs[back].wire.0.iter();
        let coming = wire.filter(|(_, flit)| flit.index == 0).map(|(_, flit)| (flit.packet, flit.vc));
        let doors = self.flits(router).doors[port].iter().enumerate();
        let owners = doors.filter_map(|(vc, door)| Some((door.owner?, vc)));
        let unsent = owners.filter(|&(packet, _)| self.owner(packet).is_some_and(|place| place.0 == router));
        let all = coming.chain(unsent).filter(|&(packet, _)| self.packets[packet].lost.is_none());
        all.map(|(packet, vc)| (packet, (peer, back, vc))).collect()
    }

    /// Loses all packets that have a flit on a link, or an output VC of it.
    pub(crate) fn lose_worms_on_link(&mut self, (router, port): OutputPort) {
        let Some((peer, back)) = self.routers[router].outputs[port].peer else { return };
        let wire = self.routers[peer].inputs[back].wire.0.iter().map(|(_, flit)| (flit.packet, flit.vc));
        let doors = self.flits(router).doors[port].iter().enumerate();
        let owners = doors.filter_map(|(vc, door)| Some((door.owner?, vc)));
        for (packet, vc) in wire.chain(owners).collect::<Vec<_>>() {
            self.lose_worm((packet, (peer, back, vc)), LossReason::Link);
        }
    }

    /// Loses all packets that have a flit in the buffers of links of some routers or on its way there, or an output VC that leads there.
    pub(crate) fn lose_worms_in_routers(&mut self, routers: &BTreeSet<u32>) {
        for router in routers.iter().map(|&router| router as usize) {
            for port in 0..self.routers[router].inputs.len() {
                let input = &self.routers[router].inputs[port];
                let Some((peer, back)) = input.peer else { continue };
                let wire = input.wire.0.iter().map(|(_, flit)| (flit.packet, flit.vc));
                let vcs = input.vcs.iter().enumerate();
                let here = vcs.flat_map(|(vc, all)| all.iter().map(move |resident| (resident.packet, vc)));
                let doors = self.flits(peer).doors[back].iter().enumerate();
                let owners = doors.filter_map(|(vc, door)| Some((door.owner?, vc)));
                for (packet, vc) in wire.chain(here).chain(owners).collect::<Vec<_>>() {
                    self.lose_worm((packet, (router, port, vc)), LossReason::Router);
                }
            }
        }
    }

    /// Loses a packet with all its flits, unless it has been lost already.
    pub(crate) fn lose_worm(&mut self, (packet, place): (usize, Place), reason: LossReason) {
        if self.packets[packet].lost.is_some() {
            return;
        }
        self.lose(packet, place, reason);
        for router in 0..self.routers.len() {
            for port in 0..self.routers[router].inputs.len() {
                for vc in 0..self.routers[router].inputs[port].vcs.len() {
                    self.discard(packet, (router, port, vc));
                }
            }
        }
        self.stop_sending(packet);
    }

    /// Discards the flits of a packet that are in an input VC; those on their way there are discarded as they come, and their room is given back
    /// now, too.
    fn discard(&mut self, packet: usize, (router, port, vc): Place) {
        let input = &mut self.routers[router].inputs[port];
        let coming =
            input.wire.0.iter().filter(|(_, flit)| flit.packet == packet && flit.vc == vc).count() as u32;
        let stands = input.vcs[vc].iter().position(|resident| resident.packet == packet);
        let here =
            stands.and_then(|nth| input.vcs[vc].remove(nth)).map_or(0, |gone| gone.phits - gone.crossed);
        self.packets[packet].discarded += here;
        let (node, peer, due) = (input.node, input.peer, self.now + input.latency);
        for _ in 0..here + coming {
            match (peer, node) {
                (Some((peer, back)), _) => {
                    self.routers[peer].outputs[back].credit_wire.push(due, (vc, packet));
                }
                (None, Some((node, first))) => self.nics[node].free[first + vc] += 1,
                (None, None) => unreachable!("flits come from somewhere"),
            }
        }
        if stands == Some(0) {
            self.begin_anew((router, port, vc));
        }
    }

    /// Lets the first packet of an input VC begin in this cycle, which owns nothing.
    pub(crate) fn begin_anew(&mut self, (router, port, vc): Place) {
        let now = self.now;
        let flits = self.flits_mut(router);
        let first = flits.plan.speedup.steps(now).start;
        let lane = &mut flits.lanes[port][vc];
        lane.left = first.checked_sub(1);
        if let Some(owned) = lane.owned.take() {
            let to = owned.choice.to;
            flits.doors[to.port][to.vc as usize].owner = None;
        }
        flits.held.iter_mut().filter(|held| **held == Some((router, port, vc))).for_each(|held| *held = None);
    }

    /// Lets a node send nothing more of a packet whose flits wait for room; one for all of which there is room keeps the wire busy.
    fn stop_sending(&mut self, packet: usize) {
        let node = self.packets[packet].trace.source as usize;
        let length = self.packets[packet].length;
        let nic = &mut self.nics[node];
        let Some(index) = nic.sending.iter().position(|sending| sending.packet == packet) else { return };
        let unsent = length - nic.sending[index].sent;
        if nic.sending[index].by_flits {
            nic.sending.remove(index);
            self.packets[packet].discarded += unsent;
        } else {
            let vc = nic.sending[index].vc;
            nic.free[vc] += unsent;
        }
    }

    /// Whether no packet has been granted an output VC in its source router and not left its last router by its tail.
    pub(crate) fn has_no_worms(&self) -> bool {
        let is_there = |packet: usize| self.packets[packet].lost.is_none();
        self.routers.iter().all(|parts| {
            let lanes = &parts.flits.as_ref().expect("it is a virtual-channel router").lanes;
            parts.inputs.iter().zip(lanes).all(|(input, lanes)| {
                if input.peer.is_none() {
                    return lanes.iter().all(|lane| lane.owned.is_none());
                }
                is_empty(input) && !input.wire.0.iter().any(|(_, flit)| is_there(flit.packet))
            })
        })
    }

    /// Makes the route of every head anew that owns no output VC.
    pub(crate) fn route_heads_anew(&mut self) {
        for router in 0..self.routers.len() {
            for port in 0..self.routers[router].inputs.len() {
                for vc in 0..self.routers[router].inputs[port].vcs.len() {
                    if self.flits(router).lanes[port][vc].owned.is_none() {
                        self.begin_anew((router, port, vc));
                    }
                }
            }
        }
    }
}

/// Whether no packet is in the VCs of an input.
fn is_empty(input: &Input) -> bool {
    input.vcs.iter().all(VecDeque::is_empty)
}
