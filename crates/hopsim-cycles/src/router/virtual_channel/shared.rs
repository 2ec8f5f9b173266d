//! What never changes in a run and all routers read.

use crate::kernel::ids::{Id as _, Pair, PairId, RegionRouter, Slot, SlotId};
use crate::kernel::packet::{InjectionEnd, Packet};
use crate::router::inputs::input_code;
use crate::system::{RouterPlan, System, VirtualChannelPlan};
use hopsim_network::network::Layout;
use hopsim_random::{Purpose, Streams};
use hopsim_routing::{Head, Request, Routing};
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
    /// The codes of input VCs for the routing, by slot.
    pub codes: Arc<[u8]>,
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
        let layout = &system.network.layout;
        Self {
            routing: &system.routing,
            layout,
            plan: plan(system),
            injection_end: InjectionEnd::of(system),
            stride: layout.stride(),
            ports: layout.ports(),
            attempts: Streams::new(system.seed, Purpose::Attempt),
            codes: (0..layout.slots()).map(|slot| input_code(system, slot)).collect(),
        }
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
    pub fn head(&self, packet: &Packet, (router, slot): (u32, Slot), answers: bool) -> Head {
        let port = self.layout.slot_port[slot.index()] as usize;
        packet.at_input(router, port, self.codes[slot.index()], answers)
    }
}
