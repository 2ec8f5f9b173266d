//! The routers that packets pass, and what they wait for in each: the record stream `packet_hops`.

use super::{Column, Table};
use crate::chosen::Chosen;
use crate::table_kind::{CYCLES, ColumnText};
use hopsim_cycles::kernel::ids::Id as _;
use hopsim_cycles::kernel::packet::Packet;
use hopsim_cycles::kernel::packet::PacketKey;
use hopsim_cycles::observer::Grant;
use hopsim_experiment::plan::Plan;
use hopsim_network::network::{NONE, TERMINAL};
use rustc_hash::FxHashMap;

/// Columns of the table behind those that say [which packet](crate::chosen::PACKET) it is.
pub const PACKET_HOPS: [ColumnText; 21] = [
    ("job", "", "Name of its job."),
    ("length", "phits", "Its length."),
    ("generated", CYCLES, "Cycle in which it was generated, warm-up included."),
    (
        "delivered",
        CYCLES,
        "Cycle in which its tail is at its node: generated plus its packet latency. Empty if it was not granted the way to its node by the end of the run, or if flits move one by one and its tail has not left by then.",
    ),
    ("hop", "", "Number of the router among those that the packet passes, from 0, the router of its source."),
    ("router", "", "Router that it passes."),
    ("input_port", "", "Port by which it enters the router."),
    ("input_vc", "", "Virtual channel of that port in whose buffer it waits, from 0."),
    ("port", "", "Output port that it was granted."),
    ("port_class", "", "Class of the link there: terminal (to a node), local, global or network."),
    ("vc", "", "Virtual channel that it was granted, from 0."),
    ("peer_router", "", "Router at the other end of the link; empty for a node."),
    ("arrived", CYCLES, "Cycle in which its head arrived in the input buffer."),
    ("granted", CYCLES, "Cycle in which it was granted the output."),
    ("departed", CYCLES, "Cycle in which its head leaves the router, after crossbar and output queue."),
    ("queued", CYCLES, "It waited behind other packets of its input VC."),
    (
        "room",
        CYCLES,
        "As a head it waited until the buffer behind the output VC that it was granted in the end had room for good.",
    ),
    ("bubble", CYCLES, "It waited until that had room for the bubble, too."),
    ("output", CYCLES, "It waited until the output was no longer busy with others."),
    (
        "crossbar",
        CYCLES,
        "It waited for the crossbar, for an arbiter or for injection control. The five add up to granted - arrived - pipeline_latency of the router.",
    ),
    ("misrouted", "", "1 if it has left its minimal path with this hop or before, else 0."),
];

/// A router that a packet has passed.
#[derive(Clone, Copy, Debug)]
struct HopRow {
    packet: PacketKey,
    job: u8,
    /// Length \[phits\].
    length: u16,
    /// Links passed before.
    hop: u16,
    /// Whether the packet has left its minimal path by now.
    misrouted: bool,
    /// The input VC, among those of the region, and once all regions are there of the network.
    slot: u32,
    /// The output VC, among those of the region, and once all regions are there of the network.
    pair: u32,
    arrived: u32,
    granted: u32,
    departed: u32,
    /// What the packet waited for, in the order of [`Waited`] \[cycles\].
    waited: [u32; 5],
}

impl HopRow {
    /// The key by which the rows of the table are sorted: a packet that is sent again begins at hop 0 again.
    fn key(&self) -> (u32, u32, u32, u32) {
        (self.packet.generated, self.packet.source, self.packet.serial, self.granted)
    }
}

/// The routers that packets have passed, in no order.
#[derive(Clone, Debug)]
pub struct PacketHops {
    chosen: Chosen,
    nodes_per_router: u32,
    rows: Vec<HopRow>,
    /// Where flits move one by one: the packets that have left for their nodes, and one packet length before their tails did so.
    ends: Vec<(PacketKey, u32)>,
}

impl PacketHops {
    /// An empty table of the packets that the plan asks for.
    pub fn new(plan: &Plan) -> Self {
        Self {
            chosen: Chosen::new(plan),
            nodes_per_router: plan.system.topology.nodes_per_router(),
            rows: Vec::new(),
            ends: Vec::new(),
        }
    }

    /// An empty table of the same packets.
    #[must_use]
    pub fn empty(&self) -> Self {
        let (chosen, nodes_per_router) = (self.chosen.clone(), self.nodes_per_router);
        Self { chosen, nodes_per_router, rows: Vec::new(), ends: Vec::new() }
    }

    /// How many.
    pub fn count(&self) -> usize {
        self.rows.len()
    }

    /// A packet was granted an output VC, after it had waited in an input VC, for what the columns of the table say in their order.
    // Out of line, so that runs without the stream do not pay for it.
    #[inline(never)]
    pub fn add(&mut self, packet: &Packet, grant: &Grant, waited: [u32; 5]) {
        let key = packet.key(self.nodes_per_router);
        if !self.chosen.has(&key) {
            return;
        }
        self.rows.push(HopRow {
            packet: key,
            job: packet.job,
            length: packet.length,
            hop: packet.hops.iter().sum(),
            misrouted: packet.route.misrouted(),
            slot: grant.slot.index() as u32,
            pair: grant.pair.index() as u32,
            arrived: packet.arrived,
            granted: grant.now,
            departed: grant.departure,
            waited,
        });
    }

