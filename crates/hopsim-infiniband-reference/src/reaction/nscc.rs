//! NSCC, in the steps of the document of the rules.

use hopsim_infiniband::reaction::Reaction;
use hopsim_infiniband::reaction::nscc::Nscc;
use hopsim_infiniband::time::Ticks;

/// A packet, in 2^-16, and one, in 2^-32.
const PACKET: u128 = 1 << 16;
const ONE: u128 = 1 << 32;

/// A reaction point; windows in 2^-16 packets.
pub struct SignalledSending {
    pub packets: u128,
    mean: u128,
    sum: u128,
    since_update: u128,
    calm: u128,
    fast: bool,
    /// When the window was last updated, grew by itself, and fell.
    last: [Option<Ticks>; 3],
}

/// Places in `last`.
const UPDATE: usize = 0;
const GROWTH: usize = 1;
const FALL: usize = 2;

impl SignalledSending {
    /// A window at first; nothing of it is used with another reaction.
    pub fn new(reaction: &Reaction) -> Self {
        let packets = if let Reaction::Nscc(rules) = reaction { rules.most.into() } else { 0 };
        Self { packets, mean: 0, sum: 0, since_update: 0, calm: 0, fast: false, last: [None; 3] }
    }

    /// An acknowledgement comes at `now` of so many bytes, where packets have `mtu` at most.
    pub fn hear(
        &mut self,
        rules: &Nscc,
        (now, round_trip): (Ticks, Ticks),
        marked: bool,
        (bytes, mtu): (u64, u64),
    ) {
        let packets = u128::from(bytes) * PACKET / u128::from(mtu);
        let delay = round_trip.saturating_sub(rules.base_round_trip);
        self.mean =
            self.mean * (ONE - u128::from(rules.weight)) / ONE + u128::from(delay) * u128::from(rules.weight);
        match (marked, delay < rules.target) {
            (false, true) => self.gain(rules, delay, packets),
            (false, false) => self.sum += packets * u128::from(rules.fair_increase),
            (true, true) => (),
            (true, false) => self.lose(rules, now),
        }
        self.since_update += packets;
        if self.since_update >= 8 * PACKET || self.is_due(rules, now, UPDATE) {
            self.packets += self.sum / self.packets;
            self.sum = 0;
            self.since_update = 0;
            self.last[UPDATE] = Some(now);
            if self.is_due(rules, now, GROWTH) {
                self.packets += u128::from(rules.eta);
                self.last[GROWTH] = Some(now);
            }
        }
        if self.packets > rules.most.into() {
            self.packets = rules.most.into();
        }
        if self.packets < PACKET {
            self.packets = PACKET;
        }
    }

    /// Whether a round trip is over since something was last done.
    fn is_due(&self, rules: &Nscc, now: Ticks, what: usize) -> bool {
        match self.last[what] {
            None => true,
            Some(last) => now >= last + rules.base_round_trip,
        }
    }

    /// Growth by what is short of the target, or at once.
    fn gain(&mut self, rules: &Nscc, delay: Ticks, packets: u128) {
        if delay < rules.fast_below {
            self.calm += packets;
            if self.calm > self.packets {
                self.fast = true;
            }
        } else {
            self.calm = 0;
            self.fast = false;
        }
        if self.fast {
            self.packets += packets * u128::from(rules.fast_share) / ONE;
        } else {
            let short = u128::from(rules.target - delay);
            self.sum += u128::from(rules.proportional_increase) * packets * short / u128::from(rules.target);
        }
    }

    fn lose(&mut self, rules: &Nscc, now: Ticks) {
        if self.mean > u128::from(rules.target) * ONE && self.is_due(rules, now, FALL) {
            let mean = self.mean / ONE;
            let share = u128::from(rules.gamma) * (mean - u128::from(rules.target)) / mean;
            let share = if share > rules.most_decrease.into() { rules.most_decrease.into() } else { share };
            self.packets -= self.packets * share / ONE;
            self.last[FALL] = Some(now);
        }
    }
}
