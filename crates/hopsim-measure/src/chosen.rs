//! Which packets are recorded one by one: `measure.packets`.

use crate::table_kind::ColumnText;
use hopsim_cycles::kernel::packet::PacketKey;
use hopsim_experiment::config::measure::PacketsConfig;
use hopsim_experiment::plan::Plan;
use std::ops::Range;

/// Columns that say which packet a row is of, where the packets of a document's choice have rows.
pub const PACKET: [ColumnText; 3] = [
    ("source", "", "Node that generated the packet."),
    (
        "serial",
        "",
        "Number of the packet among all that its source generated, from 0; dropped packets and replies count.",
    ),
    ("destination", "", "Node that it is for."),
];

/// Which packets are recorded. It follows from what is known of a packet when it is generated, so all of its rows are there or none.
#[derive(Clone, Debug)]
pub struct Chosen {
    every: u32,
    source: Option<u32>,
    destination: Option<u32>,
    generated: Range<u32>,
}

impl Chosen {
    /// The packets that the plan asks for.
    pub fn new(plan: &Plan) -> Self {
        let config = plan.experiment.measure.packets.clone().unwrap_or_default();
        let PacketsConfig { every, source, destination, from, to } = config;
        Self { every, source, destination, generated: from..to.unwrap_or(u32::MAX) }
    }

    /// Whether a packet is one of them.
    pub fn has(&self, packet: &PacketKey) -> bool {
        let is = |wanted: Option<u32>, node: u32| wanted.is_none_or(|wanted| wanted == node);
        packet.serial.is_multiple_of(self.every)
            && is(self.source, packet.source)
            && is(self.destination, packet.destination)
            && self.generated.contains(&packet.generated)
    }
}
