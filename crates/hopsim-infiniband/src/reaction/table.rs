//! The congestion control table: an index that rises with every notification and that a timer lowers says how long to wait.
//!
//! Source: `InfiniBand` Architecture Specification 1.2.1, annex A10.

use super::{Needs, ReactionPoints, SERVICE_LEVELS};
use crate::time::{NEVER, Ticks};
use hopsim_network::error::ConfigError;
use hopsim_random::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What it needs to hear of.
pub const NEEDS: Needs = Needs::Marks;

/// Entries of the tables that have a name.
const ENTRIES: u64 = 128;

/// When the timer runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Timer {
    /// Always: in every host from a random time on.
    Free,
    /// From a notification that finds every index of the service level at its minimum, until all indices are there again.
    OnDemand,
}

/// The congestion control table: a name, or a list of entries [shift, multiplier].
///
/// With entry i a packet that takes time t on the link is followed by a delay of t · multiplier / 2^shift. Entry 0 is no delay, and none
/// is shorter than the one before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "Table")]
pub enum Cct {
    /// A table that has a name.
    Named(TableName),
    /// The entries [shift, multiplier] of a table, shift 0 … 3 and multiplier 0 … 16383.
    Listed(Vec<[u16; 2]>),
}

/// A congestion control table of 128 entries, of which each says how long to wait behind a packet, in times of that packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TableName {
    /// ⌊8 · 180⁴ / (180 − i)⁴ − 8⌋ / 8: up to 132 times, for 2 to 64 senders to one receiver and some more. The rate falls with the
    /// fourth power of 1 − i / 180, by 2.6 % from one entry to the next where it is half that of the link, and by 6.5 % at a 64th:
    /// an entry is less where notifications of each of a few senders are frequent, and more where they are rare.
    Quartic,
    /// ⌊7 i² / (106² · 0.218)⌋ / 8: up to 5.75 times, for about five senders to one receiver.
    Simula,
    /// ⌊7 i² / (95² · 0.218)⌋: up to 57 times.
    Mellanox,
    /// ⌊0.4 i⌋ / 8: up to 6.25 times.
    Linear,
    /// ⌊8 (1.02^i − 1)⌋ / 8: up to 11.25 times.
    Exponential,
}

/// What the document says of the table, in keys beside `reaction`.
#[derive(Clone, Copy, Debug)]
pub struct Config<'d> {
    /// When the timer runs.
    pub timer: Timer,
    /// What a notification adds to the index.
    pub ccti_increase: u8,
    /// Greatest index.
    pub ccti_limit: u16,
    /// Least index.
    pub ccti_min: u16,
    /// The entries.
    pub cct: &'d Cct,
}

impl Config<'_> {
    /// The table, with the period of its timer.
    pub fn build(&self, [period]: [Ticks; 1]) -> Result<Table, ConfigError> {
        let entries = self.cct.entries()?;
        let last = entries.len() - 1;
        if usize::from(self.ccti_limit) > last {
            let reason = format!("the table cct has {} entries", entries.len());
            let refused = ConfigError::new("ccti_limit", reason).value(self.ccti_limit);
            return Err(refused.valid(format!("0 … {last}")));
        }
        if self.ccti_min > self.ccti_limit {
            let refused = ConfigError::new("ccti_min", "is above ccti_limit").value(self.ccti_min);
            return Err(refused.valid(format!("0 … {}", self.ccti_limit)));
        }
        Ok(Table {
            timer: self.timer,
            period,
            increase: self.ccti_increase,
            limit: self.ccti_limit,
            minimum: self.ccti_min,
            entries,
        })
    }
}

impl Cct {
    fn entries(&self) -> Result<Vec<Delay>, ConfigError> {
        match self {
            Self::Named(name) => Ok(named(*name)),
            Self::Listed(entries) => listed(entries),
        }
    }
}

fn named(name: TableName) -> Vec<Delay> {
    let entry = |shift, multiplier: u64| Delay { shift, multiplier: multiplier as u16 };
    let quadratic = |i: u64, root: u64| 7 * i * i * 1000 / (root * root * 218);
    match name {
        TableName::Quartic => {
            let power = |i: u64| i * i * i * i;
            (0..ENTRIES).map(|i| entry(3, 8 * power(180) / power(180 - i) - 8)).collect()
        }
        TableName::Simula => (0..ENTRIES).map(|i| entry(3, quadratic(i, 106))).collect(),
        TableName::Mellanox => (0..ENTRIES).map(|i| entry(0, quadratic(i, 95))).collect(),
        TableName::Linear => (0..ENTRIES).map(|i| entry(3, 2 * i / 5)).collect(),
        TableName::Exponential => {
            let powers = std::iter::successors(Some(1.0), |power| Some(power * 1.02));
            powers.take(ENTRIES as usize).map(|power: f64| entry(3, (8.0 * (power - 1.0)) as u64)).collect()
        }
    }
}

