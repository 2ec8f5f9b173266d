//! Congestion control.

use super::clock::{Clock, Time};
use super::congestion_defaults::TIMER_UNIT;
use super::path;
use super::wiring::Cables;
use crate::config::infiniband::congestion as config;
use crate::config::infiniband::congestion::{
    Acknowledgements, CongestionControlConfig, EcnConfig, Packets, Thresholds,
};
use crate::config::limits::SERVICE_LEVELS;
use crate::plan::quantity::{SIZES, Unit, nonnegative, positive};
use crate::plan::within;
use hopsim_infiniband::congestion::{
    CongestionControl, Ecn, Level, MarkPoint, Marking, Notification, PortRules, ThresholdMode, VictimMask,
};
use hopsim_infiniband::fabric::{BLOCK, Fabric, NONE};
use hopsim_infiniband::lanes::Lanes;
use hopsim_infiniband::reaction::rates::share;
use hopsim_infiniband::reaction::{Needs, Reaction, ReactionConfig, table};
use hopsim_infiniband::time::Ticks;
use hopsim_network::error::ConfigError;
use hopsim_programs::units::Fraction;
use std::collections::BTreeMap;

/// Thresholds of an output that is never congested.
const NEVER_CONGESTED: [u64; 2] = [u64::MAX, 1];

/// The path of a key of congestion control.
pub fn key(name: &str) -> String {
    path(&format!("congestion_control.{name}"))
}

/// The value of a key, which has been filled in where the document does not give it.
fn given<T>(value: Option<T>) -> T {
    value.unwrap_or_else(|| unreachable!("congestion_defaults::resolve fills it in"))
}

/// The times of congestion control.
pub struct ControlTimes {
    /// Times of what sources do about notifications.
    reaction: Vec<Time>,
    /// Least time from one notification packet for a flow to the next, if there are such packets.
    interval: Option<Time>,
}

/// The times of congestion control.
pub fn times(control: &CongestionControlConfig, clock: &mut Clock) -> Result<ControlTimes, ConfigError> {
    let interval = match &control.notification {
        config::Notification::Packets(Packets { interval, .. }) => {
            Some(clock.time(interval, &key("notification.packets.interval"))?)
        }
        config::Notification::Acknowledgements(_) => None,
    };
    Ok(ControlTimes { reaction: times_of_reaction(control, clock)?, interval })
}

/// Refuses reactions that would not hear of what they need.
fn check_needs(control: &CongestionControlConfig) -> Result<(), ConfigError> {
    let needs = control.reaction.needs();
    let every = match control.notification {
        config::Notification::Packets(_) => None,
        config::Notification::Acknowledgements(how) => Some(how.every),
    };
    if needs != Needs::Marks && every.is_none() {
        let reason = "follows the round trips of packets, of which notification packets do not tell";
        let valid = "notification.acknowledgements beside it, or a reaction to marks";
        return Err(ConfigError::new(key("reaction"), reason).valid(valid));
    }
    if needs.has_windows() && control.level == config::Level::Sl {
        let reason = "is for all flows of a service level, and the reaction has a window for each flow";
        return Err(ConfigError::new(key("level"), reason).value("\"sl\"").valid("qp"));
    }
    if let Some(every) = every.filter(|&every| needs.has_windows() && every > 1) {
        let reason = "the reaction has a window of few packets, which would wait for the next ones";
        return Err(ConfigError::new(key("notification.acknowledgements.every"), reason)
            .value(every)
            .valid("1"));
    }
    Ok(())
}

/// Refuses links that fail in the middle of the run where sources wait for acknowledgements.
pub fn check_faults(fabric: &Fabric) -> Result<(), ConfigError> {
    let has_windows =
        fabric.congestion.as_ref().is_some_and(|control| control.reaction.needs().has_windows());
    if !has_windows || fabric.faults.is_empty() {
        return Ok(());
    }
    let reason =
        "fails in the middle of the run, and sources with a window would wait for ever for what is lost";
    let valid = "no such key: out of order from the beginning; or another congestion_control.reaction";
    Err(ConfigError::new("faults.0.time", reason).valid(valid))
}

