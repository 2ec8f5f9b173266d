//! The state of all routers in flat arrays, and one router's part of it: what an allocator visit touches lies
//! together.

use super::mask::Mask;
use super::pool::Queue;
use super::tables::Tables;
use crate::config::router::ArbiterConfig;
use crate::network::{Link, NONE, Network, TERMINAL};
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
pub struct Routers<'p, const W: usize> {
    /// By router.
    pub hot: Vec<Hot<W>>,
    /// By router · ports + port.
    pub ports: Vec<Port>,
    /// By global slot id.
    pub slots: Vec<Slot>,
    /// By global pair id.
    pub pairs: Vec<Pair<W>>,
    /// Last departures + 1 of every output, rings of `ring` entries.
    departures: Vec<u32>,
    /// Lengths of those departures, only where packets of several lengths meet.
    lengths: Vec<u16>,
    /// Entries per ring: packets an output queue holds, 0 without output queues.
    ring: usize,
    /// Stamps of least-recently-served input arbiters, by global slot id; empty if unused.
    input_stamps: Vec<u64>,
    /// Stamps of least-recently-served output arbiters, by (router · ports + output) · ports + input.
    output_stamps: Vec<u64>,
    /// Routers with a head, one bit each.
    pub active: Vec<u64>,
    links: &'p [Link],
    port_count: usize,
    slot_shift: u32,
    pair_shift: u32,
}

/// One router: slices of the arrays, indexed by port, slot and pair.
pub struct Site<'a, const W: usize> {
    /// Its number.
    pub router: usize,
    /// Its sets.
    pub hot: &'a mut Hot<W>,
    /// Its ports.
    pub ports: &'a mut [Port],
    /// Its input VCs.
    pub slots: &'a mut [Slot],
    /// Its output VCs.
    pub pairs: &'a mut [Pair<W>],
    /// Its links.
    pub links: &'a [Link],
    /// Rings of departures + 1.
    pub departures: &'a mut [u32],
    /// Rings of lengths, empty if all packets are of one length.
    pub lengths: &'a mut [u16],
    /// Entries per ring.
    pub ring: usize,
    /// Stamps by slot, empty if unused.
    pub input_stamps: &'a mut [u64],
    /// Stamps by output · ports + input, empty if unused.
    pub output_stamps: &'a mut [u64],
}

/// The part `index` of `stride` entries, or nothing of an unused array.
#[inline]
fn part<T>(all: &mut [T], index: usize, stride: usize) -> &mut [T] {
    if all.is_empty() { all } else { &mut all[index * stride..][..stride] }
}

impl<'p, const W: usize> Routers<'p, W> {
    /// Empty routers.
    pub fn new(plan: &'p Plan, tables: &Tables) -> Self {
        let network = &plan.network;
        let (routers, ports) = (network.routers as usize, tables.port_count);
        let shortest = plan.shortest_packet();
        let ring = plan.router.output_buffer.map_or(0, |size| (size / shortest) as usize);
        let mixed = shortest != plan.longest_packet();
        let lrs = |a: &ArbiterConfig| matches!(a, ArbiterConfig::LeastRecentlyServed(_));
        let allocator = &plan.router.allocator;
        let stamps = |used: bool, count: usize| if used { vec![0; count] } else { Vec::new() };
        let mut state = Self {
            hot: vec![Hot { wanted: Mask::EMPTY, credit: Mask::EMPTY, redeciding: Mask::EMPTY }; routers],
            ports: vec![Port::default(); routers * ports],
            slots: vec![Slot { queue: Queue::EMPTY, request: 0 }; routers << tables.slot_shift],
            pairs: vec![Pair { wants: Mask::EMPTY, credits: 0 }; routers << tables.pair_shift],
            departures: vec![0; routers * ports * ring],
            lengths: if mixed { vec![0; routers * ports * ring] } else { Vec::new() },
            ring,
            input_stamps: stamps(lrs(&allocator.input_arbiter), routers << tables.slot_shift),
            output_stamps: stamps(lrs(&allocator.output_arbiter), routers * ports * ports),
            active: vec![0; routers.div_ceil(64)],
            links: &network.links,
            port_count: ports,
            slot_shift: tables.slot_shift,
            pair_shift: tables.pair_shift,
        };
        state.fill_credits(network, shortest);
        state
    }

    fn fill_credits(&mut self, network: &Network, shortest: u32) {
        for router in 0..network.routers {
            for pair in 0..network.layout.pairs() {
                let Some((port, _)) = network.layout.pair_vc(pair) else { continue };
                let credits = initial_credits(network, router, port);
                self.pairs[(router as usize) << self.pair_shift | pair].credits = credits;
                if credits >= shortest {
                    self.hot[router as usize].credit.insert(pair);
                }
            }
        }
    }

    /// One router.
    #[inline]
    pub fn site(&mut self, router: usize) -> Site<'_, W> {
        let ports = self.port_count;
        let slots = 1 << self.slot_shift;
        Site {
            router,
            hot: &mut self.hot[router],
            ports: &mut self.ports[router * ports..][..ports],
            slots: &mut self.slots[router << self.slot_shift..][..slots],
            pairs: &mut self.pairs[router << self.pair_shift..][..1 << self.pair_shift],
            links: &self.links[router * ports..][..ports],
            departures: part(&mut self.departures, router, ports * self.ring),
            lengths: part(&mut self.lengths, router, ports * self.ring),
            ring: self.ring,
            input_stamps: part(&mut self.input_stamps, router, slots),
            output_stamps: part(&mut self.output_stamps, router, ports * ports),
        }
    }

    /// Marks `router` as holding a head.
    #[inline]
    pub fn activate(&mut self, router: usize) {
        self.active[router / 64] |= 1 << (router % 64);
    }
}

impl<const W: usize> Site<'_, W> {
    /// The head of `slot` wants `pair`.
    #[inline]
    pub fn want(&mut self, slot: usize, pair: usize) {
        self.slots[slot].request = pair as u16;
        self.pairs[pair].wants.insert(slot);
        self.hot.wanted.insert(pair);
    }

    /// The head of `slot` no longer wants `pair`.
    #[inline]
    pub fn unwant(&mut self, slot: usize, pair: usize) {
        if self.hot.redeciding.contains(slot) {
            self.hot.redeciding.remove(slot);
            return;
        }
        let wants = &mut self.pairs[pair].wants;
        wants.remove(slot);
        if wants.is_empty() {
            self.hot.wanted.remove(pair);
        }
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
