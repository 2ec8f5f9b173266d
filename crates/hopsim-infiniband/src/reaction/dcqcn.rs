//! A rate that falls by a share that notifications raise and a timer lowers, and rises again by events of a timer and of a counter of
//! bytes (DCQCN).
//!
//! Source: Zhu et al., *Congestion Control for Large-Scale RDMA Deployments*, SIGCOMM 2015, §5.

use super::rates::{LEAST, SHARES, WHOLE, share, time_at};
use super::{Needs, ReactionPoints};
use crate::time::Ticks;
use hopsim_network::error::{ConfigError, within};
use hopsim_random::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// What it needs to hear of.
pub const NEEDS: Needs = Needs::Marks;

/// Numbers of events of a timer or counter up to the last one of fast recovery.
const RECOVERIES: RangeInclusive<u32> = 1..=65_535;

/// Bytes from one event of the counter to the next; 0: there are none.
const BYTES: RangeInclusive<u64> = 0..=1_000_000_000_000;

/// A rate that falls by half of an estimate α of how congested the network is with every notification, and rises with the events of a
/// timer and of a counter of the bytes sent: at first half of the way back to where it was (fast recovery), then to a target that rises in
/// even steps (additive increase), and at last in growing ones (hyper increase). At first the rate is that of the host's link, of which all
/// rates are shares.
///
/// Source: Zhu et al., *Congestion Control for Large-Scale RDMA Deployments*, SIGCOMM 2015 (DCQCN), §5, with the values there; of hyper
/// increase it gives none, and the default is what its authors use in their simulator (200 Mb/s of 40 Gb/s). The exact rules are in
/// `docs/infiniband.md`. What belongs to it: `marking.ecn`, and `notification.packets` with `interval = "50 us"`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Dcqcn")]
pub struct Config {
    /// The share g by which a notification moves α towards 1, and the timer of α moves it towards 0.
    #[schemars(range(min = *SHARES.start(), max = *SHARES.end()))]
    pub g: f64,
    /// Time without a notification after which α falls, again and again, more than 0.
    #[schemars(example = "55 us")]
    pub alpha_timer: String,
    /// Time from a notification to the first event of the timer of the rate, and from one event to the next, more than 0.
    #[schemars(example = "55 us")]
    pub rate_timer: String,
    /// Bytes sent from a notification to the first event of the counter of bytes, and from one event to the next; 0: the counter has no
    /// events, and there is no hyper increase \[bytes\].
    #[schemars(range(max = *BYTES.end()))]
    pub byte_counter: u64,
    /// The number F: until the timer or the counter has had F events the rate recovers, and when both have had more it rises by growing
    /// steps.
    #[schemars(range(min = *RECOVERIES.start(), max = *RECOVERIES.end()))]
    pub fast_recovery: u32,
    /// What additive increase adds to the target of the rate \[share of the link\].
    #[schemars(range(min = *SHARES.start(), max = *SHARES.end()))]
    pub increase: f64,
    /// What hyper increase adds to it for each event beyond F that both have had \[share of the link\].
    #[schemars(range(min = *SHARES.start(), max = *SHARES.end()))]
    pub hyper_increase: f64,
    /// Least rate \[share of the link\].
    #[schemars(range(min = *LEAST.start(), max = *LEAST.end()))]
    pub least: f64,
    /// Least time between two notifications that count, more than 0: those that come sooner do nothing. Default: every one counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = "4 us")]
    pub cut_interval: Option<String>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            g: 1.0 / 256.0,
            alpha_timer: "55 us".into(),
            rate_timer: "55 us".into(),
            byte_counter: 10_000_000,
            fast_recovery: 5,
            increase: 0.001,
            hyper_increase: 0.005,
            least: 0.001,
            cut_interval: None,
        }
    }
}

impl Config {
    /// The times, all above 0, with their keys.
    pub fn times(&self) -> Vec<(&'static str, &str)> {
        let cut = self.cut_interval.iter().map(|text| ("cut_interval", text.as_str()));
        [("alpha_timer", self.alpha_timer.as_str()), ("rate_timer", &self.rate_timer)]
            .into_iter()
            .chain(cut)
            .collect()
    }

