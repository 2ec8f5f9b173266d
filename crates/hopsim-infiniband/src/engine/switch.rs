//! Switches: packets join virtual output queues, outputs arbitrate, packets cross and leave.

use super::Simulation;
use super::chooser::Chooser;
use super::events::{Event, Step};
use super::packet::{Fate, Queue};
use crate::congestion::MarkPoint;
use crate::fabric::{Fabric, NONE, Switching};
use crate::lanes::Lanes;
use crate::observer::Observer;
use crate::time::Ticks;
use crate::workload::Workload;
use hopsim_memory::filled;

/// The queue of an input for an output and VL.
#[derive(Clone, Copy, Debug)]
pub struct Voq {
    /// The packets of the queue.
    pub queue: Queue,
    /// Bytes of the packets in the queue, those still on the link included.
    pub bytes: u64,
}

/// A transfer through the crossbar.
#[derive(Clone, Copy, Debug)]
pub struct Transfer {
    /// The input.
    pub input: u32,
    /// The packet.
    pub packet: u32,
    /// Whether the packet is lost, and nothing of it is left when the transfer ends.
    pub is_void: bool,
}

/// An output port of a switch.
#[derive(Clone, Debug)]
pub struct Output {
    pub transfer: Option<Transfer>,
    /// Free blocks of the output buffer.
    room: u32,
    /// When the link of the output is free of all that has been granted.
    link_free: Ticks,
    chooser: Chooser,
    /// Whether the output is to arbitrate at the present instant.
    is_due: bool,
    /// The number of queues with packets for the output.
    pub waiting: u32,
}

impl Output {
    /// An output that holds nothing.
    pub fn new(room: u32, lanes: &Lanes) -> Self {
        let chooser = Chooser::new(lanes);
        Self { transfer: None, room, link_free: 0, chooser, is_due: false, waiting: 0 }
    }
}

/// The inputs that have packets for an output in a VL.
#[derive(Clone, Debug)]
pub struct Inputs {
    /// The inputs that have packets, a bit each.
    waiting: Vec<u64>,
    /// The input that was granted last.
    last: u32,
}

impl Inputs {
    /// No waiting input of so many; input 0 is the first in turn.
    pub fn new(inputs: u32) -> Self {
        Self { waiting: vec![0; inputs.div_ceil(64) as usize], last: inputs.max(1) - 1 }
    }

    /// Whether an input has packets.
    pub fn set(&mut self, input: u32, waits: bool) {
        let (word, bit) = ((input / 64) as usize, 1u64 << (input % 64));
        if waits {
            self.waiting[word] |= bit;
        } else {
            self.waiting[word] &= !bit;
        }
    }

    /// The inputs that wait, from the one behind the input that was granted last.
    fn in_turn(&self) -> impl Iterator<Item = u32> {
        let after = self.last + 1;
        let words = self.waiting.len();
        let (first, shift) = ((after / 64) as usize, after % 64);
        (0..=words).flat_map(move |step| {
            let word = (first + step) % words.max(1);
            let mut bits = self.waiting[word];
            if step == 0 && first < words {
                bits &= u64::MAX << shift;
            } else if step == words && first < words {
                bits &= !(u64::MAX << shift);
            } else if step == words {
                bits = 0;
            }
            std::iter::from_fn(move || {
                let bit = bits.trailing_zeros();
                bits &= bits.wrapping_sub(1);
                (bit < 64).then_some(word as u32 * 64 + bit)
            })
        })
    }
}

/// Where the state of every switch begins.
#[derive(Clone, Debug)]
pub struct Places {
    /// The switch of each port, and the first port of that switch; of a host `NONE`.
    of: Vec<(u32, u32)>,
    /// The first virtual output queue of each switch.
    voqs: Vec<usize>,
    /// The number of ports of each switch.
    counts: Vec<u32>,
}

impl Places {
    /// What the places take for a port \[bytes\].
    pub const BYTES: usize = size_of::<(u32, u32)>();

    /// The places of a fabric.
    pub fn new(fabric: &Fabric) -> Self {
        let mut of = filled((NONE, NONE), fabric.ports.len());
        let (mut voqs, mut counts, mut next) = (Vec::new(), Vec::new(), 0);
        for (switch, ends) in (0..).zip(fabric.first_port.windows(2)) {
            let count = ends[1] - ends[0];
            of[ends[0] as usize..ends[1] as usize].fill((switch, ends[0]));
            voqs.push(next);
            counts.push(count);
            next += (count * count) as usize * usize::from(fabric.lanes.count);
        }
        voqs.push(next);
        Self { of, voqs, counts }
    }

    /// The number of all virtual output queues.
    pub fn voqs(&self) -> usize {
        *self.voqs.last().unwrap_or(&0)
    }

    /// The number of ports of the switch of a port, 0 for a host.
    pub fn inputs(&self, port: u32) -> u32 {
        self.counts.get(self.of[port as usize].0 as usize).copied().unwrap_or(0)
    }

