//! Reaction points: how notifications slow flows down, and how they recover.

mod aimd;
mod dcqcn;
mod hpcc;
mod nscc;
mod swift;
mod table;
mod timely;

use crate::simulator::{About, Reference};
use hopsim_infiniband::congestion::{CongestionControl, Level, Notification};
use hopsim_infiniband::fabric::Fabric;
use hopsim_infiniband::flow::Flow;
use hopsim_infiniband::reaction::Reaction;
use hopsim_infiniband::time::Ticks;
use hopsim_infiniband::workload::Workload;
use hopsim_random::Stream;
pub use hpcc::Reading;

/// Service levels of a host.
const SERVICE_LEVELS: usize = 16;

/// The reaction points and timers of all hosts; nothing without congestion control.
#[derive(Default)]
pub struct Reactions {
    points: Vec<Point>,
    /// The reaction point of each flow.
    point_of: Vec<usize>,
    /// Ticks until the next lowering of indices, by host · 16 + service level, if the timer runs.
    timers: Vec<Option<Ticks>>,
}

/// A reaction point: what is notified and waits.
struct Point {
    /// The host · 16 + service level of the point.
    place: usize,
    /// The CCTI of the point; 0 without a table.
    index: u16,
    /// The rate of the point: that of the link if it has none of its own.
    rate: aimd::Rate,
    /// What DCQCN knows at the point.
    dcqcn: dcqcn::Sending,
    /// What TIMELY knows at the point.
    timely: timely::Pace,
    /// What Swift knows at the point.
    swift: swift::Window,
    /// What NSCC knows at the point.
    nscc: nscc::SignalledSending,
    /// What HPCC knows at the point.
    hpcc: hpcc::Inflight,
    /// Bytes that have been sent and not been acknowledged.
    under_way: u64,
    /// When the last packet started, and what it takes on the link.
    last: Option<(Ticks, Ticks)>,
    /// The time before which no packet may start.
    opens: Ticks,
    /// Ticks at the end of which the index was at its limit.
    limited: Ticks,
}

impl Point {
    fn new(control: &CongestionControl, place: usize) -> Self {
        let index = if let Reaction::Table(rules) = &control.reaction { rules.minimum } else { 0 };
        Self {
            place,
            index,
            rate: aimd::Rate::default(),
            dcqcn: dcqcn::Sending::default(),
            timely: timely::Pace::default(),
            swift: swift::Window::new(&control.reaction),
            nscc: nscc::SignalledSending::new(&control.reaction),
            hpcc: hpcc::Inflight::default(),
            under_way: 0,
            last: None,
            opens: 0,
            limited: 0,
        }
    }
}

/// The host and service level of a flow.
fn place_of(flow: &Flow) -> usize {
    flow.source as usize * SERVICE_LEVELS + usize::from(flow.service_level)
}

impl Reactions {
    /// All reaction points as they are before any notification. `draws` of the hosts have been used for the flows.
    pub fn new(fabric: &Fabric, flows: &[Flow], draws: &mut [Stream]) -> Self {
        let Some(control) = &fabric.congestion else { return Self::default() };
        let count = fabric.hosts as usize * SERVICE_LEVELS;
        let points = match control.level {
            Level::QueuePair => Vec::new(),
            Level::ServiceLevel => (0..count).map(|place| Point::new(control, place)).collect(),
        };
        let timers = match &control.reaction {
            Reaction::Table(rules) => table::timers(rules, draws),
            _ => Vec::new(),
        };
        let mut reaction = Self { points, point_of: Vec::new(), timers };
        for flow in flows {
            reaction.add(fabric, flow);
        }
        reaction
    }

    /// Adds a flow behind all others.
    pub fn add(&mut self, fabric: &Fabric, flow: &Flow) {
        let Some(control) = &fabric.congestion else { return };
        match control.level {
            Level::QueuePair => {
                self.point_of.push(self.points.len());
                self.points.push(Point::new(control, place_of(flow)));
            }
            Level::ServiceLevel => self.point_of.push(place_of(flow)),
        }
    }

    /// The index of a flow.
    pub fn index(&self, flow: usize) -> u16 {
        self.point_of.get(flow).map_or(0, |&point| self.points[point].index)
    }

    /// For how many ticks the index of a flow has been at its limit.
    pub fn limited(&self, flow: usize) -> Ticks {
        self.point_of.get(flow).map_or(0, |&point| self.points[point].limited)
    }

    /// The time from which on a flow may send.
    pub fn opens(&self, flow: usize) -> Ticks {
        self.point_of.get(flow).map_or(0, |&point| self.points[point].opens)
    }
}

