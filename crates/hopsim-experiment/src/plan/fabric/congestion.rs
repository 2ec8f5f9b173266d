//! Congestion control.

use super::clock::{Clock, Time};
use super::congestion_defaults::TIMER_UNIT;
use super::{aimd, path};
use crate::config::infiniband::congestion as config;
use crate::config::infiniband::congestion::{
    Acknowledgements, CongestionControlConfig, Table, TableName, Thresholds,
};
use crate::plan::quantity::{SIZES, nonnegative, positive};
use crate::plan::within;
use hopsim_infiniband::congestion::{
    CongestionControl, Level, MarkPoint, Marking, Notification, ThresholdMode, VictimMask,
};
use hopsim_infiniband::fabric::BLOCK;
use hopsim_infiniband::reaction::Reaction;
use hopsim_infiniband::reaction::table::{self, Delay, Timer};
use hopsim_infiniband::time::Ticks;
use hopsim_network::error::ConfigError;
use hopsim_programs::units::Fraction;

/// Entries of the tables that have a name.
const ENTRIES: u64 = 128;

fn key(name: &str) -> String {
    path(&format!("congestion_control.{name}"))
}

/// The value of a key, which has been filled in where the document does not give it.
fn given<T>(value: Option<T>) -> T {
    value.unwrap_or_else(|| unreachable!("congestion_defaults::resolve fills it in"))
}

/// The time after which sources recover by a step.
pub fn period(control: &CongestionControlConfig, clock: &mut Clock) -> Result<Time, ConfigError> {
    match &control.reaction {
        config::Reaction::Table => {
            let ns = u64::from(given(control.ccti_timer)) * TIMER_UNIT;
            clock.time(&format!("{ns} ns"), &key("ccti_timer"))
        }
        config::Reaction::Aimd(rules) => clock.positive(&rules.period, &aimd::key("period")),
    }
}

/// Congestion control in a fabric with these longest packets \[bytes\] and input buffers of ports to hosts and to switches
/// \[blocks\], with its period.
pub fn build(
    control: &CongestionControlConfig,
    (mtu, buffers): (u32, [u32; 2]),
    (clock, period): (&Clock, &Time),
) -> Result<CongestionControl, ConfigError> {
    let [high, low] = thresholds(&control.thresholds, (mtu, buffers))?;
    Ok(CongestionControl {
        mode: match control.thresholds.mode {
            config::ThresholdMode::PerVoq => ThresholdMode::PerVoq,
            config::ThresholdMode::Common => ThresholdMode::Common,
        },
        high,
        low,
        victim_mask: match control.victim_mask {
            config::VictimMask::Hosts => VictimMask::Hosts,
            config::VictimMask::All => VictimMask::All,
            config::VictimMask::None => VictimMask::None,
        },
        mark_point: match control.mark_point {
            config::MarkPoint::Enqueue => MarkPoint::Enqueue,
            config::MarkPoint::Grant => MarkPoint::Grant,
            config::MarkPoint::Tail => MarkPoint::Tail,
            config::MarkPoint::Wire => MarkPoint::Wire,
        },
        marking: match control.marking {
            config::Marking::Random => Marking::Random,
            config::Marking::Periodic => Marking::Periodic,
        },
        marking_rate: given(control.marking_rate),
        packet_size: control.packet_size,
        notification: notification(control.notification)?,
        level: match control.level {
            config::Level::Qp => Level::QueuePair,
            config::Level::Sl => Level::ServiceLevel,
        },
        reaction: match &control.reaction {
            config::Reaction::Table => Reaction::Table(of_table(control, clock.ticks(period)?)?),
            config::Reaction::Aimd(rules) => Reaction::Aimd(aimd::build(rules, clock.ticks(period)?)?),
        },
    })
}

/// The congestion control table with what belongs to it.
fn of_table(control: &CongestionControlConfig, period: Ticks) -> Result<table::Table, ConfigError> {
    let entries = entries(&control.cct)?;
    let last = entries.len() - 1;
    if usize::from(control.ccti_limit) > last {
        let reason = format!("the table cct has {} entries", entries.len());
        let refused = ConfigError::new(key("ccti_limit"), reason).value(control.ccti_limit);
        return Err(refused.valid(format!("0 … {last}")));
    }
    if control.ccti_min > control.ccti_limit {
        let refused = ConfigError::new(key("ccti_min"), "is above ccti_limit").value(control.ccti_min);
        return Err(refused.valid(format!("0 … {}", control.ccti_limit)));
    }
    Ok(table::Table {
        timer: match control.timer {
            config::Timer::Free => Timer::Free,
            config::Timer::OnDemand => Timer::OnDemand,
        },
        period,
        increase: control.ccti_increase,
        limit: control.ccti_limit,
        minimum: control.ccti_min,
        entries,
    })
}

fn notification(config: config::Notification) -> Result<Notification, ConfigError> {
    let config::Notification::Acknowledgements(Acknowledgements { every, bytes }) = config else {
        return Ok(Notification::Packets);
    };
    let name = |name: &str| key(&format!("notification.acknowledgements.{name}"));
    within(1..=65_535, every, &name("every"))?;
    within(1..=256, bytes, &name("bytes"))?;
    Ok(Notification::Acknowledgements { every, bytes })
}

/// The whole number from which on integers are at least as large.
fn ceiling(value: Fraction) -> u64 {
    value.numerator.div_ceil(value.denominator)
}

