//! Interval by interval: what flows got, and what waited in the switches.

use hopsim_experiment::config::measure::RecordStream;
use hopsim_experiment::plan::fabric::FabricPlan;
use hopsim_experiment::plan::fabric::used::{Place, used};
use hopsim_infiniband::observer::Sent;
use hopsim_infiniband::time::Ticks;
use std::collections::BTreeMap;

/// What a flow has had in the interval that is open.
#[derive(Clone, Debug, Default)]
pub struct Open {
    /// Bytes delivered.
    pub bytes: u64,
    /// Packets that a switch marked.
    pub marked: u64,
    /// Notifications that have come back to the source of the flow.
    pub notifications: u64,
}

/// A row of a flow.
#[derive(Clone, Debug)]
pub struct FlowRow {
    /// What the flow has had in the interval.
    pub open: Open,
    /// Congestion control table index of the flow at the end of the interval.
    pub ccti: u16,
}

/// What is in the virtual output queues of an output and VL.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Queues {
    /// Bytes in all of the queues.
    pub queued: u64,
    /// Bytes in the largest of the queues.
    pub largest: u64,
    /// Whether the output is congested.
    pub is_congested: bool,
}

/// A row of an output and VL.
#[derive(Clone, Debug)]
pub struct QueueRow {
    /// Bytes granted in the interval.
    pub bytes: u64,
    /// What waits at the end of the interval.
    pub queues: Queues,
}

/// The series of a run.
#[derive(Debug)]
pub struct Series {
    /// What each account has had in the interval that is open.
    pub open: Vec<Open>,
    /// Ends of the intervals.
    pub ends: Vec<Ticks>,
    /// Rows of flows by interval and account; empty if nobody asks.
    pub flows: Vec<FlowRow>,
    wants_flows: bool,
    /// Outputs and VLs that flows use, ascending; empty if nobody asks.
    pub places: Vec<Place>,
    /// Rows of queues by interval and place.
    pub queues: Vec<QueueRow>,
    /// Bytes granted in the interval that is open, by place.
    granted: Vec<u64>,
    /// The place of a port and a VL.
    numbers: BTreeMap<Place, usize>,
}

impl Series {
    /// An empty series.
    pub fn new(plan: &FabricPlan) -> Self {
        let wants = |stream| plan.experiment.measure.streams.contains(&stream);
        let mut places = if wants(RecordStream::QueueSeries) { used(plan) } else { Vec::new() };
        places.retain(|place| !plan.fabric.is_host(place.port));
        Self {
            open: vec![Open::default(); plan.accounts.len()],
            ends: Vec::new(),
            flows: Vec::new(),
            wants_flows: wants(RecordStream::FlowSeries),
            queues: Vec::new(),
            granted: vec![0; places.len()],
            numbers: places.iter().copied().zip(0..).collect(),
            places,
        }
    }

    /// A switch has granted a packet an output.
    pub fn granted(&mut self, packet: Sent, place: Place) {
        if let Some(&number) = self.numbers.get(&place) {
            self.granted[number] += u64::from(packet.bytes);
        }
    }

    /// A packet of an account has been delivered: a data packet, or another one that notifies of marks or does not.
    pub fn delivered(&mut self, packet: Sent, notifies: bool, account: usize) {
        let open = &mut self.open[account];
        if packet.is_notification {
            open.notifications += u64::from(notifies);
        } else {
            open.bytes += u64::from(packet.bytes);
        }
    }

    /// The open interval ends, with these indices of the accounts and these queues by place.
    pub fn close(&mut self, at: Ticks, indices: &[u16], queues: &[Queues]) {
        self.ends.push(at);
        let opened = self.open.iter_mut().map(std::mem::take);
        if self.wants_flows {
            self.flows.extend(opened.zip(indices).map(|(open, &ccti)| FlowRow { open, ccti }));
        }
        let granted = self.granted.iter_mut().map(std::mem::take);
        self.queues.extend(granted.zip(queues).map(|(bytes, &queues)| QueueRow { bytes, queues }));
    }
}
