//! What a head sees of its router when it asks for an output VC: the engine's [`View`].

use crate::kernel::ids::{Pair, RegionRouter, Slot};
use crate::kernel::packet::{Packet, head_stream};
use crate::node::Run;
use crate::router::virtual_channel::region::VirtualChannel;
use crate::router::virtual_channel::routers::FlitInputVc;
use hopsim_random::{Stream, Streams};
use hopsim_routing::view::{Draws, View};
use hopsim_routing::{Head, Request};

/// The state of one router as the head of a slot sees it.
pub struct VirtualChannelView<'a, 'p, M: Run> {
    /// The region.
    pub region: &'a VirtualChannel<'p, M>,
    /// The router.
    pub number: RegionRouter,
    /// Slot of the head.
    pub slot: Slot,
}

impl<M: Run> VirtualChannelView<'_, '_, M> {
    fn input(&self) -> &FlitInputVc {
        &self.region.routers.inputs[self.region.shared.slot_id(self.number, self.slot)]
    }

    fn packet(&self) -> &Packet {
        self.region.kernel.packets.get(self.input().packet)
    }

    /// Flits that there must be room for behind an output VC that the head is granted.
    fn needed(&self, pair: Pair) -> u32 {
        let (port, vc) = self.region.shared.output(pair);
        let link = &self.region.routers.port(self.number, port).link;
        link.needed_for(vc as u8, self.packet().length.into())
    }

    /// Whether the head could be granted an output VC now.
    pub fn is_available(&self, pair: Pair) -> bool {
        let output = &self.region.routers.outputs[self.region.shared.pair_id(self.number, pair)];
        let port = self.region.routers.port(self.number, self.region.shared.output(pair).0);
        (M::PLAIN || port.in_order) && output.owner.is_none() && output.credits >= self.needed(pair)
    }
}

impl<M: Run> View for VirtualChannelView<'_, '_, M> {
    fn open(&self, request: Request) -> bool {
        self.is_available(self.region.shared.pair(request))
    }

    // Behind an output VC that another packet owns there is no room for this one.
    fn credits(&self, request: Request) -> u32 {
        let pair = self.region.shared.pair(request);
        let output = &self.region.routers.outputs[self.region.shared.pair_id(self.number, pair)];
        if output.owner.is_some() { 0 } else { output.credits }
    }

    fn occupancy(&self, request: Request) -> u32 {
        self.region.occupancy(self.number, request)
    }

    fn minimal_occupancy(&self, _: Request) -> u32 {
        unreachable!("such routers keep no sensors")
    }

    fn capacity(&self, class: u8) -> u32 {
        self.region.buffer(class)
    }

    fn contention(&self, _: usize) -> u32 {
        unreachable!("such routers keep no sensors")
    }

    fn filtered_contention(&self, _: usize) -> f64 {
        unreachable!("such routers keep no sensors")
    }

    fn combined_contention(&self, _: u32) -> u32 {
        unreachable!("such routers keep no sensors")
    }

    fn saturated(&self, _: Option<u32>, _: Request) -> bool {
        unreachable!("such routers keep no sensors")
    }

    fn outstanding(&self, router: u32, port: usize) -> u32 {
        self.region.outstanding.as_ref().map_or(0, |all| all.behind(router, port))
    }

    fn length(&self) -> u32 {
        self.packet().length.into()
    }

    fn head(&self) -> Head {
        let router = self.region.kernel.span.router(self.number);
        self.region.shared.head(self.packet(), (router, self.input().place), M::FULL)
    }
}

/// The random numbers of one decision: functions of seed, packet, router and attempt.
pub struct FlitAttempt {
    seed: u64,
    source: u32,
    serial: u32,
    router: u32,
    step: u64,
    attempts: Streams,
    stream: Option<Stream>,
}

impl FlitAttempt {
    /// The numbers of a packet that decides in a router in the present step.
    pub fn new<M: Run>(region: &VirtualChannel<'_, M>, number: RegionRouter, packet: u32) -> Self {
        let packet = region.kernel.packets.get(packet);
        Self {
            seed: region.kernel.constants.seed,
            source: packet.source,
            serial: packet.serial,
            router: region.kernel.span.router(number),
            step: region.step,
            attempts: region.shared.attempts,
            stream: None,
        }
    }
}

impl Draws for FlitAttempt {
    fn head(&self) -> Stream {
        head_stream(self.seed, (self.source, self.serial), self.router)
    }

    fn attempt(&mut self) -> &mut Stream {
        let source = self.attempts.stream(u64::from(self.source));
        self.stream.get_or_insert_with(|| source.at(u64::from(self.serial)).at(self.step))
    }
}