fn times_of_reaction(control: &CongestionControlConfig, clock: &mut Clock) -> Result<Vec<Time>, ConfigError> {
    if control.reaction == ReactionConfig::Table {
        let ns = u64::from(given(control.ccti_timer)) * TIMER_UNIT;
        return Ok(vec![clock.time(&format!("{ns} ns"), &key("ccti_timer"))?]);
    }
    let times = control.reaction.times();
    times.into_iter().map(|(name, text)| clock.positive(text, &key(&name))).collect()
}

/// Congestion control in a fabric with these longest packets \[bytes\] and input buffers of ports to hosts and to switches
/// \[blocks\], with the times of what sources do; without the ports that are exceptions.
pub fn build(
    control: &CongestionControlConfig,
    mtu: u32,
    buffers: [u32; 2],
    lanes: &Lanes,
    (clock, times): (&Clock, &ControlTimes),
) -> Result<CongestionControl, ConfigError> {
    let [high, low] = match control.marking {
        config::Marking::Ecn(_) => NEVER_CONGESTED,
        _ => thresholds(&control.thresholds, mtu, buffers, "thresholds")?,
    };
    let reaction = reaction(control, clock, &times.reaction)?;
    check_needs(control)?;
    Ok(CongestionControl {
        mode: match control.thresholds.mode {
            config::ThresholdMode::PerVoq => ThresholdMode::PerVoq,
            config::ThresholdMode::Common => ThresholdMode::Common,
        },
        rules: PortRules {
            high,
            low,
            victim_mask: victim_mask(control.victim_mask),
            marking_rate: given(control.marking_rate),
            packet_size: control.packet_size,
        },
        exceptions: BTreeMap::new(),
        mark_point: match control.mark_point {
            config::MarkPoint::Enqueue => MarkPoint::Enqueue,
            config::MarkPoint::Grant => MarkPoint::Grant,
            config::MarkPoint::Tail => MarkPoint::Tail,
            config::MarkPoint::Wire => MarkPoint::Wire,
        },
        marking: match &control.marking {
            config::Marking::Random => Marking::Random,
            config::Marking::Periodic => Marking::Periodic,
            config::Marking::Ecn(ecn) => Marking::Ecn(marks_by_length(ecn, mtu)?),
        },
        notification: notification(&control.notification, clock, times.interval.as_ref())?,
        answer_lane: answer_lane(&control.notification, lanes)?,
        level: match control.level {
            config::Level::Qp => Level::QueuePair,
            config::Level::Sl => Level::ServiceLevel,
        },
        reaction,
    })
}

/// Which ports may be congested without credits.
pub fn victim_mask(mask: config::VictimMask) -> VictimMask {
    match mask {
        config::VictimMask::Hosts => VictimMask::Hosts,
        config::VictimMask::All => VictimMask::All,
        config::VictimMask::None => VictimMask::None,
    }
}

fn reaction(
    control: &CongestionControlConfig,
    clock: &Clock,
    times: &[Time],
) -> Result<Reaction, ConfigError> {
    let CongestionControlConfig { timer, ccti_increase, ccti_limit, ccti_min, ref cct, .. } = *control;
    let table = table::Config { timer, ccti_increase, ccti_limit, ccti_min, cct };
    let ticks = times.iter().map(|time| clock.ticks(time)).collect::<Result<Vec<Ticks>, _>>()?;
    control.reaction.build(&table, &ticks).map_err(|error| error.within(&path("congestion_control")))
}

fn notification(
    config: &config::Notification,
    clock: &Clock,
    interval: Option<&Time>,
) -> Result<Notification, ConfigError> {
    let config::Notification::Acknowledgements(Acknowledgements { every, bytes, .. }) = *config else {
        let interval = interval.map_or(Ok(0), |time| clock.ticks(time))?;
        return Ok(Notification::Packets { interval });
    };
    let name = |name: &str| key(&format!("notification.acknowledgements.{name}"));
    within(config::ACKNOWLEDGED, every, name("every"))?;
    within(config::LENGTHS, bytes, name("bytes"))?;
    Ok(Notification::Acknowledgements { every, bytes })
}

/// The VL of notification packets and acknowledgements, if the document gives them one of their own.
fn answer_lane(config: &config::Notification, lanes: &Lanes) -> Result<Option<u8>, ConfigError> {
    let (name, level) = match config {
        config::Notification::Packets(Packets { service_level, .. }) => ("packets", *service_level),
        config::Notification::Acknowledgements(how) => ("acknowledgements", how.service_level),
    };
    let Some(level) = level else { return Ok(None) };
    within(SERVICE_LEVELS, level.into(), key(&format!("notification.{name}.service_level")))?;
    Ok(Some(lanes.of_service_level[usize::from(level)]))
}

