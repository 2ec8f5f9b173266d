//! The whole of hopsim: runs a plan ([`hopsim_experiment::plan`]) by the engine that it is for, and returns what it measured;
//! keeps the state of a run and goes on with it, steps beside another simulator, and finds out how long a run must be.
//!
//! The crate does no input or output.

/// Version of the simulator: the number, then a digest of its sources.
pub const VERSION: &str = env!("HOPSIM_VERSION");

pub mod engine;
pub mod error;
