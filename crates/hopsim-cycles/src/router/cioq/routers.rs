//! The state of the routers: one block each, in one flat array. What an allocator visit touches lies together.

use crate::choices::Consumption;
use crate::kernel::by::By;
use crate::kernel::ids::{Id, Pair, PairId, RegionRouter, Slot, SlotId};
use crate::kernel::pool::Queue;
use crate::kernel::regions::{Regions, Span};
use crate::mode::Mode;
use crate::node::{Nodes, Run};
use crate::router::cioq::mask::Mask;
use crate::router::inputs::room_behind;
use crate::system::System;
use hopsim_network::network::{NONE, TERMINAL};
use std::marker::PhantomData;

/// An array of 64·W entries by numbers of one type, W a power of two; the index is masked instead of checked.
#[derive(Clone, Debug)]
pub struct Array<I, T, const W: usize> {
    entries: [[T; 64]; W],
    numbers: PhantomData<I>,
}

impl<I, T: Copy, const W: usize> Array<I, T, W> {
    /// An array with all entries equal.
    pub fn new(value: T) -> Self {
        Self { entries: [[value; 64]; W], numbers: PhantomData }
    }
}

impl<I: Id, T, const W: usize> Array<I, T, W> {
    /// The 64 entries that one mask word stands for, by the number of one of these entries.
    #[inline]
    pub fn row(&self, id: I) -> &[T; 64] {
        &self.entries[(id.index() / 64) & (W - 1)]
    }
}

impl<I: Id, T, const W: usize> std::ops::Index<I> for Array<I, T, W> {
    type Output = T;
    #[inline]
    fn index(&self, id: I) -> &T {
        &self.entries.as_flattened()[id.index() & (64 * W - 1)]
    }
}

impl<I: Id, T, const W: usize> std::ops::IndexMut<I> for Array<I, T, W> {
    #[inline]
    fn index_mut(&mut self, id: I) -> &mut T {
        &mut self.entries.as_flattened_mut()[id.index() & (64 * W - 1)]
    }
}

/// A port as input and as output.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
pub struct Port {
    /// First cycle in which the input may request again.
    pub in_free: u32,
    /// First cycle in which the output can take the shortest packet, credit apart.
    pub out_ready: u32,
    /// First cycle in which the link is free: end of the last departure.
    pub tail: u32,
    /// Where the input arbiter starts: a slot; only its number modulo 64 counts.
    pub in_pointer: u8,
    /// Where the output arbiter starts: an input of the crossbar, per class with transit priority.
    pub out_pointer: [u16; 2],
    /// Place of the next departure in the ring of the port.
    pub ring: u8,
    /// What to add to a pair of this port to get the id of the slot it feeds, modulo 2³² -- constant.
    pub to_slot: u32,
    /// What to add to a slot of this port to get the id of the pair that its credits go to, modulo 2³² -- constant.
    pub to_pair: u32,
    /// Region at the other end of the link -- constant.
    pub region: u16,
    /// Latency of the link \[cycles\] -- constant.
    pub latency: u16,
    /// Class of the port: 0 for terminal ports, 1 + index for link classes -- constant.
    pub class: u8,
    /// Cycles per phit of the link; 0: none is plugged in, as every value of `to_slot` is possible -- constant.
    pub pace: u8,
}

impl Port {
    /// The slot that a pair of this port feeds, in the region at the other end.
    #[inline]
    pub fn fed(&self, pair: Pair) -> SlotId {
        SlotId::at(self.to_slot.wrapping_add(pair.index() as u32) as usize)
    }

    /// The pair that the credits of a slot of this port go to, in the region at the other end.
    #[inline]
    pub fn credited(&self, slot: Slot) -> PairId {
        PairId::at(self.to_pair.wrapping_add(slot.index() as u32) as usize)
    }

    /// Whether a link leads on from the port.
    pub fn plugged(&self) -> bool {
        self.class != TERMINAL && self.pace > 0
    }
}

/// The state of an input VC.
#[derive(Clone, Copy, Debug)]
pub struct InputVc {
    /// Packets whose heads have arrived (of an injection VC: its head only).
    pub queue: Queue,
    /// Pair that the head wants; with FlexVC that pair or any below it of the same port.
    pub(super) request: u16,
}

impl InputVc {
    /// The pair that the head wants.
    #[inline]
    pub fn request(&self) -> Pair {
        Pair::at(self.request.into())
    }

    /// The head wants `pair`.
    #[inline]
    pub fn set_request(&mut self, pair: Pair) {
        self.request = pair.index() as u16;
    }
}

/// One router.
#[derive(Clone, Debug)]
pub struct Router<const W: usize> {
    /// Pairs that some head with a fixed request wants.
    pub wanted: Mask<Pair, W>,
    /// Pairs with credit for the shortest packet; ejection always.
    pub credit: Mask<Pair, W>,
    /// Slots whose head has a choice of outputs.
    pub choosing: Mask<Slot, W>,
    /// The ports of the router.
    pub ports: Array<usize, Port, W>,
    /// The input VCs of the router.
    pub slots: Array<Slot, InputVc, W>,
    /// Slots whose heads want an output VC, by pair.
    pub wants: Array<Pair, Mask<Slot, W>, W>,
    /// Free phits of the buffer behind an output VC, by pair.
    pub credits: Array<Pair, u32, W>,
}