    /// The last flit of a packet leaves for its node, one packet length behind cycle `at`.
    pub fn end(&mut self, packet: &Packet, at: u32) {
        let key = packet.key(self.nodes_per_router);
        if self.chosen.has(&key) {
            self.ends.push((key, at));
        }
    }

    /// Appends the rows of the routers behind these, which have so many `places`.
    pub fn append(&mut self, other: &Self, places: usize) {
        let moved =
            |row: &HopRow| HopRow { slot: row.slot + places as u32, pair: row.pair + places as u32, ..*row };
        self.rows.extend(other.rows.iter().map(moved));
        self.ends.extend(&other.ends);
    }

    /// The rows as a table, packet by packet in the order in which the packets were generated.
    pub fn table(&self, plan: &Plan) -> Table {
        let mut rows: Vec<&HopRow> = self.rows.iter().collect();
        rows.sort_unstable_by_key(|row| row.key());
        let layout = &plan.system.network.layout;
        let stride = layout.stride();
        let output = |row: &HopRow| layout.pair_vc(row.pair as usize % stride).unwrap_or_default();
        let input = |row: &HopRow| layout.slot_vc(row.slot as usize % stride).unwrap_or_default();
        let router = |row: &HopRow| row.pair / stride as u32;
        let peer = |row: &HopRow| {
            plan.system.network.link(router(row), output(row).0).peer.map_or(NONE, |(peer, _)| peer)
        };
        let column =
            |value: &dyn Fn(&HopRow) -> u32| Column::U32(rows.iter().map(|row| value(row)).collect());
        let waited = |cause: usize| column(&|row| row.waited[cause]);
        let mut classes: Vec<String> = vec!["terminal".into()];
        classes.extend(plan.system.topology.link_classes().iter().map(|&name| name.to_owned()));
        let class = rows.iter().map(|row| layout.class[output(row).0]).collect();
        let jobs = plan.system.jobs.iter().map(|job| job.name().to_owned()).collect();
        let job = rows.iter().map(|row| row.job).collect();
        vec![
            ("source".into(), column(&|row| row.packet.source)),
            ("serial".into(), column(&|row| row.packet.serial)),
            ("destination".into(), column(&|row| row.packet.destination)),
            ("job".into(), Column::Named { names: jobs, rows: job }),
            ("length".into(), column(&|row| row.length.into())),
            ("generated".into(), column(&|row| row.packet.generated)),
            ("delivered".into(), Column::F64(self.delivered(&rows, plan))),
            ("hop".into(), column(&|row| row.hop.into())),
            ("router".into(), column(&router)),
            ("input_port".into(), column(&|row| input(row).0 as u32)),
            ("input_vc".into(), column(&|row| input(row).1.into())),
            ("port".into(), column(&|row| output(row).0 as u32)),
            ("port_class".into(), Column::Named { names: classes, rows: class }),
            ("vc".into(), column(&|row| output(row).1.into())),
            ("peer_router".into(), column(&peer)),
            ("arrived".into(), column(&|row| row.arrived)),
            ("granted".into(), column(&|row| row.granted)),
            ("departed".into(), column(&|row| row.departed)),
            ("queued".into(), waited(0)),
            ("room".into(), waited(1)),
            ("bubble".into(), waited(2)),
            ("output".into(), waited(3)),
            ("crossbar".into(), waited(4)),
            ("misrouted".into(), column(&|row| row.misrouted.into())),
        ]
    }

    /// When the tail of the packet of each row is at its node; NaN if it has not set out for it. The rows of a packet are together.
    fn delivered(&self, rows: &[&HopRow], plan: &Plan) -> Vec<f64> {
        let (layout, late) = (&plan.system.network.layout, plan.ejection_delay());
        let by_flit = plan.system.router.cioq().is_none();
        let ends: FxHashMap<PacketKey, u32> = self.ends.iter().copied().collect();
        // A packet that moves as a whole is followed by its tail one length later.
        let head = |row: &HopRow| {
            let (port, _) = layout.pair_vc(row.pair as usize % layout.stride())?;
            (layout.class[port] == TERMINAL).then_some(row.departed)
        };
        let mut cycles = vec![f64::NAN; rows.len()];
        for (place, row) in rows.iter().enumerate().rev() {
            let left = if by_flit { ends.get(&row.packet).copied() } else { head(row) };
            if let Some(left) = left {
                cycles[place] = f64::from(left) + f64::from(row.length) + f64::from(late);
            } else if rows.get(place + 1).is_some_and(|next| next.packet == row.packet) {
                cycles[place] = cycles[place + 1];
            }
        }
        cycles
    }
}
