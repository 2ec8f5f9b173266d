//! Reaction points: how notifications slow flows down, and how they recover.

use crate::simulator::Reference;
use hopsim_infiniband::congestion::{CongestionControl, Level, Timer};
use hopsim_infiniband::fabric::Fabric;
use hopsim_infiniband::flow::Flow;
use hopsim_infiniband::time::Ticks;
use hopsim_infiniband::workload::Workload;
use hopsim_random::Stream;

/// Service levels of a host.
const SERVICE_LEVELS: usize = 16;

/// The reaction points and timers of all hosts; nothing without congestion control.
#[derive(Default)]
pub struct Reaction {
    points: Vec<Point>,
    /// By flow: its point.
    point_of: Vec<usize>,
    /// By host · 16 + service level: ticks until the next lowering, if the timer runs.
    timers: Vec<Option<Ticks>>,
}

/// What has an index of its own.
struct Point {
    /// The timer that lowers it.
    timer: usize,
    /// CCTI.
    index: u16,
    /// No packet may start before.
    opens: Ticks,
}

impl Point {
    fn new(control: &CongestionControl, timer: usize) -> Self {
        Self { timer, index: control.minimum, opens: 0 }
    }
}

/// The timer of a flow: that of its host and service level.
fn timer_of(flow: &Flow) -> usize {
    flow.source as usize * SERVICE_LEVELS + usize::from(flow.service_level)
}

impl Reaction {
    /// Every index at its minimum. `draws` of the hosts have been used for the flows.
    pub fn new(fabric: &Fabric, flows: &[Flow], draws: &mut [Stream]) -> Self {
        let Some(control) = &fabric.congestion else { return Self::default() };
        let count = fabric.hosts as usize * SERVICE_LEVELS;
        let points = match control.level {
            Level::QueuePair => Vec::new(),
            Level::ServiceLevel => (0..count).map(|timer| Point::new(control, timer)).collect(),
        };
        let timers = match control.timer {
            Timer::Free => draws.iter_mut().flat_map(|stream| first_lowerings(control, stream)).collect(),
            Timer::OnDemand => vec![None; count],
        };
        let mut reaction = Self { points, point_of: Vec::new(), timers };
        for flow in flows {
            reaction.add(fabric, flow);
        }
        reaction
    }

    /// One more flow, behind all others.
    pub fn add(&mut self, fabric: &Fabric, flow: &Flow) {
        let Some(control) = &fabric.congestion else { return };
        match control.level {
            Level::QueuePair => {
                self.point_of.push(self.points.len());
                self.points.push(Point::new(control, timer_of(flow)));
            }
            Level::ServiceLevel => self.point_of.push(timer_of(flow)),
        }
    }

    /// The index of a flow.
    pub fn index(&self, flow: usize) -> u16 {
        self.point_of.get(flow).map_or(0, |&point| self.points[point].index)
    }

    /// From when on a flow may send.
    pub fn opens(&self, flow: usize) -> Ticks {
        self.point_of.get(flow).map_or(0, |&point| self.points[point].opens)
    }
}

/// The first lowering of each service level of a host with timers that always run.
fn first_lowerings(control: &CongestionControl, stream: &mut Stream) -> Vec<Option<Ticks>> {
    let draw = |_| 1 + (stream.unit() * control.period as f64) as Ticks;
    let times: Vec<Ticks> = (0..SERVICE_LEVELS).map(draw).collect();
    times.into_iter().map(|time| (control.period > 0).then_some(time)).collect()
}

impl<W: Workload> Reference<W> {
    /// Before everything else in a tick: timers that run out lower the indices of their service level.
    pub fn lower_indices(&mut self) {
        let Some(control) = &self.fabric.congestion else { return };
        for (number, timer) in self.reaction.timers.iter_mut().enumerate() {
            let Some(left) = timer else { continue };
            if *left > 0 {
                *left -= 1;
                continue;
            }
            for point in self.reaction.points.iter_mut().filter(|point| point.timer == number) {
                if point.index > control.minimum {
                    point.index -= 1;
                }
            }
            *left = control.period - 1;
        }
    }

    /// A notification for a flow is at its source.
    pub fn react(&mut self, flow: usize) {
        let Some(control) = &self.fabric.congestion else { return };
        let timer = timer_of(&self.flows[flow]);
        let mut neighbours = self.reaction.points.iter().filter(|point| point.timer == timer);
        let at_rest = neighbours.all(|point| point.index == control.minimum);
        if at_rest && control.timer == Timer::OnDemand && control.period > 0 {
            self.reaction.timers[timer] = Some(control.period - 1);
        }
        let point = &mut self.reaction.points[self.reaction.point_of[flow]];
        point.index = (point.index + u16::from(control.increase)).min(control.limit);
    }

    /// A flow starts a packet that takes so long on the link: its reaction point lets nothing more pass for a while.
    pub fn throttle(&mut self, flow: usize, on_link: Ticks) {
        let Some(control) = &self.fabric.congestion else { return };
        let point = &mut self.reaction.points[self.reaction.point_of[flow]];
        let entry = control.table[usize::from(point.index)];
        let delay = (on_link * Ticks::from(entry.multiplier)) / (1 << entry.shift);
        point.opens = self.now + on_link + delay;
    }
}
