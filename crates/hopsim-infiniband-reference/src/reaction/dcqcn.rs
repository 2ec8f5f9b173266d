//! DCQCN, as the document of the rules has it: every timer counts its ticks, whether or not somebody sends.

use hopsim_infiniband::reaction::dcqcn::Dcqcn;
use hopsim_infiniband::time::Ticks;

/// One, in 2^-32.
const ONE: u128 = 1 << 32;

/// A reaction point.
#[derive(Default)]
pub struct Sending {
    /// What there is from the first notification on; before it the point sends at the rate of the link.
    notified: Option<Notified>,
}

/// A reaction point from its first notification on; all quantities in 2^-32.
struct Notified {
    current: u128,
    target: u128,
    alpha: u128,
    /// Ticks since the notification, since α fell last and since the rate timer had its last event.
    since_notification: Ticks,
    since_alpha: Ticks,
    since_timer: Ticks,
    bytes: u64,
    timer_events: u64,
    byte_events: u64,
}

impl Notified {
    /// The rate after an event of the timer or the byte counter.
    fn increase(&mut self, rules: &Dcqcn) {
        let threshold = u64::from(rules.fast_recovery);
        let [less, more] = [self.timer_events.min(self.byte_events), self.timer_events.max(self.byte_events)];
        if less > threshold {
            self.target += u128::from(less - threshold) * u128::from(rules.hyper_increase);
        } else if more >= threshold {
            self.target += u128::from(rules.increase);
        }
        if self.target > ONE {
            self.target = ONE;
        }
        let sum = self.target + self.current;
        self.current = sum / 2 + sum % 2;
    }
}

impl Sending {
    /// The beginning of a tick: timers that run out.
    pub fn tick(&mut self, rules: &Dcqcn) {
        let Some(state) = &mut self.notified else { return };
        state.since_notification += 1;
        state.since_alpha += 1;
        state.since_timer += 1;
        if state.since_alpha == rules.alpha_timer {
            state.since_alpha = 0;
            state.alpha = (ONE - u128::from(rules.g)) * state.alpha / ONE;
        }
        if state.since_timer == rules.rate_timer {
            state.since_timer = 0;
            state.timer_events += 1;
            state.increase(rules);
        }
    }

    /// A notification comes.
    pub fn cut(&mut self, rules: &Dcqcn) {
        let (current, alpha) = match &self.notified {
            Some(state) if state.since_notification < rules.cut_interval => return,
            Some(state) => (state.current, state.alpha),
            None => (ONE, ONE),
        };
        let g = u128::from(rules.g);
        self.notified = Some(Notified {
            target: current,
            current: u128::from(rules.least).max(current - current * alpha / (2 * ONE)),
            alpha: (ONE - g) * alpha / ONE + g,
            since_notification: 0,
            since_alpha: 0,
            since_timer: 0,
            bytes: 0,
            timer_events: 0,
            byte_events: 0,
        });
    }

    /// A packet starts; the time to the start of the next one, if it takes `on_link` on the link.
    pub fn send(&mut self, rules: &Dcqcn, bytes: u32, on_link: Ticks) -> Ticks {
        let Some(state) = &mut self.notified else { return on_link };
        let (whole, rest) =
            (u128::from(on_link) * ONE / state.current, u128::from(on_link) * ONE % state.current);
        state.bytes += u64::from(bytes);
        while rules.byte_counter > 0 && state.bytes >= rules.byte_counter {
            state.bytes -= rules.byte_counter;
            state.byte_events += 1;
            state.increase(rules);
        }
        (whole + u128::from(rest > 0)) as Ticks
    }
}
