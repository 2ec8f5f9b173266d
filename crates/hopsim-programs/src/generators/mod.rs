//! Programs that are exact functions of a few numbers: every rank makes its records one after the other, when they are needed.

pub mod collective;
pub mod stencil;
pub mod training;

use crate::error::Refusal;
use crate::record::Rank;
use std::sync::Arc;

/// The largest number of ranks of a generated program: 2²⁴.
pub const MAX_RANKS: u32 = 1 << 24;

/// The largest number of records of a rank, which hosts number in 32 bits: 2³¹.
pub const MAX_RECORDS: u64 = 1 << 31;

/// The ranks first, first + stride, … of a communicator.
fn members(first: Rank, stride: u32, count: u32) -> Arc<[Rank]> {
    (0..count).map(|member| first + member * stride).collect()
}

/// The product of these numbers, if it is not larger than [`MAX_RANKS`].
fn product(factors: &[u32]) -> Option<u32> {
    let all = factors.iter().try_fold(1u32, |all, &factor| all.checked_mul(factor))?;
    (all <= MAX_RANKS).then_some(all)
}

/// Refuses a number of repetitions, of so many records each, that is 0 or too large for [`MAX_RECORDS`].
fn check_repeats(key: &'static str, repeats: u32, each: u64) -> Result<(), Refusal> {
    Refusal::unless_within(key, repeats, 1..=(MAX_RECORDS / each).min(u32::MAX.into()))
}
