//! How much faster than its links a virtual-channel router is.

use std::ops::{Range, RangeInclusive};

/// Speedups that there are.
pub const SPEEDUPS: RangeInclusive<f64> = 1.0..=8.0;

/// Steps of a router in a cycle of the links (internal speedup): in each it allocates once. A hundredth is the least part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Speedup {
    /// Steps in a hundred cycles, at least 100.
    hundredths: u32,
}

impl Speedup {
    /// A step in every cycle.
    pub const NONE: Self = Self { hundredths: PARTS };

    /// So many steps in a cycle, on average; `None` if these are not hundredths, or not in [`SPEEDUPS`].
    pub fn new(factor: f64) -> Option<Self> {
        let hundredths = (factor * f64::from(PARTS)).round();
        let is_exact = (hundredths / f64::from(PARTS) - factor).abs() < f64::EPSILON * factor;
        (SPEEDUPS.contains(&factor) && is_exact).then_some(Self { hundredths: hundredths as u32 })
    }

    /// The steps of a cycle, which are numbered from the first cycle on: as many as are complete at its end.
    #[inline]
    pub fn steps(self, cycle: u32) -> Range<u64> {
        self.before(cycle.into())..self.before(u64::from(cycle) + 1)
    }

    /// How many steps are complete when a cycle begins.
    fn before(self, cycle: u64) -> u64 {
        cycle * u64::from(self.hundredths) / u64::from(PARTS)
    }

    /// The cycle of a step.
    pub fn cycle_of(self, step: u64) -> u32 {
        (((step + 1) * u64::from(PARTS)).div_ceil(u64::from(self.hundredths)) - 1) as u32
    }

    /// Most steps in a cycle.
    pub fn most_steps(self) -> u32 {
        self.hundredths.div_ceil(PARTS)
    }
}

const PARTS: u32 = 100;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_follow_each_other_and_every_step_is_of_its_cycle() {
        for factor in [1.0, 1.01, 1.25, 1.5, 2.0, 2.9, 8.0] {
            let speedup = Speedup::new(factor).unwrap();
            let mut next = 0;
            for cycle in 0..1_000 {
                let steps = speedup.steps(cycle);
                assert_eq!(steps.start, next);
                assert!(steps.clone().count() <= speedup.most_steps() as usize);
                assert!(steps.clone().all(|step| speedup.cycle_of(step) == cycle), "{factor} {cycle}");
                next = steps.end;
            }
            assert_eq!(next, (factor * 1_000.0).round() as u64);
        }
    }

    #[test]
    fn speedups_are_hundredths_from_one_on() {
        assert_eq!(Speedup::new(1.0), Some(Speedup::NONE));
        assert!([0.99, 1.005, 8.01, f64::NAN].iter().all(|&factor| Speedup::new(factor).is_none()));
    }
}
