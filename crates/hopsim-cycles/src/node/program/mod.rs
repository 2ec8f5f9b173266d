//! Nodes that run programs: each rank has a host, whose messages become packets when they are admitted. Beside these nodes are
//! others that draw packets. See `hopsim_programs::host` for what a host does.

mod incoming;
mod saved;
mod seat;
mod state;

use crate::choices::{InjectionLink, InjectionVc};
use crate::kernel::Kernel;
use crate::kernel::by::By;
use crate::kernel::doors::Doors;
use crate::kernel::ids::{RegionNode, Terminal};
use crate::kernel::message::Message;
use crate::kernel::wheel::{Bitmap, Wheel};
use crate::mode::Mode;
use crate::node::program::incoming::CompletedMessage;
use crate::node::program::saved::SavedPrograms;
use crate::node::program::seat::Seat;
use crate::node::synthetic::Synthetic;
use crate::node::{DeliveredLetter, Nodes};
use crate::observer::{Load, Observer as _};
use crate::system::System;
use hopsim_network::network::NONE;
use hopsim_programs::host::machine::Sending;
use hopsim_programs::standstill::RankState;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A message whose last packet is on its way from a router to the node of a seat.
struct ArrivingMessage {
    seat: u32,
    /// The sending node of the network.
    source: u32,
    /// Number of the first packet of the message among the packets of its source.
    first_packet: u32,
}

/// An entry of the agenda: the cycle and the seat as one number, which is compared faster.
fn entry(at: u32, seat: u32) -> u64 {
    u64::from(at) << 32 | u64::from(seat)
}

/// The nodes of a region.
pub struct Programs {
    synthetic: Synthetic,
    /// The seat of each node, or `NONE`.
    seat_of: By<RegionNode, u32>,
    /// Ranks with their nodes.
    seats: Vec<Seat>,
    /// Messages that will be at their nodes, by the cycle in which they are.
    arriving: Wheel<ArrivingMessage, Bitmap>,
    /// Messages for ranks that another simulator drives and has not been told of, some of which will only be there.
    delivered: Vec<DeliveredLetter>,
    /// Which seats have something of their own to do, and when: see [`entry`].
    agenda: BinaryHeap<Reverse<u64>>,
    /// Seats with something to do in this cycle.
    due: Vec<u32>,
    /// How many ranks are not done, without those whose programs never end.
    ranks_left: usize,
    /// Whether a wire carries a phit per cycle -- constant.
    serial_wire: bool,
    /// Whether the cycles in which wires are free are on the agenda: every node has only one, and nothing but its messages waits for it
    /// -- constant.
    books_wires: bool,
    /// Whether some nodes draw packets -- constant.
    has_traffic: bool,
}

impl<M: Mode> Nodes<M> for Programs {
    type Saved = SavedPrograms;

    fn new(kernel: &Kernel<'_, M>, doors: Doors) -> Self {
        let (system, span) = (kernel.constants.system, &kernel.span);
        let nodes = span.first_node..span.first_node + span.nodes as u32;
        let (mut seat_of, mut seats) = (By::all(NONE, span.nodes), Vec::new());
        for (number, job) in system.jobs.iter().enumerate() {
            let Some(program) = job.program() else { continue };
            for (rank, &node) in (0..).zip(&program.nodes).filter(|(_, node)| nodes.contains(node)) {
                let place = span.node_here(node);
                seat_of[place] = seats.len() as u32;
                seats.push(Seat::new(number as u8, program, rank, place));
            }
        }
        let horizon = kernel.constants.ahead + system.longest_packet();
        let agenda = (0..).zip(&seats).map(|(number, seat)| Reverse(entry(seat.wakes_at, number))).collect();
        let synthetic = Synthetic::new(kernel, doors);
        Self {
            synthetic,
            seat_of,
            arriving: Wheel::new(horizon),
            delivered: Vec::new(),
            agenda,
            due: Vec::new(),
            ranks_left: seats.iter().filter(|seat| !seat.is_endless).count(),
            serial_wire: system.nic.injection_link == InjectionLink::Serial,
            books_wires: system.nic.injection_vc != InjectionVc::Direction && system.nic.retransmit.is_none(),
            has_traffic: system.jobs.iter().any(|job| job.traffic().is_some()),
            seats,
        }
    }

    fn begin_window(&mut self, kernel: &mut Kernel<'_, M>) {
        Nodes::<M>::begin_window(&mut self.synthetic, kernel);
        for message in std::mem::take(&mut kernel.messages) {
            let node = kernel.span.node_here(message.to);
            self.seats[self.seat_of[node] as usize].inbox.expect(&message);
        }
    }

    fn run(&mut self, kernel: &mut Kernel<'_, M>) {
        self.synthetic.interfaces_mut().send_flits(kernel);
        self.take_back(kernel);
        self.synthetic.absorb_consumed(kernel);
        self.wake_senders(kernel);
        self.take_in(kernel);
        self.wake_due(kernel.now);
        let due = std::mem::take(&mut self.due);
        for &number in &due {
            self.act(kernel, number);
        }
        self.due = due;
        self.due.clear();
        self.synthetic.generate_due(kernel);
    }

