//! Congestion control at the hosts: reaction points, whose rate falls with every notification and recovers with time.

use crate::congestion::{CongestionControl, Level};
use crate::fabric::NONE;
use crate::reaction::{SERVICE_LEVELS, Scheme};
use crate::time::Ticks;
use hopsim_random::Stream;

/// All reaction points.
#[derive(Clone, Debug, Default)]
pub struct Reactions<'f> {
    /// What the points do; nothing without congestion control.
    scheme: Option<Scheme<'f>>,
    /// When each point may send again.
    ready: Vec<Ticks>,
    /// The reaction point of all flows of a host and service level, by host · 16 + service level, if they have one together.
    shared: Option<Vec<u32>>,
}

impl<'f> Reactions<'f> {
    /// No reaction points; `streams` are the random streams of the hosts.
    pub fn new(control: Option<&'f CongestionControl>, streams: &mut [Stream]) -> Self {
        let Some(control) = control else { return Self::default() };
        let count = streams.len() * SERVICE_LEVELS as usize;
        Self {
            scheme: Some(Scheme::new(&control.reaction, streams)),
            ready: Vec::new(),
            shared: (control.level == Level::ServiceLevel).then(|| vec![NONE; count]),
        }
    }

    /// The reaction point of a new flow, which may be one that other flows have.
    pub fn add(&mut self, host: u32, service_level: u8) -> u32 {
        let Some(scheme) = &mut self.scheme else { return 0 };
        let (place, new) = (host * SERVICE_LEVELS + u32::from(service_level), self.ready.len() as u32);
        if let Some(shared) = &mut self.shared {
            let point = &mut shared[place as usize];
            if *point != NONE {
                return *point;
            }
            *point = new;
        }
        scheme.add(place);
        self.ready.push(0);
        new
    }

    /// When a point may send again.
    #[inline]
    pub fn ready(&self, point: u32) -> Ticks {
        self.ready.get(point as usize).copied().unwrap_or(0)
    }

    /// The congestion control table index of a point.
    pub fn index(&self, point: u32, now: Ticks) -> u16 {
        self.scheme.as_ref().map_or(0, |scheme| scheme.index(point as usize, now))
    }

    /// For how many ticks before `now` the congestion control table index of a point was at its limit.
    pub fn limited(&self, point: u32, now: Ticks) -> Ticks {
        self.scheme.as_ref().map_or(0, |scheme| scheme.limited(point as usize, now))
    }

    /// A point has begun to send a packet that takes so long on the link.
    #[inline]
    pub fn sent(&mut self, point: u32, now: Ticks, time: Ticks) {
        let Some(scheme) = &self.scheme else { return };
        self.ready[point as usize] = now + scheme.gap(point as usize, now, time);
    }

    /// A point has been notified.
    pub fn notify(&mut self, point: u32, now: Ticks) {
        if let Some(scheme) = &mut self.scheme {
            scheme.notify(point as usize, now);
        }
    }
}
