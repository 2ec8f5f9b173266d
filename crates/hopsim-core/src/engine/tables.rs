//! The layout as fixed-size tables: an index is masked instead of checked, and what is used together lies
//! together.

use crate::network::{Layout, TERMINAL};
use crate::plan::Plan;

/// Table sizes: more than any router the plan accepts.
const PORTS: usize = 512;
const SLOTS: usize = 512;

/// What never changes about a port.
#[derive(Clone, Copy, Debug, Default)]
pub struct PortInfo {
    /// First slot.
    pub slot_base: u16,
    /// First pair.
    pub pair_base: u16,
    /// Input VCs.
    pub vcs: u8,
    /// 0 for terminal ports, 1 + index for link classes.
    pub class: u8,
}

/// The tables of a run.
#[derive(Clone, Debug)]
pub struct Tables {
    ports: Box<[PortInfo; PORTS]>,
    slot_port: Box<[u16; SLOTS]>,
    pair_port: Box<[u16; SLOTS]>,
    codes: Box<[u8; SLOTS]>,
    /// Ports of a router.
    pub port_count: usize,
    /// Pair positions of a router.
    pub pair_count: usize,
    /// Slot positions of a router.
    pub slot_count: usize,
    /// log2 of the stride of slot ids.
    pub slot_shift: u32,
    /// log2 of the stride of pair ids.
    pub pair_shift: u32,
}

impl Tables {
    /// The tables of a plan.
    pub fn new(plan: &Plan) -> Self {
        let layout = &plan.network.layout;
        let mut tables = Self {
            ports: Box::new([PortInfo::default(); PORTS]),
            slot_port: Box::new([0; SLOTS]),
            pair_port: Box::new([0; SLOTS]),
            codes: Box::new([0; SLOTS]),
            port_count: layout.ports(),
            pair_count: layout.pairs(),
            slot_count: layout.slots(),
            slot_shift: layout.slot_shift,
            pair_shift: layout.pair_shift,
        };
        for port in 0..layout.ports() {
            tables.ports[port] = PortInfo {
                slot_base: layout.slot_base[port],
                pair_base: layout.pair_base[port],
                vcs: layout.input_vcs[port],
                class: layout.class[port],
            };
        }
        tables.slot_port[..layout.slots()].copy_from_slice(&layout.slot_port);
        tables.pair_port[..layout.pairs()].copy_from_slice(&layout.pair_port);
        (0..layout.slots()).for_each(|slot| tables.codes[slot] = slot_code(plan, layout, slot));
        tables
    }

    /// What never changes about `port`.
    #[inline]
    pub fn port(&self, port: usize) -> PortInfo {
        self.ports[port & (PORTS - 1)]
    }

    /// The port of a slot.
    #[inline]
    pub fn slot_port(&self, slot: usize) -> usize {
        self.slot_port[slot & (SLOTS - 1)] as usize
    }

    /// The port of a pair.
    #[inline]
    pub fn pair_port(&self, pair: usize) -> usize {
        self.pair_port[pair & (SLOTS - 1)] as usize
    }

    /// The code of a slot for its routing.
    #[inline]
    pub fn code(&self, slot: usize) -> u8 {
        self.codes[slot & (SLOTS - 1)]
    }

    /// Router and slot of a global slot id.
    #[inline]
    pub fn split_slot(&self, slot: u32) -> (usize, usize) {
        ((slot >> self.slot_shift) as usize, (slot & ((1 << self.slot_shift) - 1)) as usize)
    }

    /// Router and pair of a global pair id.
    #[inline]
    pub fn split_pair(&self, pair: u32) -> (usize, usize) {
        ((pair >> self.pair_shift) as usize, (pair & ((1 << self.pair_shift) - 1)) as usize)
    }
}

/// The code of a slot as [`crate::routing::sequence::VcSequence`] wants it.
fn slot_code(plan: &Plan, layout: &Layout, slot: usize) -> u8 {
    match layout.slot_vc(slot) {
        Some((port, vc)) if layout.class[port] != TERMINAL => {
            plan.routing.sequence().code(layout.class[port] - 1, vc)
        }
        _ => 0,
    }
}
