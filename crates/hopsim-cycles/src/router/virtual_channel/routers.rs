//! The state of the routers of a region, in flat arrays.

use crate::kernel::by::By;
use crate::kernel::ids::{Id as _, Pair, PairId, RegionRouter, Slot, SlotId};
use crate::kernel::packet::Packet;
use crate::kernel::pool::Queue;
use crate::kernel::regions::{Regions, Span};
use crate::node::{Nodes, Run};
use crate::router::inputs::room_behind;
use crate::router::virtual_channel::places::{AskedVcs, InputPlace, OwnedVc};
use crate::router::virtual_channel::port_numbers::PortNumbers;
use crate::router::virtual_channel::shared::{self, FlitShared};
use crate::system::System;
use hopsim_network::network::{NONE, PortClassCode, TERMINAL};
use serde::{Deserialize, Serialize};

/// What is known in an input VC of the packet whose flits are there, also when its head has gone on.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Trail {
    /// Source node.
    pub source: u32,
    /// Destination node.
    pub destination: u32,
    /// Cycle of generation.
    pub generated: u32,
    /// Length \[flits\].
    pub length: u16,
    /// Number of the packet's job.
    pub job: u8,
}

/// The state of an input VC. Its flits are those of the present packet that have arrived and not left, and those of the packets behind.
#[derive(Clone, Copy, Debug)]
pub struct FlitInputVc {
    /// Packets behind the present one whose heads have arrived.
    pub behind: Queue,
    /// The present packet while its head is here, and at its last router until its tail has left; else `NONE`.
    pub packet: u32,
    /// Flits here.
    pub flits: u16,
    /// Flits of the present packet that have not left, here or not; 0: there is no packet.
    pub left: u16,
    /// The output VC that the present packet owns, if it does.
    pub output: Option<OwnedVc>,
    /// The output VCs that the head asks for if it has no choice.
    pub request: Option<AskedVcs>,
    /// What arbiters compare that look at packets: the cycle of generation, or that in which the packet entered the network, `NONE` until
    /// then; or `NONE` less the links that it has passed.
    pub stamp: u32,
    /// First step in which the present packet may ask for an output VC, or if it owns one for the switch, by its last 32 bits.
    pub ready: u32,
    /// What is known of the present packet.
    pub trail: Trail,
    /// Where the input VC is -- constant.
    pub place: InputPlace,
}

impl FlitInputVc {
    /// An input VC without flits.
    pub fn empty(place: InputPlace) -> Self {
        Self {
            behind: Queue::EMPTY,
            packet: NONE,
            flits: 0,
            left: 0,
            output: None,
            request: None,
            stamp: 0,
            ready: 0,
            trail: Trail { source: 0, destination: 0, generated: 0, length: 0, job: 0 },
            place,
        }
    }

    /// Whether the head of the present packet has not left yet.
    #[inline]
    pub fn has_head(&self) -> bool {
        self.left > 0 && self.left == self.trail.length
    }

    /// The output VC that the present packet owns, if it does.
    #[inline]
    pub fn owned(&self) -> Option<Pair> {
        self.output.map(|owned| Pair::at(owned.pair.into()))
    }
}

/// The state of an output VC.
#[derive(Clone, Copy, Debug)]
pub struct FlitOutputVc {
    /// Free flits of the buffer behind the output VC; of an ejection VC, room for what the node has not dealt with.
    pub credits: u32,
    /// Slot of the packet that owns the output VC, if there is one.
    pub owner: Option<u16>,
}

/// A port as input and as output.
#[derive(Clone, Copy, Debug)]
pub struct FlitPort {
    /// VCs of the input that hold a packet, a bit each.
    pub present: u64,
    /// VCs of the input whose packets own no output VC yet, a bit each.
    pub heads: u64,
    /// VCs of the input whose packets own an output VC and have a flit here, a bit each.
    pub senders: u64,
    /// VCs of the output that no packet owns, a bit each.
    pub unowned: u64,
    /// VCs of the output with a credit, a bit each.
    pub credited: u64,
    /// First cycle in which the port can take another flit, as far as that is known; where there are queues these say more.
    pub free_at: u32,
    /// Whether the link is in order: of one that is not no head is granted an output VC.
    pub in_order: bool,
    /// Whether heads at the input may be granted output VCs.
    pub lets_in: bool,
    /// What never changes.
    pub link: FlitLink,
}

