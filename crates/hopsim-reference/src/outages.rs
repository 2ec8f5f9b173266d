//! Links that fail and are repaired in the middle of a run: `hopsim explain faults`.

use crate::routing::faults::{self, Broken, Outage};
use crate::routing::rules::vcs::{HopVcs, Rule};
use crate::routing::rules::{Mechanism, Rules};
use crate::simulator::Simulator;
use crate::state::packet::{Loss, LossReason, Role};
use crate::state::parts::Resident;
use crate::state::place::{OutputPort, Place};
use std::cell::OnceCell;
use std::collections::BTreeSet;

impl Simulator<'_> {
    /// Lets links be repaired and fail, routers notice it, and tables change, as the cycle begins.
    pub(crate) fn change_links(&mut self) {
        if self.paced.contains(&self.now) {
            self.pace_links();
        }
        let outages = std::mem::take(&mut self.outages);
        let of = |is_meant: &dyn Fn(&Outage) -> bool| -> BTreeSet<OutputPort> {
            outages.iter().filter(|outage| is_meant(outage)).flat_map(Outage::ports).collect()
        };
        let now = self.now;
        let out = of(&|outage| outage.is_out(now));
        for (router, port) in self.closed_ports() {
            if !out.contains(&(router, port)) {
                self.routers[router].outputs[port].closed = None;
            }
        }
        let before = self.closed_ports();
        for &(router, port) in out.iter().filter(|port| !before.contains(port)) {
            let output = &mut self.routers[router].outputs[port];
            output.closed = Some((0..output.outstanding.len()).map(|vc| output.taken(vc)).collect());
        }
        let lose = of(&|outage| outage.fails == now && outage.loses);
        let fails = out.iter().any(|port| !before.contains(port));
        for &link in lose.iter().filter(|port| !before.contains(port)) {
            self.lose_on_link(link);
        }
        let are_out = outages.iter().filter(|outage| outage.is_out(now)).map(|outage| &outage.broken);
        self.fallen = Broken::of_all(are_out).routers.iter().map(|&router| router as usize).collect();
        let drops = |outage: &&Outage| outage.fails == now && outage.loses;
        let fallen = Broken::of_all(outages.iter().filter(drops).map(|outage| &outage.broken)).routers;
        self.lose_in_routers(&fallen);
        for (router, port) in of(&|outage| outage.noticed == now && outage.is_out(now)) {
            let output = &mut self.routers[router].outputs[port];
            output.closed = Some(vec![output.buffer; output.outstanding.len()]);
        }
        let avoided =
            Broken::of_all(outages.iter().filter(|outage| outage.is_avoided(now)).map(|o| &o.broken));
        let are_new = avoided != self.newest;
        let wait = outages.iter().any(|outage| outage.drains && outage.changes_tables(now));
        (self.outages, self.newest) = (outages, avoided);
        self.drains |= are_new && wait;
        if self.drains && (are_new && wait || fails) {
            self.lose_without_way();
        }
        if self.drains && self.is_drained() || are_new && !self.drains {
            self.take_tables();
        }
    }

    /// Lets links take as many cycles for a phit as they do in this cycle.
    fn pace_links(&mut self) {
        let slower = faults::slower(self.plan, self.now);
        for (number, router) in self.routers.iter_mut().enumerate() {
            for (port, output) in router.outputs.iter_mut().enumerate() {
                let times = slower.get(&(number, port)).copied().unwrap_or(1);
                output.pace = times * self.plan.system.network.link(number as u32, port).cycles_per_phit;
            }
        }
    }

    /// The ports whose links are out of order.
    fn closed_ports(&self) -> BTreeSet<OutputPort> {
        let all = self.routers.iter().enumerate();
        let all = all.flat_map(|(router, parts)| (0..parts.outputs.len()).map(move |port| (router, port)));
        all.filter(|&(router, port)| self.routers[router].outputs[port].closed.is_some()).collect()
    }

    /// Loses the packets in transit that are in some routers or on their way there.
    fn lose_in_routers(&mut self, routers: &BTreeSet<u32>) {
        if self.moves_flits() {
            return self.lose_worms_in_routers(routers);
        }
        for (packet, place) in self.in_transit() {
            if routers.contains(&(place.0 as u32)) {
                self.lose_in_transit((packet, place), LossReason::Router);
            }
        }
    }

    /// Whether no packet is under way.
    fn is_drained(&self) -> bool {
        if self.moves_flits() { self.has_no_worms() } else { self.in_transit().is_empty() }
    }

    /// The newest tables come into force.
    fn take_tables(&mut self) {
        self.drains = false;
        self.avoided.clone_from(&self.newest);
        self.rules = Rules::without(self.plan, &self.avoided);
        self.lose_cut_off();
        self.lose_without_vcs();
        self.route_anew();
    }

    /// The packets that have been granted an output and whose head has not arrived at the other end, with the buffers there.
    fn on_their_way(&self, (router, port): OutputPort) -> Vec<(usize, Place)> {
        let output = &self.routers[router].outputs[port];
        let Some((peer, back)) = output.peer else { return Vec::new() };
        if self.moves_flits() {
            return self.heads_on_their_way((router, port), (peer, back));
        }
        let waiting = output.queue.iter().filter(|queued| queued.sent == 0);
        let waiting = waiting.filter_map(|queued| Some((queued.packet?, queued.vc)));
        let wire = self.routers[peer].inputs[back].wire.0.iter();
        let coming = wire.filter(|(_, phit)| phit.index == 0).map(|(_, phit)| (phit.packet, phit.vc));
        let all = coming.chain(waiting).filter(|&(packet, _)| self.packets[packet].lost.is_none());
        all.map(|(packet, vc)| (packet, (peer, back, vc))).collect()
    }

    /// Loses a packet, which is sent again if it has been injected.
    pub(crate) fn lose(&mut self, packet: usize, place: Place, reason: LossReason) {
        let injected = self.packets[packet].trace.hops.first().map(|hop| hop.granted);
        let granted = self.moves_flits() && self.owns_vc(packet);
        let injected = injected.or(granted.then_some(self.now));
        let comes_back = injected.is_some_and(|injected| self.send_again(packet, injected));
        self.packets[packet].lost = Some(Loss { at: self.now, place, reason, comes_back });
    }

    /// Loses all packets that are on their way over a link: what they would have taken behind it is free at once.
    fn lose_on_link(&mut self, (router, port): OutputPort) {
        if self.moves_flits() {
            return self.lose_worms_on_link((router, port));
        }
        for (packet, place) in self.on_their_way((router, port)) {
            self.lose(packet, place, LossReason::Link);
            let outstanding = &mut self.routers[router].outputs[port].outstanding[place.2];
            let last = outstanding.iter().rposition(|sent| sent.packet == packet);
            outstanding.remove(last.expect("it has been granted the output"));
        }
    }

    /// The packets in buffers of links that have not been granted an output there, and those on their way there.
    fn in_transit(&self) -> Vec<(usize, Place)> {
        let mut all = Vec::new();
        for (router, parts) in self.routers.iter().enumerate() {
            for (port, input) in parts.inputs.iter().enumerate().filter(|(_, input)| input.peer.is_some()) {
                for (vc, residents) in input.vcs.iter().enumerate() {
                    let waiting = residents.iter().skip(self.leaving((router, port, vc)));
                    all.extend(waiting.map(|resident| (resident.packet, (router, port, vc))));
                }
            }
            (0..parts.outputs.len()).for_each(|port| all.extend(self.on_their_way((router, port))));
        }
        all
    }

    /// Loses the packets in transit that have no way any more.
    fn lose_cut_off(&mut self) {
        for (packet, place) in self.in_transit() {
            let (ways, to) = (self.rules.ways(), self.router_of(packet));
            let is_there = match self.memory_ahead(packet).via {
                Some(via) => ways.reaches(place.0, via) && ways.reaches(via, to),
                None => ways.reaches(place.0, to),
            };
            if !is_there {
                self.lose_in_transit((packet, place), LossReason::CutOff);
            }
        }
        for (packet, place) in self.in_injection_vcs() {
            if !self.rules.ways().reaches(place.0, self.router_of(packet)) {
                self.lose_at_injection((packet, place));
            }
        }
    }

    /// The packets in injection buffers that have not been granted an output, and those on their way there.
    fn in_injection_vcs(&self) -> Vec<(usize, Place)> {
        let mut all = Vec::new();
        for (router, parts) in self.routers.iter().enumerate() {
            for (port, input) in parts.inputs.iter().enumerate().filter(|(_, input)| input.node.is_some()) {
                let heads = input.wire.0.iter().map(|(_, phit)| phit).filter(|phit| phit.index == 0);
                all.extend(heads.map(|phit| (phit.packet, (router, port, phit.vc))));
                for (vc, residents) in input.vcs.iter().enumerate() {
                    let waiting = residents.iter().skip(self.leaving((router, port, vc)));
                    all.extend(waiting.map(|resident| (resident.packet, (router, port, vc))));
                }
            }
        }
        all.retain(|&(packet, _)| self.packets[packet].lost.is_none());
        all
    }

    /// Loses a packet in an injection buffer, or on its way there: its node has room at once.
    fn lose_at_injection(&mut self, (packet, place): (usize, Place)) {
        if self.moves_flits() {
            return self.lose_worm((packet, place), LossReason::Injection);
        }
        let (router, port, vc) = place;
        let leaving = self.leaving(place);
        let input = &mut self.routers[router].inputs[port];
        let (node, first) = input.node.expect("it comes from a node");
        let mut is_head = false;
        if let Some(stands) = input.vcs[vc].iter().position(|resident| resident.packet == packet) {
            is_head = stands == leaving;
            let phits = input.vcs[vc].remove(stands).map_or(0, |resident| resident.phits);
            self.packets[packet].discarded += phits;
        }
        self.nics[node].free[first + vc] += self.packets[packet].length;
        self.lose(packet, place, LossReason::Injection);
        if is_head {
            self.end_wait_for_lost(place);
        }
    }

    /// Loses the first packets of a source queue that have no way to their destination.
    pub(crate) fn lose_at_source(&mut self, node: usize) {
        let router = node / self.nodes_per_router;
        while let Some(&first) = self.nics[node].queue.front() {
            if self.rules.ways().reaches(router, self.router_of(first)) {
                return;
            }
            self.nics[node].queue.pop_front();
            let place = (router, 0, 0);
            self.lose(first, place, LossReason::Source);
        }
    }

    /// Loses the packets in transit for which there are not VCs enough.
    fn lose_without_vcs(&mut self) {
        for (packet, place) in self.in_transit() {
            if !self.has_vcs(packet, place.0) {
                self.lose_in_transit((packet, place), LossReason::Vcs);
            }
        }
    }

    /// Loses the packets in transit whose way leads over a link that is out of order.
    fn lose_without_way(&mut self) {
        for (packet, place) in self.in_transit() {
            let way = self.rules.ways().table_way(place.0, self.router_of(packet));
            if way.iter().any(|&(router, port)| self.routers[router].outputs[port].closed.is_some()) {
                self.lose_in_transit((packet, place), LossReason::Way);
            }
        }
    }

    /// Loses a packet in transit; that there is room is known behind the link.
    fn lose_in_transit(&mut self, (packet, place): (usize, Place), reason: LossReason) {
        if self.moves_flits() {
            return self.lose_worm((packet, place), reason);
        }
        self.lose(packet, place, reason);
        let (router, port, vc) = place;
        let first = self.leaving(place);
        let input = &mut self.routers[router].inputs[port];
        let due = self.now + input.latency;
        let (peer, back) = input.peer.expect("packets in transit come by links");
        let residents = input.vcs[vc].iter().skip(first);
        let stands = residents.map(|resident| resident.packet).position(|other| other == packet);
        let is_head = stands == Some(0);
        if let Some(Resident { phits, .. }) = stands.and_then(|nth| input.vcs[vc].remove(first + nth)) {
            self.packets[packet].discarded += phits;
        }
        self.routers[peer].outputs[back].credit_wire.push(due, (vc, packet));
        if is_head {
            self.end_wait_for_lost(place);
        }
    }

    /// How many packets of a VC have been granted an output.
    fn leaving(&self, (router, port, vc): Place) -> usize {
        if self.moves_flits() {
            return usize::from(self.flits(router).lanes[port][vc].owned.is_some());
        }
        self.routers[router].inputs[port].leaving().filter(|passage| passage.vc == vc).count()
    }

    /// Whether there are VCs for all links that a packet has before it from a router.
    fn has_vcs(&self, packet: usize, router: usize) -> bool {
        let Rule::ByHop(HopVcs { counts, .. }) = &self.rules.vcs.rule else { return true };
        let is_reply = self.packets[packet].role == Role::Reply;
        let passed = self.packets[packet].trace.hops.len() + usize::from(self.owns_vc(packet));
        passed + self.links_left(packet, router) <= counts[usize::from(is_reply)]
    }

    /// The links before a packet that is in a router or on its way there: by way of its intermediate router, if it has one before it.
    fn links_left(&self, packet: usize, router: usize) -> usize {
        let ways = self.rules.ways();
        let to = self.router_of(packet);
        let Some(via) = self.memory_ahead(packet).via else { return ways.distance(router, to) };
        let there = ways.table_way(router, via);
        let passed = there.iter().position(|&(at, _)| at == to);
        match passed {
            // Packets are delivered where they pass their destination.
            Some(links) if !matches!(self.rules.mechanism, Mechanism::Oblivious(_)) => links,
            _ => there.len() + ways.distance(via, to),
        }
    }

    /// The router of a packet's destination.
    fn router_of(&self, packet: usize) -> usize {
        self.packets[packet].trace.destination as usize / self.nodes_per_router
    }

    /// Makes everything anew that packets have found out from the tables before.
    fn route_anew(&mut self) {
        for (packet, (router, ..)) in self.in_transit() {
            let to = self.memory_ahead(packet).via.unwrap_or_else(|| self.router_of(packet));
            let way = self.rules.ways().table_way(router, to);
            self.memory_ahead_mut(packet).way = way;
        }
        if self.moves_flits() {
            self.route_heads_anew();
        }
        for input in self.routers.iter_mut().flat_map(|router| &mut router.inputs) {
            for resident in input.vcs.iter_mut().flatten() {
                (resident.settled, resident.way) = (None, OnceCell::new());
            }
        }
    }
}
