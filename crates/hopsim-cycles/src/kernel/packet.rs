//! Packets: a small record while they wait at their node, a full one once they are at the head of an
//! injection VC or inside the network.

use crate::choices::InjectionLatency;
use crate::kernel::pool::Linked;
use crate::system::System;
use hopsim_network::by_class::ByClass;
use hopsim_network::network::{NONE, PortClassCode, TERMINAL};
use hopsim_random::{Purpose, Stream};
use hopsim_routing::{Head, RouteState};
use serde::{Deserialize, Serialize};

/// A packet that waits in the source queue or in an injection buffer.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Waiting {
    /// Link of the queue that the packet is in; no state, as queues are saved in their order.
    #[serde(skip)]
    pub next: u32,
    /// Destination node.
    pub destination: u32,
    /// Length \[phits\].
    pub length: u32,
    /// Cycle of generation.
    pub generated: u32,
    /// Number of the packet among those of its source.
    pub serial: u32,
    /// Cycle in which the head of the packet arrives in the injection buffer.
    pub arrived: u32,
    /// Cycle of generation of the request that the packet answers; `NONE`: the packet is no reply.
    pub requested: u32,
}

/// How a packet was injected.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Injection {
    /// Cycle of the grant at the source router.
    pub granted: u32,
    /// Time from generation to end of injection (see `InjectionLatency`) \[cycles\].
    pub wait: u32,
}

/// Where a packet leaves the network, at its destination router.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Exit {
    /// Terminal port.
    pub terminal: u8,
    /// Output VC.
    pub vc: u8,
}

/// A packet in the network: one cache line.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[repr(align(64))]
pub struct Packet {
    /// Link of the queue that the packet is in; no state, as queues are saved in their order.
    #[serde(skip)]
    pub next: u32,
    /// Cycle in which the head of the packet arrived, or will arrive, in the present buffer.
    pub arrived: u32,
    /// Destination router.
    pub destination_router: u32,
    /// Source node.
    pub source: u32,
    /// Cycle of generation.
    pub generated: u32,
    /// Number of the packet among those of its source.
    pub serial: u32,
    /// Cycle of generation of the request that the packet answers; `NONE`: the packet is no reply.
    pub requested: u32,
    /// What the routing of the packet remembers.
    pub route: RouteState,
    /// Length \[phits\].
    pub length: u16,
    /// Cycles that the packet occupies a crossbar once it has arrived.
    pub crossing: u16,
    /// How the packet was injected.
    pub injection: Injection,
    /// Waiting in queues by link class \[cycles\].
    pub queue_wait: ByClass<u32>,
    /// Links passed by class.
    pub hops: ByClass<u16>,
    /// The job of the packet.
    pub job: u8,
    /// Where the packet leaves the network.
    pub ejection: Exit,
    /// Classes of the links that the packet took with nonminimal hops, a bit each.
    pub nonminimal: u8,
}

const _: () = assert!(size_of::<Packet>() == 64, "a packet fills its cache line, and no second one");

/// Where injection latency ends, see [`InjectionLatency`].
#[derive(Clone, Copy)]
pub enum InjectionEnd {
    /// At the grant in the source router.
    Grant,
    /// At the departure from it.
    Departure,
    /// When the packet leaves its source queue, for a wire of this latency \[cycles\].
    Admission(u32),
}

impl InjectionEnd {
    /// The rule of a system.
    pub fn of(system: &System) -> Self {
        match system.nic.injection_latency {
            InjectionLatency::Grant => Self::Grant,
            InjectionLatency::Departure => Self::Departure,
            InjectionLatency::Admission => Self::Admission(system.network.classes.terminal.latency),
        }
    }
}

impl Waiting {
    /// The packet as it leaves a node, of a job, for the router, to leave the network by an ejection VC.
    #[expect(clippy::inline_always, reason = "per packet; measured")]
    #[inline(always)]
    pub fn enter(&self, system: &System, per_router: u32, (source, job): (u32, u8), vc: u8) -> Packet {
        let destination_router = self.destination / per_router;
        Packet {
            next: NONE,
            arrived: self.arrived,
            destination_router,
            source,
            generated: self.generated,
            serial: self.serial,
            requested: self.requested,
            route: RouteState::NEW,
            length: self.length as u16,
            crossing: system.router.crossing(self.length) as u16,
            injection: Injection::default(),
            queue_wait: ByClass::default(),
            hops: ByClass::default(),
            job,
            ejection: Exit { terminal: (self.destination - destination_router * per_router) as u8, vc },
            nonminimal: 0,
        }
    }
}

impl Packet {
    /// The packet leaves its router by a port of class `to`, and remembers `after` from now on.
    #[inline]
    pub fn decide(&mut self, after: RouteState, to: PortClassCode) {
        self.nonminimal |= class_bit(after.misroutes(self.route), to);
        self.route = after;
    }