    /// The switch of a port, and the first port of that switch.
    pub fn switch(&self, port: u32) -> (u32, u32) {
        self.of[port as usize]
    }

    /// The queue of an output for an input of the same switch.
    #[inline]
    pub fn voq(&self, (output, input): (u32, u32), (lane, lanes): (u8, u8)) -> usize {
        let (switch, first) = self.of[output as usize];
        let count = self.counts[switch as usize];
        let queue = (output - first) * count + input - first;
        self.voqs[switch as usize] + queue as usize * usize::from(lanes) + usize::from(lane)
    }
}

impl<O: Observer, W: Workload> Simulation<'_, O, W> {
    /// The queue of an input for an output.
    #[inline]
    pub(super) fn voq(&self, output: u32, input: u32, lane: u8) -> usize {
        self.places.voq((output, input), (lane, self.fabric.lanes.count))
    }

    /// An output is to arbitrate at the present instant if it can.
    #[inline]
    pub(super) fn is_due(&mut self, output: u32) {
        let state = &mut self.outputs[output as usize];
        if !state.is_due && state.transfer.is_none() && state.waiting > 0 {
            state.is_due = true;
            self.due.push(output);
        }
    }

    /// The head of a packet is at an input.
    pub(super) fn join_queue(&mut self, input: u32, id: u32) {
        let now = self.now;
        let (switch, first) = self.places.switch(input);
        let packet = self.packets.get(id);
        let (lane, bytes) = (packet.lane, packet.bytes());
        let output = match &mut self.failing {
            None => self.fabric.output(switch, packet.destination, packet.name.flow),
            Some(failing) => {
                let (place, tail) = (switch as usize, packet.tail);
                let entry = place * self.fabric.hosts as usize + packet.destination as usize;
                match failing.output((input, first), (place, entry), (id, tail)) {
                    Some(output) => output,
                    None => return self.discard(input, id),
                }
            }
        };
        let voq = self.voq(output, input, lane);
        let Voq { queue, bytes: before } = &mut self.voqs[voq];
        let (was_empty, old) = (queue.is_empty(), *before);
        queue.push(&mut self.packets, id);
        *before += bytes;
        let state = &mut self.outputs[output as usize];
        if was_empty {
            state.waiting += 1;
            let slot = self.slot(output, lane);
            self.inputs[slot].set(input - first, true);
        }
        self.queue_changed(output, lane, old, old + bytes);
        if let Some(telemetry) = &mut self.telemetry {
            telemetry.joins(output, bytes);
        }
        if self.marks_at(MarkPoint::Enqueue) {
            self.mark(output, id);
        }
        if was_empty {
            let at = now + self.fabric.switch.input_latency;
            self.events.push(Event { at, step: Step::Arbitrate, port: output, what: 0 });
        }
    }

    /// Outputs that are due grant what they can.
    pub(super) fn arbitrate(&mut self) {
        let mut due = std::mem::take(&mut self.due);
        due.sort_unstable();
        for output in due.drain(..) {
            self.outputs[output as usize].is_due = false;
            self.grant_one(output);
            self.look_for_stalls_of_output(output);
        }
        self.due = due;
    }

    /// An output grants one packet, if there is one to be granted.
    fn grant_one(&mut self, output: u32) {
        if self.outputs[output as usize].transfer.is_some() {
            return;
        }
        let lanes = self.fabric.lanes.count;
        let mut found = [(NONE, 0); 16];
        let mut ready = 0u16;
        for lane in 0..lanes {
            if let Some((input, packet)) = self.candidate(output, lane) {
                found[usize::from(lane)] = (input, self.packets.get(packet).blocks());
                ready |= 1 << lane;
            }
        }
        let chooser = &mut self.outputs[output as usize].chooser;
        let chosen = chooser.choose(&self.fabric.lanes, ready, |lane| found[usize::from(lane)].1);
        if let Some(lane) = chosen {
            self.grant(output, found[usize::from(lane)].0, lane);
        }
    }

    /// Whether the link of an output is idle because a packet of a VL lacks credits.
    pub(super) fn is_output_stalled(&self, output: u32, lane: u8) -> bool {
        let (slot, (_, first)) = (self.slot(output, lane), self.places.switch(output));
        let lacks_credits = |input: u32| {
            let packet = self.packets.get(self.voqs[self.voq(output, first + input, lane)].queue.front);
            packet.head + self.fabric.switch.input_latency <= self.now && packet.blocks() > self.credits[slot]
        };
        let is_empty = self.outputs[output as usize].room == self.fabric.switch.output_buffer;
        is_empty && self.inputs[slot].in_turn().any(lacks_credits)
    }

    /// The input whose packet an output would grant in a VL, and that packet.
    fn candidate(&self, output: u32, lane: u8) -> Option<(u32, u32)> {
        use crate::fabric::Arbitration::{FirstCome, RoundRobin};
        let (_, first) = self.places.switch(output);
        let slot = self.slot(output, lane);
        let rules = &self.fabric.switch;
        let most = self.outputs[output as usize].room.min(self.credits[slot]);
        let mut fitting = self.inputs[slot].in_turn().filter_map(|input| {
            let input = first + input;
            let front = self.voqs[self.voq(output, input, lane)].queue.front;
            let packet = self.packets.get(front);
            let fits = packet.head + rules.input_latency <= self.now
                && self.transfers[input as usize] < rules.transfers_per_input
                && packet.blocks() <= most;
            fits.then_some((input, front))
        });
        match rules.arbitration {
            RoundRobin => fitting.next(),
            FirstCome => fitting.min_by_key(|&(input, front)| (self.packets.get(front).head, input)),
        }
    }

    fn grant(&mut self, output: u32, input: u32, lane: u8) {
        let (now, rules) = (self.now, self.fabric.switch);
        let voq = self.voq(output, input, lane);
        let id = self.voqs[voq].queue.front;
        let packet = self.packets.get(id);
        let (bytes, blocks, tail, name) = (packet.bytes(), packet.blocks(), packet.tail, packet.name);
        self.observer.granted(now, name, input, output);
        self.packet_hops += 1;
        if self.marks_at(MarkPoint::Grant) {
            self.mark(output, id);
        }
        let (slot, (_, first)) = (self.slot(output, lane), self.places.switch(output));
        self.promise(slot, blocks);
        self.transfers[input as usize] += 1;
        self.inputs[slot].last = input - first;
        let end = tail.max(now + bytes * rules.crossbar);
        let on_link = bytes * self.fabric.ports[output as usize].byte;
        // Its bytes count as queued until the transfer ends, but it may be in the next queue before that.
        self.voqs[voq].queue.pop(&self.packets);
        let is_empty = self.voqs[voq].queue.is_empty();
        if is_empty {
            self.inputs[slot].set(input - first, false);
        }
        let state = &mut self.outputs[output as usize];
        state.waiting -= u32::from(is_empty);
        state.room -= blocks;
        state.transfer = Some(Transfer { input, packet: id, is_void: false });
        let enough = match rules.switching {
            Switching::CutThrough => end.saturating_sub(on_link).max(now),
            Switching::StoreAndForward => end,
        };
        let start = (enough + rules.output_latency).max(state.link_free);
        state.link_free = start + on_link;
        self.events.push(Event { at: end, step: Step::TransferEnd, port: output, what: 0 });
        match &mut self.pauses {
            None => {
                self.events.push(Event { at: start + on_link, step: Step::Room, port: output, what: blocks });
            }
            // A pause frame may come in between.
            Some(pauses) => pauses.grant(output, id),
        }
        self.events.push(Event { at: start, step: Step::Wire, port: output, what: id });
    }

    /// A transfer to an output ends.
    pub(super) fn end_transfer(&mut self, output: u32) {
        let Some(Transfer { input, packet: id, is_void }) = self.outputs[output as usize].transfer.take()
        else {
            return;
        };
        if self.marks_at(MarkPoint::Tail) && self.packets.get(id).fate != Fate::Lost {
            self.mark(output, id);
        }
        let packet = self.packets.get(id);
        let (lane, bytes, length) = (packet.lane, packet.bytes(), packet.name.bytes);
        if is_void {
            self.packets.remove(id);
        }
        let voq = self.voq(output, input, lane);
        let before = self.voqs[voq].bytes;
        self.voqs[voq].bytes -= bytes;
        let next = self.voqs[voq].queue.front;
        if next != NONE {
            self.announce(output, next);
        }
        self.queue_changed(output, lane, before, before - bytes);
        self.leave_buffer(input, lane, length);
        let was_full = self.transfers[input as usize] == self.fabric.switch.transfers_per_input;
        self.transfers[input as usize] -= 1;
        self.is_due(output);
        if was_full {
            self.wake_outputs_of(input);
        }
    }

    /// The packet that is now at the front may be granted when its time has come.
    fn announce(&mut self, output: u32, front: u32) {
        let at = self.packets.get(front).head + self.fabric.switch.input_latency;
        if at > self.now {
            self.events.push(Event { at, step: Step::Arbitrate, port: output, what: 0 });
        }
    }

    /// An input can be read again: all outputs that it has packets for may be able to grant them.
    fn wake_outputs_of(&mut self, input: u32) {
        let (_, first) = self.places.switch(input);
        for output in first..first + self.places.inputs(input) {
            let waits = (0..self.fabric.lanes.count)
                .any(|lane| !self.voqs[self.voq(output, input, lane)].queue.is_empty());
            if waits {
                self.is_due(output);
            }
        }
    }

    /// Blocks of an output buffer are free.
    pub(super) fn free_room(&mut self, output: u32, blocks: u32) {
        self.outputs[output as usize].room += blocks;
        self.is_due(output);
    }

    /// The head of a packet goes onto the link of an output.
    pub(super) fn go_onto_link(&mut self, output: u32, id: u32) {
        let Some(id) = self.take_granted(output, id) else { return };
        if self.marks_at(MarkPoint::Wire) {
            self.mark(output, id);
        }
        self.note(output, id);
        self.travel(output, id);
    }
}
