//! Swift, in the steps of the document of the rules.

use hopsim_infiniband::reaction::Reaction;
use hopsim_infiniband::reaction::swift::Swift;
use hopsim_infiniband::time::Ticks;

/// A packet, in 2^-16.
const PACKET: u128 = 1 << 16;

/// A reaction point; windows in 2^-16 packets.
pub struct Window {
    pub packets: u128,
    last_fall: Option<Ticks>,
    last_round_trip: Ticks,
}

impl Window {
    /// A window at first; nothing of it is used with another reaction.
    pub fn new(reaction: &Reaction) -> Self {
        let window = if let Reaction::Swift(rules) = reaction { rules.initial.into() } else { 0 };
        Self { packets: window, last_fall: None, last_round_trip: 0 }
    }

    /// The time from the start of a packet that takes `on_link` on the link to the start of the next one.
    pub fn gap(&self, on_link: Ticks) -> Ticks {
        if self.packets >= PACKET {
            return on_link;
        }
        // As many round trips as there are windows in a packet, the last one begun.
        let product = u128::from(self.last_round_trip) * PACKET;
        let paced = product / self.packets + u128::from(!product.is_multiple_of(self.packets));
        on_link.max(paced as Ticks)
    }

    /// An acknowledgement comes at `now` of so many bytes, where packets have `mtu` at most.
    pub fn hear(&mut self, rules: &Swift, now: Ticks, round_trip: Ticks, (bytes, mtu): (u64, u64)) {
        let target = rules.target + self.longer(rules);
        self.last_round_trip = round_trip;
        if round_trip < target {
            let packets = u128::from(bytes) * PACKET / u128::from(mtu);
            let divisor = if self.packets < PACKET { PACKET } else { self.packets };
            self.packets += u128::from(rules.increase) * packets / divisor;
            if self.packets > rules.most.into() {
                self.packets = rules.most.into();
            }
            return;
        }
        let has_fallen_lately = self.last_fall.is_some_and(|last| now - last < round_trip);
        if has_fallen_lately {
            return;
        }
        let share = u128::from(rules.beta) * u128::from(round_trip - target) / u128::from(round_trip);
        let share = share.min(rules.most_decrease.into());
        self.packets -= (self.packets * share) >> 32;
        if self.packets < rules.least.into() {
            self.packets = rules.least.into();
        }
        self.last_fall = Some(now);
    }

    /// By how much the target is longer because of the window.
    fn longer(&self, rules: &Swift) -> Ticks {
        // The greatest root of which the square is no more.
        let square = self.packets * PACKET;
        let mut root = (square as f64).sqrt() as u128 + 2;
        while root * root > square {
            root -= 1;
        }
        let scaled = u128::from(rules.alpha) * PACKET / root;
        let less = i128::try_from(scaled).unwrap_or(i128::MAX) - i128::from(rules.offset);
        less.clamp(0, rules.range.into()) as Ticks
    }
}
