//! The life of packets, hop by hop: what tests compare.

#[cfg(feature = "trace")]
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

/// Who watches packets inside the engine: without the feature `trace` nobody, which costs nothing.
#[cfg(not(feature = "trace"))]
#[derive(Debug, Default)]
pub struct Observer;

#[cfg(not(feature = "trace"))]
#[expect(clippy::unused_self, reason = "nobody watches")]
impl Observer {
    #[inline]
    pub(crate) fn granted(&mut self, _: PacketKey, _: Hop) {}

    #[inline]
    pub(crate) fn delivered(&mut self, _: PacketKey, _: u32) {}
}

/// Who watches packets inside the engine: a tracer, if it is asked to.
#[cfg(feature = "trace")]
#[derive(Debug, Default)]
pub struct Observer {
    tracer: Option<Tracer>,
}

#[cfg(feature = "trace")]
impl Observer {
    /// A packet was granted an output.
    #[inline]
    pub(crate) fn granted(&mut self, packet: PacketKey, hop: Hop) {
        if let Some(tracer) = &mut self.tracer {
            tracer.entry(packet).hops.push(hop);
        }
    }

    /// A packet leaves for its destination node at cycle `at` (which may lie a little ahead).
    #[inline]
    pub(crate) fn delivered(&mut self, packet: PacketKey, at: u32) {
        if let Some(tracer) = &mut self.tracer {
            tracer.entry(packet).delivered = Some(at);
            tracer.delivered += 1;
        }
    }

    /// Watches from now on.
    pub(crate) fn watch(&mut self) -> &mut Tracer {
        self.tracer.get_or_insert_default()
    }
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

/// Collects the trace of every packet that was granted at least one output.
#[cfg(feature = "trace")]
#[derive(Debug, Default)]
pub(crate) struct Tracer {
    packets: HashMap<PacketKey, PacketTrace>,
    delivered: u64,
}

#[cfg(feature = "trace")]
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
