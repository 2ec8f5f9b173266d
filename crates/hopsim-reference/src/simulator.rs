//! The network, the cycle, and the movement of phits.

use crate::build::build_router;
use crate::life::{Life, Record, joined};
use crate::routing::faults::{self, Broken, Outage};
use crate::routing::rules::Rules;
use crate::state::nic::Nic;
use crate::state::packet::{Packet, Phit};
use crate::state::parts::{Input, Queued, Resident, Router};
use crate::state::program::message::{Message, Parcel};
use crate::state::program::{self, Rank};
use crate::state::sensors::Sensors;
use crate::state::signal::Signal;
use crate::state::standing::Congestion;
use crate::state::waiting::Waiting;
use hopsim_experiment::plan::Plan;
use hopsim_measure::trace::PacketTrace;
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// A network in some cycle.
pub struct Simulator<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) now: u32,
    pub(crate) nodes_per_router: usize,
    pub(crate) packets: Vec<Packet>,
    pub(crate) routers: Vec<Router>,
    pub(crate) nics: Vec<Nic>,
    /// The rules by which packets find their way.
    pub(crate) rules: Rules,
    /// The links and routers that are out of order for a part of the run.
    pub(crate) outages: Vec<Outage>,
    /// The cycles in which links become slower or faster.
    pub(crate) paced: BTreeSet<u32>,
    /// What the tables in force do not lead over.
    pub(crate) avoided: Broken,
    /// What the newest tables do not lead over, which wait until the network is drained.
    pub(crate) newest: Broken,
    /// The routers that are out of order for a part of the run, and are so now: their nodes inject nothing.
    pub(crate) fallen: BTreeSet<usize>,
    /// Whether nodes inject nothing until then.
    pub(crate) drains: bool,
    /// What routers keep for the routing.
    pub(crate) sensors: Sensors,
    /// The ranks of programs, by node.
    pub(crate) ranks: Vec<Option<Rank>>,
    /// The messages that ranks have sent.
    pub(crate) messages: Vec<Message>,
    /// The parcels in which messages travel.
    pub(crate) parcels: Vec<Parcel>,
    /// Packets of the present synchronised burst that have been consumed, by job.
    pub(crate) consumed: Vec<u64>,
    /// The signal of injection control, if there is one.
    pub(crate) signal: Option<Signal>,
    /// Cycles that heads at injection waited, see [`Record::waits`].
    pub(crate) waits: BTreeMap<(u32, usize), u64>,
    /// Cycles in which nodes stood still, see [`Record::stood_still`].
    pub(crate) stood_still: Vec<Vec<u32>>,
    /// What packets waited for, see [`Record::waiting`].
    pub(crate) waiting: Waiting,
    /// What stood still after every interval, see [`Record::congestion`].
    pub(crate) congestion: Congestion,
    /// What was asked of allocators, see [`Record::allocations`].
    pub(crate) allocations: Vec<(u64, u64)>,
    /// Cycles in which output VCs had no room, see [`Record::stalls`].
    pub(crate) stalls: BTreeMap<(u32, u32, usize, usize), u32>,
}

impl<'a> Simulator<'a> {
    /// The empty network before cycle 0.
    pub fn new(plan: &'a Plan) -> Self {
        let rules = Rules::without(plan, &Broken::default());
        Self {
            plan,
            now: 0,
            nodes_per_router: plan.system.topology.nodes_per_router() as usize,
            packets: Vec::new(),
            routers: (0..plan.system.topology.routers()).map(|router| build_router(plan, router)).collect(),
            nics: (0..plan.system.network.nodes as usize).map(|node| Nic::new(plan, node)).collect(),
            sensors: rules.sensors(),
            rules,
            outages: faults::outages(plan),
            paced: faults::paced(plan),
            avoided: Broken::default(),
            newest: Broken::default(),
            fallen: BTreeSet::new(),
            drains: false,
            ranks: program::ranks(plan),
            messages: Vec::new(),
            parcels: Vec::new(),
            consumed: vec![0; plan.system.jobs.len()],
            signal: plan.system.control.sat.as_ref().map(Signal::new),
            waits: BTreeMap::new(),
            stood_still: vec![Vec::new(); plan.system.network.nodes as usize],
            congestion: Congestion::default(),
            waiting: Waiting::default(),
            allocations: vec![(0, 0); plan.system.topology.routers() as usize],
            stalls: BTreeMap::new(),
        }
    }

