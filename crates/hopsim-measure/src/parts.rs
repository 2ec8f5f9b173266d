//! The window in equal parts, finer than the batches and the same whatever their number: what the [verdict](super::verdict) is
//! made of.

use hopsim_cycles::jobs::JobPlan;
use hopsim_experiment::plan::Plan;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Parts of the window. What is left over at its end is in none.
pub const PARTS: u32 = 100;

/// Tenths of the window, in which sources are counted.
pub const TENTHS: usize = 10;

/// Parts of a tenth.
const PER_TENTH: u64 = PARTS as u64 / TENTHS as u64;

/// Where the parts are, in cycles or ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Parts {
    first: u64,
    length: u64,
}

impl Parts {
    /// The parts of a window that begins at `first` and is so long.
    pub fn new(first: impl Into<u64>, window: impl Into<u64>) -> Self {
        Self { first: first.into(), length: window.into() / u64::from(PARTS) }
    }

    /// Length of a part; 0 if the window is too short to have any.
    pub fn length(self) -> u64 {
        self.length
    }

    /// Length of a tenth.
    pub fn tenth_length(self) -> u64 {
        self.length * PER_TENTH
    }

    /// The part that a time is in, if any.
    #[inline]
    pub fn part(self, at: impl Into<u64>) -> Option<usize> {
        self.nth(at.into(), self.length, PARTS as usize)
    }

    /// The tenth that a time is in, if any.
    #[inline]
    pub fn tenth(self, at: impl Into<u64>) -> Option<usize> {
        self.nth(at.into(), self.tenth_length(), TENTHS)
    }

    /// The first cycle after `now` that is in another tenth, or in none; `u32::MAX` after the last one.
    pub fn next_tenth(self, now: u32) -> u32 {
        let length = self.tenth_length();
        let Some(since) = u64::from(now).checked_sub(self.first) else { return self.first as u32 };
        let ended = since.checked_div(length).filter(|&nth| nth < TENTHS as u64);
        ended.map_or(u32::MAX, |nth| (self.first + (nth + 1) * length) as u32)
    }

    #[inline]
    fn nth(self, at: u64, length: u64, count: usize) -> Option<usize> {
        let since = at.checked_sub(self.first)?;
        Some(since.checked_div(length)? as usize).filter(|&nth| nth < count)
    }

    /// How much of some time is in every tenth.
    pub fn split(self, time: Range<u64>) -> [u64; TENTHS] {
        let length = self.tenth_length();
        std::array::from_fn(|tenth| {
            let first = self.first + tenth as u64 * length;
            time.end.min(first + length).saturating_sub(time.start.max(first))
        })
    }
}

/// What is delivered in a part, of one job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartTotals {
    /// Packets delivered.
    pub delivered: u64,
    /// Phits of the packets delivered.
    pub phits: u64,
    /// Sum of the latencies of the packets delivered \[cycles\].
    pub latency: u64,
}

impl PartTotals {
    /// Adds other packets.
    pub fn add(&mut self, other: &Self) {
        self.delivered += other.delivered;
        self.phits += other.phits;
        self.latency += other.latency;
    }
}

/// What a source generates and the network takes of it, in packets; replies do not count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Backlog {
    /// Packets generated in all tenths, dropped ones included.
    pub generated: u32,
    /// Packets generated less packets injected, by tenth.
    pub growth: [i32; TENTHS],
}

impl Backlog {
    /// A packet is generated in a tenth; behind the last tenth it does not count.
    #[inline]
    pub fn generate(&mut self, tenth: usize) {
        if let Some(growth) = self.growth.get_mut(tenth) {
            self.generated += 1;
            *growth += 1;
        }
    }

    /// A packet is injected in a tenth; behind the last tenth it does not count.
    #[inline]
    pub fn inject(&mut self, tenth: usize) {
        if let Some(growth) = self.growth.get_mut(tenth) {
            *growth -= 1;
        }
    }
}

/// Cycles in which a source stood still, by tenth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stalls(pub [u32; TENTHS]);

impl Stalls {
    /// A source stood still in some cycles.
    pub fn count(&mut self, parts: Parts, cycles: Range<u32>) {
        let split = parts.split(cycles.start.into()..cycles.end.into());
        self.0.iter_mut().zip(split).for_each(|(sum, count)| *sum += count as u32);
    }
}

/// Whether sources of a plan may stand still.
pub fn may_stall(plan: &Plan) -> bool {
    plan.system.jobs.iter().filter_map(JobPlan::traffic).any(|job| plan.system.nic.may_stall(job))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_equal_and_leave_out_the_rest_of_the_window() {
        let parts = Parts::new(1000u32, 399u32);
        assert_eq!(parts.length(), 3);
        assert_eq!(
            [999u32, 1000, 1002, 1003, 1299, 1300].map(|at| parts.part(at)),
            [None, Some(0), Some(0), Some(1), Some(99), None]
        );
        assert_eq!([1029u32, 1030, 1299, 1300].map(|at| parts.tenth(at)), [Some(0), Some(1), Some(9), None]);
        assert_eq!(Parts::new(0u32, 99u32).part(50u32), None);
        let next = [0, 999, 1000, 1029, 1030, 1299, 1300].map(|now| parts.next_tenth(now));
        assert_eq!(next, [1000, 1000, 1030, 1030, 1060, 1300, u32::MAX]);
        assert_eq!(Parts::new(0u32, 99u32).next_tenth(5), u32::MAX);
    }

    #[test]
    fn a_stall_counts_in_the_tenths_that_it_is_in() {
        let mut stalls = Stalls::default();
        stalls.count(Parts::new(1000u32, 100u32), 990..1025);
        stalls.count(Parts::new(1000u32, 100u32), 1095..1200);
        assert_eq!(stalls.0, [10, 10, 5, 0, 0, 0, 0, 0, 0, 5]);
    }
}