fn listed(entries: &[[u16; 2]]) -> Result<Vec<Delay>, ConfigError> {
    let valid = "entries [shift 0 … 3, multiplier 0 … 16383], the first without delay, none with less than the one before";
    let refused = |index: usize, reason: &str| {
        let entry = entries[index];
        Err(ConfigError::new(format!("cct.{index}"), reason).value(format!("{entry:?}")).valid(valid))
    };
    if entries.is_empty() {
        return Err(ConfigError::new("cct", "the table is empty").value("[]").valid(valid));
    }
    if entries.len() > 1 << 16 {
        return Err(ConfigError::new("cct", "the table is too long").valid("at most 65536 entries"));
    }
    // Eighths of the time of a packet.
    let delay = |[shift, multiplier]: [u16; 2]| u32::from(multiplier) << (3 - shift);
    for (index, &[shift, multiplier]) in entries.iter().enumerate() {
        if shift > 3 || multiplier > 16_383 {
            return refused(index, "is out of range");
        }
        if index == 0 && multiplier != 0 {
            return refused(index, "a flow that nobody complains of is not delayed");
        }
        if index > 0 && delay(entries[index]) < delay(entries[index - 1]) {
            return refused(index, "has less delay than the entry before: the table is not monotone");
        }
    }
    Ok(entries.iter().map(|&[shift, multiplier]| Delay { shift: shift as u8, multiplier }).collect())
}

/// An entry of the congestion control table: by what the time of a packet is multiplied, over 2^shift.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Delay {
    /// The exponent of the divisor 2^shift \[0 … 3\].
    pub shift: u8,
    /// The factor of the time of a packet \[0 … 16383\].
    pub multiplier: u16,
}

impl Delay {
    /// The injection rate delay of a packet that takes so long on the link.
    #[inline]
    pub fn of(self, packet: Ticks) -> Ticks {
        (packet * u64::from(self.multiplier)) >> self.shift
    }
}

/// The congestion control table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// When the timer runs.
    pub timer: Timer,
    /// Period of the timer \[ticks\]; 0: indices never fall.
    pub period: Ticks,
    /// What a notification adds to the index.
    pub increase: u8,
    /// Greatest index.
    pub limit: u16,
    /// Least index.
    pub minimum: u16,
    /// The entries of the table: entry 0 is no delay.
    pub entries: Vec<Delay>,
}

/// A reaction point.
#[derive(Clone, Copy, Debug)]
struct Point {
    index: u16,
    /// The number of the clock that lowers the index.
    clock: u32,
    /// Lowerings of the clock that the point has followed.
    followed: u64,
    /// How long the index is at the limit, up to the end of its last time there.
    limited: Ticks,
    /// When the last time of the index at the limit ends.
    limited_until: Ticks,
}

/// The timer of a host and service level.
#[derive(Clone, Copy, Debug)]
struct Clock {
    /// When the clock lowers indices first.
    first: Ticks,
    /// The highest index that a point of the clock may have, at a count of lowerings: while it is above the minimum the clock
    /// runs.
    highest: (u16, u64),
}

/// All reaction points.
#[derive(Clone, Debug)]
pub(crate) struct Points<'f> {
    rules: &'f Table,
    all: Vec<Point>,
    /// The clocks, by host · 16 + service level.
    clocks: Vec<Clock>,
}

impl<'f> Points<'f> {
    /// No reaction points; with free timers every host draws the first lowerings of its service levels.
    pub fn new(rules: &'f Table, streams: &mut [Stream]) -> Self {
        let first = |stream: &mut Stream| match rules.timer {
            Timer::Free => 1 + (stream.unit() * rules.period as f64) as Ticks,
            Timer::OnDemand => 0,
        };
        let mut clocks = Vec::new();
        for stream in streams {
            let clock = |_| Clock { first: first(stream), highest: (rules.minimum, 0) };
            clocks.extend((0..SERVICE_LEVELS).map(clock));
        }
        Self { rules, all: Vec::new(), clocks }
    }
}

impl ReactionPoints for Points<'_> {
    fn add(&mut self, place: u32, _: Ticks) {
        self.all.push(Point {
            index: self.rules.minimum,
            clock: place,
            followed: 0,
            limited: 0,
            limited_until: 0,
        });
    }

    fn index(&self, point: usize, now: Ticks) -> u16 {
        let point = self.all[point];
        let count = self.clocks[point.clock as usize].count(self.rules, now);
        lowered(self.rules, point.index, count.saturating_sub(point.followed))
    }

    #[inline]
    fn gap(&mut self, point: usize, now: Ticks, (_, time): (u64, Ticks)) -> Ticks {
        let index = self.index(point, now);
        time + self.rules.entries[usize::from(index)].of(time)
    }

    fn notify(&mut self, point: usize, now: Ticks) {
        let rules = self.rules;
        let number = self.all[point].clock;
        let mut index = self.index(point, now);
        let clock = &mut self.clocks[number as usize];
        let mut count = clock.count(rules, now);
        let highest = lowered(rules, clock.highest.0, count.saturating_sub(clock.highest.1));
        if rules.timer == Timer::OnDemand && highest <= rules.minimum {
            clock.first = now + rules.period;
            count = 0;
            let of_clock = self.all.iter_mut().filter(|point| point.clock == number);
            of_clock.for_each(|point| (point.index, point.followed) = (rules.minimum, 0));
        }
        index = index.saturating_add(rules.increase.into()).min(rules.limit);
        clock.highest = (highest.max(index), count);
        let falls = clock.falls(rules, count);
        let point = &mut self.all[point];
        (point.index, point.followed) = (index, count);
        if index == rules.limit && index > rules.minimum {
            point.limited += falls - now.max(point.limited_until);
            point.limited_until = falls;
        }
    }

    fn limited(&self, point: usize, now: Ticks) -> Ticks {
        let Point { limited, limited_until, .. } = self.all[point];
        limited - limited_until.saturating_sub(now)
    }
}