    /// Goes on with the links and the routing of another plan, whose links are as slow or slower. What has been granted an output stays
    /// as it was granted.
    pub fn change(&mut self, plan: &'a Plan) {
        (self.plan, self.rules) = (plan, Rules::without(plan, &self.avoided));
        for (number, router) in self.routers.iter_mut().enumerate() {
            let link = |port: usize| plan.system.network.link(number as u32, port);
            router.inputs.iter_mut().enumerate().for_each(|(port, input)| input.latency = link(port).latency);
            router
                .outputs
                .iter_mut()
                .enumerate()
                .for_each(|(port, output)| output.pace = link(port).cycles_per_phit);
        }
    }

    /// Runs one cycle.
    pub fn step(&mut self) {
        self.change_links();
        self.receive();
        self.pass_signal();
        self.sense();
        self.count_stalls();
        self.look_at_outputs();
        let heads = self.heads_at_injection();
        (0..self.routers.len()).for_each(|router| {
            if self.moves_flits() {
                return self.allocate_flits(router);
            }
            self.consume_arrived(router);
            if !self.is_empty(router) {
                self.allocate(router);
            }
        });
        self.say_off_and_on();
        self.count_waits(heads);
        self.advance();
        (0..self.nics.len()).for_each(|node| self.inject(node));
        self.send_all();
        self.look_at_congestion();
    }

    /// Whether no packet is in an input VC of a router, so that nothing asks for anything there.
    pub(crate) fn is_empty(&self, router: usize) -> bool {
        self.routers[router].inputs.iter().flat_map(|input| &input.vcs).all(VecDeque::is_empty)
    }

    /// Lets the packets granted so far finish their hop, and gives the traces of all packets that were granted one.
    pub fn into_traces(self) -> Vec<PacketTrace> {
        let mut traces = joined(self.into_record().lives.iter());
        traces.retain(|trace| !trace.hops.is_empty());
        traces
    }

    /// Lets the packets granted so far finish their hop, and gives the lives of all packets that were generated before that.
    pub fn into_record(mut self) -> Record {
        let (generated, programs) = (self.packets.len(), self.tell_of_programs());
        let end = self.now;
        while self.routers.iter().any(|r| r.outputs.iter().any(|o| !o.is_empty())) {
            self.receive();
            self.advance();
            self.send_all();
        }
        self.packets.truncate(generated);
        let late = self.plan.experiment.links.ejection.map_or(1, |link| link.latency) - 1;
        let life = |packet: Packet| Life {
            trace: packet.trace,
            resendings: packet.resendings,
            came_back: packet.comes.filter(|&comes| comes < end),
            length: packet.length,
            admitted: packet.admitted,
            dropped: packet.dropped,
            lost: packet.lost,
            requested: packet.requested,
            late,
            passages: packet.passages,
            flits: packet.flits,
        };
        let lives = self.packets.into_iter().map(life).collect();
        Record {
            lives,
            waits: self.waits,
            stood_still: self.stood_still,
            stalls: self.stalls,
            congestion: self.congestion,
            waiting: self.waiting,
            allocations: self.allocations,
            programs,
        }
    }

    /// Takes credits and phits that reach the end of their wires.
    fn receive(&mut self) {
        let moves_flits = self.moves_flits();
        self.nics.iter_mut().for_each(|nic| nic.receive(self.now));
        for (number, router) in self.routers.iter_mut().enumerate() {
            for output in &mut router.outputs {
                while let Some((vc, packet)) = output.credit_wire.pop_due(self.now) {
                    output.take_credit(vc, packet);
                }
                while let Some((vc, word)) = output.word_wire.pop_due(self.now) {
                    output.is_on.iter_mut().for_each(|is_on| is_on[vc] = word);
                }
            }
            for (port, input) in router.inputs.iter_mut().enumerate() {
                while let Some(phit) = input.wire.pop_due(self.now) {
                    let (packet, vc) = (&mut self.packets[phit.packet], &mut input.vcs[phit.vc]);
                    let place = (number, port, phit.vc);
                    let is_lost_worm = moves_flits && packet.lost.is_some();
                    if is_lost_worm || packet.is_lost_at(place) && !is_awaited(vc, &phit) {
                        packet.discarded += 1;
                    } else {
                        arrive(vc, &phit, self.now);
                    }
                }
            }
        }
    }

    /// Lets every phit in a router that can take one step.
    fn advance(&mut self) {
        if self.moves_flits() {
            return self.eject_flits();
        }
        for router in 0..self.routers.len() {
            (0..self.routers[router].inputs.len()).for_each(|input| self.cross(router, input));
            (0..self.routers[router].outputs.len()).for_each(|output| self.leave(router, output));
        }
    }

