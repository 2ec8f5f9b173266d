//! Routes that follow from the destination alone, looked up in place of being computed for every packet in every router.

use crate::kernel::packet::Packet;
use crate::router::inputs::input_code;
use crate::router::virtual_channel::places::AskedVcs;
use crate::system::System;
use hopsim_random::Stream;
use hopsim_routing::{Head, RouteState};

/// Routers of a network that has such a table, at most: a table of four bytes for each two of them stays near the processor.
const MOST_ROUTERS: u32 = 512;

/// The output VCs that heads ask for, by router and destination router.
pub struct RouteTable {
    asked: Vec<AskedVcs>,
    /// Routers with nodes, which are the first ones.
    destinations: u32,
    /// Ejection VCs of a port for packets that are not answered.
    one_way: u8,
}

impl RouteTable {
    /// The table of a system, if its routes follow from the destination alone and it is not too large.
    pub fn new(system: &System) -> Option<Self> {
        let (routers, destinations) = (system.network.routers, system.topology.routers_with_nodes());
        if routers > MOST_ROUTERS
            || !system.routing.follows_destination()
            || system.network.classes.request_reply()
        {
            return None;
        }
        let code = input_code(system, 0);
        let asked = |router: u32, destination: u32| {
            let mut state = RouteState::NEW;
            let head = Head {
                router,
                input: 0,
                code,
                source: router,
                destination,
                terminal: 0,
                ejection_vc: 0,
                reply: false,
            };
            let draw = || -> Stream { unreachable!("such routes are not drawn") };
            let requests = system.routing.settle_all(&head, &mut state, draw);
            requests.map(|requests| AskedVcs {
                port: requests.port as u16,
                first: requests.first,
                last: requests.last,
            })
        };
        let ways = (0..routers).flat_map(|router| (0..destinations).map(move |to| (router, to)));
        let asked: Option<Vec<AskedVcs>> = ways.map(|(router, to)| asked(router, to)).collect();
        Some(Self { asked: asked?, destinations, one_way: system.network.classes.one_way })
    }

    /// The output VCs that a packet asks for as the head of an input VC of a router.
    #[inline]
    pub fn asked(&self, router: u32, packet: &Packet) -> AskedVcs {
        if router == packet.destination_router {
            return AskedVcs { port: packet.ejection.terminal.into(), first: 0, last: self.one_way - 1 };
        }
        self.asked[(router * self.destinations + packet.destination_router) as usize]
    }
}
