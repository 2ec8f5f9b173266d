//! Links that fail in the middle of a run: see docs/infiniband.md, Links that fail in the middle of a run.
//!
//! A port whose link is out of order has no credits, so that nothing asks whether links are in order before packets are granted.

use super::Simulation;
use super::events::{Event, Step};
use super::packet::{Ended, Fate, Packet, Packets, Queue};
use super::switch::Transfer;
use crate::fabric::{Fabric, FlowControl, NONE};
use crate::faults::{Change, Loss, What};
use crate::forwarding::Tables;
use crate::observer::{Observer, Sent};
use crate::time::Ticks;
use crate::workload::Workload;
use hopsim_memory::filled;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

/// The link of a port, as the port knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Link {
    InOrder,
    /// Out of order, and nobody knows.
    Failed,
    /// Out of order.
    Down,
}

/// What is remembered where links fail.
#[derive(Clone, Debug)]
pub struct Failing<'f> {
    tables: Vec<&'f Tables>,
    /// Which tables each switch has.
    table_of: Vec<usize>,
    /// The links, by port.
    links: Vec<Link>,
    /// The packet whose head came last, by input port, and when its tail comes.
    coming: Vec<(u32, Ticks)>,
    /// Messages of the workload that are under way.
    pub messages: Parcels,
}

impl<'f> Failing<'f> {
    /// Links that are all in order, if any of them ever fails; so many flows are not of the workload.
    pub fn new(fabric: &'f Fabric, given: usize) -> Option<Self> {
        let written = fabric.faults.tables.iter();
        (!fabric.faults.is_empty()).then(|| Self {
            tables: std::iter::once(&fabric.forwarding).chain(written).map(|tables| &**tables).collect(),
            table_of: filled(0, fabric.first_port.len() - 1),
            links: filled(Link::InOrder, fabric.ports.len()),
            coming: filled((NONE, 0), fabric.ports.len()),
            messages: Parcels { given: given as u32, open: FxHashMap::default() },
        })
    }

    /// Whether the link of a port is out of order.
    #[inline]
    pub fn is_out(&self, port: u32) -> bool {
        self.links[port as usize] != Link::InOrder
    }

    /// The output for a packet whose head has come to an input of a switch with this first port, by switch and entry; none if
    /// the switch knows that its link is out of order.
    pub fn output(
        &mut self,
        (input, first): (u32, u32),
        (switch, entry): (usize, usize),
        coming: (u32, Ticks),
    ) -> Option<u32> {
        self.coming[input as usize] = coming;
        let output = first + self.tables[self.table_of[switch]].output(entry);
        (self.links[output as usize] != Link::Down).then_some(output)
    }
}

/// A message under way: some consecutive packets of a flow.
#[derive(Clone, Debug)]
struct Parcel {
    first: u32,
    /// The last packet, and the message, when that has been sent.
    ends: Option<(u32, Ended)>,
    arrived: u32,
    lost: u32,
}

/// What becomes of a message as a packet of it arrives or is lost.
enum Fortune {
    /// All of the message has arrived.
    Arrived(Ended),
    /// The first packet of the message is lost.
    Lost,
}

/// The messages under way, by flow.
#[derive(Clone, Debug)]
pub struct Parcels {
    /// How many flows are not of the workload.
    given: u32,
    open: FxHashMap<u32, VecDeque<Parcel>>,
}

impl Parcels {
    /// A packet has been sent, with which a message may end.
    pub fn sent(&mut self, packet: Sent, ends: Option<Ended>) {
        if packet.flow < self.given {
            return;
        }
        let open = self.open.entry(packet.flow).or_default();
        if open.back().is_none_or(|parcel| parcel.ends.is_some()) {
            open.push_back(Parcel { first: packet.number, ends: None, arrived: 0, lost: 0 });
        }
        if let Some(parcel) = open.back_mut() {
            parcel.ends = ends.map(|ended| (packet.number, ended));
        }
    }