impl Clock {
    /// The number of lowerings by the clock so far.
    #[inline]
    fn count(&self, rules: &Table, now: Ticks) -> u64 {
        if now < self.first || rules.period == 0 { 0 } else { (now - self.first) / rules.period + 1 }
    }

    /// When the lowering comes that follows `count` others.
    #[inline]
    fn falls(&self, rules: &Table, count: u64) -> Ticks {
        if rules.period == 0 { NEVER } else { self.first + count * rules.period }
    }
}

/// An index after so many lowerings.
#[inline]
fn lowered(rules: &Table, index: u16, times: u64) -> u16 {
    let least = index.min(rules.minimum);
    u64::from(index).saturating_sub(times).max(least.into()) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A table whose index rises by 3 with a notification, and falls by 1 in 10 ticks while a timer on demand runs.
    fn on_demand() -> Table {
        let entries = vec![Delay::default(); 21];
        Table { timer: Timer::OnDemand, period: 10, increase: 3, limit: 20, minimum: 0, entries }
    }

    /// Two points of one host and service level.
    fn two(rules: &Table) -> Points<'_> {
        let mut points = Points::new(rules, &mut [Stream::new(1, hopsim_random::Purpose::Phase, 0)]);
        points.add(0, 1);
        points.add(0, 1);
        points
    }

    #[test]
    fn a_timer_on_demand_runs_while_any_index_is_above_its_minimum() {
        let rules = on_demand();
        let mut points = two(&rules);
        (0..3).for_each(|_| points.notify(0, 0));
        points.notify(1, 0);
        // Four lowerings at 10, 20, 30, 40: the second point has been at its minimum for a while, the first one is at 9 - 4.
        assert_eq!([points.index(0, 45), points.index(1, 45)], [5, 0]);
        points.notify(1, 45);
        assert_eq!([points.index(0, 45), points.index(1, 45)], [5, 3]);
        // The timer was not started anew: its next lowering is that of 50.
        assert_eq!([points.index(0, 50), points.index(1, 50)], [4, 2]);
    }

    #[test]
    fn a_timer_that_is_started_anew_leaves_the_other_points_at_their_minimum() {
        let rules = on_demand();
        let mut points = two(&rules);
        points.notify(0, 0);
        assert_eq!([points.index(0, 100), points.index(1, 100)], [0, 0]);
        points.notify(1, 103);
        for (now, second) in [(103, 3), (112, 3), (113, 2), (133, 0)] {
            assert_eq!([points.index(0, now), points.index(1, now)], [0, second], "{now}");
        }
    }

    #[test]
    fn the_tables_with_a_name_have_the_delays_that_their_sources_state() {
        // In eighths of the time of a packet.
        let delay = |name, entry: usize| {
            let Delay { shift, multiplier } = named(name)[entry];
            u32::from(multiplier) << (3 - shift)
        };
        let simula = [18, 32, 64, 87, 106, 127].map(|entry| delay(TableName::Simula, entry));
        assert_eq!(simula, [0, 2, 11, 21, 32, 46]);
        assert_eq!([95, 127].map(|entry| delay(TableName::Mellanox, entry)), [32 * 8, 57 * 8]);
        assert_eq!([TableName::Linear, TableName::Exponential].map(|name| delay(name, 127)), [50, 90]);
        let quartic = [1, 2, 3, 29, 56, 90, 117, 127].map(|entry| delay(TableName::Quartic, entry));
        // With the packet itself from 29 on 2, 4.375, 16, 66.625 and 133 times its time.
        assert_eq!(quartic, [0, 0, 0, 8, 27, 120, 525, 1056]);
        for name in [
            TableName::Quartic,
            TableName::Simula,
            TableName::Mellanox,
            TableName::Linear,
            TableName::Exponential,
        ] {
            let entries: Vec<[u16; 2]> =
                named(name).iter().map(|delay| [u16::from(delay.shift), delay.multiplier]).collect();
            assert_eq!(listed(&entries).unwrap(), named(name));
        }
    }
}