/// What never changes of a port and its links.
#[derive(Clone, Copy, Debug)]
pub struct FlitLink {
    /// VCs of the output that take a flit without a credit, a bit each.
    pub endless: u64,
    /// Id of VC 0 of the input.
    pub first_slot: SlotId,
    /// Id of VC 0 of the output.
    pub first_pair: PairId,
    /// How many output VCs of the router come before VC 0 in the allocators.
    pub outputs_before: u16,
    /// Number of VC 0 of the output in the router.
    pub pair_base: u16,
    /// Id of VC 0 of the input at the other end of the link, in its region.
    pub far_slot: SlotId,
    /// Id of VC 0 of the output at the other end of the link, in its region.
    pub far_pair: PairId,
    /// Region at the other end of the link.
    pub region: u16,
    /// Latency of the link \[cycles\].
    pub latency: u32,
    /// Cycles that a flit takes on the link.
    pub pace: u32,
    /// Class of the port: 0 for terminal ports, 1 + index for link classes.
    pub class: PortClassCode,
    /// The first VC of the output that is for requests; the largest number if there is none.
    pub first_request: u8,
    /// Credits that an output VC which is not for requests must have for a head to be granted it; `None`: as many as its packet has flits.
    pub needed: Option<u32>,
}

impl FlitLink {
    /// Credits that an output VC must have for the head of a packet of so many flits to be granted it.
    #[inline]
    pub fn needed_for(&self, vc: u8, length: u32) -> u32 {
        match self.needed {
            Some(needed) if vc < self.first_request => needed,
            _ => length,
        }
    }
}

impl FlitPort {
    /// A port of a router of the region, whose first id is `first`, empty.
    fn new(
        (system, numbers): (&System, &PortNumbers),
        regions: &Regions,
        (router, port): (u32, usize),
        first: usize,
    ) -> Self {
        let (network, layout, plan) = (&system.network, &system.network.layout, shared::plan(system));
        let link = network.link(router, port);
        let (mut far_slot, mut far_pair, mut region) = (SlotId::at(0), PairId::at(0), 0);
        if let Some((peer, back)) = link.peer {
            region = regions.of(peer);
            let there = (peer - regions.routers(region).start) as usize * layout.stride();
            far_slot = SlotId::at(there + layout.slot_base[back] as usize);
            far_pair = PairId::at(there + layout.pair_base[back] as usize);
        }
        let link = FlitLink {
            endless: match (layout.class[port], plan.ejection) {
                (TERMINAL, None) => u64::MAX,
                (TERMINAL, Some(_)) => u64::MAX << network.classes.one_way,
                _ => 0,
            },
            first_slot: SlotId::at(first + layout.slot_base[port] as usize),
            first_pair: PairId::at(first + layout.pair_base[port] as usize),
            outputs_before: numbers.outputs[port],
            pair_base: layout.pair_base[port],
            far_slot,
            far_pair,
            region: region as u16,
            latency: link.latency,
            pace: link.cycles_per_phit.max(1),
            class: layout.class[port],
            first_request: if layout.class[port] == TERMINAL { network.classes.one_way } else { u8::MAX },
            needed: match layout.class[port] {
                TERMINAL => plan.credits_to_node(),
                class => plan.credits_for(network.classes.links[usize::from(class) - 1].buffer),
            },
        };
        Self {
            present: 0,
            heads: 0,
            senders: 0,
            unowned: u64::MAX,
            credited: 0,
            free_at: 0,
            in_order: true,
            lets_in: true,
            link,
        }
    }

    /// The output VCs that take a flit, a bit each: they have a credit, or lead to a node where there is always room.
    #[inline]
    pub fn takers(&self) -> u64 {
        self.credited | self.link.endless
    }

    /// Whether an output VC takes a flit.
    #[inline]
    pub fn takes_flit(&self, vc: usize) -> bool {
        self.takers() & 1 << vc != 0
    }
}

impl FlitLink {
    /// The slot that an output VC of this port feeds, in the region at the other end.
    #[inline]
    pub fn fed(&self, vc: usize) -> SlotId {
        self.far_slot.up(vc)
    }

    /// The pair that the credits of an input VC of this port go to, in the region at the other end.
    #[inline]
    pub fn credited_pair(&self, vc: usize) -> PairId {
        self.far_pair.up(vc)
    }
}

/// How many input VCs of a router have something to do.
#[derive(Clone, Copy, Debug, Default)]
struct PacketCounts {
    present: u32,
    heads: u32,
}

