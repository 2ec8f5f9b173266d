//! Switches: queues at the inputs, grants, buffers at the outputs.

use crate::Fact;
use crate::fate::Fate;
use crate::lanes::LaneArbiter;
use crate::link::Flight;
use crate::simulator::{Packet, Reference, round_robin};
use hopsim_infiniband::congestion::MarkPoint;
use hopsim_infiniband::fabric::{Arbitration, Fabric, Switching};
use hopsim_infiniband::time::Ticks;
use hopsim_infiniband::workload::Workload;
use hopsim_random::{Purpose, Stream};
use std::collections::VecDeque;

/// An input port of a switch.
pub struct Input {
    /// The queues by output port and VL: packets in the order in which their heads arrived.
    pub queues: Vec<Vec<VecDeque<Waiting>>>,
}

/// A packet in an input buffer.
pub struct Waiting {
    pub packet: usize,
    /// When the head of the packet arrived.
    pub head: Ticks,
    /// When the tail of the packet arrives or arrived.
    pub tail: Ticks,
}

/// An output port of a switch.
pub struct Output {
    /// The transfer under way.
    pub serving: Option<Transfer>,
    /// Packets that have room in the output buffer, in the order of their grants.
    pub leaving: VecDeque<Leaving>,
    /// The input that was granted last, by VL.
    last: Vec<Option<usize>>,
    lanes: LaneArbiter,
    /// Whether the output is congested, by VL.
    pub congested: Vec<bool>,
    /// How many packets could have been marked, by VL.
    pub eligible: Vec<u64>,
    /// Random numbers that say which packets are marked.
    pub draws: Stream,
}

/// A packet on its way from an input to an output.
pub struct Transfer {
    pub input: usize,
    pub lane: usize,
    pub packet: usize,
    /// When the last byte of the packet could have crossed.
    crossed: Ticks,
    /// When the tail of the packet arrives or arrived at the input.
    tail: Ticks,
}

/// A packet that has room in an output buffer.
pub struct Leaving {
    pub packet: usize,
    granted: Ticks,
    /// When the transfer of the packet ends.
    complete: Ticks,
    /// When the head of the packet went onto the link.
    pub onto_link: Option<Ticks>,
}

impl Transfer {
    /// When the last byte of the packet both has come and has crossed.
    fn end(&self) -> Ticks {
        self.crossed.max(self.tail)
    }
}

impl Input {
    /// Empty queues.
    pub fn new(fabric: &Fabric) -> Self {
        let lanes = usize::from(fabric.lanes.count);
        let outputs = fabric.ports.len();
        Self { queues: (0..outputs).map(|_| (0..lanes).map(|_| VecDeque::new()).collect()).collect() }
    }
}

impl Output {
    /// An idle output.
    pub fn new(fabric: &Fabric, seed: u64, port: usize) -> Self {
        let lanes = usize::from(fabric.lanes.count);
        Self {
            serving: None,
            leaving: VecDeque::new(),
            last: vec![None; lanes],
            lanes: LaneArbiter::new(&fabric.lanes),
            congested: vec![false; lanes],
            eligible: vec![0; lanes],
            draws: Stream::new(seed, Purpose::Marking, port as u64),
        }
    }
}

impl<W: Workload> Reference<W> {
    /// The packets at an input for an output in a VL.
    pub fn queue(&self, input: usize, output: usize, lane: usize) -> &VecDeque<Waiting> {
        &self.inputs[input].queues[output][lane]
    }

    /// How many packets at the front of a queue are crossing: one or none. A packet that comes back to an output while its last bytes still
    /// cross to that output waits there all the same, so it is not enough to know which packet is crossing.
    pub fn crossing(&self, input: usize, output: usize, lane: usize) -> usize {
        let transfer = self.outputs[output].serving.as_ref();
        transfer.filter(|it| it.input == input && it.lane == lane).map_or(0, |_| 1)
    }

    /// Step 2: the packets whose last byte both has come and has crossed leave their queues.
    pub fn transfers_end(&mut self) {
        for output in self.switch_ports() {
            let now = self.now;
            let Some(Transfer { input, lane, packet, .. }) =
                self.outputs[output].serving.take_if(|transfer| now >= transfer.end())
            else {
                continue;
            };
            if self.packets[packet].fate != Fate::Lost {
                self.mark(MarkPoint::Tail, packet, output);
            }
            let front = self.inputs[input].queues[output][lane].pop_front().map(|waiting| waiting.packet);
            assert_eq!(front, Some(packet), "the front of a queue is transferred");
            self.return_credits(input, self.packets[packet]);
            self.look_for_congestion(output, lane);
        }
    }

    /// Step 3: packets whose last byte has gone onto the link leave the output buffers.
    pub fn packets_have_left(&mut self) {
        for output in self.switch_ports() {
            let Some(&Leaving { packet, onto_link: Some(head), .. }) = self.outputs[output].leaving.front()
            else {
                continue;
            };
            if self.now == head + self.time_on_link(output, packet) {
                self.outputs[output].leaving.pop_front();
            }
        }
    }

