//! The life of packets, hop by hop: what tests compare.

use hopsim_cycles::kernel::packet::{Packet, PacketKey};
use hopsim_cycles::kernel::regions::Span;
use hopsim_cycles::observer::{Grant, Observer};
use hopsim_network::topology::Topology;
use std::collections::HashMap;

/// The whole life of one packet. Cycles are those of the simulation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PacketTrace {
    /// Source node.
    pub source: u32,
    /// Number of the packet among all that its source generated (dropped ones included), from 0.
    pub serial: u32,
    /// Destination node.
    pub destination: u32,
    /// Cycle of generation.
    pub generated: u32,
    /// Routers passed, source router first.
    pub hops: Vec<Hop>,
    /// Cycle in which the head left for the destination node; `None` if it had not by the end.
    pub delivered: Option<u32>,
}

/// One router passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hop {
    /// The router.
    pub router: u32,
    /// Output port taken.
    pub port: u16,
    /// Output VC taken.
    pub vc: u8,
    /// Cycle in which the head arrived in the input buffer.
    pub arrived: u32,
    /// Cycle of the crossbar grant.
    pub granted: u32,
    /// Cycle in which the head leaves the router.
    pub departed: u32,
    /// Whether the packet has left its minimal path by now, with this hop or before.
    pub misrouted: bool,
}

/// Collects the trace of every packet that was granted at least one output.
#[derive(Debug, Default)]
pub struct Tracer {
    nodes_per_router: u32,
    packets: HashMap<PacketKey, PacketTrace>,
    delivered: u64,
}

impl Observer for Tracer {
    /// Nodes of a router.
    type Wishes = u32;
    type Places = ();

    fn begin(&nodes_per_router: &u32) -> Self {
        Self { nodes_per_router, ..Self::default() }
    }

    fn places(_: &u32, _: &Span) {}

    fn hears_grants(&self, (): &()) -> bool {
        true
    }

    fn granted(&mut self, (): &mut (), packet: &Packet, grant: &Grant) {
        let hop = Hop {
            router: grant.router,
            port: grant.port as u16,
            vc: grant.vc,
            arrived: packet.arrived,
            granted: grant.now,
            departed: grant.departure,
            misrouted: packet.route.misrouted(),
        };
        self.entry(packet.key(self.nodes_per_router)).hops.push(hop);
    }

    fn delivered(&mut self, (): &mut (), packet: &Packet, at: u32, _: &Topology) {
        self.entry(packet.key(self.nodes_per_router)).delivered = Some(at);
        self.delivered += 1;
    }
}

impl Tracer {
    fn entry(&mut self, key: PacketKey) -> &mut PacketTrace {
        self.packets.entry(key).or_insert_with(|| PacketTrace {
            source: key.source,
            serial: key.serial,
            destination: key.destination,
            generated: key.generated,
            hops: Vec::new(),
            delivered: None,
        })
    }

    /// The tracer with what another one has seen of the same run.
    #[must_use]
    pub fn joined(mut self, other: Self) -> Self {
        self.delivered += other.delivered;
        #[expect(clippy::iter_over_hash_type, reason = "packets do not touch each other")]
        for (key, packet) in other.packets {
            let entry = self.entry(key);
            entry.hops.extend(packet.hops);
            entry.hops.sort_unstable_by_key(|hop| hop.granted);
            entry.delivered = entry.delivered.or(packet.delivered);
        }
        self
    }

    /// Packets delivered.
    pub fn delivered(&self) -> u64 {
        self.delivered
    }

    /// The traces by source and serial number.
    pub fn into_traces(self) -> Vec<PacketTrace> {
        let mut traces: Vec<PacketTrace> = self.packets.into_values().collect();
        traces.sort_unstable_by_key(|t| (t.source, t.serial));
        traces
    }
}
