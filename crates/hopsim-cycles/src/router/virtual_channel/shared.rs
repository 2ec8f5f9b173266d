//! What never changes in a run and all routers read.

use crate::choices::{FlitArbiter, Timestamp};
use crate::kernel::ids::{Id as _, Pair, PairId, RegionRouter, Slot, SlotId};
use crate::kernel::packet::{InjectionEnd, Packet};
use crate::router::virtual_channel::places::{AskedVcs, InputPlace, OwnedVc};
use crate::router::virtual_channel::port_numbers::PortNumbers;
use crate::router::virtual_channel::route_table::RouteTable;
use crate::system::{RouterPlan, System, VirtualChannelPlan};
use hopsim_network::network::{Layout, NONE, TERMINAL};
use hopsim_random::{Purpose, Streams};
use hopsim_routing::{Head, Request, Requests, Routing};
use std::sync::Arc;

/// The constants of a run. Regions share what is large.
#[derive(Clone)]
pub struct FlitShared<'p> {
    /// The routing of the run.
    pub routing: &'p Routing,
    /// The numbering of a router.
    pub layout: &'p Layout,
    /// The routers.
    pub plan: VirtualChannelPlan,
    /// Where injection latency ends.
    pub injection_end: InjectionEnd,
    /// Distance of an id in a router from the same id in the next router.
    pub stride: usize,
    /// Ports of a router.
    pub ports: usize,
    /// What is drawn anew at every attempt of a head, by source node.
    pub attempts: Streams,
    /// Ejection VCs of a port for packets that are not answered.
    pub one_way: u8,
    /// The ports as allocators number them.
    pub numbers: Arc<PortNumbers>,
    /// The inputs of the crossbar: the port of each, and its VCs, a bit each.
    pub crossbar: Arc<[(usize, u64)]>,
    /// Whether arbiters compare when packets have entered the network.
    pub ages_in_network: bool,
    /// The priority class of every job.
    pub priorities: &'p [u8],
    /// The output VCs that heads ask for, where these follow from the destination alone.
    pub routes: Option<Arc<RouteTable>>,
}

/// The routers of a system that has such.
pub fn plan(system: &System) -> VirtualChannelPlan {
    let RouterPlan::VirtualChannel(plan) = system.router else {
        unreachable!("the kind of the routers picks the code")
    };
    plan
}

impl<'p> FlitShared<'p> {
    /// The constants of a system.
    pub fn new(system: &'p System) -> Self {
        let (layout, plan) = (&system.network.layout, plan(system));
        let numbers = PortNumbers::new(system, plan.port_order);
        let mut crossbar: Vec<(usize, u64)> =
            (0..layout.inputs()).map(|input| vcs_of_input(layout, input)).collect();
        numbers.sort_crossbar(&mut crossbar, plan.port_order);
        Self {
            routing: &system.routing,
            layout,
            plan,
            injection_end: InjectionEnd::of(system),
            stride: layout.stride(),
            ports: layout.ports(),
            attempts: Streams::new(system.seed, Purpose::Attempt),
            one_way: system.network.classes.one_way,
            numbers: Arc::new(numbers),
            crossbar: crossbar.into(),
            ages_in_network: matches!(plan.arbiter, FlitArbiter::Age(age) if age.timestamp == Timestamp::Injection),
            priorities: &system.priorities,
            routes: RouteTable::new(system).map(Arc::new),
        }
    }

    /// What arbiters that look at packets compare of one that becomes the present packet of an input VC; nothing if they do not.
    pub fn stamp(&self, packet: &Packet, is_injection: bool) -> u32 {
        match self.plan.arbiter {
            FlitArbiter::RoundRobin(_)
            | FlitArbiter::LeastRecentlyServed(_)
            | FlitArbiter::QueueLength(_)
            | FlitArbiter::FixedPriority(_)
            | FlitArbiter::Random(_) => 0,
            FlitArbiter::Priority(_) => u32::from(u8::MAX - self.priorities[usize::from(packet.job)]),
            FlitArbiter::HopCount(_) => NONE - packet.hops.iter().map(|&hops| u32::from(hops)).sum::<u32>(),
            FlitArbiter::Age(age) => match age.timestamp {
                Timestamp::Generation => packet.generated,
                Timestamp::Injection if is_injection => NONE,
                Timestamp::Injection => packet.injection.granted,
                Timestamp::Arrival => packet.arrived,
            },
        }
    }

    /// The output VCs that a head asks for. To its node a packet that is not answered takes any.
    #[inline]
    pub fn asked(&self, Requests { port, first, last }: Requests) -> AskedVcs {
        let is_any = self.layout.class[port] == TERMINAL && last < self.one_way;
        AskedVcs { port: port as u16, first, last: if is_any { self.one_way - 1 } else { last } }
    }

    /// The output VCs that a head asks for which may have one alone.
    #[inline]
    pub fn asked_at(&self, Request { port, vc }: Request) -> AskedVcs {
        self.asked(Requests { port, first: vc, last: vc })
    }