    /// Lets phits leave the nodes, and ends the cycle.
    fn send_all(&mut self) {
        (0..self.nics.len()).for_each(|node| self.send(node));
        self.now += 1;
    }

    /// Lets phits of the packets that are leaving an input enter the crossbar, or go past it.
    fn cross(&mut self, router: usize, input: usize) {
        let Router { inputs, outputs, .. } = &mut self.routers[router];
        let Input { transfers, consumptions, vcs, .. } = &mut inputs[input];
        let due = self.now + self.plan.system.cioq().crossbar_latency;
        transfers.retain_mut(|t| {
            let (packet, phits) = t.step(&mut vcs[t.vc], &self.packets);
            let over = phits.end == self.packets[packet].length;
            phits.for_each(|phit| outputs[t.output].crossbar.push(due, (packet, phit)));
            !over
        });
        consumptions.retain_mut(|t| {
            let (packet, phits) = t.step(&mut vcs[t.vc], &self.packets);
            let over = phits.end == self.packets[packet].length;
            phits.for_each(|phit| outputs[t.output].bypass.push(due, (packet, phit)));
            !over
        });
    }

    /// Takes phits out of the crossbar, and lets one leave the output queue; phits past the crossbar leave at once.
    fn leave(&mut self, router: usize, output: usize) {
        while let Some(phit) = self.routers[router].outputs[output].bypass.pop_due(self.now) {
            self.absorb(phit);
        }
        let port = &mut self.routers[router].outputs[output];
        port.held.iter_mut().for_each(|cycles| *cycles -= 1);
        port.held.retain(|&cycles| cycles > 0);
        while let Some((packet, index)) = port.crossbar.pop_due(self.now) {
            // A long packet may have come back, and cross for a second time behind its own tail.
            let next = |queued: &&mut Queued| queued.packet == Some(packet) && queued.phits == index;
            let queued = port.queue.iter_mut().find(next);
            let queued =
                queued.expect("phits come in order, to a place that their packet has since its grant");
            queued.phits += 1;
        }
        let Some(first) = port.queue.front_mut().filter(|_| port.next <= self.now) else { return };
        if first.phits == first.sent {
            assert_eq!(first.sent, 0, "router {router} output {output} runs dry in the middle of a packet");
            return;
        }
        let (packet, index, vc, pace, latency) =
            (first.packet, first.sent, first.vc, first.pace, first.latency);
        // Behind a slow link the packet is handed on as if it came without gaps, so that its last phit is in time.
        let late = (first.length - index) * (pace - 1);
        port.next = self.now + pace;
        first.sent += 1;
        if first.sent == first.length {
            port.queue.pop_front();
        }
        // What a message says has been sent where it was written.
        let Some(packet) = packet else { return };
        match port.peer {
            Some((peer, back)) => {
                if index == 0 {
                    self.packets[packet].depart(self.now);
                }
                let input = &mut self.routers[peer].inputs[back];
                input.wire.push(self.now + latency + late, Phit { packet, index, vc });
            }
            None => self.absorb((packet, index)),
        }
    }

    /// Lets a phit leave for its destination node.
    fn absorb(&mut self, (number, index): (usize, u32)) {
        let packet = &mut self.packets[number];
        assert_eq!(packet.absorbed, index, "phits come in order");
        packet.absorbed += 1;
        let (over, source) = (packet.absorbed == packet.length, packet.trace.source as usize);
        if index == 0 {
            packet.depart(self.now);
            packet.trace.delivered = Some(self.now);
            self.consume(number);
        }
        if over {
            self.finish_in_burst(source);
        }
    }
}

/// Whether a packet stands in a VC of which a phit is the next to come: one that has been here before.
fn is_awaited(vc: &VecDeque<Resident>, phit: &Phit) -> bool {
    vc.iter().any(|resident| resident.packet == phit.packet && resident.phits == phit.index)
}

/// Puts a phit into an input buffer.
fn arrive(vc: &mut VecDeque<Resident>, phit: &Phit, now: u32) {
    if phit.index == 0 {
        vc.push_back(Resident {
            packet: phit.packet,
            arrived: now,
            phits: 0,
            arrivals: Vec::new(),
            crossed: 0,
            settled: None,
            way: OnceCell::new(),
        });
    }
    let resident = vc.iter_mut().find(|r| r.packet == phit.packet).expect("the head comes first");
    assert_eq!(resident.phits, phit.index, "phits come in order");
    resident.phits += 1;
    resident.arrivals.push(now);
}
