//! HPCC, in the steps of the document of the rules.

use hopsim_infiniband::reaction::hpcc::Hpcc;
use hopsim_infiniband::time::Ticks;

/// What a switch notes in a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    pub output: usize,
    pub at: Ticks,
    /// Bytes of the packets that are in the switch to go onto the link.
    pub queue: u64,
    /// Bytes of the packets that have gone onto the link before.
    pub gone: u64,
}

/// One, in 2^-32.
const ONE: u128 = 1 << 32;

/// A reaction point; rates and what is used in 2^-32.
pub struct Inflight {
    rate: u128,
    reference_rate: u128,
    used: u128,
    stage: u32,
    /// The last readings that came, with the time of a byte on each link.
    before: Vec<(Reading, Ticks)>,
    /// When the reference rate was changed last; at first, when the first readings came.
    last_change: Option<Ticks>,
}

impl Default for Inflight {
    fn default() -> Self {
        Self { rate: ONE, reference_rate: ONE, used: ONE, stage: 0, before: Vec::new(), last_change: None }
    }
}

impl Inflight {
    /// The time from the start of a packet that takes `on_link` on the link to the start of the next one.
    pub fn gap(&self, on_link: Ticks) -> Ticks {
        let product = u128::from(on_link) * ONE;
        (product / self.rate + u128::from(!product.is_multiple_of(self.rate))) as Ticks
    }

    /// Whether another packet may start while so many bytes are under way, which take `byte` each on the link.
    pub fn has_room(&self, rules: &Hpcc, under_way: u64, byte: Ticks) -> bool {
        let takes = u128::from(under_way) * u128::from(byte) * ONE;
        takes < self.rate * u128::from(rules.base_round_trip)
    }

    /// An acknowledgement comes at `now` of a data packet that was sent at `sent`, with what was noted in it.
    pub fn hear(&mut self, rules: &Hpcc, (now, sent): (Ticks, Ticks), readings: Vec<(Reading, Ticks)>) {
        let mut most: Option<(u128, Ticks)> = None;
        for (old, new) in self.before.iter().zip(&readings) {
            if old.0.output != new.0.output || new.0.at <= old.0.at {
                continue;
            }
            let (used, time) = busy(rules, &old.0, new);
            if most.is_none_or(|(most, _)| used > most) {
                most = Some((used, time));
            }
        }
        self.before = readings;
        if let Some((used, time)) = most {
            let whole = u128::from(rules.base_round_trip);
            let weight = u128::from(time).min(whole);
            self.used = (self.used * (whole - weight) + used * weight) / whole;
            self.used = self.used.max(1);
        }
        match self.last_change {
            None => self.last_change = Some(now),
            Some(last) if most.is_some() => self.change(rules, now, sent >= last),
            Some(_) => (),
        }
    }

    /// The rate changes, and with it the reference rate if that is due.
    fn change(&mut self, rules: &Hpcc, now: Ticks, is_due: bool) {
        let target = u128::from(rules.utilisation);
        let mut stage = self.stage + 1;
        let mut rate = self.reference_rate;
        if self.used >= target || self.stage >= rules.stages {
            rate = rate * target / self.used;
            stage = 0;
        }
        rate += u128::from(rules.increase);
        self.rate = rate.clamp(rules.least.into(), ONE);
        if is_due {
            self.reference_rate = self.rate;
            self.stage = stage;
            self.last_change = Some(now);
        }
    }
}

/// How much is used of a link between two readings, and the time between them.
fn busy(rules: &Hpcc, old: &Reading, (new, byte): &(Reading, Ticks)) -> (u128, Ticks) {
    let time = new.at - old.at;
    let in_time = |bytes: u64| u128::from(bytes) * u128::from(*byte) * ONE;
    let carried = in_time(new.gone - old.gone) / u128::from(time);
    let queued = in_time(old.queue.min(new.queue)) / u128::from(rules.base_round_trip);
    ((carried + queued).min(1 << 48), time)
}
