//! The stages of every flit in every router: the record stream `flit_hops`.

use crate::chosen::Chosen;
use crate::table_kind::{CYCLES, ColumnText};
use crate::{Column, Table};
use hopsim_cycles::kernel::ids::{Id as _, SlotId};
use hopsim_cycles::kernel::packet::PacketKey;
use hopsim_cycles::observer::{FlitEvent, FlitGrant};
use hopsim_experiment::config::measure::RecordStream;
use hopsim_experiment::plan::Plan;
use std::collections::VecDeque;

/// Columns of the table behind those that say [which packet](crate::chosen::PACKET) it is.
pub const FLIT_HOPS: [ColumnText; 13] = [
    ("generated", CYCLES, "Cycle in which it was generated, warm-up included."),
    ("flit", "", "Number of the flit in its packet, from 0, the head."),
    ("hop", "", "Number of the router among those that the packet passes, from 0, the router of its source."),
    ("router", "", "Router that the flit passes."),
    ("input_port", "", "Port by which it enters the router."),
    ("input_vc", "", "Virtual channel of that port in whose buffer it waits, from 0."),
    ("port", "", "Output port by which it leaves."),
    ("vc", "", "Virtual channel that its packet owns there, from 0."),
    ("arrived", CYCLES, "Cycle in which it arrived in the input buffer."),
    (
        "routed",
        CYCLES,
        "Last cycle of the route computation (RC), which begins when the packet is the first of its input VC; with lookahead routing the cycle in which the packet is that. Empty but for heads.",
    ),
    (
        "vc_allocated",
        CYCLES,
        "Last cycle of the VC allocation (VA) in which its packet was granted the output VC. Empty but for heads.",
    ),
    ("granted", CYCLES, "Cycle in which it is granted the switch (SA), and leaves the input buffer."),
    (
        "departed",
        CYCLES,
        "Cycle in which it leaves the router by the link, after switch traversal (ST) and output queue.",
    ),
];

/// A router that a flit has passed.
#[derive(Clone, Copy, Debug)]
struct FlitRow {
    packet: PacketKey,
    flit: u16,
    /// Links that the packet has passed before.
    hop: u16,
    /// The input VC, among those of the region, and once all regions are there of the network.
    slot: u32,
    /// The output VC, among those of the region, and once all regions are there of the network.
    pair: u32,
    arrived: u32,
    /// The ends of the stages of heads only.
    stages: Option<HeadStages>,
    granted: u32,
    departed: u32,
}

/// When the stages of a head ended that its packet passes once.
#[derive(Clone, Copy, Debug, Default)]
struct HeadStages {
    routed: u32,
    vc_allocated: u32,
}

/// What is known of the flits of an input VC.
#[derive(Clone, Debug, Default)]
struct InputVcFlits {
    /// When the flits arrived that have not left.
    arrivals: VecDeque<u32>,
    /// The stages of the present head.
    stages: HeadStages,
    /// The packet whose head has crossed last, and the links that it had passed, if its flits are recorded.
    packet: Option<(PacketKey, u16)>,
    /// The number of the next flit to cross.
    next: u16,
}

/// The routers that flits have passed, in no order.
#[derive(Clone, Debug)]
pub struct FlitHops {
    chosen: Chosen,
    nodes_per_router: u32,
    inputs: Vec<InputVcFlits>,
    rows: Vec<FlitRow>,
}

impl FlitHops {
    /// An empty table of the packets that the plan asks for, of so many routers, if it asks for any.
    pub fn wanted(plan: &Plan, routers: usize) -> Option<Self> {
        let wanted = plan.experiment.measure.streams.contains(&RecordStream::FlitHops);
        wanted.then(|| Self {
            chosen: Chosen::new(plan),
            nodes_per_router: plan.system.topology.nodes_per_router(),
            inputs: vec![InputVcFlits::default(); routers * plan.system.network.layout.stride()],
            rows: Vec::new(),
        })
    }

    /// How many.
    pub fn count(&self) -> usize {
        self.rows.len()
    }

