//! Congestion control at the hosts: reaction points, whose rate falls with every notification and recovers with time.

use crate::congestion::{CongestionControl, Level, Notification};
use crate::fabric::NONE;
use crate::reaction::{Echo, Flight, SERVICE_LEVELS, Scheme};
use crate::time::Ticks;
use hopsim_random::Stream;

/// All reaction points.
#[derive(Clone, Debug, Default)]
pub struct Reactions<'f> {
    /// What the points do; nothing without congestion control.
    scheme: Option<Scheme<'f>>,
    /// When each point may send again.
    ready: Vec<Ticks>,
    /// Bytes that are not acknowledged, by point, if packets wait for acknowledgements.
    under_way: Option<Vec<u64>>,
    /// The reaction point of all flows of a host and service level, by host · 16 + service level, if they have one together.
    shared: Option<Vec<u32>>,
}

impl<'f> Reactions<'f> {
    /// No reaction points; `streams` are the random streams of the hosts.
    pub fn new(control: Option<&'f CongestionControl>, streams: &mut [Stream]) -> Self {
        let Some(control) = control else { return Self::default() };
        let count = streams.len() * SERVICE_LEVELS as usize;
        let is_acknowledged = matches!(control.notification, Notification::Acknowledgements { .. });
        let has_windows = is_acknowledged && control.reaction.needs().has_windows();
        Self {
            scheme: Some(Scheme::new(&control.reaction, streams)),
            ready: Vec::new(),
            under_way: has_windows.then(Vec::new),
            shared: (control.level == Level::ServiceLevel).then(|| vec![NONE; count]),
        }
    }

    /// The reaction point of a new flow, which may be one that other flows have. The longest packet takes so long on the link of the host.
    pub fn add(&mut self, host: u32, service_level: u8, longest: Ticks) -> u32 {
        let Some(scheme) = &mut self.scheme else { return 0 };
        let (place, new) = (host * SERVICE_LEVELS + u32::from(service_level), self.ready.len() as u32);
        if let Some(shared) = &mut self.shared {
            let point = &mut shared[place as usize];
            if *point != NONE {
                return *point;
            }
            *point = new;
        }
        scheme.add(place, longest);
        self.ready.push(0);
        if let Some(under_way) = &mut self.under_way {
            under_way.push(0);
        }
        new
    }

    /// When a point may send again.
    #[inline]
    pub fn ready(&self, point: u32) -> Ticks {
        self.ready.get(point as usize).copied().unwrap_or(0)
    }

    /// Whether packets wait for acknowledgements of those before.
    #[inline]
    pub fn have_windows(&self) -> bool {
        self.under_way.is_some()
    }

    /// Whether a point with a window may send a packet of so many bytes, of `mtu` at most.
    pub fn has_room(&self, point: u32, bytes: u32, mtu: u32) -> bool {
        let under_way = self.under_way.as_ref().map_or(0, |all| all[point as usize]);
        let flight = Flight { under_way, bytes, mtu };
        under_way == 0 || self.scheme.as_ref().is_none_or(|scheme| scheme.has_room(point as usize, flight))
    }

    /// The congestion control table index of a point.
    pub fn index(&self, point: u32, now: Ticks) -> u16 {
        self.scheme.as_ref().map_or(0, |scheme| scheme.index(point as usize, now))
    }

    /// For how many ticks before `now` the congestion control table index of a point was at its limit.
    pub fn limited(&self, point: u32, now: Ticks) -> Ticks {
        self.scheme.as_ref().map_or(0, |scheme| scheme.limited(point as usize, now))
    }

    /// A point has begun to send a packet that has so many bytes and takes so long on the link.
    #[inline]
    pub fn sent(&mut self, point: u32, now: Ticks, length: (u64, Ticks)) {
        let Some(scheme) = &mut self.scheme else { return };
        self.ready[point as usize] = now + scheme.gap(point as usize, now, length);
        if let Some(under_way) = &mut self.under_way {
            under_way[point as usize] += length.0;
        }
    }

    /// A point has been notified.
    pub fn notify(&mut self, point: u32, now: Ticks) {
        if let Some(scheme) = &mut self.scheme {
            scheme.notify(point as usize, now);
        }
    }

    /// Packets of a point have been acknowledged.
    pub fn acknowledged(&mut self, point: u32, now: Ticks, echo: Echo<'_>) {
        if let Some(under_way) = &mut self.under_way {
            under_way[point as usize] -= echo.bytes;
        }
        if let Some(scheme) = &mut self.scheme {
            scheme.acknowledged(point as usize, now, echo);
            if let Some(ready) = scheme.ready(point as usize) {
                self.ready[point as usize] = ready;
            }
        }
    }
}
