//! What congestion control does where a document does not say: it follows from the rates of the links.

use super::{path, port_exceptions, rates};
use crate::config::infiniband::Infiniband;
use crate::config::infiniband::congestion::Thresholds;
use crate::plan::quantity::{SIZES, TIMES, nonnegative, positive};
use hopsim_infiniband::reaction::ReactionConfig;
use hopsim_network::error::ConfigError;
use hopsim_programs::units::Fraction;

/// A unit of `ccti_timer` \[ns\].
pub const TIMER_UNIT: u64 = 1024;

/// Contributors whose indices the timer would balance if all packets were marked. With half as many, half of the packets are.
const CONTRIBUTORS: u64 = 128;

/// Least mean time between two marks of an output \[ns\]. Until sources have heard of the first ones, and slowed down, outputs go on
/// to mark, and the fewer packets go by in that time the less too many are notified.
const APART: u64 = 512;

/// Fills in the keys that the document does not give.
pub fn resolve(config: &mut Infiniband) -> Result<(), ConfigError> {
    let Some(mut control) = config.congestion_control.take() else { return Ok(()) };
    let more = packets_in_latency(config)?;
    thresholds(&mut control.thresholds, more);
    port_exceptions::resolve(&mut control);
    if control.reaction == ReactionConfig::Table {
        let bits = u64::from(config.mtu).max(1) * 8;
        let rate = rates::read(&config.links.host.rate, &path("links.host.rate"))?;
        let rate = [rate.numerator, rate.denominator].map(u128::from);
        let marking_rate = *control.marking_rate.get_or_insert_with(|| marking_rate(bits, rate));
        control.ccti_timer.get_or_insert_with(|| timer(marking_rate, bits, rate));
    } else {
        control.marking_rate.get_or_insert(1);
    }
    config.congestion_control = Some(control);
    Ok(())
}

fn clamped(value: u128) -> u16 {
    u16::try_from(value.max(1)).unwrap_or(u16::MAX)
}

/// The marking rate with which marks are at least [`APART`] where packets of so many bits follow each other at a rate \[Gb/s\].
fn marking_rate(bits: u64, [numerator, denominator]: [u128; 2]) -> u16 {
    let packets = (u128::from(APART) * numerator).div_ceil(u128::from(bits) * denominator);
    clamped(packets.saturating_sub(1))
}

/// The time in which each of [`CONTRIBUTORS`] is notified once, if all packets of so many bits are eligible.
fn timer(marking_rate: u16, bits: u64, [numerator, denominator]: [u128; 2]) -> u16 {
    let packets = u128::from(CONTRIBUTORS) * (u128::from(marking_rate) + 1);
    clamped((packets * u128::from(bits) * denominator).div_ceil(numerator * u128::from(TIMER_UNIT)))
}

/// Whole packets that the faster kind of link carries in the input latency of a switch; at most as many as leave room in the
/// smallest input buffer for the thresholds that there are without them.
fn packets_in_latency(config: &Infiniband) -> Result<u128, ConfigError> {
    let latency = nonnegative(&config.switch.input_latency, &TIMES, &path("switch.input_latency"))?;
    let Some(latency) = latency else { return Ok(0) };
    let links = [("host", &config.links.host.rate), ("switch", &config.links.switch.rate)];
    let mut most = 0;
    for (name, rate) in links {
        let rate = rates::read(rate, &path(&format!("links.{name}.rate")))?;
        let product = |of: fn(Fraction) -> u64| u128::from(of(rate)) * u128::from(of(latency));
        let bits = product(|it| it.numerator) / product(|it| it.denominator);
        most = most.max(bits / 8 / u128::from(config.mtu.max(1)));
    }
    let buffers = &config.switch.buffers;
    for (name, buffer) in [("host", &buffers.host), ("switch", &buffers.switch)] {
        let size = positive(buffer, &SIZES, &path(&format!("switch.buffers.{name}")))?;
        let packets = size.numerator / size.denominator / u64::from(config.mtu.max(1));
        most = most.min(packets.saturating_sub(4).into());
    }
    Ok(most)
}

