//! The hopsim engine: an exact simulator of lossless interconnection networks at packet granularity.
//!
//! A simulation runs a plan ([`hopsim_experiment::plan`]) and returns what it measured. The crate does no input or output. It starts
//! the threads that a plan may have, and reads the clock for nothing but how many of them are worth while: no result depends on it.

/// Version of the simulator: the number, then a digest of its sources.
pub const VERSION: &str = env!("HOPSIM_VERSION");

pub mod engine;
pub mod error;
pub mod measure;
pub mod trace;