    /// A packet has arrived or is lost; returns what that does to its message.
    fn gone(&mut self, packet: Sent, arrived: bool) -> Option<Fortune> {
        let open = self.open.get_mut(&packet.flow).filter(|_| !packet.is_notification)?;
        let place = open.iter().rposition(|parcel| parcel.first <= packet.number)?;
        let parcel = &mut open[place];
        parcel.arrived += u32::from(arrived);
        parcel.lost += u32::from(!arrived);
        let Parcel { first, ends, arrived: there, lost } = *parcel;
        let whole = ends.filter(|(last, _)| there + lost > last - first);
        if whole.is_some() {
            open.remove(place);
        }
        if lost > 0 {
            return (lost == 1 && !arrived).then_some(Fortune::Lost);
        }
        whole.map(|(_, ended)| Fortune::Arrived(ended))
    }
}

impl<O: Observer, W: Workload> Simulation<'_, O, W> {
    /// Puts all changes of the fabric among the events.
    pub(super) fn expect_changes(&mut self) {
        for (number, &Change { at, .. }) in (0..).zip(&self.fabric.faults.changes) {
            self.events.push(Event { at, step: Step::Change, port: number, what: 0 });
        }
    }

    /// Whether the link of a port is out of order.
    pub(super) fn is_out(&self, port: u32) -> bool {
        self.failing.as_ref().is_some_and(|failing| failing.is_out(port))
    }

    /// The fabric changes.
    #[cold]
    pub(super) fn change(&mut self, number: u32) {
        let ends = |port: u32| [port, self.fabric.ports[port as usize].peer];
        match self.fabric.faults.changes[number as usize].what {
            What::Repaired { port } => {
                self.set_links(ends(port), Link::InOrder);
                for sender in ends(port) {
                    self.tell_room_behind(sender);
                }
            }
            What::Fails { port, drops } => {
                self.set_links(ends(port), Link::Failed);
                for sender in ends(port) {
                    self.cut(sender, drops);
                }
            }
            What::Detected { port } => {
                self.set_links(ends(port), Link::Down);
                for output in ends(port) {
                    self.discard_queues(output);
                }
            }
            What::Table { switch, tables } => {
                if let Some(failing) = &mut self.failing {
                    failing.table_of[switch as usize] = tables as usize;
                }
            }
        }
    }

    fn set_links(&mut self, ports: [u32; 2], link: Link) {
        if let Some(failing) = &mut self.failing {
            for port in ports {
                failing.links[port as usize] = link;
            }
        }
    }

    /// The link from a port is out of order from now on: its credits are gone, and if it `drops` packets what it had been granted.
    fn cut(&mut self, sender: u32, drops: bool) {
        let receiver = self.fabric.ports[sender as usize].peer;
        for lane in 0..self.fabric.lanes.count {
            let slot = self.slot(sender, lane);
            self.credits[slot] = 0;
        }
        self.events.extract(|event| event.step == Step::Credit && event.port == sender);
        self.is_due(sender);
        if !drops {
            return;
        }
        let granted = self.events.extract(|event| is_granted(event, [sender, receiver]));
        for Event { what: id, .. } in granted {
            self.lose(id, Loss::Link);
            match &mut self.outputs[sender as usize].transfer {
                Some(Transfer { packet, is_void, .. }) if *packet == id => {
                    *is_void = true;
                    self.packets.get_mut(id).fate = Fate::Lost;
                }
                _ => self.packets.remove(id),
            }
        }
        let coming = self.failing.as_ref().map(|failing| failing.coming[receiver as usize]);
        if let Some((id, _)) = coming.filter(|&(id, tail)| id != NONE && tail >= self.now) {
            let fate = &mut self.packets.get_mut(id).fate;
            if *fate == Fate::Whole {
                *fate = Fate::Spoiled;
            }
        }
    }

    /// A packet is lost.
    fn lose(&mut self, id: u32, why: Loss) {
        let name = self.packets.get(id).name;
        self.observer.lost(self.now, name, why);
        let Some(failing) = &mut self.failing else { return };
        if let Some(Fortune::Lost) = failing.messages.gone(name, false) {
            self.observer.message_lost(self.now, name.flow);
        }
    }

    /// The link from a port is in order again: the port hears how much room there is at the other end.
    fn tell_room_behind(&mut self, sender: u32) {
        let receiver = self.fabric.ports[sender as usize].peer;
        let Fabric { ports, lanes, .. } = self.fabric;
        let FlowControl::Credits { delay } = self.fabric.flow_control else { return };
        let at = self.now + ports[sender as usize].delay + delay;
        let mut taken = vec![0; usize::from(lanes.count)];
        let mut take = |packets: &Packets, id: u32| {
            let packet = packets.get(id);
            taken[usize::from(packet.lane)] += packet.blocks();
        };
        let (_, first) = self.places.switch(receiver);
        for output in first..first + self.places.inputs(receiver) {
            let transfer = self.outputs[output as usize].transfer.filter(|it| it.input == receiver);
            if let Some(transfer) = transfer {
                take(&self.packets, transfer.packet);
            }
        }
        let is_there = |event: &Event| {
            let is_discarded = event.step == Step::Freed && event.port == receiver;
            is_discarded || is_granted(event, [sender, receiver])
        };
        self.events.iter().filter(is_there).for_each(|event| take(&self.packets, event.what));
        for lane in 0..lanes.count {
            let queues = (first..first + self.places.inputs(receiver))
                .map(|output| self.voqs[self.voq(output, receiver, lane)].queue.front);
            let waiting = queues.flat_map(|front| self.packets.line(front));
            let all = taken[usize::from(lane)] + waiting.map(Packet::blocks).sum::<u32>();
            let what = u32::from(lane) << 24 | (ports[receiver as usize].buffer - all);
            self.events.push(Event { at, step: Step::Credit, port: sender, what });
        }
    }

    /// What waits for an output is discarded.
    fn discard_queues(&mut self, output: u32) {
        let (_, first) = self.places.switch(output);
        for input in first..first + self.places.inputs(output) {
            for lane in 0..self.fabric.lanes.count {
                let (voq, slot) = (self.voq(output, input, lane), self.slot(output, lane));
                let before = self.voqs[voq].bytes;
                let mut queue = std::mem::replace(&mut self.voqs[voq].queue, Queue::EMPTY);
                if queue.is_empty() {
                    continue;
                }
                while !queue.is_empty() {
                    let id = queue.front;
                    queue.pop(&self.packets);
                    self.voqs[voq].bytes -= self.packets.get(id).bytes();
                    self.discard(input, id);
                }
                self.inputs[slot].set(input - first, false);
                self.outputs[output as usize].waiting -= 1;
                self.queue_changed(output, lane, before, self.voqs[voq].bytes);
            }
        }
        self.look_for_stalls_of_output(output);
    }

    /// A packet at an input is lost; its room is free when all of it has come.
    pub(super) fn discard(&mut self, input: u32, id: u32) {
        self.lose(id, Loss::Output);
        let packet = self.packets.get_mut(id);
        packet.fate = Fate::Lost;
        let at = packet.tail.max(self.now);
        self.events.push(Event { at, step: Step::Freed, port: input, what: id });
    }

    /// All of a packet that has been discarded has come.
    pub(super) fn free_input(&mut self, input: u32, id: u32) {
        let packet = self.packets.get(id);
        let (lane, bytes) = (packet.lane, packet.name.bytes);
        self.packets.remove(id);
        self.leave_buffer(input, lane, bytes);
    }

    /// A packet is taken out of the receive buffer of its destination: delivered, or found spoiled. Returns the message that is there now.
    #[cold]
    pub(super) fn take_in(&mut self, id: u32) -> Option<Ended> {
        let packet = self.packets.get(id);
        let (name, sent, marked) = (packet.name, self.packets.errand(id).sent, packet.marked);
        if packet.fate == Fate::Spoiled {
            self.lose(id, Loss::Spoiled);
            return None;
        }
        self.observer.delivered(self.now, name, sent, marked);
        match self.failing.as_mut()?.messages.gone(name, true)? {
            Fortune::Arrived(ended) => Some(ended),
            Fortune::Lost => None,
        }
    }
}

/// Whether a packet that is granted the link between two ports has not arrived, as an event says.
fn is_granted(event: &Event, [sender, receiver]: [u32; 2]) -> bool {
    let port = match event.step {
        Step::Wire => sender,
        Step::Head => receiver,
        _ => return false,
    };
    event.port == port
}