    /// Books where the packet waited in a router that it entered by a port of class `from` and leaves by a port of class `to`,
    /// granted at `now`, departing at `departure`.
    #[inline]
    pub fn book_wait(&mut self, until: InjectionEnd, (from, to): (u8, u8), (now, departure): (u32, u32)) {
        if from != TERMINAL {
            self.queue_wait[from as usize - 1] += departure - self.arrived;
            return;
        }
        self.injection.granted = now;
        // Whatever the mechanism, a packet that is misrouted from its source router on leaves that by a nonminimal hop.
        self.nonminimal |= class_bit(self.route.misrouted(), to);
        let end = match until {
            InjectionEnd::Admission(wire) => self.arrived - wire,
            InjectionEnd::Grant if to != TERMINAL => now,
            InjectionEnd::Grant | InjectionEnd::Departure => departure,
        };
        self.injection.wait = end - self.generated;
        // What a packet that takes no link waits for after its injection counts with the first class of links.
        self.queue_wait[usize::from(to.max(TERMINAL + 1)) - 1] += departure - end;
    }

    /// The packet as the head of an input VC of a port of `router`, which has this code for the routing; `answers` says whether there
    /// are requests and replies at all.
    #[expect(clippy::inline_always, reason = "per packet-hop; measured")]
    #[inline(always)]
    pub fn at_input(&self, router: u32, port: usize, code: u8, answers: bool) -> Head {
        Head {
            router,
            input: port as u16,
            code,
            source: self.source,
            destination: self.destination_router,
            terminal: u16::from(self.ejection.terminal),
            ejection_vc: if answers { self.ejection.vc } else { 0 },
            reply: answers && self.is_reply(),
        }
    }

    /// Destination node, where routers have `nodes_per_router` nodes.
    pub fn destination(&self, nodes_per_router: u32) -> u32 {
        self.destination_router * nodes_per_router + u32::from(self.ejection.terminal)
    }

    /// The packet as its source, where routers have `nodes_per_router` nodes, sends it again.
    pub fn again(&self, nodes_per_router: u32) -> Waiting {
        Waiting {
            next: NONE,
            destination: self.destination(nodes_per_router),
            length: self.length.into(),
            generated: self.generated,
            serial: self.serial,
            arrived: 0,
            requested: self.requested,
        }
    }

    /// Whether the packet answers a request.
    pub fn is_reply(&self) -> bool {
        self.requested != NONE
    }

    /// Whether the destination of the packet will answer it.
    pub fn is_request(&self) -> bool {
        self.ejection.vc > 0
    }

    /// What identifies the packet to observers, where routers have `nodes_per_router` nodes.
    pub fn key(&self, nodes_per_router: u32) -> PacketKey {
        PacketKey {
            source: self.source,
            serial: self.serial,
            destination: self.destination(nodes_per_router),
            generated: self.generated,
        }
    }
}

/// The bit of the class of a hop by a port of class `to` if the hop is nonminimal; no bit at a node.
#[inline]
fn class_bit(nonminimal: bool, to: PortClassCode) -> u8 {
    u8::from(nonminimal) << to >> 1
}

/// What identifies a packet, with what is known at generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PacketKey {
    /// Source node.
    pub source: u32,
    /// Number of the packet among those of its source.
    pub serial: u32,
    /// Destination node.
    pub destination: u32,
    /// Cycle of generation.
    pub generated: u32,
}

/// The stream of the choices that a packet, number `serial` of `source`, makes once in a router.
// Out of line, so that heads that draw nothing do not pay for preparing it.
#[inline(never)]
pub fn head_stream(seed: u64, (source, serial): (u32, u32), router: u32) -> Stream {
    Stream::new(seed, Purpose::Routing, u64::from(source)).at(u64::from(serial)).at(u64::from(router))
}

/// What of a packet decides about its injection.
#[derive(Clone, Copy, Debug)]
pub struct Candidate {
    /// Destination node.
    pub destination: u32,
    /// Length \[phits\].
    pub length: u32,
    /// Whether the packet is a reply.
    pub reply: bool,
}

impl Waiting {
    /// What of the packet decides about its injection.
    #[inline]
    pub fn candidate(&self) -> Candidate {
        Candidate { destination: self.destination, length: self.length, reply: self.requested != NONE }
    }
}

/// Implements [`Linked`] for records whose link is their field `next`.
macro_rules! linked {
    ($($record:ident)*) => {$(
        impl Linked for $record {
            #[inline]
            fn next(&self) -> u32 {
                self.next
            }
            #[inline]
            fn set_next(&mut self, next: u32) {
                self.next = next;
            }
        }
    )*};
}

linked! { Waiting Packet }
