//! Congestion control at the hosts: reaction points, whose rate falls with every notification and recovers with time.

use crate::congestion::{CongestionControl, Level, Timer};
use crate::fabric::NONE;
use crate::time::Ticks;

/// Service levels of a host.
const SERVICE_LEVELS: u32 = 16;

/// What has a congestion control table index of its own.
#[derive(Clone, Copy, Debug)]
struct Point {
    index: u16,
    /// When it may send again.
    ready: Ticks,
    /// Lowerings of its clock that it has followed.
    followed: u64,
    /// Its clock.
    clock: u32,
}

/// The timer of a host and service level.
#[derive(Clone, Copy, Debug)]
struct Clock {
    /// Its first lowering.
    first: Ticks,
    /// The highest index that a point of it may have, at a count of lowerings: while it is above the minimum the clock runs.
    highest: (u16, u64),
    /// The reaction point of all flows of the service level, if they have one together.
    point: u32,
}

/// All reaction points.
#[derive(Clone, Debug, Default)]
pub struct Reactions<'f> {
    rules: Option<&'f CongestionControl>,
    points: Vec<Point>,
    /// By host · 16 + service level.
    clocks: Vec<Clock>,
}

impl<'f> Reactions<'f> {
    /// None; `firsts` are the first lowerings of the service levels of all hosts.
    pub fn new(rules: Option<&'f CongestionControl>, firsts: impl Iterator<Item = Ticks>) -> Self {
        let Some(control) = rules else { return Self::default() };
        let clock = |first| Clock { first, highest: (control.minimum, 0), point: NONE };
        Self { rules, points: Vec::new(), clocks: firsts.map(clock).collect() }
    }

    /// That of a new flow.
    pub fn add(&mut self, host: u32, service_level: u8) -> u32 {
        let Some(rules) = self.rules else { return 0 };
        let clock = host * SERVICE_LEVELS + u32::from(service_level);
        let shared = &mut self.clocks[clock as usize].point;
        if rules.level == Level::ServiceLevel && *shared != NONE {
            return *shared;
        }
        *shared = self.points.len() as u32;
        self.points.push(Point { index: rules.minimum, ready: 0, followed: 0, clock });
        *shared
    }

    /// When a point may send again.
    #[inline]
    pub fn ready(&self, point: u32) -> Ticks {
        self.points.get(point as usize).map_or(0, |point| point.ready)
    }

    /// The index of a point.
    pub fn index(&self, point: u32, now: Ticks) -> u16 {
        let Some((rules, point)) = self.rules.zip(self.points.get(point as usize)) else { return 0 };
        let count = self.clocks[point.clock as usize].count(rules, now);
        lowered(rules, point.index, count.saturating_sub(point.followed))
    }

    /// A point has begun to send a packet that takes so long on the link.
    #[inline]
    pub fn sent(&mut self, point: u32, now: Ticks, time: Ticks) {
        let Some(rules) = self.rules else { return };
        let index = self.index(point, now);
        self.points[point as usize].ready = now + time + rules.table[usize::from(index)].of(time);
    }

    /// A point has been notified.
    pub fn notify(&mut self, point: u32, now: Ticks) {
        let Some(rules) = self.rules else { return };
        let number = self.points[point as usize].clock;
        let mut index = self.index(point, now);
        let clock = &mut self.clocks[number as usize];
        let mut count = clock.count(rules, now);
        let highest = lowered(rules, clock.highest.0, count.saturating_sub(clock.highest.1));
        if rules.timer == Timer::OnDemand && highest <= rules.minimum {
            clock.first = now + rules.period;
            count = 0;
            let of_clock = self.points.iter_mut().filter(|point| point.clock == number);
            of_clock.for_each(|point| (point.index, point.followed) = (rules.minimum, 0));
        }
        index = index.saturating_add(rules.increase.into()).min(rules.limit);
        clock.highest = (highest.max(index), count);
        let point = &mut self.points[point as usize];
        (point.index, point.followed) = (index, count);
    }
}

impl Clock {
    /// Lowerings so far.
    #[inline]
    fn count(&self, rules: &CongestionControl, now: Ticks) -> u64 {
        if now < self.first || rules.period == 0 { 0 } else { (now - self.first) / rules.period + 1 }
    }
}

/// An index after so many lowerings.
#[inline]
fn lowered(rules: &CongestionControl, index: u16, times: u64) -> u16 {
    let least = index.min(rules.minimum);
    u64::from(index).saturating_sub(times).max(least.into()) as u16
}