/// The routers of a region.
pub struct FlitRouters {
    /// Input VCs by slot id.
    pub inputs: By<SlotId, FlitInputVc>,
    /// Output VCs by pair id.
    pub outputs: By<PairId, FlitOutputVc>,
    /// Ports by router · ports + port.
    ports: Vec<FlitPort>,
    /// How many input VCs of each router hold a packet, and how many a packet that owns no output VC.
    counts: By<RegionRouter, PacketCounts>,
    /// Ports of a router -- constant.
    count: usize,
    /// Inputs of the crossbar of a router -- constant.
    crossbar: usize,
    /// Where the arbiter of each input of the crossbar begins, a VC, by router · inputs + input.
    turns: Vec<u8>,
    /// The slot whose packet holds each input of the crossbar, by router · inputs + input; empty if packets hold none.
    held: Vec<Option<u16>>,
}

impl FlitRouters {
    /// The routers of a region, empty.
    pub fn new<M: Run>(system: &System, shared: &FlitShared<'_>, (regions, span): (&Regions, &Span)) -> Self {
        let routers = span.first_router..span.first_router + span.routers as u32;
        let mut outputs = By::all(FlitOutputVc { credits: 0, owner: None }, span.routers * shared.stride);
        for (number, router) in routers.enumerate() {
            for pair in (0..shared.layout.pairs()).filter(|&pair| shared.layout.pair_vc(pair).is_some()) {
                let id = shared.pair_id(RegionRouter::at(number), Pair::at(pair));
                outputs[id].credits = room::<M>(system, router, shared.output(Pair::at(pair)));
            }
        }
        let places: Vec<InputPlace> =
            (0..shared.stride).map(|slot| InputPlace::new(system, &shared.numbers, slot)).collect();
        let places = &places;
        let inputs = |number| {
            places.iter().map(move |place| FlitInputVc::empty(place.in_router(number, shared.ports)))
        };
        let place = |number| {
            (0..shared.ports)
                .map(move |port| ((span.first_router + number as u32, port), number * shared.stride))
        };
        let ports = (0..span.routers).flat_map(place);
        Self {
            inputs: (0..span.routers).flat_map(inputs).collect(),
            outputs,
            ports: ports
                .map(|(place, first)| FlitPort::new((system, &shared.numbers), regions, place, first))
                .collect(),
            counts: By::all(PacketCounts::default(), span.routers),
            count: shared.ports,
            crossbar: shared.crossbar.len(),
            turns: vec![0; span.routers * shared.crossbar.len()],
            held: vec![None; if shared.plan.hold_switch { span.routers * shared.crossbar.len() } else { 0 }],
        }
    }

    /// Where the arbiters of the inputs of a router's crossbar begin.
    #[inline]
    pub fn turns(&self, router: RegionRouter) -> &[u8] {
        &self.turns[router.index() * self.crossbar..][..self.crossbar]
    }

    /// Where the arbiters of the inputs of a router's crossbar begin, to be changed.
    #[inline]
    pub fn turns_mut(&mut self, router: RegionRouter) -> &mut [u8] {
        &mut self.turns[router.index() * self.crossbar..][..self.crossbar]
    }

    /// The arbiter of an input of the crossbar, which has been granted something for an input VC, begins behind that.
    #[inline]
    pub fn pass_turn(&mut self, place: InputPlace, input: usize) {
        self.turns_mut(place.router())[input] = (place.vc + 1) % 64;
    }

    /// The slots whose packets hold the inputs of a router's crossbar; none if packets hold none.
    #[inline]
    pub fn held(&self, router: RegionRouter) -> &[Option<u16>] {
        let inputs = if self.held.is_empty() { 0 } else { self.crossbar };
        &self.held[router.index() * inputs..][..inputs]
    }

    /// The slots whose packets hold the inputs of a router's crossbar, to be changed.
    #[inline]
    pub fn held_mut(&mut self, router: RegionRouter) -> &mut [Option<u16>] {
        let inputs = if self.held.is_empty() { 0 } else { self.crossbar };
        &mut self.held[router.index() * inputs..][..inputs]
    }

    /// A port of a router.
    #[inline]
    pub fn port(&self, router: RegionRouter, port: usize) -> &FlitPort {
        &self.ports[router.index() * self.count + port]
    }

    /// A port of a router, to be changed.
    #[inline]
    pub fn port_mut(&mut self, router: RegionRouter, port: usize) -> &mut FlitPort {
        &mut self.ports[router.index() * self.count + port]
    }

    /// The port of an input VC.
    #[inline]
    pub fn port_of(&self, place: InputPlace) -> &FlitPort {
        &self.ports[place.first_port as usize + usize::from(place.port)]
    }

    /// The port of an input VC, to be changed.
    #[inline]
    pub fn port_of_mut(&mut self, place: InputPlace) -> &mut FlitPort {
        &mut self.ports[place.first_port as usize + usize::from(place.port)]
    }