    /// Something has happened to the flits of an input VC.
    pub fn hear(&mut self, slot: SlotId, event: &FlitEvent<'_>) {
        let input = &mut self.inputs[slot.index()];
        match *event {
            FlitEvent::Arrives(now) => input.arrivals.push_back(now),
            FlitEvent::IsRouted(at) => input.stages.routed = at,
            FlitEvent::OwnsVc(at) => input.stages.vc_allocated = at,
            FlitEvent::Crosses(grant) => self.cross(slot, grant),
        }
    }

    /// The next flit of an input VC is granted the switch.
    fn cross(&mut self, slot: SlotId, &FlitGrant { head, pair, now, departure }: &FlitGrant<'_>) {
        let input = &mut self.inputs[slot.index()];
        if let Some(packet) = head {
            let key = packet.key(self.nodes_per_router);
            input.packet = self.chosen.has(&key).then(|| (key, packet.hops.iter().sum()));
            input.next = 0;
        }
        let Some(arrived) = input.arrivals.pop_front() else {
            unreachable!("no flit crosses that has not come")
        };
        let (flit, stages) = (input.next, head.map(|_| input.stages));
        input.next += 1;
        let Some((packet, hop)) = input.packet else { return };
        self.rows.push(FlitRow {
            packet,
            flit,
            hop,
            slot: slot.index() as u32,
            pair: pair.index() as u32,
            arrived,
            stages,
            granted: now,
            departed: departure,
        });
    }

    /// Appends the rows of the routers behind these.
    pub fn append(&mut self, other: &Self) {
        let places = self.inputs.len() as u32;
        let moved = |row: &FlitRow| FlitRow { slot: row.slot + places, pair: row.pair + places, ..*row };
        self.rows.extend(other.rows.iter().map(moved));
        self.inputs.extend_from_slice(&other.inputs);
    }

    /// The rows as a table: packet by packet in the order in which the packets were generated, router by router, flit by flit.
    pub fn table(&self, plan: &Plan) -> Table {
        let mut rows: Vec<&FlitRow> = self.rows.iter().collect();
        rows.sort_unstable_by_key(|row| {
            (row.packet.generated, row.packet.source, row.packet.serial, row.hop, row.flit)
        });
        let layout = &plan.system.network.layout;
        let stride = layout.stride();
        let output = |row: &FlitRow| layout.pair_vc(row.pair as usize % stride).unwrap_or_default();
        let input = |row: &FlitRow| layout.slot_vc(row.slot as usize % stride).unwrap_or_default();
        let column =
            |value: &dyn Fn(&FlitRow) -> u32| Column::U32(rows.iter().map(|row| value(row)).collect());
        let of_heads = |value: &dyn Fn(HeadStages) -> u32| {
            let value = |row: &&FlitRow| row.stages.map_or(f64::NAN, |stages| f64::from(value(stages)));
            Column::F64(rows.iter().map(value).collect())
        };
        vec![
            ("source".into(), column(&|row| row.packet.source)),
            ("serial".into(), column(&|row| row.packet.serial)),
            ("destination".into(), column(&|row| row.packet.destination)),
            ("generated".into(), column(&|row| row.packet.generated)),
            ("flit".into(), column(&|row| row.flit.into())),
            ("hop".into(), column(&|row| row.hop.into())),
            ("router".into(), column(&|row| row.pair / stride as u32)),
            ("input_port".into(), column(&|row| input(row).0 as u32)),
            ("input_vc".into(), column(&|row| input(row).1.into())),
            ("port".into(), column(&|row| output(row).0 as u32)),
            ("vc".into(), column(&|row| output(row).1.into())),
            ("arrived".into(), column(&|row| row.arrived)),
            ("routed".into(), of_heads(&|stages| stages.routed)),
            ("vc_allocated".into(), of_heads(&|stages| stages.vc_allocated)),
            ("granted".into(), column(&|row| row.granted)),
            ("departed".into(), column(&|row| row.departed)),
        ]
    }
}