    /// Step 4 at a switch: a packet joins its queue with all its bytes.
    pub fn head_at_switch(&mut self, input: usize, flight: &Flight) {
        let Some(output) = self.output_or_discard(input, flight) else { return };
        let &Flight { packet, head, tail } = flight;
        let lane = self.packets[packet].lane;
        self.inputs[input].queues[output][lane].push_back(Waiting { packet, head, tail });
        self.buffer_has_changed(input, lane);
        self.look_for_congestion(output, lane);
        self.mark(MarkPoint::Enqueue, packet, output);
    }

    /// Step 5: outputs grant packets until nothing more can be granted.
    pub fn arbitrate(&mut self) {
        loop {
            let mut granted = false;
            for output in self.switch_ports() {
                if let Some((input, lane)) = self.choose(output) {
                    self.grant(input, output, lane);
                    granted = true;
                }
            }
            if !granted {
                return;
            }
        }
    }

    /// The input and VL that an output grants a packet.
    fn choose(&mut self, output: usize) -> Option<(usize, usize)> {
        if self.outputs[output].serving.is_some() {
            return None;
        }
        let lanes = 0..usize::from(self.fabric.lanes.count);
        let inputs: Vec<Option<usize>> = lanes.map(|lane| self.choose_input(output, lane)).collect();
        let blocks = |(lane, input): (usize, &Option<usize>)| {
            input.map(|input| self.packets[self.queue(input, output, lane)[0].packet].blocks())
        };
        let ready: Vec<Option<u32>> = inputs.iter().enumerate().map(blocks).collect();
        let lane = self.outputs[output].lanes.take(&ready)?;
        inputs[lane].map(|input| (input, lane))
    }

    /// The input that an output would grant a packet in a VL.
    fn choose_input(&self, output: usize, lane: usize) -> Option<usize> {
        let inputs = self.siblings(output);
        let may = |input: &usize| self.may_be_granted(*input, output, lane);
        match self.fabric.switch.arbitration {
            Arbitration::RoundRobin => {
                let last = self.outputs[output].last[lane].map(|last| last - inputs.start);
                round_robin(last, inputs.len()).map(|index| inputs.start + index).find(may)
            }
            Arbitration::FirstCome => {
                inputs.filter(may).min_by_key(|&input| (self.queue(input, output, lane)[0].head, input))
            }
        }
    }

    /// Whether an idle output may grant the packet at the front of a queue.
    fn may_be_granted(&self, input: usize, output: usize, lane: usize) -> bool {
        let Some(front) = self.queue(input, output, lane).front() else { return false };
        let rules = &self.fabric.switch;
        let blocks = self.packets[front.packet].blocks();
        self.may_be_granted_by_time(front, self.now)
            && self.transfers_out_of(input) < rules.transfers_per_input
            && self.blocks_in_output_buffer(output) + blocks <= rules.output_buffer
            && self.may_leave(output, lane, blocks)
    }

    /// The number of transfers out of an input that are under way.
    pub fn transfers_out_of(&self, input: usize) -> u32 {
        let outputs = &self.outputs[self.siblings(input)];
        outputs.iter().filter(|output| output.serving.as_ref().is_some_and(|it| it.input == input)).count()
            as u32
    }

    /// What is taken of an output buffer \[blocks\].
    pub fn blocks_in_output_buffer(&self, output: usize) -> u32 {
        self.outputs[output].leaving.iter().map(|each| self.packets[each.packet].blocks()).sum()
    }

    /// An output grants the packet at the front of a queue.
    fn grant(&mut self, input: usize, output: usize, lane: usize) {
        let &Waiting { packet, tail, .. } = &self.queue(input, output, lane)[0];
        let Packet { told, .. } = self.packets[packet];
        self.facts.push(Fact::Granted {
            at: self.now,
            packet: told,
            input: input as u32,
            output: output as u32,
        });
        let crossed = self.now + self.packets[packet].bytes() * self.fabric.switch.crossbar;
        let transfer = Transfer { input, lane, packet, crossed, tail };
        let leaving = Leaving { packet, granted: self.now, complete: transfer.end(), onto_link: None };
        let at = &mut self.outputs[output];
        at.last[lane] = Some(input);
        at.serving = Some(transfer);
        at.leaving.push_back(leaving);
        self.promise(output, self.packets[packet]);
        self.look_for_congestion(output, lane);
        self.mark(MarkPoint::Grant, packet, output);
    }

    /// Step 6: where a link is free, the next packet goes onto it as soon as it may.
    pub fn heads_leave(&mut self) {
        for output in self.switch_ports() {
            let Some(&Leaving { packet, granted, complete, onto_link: None }) =
                self.outputs[output].leaving.front()
            else {
                continue;
            };
            let latency = self.fabric.switch.output_latency;
            let may = match self.fabric.switch.switching {
                // The last byte must have been in the output buffer for the latency when its turn on the link is over.
                Switching::CutThrough => {
                    let over = self.now + self.time_on_link(output, packet);
                    self.now >= granted + latency && over >= complete + latency
                }
                Switching::StoreAndForward => self.now >= complete + latency,
            };
            if may && self.now >= self.pausing[output].link_free {
                self.outputs[output].leaving[0].onto_link = Some(self.now);
                if self.packets[packet].fate == Fate::Lost {
                    // Nothing goes onto the link in the time that was meant for it.
                    continue;
                }
                self.mark(MarkPoint::Wire, packet, output);
                self.note(packet, output);
                self.goes_onto_link(output, packet);
            }
        }
    }
}
