//! Where the packets of a network are that moves flit by flit, in a state between two cycles: a packet may have flits in several input VCs,
//! one behind the other, and its record is where its head is.

use crate::kernel::packet::Packet;
use crate::node::SavedNodes;
use crate::router::virtual_channel::saved::FlitRouterState;
use crate::system::System;
use hopsim_network::network::TERMINAL;
use std::collections::BTreeMap;

/// A router, and a slot of it.
pub type SlotPlace = (u32, usize);

/// The flits of a packet in an input VC, and on their way there.
pub struct Part {
    /// The input VC.
    pub place: SlotPlace,
    /// How many packets are before this one in it, the present one included.
    pub nth: usize,
    /// How many flits are before those of the packet, of those that are there or on their way.
    pub first: usize,
    /// How many flits of the packet are there or on their way.
    pub flits: usize,
    /// Whether flits of the packet may still have to leave its node.
    pub is_entering: bool,
}

/// A packet.
pub struct Worm {
    /// The record.
    pub packet: Packet,
    /// Where it is, its head first.
    pub parts: Vec<Part>,
    /// The input VC behind the output VC that its head owns, if that has not left and the output VC leads to another router.
    pub next: Option<SlotPlace>,
    /// Whether it owns an output VC to its node.
    pub ejects: bool,
    /// The input VCs by whose link flits of it are coming, or will come.
    pub crosses: Vec<SlotPlace>,
}

/// The packets of an input VC, and on their way there, in their order.
#[derive(Default)]
struct Line {
    /// The records of those whose heads are here, or on their way.
    packets: Vec<Option<Packet>>,
    /// The flits of each that have not left.
    left: Vec<usize>,
    /// The flits that are here.
    buffered: usize,
    /// Where the other flits of the last packet are, if its tail has not left the router before this one.
    tail: Option<SlotPlace>,
    /// Flits of the last packet that have not left its node.
    unsent: usize,
}

/// All packets of a network.
pub fn worms<N: SavedNodes>(routers: &mut [FlitRouterState], nodes: &mut N, system: &System) -> Vec<Worm> {
    let mut lines = BTreeMap::new();
    for (number, router) in (0..).zip(&*routers) {
        for (slot, line) in router.lines() {
            lines.insert((number, slot), line);
        }
    }
    for (&(router, slot), line) in &mut lines {
        link_up((router, slot), line, routers, nodes, system);
    }
    let starts = lines.iter().flat_map(|(&place, line)| {
        let nths = 0..line.packets.len();
        nths.filter_map(move |nth| Some((place, nth, line.packets[nth].clone()?)))
    });
    starts
        .map(|(place, nth, packet)| {
            let mut worm = Worm { packet, parts: Vec::new(), next: None, ejects: false, crosses: Vec::new() };
            worm.find_parts(&lines, (place, nth));
            if nth == 0 {
                worm.find_next(&routers[place.0 as usize], system);
            }
            worm
        })
        .collect()
}

/// Finds out where the flits of the last packet of an input VC come from.
fn link_up<N: SavedNodes>(
    (router, slot): SlotPlace,
    line: &mut Line,
    routers: &[FlitRouterState],
    nodes: &mut N,
    system: &System,
) {
    let layout = &system.network.layout;
    let port = usize::from(layout.slot_port[slot]);
    if layout.class[port] == TERMINAL {
        let terminal = usize::from(layout.injects_for[port]);
        let vc = slot - usize::from(layout.slot_base[terminal]);
        let node = nodes.interface(router * layout.terminals as u32 + terminal as u32);
        line.unsent = node.unsent(vc) as usize;
        return;
    }
    let Some((peer, output)) = system.network.link(router, port).peer else { return };
    let pair = usize::from(layout.pair_base[output]) + slot - usize::from(layout.slot_base[port]);
    let inputs = routers[peer as usize].inputs.iter();
    let owner = inputs.enumerate().find(|(_, input)| input.output.map(usize::from) == Some(pair));
    line.tail = owner.filter(|(_, input)| input.has_sent_head()).map(|(slot, _)| (peer, slot));
}

impl Worm {
    /// Follows the packet, which is number `nth` of the input VC in which its head is, to its tail.
    fn find_parts(&mut self, lines: &BTreeMap<SlotPlace, Line>, (mut place, mut nth): (SlotPlace, usize)) {
        loop {
            let line = &lines[&place];
            let is_last = nth + 1 == line.left.len();
            let tail = line.tail.filter(|_| is_last);
            let elsewhere = match tail {
                Some(tail) => lines[&tail].left[0],
                None if is_last => line.unsent,
                None => 0,
            };
            let (first, flits) = (line.left[..nth].iter().sum::<usize>(), line.left[nth] - elsewhere);
            if tail.is_some() || first + flits > line.buffered {
                self.crosses.push(place);
            }
            self.parts.push(Part { place, nth, first, flits, is_entering: is_last && tail.is_none() });
            let Some(tail) = tail else { return };
            (place, nth) = (tail, 0);
        }
    }

    /// Finds out where the output VC leads that the packet owns, which is the present one where its head is.
    fn find_next(&mut self, router: &FlitRouterState, system: &System) {
        let (number, slot) = self.parts[0].place;
        let Some(pair) = router.inputs[slot].output.map(usize::from) else { return };
        let layout = &system.network.layout;
        let port = usize::from(layout.pair_port[pair]);
        match system.network.link(number, port).peer {
            Some((peer, back)) => {
                let vc = pair - usize::from(layout.pair_base[port]);
                let next = (peer, usize::from(layout.slot_base[back]) + vc);
                self.next = Some(next);
                self.crosses.push(next);
            }
            None => self.ejects = true,
        }
    }
}

impl FlitRouterState {
    /// The input VCs that hold packets, or to which heads are on their way.
    fn lines(&self) -> BTreeMap<usize, Line> {
        let mut lines: BTreeMap<usize, Line> = BTreeMap::new();
        for (slot, input) in self.inputs.iter().enumerate() {
            if input.left == 0 && input.behind.is_empty() {
                continue;
            }
            let line = lines.entry(slot).or_default();
            line.buffered = input.flits.into();
            if input.left > 0 {
                line.add(input.packet.clone(), input.left);
            }
            input.behind.iter().for_each(|packet| line.add(Some(packet.clone()), packet.length));
        }
        let mut coming: Vec<&(u16, Packet)> = self.arrivals.iter().collect();
        coming.sort_by_key(|(_, packet)| packet.arrived);
        for (slot, packet) in coming {
            lines.entry(usize::from(*slot)).or_default().add(Some(packet.clone()), packet.length);
        }
        lines
    }
}

impl Line {
    /// Adds a packet behind the others.
    fn add(&mut self, packet: Option<Packet>, left: u16) {
        self.packets.push(packet);
        self.left.push(left.into());
    }
}
