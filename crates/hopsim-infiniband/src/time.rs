//! Exact time: the ticks in which rates and delays of a fabric are whole numbers.

/// A time, or how long something takes; what it is in nanoseconds the fabric says.
pub type Ticks = u64;

/// A time that never comes.
pub const NEVER: Ticks = Ticks::MAX;