/// Threshold from which on, and below which no longer, an output is congested \[bytes\].
fn thresholds(given: &Thresholds, (mtu, buffers): (u32, [u32; 2])) -> Result<[u64; 2], ConfigError> {
    let name = |name: &str| key(&format!("thresholds.{name}"));
    for (one, other, both) in [
        ("high", "weight", given.high.is_some() && given.weight.is_some()),
        ("low", "distance", given.low.is_some() && given.distance.is_some()),
    ] {
        if both {
            let reason = format!("stands for {one}, which is given, too");
            return Err(ConfigError::new(name(other), reason).valid("one of the two"));
        }
    }
    let [ones, twos, threes] = SIZES;
    let units = [ones, twos, threes, ("MTU", u64::from(mtu), 1)];
    let bytes = buffers.map(|blocks| u64::from(blocks) * u64::from(BLOCK));
    let (high, stated) = match (&given.high, given.weight) {
        (_, Some(0)) => return Ok([u64::MAX, 1]),
        (_, Some(weight)) => {
            within(0..=15, u32::from(weight), &name("weight"))?;
            (share(bytes[0], weight), format!("weight {weight}"))
        }
        (text, None) => {
            let text = text.as_deref().unwrap_or_default();
            (positive(text, &units, &name("high"))?, format!("{text:?}"))
        }
    };
    let smallest = bytes[0].min(bytes[1]);
    if ceiling(high) > smallest {
        let reason = format!("no queue ever has so much: the smallest input buffer of a VL has {smallest} B");
        return Err(ConfigError::new(name("high"), reason)
            .value(stated)
            .valid(format!("at most {smallest} B, or larger router.infiniband.switch.buffers")));
    }
    if let Some(text) = &given.low {
        let low = positive(text, &units, &name("low"))?;
        if ceiling(low) > ceiling(high) {
            return Err(ConfigError::new(name("low"), format!("is above the upper threshold, {stated}"))
                .value(format!("{text:?}"))
                .valid(format!("at most {} B", ceiling(high))));
        }
        return Ok([ceiling(high), ceiling(low)]);
    }
    let text = given.distance.as_deref().unwrap_or_default();
    let low = match nonnegative(text, &units, &name("distance"))? {
        Some(distance) => difference(high, distance),
        None => Some(ceiling(high)),
    };
    let low = low.ok_or_else(|| {
        ConfigError::new(name("distance"), format!("leaves nothing of the upper threshold, {stated}"))
            .value(format!("{text:?}"))
            .valid(format!("less than {} B", ceiling(high)))
    })?;
    Ok([ceiling(high), low])
}

/// The share of a buffer that a weight stands for.
fn share(buffer: u64, weight: u8) -> Fraction {
    Fraction::new(buffer * (16 - u64::from(weight)), 16)
        .unwrap_or_else(|| unreachable!("buffers hold a packet"))
}

/// What one fraction is more than another, rounded up, if it is more.
fn difference(from: Fraction, what: Fraction) -> Option<u64> {
    let cross = |one: Fraction, other: Fraction| u128::from(one.numerator) * u128::from(other.denominator);
    let left = cross(from, what).checked_sub(cross(what, from)).filter(|&left| left > 0)?;
    let denominator = u128::from(from.denominator) * u128::from(what.denominator);
    u64::try_from(left.div_ceil(denominator)).ok()
}

/// The entries of a table.
fn entries(table: &Table) -> Result<Vec<Delay>, ConfigError> {
    match table {
        Table::Named(name) => Ok(named(*name)),
        Table::Listed(entries) => listed(entries),
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
        Err(ConfigError::new(key(&format!("cct.{index}")), reason).value(format!("{entry:?}")).valid(valid))
    };
    if entries.is_empty() {
        return Err(ConfigError::new(key("cct"), "the table is empty").value("[]").valid(valid));
    }
    if entries.len() > 1 << 16 {
        return Err(ConfigError::new(key("cct"), "the table is too long").valid("at most 65536 entries"));
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

#[cfg(test)]
mod tests {
    use super::super::congestion_defaults;
    use super::*;

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

    #[test]
    fn thresholds_are_what_integers_are_compared_with() {
        let given = |high: &str, low: &str| Thresholds {
            high: Some(high.into()),
            low: Some(low.into()),
            ..Thresholds::default()
        };
        let of = |thresholds: &Thresholds| thresholds_of(thresholds).unwrap();
        assert_eq!(of(&Thresholds::default()), [8192, 1844]);
        assert_eq!(of(&given("4 MTU", "4 MTU")), [8192, 8192]);
        assert_eq!(of(&given("1.5 KiB", "1 B")), [1536, 1]);
        let weighted = |weight, distance: Option<&str>| Thresholds {
            weight: Some(weight),
            distance: distance.map(str::to_owned),
            ..Thresholds::default()
        };
        assert_eq!(of(&weighted(8, None)), [32768, 32768 - 6348]);
        assert_eq!(of(&weighted(15, Some("0 B"))), [4096, 4096]);
        assert_eq!(of(&weighted(0, None)), [u64::MAX, 1]);
        assert!(thresholds_of(&weighted(15, None)).is_err());
    }

    fn thresholds_of(given: &Thresholds) -> Result<[u64; 2], ConfigError> {
        let mut given = given.clone();
        congestion_defaults::thresholds(&mut given, 0);
        thresholds(&given, (2048, [1024, 2048]))
    }
}