    /// Another port of the router of an input VC.
    #[inline]
    pub fn port_beside(&self, place: InputPlace, port: u16) -> &FlitPort {
        &self.ports[place.first_port as usize + usize::from(port)]
    }

    /// Another port of the router of an input VC, to be changed.
    #[inline]
    pub fn port_beside_mut(&mut self, place: InputPlace, port: u16) -> &mut FlitPort {
        &mut self.ports[place.first_port as usize + usize::from(port)]
    }

    /// Whether any input VC of a router holds a packet.
    #[inline]
    pub fn has_packets(&self, router: RegionRouter) -> bool {
        self.counts[router].present > 0
    }

    /// Whether any packet in a router owns no output VC yet.
    #[inline]
    pub fn has_heads(&self, router: RegionRouter) -> bool {
        self.counts[router].heads > 0
    }

    /// An input VC holds a packet from now on, which owns no output VC yet.
    #[inline]
    pub fn begin(&mut self, place: InputPlace) {
        let counts = &mut self.counts[place.router()];
        counts.present += 1;
        counts.heads += 1;
        let port = self.port_of_mut(place);
        port.present |= place.bit();
        port.heads |= place.bit();
    }

    /// The packet of an input VC, whose head is there, owns an output VC from now on.
    #[inline]
    pub fn own(&mut self, place: InputPlace) {
        self.counts[place.router()].heads -= 1;
        let port = self.port_of_mut(place);
        port.heads &= !place.bit();
        port.senders |= place.bit();
    }

    /// Nobody owns an output VC of the router of an input VC any more.
    #[inline]
    pub fn disown(&mut self, place: InputPlace, OwnedVc { port, vc, .. }: OwnedVc) {
        let port = self.port_beside_mut(place, port);
        port.unowned |= 1 << vc;
        let id = port.link.first_pair.up(vc.into());
        self.outputs[id].owner = None;
    }

    /// Whether an input VC, whose packet owns an output VC, has a flit from now on.
    #[inline]
    pub fn has_flit(&mut self, place: InputPlace, has_flit: bool) {
        let port = self.port_of_mut(place);
        port.senders = if has_flit { port.senders | place.bit() } else { port.senders & !place.bit() };
    }

    /// A flit has left an input VC, the last one of its packet or not, after which the VC is empty or not: the port by which it came.
    #[inline]
    pub fn lose_flit(&mut self, place: InputPlace, (is_last, is_empty): (bool, bool)) -> FlitLink {
        if is_last {
            self.counts[place.router()].present -= 1;
        }
        let port = self.port_of_mut(place);
        if is_last {
            port.present &= !place.bit();
        }
        if is_last || is_empty {
            port.senders &= !place.bit();
        }
        port.link
    }

    /// The ports of a router.
    #[inline]
    pub fn ports(&self, router: RegionRouter) -> &[FlitPort] {
        &self.ports[router.index() * self.count..][..self.count]
    }

    /// The ports of a router, to be changed.
    #[inline]
    pub fn ports_mut(&mut self, router: RegionRouter) -> &mut [FlitPort] {
        &mut self.ports[router.index() * self.count..][..self.count]
    }
}

/// Flits that there is room for behind an empty output VC.
fn room<M: Run>(system: &System, router: u32, (port, vc): (usize, usize)) -> u32 {
    let layout = &system.network.layout;
    if layout.class[port] == TERMINAL && vc >= usize::from(system.network.classes.one_way) {
        return M::Nodes::ejection_space(system, router * layout.terminals as u32 + port as u32);
    }
    if let (TERMINAL, Some(ejection)) = (layout.class[port], shared::plan(system).ejection) {
        return ejection.size;
    }
    room_behind(&system.network, router, port)
}

impl Trail {
    /// What is known of a packet, where routers have `nodes_per_router` nodes.
    pub fn of(packet: &Packet, nodes_per_router: u32) -> Self {
        Self {
            source: packet.source,
            destination: packet.destination(nodes_per_router),
            generated: packet.generated,
            length: packet.length,
            job: packet.job,
        }
    }
}

/// The slots of a router that hold a packet, ascending by port and VC.
pub fn occupied<'s>(shared: &'s FlitShared<'_>, ports: &'s [FlitPort]) -> impl Iterator<Item = Slot> + 's {
    ports
        .iter()
        .enumerate()
        .flat_map(move |(port, state)| set_bits(state.present).map(move |vc| shared.slot(port, vc)))
}

/// The places of the bits that are set in a word, ascending.
pub fn set_bits(mut word: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let place = (word != 0).then(|| word.trailing_zeros() as usize)?;
        word &= word - 1;
        Some(place)
    })
}