/// Thresholds with so many packets more than there would be if switches took no time.
pub fn thresholds(given: &mut Thresholds, more: u128) {
    let more_for_low = if given.high.is_none() { more } else { 0 };
    if given.weight.is_none() {
        given.high.get_or_insert_with(|| format!("{} MTU", 4 + more));
    }
    if given.low.is_none() && given.distance.is_none() {
        let (key, default) = if given.weight.is_some() {
            (&mut given.distance, "3.1 MTU".into())
        } else {
            (&mut given.low, format!("{more_for_low}.9 MTU"))
        };
        *key = Some(default);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::infiniband::congestion::CongestionControlConfig;
    use hopsim_infiniband::reaction::aimd;

    /// Upper and lower threshold, marking rate and timer of a fabric that is like the default one but for a change.
    fn resolved(change: impl Fn(&mut Infiniband)) -> (String, String, Option<u16>, Option<u16>) {
        let control = Some(CongestionControlConfig::default());
        let mut config = Infiniband { congestion_control: control, ..Infiniband::default() };
        change(&mut config);
        resolve(&mut config).unwrap();
        let control = config.congestion_control.unwrap();
        let [high, low] = [control.thresholds.high, control.thresholds.low].map(Option::unwrap);
        (high, low, control.marking_rate, control.ccti_timer)
    }

    /// Upper and lower threshold, marking rate and timer of a fabric whose links all have 4 lanes of a speed.
    fn at(speed: &str) -> (String, String, Option<u16>, Option<u16>) {
        resolved(|config| {
            config.links.host.rate = format!("4x {speed}");
            config.links.switch.rate = format!("4x {speed}");
        })
    }

    #[test]
    fn marks_and_the_timer_follow_the_time_of_a_packet() {
        // A packet takes 2048, 1024, 512, 300.4, 163.84, 81.92, 40.96, 20.48 ns.
        let expected = [
            ("SDR", 0, 1, 512),
            ("DDR", 0, 1, 256),
            ("QDR", 0, 1, 128),
            ("FDR", 0, 1, 76),
            ("EDR", 0, 3, 82),
            ("HDR", 0, 6, 72),
            ("NDR", 1, 12, 67),
            ("XDR", 2, 24, 64),
        ];
        for (speed, more, marking_rate, timer) in expected {
            let thresholds = (format!("{} MTU", 4 + more), format!("{more}.9 MTU"));
            assert_eq!(at(speed), (thresholds.0, thresholds.1, Some(marking_rate), Some(timer)), "{speed}");
        }
    }

    #[test]
    fn what_is_given_stays_and_what_is_not_follows_from_it() {
        let (.., timer) = resolved(|config| {
            config.congestion_control.as_mut().unwrap().marking_rate = Some(9);
        });
        assert_eq!(timer, Some(1280));
        let found = resolved(|config| {
            config.mtu = 4096;
            config.congestion_control.as_mut().unwrap().ccti_timer = Some(0);
        });
        assert_eq!((found.2, found.3), (Some(1), Some(0)));
        let slow = resolved(|config| config.links.host.rate = "1 Mb/s".into());
        assert_eq!((slow.2, slow.3), (Some(1), Some(u16::MAX)));
        let fast = resolved(|config| {
            config.mtu = 256;
            config.links.host.rate = "100 Tb/s".into();
        });
        assert_eq!((fast.2, fast.3), (Some(24_999), Some(64)));
    }

    #[test]
    fn another_reaction_has_marks_and_no_timer() {
        let found = resolved(|config| {
            config.links.host.rate = "4x NDR".into();
            config.congestion_control.as_mut().unwrap().reaction =
                ReactionConfig::Aimd(aimd::Config::default());
        });
        assert_eq!((found.2, found.3), (Some(1), None));
    }

    #[test]
    fn thresholds_leave_out_what_is_on_its_way_through_the_switch() {
        let with = |latency: &str, high: Option<&str>| {
            let found = resolved(|config| {
                // 16 bytes of the faster links in a nanosecond.
                config.links.switch.rate = "128 Gb/s".into();
                config.switch.input_latency = latency.into();
                let thresholds = &mut config.congestion_control.as_mut().unwrap().thresholds;
                thresholds.high = high.map(str::to_owned);
            });
            (found.0, found.1)
        };
        let both = |high: &str, low: &str| (high.to_owned(), low.to_owned());
        assert_eq!(with("0 ns", None), both("4 MTU", "0.9 MTU"));
        assert_eq!(with("127.9 ns", None), both("4 MTU", "0.9 MTU"));
        assert_eq!(with("128 ns", None), both("5 MTU", "1.9 MTU"));
        assert_eq!(with("128 ns", Some("6 MTU")), both("6 MTU", "0.9 MTU"));
        // The smallest buffer holds 32 packets.
        assert_eq!(with("1 ms", None), both("32 MTU", "28.9 MTU"));
    }
}