impl<W: Workload> Reference<W> {
    /// Before everything else in a tick: reaction points recover.
    pub fn recover(&mut self) {
        match self.fabric.congestion.as_ref().map(|control| &control.reaction) {
            Some(Reaction::Table(rules)) => table::lower_indices(&mut self.reaction, rules),
            Some(Reaction::Aimd(rules)) => {
                self.reaction.points.iter_mut().for_each(|point| point.rate.rise(rules));
            }
            Some(Reaction::Dcqcn(rules)) => {
                self.reaction.points.iter_mut().for_each(|point| point.dcqcn.tick(rules));
            }
            Some(Reaction::Timely(_) | Reaction::Swift(_) | Reaction::Nscc(_) | Reaction::Hpcc(_)) | None => {
            }
        }
    }

    /// After everything else in a tick: whose index is at its limit.
    pub fn look_for_limits(&mut self) {
        let control = self.fabric.congestion.as_ref();
        if let Some(Reaction::Table(rules)) = control.map(|control| &control.reaction) {
            table::count_limited(&mut self.reaction, rules);
        }
    }

    /// A notification packet or an acknowledgement for a flow is at its source: whether it notifies of marks, and what it is about.
    pub fn react(&mut self, flow: usize, notifies: bool, About { data, bytes }: About) {
        let Some(control) = &self.fabric.congestion else { return };
        let sent = self.packets[data].started;
        let round_trip = self.now - sent;
        let number = self.reaction.point_of[flow];
        let is_acknowledged = matches!(control.notification, Notification::Acknowledgements { .. });
        self.reaction.points[number].under_way -= bytes;
        match &control.reaction {
            Reaction::Timely(_) | Reaction::Swift(_) | Reaction::Nscc(_) | Reaction::Hpcc(_)
                if !is_acknowledged => {}
            Reaction::Timely(rules) => self.reaction.points[number].timely.hear(rules, round_trip),
            Reaction::Swift(rules) => {
                let acknowledged = (bytes, u64::from(self.fabric.mtu));
                self.reaction.points[number].swift.hear(rules, self.now, round_trip, acknowledged);
            }
            Reaction::Nscc(rules) => {
                let acknowledged = (bytes, u64::from(self.fabric.mtu));
                let times = (self.now, round_trip);
                self.reaction.points[number].nscc.hear(rules, times, notifies, acknowledged);
            }
            Reaction::Hpcc(rules) => {
                let with_byte = |reading: Reading| (reading, self.fabric.ports[reading.output].byte);
                let readings = self.noted_in(data).into_iter().map(with_byte).collect();
                let point = &mut self.reaction.points[number];
                point.hpcc.hear(rules, (self.now, sent), readings);
                if let Some((start, on_link)) = point.last {
                    point.opens = start + point.hpcc.gap(on_link);
                }
            }
            _ if !notifies => (),
            Reaction::Table(rules) => table::raise_index(&mut self.reaction, rules, number),
            Reaction::Aimd(rules) => self.reaction.points[number].rate.fall(rules),
            Reaction::Dcqcn(rules) => self.reaction.points[number].dcqcn.cut(rules),
        }
    }

    /// Whether a flow may send so many bytes as far as its window goes, if it has one.
    pub fn fits_window(&self, flow: usize, bytes: u32) -> bool {
        let Some(control) = &self.fabric.congestion else { return true };
        let point = &self.reaction.points[self.reaction.point_of[flow]];
        let window = match control.reaction {
            Reaction::Swift(_) => point.swift.packets,
            Reaction::Nscc(_) => point.nscc.packets,
            Reaction::Hpcc(ref rules) => {
                let byte = self.fabric.ports[self.flows[flow].source as usize].byte;
                return point.under_way == 0 || point.hpcc.has_room(rules, point.under_way, byte);
            }
            _ => return true,
        };
        let window_bytes = (window * u128::from(self.fabric.mtu)) >> 16;
        point.under_way == 0 || u128::from(point.under_way + u64::from(bytes)) <= window_bytes
    }

    /// A flow starts a packet that has so many bytes and takes so long on the link: its reaction point lets nothing more pass for a while.
    pub fn throttle(&mut self, flow: usize, bytes: u32, on_link: Ticks) {
        let Some(control) = &self.fabric.congestion else { return };
        let point = &mut self.reaction.points[self.reaction.point_of[flow]];
        if let Notification::Acknowledgements { .. } = control.notification {
            point.under_way += u64::from(bytes);
        }
        let gap = match &control.reaction {
            Reaction::Table(rules) => table::gap(rules, point.index, on_link),
            Reaction::Aimd(_) => point.rate.gap(on_link),
            Reaction::Dcqcn(rules) => point.dcqcn.send(rules, bytes, on_link),
            Reaction::Timely(_) => point.timely.gap(on_link),
            Reaction::Swift(_) => point.swift.gap(on_link),
            Reaction::Nscc(_) => on_link,
            Reaction::Hpcc(_) => point.hpcc.gap(on_link),
        };
        point.last = Some((self.now, on_link));
        point.opens = self.now + gap;
    }
}
