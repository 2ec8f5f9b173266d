//! Links that fail in the middle of a run.

use crate::Fact;
use crate::fate::Fate;
use crate::link::{Flight, Returning};
use crate::simulator::{Packet, Reference};
use crate::switch::Waiting;
use hopsim_infiniband::fabric::FlowControl;
use hopsim_infiniband::faults::{Loss, What};
use hopsim_infiniband::time::Ticks;
use hopsim_infiniband::workload::Workload;

impl<W: Workload> Reference<W> {
    /// Step 0: what changes in this tick.
    pub fn fabric_changes(&mut self) {
        let now = self.now;
        let all = self.fabric.faults.changes.clone();
        for change in all.iter().filter(|change| change.at == now) {
            match change.what {
                What::Repaired { port } => self.both_ends(port, Self::is_repaired),
                What::Fails { port, drops } => self.both_ends(port, |it, sender| it.fails(sender, drops)),
                What::Detected { port } => self.both_ends(port, Self::is_detected),
                What::Table { switch, tables } => self.failing.tables[switch as usize] = tables,
            }
        }
    }

    fn both_ends(&mut self, port: u32, act: impl Fn(&mut Self, usize)) {
        let other = self.fabric.ports[port as usize].peer;
        act(self, port as usize);
        act(self, other as usize);
    }

    /// A link is in order again. What its receiver has room for its sender learns as it learns of credits.
    fn is_repaired(&mut self, sender: usize) {
        self.failing.out[sender] = false;
        self.failing.known[sender] = false;
        let receiver = self.fabric.ports[sender].peer as usize;
        let FlowControl::Credits { delay } = self.fabric.flow_control else { return };
        let at = self.now + self.fabric.ports[sender].delay + delay;
        for lane in 0..usize::from(self.fabric.lanes.count) {
            let blocks = self.fabric.ports[receiver].buffer - self.blocks_promised(sender, receiver, lane);
            self.links[sender].returning.push(Returning { at, lane, blocks });
        }
    }

    /// A link fails in one direction.
    fn fails(&mut self, sender: usize, drops: bool) {
        self.failing.out[sender] = true;
        self.links[sender].credits.fill(0);
        self.links[sender].returning.clear();
        if !drops {
            return;
        }
        // What is on its way to the output buffer or in it, and has not begun to leave.
        let granted = self.outputs[sender].leaving.iter().filter(|each| each.onto_link.is_none());
        let mut lost: Vec<usize> = granted.map(|each| each.packet).collect();
        lost.retain(|&packet| self.packets[packet].fate != Fate::Lost);
        lost.extend(self.links[sender].flights.drain(..).map(|flight| flight.packet));
        for packet in lost {
            self.lose(packet, Loss::Link);
        }
        let now = self.now;
        for &Flight { packet, .. } in self.links[sender].ending.iter().filter(|it| it.tail >= now) {
            if self.packets[packet].fate == Fate::Whole {
                self.packets[packet].fate = Fate::Spoiled;
            }
        }
    }

    /// The switch of an output knows: it discards what waits for the output, except what is crossing.
    fn is_detected(&mut self, output: usize) {
        self.failing.known[output] = true;
        for input in self.siblings(output) {
            for lane in 0..usize::from(self.fabric.lanes.count) {
                let kept = self.crossing(input, output, lane);
                let gone = self.inputs[input].queues[output][lane].split_off(kept);
                for Waiting { packet, tail, .. } in gone {
                    self.discard(input, packet, tail);
                }
                self.look_for_congestion(output, lane);
            }
        }
    }

    /// A packet at an input goes nowhere; the rest of it still comes.
    fn discard(&mut self, input: usize, packet: usize, tail: Ticks) {
        self.lose(packet, Loss::Output);
        self.failing.discarded.push((tail.max(self.now), input, packet));
    }

    /// A packet is lost.
    pub fn lose(&mut self, packet: usize, why: Loss) {
        self.packets[packet].fate = Fate::Lost;
        self.facts.push(Fact::Lost { at: self.now, packet: self.packets[packet].told, why });
        self.message_is_lost(packet);
    }

    /// Step 2, at its end: the room of discarded packets all of which has come is free.
    pub fn discarded_packets_go(&mut self) {
        let now = self.now;
        let gone: Vec<_> = self.failing.discarded.extract_if(.., |each| each.0 == now).collect();
        for (_, input, packet) in gone {
            self.return_credits(input, self.packets[packet]);
        }
    }

    /// The output by which a packet leaves a switch as the tables say that are in force there; none if it is discarded.
    pub fn output_or_discard(&mut self, input: usize, flight: &Flight) -> Option<usize> {
        let Packet { destination, .. } = self.packets[flight.packet];
        let switch = self.switch_of(input);
        let tables = match self.failing.tables[switch] {
            0 => &self.fabric.forwarding,
            number => &self.fabric.faults.tables[number as usize - 1],
        };
        let entry = tables.output(switch * self.fabric.hosts as usize + destination);
        let mut output = (self.fabric.first_port[switch] + entry) as usize;
        if let Some(paths) = &self.fabric.paths
            && self.home_of(destination) != switch
        {
            output = self.path(paths.seed, (switch, destination), self.packets[flight.packet].told.flow);
        }
        if self.failing.known[output] {
            self.discard(input, flight.packet, flight.tail);
            return None;
        }
        Some(output)
    }
}