    fn be_granted(&mut self, kernel: &mut Kernel<'_, M>, at: Terminal, vc: usize, length: u32) {
        self.synthetic.be_granted(kernel, at, vc, length);
    }

    fn leave_injection(&mut self, kernel: &mut Kernel<'_, M>, at: Terminal, vc: usize, length: u32) -> u32 {
        self.synthetic.leave_injection(kernel, at, vc, length)
    }

    fn leave_flit(&mut self, kernel: &mut Kernel<'_, M>, at: (Terminal, usize), leaves: (u32, Option<u32>)) {
        self.synthetic.leave_flit(kernel, at, leaves);
    }

    fn hear(&mut self, kernel: &mut Kernel<'_, M>, packet: u32, departure: u32) {
        let record = kernel.packets.get(packet);
        let node = kernel.span.node_here(record.destination(kernel.constants.nodes_per_router));
        let number = self.seat_of[node];
        if number == NONE {
            return self.synthetic.hear(kernel, packet, departure);
        }
        let (source, end) = (record.source, departure + u32::from(record.length));
        let seat = &mut self.seats[number as usize];
        if let Some(CompletedMessage { letter, first_packet, at }) =
            seat.inbox.packet(source, record.serial, end)
        {
            self.arriving.push(at, ArrivingMessage { seat: number, source, first_packet });
            if seat.is_external {
                self.delivered.push(DeliveredLetter { job: seat.job, letter, at });
            }
        }
    }

    fn has_nothing(&self, node: RegionNode, now: u32) -> bool {
        let number = self.seat_of[node];
        let sends = number != NONE && self.seats[number as usize].sent_before(now);
        !sends && Nodes::<M>::has_nothing(&self.synthetic, node, now)
    }

    fn ejection_space(system: &System, node: u32) -> u32 {
        <Synthetic as Nodes<M>>::ejection_space(system, node)
    }

    #[cfg(feature = "trace")]
    fn ejection_space_taken(&self, kernel: &Kernel<'_, M>, node: RegionNode, vc: usize) -> u32 {
        self.synthetic.ejection_space_taken(kernel, node, vc)
    }

    fn save(&self, kernel: &Kernel<'_, M>, saved: &mut SavedPrograms) {
        self.save_in(kernel, saved);
    }

    fn load(&mut self, kernel: &Kernel<'_, M>, saved: &SavedPrograms) {
        self.load_from(kernel, saved);
    }

    fn finish(&mut self, kernel: &mut Kernel<'_, M>, end: u32) {
        self.synthetic.finish(kernel, end);
        for seat in &mut self.seats {
            kernel.worker.observer.rank(seat.job, &mut seat.host);
        }
    }

    fn count_held(&mut self, kernel: &mut Kernel<'_, M>) {
        self.synthetic.count_held(kernel);
    }

    fn post(&mut self, node: RegionNode, now: u32, message: Sending) {
        let number = self.seat_of[node];
        let seat = &mut self.seats[number as usize];
        seat.host.post(now, message);
        if now < seat.wakes_at {
            seat.wakes_at = now;
            self.agenda.push(Reverse(entry(now, number)));
        }
    }

    fn messages_left(&self, node: RegionNode) -> usize {
        self.seats[self.seat_of[node] as usize].messages_left()
    }

    fn take_delivered(&mut self, now: u32, delivered: &mut Vec<DeliveredLetter>) {
        delivered.extend(self.delivered.extract_if(.., |message| message.at <= now));
    }

    fn ranks(&self) -> Vec<RankState<'_>> {
        self.seats.iter().map(Seat::state).collect()
    }

    fn are_done(&self) -> bool {
        self.ranks_left == 0
    }

    fn next_event(&self, now: u32) -> u32 {
        if self.has_traffic {
            return now;
        }
        let own = self.agenda.peek().map_or(u32::MAX, |Reverse(entry)| (entry >> 32) as u32);
        let event = self.synthetic.next_flit(now, self.arriving.next(now, own.max(now)));
        let event = event.min(self.synthetic.next_back());
        if self.books_wires { event } else { self.synthetic.next_wire(now, event) }
    }

    #[cfg(feature = "trace")]
    fn waiting(&self) -> usize {
        Nodes::<M>::waiting(&self.synthetic)
    }

    #[cfg(feature = "trace")]
    fn injected_flits(&self, node: RegionNode, vc: usize) -> u32 {
        Nodes::<M>::injected_flits(&self.synthetic, node, vc)
    }
}

impl Programs {
    /// Nodes whose wire is free again, or whose injection buffers have room, go on: those with a program admit packets after
    /// their host has acted.
    fn wake_senders<M: Mode>(&mut self, kernel: &mut Kernel<'_, M>) {
        for node in self.synthetic.interfaces_mut().take_woken(kernel.now) {
            match self.seat_of[node] {
                NONE => self.synthetic.drain_source(kernel, node),
                // Those that wait for the wire act when it is free, whatever room there is before.
                seat if self.seats[seat as usize].wire_free > kernel.now => (),
                seat => self.is_due(seat, kernel.now),
            }
        }
    }