    /// The numbers of output VCs in the router, the highest first.
    pub fn pairs(&self, AskedVcs { port, first, last }: AskedVcs) -> impl Iterator<Item = Pair> + use<> {
        let base = Pair::at(self.layout.pair_base[usize::from(port)] as usize);
        (first..=last).rev().map(move |vc| base.up(vc.into()))
    }

    /// Whether an output VC leads to a node and is for requests.
    #[inline]
    pub fn is_for_requests(&self, OwnedVc { port, vc, pair: _ }: OwnedVc) -> bool {
        self.layout.class[usize::from(port)] == TERMINAL && vc >= self.one_way
    }

    /// An output VC with its port.
    pub fn owned(&self, pair: Pair) -> OwnedVc {
        let (port, vc) = self.output(pair);
        OwnedVc { pair: pair.index() as u16, port: port as u16, vc: vc as u8 }
    }

    /// The output of the crossbar by which an input VC gets to an output port.
    #[inline]
    pub fn crossbar_output(&self, place: InputPlace, port: usize) -> u16 {
        let outputs = self.plan.crossbar_outputs;
        self.numbers.output_ports[port] * outputs + self.numbers.ports[usize::from(place.port)] % outputs
    }

    /// The id of a slot of a router.
    #[inline]
    pub fn slot_id(&self, router: RegionRouter, slot: Slot) -> SlotId {
        SlotId::at(self.stride * router.index() + slot.index())
    }

    /// The id of a pair of a router.
    #[inline]
    pub fn pair_id(&self, router: RegionRouter, pair: Pair) -> PairId {
        PairId::at(self.stride * router.index() + pair.index())
    }

    /// The router and the slot of an id.
    #[inline]
    pub fn split_slot(&self, id: SlotId) -> (RegionRouter, Slot) {
        (RegionRouter::at(id.index() / self.stride), Slot::at(id.index() % self.stride))
    }

    /// The router and the pair of an id.
    #[inline]
    pub fn split_pair(&self, id: PairId) -> (RegionRouter, Pair) {
        (RegionRouter::at(id.index() / self.stride), Pair::at(id.index() % self.stride))
    }

    /// The slot of an input VC.
    #[inline]
    pub fn slot(&self, port: usize, vc: usize) -> Slot {
        Slot::at(self.layout.slot_base[port] as usize + vc)
    }

    /// The input port of a slot, and its VC there.
    #[inline]
    pub fn input(&self, slot: Slot) -> (usize, usize) {
        let port = self.layout.slot_port[slot.index()] as usize;
        (port, slot.index() - self.layout.slot_base[port] as usize)
    }

    /// The output port of a pair, and its VC there.
    #[inline]
    pub fn output(&self, pair: Pair) -> (usize, usize) {
        let port = self.layout.pair_port[pair.index()] as usize;
        (port, pair.index() - self.layout.pair_base[port] as usize)
    }

    /// The pair of an output port and VC.
    #[inline]
    pub fn pair(&self, request: Request) -> Pair {
        Pair::at(self.layout.pair_base[request.port] as usize + request.vc as usize)
    }

    /// A packet as the head of an input VC of a router, which is numbered as in the network; `answers` says whether there are
    /// requests and replies at all.
    #[inline]
    pub fn head(&self, packet: &Packet, (router, place): (u32, InputPlace), answers: bool) -> Head {
        let head = packet.at_input(router, place.port.into(), place.code, answers);
        // Kind 0 is that of packets which are not answered.
        let ejection_vc = if head.ejection_vc > 0 { self.one_way - 1 + head.ejection_vc } else { 0 };
        Head { ejection_vc, ..head }
    }
}

/// Input VCs and output VCs of a router.
pub fn vcs(layout: &Layout) -> (usize, usize) {
    let inputs = (0..layout.slots()).filter(|&slot| layout.slot_vc(slot).is_some());
    (inputs.count(), (0..layout.pairs()).filter(|&pair| layout.pair_vc(pair).is_some()).count())
}

/// Inputs and outputs of the crossbar of a router.
pub fn crossbar_sides(layout: &Layout, plan: &VirtualChannelPlan) -> (usize, usize) {
    let ports = layout.output_vcs.iter().filter(|&&vcs| vcs > 0).count();
    (layout.inputs(), ports * usize::from(plan.crossbar_outputs))
}

/// The port of an input of the crossbar, and its VCs.
fn vcs_of_input(layout: &Layout, input: usize) -> (usize, u64) {
    let port = layout.input_port[input] as usize;
    let vcs = 0..layout.input_vcs[port] as usize;
    let of_input = |&vc: &usize| layout.slot_input[layout.slot_base[port] as usize + vc] as usize == input;
    (port, vcs.filter(of_input).fold(0, |vcs, vc| vcs | 1 << vc))
}