    /// The parameters, with the times in ticks.
    pub fn build(&self, times: &[Ticks]) -> Result<Dcqcn, ConfigError> {
        let &[alpha_timer, rate_timer, ref cut @ ..] = times else {
            unreachable!("these are the times that it asked for")
        };
        within(RECOVERIES, self.fast_recovery, "fast_recovery")?;
        within(BYTES, self.byte_counter, "byte_counter")?;
        Ok(Dcqcn {
            g: share(self.g, SHARES, "g")?,
            alpha_timer,
            rate_timer,
            byte_counter: self.byte_counter,
            fast_recovery: self.fast_recovery,
            increase: share(self.increase, SHARES, "increase")?,
            hyper_increase: share(self.hyper_increase, SHARES, "hyper_increase")?,
            least: share(self.least, LEAST, "least")?,
            cut_interval: cut.first().copied().unwrap_or(0),
        })
    }
}

/// DCQCN.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dcqcn {
    /// By what share α moves \[2^-32, at most 2^32\].
    pub g: u64,
    /// The time from a notification to the first fall of α, and from one fall to the next; more than 0.
    pub alpha_timer: Ticks,
    /// The time from a notification to the first event, and from one event to the next; more than 0.
    pub rate_timer: Ticks,
    /// The bytes from a notification to the first event, and from one event to the next; 0: no events.
    pub byte_counter: u64,
    /// Events of the timer or the counter with the last of which recovery is over; more than 0.
    pub fast_recovery: u32,
    /// A step of the target upwards \[rate of the link / 2^32, at most 2^32\].
    pub increase: u64,
    /// What steps grow by \[rate of the link / 2^32, at most 2^32\].
    pub hyper_increase: u64,
    /// Least rate \[rate of the link / 2^32, 1 … 2^32\].
    pub least: u64,
    /// Least time between two notifications that count.
    pub cut_interval: Ticks,
}

/// A reaction point that has been notified. Events of the timer are made up for when somebody asks.
#[derive(Clone, Copy, Debug)]
struct Recovery {
    /// When the last notification came that counted.
    notified: Ticks,
    /// α, as that notification left it.
    alpha: u64,
    rate: u64,
    target: u64,
    /// When the next event of the timer comes.
    timer: Ticks,
    /// Events of the timer, and of the counter of bytes, since the notification.
    events: [u32; 2],
    /// Bytes sent since the notification or the last event of the counter.
    bytes: u64,
}

impl Recovery {
    /// An event of the timer or of the counter, which has been counted.
    fn rise(&mut self, rules: &Dcqcn) {
        let [timer, counter] = self.events;
        let fast = rules.fast_recovery;
        if timer.max(counter) >= fast {
            let beyond = u64::from(timer.min(counter).saturating_sub(fast));
            let step = if beyond > 0 { beyond * rules.hyper_increase } else { rules.increase };
            self.target = (self.target + step).min(WHOLE);
        }
        self.rate = (self.target + self.rate).div_ceil(2);
    }

    /// The events of the timer up to `now`.
    #[inline]
    fn catch_up(&mut self, rules: &Dcqcn, now: Ticks) {
        while self.timer <= now {
            if self.rate == WHOLE {
                // The target is no less, so that nothing is left to rise.
                let missed = (now - self.timer) / rules.rate_timer + 1;
                self.events[0] = self.events[0].saturating_add(u32::try_from(missed).unwrap_or(u32::MAX));
                self.timer += missed * rules.rate_timer;
                return;
            }
            self.timer += rules.rate_timer;
            self.events[0] = self.events[0].saturating_add(1);
            self.rise(rules);
        }
    }

    /// α at `now`.
    fn alpha(&self, rules: &Dcqcn, now: Ticks) -> u64 {
        let mut alpha = self.alpha;
        for _ in 0..(now - self.notified) / rules.alpha_timer {
            if alpha == 0 {
                break;
            }
            alpha = share_of(alpha, WHOLE - rules.g);
        }
        alpha
    }

    /// Bytes have been sent.
    #[inline]
    fn send(&mut self, rules: &Dcqcn, bytes: u64) {
        self.bytes += bytes;
        while self.bytes >= rules.byte_counter {
            self.bytes -= rules.byte_counter;
            self.events[1] = self.events[1].saturating_add(1);
            self.rise(rules);
        }
    }
}

/// A share of a value, both at most [`WHOLE`], rounded down.
fn share_of(value: u64, share: u64) -> u64 {
    (u128::from(value) * u128::from(share) / u128::from(WHOLE)) as u64
}

