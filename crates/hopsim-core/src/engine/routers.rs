//! The state of all routers in flat arrays: what an allocator visit touches lies together.

use super::mask::Mask;
use super::pool::Queue;
use crate::config::router::ArbiterConfig;
use crate::network::{Layout, NONE, Network, TERMINAL};
use crate::plan::Plan;

/// The sets an allocator visit starts from.
#[derive(Clone, Debug)]
pub struct Hot<const W: usize> {
    /// Pairs that some head with a fixed request wants.
    pub wanted: Mask<W>,
    /// Pairs with credit for the shortest packet; ejection always.
    pub credit: Mask<W>,
    /// Slots whose head re-decides at every attempt.
    pub redeciding: Mask<W>,
}

/// A port as input and as output.
#[derive(Clone, Debug, Default)]
pub struct Port {
    /// First cycle in which the input may request again.
    pub in_free: u32,
    /// First cycle in which the output can take the shortest packet, credit apart.
    pub out_ready: u32,
    /// First cycle in which the link is free: end of the last departure.
    pub tail: u32,
    /// Where the input arbiter starts: a VC.
    pub in_pointer: u8,
    /// Where the output arbiter starts: an input port, per class with transit priority.
    pub out_pointer: [u8; 2],
    /// Place of the next departure in the ring.
    pub ring: u8,
}

/// The queue of an input VC.
#[derive(Clone, Copy, Debug)]
pub struct Slot {
    /// Packets whose heads have arrived (of an injection VC: its head only).
    pub queue: Queue,
    /// Pair that the head wants.
    pub request: u16,
}

/// An output VC.
#[derive(Clone, Copy, Debug)]
pub struct Pair<const W: usize> {
    /// Slots whose heads want it.
    pub wants: Mask<W>,
    /// Free phits of the buffer at the other end.
    pub credits: u32,
}

/// All routers.
pub struct Routers<const W: usize> {
    /// By router.
    pub hot: Vec<Hot<W>>,
    /// By router · ports + port.
    pub ports: Vec<Port>,
    /// By global slot id.
    pub slots: Vec<Slot>,
    /// By global pair id.
    pub pairs: Vec<Pair<W>>,
    /// Last departures + 1 of every output, rings of `ring` entries.
    pub departures: Vec<u32>,
    /// Lengths of those departures, only where packets of several lengths meet.
    pub lengths: Vec<u16>,
    /// Entries per ring: packets an output queue holds, 0 without output queues.
    pub ring: usize,
    /// Stamps of least-recently-served input arbiters, by global slot id; empty if unused.
    pub input_stamps: Vec<u64>,
    /// Stamps of least-recently-served output arbiters, by (router · ports + output) · ports + input.
    pub output_stamps: Vec<u64>,
    /// Routers with a head, one bit each.
    pub active: Vec<u64>,
}

impl<const W: usize> Routers<W> {
    /// Empty routers.
    pub fn new(plan: &Plan) -> Self {
        let network = &plan.network;
        let layout = &network.layout;
        let (routers, ports) = (network.routers as usize, layout.ports());
        let shortest = plan.shortest_packet();
        let ring = plan.router.output_buffer.map_or(0, |size| (size / shortest) as usize);
        let mixed = shortest != plan.longest_packet();
        let lrs = |a: &ArbiterConfig| matches!(a, ArbiterConfig::LeastRecentlyServed(_));
        let allocator = &plan.router.allocator;
        let stamps = |used: bool, count: usize| if used { vec![0; count] } else { Vec::new() };
        let mut state = Self {
            hot: vec![Hot { wanted: Mask::EMPTY, credit: Mask::EMPTY, redeciding: Mask::EMPTY }; routers],
            ports: vec![Port::default(); routers * ports],
            slots: vec![Slot { queue: Queue::EMPTY, request: 0 }; routers << layout.slot_shift],
            pairs: vec![Pair { wants: Mask::EMPTY, credits: 0 }; routers << layout.pair_shift],
            departures: vec![0; routers * ports * ring],
            lengths: if mixed { vec![0; routers * ports * ring] } else { Vec::new() },
            ring,
            input_stamps: stamps(lrs(&allocator.input_arbiter), routers << layout.slot_shift),
            output_stamps: stamps(lrs(&allocator.output_arbiter), routers * ports * ports),
            active: vec![0; routers.div_ceil(64)],
        };
        state.fill_credits(network, shortest);
        state
    }

    fn fill_credits(&mut self, network: &Network, shortest: u32) {
        let layout = &network.layout;
        for router in 0..network.routers {
            for pair in 0..layout.pairs() {
                let Some((port, _)) = layout.pair_vc(pair) else { continue };
                let credits = initial_credits(network, router, port);
                self.pairs[(router as usize) << layout.pair_shift | pair].credits = credits;
                if credits >= shortest {
                    self.hot[router as usize].credit.insert(pair);
                }
            }
        }
    }

    /// Marks `router` as holding a head.
    #[inline]
    pub fn activate(&mut self, router: usize) {
        self.active[router / 64] |= 1 << (router % 64);
    }
}

/// Phits the buffer behind a port holds per VC; ejection has no limit, an unplugged port no room.
pub fn initial_credits(network: &Network, router: u32, port: usize) -> u32 {
    match network.layout.class[port] {
        TERMINAL => NONE,
        _ if network.link(router, port).peer_slot == NONE => 0,
        code => network.classes.links[code as usize - 1].buffer,
    }
}

/// Codes of all slots as [`crate::routing::sequence::VcSequence`] wants them.
pub fn slot_codes(plan: &Plan, layout: &Layout) -> Vec<u8> {
    let code = |slot| match layout.slot_vc(slot) {
        Some((port, vc)) if layout.class[port] != TERMINAL => {
            plan.routing.sequence().code(layout.class[port] - 1, vc)
        }
        _ => 0,
    };
    (0..layout.slots()).map(code).collect()
}
