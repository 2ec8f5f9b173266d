//! What links carry, and for how long they are idle for want of credits.

use hopsim_experiment::config::measure::RecordStream;
use hopsim_experiment::plan::FabricPlan;
use hopsim_experiment::plan::fabric::used::{Place, used};
use hopsim_infiniband::fabric::Port;
use hopsim_infiniband::observer::Sent;
use hopsim_infiniband::time::Ticks;

/// The use of a link in a VL.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Use {
    /// Bytes of the packets whose heads went onto the link.
    pub bytes: u64,
    /// Time in which the link carried packets.
    pub busy: Ticks,
    /// Time in which the link was stalled for credits.
    pub stalled: Ticks,
    /// Pauses that began.
    pub pauses: u64,
    /// Time in which the link was paused.
    pub paused: Ticks,
}

/// A link and VL while it is used.
#[derive(Clone, Debug)]
struct UsedLink {
    place: Place,
    /// Use in the window, all of the present packet included.
    total: Use,
    /// Use in the interval that is open, all of the present packet included.
    open: Use,
    /// When the last packet is over.
    busy_until: Ticks,
    /// Since when the link has been stalled, if it is.
    stalled_since: Option<Ticks>,
    /// Since when the link has been paused, if it is.
    paused_since: Option<Ticks>,
}

/// The links of a run.
#[derive(Debug)]
pub struct Links {
    /// Beginning of the window.
    warmup: Ticks,
    ports: Vec<Port>,
    lanes: usize,
    /// Links and VLs that flows use, ascending.
    used: Vec<UsedLink>,
    /// Place of each link and VL in `used`, by port · VLs + VL.
    numbers: Vec<Option<u32>>,
    /// Use by interval and link; empty if nobody asks.
    pub rows: Vec<Use>,
    has_rows: bool,
}

impl Links {
    /// Links without use yet, if somebody asks.
    pub fn new(plan: &FabricPlan) -> Option<Self> {
        let wants = |stream| plan.experiment.measure.streams.contains(&stream);
        if !wants(RecordStream::Links) && !wants(RecordStream::LinkSeries) {
            return None;
        }
        let lanes = usize::from(plan.fabric.lanes.count);
        let mut numbers = vec![None; plan.fabric.ports.len() * lanes];
        let new = |place| UsedLink {
            place,
            total: Use::default(),
            open: Use::default(),
            busy_until: 0,
            stalled_since: None,
            paused_since: None,
        };
        let used: Vec<UsedLink> = used(plan).into_iter().map(new).collect();
        for (number, UsedLink { place: Place { port, lane }, .. }) in (0..).zip(&used) {
            numbers[*port as usize * lanes + usize::from(*lane)] = Some(number);
        }
        let ports = plan.fabric.ports.clone();
        Some(Self {
            warmup: plan.span.warmup,
            ports,
            lanes,
            used,
            numbers,
            rows: Vec::new(),
            has_rows: wants(RecordStream::LinkSeries),
        })
    }

    fn find(&mut self, Place { port, lane }: Place) -> Option<&mut UsedLink> {
        let number = self.numbers[port as usize * self.lanes + usize::from(lane)]?;
        Some(&mut self.used[number as usize])
    }

    /// A packet goes onto a link.
    #[cold]
    pub fn carries(&mut self, at: Ticks, packet: Sent, place: Place) {
        let time = u64::from(packet.bytes) * self.ports[place.port as usize].byte;
        let warmup = self.warmup;
        let Some(link) = self.find(place) else { return };
        link.open.bytes += u64::from(packet.bytes);
        link.open.busy += time;
        link.busy_until = at + time;
        if at >= warmup {
            link.total.bytes += u64::from(packet.bytes);
        }
        link.total.busy += in_window(warmup, at, at + time);
    }

    /// A port begins to be stalled, or ceases to be.
    pub fn stalls(&mut self, at: Ticks, place: Place, is_stalled: bool) {
        let warmup = self.warmup;
        if let Some(link) = self.find(place) {
            link.settle(at, warmup);
            link.stalled_since = is_stalled.then_some(at);
        }
    }

    /// A link begins to be paused in a VL, or ceases to be.
    pub fn pauses(&mut self, at: Ticks, place: Place, is_paused: bool) {
        let warmup = self.warmup;
        if let Some(link) = self.find(place) {
            link.settle(at, warmup);
            link.paused_since = is_paused.then_some(at);
            link.open.pauses += u64::from(is_paused);
            link.total.pauses += u64::from(is_paused && at >= warmup);
        }
    }

    /// The open interval ends.
    pub fn close(&mut self, at: Ticks) {
        for link in &mut self.used {
            link.settle(at, self.warmup);
            let rest = link.busy_until.saturating_sub(at);
            let mut row = std::mem::replace(&mut link.open, Use { busy: rest, ..Use::default() });
            row.busy -= rest;
            if self.has_rows {
                self.rows.push(row);
            }
        }
    }

    /// The run ends.
    pub fn end(&mut self, at: Ticks) {
        for link in &mut self.used {
            link.settle(at, self.warmup);
            link.total.busy -= in_window(self.warmup, at, link.busy_until);
        }
    }

    /// Links and VLs, ascending, with their use in the window.
    pub fn all(&self) -> impl Iterator<Item = (Place, Use)> {
        self.used.iter().map(|link| (link.place, link.total))
    }
}

impl UsedLink {
    /// Adds the time that the link has been stalled and paused so far.
    fn settle(&mut self, at: Ticks, warmup: Ticks) {
        if let Some(since) = &mut self.stalled_since {
            self.open.stalled += at - *since;
            self.total.stalled += in_window(warmup, *since, at);
            *since = at;
        }
        if let Some(since) = &mut self.paused_since {
            self.open.paused += at - *since;
            self.total.paused += in_window(warmup, *since, at);
            *since = at;
        }
    }
}

/// How much of a time is behind the beginning of the window.
pub(super) fn in_window(warmup: Ticks, from: Ticks, to: Ticks) -> Ticks {
    to.saturating_sub(from.max(warmup))
}