/// All reaction points.
#[derive(Clone, Debug)]
pub(crate) struct Points<'f> {
    rules: &'f Dcqcn,
    /// The points; nothing of one that has never been notified.
    all: Vec<Option<Recovery>>,
}

impl<'f> Points<'f> {
    /// No reaction points.
    pub fn new(rules: &'f Dcqcn, _: &mut [Stream]) -> Self {
        Self { rules, all: Vec::new() }
    }
}

impl ReactionPoints for Points<'_> {
    fn add(&mut self, _: u32, _: Ticks) {
        self.all.push(None);
    }

    #[inline]
    fn gap(&mut self, point: usize, now: Ticks, (bytes, time): (u64, Ticks)) -> Ticks {
        let Some(point) = &mut self.all[point] else { return time };
        point.catch_up(self.rules, now);
        let gap = time_at(point.rate, time);
        if self.rules.byte_counter > 0 {
            point.send(self.rules, bytes);
        }
        gap
    }

    fn notify(&mut self, point: usize, now: Ticks) {
        let rules = self.rules;
        let (rate, alpha) = match &mut self.all[point] {
            None => (WHOLE, WHOLE),
            Some(point) if now - point.notified < rules.cut_interval => return,
            Some(point) => {
                point.catch_up(rules, now);
                (point.rate, point.alpha(rules, now))
            }
        };
        let fall = (u128::from(rate) * u128::from(alpha) / u128::from(2 * WHOLE)) as u64;
        self.all[point] = Some(Recovery {
            notified: now,
            alpha: share_of(alpha, WHOLE - rules.g) + rules.g,
            rate: (rate - fall).max(rules.least),
            target: rate,
            timer: now + rules.rate_timer,
            events: [0; 2],
            bytes: 0,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_rise_by_events_of_the_timer_and_of_the_counter_of_bytes() {
        let rules = Dcqcn {
            g: WHOLE / 2,
            alpha_timer: 1000,
            rate_timer: 100,
            byte_counter: 1000,
            fast_recovery: 1,
            increase: WHOLE / 16,
            hyper_increase: WHOLE / 8,
            least: 1,
            cut_interval: 0,
        };
        let mut points = Points::new(&rules, &mut []);
        points.add(0, 1);
        assert_eq!(points.gap(0, 0, (5000, 7)), 7, "nothing has an effect before the first notification");
        (0..2).for_each(|_| points.notify(0, 0));
        // The rate is 1/4, its target 1/2. The timer raises that by 1/16, the rate to 13/32.
        assert_eq!(points.gap(0, 99, (0, 1)), 4);
        assert_eq!(points.gap(0, 100, (1000, 416)), 1024);
        // The counter has raised the rate to 33/64, and does so again with the next thousand bytes, to 77/128.
        assert_eq!(points.gap(0, 100, (999, 33)), 64);
        assert_eq!(points.gap(0, 100, (1, 33)), 64);
        assert_eq!(points.gap(0, 100, (0, 77)), 128);
        // With two events of both the target rises by 1/8, as the next time, when the counter still has had two.
        assert_eq!(points.gap(0, 200, (0, 181)), 256);
        assert_eq!(points.gap(0, 300, (0, 421)), 512);
        // With three of both it rises by 2/8, to 1.
        assert_eq!(points.gap(0, 300, (1000, 421)), 512);
        assert_eq!(points.gap(0, 300, (0, 933)), 1024);
        // In the end the rate is that of the link, to the last bit, and the counters go on.
        assert_eq!(points.gap(0, 10_000, (0, 1 << 40)), 1 << 40);
        assert_eq!(points.all[0].map(|point| (point.events, point.timer)), Some(([100, 3], 10_100)));
    }

    #[test]
    fn the_share_of_a_fall_goes_to_nothing_without_notifications() {
        let rules = Config::default().build(&[55, 55]).unwrap();
        let mut points = Points::new(&rules, &mut []);
        points.add(0, 1);
        points.notify(0, 0);
        let alpha = |at: Ticks| points.all[0].map(|point| point.alpha(&rules, at));
        assert_eq!(alpha(54), Some(WHOLE));
        assert_eq!(alpha(55), Some(WHOLE - WHOLE / 256));
        let after = alpha(55 * 256).unwrap() as f64 / WHOLE as f64;
        assert!((after - (255.0f64 / 256.0).powi(256)).abs() < 1e-6, "{after}");
        assert_eq!(alpha(Ticks::MAX), Some(0));
    }
}
