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
    /// When the window last grew by itself, and fell.
    last: [Option<Ticks>; 2],
}

/// Places in `last`.
const GROWTH: usize = 0;
const FALL: usize = 1;

impl SignalledSending {
    /// A window at first; nothing of it is used with another reaction.
    pub fn new(reaction: &Reaction) -> Self {
        let packets = if let Reaction::Nscc(rules) = reaction { rules.most.into() } else { 0 };
        Self { packets, mean: 0, sum: 0, since_update: 0, calm: 0, fast: false, last: [None; 2] }
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
        let mut sample = u128::from(delay) * u128::from(rules.weight);
        if delay > rules.target && !marked {
            sample = u128::from(rules.weight) * u128::from(rules.base_round_trip) / 4;
        }
        self.mean = self.mean * (ONE - u128::from(rules.weight)) / ONE + sample;
        match (marked, delay < rules.target) {
            (false, true) => self.gain(rules, delay, packets),
            (false, false) => self.sum += packets * u128::from(rules.fair_increase),
            (true, true) => (),
            (true, false) => self.lose(rules, now),
        }
        self.bound(rules);
        self.since_update += packets;
        if self.since_update > 8 * PACKET || self.ago(now, GROWTH) > rules.base_round_trip {
            self.packets += self.sum / self.packets;
            self.sum = 0;
            self.since_update = 0;
            if self.ago(now, GROWTH) >= rules.base_round_trip {
                self.packets += u128::from(rules.eta);
                self.last[GROWTH] = Some(now);
            }
        }
        self.bound(rules);
    }

    fn bound(&mut self, rules: &Nscc) {
        if self.packets > rules.most.into() {
            self.packets = rules.most.into();
        }
        if self.packets < PACKET {
            self.packets = PACKET;
        }
    }

    /// How long ago something was last done; as long as can be if never.
    fn ago(&self, now: Ticks, what: usize) -> Ticks {
        self.last[what].map_or(Ticks::MAX, |last| now - last)
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
        self.calm = 0;
        self.fast = false;
        if self.mean > u128::from(rules.target) * ONE && self.ago(now, FALL) > rules.base_round_trip {
            let mean = self.mean / ONE;
            let share = u128::from(rules.gamma) * (mean - u128::from(rules.target)) / mean;
            let share = if share > rules.most_decrease.into() { rules.most_decrease.into() } else { share };
            self.packets -= self.packets * share / ONE;
            self.last[FALL] = Some(now);
        }
    }
}