impl<const W: usize> Router<W> {
    fn new(system: &System, regions: &Regions, router: u32) -> Self {
        let (network, shortest) = (&system.network, system.shortest_packet());
        let port = Port {
            in_free: 0,
            out_ready: 0,
            tail: 0,
            in_pointer: 0,
            out_pointer: [0; 2],
            ring: 0,
            to_slot: NONE,
            to_pair: NONE,
            latency: 0,
            region: 0,
            class: TERMINAL,
            pace: 0,
        };
        let mut state = Self {
            wanted: Mask::EMPTY,
            credit: Mask::EMPTY,
            choosing: Mask::EMPTY,
            ports: Array::new(port),
            slots: Array::new(InputVc { queue: Queue::EMPTY, request: 0 }),
            wants: Array::new(Mask::EMPTY),
            credits: Array::new(0),
        };
        for port in 0..network.layout.ports() {
            let (link, layout) = (network.link(router, port), &network.layout);
            state.ports[port].latency = link.latency as u16;
            state.ports[port].class = layout.class[port];
            let open = layout.class[port] != TERMINAL && link.peer.is_none();
            state.ports[port].pace = if open { 0 } else { link.cycles_per_phit as u8 };
            if let Some((peer, back)) = link.peer {
                let region = regions.of(peer);
                let number = peer - regions.routers(region).start;
                let number = RegionRouter::at(number as usize);
                let slot = number.slot::<W>(Slot::at(layout.slot_base[back].into())).index() as u32;
                let pair = number.pair::<W>(Pair::at(layout.pair_base[back].into())).index() as u32;
                state.ports[port].region = region as u16;
                state.ports[port].to_slot = slot.wrapping_sub(u32::from(layout.pair_base[port]));
                state.ports[port].to_pair = pair.wrapping_sub(u32::from(layout.slot_base[port]));
            }
        }
        for (input, &port) in network.layout.input_port.iter().enumerate() {
            state.ports[input] = state.ports[port as usize];
        }
        for pair in (0..network.layout.pairs()).map(Pair::at) {
            let Some((port, _)) = network.layout.any_vc(pair.index()) else { continue };
            let bubble = match network.layout.class[port] {
                TERMINAL => 0,
                code => network.classes.links[code as usize - 1].bubble,
            };
            let left = if network.layout.entry_vc(pair.index()).is_some() { bubble } else { 0 };
            state.credits[pair] = room_behind(network, router, port).saturating_sub(left);
            // Nodes that take all packets at once need no allocator.
            let allocated = network.layout.class[port] != TERMINAL || !parallel(system);
            let least = if bubble > 0 { system.longest_packet() } else { shortest };
            if state.credits[pair] >= least && allocated {
                state.credit.insert(pair);
            }
        }
        state
    }

    /// The head of `slot` wants `pair`.
    #[inline]
    pub fn ask(&mut self, slot: Slot, pair: Pair) {
        self.slots[slot].set_request(pair);
        self.wants[pair].insert(slot);
        self.wanted.insert(pair);
    }

    /// The head of `slot` no longer wants `pair`.
    #[inline]
    pub fn withdraw(&mut self, slot: Slot, pair: Pair) {
        let wants = &mut self.wants[pair];
        wants.remove(slot);
        if wants.is_empty() {
            self.wanted.remove(pair);
        }
    }

    /// Whether no head waits in the router.
    #[inline]
    pub fn is_idle<M: Mode>(&self) -> bool {
        self.wanted.is_empty() && (!M::FULL || self.choosing.is_empty())
    }
}

/// Whether nodes take packets from all input VCs at once.
pub fn parallel(system: &System) -> bool {
    system.cioq().consumption == Consumption::Parallel
}

/// The routers of a region, empty.
pub fn routers<const W: usize>(
    system: &System,
    regions: &Regions,
    region: usize,
) -> By<RegionRouter, Router<W>> {
    regions.routers(region).map(|router| Router::new(system, regions, router)).collect()
}

/// Gives credits to the ejection VCs behind which room is limited.
pub fn with_ejection_space<const W: usize, M: Run>(
    system: &System,
    span: &Span,
    mut routers: By<RegionRouter, Router<W>>,
) -> By<RegionRouter, Router<W>> {
    let (layout, shortest) = (&system.network.layout, system.shortest_packet());
    let limited = (0..layout.pairs()).filter(|&pair| {
        layout.pair_vc(pair).is_some_and(|(port, vc)| layout.class[port] == TERMINAL && vc > 0)
    });
    for pair in limited {
        let terminal = u32::from(layout.pair_port[pair]);
        let pair = Pair::at(pair);
        for (number, router) in routers.numbered_mut() {
            let node = span.router(number) * layout.terminals as u32 + terminal;
            let space = M::Nodes::ejection_space(system, node);
            router.credits[pair] = space;
            if space < shortest {
                router.credit.remove(pair);
            }
        }
    }
    routers
}