    /// Nodes to which lost packets come back send these again: those with a program when they admit packets.
    fn take_back<M: Mode>(&mut self, kernel: &mut Kernel<'_, M>) {
        for node in self.synthetic.interfaces_mut().take_back(kernel) {
            match self.seat_of[node] {
                NONE => self.synthetic.drain_source(kernel, node),
                seat => self.is_due(seat, kernel.now),
            }
        }
    }

    fn is_due(&mut self, number: u32, now: u32) {
        let seat = &mut self.seats[number as usize];
        if seat.due_at != now {
            seat.due_at = now;
            self.due.push(number);
        }
    }

    /// Hosts learn of the messages that are there, in order of source and number.
    fn take_in<M: Mode>(&mut self, kernel: &mut Kernel<'_, M>) {
        let now = kernel.now;
        let arrived = self.arriving.take(now);
        for &ArrivingMessage { seat: number, source, first_packet } in &arrived {
            let seat = &mut self.seats[number as usize];
            seat.inbox.arrive(source, first_packet, &mut seat.letters);
            self.is_due(number, now);
        }
        self.arriving.put_back(arrived);
    }

    /// Finds the seats whose own time has come.
    fn wake_due(&mut self, now: u32) {
        while let Some(&Reverse(entry)) = self.agenda.peek()
            && (entry >> 32) as u32 <= now
        {
            self.agenda.pop();
            let (at, number) = ((entry >> 32) as u32, entry as u32);
            let seat = &mut self.seats[number as usize];
            if seat.wakes_at == at {
                seat.wakes_at = u32::MAX;
                self.is_due(number, now);
            }
        }
    }

    /// A host does what follows from what has happened, and its node admits packets.
    fn act<M: Mode>(&mut self, kernel: &mut Kernel<'_, M>, number: u32) {
        let now = kernel.now;
        let seat = &mut self.seats[number as usize];
        seat.letters.sort_unstable_by_key(|(letter, _)| (letter.source, letter.number));
        for (letter, there) in seat.letters.drain(..) {
            if letter.has_payload() {
                kernel.worker.observer.message(seat.job, &letter, there);
            }
            seat.host.deliver(now, &letter, there);
        }
        let was_done = seat.is_done();
        loop {
            self.seats[number as usize].run(now);
            self.admit(kernel, number);
            // With an unlimited wire a message leaves in the cycle in which it is admitted.
            if self.seats[number as usize].next(now) > now {
                break;
            }
        }
        let seat = &mut self.seats[number as usize];
        self.ranks_left -= usize::from(!was_done && seat.is_done() && !seat.is_endless);
        let next = seat.next(now);
        if next < seat.wakes_at {
            seat.wakes_at = next;
            self.agenda.push(Reverse(entry(next, number)));
        }
    }

    /// Packets enter injection buffers, as far as wire and room allow, one message after the other.
    fn admit<M: Mode>(&mut self, kernel: &mut Kernel<'_, M>, number: u32) {
        loop {
            let Seat { node, job, .. } = self.seats[number as usize];
            // What comes back goes first.
            if !self.synthetic.interfaces_mut().empties_queue(kernel, node) {
                return;
            }
            let seat = &mut self.seats[number as usize];
            let program = kernel.constants.system.jobs[job as usize].program();
            let Some(nodes) = program.map(|program| &program.nodes) else { return };
            let Some(packet) = seat.next_packet(kernel.now, nodes) else { return };
            // While the wire is busy the seat waits on the agenda: it is cheaper to look for its next cycle there.
            let free = self.synthetic.interfaces_mut().wire_free(node).filter(|&free| free > kernel.now);
            if let Some(free) = free {
                seat.wire_free = free;
                return;
            }
            let (length, generated) = (packet.length, packet.generated);
            if !self.synthetic.interfaces_mut().inject(kernel, node, packet) {
                return;
            }
            let name = kernel.span.node(node);
            kernel.worker.observer.generated_before(
                &mut kernel.places,
                node,
                Load { job, length },
                generated,
            );
            let seat = &mut self.seats[number as usize];
            let time = if self.serial_wire { length } else { 0 };
            if let Some(message) = seat.admitted(kernel.now, time, name, nodes) {
                self.tell(kernel, message);
            }
        }
    }

    /// The receiver learns of a message whose first packet has set out.
    fn tell<M: Mode>(&mut self, kernel: &mut Kernel<'_, M>, message: Message) {
        let router = message.to / kernel.constants.nodes_per_router;
        let region = kernel.regions.of(router) as u16;
        if region == kernel.span.region {
            let node = kernel.span.node_here(message.to);
            self.seats[self.seat_of[node] as usize].inbox.expect(&message);
        } else {
            kernel.worker.mail_to(region).messages.push(message);
        }
    }
}