/// Units of bounds and thresholds, the longest packet among them.
fn units(mtu: u32) -> [Unit; 4] {
    let [ones, twos, threes] = SIZES;
    [ones, twos, threes, ("MTU", u64::from(mtu), 1)]
}

/// The path of a key of marks by the length of queues.
fn ecn_key(name: &str) -> String {
    key(&format!("marking.ecn.{name}"))
}

/// The bytes of a bound of marks by the length of queues.
fn bound(text: &str, name: &str, mtu: u32) -> Result<u64, ConfigError> {
    let size = nonnegative(text, &units(mtu), &ecn_key(name))?;
    Ok(size.map_or(0, |size| size.numerator / size.denominator))
}

/// Refuses bounds of marks by the length of queues that no queue can pass: those of an output are in the input buffers of its switch,
/// which hold so much if they belong to ports to hosts and to switches \[blocks\].
pub fn check_bounds(
    control: &CongestionControlConfig,
    marking: Marking,
    [of_hosts, of_switches]: [u32; 2],
    cables: &Cables,
) -> Result<(), ConfigError> {
    let (config::Marking::Ecn(ecn), Marking::Ecn(Ecn { min, .. })) = (&control.marking, marking) else {
        return Ok(());
    };
    let blocks = |switch: u32| {
        let to_hosts = |port: &u32| cables.ends[*port as usize] == NONE;
        let hosts = cables.ports(switch).filter(to_hosts).count() as u64;
        let switches = cables.ports(switch).len() as u64 - hosts;
        hosts * u64::from(of_hosts) + switches * u64::from(of_switches)
    };
    let room = (0..cables.switches()).map(blocks).max().unwrap_or(0) * u64::from(BLOCK);
    if min < room {
        return Ok(());
    }
    let reason = format!(
        "no packet would ever be marked: all input buffers of a switch hold {room} B of a VL at most"
    );
    Err(ConfigError::new(ecn_key("min"), reason)
        .value(format!("{:?}", ecn.min))
        .valid(format!("less than {room} B, or larger router.infiniband.switch.buffers")))
}

/// Marks by the length of queues.
fn marks_by_length(ecn: &EcnConfig, mtu: u32) -> Result<Ecn, ConfigError> {
    let (min, max) = (bound(&ecn.min, "min", mtu)?, bound(&ecn.max, "max", mtu)?);
    if max < min {
        return Err(ConfigError::new(ecn_key("max"), format!("is below min, {:?}", ecn.min))
            .value(format!("{:?}", ecn.max))
            .valid(format!("at least {min} B")));
    }
    let probability = share(ecn.probability, config::PROBABILITIES, &ecn_key("probability"))?;
    Ok(Ecn { min, max, probability })
}

/// The whole number from which on integers are at least as large.
fn ceiling(value: Fraction) -> u64 {
    value.numerator.div_ceil(value.denominator)
}

/// Threshold from which on, and below which no longer, an output is congested \[bytes\], as the document says at a key.
pub fn thresholds(
    given: &Thresholds,
    mtu: u32,
    buffers: [u32; 2],
    at: &str,
) -> Result<[u64; 2], ConfigError> {
    let name = |name: &str| key(&format!("{at}.{name}"));
    for (one, other, both) in [
        ("high", "weight", given.high.is_some() && given.weight.is_some()),
        ("low", "distance", given.low.is_some() && given.distance.is_some()),
    ] {
        if both {
            let reason = format!("stands for {one}, which is given, too");
            return Err(ConfigError::new(name(other), reason).valid("one of the two"));
        }
    }
    let units = units(mtu);
    let bytes = buffers.map(|blocks| u64::from(blocks) * u64::from(BLOCK));
    let (high, stated) = match (&given.high, given.weight) {
        (_, Some(0)) => return Ok(NEVER_CONGESTED),
        (_, Some(weight)) => {
            within(0..=15, u32::from(weight), name("weight"))?;
            (share_of(bytes[0], weight), format!("weight {weight}"))
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
fn share_of(buffer: u64, weight: u8) -> Fraction {
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

#[cfg(test)]
mod tests {
    use super::super::congestion_defaults;
    use super::*;

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
        thresholds(&given, 2048, [1024, 2048], "thresholds")
    }
}
