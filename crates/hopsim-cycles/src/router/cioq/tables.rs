//! The layout as fixed-size tables: an index is masked instead of checked, and what is used together lies
//! together.

use crate::kernel::ids::{Id as _, Pair, Slot};
use crate::router::inputs::input_code;
use crate::system::System;
use hopsim_network::network::{Layout, TERMINAL};
use hopsim_routing::Request;
use hopsim_routing::vcs::Rings;
use std::sync::Arc;

/// Sizes of the tables: more than any router may have.
const PORTS: usize = 512;
const SLOTS: usize = 512;

/// What never changes about a port.
#[derive(Clone, Copy, Debug, Default)]
pub struct PortInfo {
    /// Bits of the slots of the port in the mask word that holds them.
    pub field: u64,
    /// Bits of the pairs of the port in the mask word that holds them.
    pub pair_field: u64,
    /// First slot of the port.
    slot_base: u16,
    /// First pair of the port.
    pair_base: u16,
    /// First entry of the port, if there are any: one past the last output VC.
    entry_base: u16,
    /// The terminal port of the node that injects by the port.
    pub injects_for: u16,
    /// Class of the port: 0 for terminal ports, 1 + index for link classes.
    pub class: u8,
}

impl PortInfo {
    /// The slot of an input VC.
    #[inline]
    pub fn slot(self, vc: usize) -> Slot {
        Slot::at(self.slot_base as usize + vc)
    }

    /// The pair of an output VC.
    #[inline]
    pub fn pair(self, vc: usize) -> Pair {
        Pair::at(self.pair_base as usize + vc)
    }
}

/// What never changes about a pair.
#[derive(Clone, Copy, Debug, Default)]
pub struct PairInfo {
    /// The port of the pair.
    pub port: u16,
    /// Class of the port, as [`PortInfo`] has it.
    pub class: u8,
    /// The number of the pair among those that hops share: the VC, with datelines counted from the first one of its class; of an entry,
    /// the VC that the entry leads to.
    pub rank: u8,
    /// The output VC that the pair stands for: itself, or the output VC of an entry.
    output_vc: u16,
    /// The entry of an output VC; the output VC itself if there is none.
    entry: u16,
}

/// The tables of a run.
#[derive(Clone, Debug)]
pub struct Tables {
    arrays: Arc<Arrays>,
    /// Ports of a router.
    pub port_count: usize,
    /// Inputs of the crossbar of a router.
    pub input_count: usize,
}

#[derive(Clone, Debug)]
struct Arrays {
    ports: [PortInfo; PORTS],
    slot_port: [u16; SLOTS],
    slot_input: [u16; SLOTS],
    pairs: [PairInfo; SLOTS],
    codes: [u8; SLOTS],
}

impl Tables {
    /// The tables of a system.
    pub fn new(system: &System) -> Self {
        let layout = &system.network.layout;
        let arrays = Arc::new(Arrays::new(system));
        Self { arrays, port_count: layout.ports(), input_count: layout.inputs() }
    }

    /// What never changes about `port`, or the port of a crossbar input.
    #[inline]
    pub fn port(&self, port: usize) -> PortInfo {
        self.arrays.ports[port & (PORTS - 1)]
    }

    /// The port of a slot.
    #[inline]
    pub fn slot_port(&self, slot: Slot) -> usize {
        self.arrays.slot_port[slot.index() & (SLOTS - 1)] as usize
    }

    /// The input of the crossbar of a slot.
    #[inline]
    pub fn slot_input(&self, slot: Slot) -> usize {
        self.arrays.slot_input[slot.index() & (SLOTS - 1)] as usize
    }

    /// The port of a pair.
    #[inline]
    pub fn pair_port(&self, pair: Pair) -> usize {
        self.pair(pair).port as usize
    }

    /// What never changes about `pair`.
    #[inline]
    pub fn pair(&self, pair: Pair) -> PairInfo {
        self.arrays.pairs[pair.index() & (SLOTS - 1)]
    }

    /// The pair of an output port and VC.
    #[inline]
    pub fn output(&self, request: Request) -> Pair {
        self.port(request.port).pair(request.vc as usize)
    }

    /// The output VC that a pair stands for: itself, or the output VC of an entry.
    #[inline]
    pub fn output_vc(&self, pair: Pair) -> Pair {
        Pair::at(self.pair(pair).output_vc.into())
    }

    /// The entry of an output VC; the output VC itself if there is none.
    #[inline]
    pub fn entry(&self, pair: Pair) -> Pair {
        Pair::at(self.pair(pair).entry.into())
    }

    /// The code of a slot for the routing.
    #[inline]
    pub fn code(&self, slot: Slot) -> u8 {
        self.arrays.codes[slot.index() & (SLOTS - 1)]
    }
}

impl Arrays {
    fn new(system: &System) -> Self {
        let layout = &system.network.layout;
        let mut tables = Self {
            ports: [PortInfo::default(); PORTS],
            slot_port: [0; SLOTS],
            slot_input: [0; SLOTS],
            pairs: [PairInfo::default(); SLOTS],
            codes: [0; SLOTS],
        };
        for port in 0..layout.ports() {
            let vcs = layout.input_vcs[port];
            tables.ports[port] = PortInfo {
                field: field(vcs, layout.slot_base[port]),
                pair_field: field(layout.output_vcs[port] + layout.entries[port], layout.pair_base[port]),
                slot_base: layout.slot_base[port],
                pair_base: layout.pair_base[port],
                entry_base: layout.pair_base[port] + u16::from(layout.output_vcs[port]),
                injects_for: layout.injects_for[port],
                class: layout.class[port],
            };
        }
        tables.slot_port[..layout.slots()].copy_from_slice(&layout.slot_port);
        tables.slot_input[..layout.slots()].copy_from_slice(&layout.slot_input);
        if layout.inputs() > layout.ports() {
            tables.split_inputs(layout);
        }
        for (pair, &port) in layout.pair_port.iter().enumerate() {
            let vc = layout.any_vc(pair).map_or(0, |(_, vc)| vc);
            let PortInfo { pair_base, entry_base, class, .. } = tables.ports[port as usize];
            let is_entry = layout.entry_vc(pair).is_some();
            let has_entry = vc < layout.entries[port as usize];
            let first = match system.routing.vcs().rings() {
                Rings::Dateline(dateline) if class != TERMINAL => dateline.first(vc),
                _ => 0,
            };
            tables.pairs[pair] = PairInfo {
                port,
                class,
                rank: vc - first,
                output_vc: if is_entry { pair_base + u16::from(vc) } else { pair as u16 },
                entry: if has_entry { entry_base + u16::from(vc) } else { pair as u16 },
            };
        }
        (0..layout.slots()).for_each(|slot| tables.codes[slot] = input_code(system, slot));
        tables
    }

    /// Gives every input of the crossbar its slots, where ports have several.
    fn split_inputs(&mut self, layout: &Layout) {
        for (input, &port) in layout.input_port.iter().enumerate() {
            self.ports[input] = PortInfo { field: 0, ..self.ports[port as usize] };
        }
        for slot in (0..layout.slots()).filter(|&slot| layout.slot_vc(slot).is_some()) {
            self.ports[layout.slot_input[slot] as usize].field |= field(1, slot as u16);
        }
    }
}

/// A mask of `count` bits, from the bit on that number `first` has in its word.
fn field(count: u8, first: u16) -> u64 {
    u64::MAX.checked_shr(64 - u32::from(count)).unwrap_or(0) << (first % 64)
}
