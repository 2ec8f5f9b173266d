//! Additive increase, multiplicative decrease.

use hopsim_infiniband::reaction::aimd::Aimd;
use hopsim_infiniband::time::Ticks;

/// The rate of the link.
const LINK: u64 = 1 << 20;

/// The rate of a reaction point.
pub struct Rate {
    rate: u64,
    /// Ticks since the last step, or since a notification that came later.
    waited: Ticks,
}

impl Default for Rate {
    fn default() -> Self {
        Self { rate: LINK, waited: 0 }
    }
}

impl Rate {
    /// The beginning of a tick: the rate rises if it is time.
    pub fn rise(&mut self, rules: &Aimd) {
        self.waited += 1;
        if self.waited == rules.period {
            self.waited = 0;
            self.rate = LINK.min(self.rate + u64::from(rules.increase));
        }
    }

    /// A notification comes: the rate falls.
    pub fn fall(&mut self, rules: &Aimd) {
        let share = self.rate * u64::from(rules.decrease) / LINK;
        self.rate = (self.rate - share).max(u64::from(rules.least));
        self.waited = 0;
    }

    /// The time from the start of a packet, which takes `on_link` on the link, to the start of the next one.
    pub fn gap(&self, on_link: Ticks) -> Ticks {
        // The first whole number of ticks in which the rate carries as much as the link does in that time.
        let (whole, rest) = (on_link * LINK / self.rate, on_link * LINK % self.rate);
        whole + u64::from(rest > 0)
    }
}
