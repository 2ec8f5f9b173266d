//! TIMELY, in the steps of the document of the rules.

use hopsim_infiniband::reaction::timely::Timely;
use hopsim_infiniband::time::Ticks;

/// One, in 2^-32.
const ONE: i128 = 1 << 32;

/// A reaction point.
pub struct Pace {
    /// The rate, in 2^-32 of that of the link.
    rate: i128,
    /// The round trips of which has been heard, the last one at the end: two of them at most.
    heard: Vec<i128>,
    /// The gradient, in 2^-32 ticks.
    gradient: i128,
    /// Acknowledgements without a rising gradient, one after the other.
    calm: u64,
}

impl Default for Pace {
    fn default() -> Self {
        Self { rate: ONE, heard: Vec::new(), gradient: 0, calm: 0 }
    }
}

impl Pace {
    /// The time from the start of a packet that takes `on_link` on the link to the start of the next one.
    pub fn gap(&self, on_link: Ticks) -> Ticks {
        let product = i128::from(on_link) * ONE;
        (product / self.rate + i128::from(product % self.rate > 0)) as Ticks
    }

    /// An acknowledgement comes.
    pub fn hear(&mut self, rules: &Timely, round_trip: Ticks) {
        let of = |value: u64| i128::from(value);
        let now = of(round_trip);
        self.heard.push(now);
        if self.heard.len() > 2 {
            self.heard.remove(0);
        }
        let difference = self.heard[self.heard.len() - 1] - self.heard[0];
        let kept = (self.gradient * (ONE - of(rules.alpha))).div_euclid(ONE);
        self.gradient = kept + difference * of(rules.alpha);
        if now < of(rules.low) {
            self.change(rules, of(rules.increase));
        } else if now > of(rules.high) {
            let share = of(rules.beta) * (now - of(rules.high)) / now;
            self.change(rules, -(self.rate * share / ONE));
        } else if self.gradient <= 0 {
            self.calm += 1;
            let steps =
                if self.calm >= u64::from(rules.hyper_after) { u64::from(rules.hyper_steps) } else { 1 };
            self.change(rules, of(steps) * of(rules.increase));
        } else {
            self.calm = 0;
            let normalised = self.gradient / of(rules.least_round_trip);
            let share = (of(rules.beta) * normalised / ONE).min(ONE);
            self.change(rules, -(self.rate * share / ONE));
        }
    }

    fn change(&mut self, rules: &Timely, by: i128) {
        self.rate = (self.rate + by).clamp(i128::from(rules.least), ONE);
    }
}
